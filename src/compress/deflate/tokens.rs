//! Tokens: the literals and matches of a block before it is coded, and the frequency of each symbol.

use super::sizes::{PENDING_BYTES_MAX, RECORD_BYTES_MAX};
use super::symbols::{
    CODED_LENGTHS, DISTANCE_EXTRA_BITS, DISTANCE_MAX, DISTANCES, END_OF_BLOCK, LENGTHS, LITLENS, MATCH_MAX,
    MATCH_MIN, coded_distance,
};
use super::window::Window;
use crate::common::array;

/// Number of tokens in a block: enough that a header of about eighty bytes does not matter, and few enough that the code
/// adapts to the text and all tokens fit in the second-level cache.
const TOKENS_MAX: usize = 24 * 1024;

/// Capacity for the tokens of a block, a power of two, so that indexing needs no bounds check. A full block may grow by one
/// record and the bytes before it that its seam does not cover, and by what was put off; each byte may be a literal.
const ROOM: usize = 64 * 1024;
const _: () =
    assert!(ROOM - TOKENS_MAX >= PENDING_BYTES_MAX + 2 * RECORD_BYTES_MAX && ROOM.is_power_of_two());

/// The first head that is a length of a match. Lower heads are literals.
pub const LENGTH_HEADS: usize = 256;
/// Number of heads: 256 literals and 256 lengths.
pub const HEADS: usize = LENGTH_HEADS + LENGTHS;

/// A literal, two literals or a match in one word: the head in nine bits, the second field in nine bits, and the extra bits
/// of the distance. All kinds have all fields, so that writing them needs no unpredictable branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(u32);

const HEAD_BITS: u32 = 9;
const SECOND_BITS: u32 = 9;
/// Number of values of the second field: the symbol of a distance, nothing, or a literal.
pub const SECONDS: usize = 1 << SECOND_BITS;
/// The second field of a single literal: nothing.
pub const NO_SECOND: usize = DISTANCES;
/// The first value of the second field that is a literal.
pub const SECOND_LITERALS: usize = 256;

impl Token {
    /// The token of one literal.
    #[inline(always)]
    fn literal(byte: u8) -> Self {
        Self(u32::from(byte) | (NO_SECOND as u32) << HEAD_BITS)
    }

    /// The token of two literals.
    #[inline(always)]
    fn literals(pair: [u8; 2]) -> Self {
        // Computed from one number, so that the compiler can vectorise it.
        let both = u32::from(u16::from_le_bytes(pair));
        Self(both & 0xff | (both >> 8 | SECOND_LITERALS as u32) << HEAD_BITS)
    }

    /// The token of a match: `length` bytes that occurred `distance` bytes before.
    #[inline(always)]
    fn a_match(length: usize, distance: usize) -> Self {
        debug_assert!((MATCH_MIN..=MATCH_MAX).contains(&length) && (1..=DISTANCE_MAX).contains(&distance));
        let (head, less_one) = (LENGTH_HEADS + length - MATCH_MIN, distance as u32 - 1);
        let (symbol, extra) = coded_distance(less_one);
        Self(head as u32 | symbol << HEAD_BITS | extra << (HEAD_BITS + SECOND_BITS))
    }

    /// The head: a literal, or [`LENGTH_HEADS`] plus the length minus [`MATCH_MIN`].
    #[inline(always)]
    pub fn head(self) -> usize {
        self.0 as usize & (HEADS - 1)
    }

    /// The second field, see [`SECONDS`].
    #[inline(always)]
    pub fn second(self) -> usize {
        (self.0 >> HEAD_BITS) as usize & (SECONDS - 1)
    }

    /// Extra bits of the distance.
    #[inline(always)]
    pub fn extra(self) -> u32 {
        self.0 >> (HEAD_BITS + SECOND_BITS)
    }
}

/// A literal or a match that a parser has chosen for a position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Step {
    /// Bytes of a match, or 0 for a literal.
    pub length: u16,
    /// The distance of a match, less one.
    less_one: u16,
}

impl Step {
    /// A match: `length` bytes that occurred `distance` bytes before.
    pub const fn new(length: usize, distance: usize) -> Self {
        Self { length: length as u16, less_one: (distance - 1) as u16 }
    }

    /// The distance of a match.
    pub fn distance(self) -> usize {
        usize::from(self.less_one) + 1
    }
}

/// The tokens of one block.
#[derive(Debug)]
pub struct Tokens {
    tokens: Box<[Token; ROOM + LANES]>,
    count: usize,
}

/// Number of literal tokens that are written at a time, with two bytes in each.
const LANES: usize = 8;

impl Default for Tokens {
    fn default() -> Self {
        let tokens = vec![Token(0); ROOM + LANES].into_boxed_slice();
        Self { tokens: tokens.try_into().expect("one is as long as the other"), count: 0 }
    }
}

