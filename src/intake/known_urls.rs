//! Reads rows again that are known to be canonical URLs.

use crate::clean::CleanUrl;
use crate::common::simd;
use crate::intake::lines::{LineReader, lines};

/// The URLs of rows that are all canonical URLs.
#[derive(Debug)]
pub enum KnownUrls<'a> {
    /// Lines.
    Lines(Box<LineReader<'a>>),
    /// Held URLs.
    Held(std::vec::IntoIter<&'a [u8]>),
}

impl<'a> KnownUrls<'a> {
    /// Reads the URLs of `bytes`, which begin at `offset` of their input. The caller has cleaned them before and found nothing
    /// to change, so they are not checked again.
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self::Lines(Box::new(lines(bytes, offset)))
    }
}

impl<'a> Iterator for KnownUrls<'a> {
    type Item = CleanUrl<'a>;

    #[inline]
    fn next(&mut self) -> Option<CleanUrl<'a>> {
        let raw = match self {
            Self::Lines(lines) => lines.next()?.raw,
            Self::Held(urls) => urls.next()?,
        };
        // These are the only bytes of a clean URL that XML escapes.
        let may_grow = simd::contain_any(raw, [b'&', b'\'']);
        Some(CleanUrl::known(raw, may_grow))
    }
}
