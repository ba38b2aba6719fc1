//! Reads a stream in blocks of whole lines, for input that cannot be mapped.

use std::io::{self, Read};

use super::lines::{BYTE_ORDER_MARK, CHUNK_BYTES};
use crate::limits::LINE_BYTES_MAX;

/// Cuts a stream into blocks of whole lines, in bounded memory, however long a line is.
#[derive(Debug)]
pub struct Blocks<R> {
    stream: R,
    /// The offset of `rest` in the stream.
    offset: u64,
    /// Lines before `rest`.
    lines: u64,
    /// The bytes after the last block or, after a line that was too long, after this line.
    rest: Vec<u8>,
    /// The buffer for reads.
    buffer: Box<[u8]>,
    /// Maximum bytes of a line that is kept whole.
    line_bytes_max: usize,
    ended: bool,
}

/// Whole lines of a stream, and their position in it.
#[derive(Debug, PartialEq, Eq)]
pub struct TextBlock {
    /// The first byte's offset in the stream.
    pub offset: u64,
    /// Lines before it.
    pub lines_before: u64,
    /// The lines. A line that exceeds the maximum length is truncated to a length that still exceeds it, so that it is
    /// refused like the whole line.
    pub bytes: Vec<u8>,
}

impl<R: Read> Blocks<R> {
    /// Blocks of `stream`, from its start; lines of more than [`LINE_BYTES_MAX`] are cut.
    pub fn new(stream: R) -> Self {
        Self::of_lines_up_to(LINE_BYTES_MAX, stream)
    }

    /// Blocks of `stream`, from its start; lines of more than `line_bytes_max` are cut.
    pub fn of_lines_up_to(line_bytes_max: usize, stream: R) -> Self {
        Self {
            stream,
            offset: 0,
            lines: 0,
            rest: Vec::new(),
            buffer: vec![0; CHUNK_BYTES].into(),
            line_bytes_max,
            ended: false,
        }
    }

    /// Reads once or more, until there is a line end or too long a line.
    fn next_block(&mut self) -> io::Result<Option<TextBlock>> {
        let mut bytes = std::mem::take(&mut self.rest);
        // After a line that was too long, the rest may begin with whole lines.
        if let Some(last) = memchr::memrchr(b'\n', &bytes) {
            self.rest = bytes.split_off(last + 1);
            return Ok(Some(self.block(bytes)));
        }
        loop {
            let buffer = read(&mut self.stream, &mut self.buffer)?;
            if buffer.is_empty() {
                self.ended = true;
                let is_any = !bytes.is_empty();
                return Ok(is_any.then(|| self.block(bytes)));
            }
            if let Some(last) = memchr::memrchr(b'\n', buffer) {
                bytes.extend_from_slice(&buffer[..=last]);
                self.rest.extend_from_slice(&buffer[last + 1..]);
                return Ok(Some(self.block(bytes)));
            }
            bytes.extend_from_slice(buffer);
            if bytes.len() >= self.kept_of_line() {
                return self.skip_line(bytes).map(Some);
            }
        }
    }

    /// Keeps the start of a line that is too long, and reads past its end.
    fn skip_line(&mut self, mut bytes: Vec<u8>) -> io::Result<TextBlock> {
        let mut skipped_bytes = bytes.len() as u64;
        bytes.truncate(self.kept_of_line());
        skipped_bytes -= bytes.len() as u64;
        loop {
            let buffer = read(&mut self.stream, &mut self.buffer)?;
            self.ended = buffer.is_empty();
            let end = memchr::memchr(b'\n', buffer);
            skipped_bytes += end.map_or(buffer.len(), |end| end + 1) as u64;
            if let Some(end) = end {
                self.rest.extend_from_slice(&buffer[end + 1..]);
            }
            if self.ended || end.is_some() {
                let block = self.block(bytes);
                self.offset += skipped_bytes;
                return Ok(block);
            }
        }
    }

    /// Bytes that are kept of a line that is too long: one more than a line may have, a carriage return that might yet be part of
    /// its end, and a byte order mark, which is not part of the first line.
    fn kept_of_line(&self) -> usize {
        self.line_bytes_max + 2 + BYTE_ORDER_MARK.len()
    }

    /// The block of the next lines, which are `bytes`.
    fn block(&mut self, bytes: Vec<u8>) -> TextBlock {
        let (offset, lines_before) = (self.offset, self.lines);
        self.offset += bytes.len() as u64;
        let has_open_line = bytes.last() != Some(&b'\n');
        self.lines += memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(has_open_line);
        TextBlock { offset, lines_before, bytes }
    }
}