impl Tokens {
    /// Adds the bytes from `from` to `to` as literals, two per token.
    #[inline(always)]
    pub fn push_literals(&mut self, window: &Window, mut from: usize, to: usize) {
        // Most sequences are short, with unpredictable lengths. Tokens that are written after the end are overwritten.
        loop {
            let bytes: &[u8; 2 * LANES] = window.bytes(from);
            let count = self.count % ROOM;
            let lanes: [_; LANES] =
                array::from_fn(|nth| Token::literals([bytes[2 * nth], bytes[2 * nth + 1]]));
            array::write(&mut self.tokens[count..], lanes);
            if to - from <= 2 * LANES {
                break;
            }
            self.count += LANES;
            from += 2 * LANES;
        }
        self.count += (to - from) / 2;
        // The last byte of an odd number; otherwise this token is overwritten too.
        self.tokens[self.count % ROOM] = Token::literal(window.byte(to - 1));
        self.count += (to - from) % 2;
    }

    #[inline(always)]
    fn push_one_match(&mut self, length: usize, distance: usize) {
        self.tokens[self.count % ROOM] = Token::a_match(length, distance);
        self.count += 1;
    }

    /// Adds a match of at least [`MATCH_MIN`] bytes. A match longer than [`MATCH_MAX`] takes several tokens.
    #[inline(always)]
    pub fn push_match(&mut self, mut length: usize, distance: usize) {
        while length > MATCH_MAX {
            // The remaining length must be long enough for a match.
            let now = MATCH_MAX.min(length - MATCH_MIN);
            self.push_one_match(now, distance);
            length -= now;
        }
        self.push_one_match(length, distance);
    }

    /// Adds the matches among the steps from `from` to `to`, where `step` gives the one at each position, and the literals
    /// before each. Returns the end of the last match: the bytes from there on are still to be added.
    #[inline(always)]
    pub fn push_steps(
        &mut self,
        window: &Window,
        from: usize,
        to: usize,
        step: impl Fn(usize) -> Step,
    ) -> usize {
        let (mut at, mut encoded_to) = (from, from);
        while at < to {
            let step @ Step { length, .. } = step(at);
            if length == 0 {
                at += 1;
                continue;
            }
            if at > encoded_to {
                self.push_literals(window, encoded_to, at);
            }
            self.push_match(length.into(), step.distance());
            at += usize::from(length);
            encoded_to = at;
        }
        encoded_to
    }

    /// Returns whether the block should end.
    pub fn is_full(&self) -> bool {
        self.count >= TOKENS_MAX
    }

    /// All tokens, in order.
    pub fn as_slice(&self) -> &[Token] {
        &self.tokens[..self.count]
    }

    /// Counts how often each symbol occurs.
    pub fn frequencies(&self) -> Frequencies {
        // Two tables are used alternately, because loading a count that was just stored is slow.
        let (mut heads, mut seconds) = ([[0u32; HEADS]; 2], [[0u32; SECONDS]; 2]);
        let (pairs, last) = self.as_slice().as_chunks::<2>();
        let mut count = |turn: usize, token: Token| {
            heads[turn][token.head()] += 1;
            seconds[turn][token.second()] += 1;
        };
        for &[first, second] in pairs {
            count(0, first);
            count(1, second);
        }
        last.iter().for_each(|&token| count(0, token));
        let (head, second) =
            (|at: usize| heads[0][at] + heads[1][at], |at: usize| seconds[0][at] + seconds[1][at]);

        let mut frequencies = Frequencies {
            litlens: [0; LITLENS],
            distances: array::from_fn(second),
            length_extra_bits: 0,
            distance_extra_bits: 0,
        };
        for literal in 0..LENGTH_HEADS {
            frequencies.litlens[literal] = head(literal) + second(SECOND_LITERALS + literal);
        }
        frequencies.litlens[END_OF_BLOCK] = 1;
        for (length, coded) in CODED_LENGTHS.iter().enumerate() {
            let count = head(LENGTH_HEADS + length);
            frequencies.litlens[usize::from(coded.symbol)] += count;
            frequencies.length_extra_bits += u64::from(count) * u64::from(coded.extra_bits);
        }
        for (&count, &bits) in frequencies.distances.iter().zip(&DISTANCE_EXTRA_BITS) {
            frequencies.distance_extra_bits += u64::from(count) * u64::from(bits);
        }
        frequencies
    }

    /// Clears the tokens.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// How often each symbol occurs in a block.
#[derive(Debug)]
pub struct Frequencies {
    /// Frequencies of literals and lengths, and one end of the block.
    pub litlens: [u32; LITLENS],
    /// Frequencies of distances.
    pub distances: [u32; DISTANCES],
    /// The total number of extra bits of lengths, which does not depend on the code.
    pub length_extra_bits: u64,
    /// The total number of extra bits of distances.
    pub distance_extra_bits: u64,
}

impl Frequencies {
    /// The number of literals and of matches.
    pub fn literals_and_matches(&self) -> (u32, u32) {
        (self.litlens[..LENGTH_HEADS].iter().sum(), self.distances.iter().sum())
    }
}
