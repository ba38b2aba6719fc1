//! Lines that were clean once, read again.

use std::iter::Peekable;

use memchr::Memchr2;

use super::CleanUrl;
use crate::stage::lines::{Lines, lines};

/// The URLs of lines that all are canonical URLs as they stand. One search for what XML escapes goes through all of them,
/// instead of one through each.
#[derive(Debug)]
pub struct KnownUrls<'a> {
    lines: Lines<'a>,
    escapes: Peekable<Memchr2<'a>>,
    /// The first byte's offset in the input.
    offset: u64,
}

impl<'a> KnownUrls<'a> {
    /// Those of `bytes`, which begin at `offset` of their input. Whoever calls it has cleaned them before and found nothing
    /// to change: they are not looked at again.
    #[doc(hidden)]
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        let escapes = memchr::memchr2_iter(b'&', b'\'', bytes).peekable();
        Self { lines: lines(bytes, offset), escapes, offset }
    }
}

impl<'a> Iterator for KnownUrls<'a> {
    type Item = CleanUrl<'a>;

    #[inline]
    fn next(&mut self) -> Option<CleanUrl<'a>> {
        let line = self.lines.next()?;
        let start = (line.offset - self.offset) as usize;
        let end = start + line.raw.len();
        let mut may_grow = false;
        while self.escapes.next_if(|&at| at < end).is_some() {
            may_grow = true;
        }
        Some(CleanUrl { bytes: line.raw, may_grow })
    }
}