/// Reads once into `buffer`. The result is empty only at the end of the stream.
fn read<'p>(stream: &mut impl Read, buffer: &'p mut [u8]) -> io::Result<&'p [u8]> {
    loop {
        match stream.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return Ok(&buffer[..read?]),
        }
    }
}

impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<TextBlock>;

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
    use crate::common::random::Random;
    use crate::intake::lines::{Line, lines};
    use crate::intake::slow::Slow;

    /// The plain way: the whole input as one chunk.
    fn plain(input: &[u8]) -> Vec<Line<'_>> {
        lines(input, 0).collect()
    }

    fn assert_lines_are_counted(blocks: &[TextBlock]) {
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
            let blocks: Vec<TextBlock> = Blocks::new(Slow(&input[..], step)).map(Result::unwrap).collect();
            let got: Vec<_> = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).collect();
            assert_eq!(got, plain(&input), "step {step}");
            assert_lines_are_counted(&blocks);
        }
    }

    /// Short lines between lines that are too long, with any ends, by reads of any length.
    #[test]
    fn every_line_is_found_once_whatever_is_too_long_and_however_it_is_read() {
        let mut random = Random::new(17);
        let (mut cut, mut whole) = (0, 0);
        for round in 0..5_000 {
            let max = random.below(12);
            let mut input = random.pick(&[b"", b"\xEF\xBB\xBF"]).to_vec();
            for _ in 0..random.below(40) {
                let length = [random.below(3), random.below(max + 9), random.below(100)][random.below(3)];
                let byte = b"xyz\r"[random.below(4)];
                input.extend(std::iter::repeat_n(byte, length));
                input.extend_from_slice(random.pick(&[b"\n", b"\n", b"\r\n"]));
            }
            input.truncate(input.len() - random.below(3).min(input.len()));
            let step = 1 + random.below(60);
            let blocks: Vec<TextBlock> =
                Blocks::of_lines_up_to(max, Slow(&input[..], step)).map(Result::unwrap).collect();
            let got: Vec<_> = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).collect();
            let want = plain(&input);
            let about = || format!("round {round}: {} by {step}, {max}", input.escape_ascii());
            assert_eq!(got.len(), want.len(), "{}", about());
            for (got, want) in got.iter().zip(&want) {
                let is_cut = want.raw.len() > max;
                let kept = if is_cut { max + 1 } else { want.raw.len() };
                assert!(got.raw.len() == want.raw.len() || is_cut && got.raw.len() >= kept, "{}", about());
                assert_eq!((got.offset, &got.raw[..kept]), (want.offset, &want.raw[..kept]), "{}", about());
                (cut, whole) = (cut + usize::from(is_cut), whole + usize::from(!is_cut));
            }
            assert_lines_are_counted(&blocks);
        }
        assert!(cut > 3_000 && whole > 3_000, "{cut} {whole}");
    }

    #[test]
    fn whole_lines_between_two_that_are_too_long_are_found() {
        let input = [&[b'x'; 16][..], b"\na\nb\nc\nd\ne\n", &[b'y'; 40]].concat();
        let blocks = Blocks::of_lines_up_to(4, Slow(&input[..], 16)).map(Result::unwrap);
        let texts: Vec<String> = blocks.map(|block| block.bytes.escape_ascii().to_string()).collect();
        assert_eq!(texts, ["xxxxxxxxx", r"a\nb\nc\nd\ne\n", "yyyyyyyyy"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut_in_a_stream_and_stays_too_long() {
        for extra in [1, 2, 3, 5 * CHUNK_BYTES] {
            for step in [1000, usize::MAX] {
                let input = [b"a\n", &vec![b'x'; LINE_BYTES_MAX + extra][..], b"\r\nb\n"].concat();
                let blocks: Vec<TextBlock> =
                    Blocks::new(Slow(&input[..], step)).map(Result::unwrap).collect();
                let got: Vec<_> = blocks.iter().flat_map(|block| lines(&block.bytes, block.offset)).collect();
                let want = plain(&input);
                assert_eq!(got.len(), 3);
                assert_eq!((got[0], got[2]), (want[0], want[2]), "extra {extra}, step {step}");
                assert_lines_are_counted(&blocks);
                assert_eq!(got[1].offset, want[1].offset);
                assert!(got[1].raw.len() > LINE_BYTES_MAX && want[1].raw.starts_with(got[1].raw));
                // The first line, after a byte order mark.
                let input = [b"\xEF\xBB\xBF", &input[2..]].concat();
                let first = Blocks::new(Slow(&input[..], step)).next().unwrap().unwrap();
                let first = lines(&first.bytes, first.offset).next().unwrap();
                assert!(first.raw.len() > LINE_BYTES_MAX && first.raw.starts_with(b"xx"));
            }
        }
    }
}
