//! Lines: bytes cut into chunks by arithmetic alone, and chunks into lines.
//!
//! A line belongs to the chunk in which its first byte lies. So every chunk finds its own lines with no word from its
//! neighbours, all of them cover each line once, and a line of a gigabyte is walked over once.

mod blocks;

use std::ops::Range;

pub use blocks::{Block, Blocks};

use super::wide;
use crate::limits::LINE_BYTES_MIN;

/// Bytes of input that are surveyed together: enough to make the work around a chunk cheap, few enough to stay in the
/// second-level cache with what is computed from them.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Most lines of one chunk that can hold a URL.
pub const CHUNK_URLS_MAX: usize = CHUNK_BYTES.div_ceil(LINE_BYTES_MIN);
const _: () = assert!(CHUNK_URLS_MAX <= 1 << u16::BITS);

/// The mark that some programs put at the start of a UTF-8 file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A raw line and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The first byte's offset in the input.
    pub offset: u64,
    /// The bytes without the line end.
    pub raw: &'a [u8],
}

/// The nominal ranges of the chunks of an input of `input_bytes`.
pub fn chunks(input_bytes: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    (0..input_bytes.div_ceil(CHUNK_BYTES))
        .map(move |n| n * CHUNK_BYTES..((n + 1) * CHUNK_BYTES).min(input_bytes))
}

/// The bytes of the lines that begin in the nominal range `chunk` of `input`, from the first line's first byte.
pub fn own(input: &[u8], chunk: Range<usize>) -> Range<usize> {
    let start = match chunk.start {
        0 => 0,
        start => match memchr::memchr(b'\n', &input[start - 1..chunk.end - 1]) {
            Some(at) => start + at,
            None => return chunk.end..chunk.end,
        },
    };
    // The last line may end far behind the nominal end.
    let end = match memchr::memchr(b'\n', &input[chunk.end - 1..]) {
        Some(at) => chunk.end + at,
        None => input.len(),
    };
    start..end
}

/// The lines of `bytes`, which begin at `offset` of their input and end with a line's end or the input's.
pub fn lines(bytes: &[u8], offset: u64) -> Lines<'_> {
    Lines(NotingLines::new(bytes, offset, []))
}

/// Lines, one after the other.
#[derive(Debug, Clone)]
pub struct Lines<'a>(NotingLines<'a, 0>);

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
    fn next(&mut self) -> Option<Line<'a>> {
        self.0.next().map(|(line, _)| line)
    }
}

/// Lines, and whether any of `N` bytes is in them: one look at the input tells both.
#[derive(Debug, Clone)]
pub struct NotingLines<'a, const N: usize> {
    bytes: &'a [u8],
    offset: u64,
    noted: [u8; N],
    /// Where the next line starts.
    start: usize,
    /// Of the block before `next_block`, a bit each: the line ends that were not met yet, and all noted bytes behind the
    /// last one that was.
    ends: u64,
    notes: u64,
    /// Where to look next, in steps of [`wide::BITS`].
    next_block: usize,
}

impl<'a, const N: usize> NotingLines<'a, N> {
    /// Those of `bytes`, as [`lines`] has them, with a look for those in `noted`.
    pub fn new(bytes: &'a [u8], offset: u64, noted: [u8; N]) -> Self {
        let mark = if offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Self { bytes, offset, noted, start: mark, ends: 0, notes: 0, next_block: 0 }
    }

    /// Where the next line end is, and whether a noted byte comes before it.
    #[inline]
    fn next_end(&mut self) -> (Option<usize>, bool) {
        let mut is_noted = false;
        while self.ends == 0 {
            is_noted |= self.notes != 0;
            self.notes = 0;
            let Some(rest) = self.bytes.get(self.next_block..).filter(|rest| !rest.is_empty()) else {
                return (None, is_noted);
            };
            match rest.first_chunk() {
                Some(block) => self.look(block),
                None => self.look(&last_block(rest)),
            }
            self.next_block += wide::BITS;
        }
        let end = self.next_block - wide::BITS + self.ends.trailing_zeros() as usize;
        // The bits below the lowest one.
        let before = (self.ends - 1) & !self.ends;
        is_noted |= self.notes & before != 0;
        self.notes &= !before;
        self.ends &= self.ends - 1;
        (Some(end), is_noted)
    }

    #[inline(always)]
    fn look(&mut self, block: &[u8; wide::BITS]) {
        self.ends = wide::find(block, b'\n');
        self.notes = self.noted.iter().fold(0, |notes, &noted| notes | wide::find(block, noted));
    }
}

/// Less than a block, and zeros, which nobody looks for.
#[cold]
fn last_block(rest: &[u8]) -> [u8; wide::BITS] {
    let mut block = [0; wide::BITS];
    block[..rest.len()].copy_from_slice(rest);
    block
}

