//! Lines: bytes cut into chunks by arithmetic alone, and chunks into lines.
//!
//! A line belongs to the chunk in which its first byte lies. So every chunk finds its own lines with no word from its
//! neighbours, all of them cover each line once, and a line of a gigabyte is walked over once.

use std::io::{self, Read};
use std::ops::Range;

use super::wide;
use crate::limits::{LINE_BYTES_MAX, LINE_BYTES_MIN};

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
    let mark = if offset == 0 && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    Lines { bytes, offset, start: mark, ends: 0, next_block: 0 }
}

/// Lines, one after the other.
#[derive(Debug, Clone)]
pub struct Lines<'a> {
    bytes: &'a [u8],
    offset: u64,
    /// Where the next line starts.
    start: usize,
    /// The line ends in the block before `next_block` that were not met yet, a bit each.
    ends: u64,
    /// Where to look for line ends next, in steps of [`wide::BITS`].
    next_block: usize,
}

impl Lines<'_> {
    /// Where the next line end is.
    #[inline]
    fn next_end(&mut self) -> Option<usize> {
        while self.ends == 0 {
            let rest = self.bytes.get(self.next_block..).filter(|rest| !rest.is_empty())?;
            self.ends = rest.first_chunk().map_or_else(|| last_ends(rest), |block| wide::find(block, b'\n'));
            self.next_block += wide::BITS;
        }
        let end = self.next_block - wide::BITS + self.ends.trailing_zeros() as usize;
        self.ends &= self.ends - 1;
        Some(end)
    }
}

/// The line ends in less than a block.
#[cold]
fn last_ends(rest: &[u8]) -> u64 {
    let mut block = [0; wide::BITS];
    block[..rest.len()].copy_from_slice(rest);
    wide::find(&block, b'\n')
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    #[inline]
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

/// Cuts a stream into blocks of whole lines, in memory that no line can exceed.
#[derive(Debug)]
pub struct Blocks<R> {
    stream: R,
    /// The offset of `rest` in the stream.
    offset: u64,
    /// Lines before `rest`.
    lines: u64,
    /// What follows the last line end.
    rest: Vec<u8>,
    /// Where reads go to.
    piece: Box<[u8]>,
    ended: bool,
}

/// Whole lines of a stream, and where they begin in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// The first byte's offset in the stream.
    pub offset: u64,
    /// Lines before it.
    pub lines_before: u64,
    /// The lines. One that is longer than any line may be is cut, and still too long, so that it is refused like the
    /// whole of it would be.
    pub bytes: Vec<u8>,
}

impl<R: Read> Blocks<R> {
    /// Blocks of `stream`, from its start.
    pub fn new(stream: R) -> Self {
        Self {
            stream,
            offset: 0,
            lines: 0,
            rest: Vec::new(),
            piece: vec![0; CHUNK_BYTES].into(),
            ended: false,
        }
    }

    /// Reads once or more, until there is a line end or too long a line.
    fn next_block(&mut self) -> io::Result<Option<Block>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let piece = read(&mut self.stream, &mut self.piece)?;
            if piece.is_empty() {
                self.ended = true;
                let is_any = !bytes.is_empty();
                return Ok(is_any.then(|| self.block(self.offset, bytes)));
            }
            if let Some(last) = memchr::memrchr(b'\n', piece) {
                bytes.extend_from_slice(&piece[..=last]);
                self.rest.extend_from_slice(&piece[last + 1..]);
                let offset = self.offset;
                self.offset += bytes.len() as u64;
                return Ok(Some(self.block(offset, bytes)));
            }
            bytes.extend_from_slice(piece);
            // One byte more than a line may have, and a carriage return that might yet be part of its end.
            if bytes.len() >= LINE_BYTES_MAX + 2 {
                return self.skip_line(bytes).map(Some);
            }
        }
    }

    /// Keeps the start of a line that is too long, and reads past its end.
    fn skip_line(&mut self, mut bytes: Vec<u8>) -> io::Result<Block> {
        let offset = self.offset;
        self.offset += bytes.len() as u64;
        bytes.truncate(LINE_BYTES_MAX + 2);
        loop {
            let piece = read(&mut self.stream, &mut self.piece)?;
            self.ended = piece.is_empty();
            let end = memchr::memchr(b'\n', piece);
            self.offset += end.map_or(piece.len(), |end| end + 1) as u64;
            if let Some(end) = end {
                self.rest.extend_from_slice(&piece[end + 1..]);
            }
            if self.ended || end.is_some() {
                return Ok(self.block(offset, bytes));
            }
        }
    }

    fn block(&mut self, offset: u64, bytes: Vec<u8>) -> Block {
        let lines_before = self.lines;
        let has_open_line = bytes.last() != Some(&b'\n');
        self.lines += memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(has_open_line);
        Block { offset, lines_before, bytes }
    }
}

/// Reads once into `piece`; what was read is empty at the end of the stream only.
fn read<'p>(stream: &mut impl Read, piece: &'p mut [u8]) -> io::Result<&'p [u8]> {
    loop {
        match stream.read(piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(&piece[..read?]),
        }
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Block>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_block().transpose();
        self.ended |= !matches!(next, Some(Ok(_)));
        next
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

    /// Gives at most `step` bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(buffer.len()).min(self.0.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn assert_lines_are_counted(blocks: &[Block]) {
        let mut before = 0;
        for block in blocks {
            assert_eq!(block.lines_before, before);
            before += lines(&block.bytes, block.offset).count() as u64;
        }
    }

    #[test]
    fn a_stream_gives_the_lines_that_a_map_gives() {
        let input = [b"\xEF\xBB\xBFa\r\n\nbb\n", &vec![b'c'; LINE_BYTES_MAX][..], b"\r\nlast without an end"]
            .concat();
        for step in [1, 2, 7, 65_536, usize::MAX] {
            let blocks: Vec<Block> = Blocks::new(Slow(&input, step)).map(Result::unwrap).collect();
            let got: Vec<_> = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).collect();
            assert_eq!(got, plain(&input), "step {step}");
            assert_lines_are_counted(&blocks);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_in_a_stream_and_stays_too_long() {
        for extra in [1, 2, 3, 5 * CHUNK_BYTES] {
            for step in [1000, usize::MAX] {
                let input = [b"a\n", &vec![b'x'; LINE_BYTES_MAX + extra][..], b"\r\nb\n"].concat();
                let blocks: Vec<Block> = Blocks::new(Slow(&input, step)).map(Result::unwrap).collect();
                let got: Vec<_> = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).collect();
                let want = plain(&input);
                assert_eq!(got.len(), 3);
                assert_eq!((got[0], got[2]), (want[0], want[2]), "extra {extra}, step {step}");
                assert_lines_are_counted(&blocks);
                assert_eq!(got[1].offset, want[1].offset);
                assert!(got[1].raw.len() > LINE_BYTES_MAX && want[1].raw.starts_with(got[1].raw));
            }
        }
    }
}
