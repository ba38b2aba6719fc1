//! A DEFLATE compressor for text of similar records, one per line, such as sitemaps (RFC 1951, 1952).
//!
//! A general compressor looks for every byte of `</loc></url>\n<url><loc>https://www.example.com/` again and again.
//! This one knows where a record begins. There it looks up one earlier record with the same directories and, if possible,
//! the same tail before it, and encodes everything that both share as one match: the *seam*. Only the bytes between two seams
//! are left to a parser. The output is ordinary DEFLATE, which any reader accepts, and depends only on the bytes and the
//! effort.
//!
//! ```text
//!  …/word-word-p1234.html</loc></url>\n<url><loc>https://www.example.com/a/b/word-word-p1235.html</loc></url>\n…
//!   └──── parser ───┘└───────────────────── seam ───────────────────────┘└──── parser ───┘└─────── seam ──────…
//! ```
//!
//! An effort is a method of finding seams and a parser. Each effort usually gives smaller output than the one before, and takes
//! longer:
//!
//! | effort | seams                                        | parser                                                              |
//! |--------|----------------------------------------------|---------------------------------------------------------------------|
//! | 0      | none: bytes are stored                       |                                                                     |
//! | 1      | latest record of the directory               | greedy: one candidate by 8 bytes, in gaps of 24 bytes or more       |
//! | 2      | as 1, or of a similar one with the same tail | greedy: one candidate by 5 bytes                                    |
//! | 3      | as 2, or the record that shares most         | lazy: best of four candidates, unless one byte later is better      |
//! | 4      | as 3                                         | medium: four candidates by 4 bytes, one by 8, one by 16             |
//! | 5      | as 3, in more texts                          | medium: two candidates by 4 bytes, 12 by 8, one by 16               |
//! | 6      | as 3, in more texts                          | deep, cheapest of all sequences: one candidate by 4, 8 and 16 bytes |
//! | 7      | as 3, in nearly all texts                    | deep: two candidates by 4 bytes, 8 by 8, one by 16                  |
//! | 8      | as 7                                         | joint, deep for many records: four by 4 bytes, 24 by 8, one by 16   |
//! | 9      | as 7                                         | joint: four candidates by 4 bytes, 64 by 8, one by 16               |
//!
//! Efforts 1 and 2 use the previous record without a search if it shares most of the current one. The others adapt to the text:
//! a tree of records finds longer seams than a table of directories, and is used only while it saves enough. All parsers stop
//! searching while matches save next to nothing, as among random ids; that of effort 1 does so while they save less than a quarter.
//! Effort 2 uses that parser for text with few matches, and efforts 2 and 3 use that of effort 4 for text that consists of the same
//! few words. Efforts 8 and 9 use the deep parser where joint sequences save less than 0.4%. All this depends only on the bytes
//! before.
//!
//! In reading order: [`efforts`] chooses the methods of an effort. [`seams`] finds seams with [`prefixes`], or with [`either`]
//! these or a [`tree`] of records. The [`parser`]s find the other matches: [`greedy`], [`lazy`], [`medium`], [`deep`] and
//! [`joint`]. The last three use a [`finder`] and the [`costs`] of symbols; [`ways`] finds the cheapest sequence for [`joint`].
//! [`by_text`] chooses among parsers, and [`payoff`] stops their search. All use [`positions`] and [`window`]. [`tokens`] collects
//! the matches and literals of a block. [`block`] encodes them with a code from [`huffman`] in the alphabets of [`symbols`], and
//! writes them to [`bits`]. [`record`] and [`sizes`] contain shared types and constants.

mod bits;
mod block;
mod by_text;
mod costs;
mod deep;
mod efforts;
mod either;
mod finder;
mod greedy;
mod huffman;
mod joint;
mod lazy;
mod medium;
mod parser;
mod payoff;
mod positions;
mod prefixes;
mod record;
mod seams;
mod sizes;
mod symbols;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;
mod ways;
mod window;

use crate::common::fallible::reserve;
use crate::common::simd;
use crate::error::Result;
use bits::PartialByte;
use block::{Lengths, STORED_BYTES_MAX};
use efforts::{Method, method_of, seams_of};
use parser::Stretch;
use record::Room;
use seams::{Seam, Seams};
use sizes::{KEPT_BYTES, PLACE_PERIOD, PUSH_BYTES_MAX, RECORD_BYTES_MAX};
use symbols::DISTANCE_MAX;
use tokens::Tokens;
use window::{SLACK_BYTES, Window};

/// Maximum bytes of a block that may be stored. A longer block has several bytes per token, so any code takes fewer bits.
const STORED_BLOCK_BYTES_MAX: usize = KEPT_BYTES - RECORD_BYTES_MAX;

