//! Tails: entries without the start of their URL, which the reader already knows.
//!
//! ```text
//! tail = 4 * bytes of the end of the URL + flags · end of the URL · [everything but the URL]
//! ```

use crate::clean::CleanUrl;
use crate::common::field;
use crate::intake::spool_format;
use crate::sitemap::entry::Entry;

/// The URL has something that XML escapes, or may have.
const MAY_GROW: u64 = 1;
/// The entry has more than a URL.
const IS_TAGGED: u64 = 2;
const FLAG_BITS: u32 = 2;

/// An encoded entry without the start of its URL.
#[derive(Debug, Clone, Copy)]
pub struct Tail<'a> {
    /// The end of the URL.
    pub url: &'a [u8],
    /// The encoded rest of the entry. If there is one, other bytes may follow it.
    rest: &'a [u8],
    flags: u64,
}

impl<'a> Tail<'a> {
    /// Appends `entry` without the first `known` bytes of its URL.
    #[inline]
    pub fn push(entry: &Entry<'_>, known: usize, out: &mut Vec<u8>) {
        let url = &entry.url.as_bytes()[known..];
        let may_grow = if entry.url.may_grow() { MAY_GROW } else { 0 };
        let is_tagged = if entry.is_plain() { 0 } else { IS_TAGGED };
        field::push_number((url.len() as u64) << FLAG_BITS | is_tagged | may_grow, out);
        out.extend_from_slice(url);
        if is_tagged != 0 {
            spool_format::push_all_but_url(entry, out);
        }
    }

    /// Reads the tail at the start of `bytes`.
    #[inline]
    pub fn read(bytes: &'a [u8]) -> Self {
        Self::take(&mut { bytes })
    }

    /// Takes a tail from the start of `rest`.
    #[inline]
    pub fn take(rest: &mut &'a [u8]) -> Self {
        let head = field::number(rest);
        let url = rest.split_off(..(head >> FLAG_BITS) as usize).expect("`Tail::push` wrote the whole tail");
        let tail = Self { url, rest, flags: head };
        if head & IS_TAGGED != 0 {
            spool_format::take_all_but_url(CleanUrl::known(url, true), rest);
        }
        tail
    }

    /// Whether the entry has only a URL, which has nothing to escape.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.flags & (IS_TAGGED | MAY_GROW) == 0
    }

    /// The entry, whose whole URL is `url`.
    #[inline]
    pub fn entry<'e>(&self, url: &'e [u8]) -> Entry<'e>
    where
        'a: 'e,
    {
        let url = CleanUrl::known(url, self.flags & MAY_GROW != 0);
        match self.flags & IS_TAGGED {
            0 => Entry::of(url),
            _ => spool_format::take_all_but_url(url, &mut { self.rest }),
        }
    }
}
