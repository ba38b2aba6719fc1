//! The thorough parser: the cheapest way through a record, by the code of the block before.

use super::block::Lengths;
use super::places::{Places, Row, distance, hash};
use super::symbols::{CODED_LENGTHS, DISTANCES, DISTANCE_EXTRA_BITS, LENGTHS, MATCH_MAX, MATCH_MIN, distance_symbol};
use super::tokens::{Token, Tokens};
use super::window::{common_prefix, half_word};

const HASH_BITS: u32 = 14;
const KEY_BYTES: usize = 4;
const NICE: usize = 48;

pub struct Costs {
    literals: [u32; 256],
    lengths: [u32; LENGTHS],
    distances: [u32; 32],
}

impl Default for Costs {
    fn default() -> Self {
        let mut distances = [13; 32];
        for s in 0..DISTANCES { distances[s] = 5 + u32::from(DISTANCE_EXTRA_BITS[s]); }
        Self { literals: std::array::from_fn(|b| if (b as u8).is_ascii_lowercase() || (b as u8).is_ascii_digit() || b"-/.".contains(&(b as u8)) { 5 } else { 8 }),
            lengths: CODED_LENGTHS.map(|c| 5 + u32::from(c.extra_bits)),
            distances }
    }
}

impl Costs {
    pub fn learn(&mut self, lengths: &Lengths) {
        let or = |bits: u8, d: u32| if bits == 0 { d } else { bits.into() };
        self.literals = std::array::from_fn(|b| or(lengths.litlens[b], 12));
        self.lengths = CODED_LENGTHS.map(|c| or(lengths.litlens[usize::from(c.symbol)], 11) + u32::from(c.extra_bits));
        for s in 0..DISTANCES {
            self.distances[s] = or(lengths.distances[s], 10) + u32::from(DISTANCE_EXTRA_BITS[s]);
        }
    }
}

pub struct Optimal<R: Row> {
    places: Places<R, HASH_BITS>,
    pub costs: Costs,
    cost: Vec<u32>,
    step: Vec<u32>,
    path: Vec<Token>,
}

impl<R: Row> Default for Optimal<R> {
    fn default() -> Self {
        Self { places: Places::default(), costs: Costs::default(), cost: vec![0; 8300], step: vec![0; 8300], path: vec![] }
    }
}

impl<R: Row> Optimal<R> {
    pub fn parse(&mut self, data: &[u8], from: usize, to: usize, tokens: &mut Tokens) {
        let n = to - from;
        let cost = &mut self.cost[..n + 1];
        let step = &mut self.step[..n + 1];
        cost.fill(u32::MAX);
        cost[0] = 0;
        let mut k = 0;
        while k < n {
            let at = from + k;
            let here = cost[k];
            let lit = here + self.costs.literals[usize::from(data[at])];
            if lit < cost[k + 1] {
                cost[k + 1] = lit;
                step[k + 1] = 1 << 16;
            }
            if n - k < KEY_BYTES { k += 1; continue; }
            let key = half_word(data, at);
            let row = self.places.row(hash(key));
            let found = *row;
            *row = found.with(at as u16);
            let mut best = MATCH_MIN;
            let max = (n - k).min(MATCH_MAX);
            for nth in 0..R::PLACES {
                let Some(distance) = distance(at, found.get(nth)) else { continue };
                if half_word(data, at - distance) != key { continue; }
                let length = common_prefix(data, at - distance, at, max);
                if length <= best { continue; }
                let base = here + self.costs.distances[distance_symbol(distance as u32 - 1) as usize & 31];
                let lens = &self.costs.lengths[best + 1 - MATCH_MIN..length + 1 - MATCH_MIN];
                let cs = &mut cost[k + best + 1..k + length + 1];
                let ss = &mut step[k + best + 1..k + length + 1];
                let mut s = (best as u32 + 1) << 16 | (distance as u32 - 1);
                for ((l, c), st) in lens.iter().zip(cs).zip(ss) {
                    let new = base + l;
                    if new < *c { *c = new; *st = s; }
                    s += 1 << 16;
                }
                best = length;
                if best == max { break; }
            }
            if best >= NICE {
                for inside in at + 1..at + best {
                    let row = self.places.row(hash(half_word(data, inside)));
                    *row = row.with(inside as u16);
                }
                k += best;
            } else { k += 1; }
        }
        self.path.clear();
        let mut k = n;
        while k > 0 {
            let s = step[k];
            let length = (s >> 16) as usize;
            self.path.push(if length == 1 { Token::literal(data[from + k - 1]) } else { Token::a_match(length, (s & 0xffff) as usize + 1) });
            k -= length;
        }
        for &token in self.path.iter().rev() { tokens.push(token); }
    }
}
