//! The thorough parser: the cheapest way through what it is given, as far as costs and candidates are known.

use super::RECORD_BYTES_MAX;
use super::block::Lengths;
use super::costs::Costs;
use super::parser::Parser;
use super::places::{Places, Row, distance, hash};
use super::symbols::{MATCH_MAX, MATCH_MIN};
use super::tokens::{Token, Tokens};
use super::window::{common_prefix, half_word, word};

const HASH_BITS: u32 = 15;
/// Bytes of a long key: more than chance shares, so that what is found is often longer than what is nearest.
const LONG_KEY_BYTES: u32 = 7;
/// Places of a record that need not be remembered when a match covers them: what every record begins with.
const HEAD_BYTES: usize = b"<url><loc>https://".len();

/// The best known way to a byte: what it costs in bits, then the length of its last step (1 for a literal), then that
/// step's distance less one. In one number, so that the better of two ways is the smaller number, with no branch.
type Way = u64;

const COST_SHIFT: u32 = 32;
const LENGTH_SHIFT: u32 = 16;
const LITERAL: Way = 1 << LENGTH_SHIFT;

/// Looks for matches at every byte, among the latest places of four bytes (`N`ear) and of seven (`L`ong), but not
/// within a match of `NICE` bytes.
#[derive(Debug)]
pub struct Thorough<N: Row, L: Row, const NICE: usize> {
    near: Places<N, HASH_BITS>,
    long: Places<L, HASH_BITS>,
    costs: Costs,
    ways: Vec<Way>,
    /// The steps of the best way, the last one first.
    steps: Vec<Token>,
}

impl<N: Row, L: Row, const NICE: usize> Default for Thorough<N, L, NICE> {
    fn default() -> Self {
        // Nothing shorter than this was looked for, so that nothing shorter may be taken for a find.
        const { assert!(NICE > MATCH_MIN) };
        Self {
            near: Places::default(),
            long: Places::default(),
            costs: Costs::default(),
            ways: vec![0; RECORD_BYTES_MAX + 1],
            steps: Vec::new(),
        }
    }
}

impl<N: Row, L: Row, const NICE: usize> Thorough<N, L, NICE> {
    /// What was seen like the bytes at `at`, which are seen now.
    #[inline(always)]
    fn look(&mut self, at: usize, here: u64) -> (N, L) {
        let near = self.near.row(hash(here << 32));
        let long = self.long.row(hash(here << (u64::BITS - 8 * LONG_KEY_BYTES)));
        let found = (*near, *long);
        (*near, *long) = (found.0.with(at as u16), found.1.with(at as u16));
        found
    }

    /// Finds the best way to every byte of `data[from..to]`.
    fn find_ways(&mut self, data: &[u8], from: usize, to: usize, reach: usize) {
        self.ways[..=to - from].fill(Way::MAX);
        self.ways[0] = 0;
        let mut at = from;
        while at < to {
            let cost_here = self.ways[at - from] >> COST_SHIFT;
            let literal = (cost_here + self.costs.literal(data[at])) << COST_SHIFT | LITERAL;
            let behind = &mut self.ways[at - from + 1];
            *behind = literal.min(*behind);
            let here = word(data, at);
            let (near, long) = self.look(at, here);
            let longest_max = MATCH_MAX.min(to - at);
            let mut longest = MATCH_MIN;
            for nth in 0..N::PLACES + L::PLACES {
                let place = if nth < N::PLACES { near.get(nth) } else { long.get(nth - N::PLACES) };
                let distance = distance(at, place);
                if distance.wrapping_sub(1) >= reach || half_word(data, at - distance) != here as u32 {
                    continue;
                }
                let length = common_prefix(data, at - distance, at, longest_max);
                // Shorter ones are taken care of: the candidates before this one are nearer.
                if length <= longest {
                    continue;
                }
                let cost = cost_here + self.costs.distance(distance);
                let mut way =
                    cost << COST_SHIFT | (longest as u64 + 1) << LENGTH_SHIFT | (distance as u64 - 1);
                let reached = &mut self.ways[at - from + longest + 1..=at - from + length];
                for (&bits, known) in self.costs.lengths(longest + 1, length).iter().zip(reached) {
                    *known = (way + (u64::from(bits) << COST_SHIFT)).min(*known);
                    way += 1 << LENGTH_SHIFT;
                }
                longest = length;
            }
            if longest >= NICE {
                for inside in at + 1..at + longest {
                    self.look(inside, word(data, inside));
                }
                at += longest;
            } else {
                at += 1;
            }
        }
    }
}

impl<N: Row, L: Row, const NICE: usize> Parser for Thorough<N, L, NICE> {
    fn parse(&mut self, data: &[u8], from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        self.find_ways(data, from, to, reach);
        self.steps.clear();
        let mut behind = to;
        while behind > from {
            let way = self.ways[behind - from] as u32;
            let (length, less_one) = ((way >> LENGTH_SHIFT) as usize, way & ((1 << LENGTH_SHIFT) - 1));
            let is_literal = length == 1;
            self.steps.push(match is_literal {
                true => Token::literal(data[behind - 1]),
                false => Token::a_match(length, less_one as usize + 1),
            });
            behind -= length;
        }
        self.steps.iter().rev().for_each(|&step| tokens.push(step));
    }

    fn pass(&mut self, data: &[u8], from: usize, to: usize) {
        for at in from + HEAD_BYTES..to {
            self.look(at, word(data, at));
        }
    }

    fn learn(&mut self, lengths: &Lengths) {
        self.costs.learn(lengths);
    }

    fn clear(&mut self) {
        self.near.clear();
        self.long.clear();
        self.costs = Costs::default();
    }
}
