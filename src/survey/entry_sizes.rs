//! Rooms of many entries in an order of their own, four bytes each.

use std::ops::Range;

use crate::common::fallible::{reserve, reserve_more};
use crate::error::Result;
use crate::sitemap::divide::Room;
use crate::sitemap::xml::Namespaces;

/// The room of each of a number of entries.
#[derive(Debug)]
pub struct Rooms {
    /// `bytes << 8 | namespaces`, or [`LARGE`].
    packed: Vec<u32>,
    /// Entries of [`BYTES_MAX`] bytes or more, which hardly any site has.
    large: Vec<(u32, Room)>,
}

const BYTES_MAX: u64 = u32::MAX as u64 >> u8::BITS;

/// Marks an entry that is among the large ones.
const LARGE: u32 = u32::MAX;

impl Rooms {
    /// Space for the rooms of `entries` entries.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn of(entries: usize) -> Result<Self> {
        let mut packed = Vec::new();
        reserve(&mut packed, entries)?;
        packed.resize(entries, 0);
        Ok(Self { packed, large: Vec::new() })
    }

    /// Sets the room of the entry `at`.
    ///
    /// # Errors
    /// If there is no memory for a large entry.
    #[inline]
    pub fn set(&mut self, at: u32, room: Room) -> Result<()> {
        self.packed[at as usize] = match room.bytes < BYTES_MAX {
            true => (room.bytes as u32) << u8::BITS | u32::from(room.uses.bits()),
            false => {
                reserve_more(&mut self.large, 1)?;
                self.large.push((at, room));
                LARGE
            }
        };
        Ok(())
    }

    /// The room of the entry `at`.
    #[inline]
    pub fn get(&self, at: u32) -> Room {
        match self.packed[at as usize] {
            LARGE => self.large(at),
            packed => Room::of_entry((packed >> u8::BITS).into(), Namespaces::from_bits(packed as u8)),
        }
    }

    #[cold]
    fn large(&self, at: u32) -> Room {
        let mut large = self.large.iter();
        large.find(|(entry, _)| *entry == at).expect("set() has put it there").1
    }

    /// The room of all entries in `range`.
    pub fn sum(&self, range: Range<u32>) -> Room {
        range.map(|at| self.get(at)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_those_that_were_set_however_large() {
        let room = |n: u32| {
            let bytes = [0, 100, 1_000, BYTES_MAX - 1, BYTES_MAX, 50 << 20][n as usize % 6];
            Room::of_entry(bytes, Namespaces::from_bits((n % 16) as u8))
        };
        let mut rooms = Rooms::of(100).unwrap();
        (0..100).rev().for_each(|at| rooms.set(at, room(at)).unwrap());
        assert!((0..100).all(|at| rooms.get(at) == room(at)));
        assert_eq!(rooms.sum(3..90), (3..90).map(room).sum());
    }
}
