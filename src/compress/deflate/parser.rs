//! Parsers: encode the bytes that seams leave.

use super::symbols::MATCH_MIN;
use super::tokens::Tokens;
use super::window::Window;

/// Encodes bytes as literals and matches, and takes every seam as it is.
pub trait Parser: std::fmt::Debug + Send {
    /// Encodes the bytes from `from` to `to`, with matches at most `reach` bytes back.
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens);

    /// Inserts positions that a seam covers. The greedy parser skips this to save time.
    fn pass(&mut self, _window: &Window, _from: usize, _to: usize) {}

    /// Removes all positions.
    fn clear(&mut self);
}

/// Encodes bytes and the seam after them. Its matches may cover bytes of the seam.
pub trait SeamParser: std::fmt::Debug + Send {
    /// Encodes a stretch, or puts it off. Returns where it ended: at the end of the stretch, or a few bytes before.
    fn parse(&mut self, window: &Window, stretch: &Stretch, tokens: &mut Tokens) -> usize;

    /// Bytes of the stretches that are put off.
    fn put_off(&self) -> usize {
        0
    }

    /// Encodes the stretches that are put off, the last of which ended at `to`.
    fn flush(&mut self, _window: &Window, _to: usize, _tokens: &mut Tokens) {}

    /// Removes all positions.
    fn clear(&mut self);
}

/// The bytes from the end of one seam to the end of the next.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
    /// The first byte that is not encoded yet.
    pub from: usize,
    /// The start of the seam.
    pub to: usize,
    /// The end of the bytes of the seam that the record before this one begins with, too.
    pub shared: usize,
    /// The end of the seam; the same as `to` if there is none.
    pub end: usize,
    /// The end of the record that the seam belongs to.
    pub limit: usize,
    /// The distance of the seam. Unused if there is none.
    pub distance: usize,
    /// Maximum distance of other matches.
    pub reach: usize,
}

impl Stretch {
    /// The bytes from `from` to `to`.
    pub fn without_seam(from: usize, to: usize, reach: usize) -> Self {
        Self { from, to, shared: to, end: to, limit: to, distance: 0, reach }
    }
}

/// Encodes the bytes of a stretch after `encoded_to` as literals, and the seam or what is left of it. Returns where it ended.
#[inline(always)]
pub fn end_stretch(window: &Window, stretch: &Stretch, encoded_to: usize, tokens: &mut Tokens) -> usize {
    let Stretch { to, end, distance, .. } = *stretch;
    if encoded_to < to {
        tokens.push_literals(window, encoded_to, to);
    }
    let encoded_to = encoded_to.max(to);
    // What is too short for a match is left to the next stretch.
    if end - encoded_to < MATCH_MIN {
        return encoded_to;
    }
    tokens.push_match(end - encoded_to, distance);
    end
}
