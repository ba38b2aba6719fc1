//! Picks: rows of a few chunks in an order of their own, each by its place in its chunk. They are read where they are.

use std::ops::Range;

use crate::clean::CleanUrl;
use crate::common::prefetch;
use crate::intake::lines::CHUNK_BYTES;
use crate::intake::spool_format::{self, Content};
use crate::sitemap::tags::RawTags;

/// Most chunks whose rows are picked together.
pub const CHUNKS_TOGETHER: usize = 1 << CHUNK_BITS;

const CHUNK_BITS: u32 = 4;
const START_BITS: u32 = 19;
const LENGTH_BITS: u32 = u32::BITS - CHUNK_BITS - START_BITS - 1;
/// The bits of the length, and that of a URL that may grow.
const LOW_BITS: u32 = LENGTH_BITS + 1;

/// Lines of as many bytes or more are searched for their end.
const LENGTH_MAX: usize = (1 << LENGTH_BITS) - 1;

const _: () = assert!(CHUNK_BYTES < 1 << START_BITS);

/// How many rows are prefetched together. Each may be on a page of its own, and the processor looks up several pages at a time only
/// if it is asked for them in a row.
const AHEAD: usize = 8;

/// The place of a row.
///
/// ```text
/// bits = chunk (4) · first byte in the bytes of the chunk (19) · whether its URL may grow (1) · length, at most 255 (8)
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowAt(u32);

impl RowAt {
    /// The place of a row of the first chunk. `length` is that of a line without its end, or of what is usually read of another
    /// row. `may_grow` says whether its URL may have anything to escape. `None` if the chunk is too large.
    #[inline]
    pub fn new(start: usize, length: usize, may_grow: bool) -> Option<Self> {
        let length = length.min(LENGTH_MAX) | usize::from(may_grow) << LENGTH_BITS;
        (start < 1 << START_BITS).then_some(Self((start << LOW_BITS | length) as u32))
    }

    /// The same place in the chunk with the index `chunk`.
    #[inline]
    pub fn in_chunk(self, chunk: usize) -> Self {
        Self(self.0 | (chunk as u32) << (START_BITS + LOW_BITS))
    }

    #[inline]
    fn chunk(self) -> usize {
        (self.0 >> (START_BITS + LOW_BITS)) as usize
    }

    /// The first byte in the chunk.
    #[inline]
    pub fn start(self) -> usize {
        (self.0 >> LOW_BITS) as usize & ((1 << START_BITS) - 1)
    }

    #[inline]
    fn may_grow(self) -> bool {
        self.0 >> LENGTH_BITS & 1 != 0
    }

    #[inline]
    fn length(self) -> usize {
        self.0 as usize & LENGTH_MAX
    }
}

/// A chunk that rows are picked from.
#[derive(Debug, Clone)]
pub struct PickedChunk {
    /// Its bytes in the input.
    pub bytes: Range<usize>,
    /// The kind of its rows.
    pub rows: PickedRows,
}

/// The kind of the rows of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickedRows {
    /// Lines that are canonical URLs.
    CleanLines,
    /// Lines.
    Lines,
    /// Rows in scratch.
    Rows,
}

/// Rows of a few chunks of one input.
#[derive(Debug)]
pub struct Picks {
    /// The chunks.
    pub chunks: Vec<PickedChunk>,
    /// The rows in order, in pieces of any length.
    pub places: Vec<Vec<RowAt>>,
}

