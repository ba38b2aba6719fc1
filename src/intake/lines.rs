//! Lines: cuts bytes into chunks by arithmetic alone, and chunks into lines.
//!
//! A line belongs to the chunk that contains its first byte. So every chunk finds its lines without its neighbours, every line
//! is in exactly one chunk, and even a line of a gigabyte is scanned once.

use std::ops::Range;

use crate::common::{prefetch, simd};
use crate::limits::LINE_BYTES_MIN;

/// Bytes of a chunk: enough that the work per chunk is cheap, and few enough to fit in the second-level cache together with the
/// data computed from them.
pub const CHUNK_BYTES: usize = 256 * 1024;

/// Maximum number of lines of a chunk that can hold a URL.
pub const CHUNK_URLS_MAX: usize = CHUNK_BYTES.div_ceil(LINE_BYTES_MIN);
const _: () = assert!(CHUNK_URLS_MAX <= 1 << u16::BITS);

/// The byte order mark that some programs put at the start of a UTF-8 file.
pub const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A raw line and its position.
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
    // The last line may end far after the nominal end.
    let end = match memchr::memchr(b'\n', &input[chunk.end - 1..]) {
        Some(at) => chunk.end + at,
        None => input.len(),
    };
    start..end
}

/// The lines of `bytes`, which begin at `offset` of their input and end where a line or the input ends.
pub fn lines(bytes: &[u8], offset: u64) -> LineReader<'_> {
    let mark = if offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    LineReader {
        bytes,
        offset,
        start: mark,
        window: 0,
        next_window: 0,
        ends: [0; WINDOW_BYTES + 1],
        next_end: 0,
        count: 0,
    }
}

/// Bytes that are searched for line ends at a time: many lines of usual lengths, with a small table of their ends.
const WINDOW_BYTES: usize = 1024;
const _: () = assert!(WINDOW_BYTES.is_multiple_of(simd::BITS));

/// How far ahead of the current window bytes are prefetched.
const AHEAD_BYTES: usize = 4 * WINDOW_BYTES;

/// Iterates over lines.
#[derive(Debug, Clone)]
pub struct LineReader<'a> {
    bytes: &'a [u8],
    offset: u64,
    /// The position at which the next line starts.
    start: usize,
    /// The window that was searched last, and the next one.
    window: usize,
    next_window: usize,
    /// The line ends in the window. The extra element is written to, but not read.
    ends: [u32; WINDOW_BYTES + 1],
    next_end: usize,
    count: usize,
}

impl<'a> LineReader<'a> {
    /// The bytes of all lines that were not read yet.
    pub fn left(&self) -> &'a [u8] {
        &self.bytes[self.start..]
    }

    /// The position of the next line end.
    #[inline]
    fn next_end(&mut self) -> Option<usize> {
        while self.next_end == self.count {
            if self.next_window >= self.bytes.len() {
                return None;
            }
            self.look();
        }
        let end = self.window + self.ends[self.next_end] as usize;
        self.next_end += 1;
        Some(end)
    }

    /// Finds all line ends of the next window. Their positions are unpredictable, so a search for one line end at a time would
    /// mispredict a branch for each line.
    fn look(&mut self) {
        let rest = &self.bytes[self.next_window..];
        // The processor's own prefetcher stops at the end of a page.
        prefetch::fetch_ahead(rest, AHEAD_BYTES, WINDOW_BYTES);
        let window = &rest[..WINDOW_BYTES.min(rest.len())];
        let (blocks, last) = window.as_chunks();
        let mut count = 0;
        let mut put = |at, block| {
            simd::put_ones::<2>(simd::find(block, b'\n'), at, &mut self.ends, &mut count);
        };
        for (nth, block) in blocks.iter().enumerate() {
            put(nth * simd::BITS, block);
        }
        if !last.is_empty() {
            put(window.len() - last.len(), &last_block(last));
        }
        (self.window, self.next_window) = (self.next_window, self.next_window + window.len());
        (self.next_end, self.count) = (0, count);
    }
}

/// Pads the rest of a window with zeros to a whole block. Zeros are no line ends.
#[cold]
fn last_block(rest: &[u8]) -> [u8; simd::BITS] {
    let mut block = [0; simd::BITS];
    block[..rest.len()].copy_from_slice(rest);
    block
}

impl<'a> Iterator for LineReader<'a> {
    type Item = Line<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Line<'a>> {
        let (start, bytes) = (self.start, self.bytes);
        let (end, next) = match self.next_end() {
            Some(end) if end > start && bytes[end - 1] == b'\r' => (end - 1, end + 1),
            Some(end) => (end, end + 1),
            None if start < bytes.len() => (bytes.len(), bytes.len()),
            None => return None,
        };
        self.start = next;
        Some(Line { offset: self.offset + start as u64, raw: &bytes[start..end] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference: the whole input as one chunk.
    fn plain(input: &[u8]) -> Vec<Line<'_>> {
        lines(input, 0).collect()
    }

    #[test]
    fn a_line_ends_with_lf_or_crlf_and_the_last_may_end_without_one() {
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

    /// The simplest reference: one byte after another.
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
            assert_eq!(found, want, "{}", crate::escape::shown(input));
        };
        for length in (0..=2 * simd::BITS + 2).filter(|length| matches!(length % simd::BITS, 0..=2 | 62..)) {
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
    fn chunks_cover_every_line_once_wherever_they_are_cut() {
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
