//! The quick parser: takes the longest of few candidates at once and never looks back.

use super::parser::Parser;
use super::places::{Places, Row, distance, hash};
use super::symbols::MATCH_MIN;
use super::tokens::Tokens;
use super::window::{common_prefix, word};

/// Rows of 8 K hashes: with one place each they fit in the first-level cache beside the window.
const HASH_BITS: u32 = 13;
/// Of a match, the places of this many bytes behind the first are remembered: words are found by their beginnings.
const REMEMBERED: usize = 3;

/// Looks up `KEY_BYTES` bytes at every place, or, if it looks at `WORDS` only, where a word begins or a match ended.
#[derive(Debug, Default)]
pub struct Greedy<R: Row, const KEY_BYTES: u32, const WORDS: bool> {
    places: Places<R, HASH_BITS>,
}

impl<R: Row, const KEY_BYTES: u32, const WORDS: bool> Parser for Greedy<R, KEY_BYTES, WORDS> {
    fn parse(&mut self, data: &[u8], from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        // The bytes of a key are the low ones of a word; this shift leaves nothing else.
        let other_bits = u64::BITS - 8 * KEY_BYTES;
        let mut at = from;
        while at + KEY_BYTES as usize <= to {
            let here = word(data, at);
            let row = self.places.row(hash(here << other_bits));
            let found = *row;
            *row = found.with(at as u16);
            let (mut length, mut from_distance) = (0, 0);
            for nth in 0..R::PLACES {
                let distance = distance(at, found.get(nth));
                let same_key = (word(data, at - distance) ^ here) << other_bits == 0;
                if same_key && distance.wrapping_sub(1) < reach {
                    let this = common_prefix(data, at - distance, at, to - at);
                    if this > length {
                        (length, from_distance) = (this, distance);
                    }
                }
            }
            if length >= MATCH_MIN {
                tokens.push_match(length, from_distance);
                if !WORDS {
                    for inside in at + 1..=at + REMEMBERED {
                        let row = self.places.row(hash(word(data, inside) << other_bits));
                        *row = row.with(inside as u16);
                    }
                }
                at += length;
                continue;
            }
            loop {
                let byte = data[at];
                tokens.push_literal(byte);
                at += 1;
                if !WORDS || ends_word(byte) || at == to {
                    break;
                }
            }
        }
        data[at..to].iter().for_each(|&byte| tokens.push_literal(byte));
    }

    fn clear(&mut self) {
        self.places.clear();
    }
}

/// `- . / % & '` and the other marks below the digits are what separates words in URLs, with few exceptions.
#[inline(always)]
fn ends_word(byte: u8) -> bool {
    byte < b'0'
}
