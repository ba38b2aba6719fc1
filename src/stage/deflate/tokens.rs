//! What a block says before it is coded: literals and matches, and how often each symbol occurs.

use super::RECORD_BYTES_MAX;
use super::symbols::{
    CODED_LENGTHS, DISTANCE_MAX, DISTANCES, END_OF_BLOCK, LENGTHS, LITLENS, MATCH_MAX, MATCH_MIN,
    distance_symbol,
};

/// Tokens in a block: enough that a header of some eighty bytes does not show, few enough that the code follows the
/// text and all of them stay in the second-level cache.
const TOKENS_MAX: usize = 24 * 1024;

/// A block ends with a record and what a seam left of the one before, each byte of which may be a literal. A power of two, so that indexing needs no check.
const ROOM: usize = 64 * 1024;
const _: () = assert!(ROOM - TOKENS_MAX >= 2 * RECORD_BYTES_MAX && ROOM.is_power_of_two());

/// Where a match's lengths begin among the heads of tokens: literals come first.
pub const LENGTH_HEADS: usize = 256;
/// Heads of tokens: 256 literals, 256 lengths.
pub const HEADS: usize = LENGTH_HEADS + LENGTHS;
/// More than there are symbols, so that indexing needs no check.
const DISTANCE_ROOM: usize = DISTANCES.next_power_of_two();

/// A literal, two literals or a match, in one word: nine bits of head, nine of what comes second, and the distance's
/// extra bits. All kinds have all fields, so that writing them takes no branch that nobody can predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(u32);

const HEAD_BITS: u32 = 9;
const SECOND_BITS: u32 = 9;
/// What can come second: the symbol of a distance, nothing, or a literal.
pub const SECONDS: usize = 1 << SECOND_BITS;
/// Nothing comes second.
pub const NO_SECOND: usize = DISTANCES;
/// The first literal.
pub const SECOND_LITERALS: usize = 256;

impl Token {
    /// One byte.
    #[inline(always)]
    fn literal(byte: u8) -> Self {
        Self(u32::from(byte) | (NO_SECOND as u32) << HEAD_BITS)
    }

    /// Two bytes, the first of them in `self`.
    #[inline(always)]
    fn with(self, byte: u8) -> Self {
        Self(self.0 & ((1 << HEAD_BITS) - 1) | (SECOND_LITERALS as u32 | u32::from(byte)) << HEAD_BITS)
    }

    /// `length` bytes from `distance` bytes ago.
    #[inline(always)]
    fn a_match(length: usize, distance: usize) -> Self {
        debug_assert!((MATCH_MIN..=MATCH_MAX).contains(&length) && (1..=DISTANCE_MAX).contains(&distance));
        let (head, less_one) = (LENGTH_HEADS + length - MATCH_MIN, distance as u32 - 1);
        let symbol = distance_symbol(less_one);
        // All bits but the two leading ones, which the symbol says.
        let extra = less_one & ((1 << (symbol / 2).saturating_sub(1)) - 1);
        Self(head as u32 | symbol << HEAD_BITS | extra << (HEAD_BITS + SECOND_BITS))
    }

    /// A literal, or [`LENGTH_HEADS`] and a length less [`MATCH_MIN`].
    #[inline(always)]
    pub fn head(self) -> usize {
        self.0 as usize & (HEADS - 1)
    }

    /// See [`SECONDS`].
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

/// The tokens of one block.
#[derive(Debug)]
pub struct Tokens {
    tokens: Box<[Token]>,
    count: usize,
    heads: [u32; HEADS],
    distances: [u32; DISTANCE_ROOM],
    /// The last token, if that is a literal, and whether another one has room in it.
    last: Token,
    is_alone: bool,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            tokens: vec![Token(0); ROOM].into(),
            count: 0,
            heads: [0; HEADS],
            distances: [0; DISTANCE_ROOM],
            last: Token(0),
            is_alone: false,
        }
    }
}

impl Tokens {
    #[inline(always)]
    fn push(&mut self, token: Token) {
        self.tokens[self.count % ROOM] = token;
        self.count += 1;
    }

    /// Adds a byte, to the token of the last one if that is alone.
    #[inline(always)]
    pub fn push_literal(&mut self, byte: u8) {
        self.heads[usize::from(byte)] += 1;
        let token = if self.is_alone { self.last.with(byte) } else { Token::literal(byte) };
        self.count -= usize::from(self.is_alone);
        self.push(token);
        self.last = token;
        self.is_alone = !self.is_alone;
    }

    /// Adds bytes, two to a token.
    #[inline(always)]
    pub fn push_literals(&mut self, bytes: &[u8]) {
        let mut pairs = bytes.chunks_exact(2);
        let mut count = self.count;
        for pair in &mut pairs {
            self.heads[usize::from(pair[0])] += 1;
            self.heads[usize::from(pair[1])] += 1;
            self.tokens[count % ROOM] = Token::literal(pair[0]).with(pair[1]);
            count += 1;
        }
        self.count = count;
        self.is_alone = false;
        if let [byte] = pairs.remainder() {
            self.push_literal(*byte);
        }
    }

    #[inline(always)]
    fn push_one_match(&mut self, length: usize, distance: usize) {
        let token = Token::a_match(length, distance);
        self.heads[token.head()] += 1;
        self.distances[token.second() % DISTANCE_ROOM] += 1;
        self.push(token);
        self.is_alone = false;
    }

    /// Adds a match of any length from [`MATCH_MIN`] on; one longer than [`MATCH_MAX`] takes several tokens.
    #[inline(always)]
    pub fn push_match(&mut self, mut length: usize, distance: usize) {
        while length > MATCH_MAX {
            // What remains must be long enough to be a match itself.
            let now = MATCH_MAX.min(length - MATCH_MIN);
            self.push_one_match(now, distance);
            length -= now;
        }
        self.push_one_match(length, distance);
    }

    /// Whether it is time to end the block.
    pub fn is_full(&self) -> bool {
        self.count >= TOKENS_MAX
    }

    /// All of them, in order.
    pub fn as_slice(&self) -> &[Token] {
        &self.tokens[..self.count]
    }

    /// How often each symbol of literals and lengths occurs, with one end of the block.
    pub fn litlen_frequencies(&self) -> [u32; LITLENS] {
        let mut frequencies = [0; LITLENS];
        frequencies[..LENGTH_HEADS].copy_from_slice(&self.heads[..LENGTH_HEADS]);
        frequencies[END_OF_BLOCK] = 1;
        for (count, coded) in self.length_counts().iter().zip(&CODED_LENGTHS) {
            frequencies[usize::from(coded.symbol)] += count;
        }
        frequencies
    }

    /// How often each length occurs, [`MATCH_MIN`] first.
    pub fn length_counts(&self) -> &[u32] {
        &self.heads[LENGTH_HEADS..]
    }

    /// How often each symbol of distances occurs.
    pub fn distance_frequencies(&self) -> [u32; DISTANCES] {
        std::array::from_fn(|symbol| self.distances[symbol])
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.count = 0;
        self.is_alone = false;
        self.heads.fill(0);
        self.distances.fill(0);
    }
}