/// A row that was picked.
pub enum Picked<'i> {
    /// A line that is a canonical URL.
    Clean(CleanUrl<'i>),
    /// Any other row.
    Row(Content<'i>),
}

impl Picks {
    /// Calls `act` with each row in `range`. `input` has all bytes of the input.
    ///
    /// # Errors
    /// The first of `act`.
    #[inline]
    pub fn try_for_each<'i, E>(
        &self,
        range: Range<usize>,
        input: &'i [u8],
        mut act: impl FnMut(Picked<'i>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut before = 0;
        for places in &self.places {
            let own = range.start.max(before)..range.end.min(before + places.len());
            if !own.is_empty() {
                self.try_for_each_of(&places[own.start - before..own.end - before], input, &mut act)?;
            }
            before += places.len();
        }
        Ok(())
    }

    #[inline(always)]
    fn try_for_each_of<'i, E>(
        &self,
        places: &[RowAt],
        input: &'i [u8],
        act: &mut impl FnMut(Picked<'i>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.fetch(places, input);
        for (at, &place) in places.iter().enumerate() {
            if at.is_multiple_of(AHEAD) {
                self.fetch(&places[(at + AHEAD).min(places.len())..], input);
            }
            let PickedChunk { bytes, rows } = &self.chunks[place.chunk()];
            let row = &input[bytes.start + place.start()..bytes.end];
            act(match rows {
                PickedRows::CleanLines => Picked::Clean(CleanUrl::known(line(row, place), place.may_grow())),
                PickedRows::Lines => Picked::Row(of_line(line(row, place))),
                PickedRows::Rows => Picked::Row(spool_format::content(row)),
            })?;
        }
        Ok(())
    }

    /// Prefetches the first rows at `places`, all but the middle of long ones. Of the rows after these, only the first bytes: so
    /// their pages are looked up at the same time, and are known when the rest is prefetched.
    #[inline(never)]
    fn fetch(&self, places: &[RowAt], input: &[u8]) {
        let start = |place: &RowAt| self.chunks[place.chunk()].bytes.start + place.start();
        let fetch = |at: usize| {
            if let Some(ahead) = input.get(at) {
                prefetch::fetch(ahead);
            }
        };
        let (these, next) = places.split_at(places.len().min(AHEAD));
        next.iter().take(AHEAD).for_each(|place| fetch(start(place)));
        these.iter().for_each(|place| {
            let (start, length) = (start(place), place.length());
            fetch(start + length.min(prefetch::LINE_BYTES));
            fetch(start + length);
        });
    }
}

#[inline]
fn of_line(raw: &[u8]) -> Content<'_> {
    Content::Url(raw, RawTags::default())
}

/// The line at `place`, with which `rest` begins. It ends where a line or the input ends.
#[inline]
pub fn line(rest: &[u8], place: RowAt) -> &[u8] {
    if place.length() < LENGTH_MAX { &rest[..place.length()] } else { long_line(rest) }
}

#[inline(never)]
fn long_line(rest: &[u8]) -> &[u8] {
    match memchr::memchr(b'\n', rest) {
        Some(end) => rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]),
        None => rest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::lines;

    #[test]
    fn picked_lines_are_the_lines_of_their_chunks() {
        let mut text = b"\xEF\xBB\xBFhttp://h.example/\n".to_vec();
        for bytes in [0, 1, LENGTH_MAX - 1, LENGTH_MAX, LENGTH_MAX + 1, CHUNK_BYTES, 3, CHUNK_BYTES, 700] {
            for end in [&b"\n"[..], b"\r\n", b"\r\r\n"] {
                text.extend(std::iter::repeat_n(b'x', bytes));
                text.extend_from_slice(end);
            }
        }
        text.extend_from_slice(b"the last\r");
        let own: Vec<_> = lines::chunks(text.len()).map(|nominal| lines::own(&text, nominal)).collect();
        assert!(own.len() < CHUNKS_TOGETHER);
        let mut want = Vec::new();
        let (mut chunks, mut places) = (Vec::new(), Vec::new());
        for (at, bytes) in own.into_iter().enumerate() {
            for line in lines::lines(&text[bytes.clone()], bytes.start as u64) {
                want.push(line.raw);
                let start = line.offset as usize - bytes.start;
                places.push(RowAt::new(start, line.raw.len(), false).unwrap().in_chunk(at));
            }
            chunks.push(PickedChunk { bytes, rows: PickedRows::Lines });
        }
        // The first two pieces are empty, the last one may be.
        let mut pieces = Vec::new();
        for length in 0.. {
            let rest = places.split_off(places.len().min(length / 2));
            pieces.push(std::mem::replace(&mut places, rest));
            if places.is_empty() {
                break;
            }
        }
        let picks = Picks { chunks, places: pieces };
        for from in [0, 1, 7, want.len()] {
            let mut found = Vec::new();
            let ok = picks.try_for_each(from..want.len(), &text, |row| {
                let Picked::Row(Content::Url(raw, _)) = row else {
                    panic!("it is a line, not known to be clean")
                };
                found.push(raw);
                Ok::<_, ()>(())
            });
            assert!(ok == Ok(()) && found == want[from..]);
        }
    }

    #[test]
    fn a_place_beyond_its_bits_is_none() {
        assert!(RowAt::new((1 << START_BITS) - 1, usize::MAX, true).is_some());
        assert!(RowAt::new(1 << START_BITS, 0, false).is_none());
    }
}
