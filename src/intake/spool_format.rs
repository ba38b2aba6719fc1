//! The format of rows in scratch files, which both passes read. Inputs of plain lines do not need it.
//!
//! A scratch file is a sequence of rows, grouped in blocks of about a chunk. Numbers are LEB128, seven bits per byte, lowest
//! first:
//!
//! ```text
//! row   = line - line of the row before (zigzag) · offset - offset before · kind · fields
//! kind  = 0: url                     fields = length, bytes
//!         1: url and tags            fields = url, section, lastmod, changefreq, priority, extras, each as length, bytes
//!         2: not a row of the form   fields = number of the reason (a byte), text
//!         3: entry, a URL alone      fields = url
//!         4: entry                   fields = url, tags, instant (zigzag + 1; 0: none), extras,
//!                                             their namespaces (a byte; + 128: number of the section follows)
//!         5: entry with a section only    fields = url, number of the section (2 bytes)
//!         + 8: with a URL that has nothing to escape
//! ```
//!
//! A scratch file is written and read by one process. So it has no version, and invalid bytes are a bug in this program. Rows
//! that go to another process are in blocks with a checksum and a version, which the [cluster](crate::cluster) module checks.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::lines::{CHUNK_URLS_MAX, Line};
use crate::clean::{CleanUrl, Reason};
use crate::common::{field, prefetch};
use crate::sitemap::entry::Entry;
use crate::sitemap::extensions::{EXTENSIONS_COUNT, Extras, RawExtras};
use crate::sitemap::sections::SectionNumber;
use crate::sitemap::tags::RawTags;
use crate::sitemap::xml::Namespaces;

/// A row of an input: its position and its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputRow<'a> {
    /// The number of its line or row, from 1.
    pub line: u64,
    /// The first byte's offset in the input, once that is decompressed and decoded.
    pub offset: u64,
    /// Its content.
    pub content: Content<'a>,
}

/// The content of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// A URL that is not cleaned yet, and tags that are not checked yet.
    Url(&'a [u8], RawTags<'a>),
    /// A row that its format does not allow, as text for the reject file, with the reason.
    Bad(&'a [u8], Reason),
    /// An entry that was judged before and lost no tag.
    Entry(Entry<'a>),
}

impl<'a> Content<'a> {
    /// The entry, if the row was judged before.
    pub fn entry(self) -> Option<Entry<'a>> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Url(..) | Self::Bad(..) => None,
        }
    }
}

impl<'a> InputRow<'a> {
    /// A line of plain text, the `line`th of its input: all of it is the URL.
    #[inline]
    pub fn of_line(line: u64, raw: Line<'a>) -> Self {
        Self { line, offset: raw.offset, content: Content::Url(raw.raw, RawTags::default()) }
    }
}

/// The position of rows that were written together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Their bytes in the scratch file.
    pub range: Range<usize>,
    /// The line and offset that the first row is encoded relative to.
    line: u64,
    offset: u64,
}

impl Block {
    /// The block in `range`, whose first row is encoded relative to line 0 and offset 0.
    pub fn alone(range: Range<usize>) -> Self {
        Self { range, line: 0, offset: 0 }
    }
}

const URL: u8 = 0;
const TAGGED: u8 = 1;
const BAD: u8 = 2;
const PLAIN_ENTRY: u8 = 3;
const ENTRY: u8 = 4;
const SECTION_ENTRY: u8 = 5;
const NEVER_GROWS: u8 = 8;

/// Bytes of the content of an entry without tags besides its URL: its kind, the length of the URL, and the number of its section.
/// URLs of 128 bytes and more take one more.
pub const UNTAGGED_OVERHEAD_BYTES: usize = 4;

/// The flag, next to the namespaces of an entry, that it has a section.
const HAS_SECTION: u8 = 128;
const _: () = assert!(EXTENSIONS_COUNT < 8);

/// Collects the rows of a block.
#[derive(Debug, Default)]
pub struct RowBuffer {
    bytes: Vec<u8>,
    rows: usize,
    /// The number that the next block counts from.
    block: (u64, u64),
    /// Line and offset of the last row.
    last: (u64, u64),
}

