//! Reads lines again that are known to be canonical URLs.

use crate::clean::CleanUrl;
use crate::common::simd;
use crate::intake::lines::{LineReader, lines};

/// The URLs of lines that are all canonical URLs.
#[derive(Debug)]
pub struct KnownUrls<'a>(LineReader<'a>);

impl<'a> KnownUrls<'a> {
    /// Reads the URLs of `bytes`, which begin at `offset` of their input. The caller has cleaned them before and found nothing
    /// to change, so they are not checked again.
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self(lines(bytes, offset))
    }
}

impl<'a> Iterator for KnownUrls<'a> {
    type Item = CleanUrl<'a>;

    #[inline]
    fn next(&mut self) -> Option<CleanUrl<'a>> {
        self.0.next().map(|line| {
            // These are the only bytes of a clean URL that XML escapes.
            let may_grow = simd::contain_any(line.raw, [b'&', b'\'']);
            CleanUrl::known(line.raw, may_grow)
        })
    }
}
