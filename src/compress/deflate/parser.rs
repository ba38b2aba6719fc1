//! Parsers: encode the bytes between two seams.

use super::tokens::Tokens;
use super::window::Window;

/// Encodes bytes as literals and matches.
pub trait Parser: std::fmt::Debug + Send {
    /// Encodes the bytes from `from` to `to`, with matches at most `reach` bytes back.
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens);

    /// Inserts positions that a seam covers. The greedy parser skips this to save time.
    fn pass(&mut self, _window: &Window, _from: usize, _to: usize) {}

    /// Removes all positions.
    fn clear(&mut self);
}