impl RowBuffer {
    /// Adds one row. Offsets do not fall.
    pub fn push(&mut self, row: &InputRow<'_>) {
        self.push_position(row.line, row.offset);
        match row.content {
            Content::Url(url, tags) if tags.is_empty() => {
                self.bytes.push(URL);
                field::push(url, &mut self.bytes);
            }
            Content::Url(url, tags) => {
                self.bytes.push(TAGGED);
                for text in [url, tags.section, tags.lastmod, tags.changefreq, tags.priority, tags.extras.0] {
                    field::push(text, &mut self.bytes);
                }
            }
            Content::Bad(text, reason) => {
                self.bytes.extend([BAD, reason as u8]);
                field::push(text, &mut self.bytes);
            }
            Content::Entry(entry) => self.push_content(&entry),
        }
    }

    /// Adds an entry whose position in the input is no longer needed.
    pub fn push_entry(&mut self, entry: &Entry<'_>) {
        self.push_position(0, 0);
        self.push_content(entry);
    }

    #[inline(always)]
    fn push_position(&mut self, line: u64, offset: u64) {
        field::push_number(zigzag(line.wrapping_sub(self.last.0) as i64), &mut self.bytes);
        field::push_number(offset - self.last.1, &mut self.bytes);
        self.last = (line, offset);
        self.rows += 1;
    }

    #[inline(always)]
    fn push_content(&mut self, entry: &Entry<'_>) {
        let kind = match entry.is_plain() {
            true => PLAIN_ENTRY,
            false if !entry.has_tags() => SECTION_ENTRY,
            false => ENTRY,
        };
        self.bytes.push(kind | never_grows(entry.url));
        field::push(entry.url.as_bytes(), &mut self.bytes);
        match kind {
            PLAIN_ENTRY => {}
            SECTION_ENTRY => self.bytes.extend_from_slice(&entry.section.0.to_le_bytes()),
            _ => push_all_but_url(entry, &mut self.bytes),
        }
    }

    /// The bytes of the current block.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of rows in the current block.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether the current block has reached `bytes_max` bytes, or the maximum number of rows.
    pub fn is_full(&self, bytes_max: usize) -> bool {
        self.bytes.len() >= bytes_max || self.rows == CHUNK_URLS_MAX
    }

    /// Ends the current block, whose bytes were written to the scratch file at `at`.
    pub fn end_block(&mut self, at: usize) -> Block {
        let (line, offset) = std::mem::replace(&mut self.block, self.last);
        let block = Block { range: at..at + self.bytes.len(), line, offset };
        self.bytes.clear();
        self.rows = 0;
        block
    }

    /// Starts over for rows from another position or input. The current block must have ended.
    pub fn begin(&mut self) {
        (self.block, self.last) = ((0, 0), (0, 0));
    }
}

/// The rows of a block of the scratch file `bytes`.
pub fn rows<'a>(bytes: &'a [u8], block: &Block) -> BlockReader<'a> {
    let Block { range, line, offset } = block;
    BlockReader { rest: &bytes[range.clone()], line: *line, offset: *offset }
}

/// How far ahead of a row bytes are prefetched, and how many: most rows have fewer.
const AHEAD_BYTES: usize = 1024;
const USUAL_BYTES: usize = 100;

/// Reads the rows of a block.
#[derive(Debug)]
pub struct BlockReader<'a> {
    rest: &'a [u8],
    line: u64,
    offset: u64,
}

impl<'a> BlockReader<'a> {
    #[inline(always)]
    fn next_position(&mut self) -> Option<()> {
        if self.rest.is_empty() {
            return None;
        }
        let rest = &mut self.rest;
        self.line = self.line.wrapping_add_signed(unzigzag(field::number(rest)));
        self.offset += field::number(rest);
        prefetch::fetch_ahead(rest, AHEAD_BYTES, USUAL_BYTES);
        Some(())
    }
}

impl<'a> BlockReader<'a> {
    /// The rows, each with the first byte of its content in the block: see [`content`].
    #[inline]
    pub fn with_starts(mut self) -> impl Iterator<Item = (InputRow<'a>, usize)> {
        let bytes = self.rest.len();
        std::iter::from_fn(move || {
            self.next_position()?;
            let start = bytes - self.rest.len();
            let content = take_content(&mut self.rest);
            Some((InputRow { line: self.line, offset: self.offset, content }, start))
        })
    }
}