impl<'a, const N: usize> Iterator for NotingLines<'a, N> {
    type Item = (Line<'a>, bool);

    #[inline]
    fn next(&mut self) -> Option<(Line<'a>, bool)> {
        let (start, bytes) = (self.start, self.bytes);
        let (next_end, is_noted) = self.next_end();
        let (end, next) = match next_end {
            Some(end) if end > start && bytes[end - 1] == b'\r' => (end - 1, end + 1),
            Some(end) => (end, end + 1),
            None if start < bytes.len() => (bytes.len(), bytes.len()),
            None => return None,
        };
        self.start = next;
        Some((Line { offset: self.offset + start as u64, raw: &bytes[start..end] }, is_noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plain way: the whole input as one chunk.
    fn plain(input: &[u8]) -> Vec<Line<'_>> {
        lines(input, 0).collect()
    }

    #[test]
    fn a_line_ends_in_lf_or_crlf_and_the_last_needs_no_end() {
        let of = |input: &'static [u8]| plain(input).iter().map(|l| (l.offset, l.raw)).collect::<Vec<_>>();
        assert_eq!(of(b""), []);
        assert_eq!(of(b"a"), [(0, &b"a"[..])]);
        assert_eq!(of(b"a\n"), [(0, &b"a"[..])]);
        assert_eq!(
            of(b"a\r\n\r\nb\rc\n\nd\r"),
            [(0, &b"a"[..]), (3, b""), (5, b"b\rc"), (9, b""), (10, b"d\r")]
        );
        assert_eq!(of(b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb"), [(3, &b"a"[..]), (5, b"\xEF\xBB\xBFb")]);
    }

    /// The plainest way: one byte after the other.
    fn by_bytes(input: &[u8]) -> Vec<(u64, &[u8])> {
        let mut lines = Vec::new();
        let mut start = if input.starts_with(BYTE_ORDER_MARK) { 3 } else { 0 };
        for (at, _) in input.iter().enumerate().filter(|&(_, &byte)| byte == b'\n') {
            let raw = &input[start..at];
            lines.push((start as u64, raw.strip_suffix(b"\r").unwrap_or(raw)));
            start = at + 1;
        }
        if start < input.len() {
            lines.push((start as u64, &input[start..]));
        }
        lines
    }

    #[test]
    fn line_ends_are_found_wherever_blocks_meet() {
        let found = |input: &[u8]| plain(input).iter().map(|line| (line.offset, line.raw.to_vec())).collect();
        let check = |input: &[u8]| {
            let found: Vec<(u64, Vec<u8>)> = found(input);
            let want: Vec<_> = by_bytes(input).into_iter().map(|(at, raw)| (at, raw.to_vec())).collect();
            assert_eq!(found, want, "{}", crate::text::shown(input));
        };
        for length in (0..=2 * wide::BITS + 2).filter(|length| matches!(length % wide::BITS, 0..=2 | 62..)) {
            for at in 0..=length {
                for end in [&b"\n"[..], b"\r\n", b"\n\n", b"\n\r", b"\r\r\n\n", b"\x0b\x8a"] {
                    check(&[&vec![b'x'; at][..], end, &vec![b'\t'; length - at]].concat());
                    check(&[BYTE_ORDER_MARK, &vec![b'x'; at], end, &vec![0x8A; length - at]].concat());
                }
            }
            check(&vec![b'\n'; length]);
        }
    }

    #[test]
    fn noted_bytes_are_in_the_line_that_they_are_in() {
        let line = |length: usize, noted: Option<usize>| {
            let mut line = vec![b'x'; length];
            noted.into_iter().for_each(|at| line[at % length] = if at % 2 == 0 { b'&' } else { b'\'' });
            line
        };
        for lengths in [[1, 2, 3], [3, 62, 1], [64, 63, 65], [200, 1, 127], [61, 130, 61]] {
            for at in 0..200 {
                for (holder, end) in (0..3).flat_map(|holder| [(holder, &b"\n"[..]), (holder, b"\r\n")]) {
                    let of = |nth: usize| line(lengths[nth], (nth == holder).then_some(at));
                    let all = (0..6).map(|nth| of(nth % 3)).collect::<Vec<_>>().join(end);
                    let noted: Vec<_> =
                        NotingLines::new(&all, 1, [b'&', b'\'']).map(|(_, is_noted)| is_noted).collect();
                    assert_eq!(noted, [0, 1, 2, 0, 1, 2].map(|nth| nth == holder), "{lengths:?}, {at}");
                }
            }
        }
    }

    #[test]
    fn chunks_cover_every_line_once_wherever_lines_meet_their_seams() {
        for around in [0, 1, 2, 3, CHUNK_BYTES, 2 * CHUNK_BYTES] {
            for seam in -2..=2 {
                // The line that ends near the seam is followed by one of `around` bytes and a short one.
                let first = (CHUNK_BYTES as isize + seam) as usize;
                let input =
                    [&vec![b'x'; first][..], b"\n", &vec![b'y'; around], b"\r\nz\n", b"wwwww"].concat();
                let cut: Vec<_> = chunks(input.len())
                    .map(|chunk| own(&input, chunk))
                    .flat_map(|own| lines(&input[own.clone()], own.start as u64))
                    .collect();
                assert_eq!(cut, plain(&input), "around {around}, seam {seam}");
            }
        }
    }
}
