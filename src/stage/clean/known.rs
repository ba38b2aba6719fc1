//! Lines that were clean once, read again.

use super::CleanUrl;
use crate::stage::lines::NotingLines;

/// The URLs of lines that all are canonical URLs as they stand. What XML escapes is looked for where line ends are.
#[derive(Debug)]
pub struct KnownUrls<'a>(NotingLines<'a, 2>);

impl<'a> KnownUrls<'a> {
    /// Those of `bytes`, which begin at `offset` of their input. Whoever calls it has cleaned them before and found nothing
    /// to change: they are not looked at again.
    #[doc(hidden)]
    pub fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self(NotingLines::new(bytes, offset, [b'&', b'\'']))
    }
}

impl<'a> Iterator for KnownUrls<'a> {
    type Item = CleanUrl<'a>;

    #[inline]
    fn next(&mut self) -> Option<CleanUrl<'a>> {
        self.0.next().map(|(line, may_grow)| CleanUrl { bytes: line.raw, may_grow })
    }
}