/// RFC 1952, 2.3.1: the magic number, deflate, no flags, no time, no extra flags, unknown operating system.
const MEMBER_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// Bytes that are searched for line feeds at a time. They and the results fit in the first-level cache.
const LINES_BYTES: usize = 8 * 1024;

/// Compresses one document after another, each into a gzip member, reusing its memory.
#[derive(Debug)]
pub struct Encoder {
    method: Method,
    seams: Seams,
    tokens: Tokens,
    window: Window,
    /// Position of the start of the document in the window, or 0 once the window has moved past it.
    start: usize,
    /// The end of the bytes that are encoded as tokens, or that the parser has put off.
    encoded_to: usize,
    /// The end of the last complete record.
    record_end: usize,
    /// A buffer for the ends of lines.
    line_ends: Vec<u32>,
    /// The start of the block, as long as the block may still be stored.
    block_start: Option<usize>,
    partial: PartialByte,
    crc: crc32fast::Hasher,
    /// Bytes of the document modulo 2^32, the field ISIZE (RFC 1952, 2.3.1).
    bytes: u32,
    out: Vec<u8>,
}

impl Encoder {
    /// `effort` is 0 to 9: 0 stores, 1 is quick, 9 is small.
    pub fn new(effort: u8) -> Self {
        Self {
            method: method_of(effort),
            seams: seams_of(effort),
            tokens: Tokens::default(),
            window: Window::default(),
            start: PLACE_PERIOD,
            encoded_to: PLACE_PERIOD,
            record_end: PLACE_PERIOD,
            line_ends: vec![0; LINES_BYTES],
            block_start: Some(PLACE_PERIOD),
            partial: PartialByte::default(),
            crc: crc32fast::Hasher::new(),
            bytes: 0,
            out: MEMBER_HEADER.into(),
        }
    }

    /// Reserves memory for a member of about `bytes`.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the memory is not available.
    pub fn reserve(&mut self, bytes: usize) -> Result<()> {
        reserve(&mut self.out, bytes)
    }

