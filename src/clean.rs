//! Clean: turns a raw line into its canonical URL, or into the reason for refusing it.
//!
//! The canonical URL is the one a browser would request, in the alphabet of RFC 3986: the WHATWG parser decides, and bytes
//! that it keeps but RFC 3986 forbids are percent-encoded. Three paths give the same bytes:
//!
//! 1. `origin` recognises the start of the line and `tail` finds nothing to change: the line is returned unchanged.
//! 2. The start is recognised and the rest only needs `encode`: IRIs, spaces, stray percent signs; or `dots` before: dot segments.
//! 3. `parser` takes everything else. Tests compare the other two with it.

mod charset;
mod dots;
pub mod encode;
mod given;
mod host;
mod legal;
mod origin;
mod parser;
mod reason;
pub mod scope;
pub mod screen;
mod tail;

pub use charset::UrlEncoding;
pub use parser::has_web_scheme;
pub use reason::{Reason, Rejected};

use crate::limits::{LINE_BYTES_MAX, URL_BYTES_MAX, URL_BYTES_MIN};
use origin::KnownOrigin;
use tail::{Look, Sight};

/// A canonical URL: absolute `http` or `https`, [`URL_BYTES_MIN`] to [`URL_BYTES_MAX`] bytes, each of them legal in
/// RFC 3986. Made by [`Cleaner::clean`], so nobody needs to check it again. [`CleanUrl::known`] wraps a line that cleaning has
/// returned unchanged before.
#[derive(Debug, Clone, Copy)]
pub struct CleanUrl<'a> {
    bytes: &'a [u8],
    growth: Growth,
}

/// Whether XML may have to escape something in a URL. As large as a word: a URL is often written to the stack and read again at
/// once, and a processor waits if it reads a word of which it has just written a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Growth {
    Never,
    Maybe,
}

impl Growth {
    #[inline]
    fn of(may_grow: bool) -> Self {
        if may_grow { Self::Maybe } else { Self::Never }
    }
}

impl<'a> CleanUrl<'a> {
    /// The URL as ASCII bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Whether XML may have to escape something in it. False is always right; true may be wrong.
    pub fn may_grow(self) -> bool {
        self.growth == Growth::Maybe
    }

    /// Wraps a line that cleaning returned unchanged before; see [`CleanUrl::may_grow`].
    #[inline]
    pub(crate) fn known(line: &'a [u8], may_grow: bool) -> Self {
        Self { bytes: line, growth: Growth::of(may_grow) }
    }

    /// Whether this borrows `line` itself.
    pub(crate) fn is(self, line: &[u8]) -> bool {
        std::ptr::eq(self.bytes, line)
    }
}

impl PartialEq for CleanUrl<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for CleanUrl<'_> {}

/// Whether bytes of `line` that are not UTF-8 become escapes (`%FC`) in its canonical URL. A fragment does not
/// count, because it is dropped.
pub fn has_foreign_bytes(line: &[u8]) -> bool {
    let end = || memchr::memchr(b'#', line).unwrap_or(line.len());
    !line.is_ascii() && str::from_utf8(&line[..end()]).is_err()
}

/// The result of cleaning one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cleaned<'a> {
    /// Nothing but spaces and tabs.
    Blank,
    /// A URL, in its canonical form.
    Url(CleanUrl<'a>),
    /// Rejected.
    Rejected(Reason),
}

/// Cleans lines. Reuses its memory, and remembers origins.
#[derive(Debug, Default)]
pub struct Cleaner {
    known: KnownOrigin,
    scratch: Vec<u8>,
    /// The end of a line without dot segments.
    resolved: Vec<u8>,
    url_encoding: UrlEncoding,
}

impl Cleaner {
    /// A cleaner that percent-encodes in the charset `url_encoding`.
    pub fn new(url_encoding: UrlEncoding) -> Self {
        Self { url_encoding, ..Self::default() }
    }

