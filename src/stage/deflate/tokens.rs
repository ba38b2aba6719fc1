//! What a block says before it is coded: literals and matches, and how often each symbol occurs.

use super::RECORD_BYTES_MAX;
use super::symbols::{
    CODED_LENGTHS, DISTANCE_MAX, DISTANCES, END_OF_BLOCK, LENGTHS, LITLENS, MATCH_MAX, MATCH_MIN,
    distance_symbol,
};

/// Tokens in a block: enough that a header of some eighty bytes does not show, few enough that the code follows the
/// text and all of them stay in the second-level cache.
const TOKENS_MAX: usize = 32 * 1024;

/// A block ends with a record, each byte of which may be a literal. A power of two, so that indexing needs no check.
const ROOM: usize = 2 * TOKENS_MAX;
const _: () = assert!(ROOM - TOKENS_MAX >= 2 * RECORD_BYTES_MAX && ROOM.is_power_of_two());

/// Where a match's lengths begin among the heads of tokens: literals come first.
pub const LENGTH_HEADS: usize = 256;
/// Heads of tokens: 256 literals, 256 lengths.
pub const HEADS: usize = LENGTH_HEADS + LENGTHS;
/// Stands for the distance symbol of a literal, which has none.
pub const NO_DISTANCE: usize = DISTANCES;

/// A literal or a match, in one word: nine bits of head, fifteen of the distance less one, then the distance's symbol.
/// Both kinds have all fields, so that writing them takes no branch that nobody can predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token(u32);

const HEAD_BITS: u32 = 9;
const DISTANCE_BITS: u32 = 15;
const _: () = assert!(HEADS == 1 << HEAD_BITS && DISTANCE_MAX == 1 << DISTANCE_BITS);

impl Token {
    /// One byte.
    #[inline(always)]
    pub fn literal(byte: u8) -> Self {
        Self(u32::from(byte) | (NO_DISTANCE as u32) << (HEAD_BITS + DISTANCE_BITS))
    }

    /// `length` bytes from `distance` bytes ago.
    #[inline(always)]
    pub fn a_match(length: usize, distance: usize) -> Self {
        debug_assert!((MATCH_MIN..=MATCH_MAX).contains(&length) && (1..=DISTANCE_MAX).contains(&distance));
        let (head, less_one) = (LENGTH_HEADS + length - MATCH_MIN, distance as u32 - 1);
        let symbol = distance_symbol(less_one);
        Self(head as u32 | less_one << HEAD_BITS | symbol << (HEAD_BITS + DISTANCE_BITS))
    }

    /// A literal, or [`LENGTH_HEADS`] and a length less [`MATCH_MIN`].
    #[inline(always)]
    pub fn head(self) -> usize {
        self.0 as usize & (HEADS - 1)
    }

    /// The distance, less one.
    #[inline(always)]
    pub fn distance_less_one(self) -> u32 {
        self.0 >> HEAD_BITS & (DISTANCE_MAX as u32 - 1)
    }

    /// The distance's symbol, or [`NO_DISTANCE`].
    #[inline(always)]
    pub fn distance_symbol(self) -> usize {
        (self.0 >> (HEAD_BITS + DISTANCE_BITS)) as usize
    }
}

/// The tokens of one block.
#[derive(Debug)]
pub struct Tokens {
    tokens: Box<[Token]>,
    count: usize,
    heads: [u32; HEADS],
    /// More than there are symbols, so that indexing needs no check.
    distances: [u32; 256],
}

impl Default for Tokens {
    fn default() -> Self {
        Self { tokens: vec![Token(0); ROOM].into(), count: 0, heads: [0; HEADS], distances: [0; 256] }
    }
}

impl Tokens {
    /// Adds a token.
    #[inline(always)]
    pub fn push(&mut self, token: Token) {
        self.heads[token.head()] += 1;
        self.distances[token.distance_symbol()] += 1;
        self.tokens[self.count % (ROOM)] = token;
        self.count += 1;
    }

    /// Adds a byte.
    #[inline(always)]
    pub fn push_literal(&mut self, byte: u8) {
        self.heads[usize::from(byte)] += 1;
        self.tokens[self.count % (ROOM)] = Token::literal(byte);
        self.count += 1;
    }

    /// Adds a match of any length from [`MATCH_MIN`] on; one longer than [`MATCH_MAX`] takes several tokens.
    #[inline(always)]
    pub fn push_match(&mut self, mut length: usize, distance: usize) {
        while length > MATCH_MAX {
            // What remains must be long enough to be a match itself.
            let now = MATCH_MAX.min(length - MATCH_MIN);
            self.push(Token::a_match(now, distance));
            length -= now;
        }
        self.push(Token::a_match(length, distance));
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
        self.heads.fill(0);
        self.distances.fill(0);
    }
}
