//! Numbers of names, for one thread that looks one up for every row.
//!
//! A direct-mapped cache is in front of a hash table. Its hash reads only a few bytes of the name, so outsiders can choose names
//! that share a slot; the hash table, which is keyed, then decides.

use std::collections::HashMap;

use super::quick_hash::QuickHash;

/// Slots of the first table.
const SLOTS: usize = 1024;

/// Names and their numbers.
#[derive(Debug, Default)]
pub struct QuickNumbers {
    known: Vec<Known>,
    /// The index of each name.
    by_name: HashMap<Box<[u8]>, u32, QuickHash>,
    /// The index of the last name with this hash. Empty until there is a name.
    slots: Vec<u32>,
}

#[derive(Debug)]
struct Known {
    name: Box<[u8]>,
    ends: Ends,
    number: u16,
}

impl QuickNumbers {
    /// The number of `name`, if it is known.
    #[inline]
    pub fn get(&mut self, name: &[u8]) -> Option<u16> {
        let ends = Ends::of(name);
        let slot = ends.slot();
        let known = self.known.get(*self.slots.get(slot)? as usize)?;
        let is_it = known.ends == ends && (name.len() <= ENDS_BYTES || *known.name == *name);
        if is_it { Some(known.number) } else { self.look_up(name, slot) }
    }

    #[inline(never)]
    fn look_up(&mut self, name: &[u8], slot: usize) -> Option<u16> {
        let &at = self.by_name.get(name)?;
        self.slots[slot] = at;
        Some(self.known[at as usize].number)
    }

    /// Adds `name`, which is not known yet.
    pub fn insert(&mut self, name: &[u8], number: u16) {
        let (at, ends) = (self.known.len() as u32, Ends::of(name));
        self.slots.resize(SLOTS, at);
        self.slots[ends.slot()] = at;
        self.known.push(Known { name: name.into(), ends, number });
        self.by_name.insert(name.into(), at);
    }

    /// The number of names.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.known.len()
    }
}

/// The length of a name, and its first and last eight bytes. They may overlap, so they are all of a name that is not longer than
/// both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ends {
    length: usize,
    first: u64,
    last: u64,
}

/// Bytes of both ends of a name.
const ENDS_BYTES: usize = 2 * size_of::<u64>();

impl Ends {
    #[inline]
    fn of(name: &[u8]) -> Self {
        let (first, last) = match (name.first_chunk(), name.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (name.first_chunk(), name.last_chunk()) {
                (Some(first), Some(last)) => {
                    (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
                }
                _ => (name.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0),
            },
        };
        Self { length: name.len(), first, last }
    }

    /// A hash.
    #[inline]
    fn slot(self) -> usize {
        let word = self.first.wrapping_add(self.last.rotate_left(29)) ^ self.length as u64;
        (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize
    }
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