    /// Cleans one raw line without its line end. The result does not depend on earlier lines.
    // The compiler would not inline it, which costs 20 instructions per line.
    #[inline(always)]
    pub fn clean<'a>(&'a mut self, raw: &'a [u8]) -> Cleaned<'a> {
        // Nearly every line takes this branch. A plain line needs no trimming either.
        if let Some(path_at) = self.known.plain_path_of(raw)
            && (URL_BYTES_MIN..=URL_BYTES_MAX).contains(&raw.len())
        {
            match tail::sight(raw, path_at) {
                Sight::Plain => return Cleaned::Url(CleanUrl::known(raw, false)),
                Sight::Ampersands => return Cleaned::Url(CleanUrl::known(raw, true)),
                Sight::Odd => {}
            }
        }
        self.clean_closely(raw)
    }

    #[inline(never)]
    fn clean_closely<'a>(&'a mut self, raw: &'a [u8]) -> Cleaned<'a> {
        if raw.len() > LINE_BYTES_MAX {
            return Cleaned::Rejected(Reason::TooLong);
        }
        let line = trim(raw);
        if line.is_empty() {
            return Cleaned::Blank;
        }
        if !self.url_encoding.is_utf8() && !line.is_ascii() {
            return match self.url_encoding.recode(line) {
                Ok(recoded) => self.parse(&recoded),
                Err(reason) => Cleaned::Rejected(reason),
            };
        }
        let Some(path_at) = self.known.path_of(line) else {
            return self.parse(line);
        };
        if self.known.is_canonical() && line.is_ascii() && tail::is_clean_at_sight(line, path_at) {
            return measured(line);
        }
        self.encode(line, path_at)
    }

    /// Cleans a trimmed line of the known origin.
    fn encode<'a>(&'a mut self, line: &'a [u8], path_at: usize) -> Cleaned<'a> {
        let tail = &line[path_at..];
        self.scratch.clear();
        self.scratch.extend_from_slice(self.known.canonical());
        if encode::append_at_sight(tail, &mut self.scratch) {
            // The length is the same, so nothing was encoded. The line itself is returned, which tells the second pass so.
            if self.known.is_canonical() && self.scratch.len() == line.len() {
                return measured(line);
            }
            return measured(&self.scratch);
        }
        match tail::look(tail) {
            Look::Clean if self.known.is_canonical() => return measured(line),
            Look::Clean | Look::Encode => {
                self.scratch.truncate(self.known.canonical().len());
                encode::append(tail, &mut self.scratch);
            }
            Look::Control => return Cleaned::Rejected(Reason::ControlCharacter),
            Look::Resolve => {
                self.resolved.clear();
                dots::resolve(tail, &mut self.resolved);
                self.scratch.truncate(self.known.canonical().len());
                encode::append(&self.resolved, &mut self.scratch);
            }
        }
        measured(&self.scratch)
    }

    /// Cleans any trimmed line: the slow path.
    fn parse(&mut self, line: &[u8]) -> Cleaned<'_> {
        self.scratch.clear();
        match parser::parse(line, &mut self.scratch) {
            Ok(path_at) => {
                self.known.learn(line, &self.scratch[..path_at]);
                measured(&self.scratch)
            }
            Err(reason) => Cleaned::Rejected(reason),
        }
    }
}

fn measured(url: &[u8]) -> Cleaned<'_> {
    match url.len() {
        0..URL_BYTES_MIN => Cleaned::Rejected(Reason::TooShort),
        URL_BYTES_MIN..=URL_BYTES_MAX => Cleaned::Url(CleanUrl::known(url, true)),
        _ => Cleaned::Rejected(Reason::TooLong),
    }
}

fn trim(raw: &[u8]) -> &[u8] {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let Some(start) = raw.iter().position(|byte| !blank(byte)) else { return &[] };
    let end = raw.iter().rposition(|byte| !blank(byte)).map_or(start, |last| last + 1);
    &raw[start..end]
}

#[cfg(test)]
mod tests;