    /// Compresses `bytes`. The output does not depend on how a document is split into pushes.
    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PUSH_BYTES_MAX) {
            self.crc.update(piece);
            self.bytes = self.bytes.wrapping_add(piece.len() as u32);
            self.make_room();
            self.window.push(piece);
            // A record waits until its parser can read beyond its end, so that pushes of any size give equal output.
            let known = self.window.end().saturating_sub(SLACK_BYTES).max(self.record_end);
            self.advance(known, false);
        }
    }

    /// Ends the member and returns its bytes. The next push begins another member.
    pub fn finish(&mut self) -> Vec<u8> {
        let known = self.window.end();
        self.window.push(&[0; SLACK_BYTES]);
        self.advance(known, true);
        self.parse(known);
        self.end_block(true);
        let mut member = std::mem::replace(&mut self.out, MEMBER_HEADER.into());
        self.partial.finish(&mut member);
        member.extend_from_slice(&std::mem::take(&mut self.crc).finalize().to_le_bytes());
        member.extend_from_slice(&std::mem::take(&mut self.bytes).to_le_bytes());

        match &mut self.method {
            Method::Store => (),
            Method::Quick(parser) => parser.clear(),
            Method::Deep(parser) => parser.clear(),
        }
        self.seams.clear();
        self.window.clear();
        (self.start, self.encoded_to, self.record_end) = (PLACE_PERIOD, PLACE_PERIOD, PLACE_PERIOD);
        self.block_start = Some(PLACE_PERIOD);
        self.partial = PartialByte::default();
        member
    }

    /// Moves the window forward if it is full.
    fn make_room(&mut self) {
        let put_off = match &self.method {
            Method::Deep(parser) => parser.put_off(),
            Method::Store | Method::Quick(_) => 0,
        };
        let gone = self.window.make_room(self.encoded_to - put_off);
        self.start = self.start.saturating_sub(gone);
        self.encoded_to -= gone;
        self.record_end -= gone;
        self.block_start = self.block_start.and_then(|start| start.checked_sub(gone));
    }

    /// Encodes all records that end before `known`: after a line feed, after the maximum bytes of a record, or at the end of
    /// the document.
    fn advance(&mut self, known: usize, is_final: bool) {
        let mut ends = std::mem::take(&mut self.line_ends);
        let mut from = self.record_end;
        while from < known {
            let to = known.min(from + LINES_BYTES);
            for &end in find_line_ends(&self.window, from, to, &mut ends) {
                self.cut(end as usize - 1);
                self.say_record(end as usize);
            }
            from = to;
        }
        self.line_ends = ends;
        self.cut(known);
        if is_final && self.record_end < known {
            self.say_record(known);
        }
    }

    /// Encodes the records of maximum length in a line that does not end before `known`.
    fn cut(&mut self, known: usize) {
        while known - self.record_end >= RECORD_BYTES_MAX {
            self.say_record(self.record_end + RECORD_BYTES_MAX);
        }
    }

    /// Encodes the record that ends at `to`, except the bytes that the next seam may cover.
    fn say_record(&mut self, to: usize) {
        let from = std::mem::replace(&mut self.record_end, to);
        if let Method::Store = self.method {
            return self.store(to);
        }
        let room = Room { floor: self.encoded_to, from, to, start: self.start };
        match self.seams.next(&self.window, room) {
            None => self.parse(from),
            Some(seam) => self.parse_with_seam(from, seam),
        }
        if self.tokens.is_full() {
            self.end_block(false);
        }
    }

    /// Encodes everything before `to` as stored bytes.
    fn store(&mut self, to: usize) {
        if self.block_start.is_some_and(|start| to - start > STORED_BYTES_MAX) {
            self.end_block(false);
        }
        self.encoded_to = to;
    }

    /// Encodes everything before `to`.
    #[inline(always)]
    fn parse(&mut self, to: usize) {
        if let Method::Quick(parser) = &mut self.method {
            let reach = reach(self.start, self.encoded_to);
            parser.parser().parse(&self.window, self.encoded_to, to, reach, &mut self.tokens);
            self.encoded_to = to;
        } else {
            self.parse_deep(Stretch::without_seam(self.encoded_to, to, reach(self.start, self.encoded_to)));
        }
    }

    /// Encodes everything before the seam at the start of the record at `start`, and the seam.
    #[inline(always)]
    fn parse_with_seam(&mut self, start: usize, seam: Seam) {
        let (to, end) = (start - seam.before, start + seam.after);
        if let Method::Quick(parser) = &mut self.method {
            let reach = reach(self.start, self.encoded_to);
            let parser = parser.parser();
            parser.parse(&self.window, self.encoded_to, to, reach, &mut self.tokens);
            self.tokens.push_match(seam.before + seam.after, seam.distance);
            self.encoded_to = end;
            parser.pass(&self.window, start, end);
        } else {
            let stretch = Stretch::without_seam(self.encoded_to, to, reach(self.start, self.encoded_to));
            let (shared, limit, distance) = (start + seam.shared, self.record_end, seam.distance);
            self.parse_deep(Stretch { shared, end, limit, distance, ..stretch });
        }
    }

    /// Encodes a stretch, or puts it off. A function of its own, so that it takes no registers from the quick methods.
    #[inline(never)]
    fn parse_deep(&mut self, stretch: Stretch) {
        self.encoded_to = match &mut self.method {
            Method::Deep(parser) => parser.parse(&self.window, &stretch, &mut self.tokens),
            Method::Store | Method::Quick(_) => stretch.end,
        };
    }

    fn end_block(&mut self, is_final: bool) {
        if let Method::Deep(parser) = &mut self.method {
            parser.flush(&self.window, self.encoded_to, &mut self.tokens);
        }
        let plain = self.block_start.map(|start| self.window.range(start, self.encoded_to));
        let plain = plain.filter(|plain| plain.len() <= STORED_BLOCK_BYTES_MAX);
        match self.method {
            Method::Store => {
                let plain = plain.expect("blocks of stored members are short");
                self.partial = block::store(plain, is_final, self.partial, &mut self.out);
            }
            Method::Quick(_) | Method::Deep(_) => {
                let frequencies = self.tokens.frequencies();
                let best = Lengths::best(&frequencies);
                let (tokens, out) = (&self.tokens, &mut self.out);
                self.partial = block::write(tokens, &frequencies, &best, plain, is_final, self.partial, out);
                self.seams.learn(&frequencies);
                if let Method::Quick(parser) = &mut self.method {
                    parser.end_block(&frequencies, &best);
                }
            }
        }
        self.tokens.clear();
        self.block_start = Some(self.encoded_to);
    }
}

/// Maximum distance of the matches in bytes that begin at `from`, in a document that begins at `start`. It is that of the first
/// byte, so that it is equal for all of them.
fn reach(start: usize, from: usize) -> usize {
    DISTANCE_MAX.min(from - start)
}

/// The positions after every line feed between `from` and `to`, which are at most [`LINES_BYTES`] apart.
fn find_line_ends<'e>(window: &Window, from: usize, to: usize, ends: &'e mut [u32]) -> &'e [u32] {
    let mut count = 0;
    for at in (from..to).step_by(simd::BITS) {
        simd::put_ones::<1>(window.find(b'\n', at, to), at + 1, ends, &mut count);
    }
    &ends[..count]
}
