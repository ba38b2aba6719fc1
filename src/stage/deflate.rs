//! DEFLATE for records.

mod bits;
mod block;
mod greedy;
mod huffman;
mod optimal;
mod places;
mod symbols;
mod tokens;
mod window;

use bits::PartialByte;
use greedy::Greedy;
use optimal::Optimal;
use places::{Places, distance, hash};
use tokens::{TOKENS_MAX, Tokens};
use window::{SLACK_BYTES, common_prefix, common_suffix, word};

const RECORD_MAX: usize = 8192;
const PIECE: usize = 128 * 1024;
const PLAIN_MAX: usize = 128 * 1024;
const SLIDE_AT: usize = 512 * 1024;
const PLACE_PERIOD: usize = 1 << 16;
const SEAM_MIN: usize = 8;

enum Parser {
    G1(Greedy<u16>),
    G2(Greedy<u32>),
    G4(Greedy<u64>),
    O1(Optimal<u16>),
    O2(Optimal<u32>),
    O4(Optimal<u64>),
    O8(Optimal<u128>),
}

pub struct Encoder {
    data: Vec<u8>,
    cur: usize,
    end: usize,
    prev: usize,
    block_from: usize,
    prefixes: Places<u16, 12>,
    parser: Parser,
    tokens: Tokens,
    partial: PartialByte,
    crc: crc32fast::Hasher,
    total: u32,
    out: Vec<u8>,
    marks: u8,
}

impl Encoder {
    pub fn new(effort: u8, out: Vec<u8>) -> Self {
        let parser = match effort {
            1 => Parser::G1(Default::default()),
            2 => Parser::G2(Default::default()),
            3 => Parser::G4(Default::default()),
            4 => Parser::O1(Default::default()),
            5 => Parser::O2(Default::default()),
            6 => Parser::O4(Default::default()),
            _ => Parser::O8(Default::default()),
        };
        let mut out = out;
        out.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
        Self { data: Vec::new(), cur: 0, end: 0, prev: 0, block_from: 0, prefixes: Places::default(), parser, tokens: Tokens::default(), partial: PartialByte::default(),
            crc: crc32fast::Hasher::new(), total: 0, out, marks: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            self.crc.update(piece);
            self.total = self.total.wrapping_add(piece.len() as u32);
            self.slide();
            self.data.extend_from_slice(piece);
            let known = self.data.len().saturating_sub(SLACK_BYTES);
            self.advance(known, false);
        }
    }

    pub fn finish(mut self) -> Vec<u8> {
        let known = self.data.len();
        self.data.extend_from_slice(&[0; SLACK_BYTES]);
        self.advance(known, true);
        self.parse(known);
        self.block(true);
        self.partial_flush();
        self.out.extend_from_slice(&self.crc.finalize().to_le_bytes());
        self.out.extend_from_slice(&self.total.to_le_bytes());
        self.out
    }

    fn partial_flush(&mut self) {
        let mut b = bits::BitWriter::new(&mut self.out, self.partial, 8);
        b.align();
        b.finish();
    }

    fn slide(&mut self) {
        if self.data.len() < SLIDE_AT { return; }
        let drop = self.cur.saturating_sub(PLAIN_MAX) / PLACE_PERIOD * PLACE_PERIOD;
        self.data.drain(..drop);
        self.cur -= drop;
        self.end -= drop;
        self.prev = self.prev.saturating_sub(drop);
        // A block that began before is too long to be stored.
        self.block_from = self.block_from.wrapping_sub(drop);
    }

    fn parse(&mut self, to: usize) {
        let (data, from, tokens) = (&self.data[..], self.cur, &mut self.tokens);
        match &mut self.parser {
            Parser::G1(g) => g.parse(data, from, to, tokens),
            Parser::G2(g) => g.parse(data, from, to, tokens),
            Parser::G4(g) => g.parse(data, from, to, tokens),
            Parser::O1(g) => g.parse(data, from, to, tokens),
            Parser::O2(g) => g.parse(data, from, to, tokens),
            Parser::O4(g) => g.parse(data, from, to, tokens),
            Parser::O8(g) => g.parse(data, from, to, tokens),
        }
        self.cur = to;
    }

    fn advance(&mut self, known: usize, is_final: bool) {
        loop {
            let from = self.end;
            let most = known.min(from + RECORD_MAX);
            let end = match memchr::memchr(b'\n', &self.data[from..most]) {
                Some(at) => from + at + 1,
                None if most == from + RECORD_MAX => most,
                None if is_final && most > from => most,
                None => return,
            };
            // seam
            let candidate = self.candidate(from, end);
            let dist = from - candidate;
            let data = &self.data[..];
            let (mut s, mut p) = (0, 0);
            if dist >= 1 && dist <= 32768 {
                p = common_prefix(data, candidate, from, end - from);
                s = common_suffix(data, candidate, from, candidate.min(from - self.cur));
            }
            if s + p >= SEAM_MIN {
                self.parse(from - s);
                self.tokens.push_match(s + p, dist);
                self.cur = from + p;
            } else {
                self.parse(from);
            }
            self.prev = from;
            self.end = end;
            if self.tokens.as_slice().len() >= TOKENS_MAX { self.block(false); }
        }
    }

    fn candidate(&mut self, from: usize, end: usize) -> usize {
        let mut best = self.prev;
        let Some(last) = end.checked_sub(12) else { return best };
        let first = from + 18;
        if first >= last { return best; }
        let data = &self.data[..];
        for at in memchr::memchr_iter(b'/', &data[first..last]) {
            let mark = first + at;
            let w = word(data, mark - 7);
            let col = (mark - from) as u64;
            let h = (w ^ col.wrapping_mul(0x9e3779b97f4a7c15)).wrapping_mul(0x9e3779b97f4a7c15);
            let row = self.prefixes.row((h >> 32) as u32);
            let place = *row;
            *row = from as u16;
            if let Some(d) = distance(from, place) && word(data, mark - 7 - d) == w {
                best = from - d;
            }
        }
        best
    }

    fn block(&mut self, is_final: bool) {
        let len = self.cur.wrapping_sub(self.block_from);
        let plain = (len <= PLAIN_MAX).then(|| &self.data[self.block_from..self.cur]);
        let (partial, lengths) = block::write(&self.tokens, plain, is_final, self.partial, &mut self.out);
        self.partial = partial;
        match &mut self.parser {
            Parser::O1(o) => o.costs.learn(&lengths),
            Parser::O2(o) => o.costs.learn(&lengths),
            Parser::O4(o) => o.costs.learn(&lengths),
            Parser::O8(o) => o.costs.learn(&lengths),
            _ => {}
        }
        self.tokens.clear();
        self.block_from = self.cur;
    }
}
