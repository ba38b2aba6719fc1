//! Lines that were clean once, read again.

use crate::clean::CleanUrl;
use crate::common::simd;
use crate::intake::lines::{Lines, lines};

/// The URLs of lines that all are canonical URLs as they stand.
#[derive(Debug)]
pub struct KnownUrls<'a>(Lines<'a>);

impl<'a> KnownUrls<'a> {
    /// Those of `bytes`, which begin at `offset` of their input. Whoever calls it has cleaned them before and found nothing
    /// to change: they are not looked at again.
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self(lines(bytes, offset))
    }
}

impl<'a> Iterator for KnownUrls<'a> {
    type Item = CleanUrl<'a>;

    #[inline]
    fn next(&mut self) -> Option<CleanUrl<'a>> {
        self.0.next().map(|line| {
            // Of what XML escapes, a clean URL can hold these two.
            let may_grow = simd::contain_any(line.raw, [b'&', b'\'']);
            CleanUrl::known(line.raw, may_grow)
        })
    }
}
