//! How what lies between two seams is said.

use super::tokens::Tokens;
use super::window::Window;

/// Says bytes in literals and matches.
pub trait Parser: std::fmt::Debug + Send {
    /// Says what lies from `from` to `to`, with matches that begin at most `reach` bytes ago.
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens);

    /// Remembers places that something else has said already; a quick parser has no time for it.
    fn pass(&mut self, _window: &Window, _from: usize, _to: usize) {}

    /// Forgets everything.
    fn clear(&mut self);
}
