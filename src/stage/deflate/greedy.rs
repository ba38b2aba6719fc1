//! The quick parser: takes what it finds at once and never looks back.

use super::parser::Parser;
use super::places::{Places, distance, hash};
use super::tokens::Tokens;
use super::window::{common_prefix, word};

/// Places of 8 K hashes: they fit in the first-level cache beside the window.
const HASH_BITS: u32 = 13;
/// Of a match, the places of this many bytes behind the first are remembered: words are found by their beginnings.
const REMEMBERED: usize = 3;

/// Looks up `KEY_BYTES` bytes at every place, or, if it looks at `WORDS` only, where a word begins or a match ended.
#[derive(Debug, Default)]
pub struct Greedy<const KEY_BYTES: u32, const WORDS: bool> {
    places: Places<u16, HASH_BITS>,
}

impl<const KEY_BYTES: u32, const WORDS: bool> Parser for Greedy<KEY_BYTES, WORDS> {
    fn parse(&mut self, data: &[u8], from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        // The bytes of a key are the low ones of a word; this shift leaves nothing else.
        let other_bits = u64::BITS - 8 * KEY_BYTES;
        let mut at = from;
        while at + KEY_BYTES as usize <= to {
            let here = word(data, at);
            let place = std::mem::replace(self.places.row(hash(here << other_bits)), at as u16);
            let distance = distance(at, place);
            let is_same = (word(data, at - distance) ^ here) << other_bits == 0;
            if is_same && distance.wrapping_sub(1) < reach {
                let length = common_prefix(data, at - distance, at, to - at);
                tokens.push_match(length, distance);
                if !WORDS {
                    for inside in at + 1..=at + REMEMBERED {
                        *self.places.row(hash(word(data, inside) << other_bits)) = inside as u16;
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
        tokens.push_literals(&data[at..to]);
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
