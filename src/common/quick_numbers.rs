//! Numbers of names, for one thread that looks one up for every row.
//!
//! A table of a few hundred slots is in front of a hash table. Its hash reads a few bytes of the name, so names that outsiders choose
//! may share slots; then the hash table, which is keyed, decides.

use std::collections::HashMap;

use super::quick_hash::QuickHash;

/// Slots of the first table.
const SLOTS: usize = 1024;

/// Names and their numbers.
#[derive(Debug, Default)]
pub struct QuickNumbers {
    known: Vec<(Box<[u8]>, u16)>,
    /// The index of each name.
    by_name: HashMap<Box<[u8]>, u32, QuickHash>,
    /// The index of the last name with this hash. Empty until there is a name.
    slots: Vec<u32>,
}

impl QuickNumbers {
    /// The number of `name`, if it is known.
    #[inline]
    pub fn get(&mut self, name: &[u8]) -> Option<u16> {
        let slot = slot_of(name);
        let (known, number) = self.known.get(*self.slots.get(slot)? as usize)?;
        if **known == *name { Some(*number) } else { self.look_up(name, slot) }
    }

    #[inline(never)]
    fn look_up(&mut self, name: &[u8], slot: usize) -> Option<u16> {
        let &at = self.by_name.get(name)?;
        self.slots[slot] = at;
        Some(self.known[at as usize].1)
    }

    /// Adds `name`, which is not known yet.
    pub fn insert(&mut self, name: &[u8], number: u16) {
        let at = self.known.len() as u32;
        self.slots.resize(SLOTS, at);
        self.slots[slot_of(name)] = at;
        self.known.push((name.into(), number));
        self.by_name.insert(name.into(), at);
    }

    /// The number of names.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.known.len()
    }
}

/// A hash of the length and of the first and last eight bytes.
#[inline]
fn slot_of(name: &[u8]) -> usize {
    let word = match (name.first_chunk::<8>(), name.last_chunk::<8>()) {
        (Some(first), Some(last)) => {
            u64::from_le_bytes(*first).wrapping_add(u64::from_le_bytes(*last).rotate_left(29))
        }
        _ => match (name.first_chunk::<4>(), name.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
            }
            _ => name.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        },
    };
    ((word ^ name.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
}

const _: () = assert!(SLOTS == 1 << (u64::BITS - 54));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_number_however_many_share_a_slot() {
        let names = |n: usize| [format!("{n}"), format!("section-{n}-section"), format!("{n:09}x{n:09}")];
        let mut numbers = QuickNumbers::default();
        let mut plain: HashMap<String, u16> = HashMap::new();
        assert_eq!(numbers.get(b"0"), None);
        for n in 0..3 * SLOTS {
            for name in names(n) {
                let number = plain.len() as u16;
                assert_eq!(numbers.get(name.as_bytes()), None);
                numbers.insert(name.as_bytes(), number);
                plain.insert(name, number);
            }
            assert_eq!(numbers.get(n.to_string().as_bytes()), plain.get(&n.to_string()).copied());
        }
        assert_eq!(numbers.len(), plain.len());
        for _ in 0..2 {
            assert!(plain.iter().all(|(name, &number)| numbers.get(name.as_bytes()) == Some(number)));
        }
        assert_eq!(numbers.get(b""), None);
        assert_eq!(numbers.get(b"section-1-sections"), None);
    }
}
