//! The quick parser: takes the first good match it meets.

use super::places::{Places, Row, distance, hash};
use super::tokens::Tokens;
use super::window::{common_prefix, half_word};

const HASH_BITS: u32 = 13;
/// Bytes that are hashed, and the shortest match.
const KEY_BYTES: usize = 4;

/// Remembers the places of four bytes.
#[derive(Debug, Default)]
pub struct Greedy<R: Row> {
    places: Places<R, HASH_BITS>,
}

impl<R: Row> Greedy<R> {
    pub fn parse(&mut self, data: &[u8], from: usize, to: usize, tokens: &mut Tokens) {
        let (mut at, mut literals_from) = (from, from);
        while at + KEY_BYTES <= to {
            let key = half_word(data, at);
            let row = self.places.row(hash(key));
            let found = *row;
            *row = found.with(at as u16);
            let (mut best, mut best_distance) = (0, 0);
            for nth in 0..R::PLACES {
                let Some(distance) = distance(at, found.get(nth)) else { continue };
                if half_word(data, at - distance) == key {
                    let length = common_prefix(data, at - distance, at, to - at);
                    if length > best {
                        (best, best_distance) = (length, distance);
                    }
                }
            }
            if best == 0 {
                at += 1;
                continue;
            }
            let (mut begin, mut length) = (at, best);
            while begin > literals_from && begin - best_distance > 0 && data[begin - 1] == data[begin - 1 - best_distance] {
                begin -= 1;
                length += 1;
            }
            tokens.push_literals(&data[literals_from..begin]);
            tokens.push_match(length, best_distance);
            for inside in at + 1..(at + best).min(at + 16) {
                let row = self.places.row(hash(half_word(data, inside)));
                *row = row.with(inside as u16);
            }
            at += best;
            literals_from = at;
        }
        tokens.push_literals(&data[literals_from..to]);
    }
}