impl<'a> Iterator for BlockReader<'a> {
    type Item = InputRow<'a>;

    #[inline]
    fn next(&mut self) -> Option<InputRow<'a>> {
        self.next_position()?;
        Some(InputRow { line: self.line, offset: self.offset, content: take_content(&mut self.rest) })
    }
}

/// The content of a row, which begins at the start of `rest`.
#[inline]
pub fn content(mut rest: &[u8]) -> Content<'_> {
    take_content(&mut rest)
}

/// Takes the content of a row from the start of `rest`. Always inlined, because every row goes through it.
#[inline(always)]
fn take_content<'a>(rest: &mut &'a [u8]) -> Content<'a> {
    let kind = field::byte(rest);
    let may_grow = kind & NEVER_GROWS == 0;
    match kind & !NEVER_GROWS {
        URL => Content::Url(field::take(rest), RawTags::default()),
        TAGGED => {
            let (url, section) = (field::take(rest), field::take(rest));
            let (lastmod, changefreq) = (field::take(rest), field::take(rest));
            let (priority, extras) = (field::take(rest), RawExtras(field::take(rest)));
            Content::Url(url, RawTags { lastmod, changefreq, priority, extras, section })
        }
        BAD => {
            let reason = Reason::ALL[usize::from(field::byte(rest))];
            Content::Bad(field::take(rest), reason)
        }
        PLAIN_ENTRY => Content::Entry(take_plain_entry(rest, may_grow)),
        SECTION_ENTRY => {
            let entry = take_plain_entry(rest, may_grow);
            let section = SectionNumber(u16::from_le_bytes([field::byte(rest), field::byte(rest)]));
            Content::Entry(Entry { section, ..entry })
        }
        _ => Content::Entry(take_full_entry(rest, may_grow)),
    }
}

#[inline]
fn take_plain_entry<'a>(rest: &mut &'a [u8], may_grow: bool) -> Entry<'a> {
    Entry::of(CleanUrl::known(field::take(rest), may_grow))
}

/// Takes an entry with tags. Out of line, so that the code for entries without them stays small enough to be inlined.
#[inline(never)]
fn take_full_entry<'a>(rest: &mut &'a [u8], may_grow: bool) -> Entry<'a> {
    let url = CleanUrl::known(field::take(rest), may_grow);
    take_all_but_url(url, rest)
}

/// Appends everything of `entry` but its URL.
pub fn push_all_but_url(entry: &Entry<'_>, out: &mut Vec<u8>) {
    let Entry { tags, instant, extras, section, .. } = entry;
    field::push(tags, out);
    field::push_number(instant.map_or(0, |instant| zigzag(instant) + 1), out);
    field::push(extras.xml, out);
    let has_section = *section != SectionNumber::REST;
    out.push(extras.uses.bits() | if has_section { HAS_SECTION } else { 0 });
    if has_section {
        field::push_number(section.0.into(), out);
    }
}

/// Takes what [`push_all_but_url`] has written from the start of `rest`. Returns the entry of `url` with it.
pub fn take_all_but_url<'a>(url: CleanUrl<'a>, rest: &mut &'a [u8]) -> Entry<'a> {
    let tags = field::take(rest);
    let instant = field::number(rest).checked_sub(1).map(unzigzag);
    let (xml, bits) = (field::take(rest), field::byte(rest));
    let section = match bits & HAS_SECTION {
        0 => SectionNumber::REST,
        _ => SectionNumber(field::number(rest) as u16),
    };
    let extras = Extras { xml, uses: Namespaces::from_bits(bits & !HAS_SECTION) };
    Entry { url, tags, instant, extras, section }
}

/// The flag for an entry whose `url` has nothing to escape, or 0.
fn never_grows(url: CleanUrl<'_>) -> u8 {
    if url.may_grow() { 0 } else { NEVER_GROWS }
}

/// Maps numbers near zero of either sign to small unsigned numbers.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}
