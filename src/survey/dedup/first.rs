//! Keeps the first of equal URLs in input order.

use super::keys::{PartitionKeys, Round};
use crate::common::fallible::reserve;
use crate::common::prefetch;
use crate::common::secret::Key;
use crate::error::Result;

/// Chunks whose keys of a partition are looked up together: a few hundred keys, whose slots fit in the first-level cache.
const CHUNKS_TOGETHER: usize = 8;

/// Walks through the keys of `chunks` that belong to `round`, in input order. Calls `duplicate` with the chunk and the ordinal
/// of every URL that equals an earlier one.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the table cannot be allocated.
pub fn find_duplicates<'a>(
    mut chunks: impl Iterator<Item = PartitionKeys<'a>> + Clone,
    round: Round,
    table: &mut Table,
    mut duplicate: impl FnMut(usize, u16),
) -> Result<()> {
    table.clear_for(round.room(chunks.clone()))?;
    // A chunk has few keys of a partition. They are no longer in the cache, and neither is most of a large table. So keys are
    // prefetched while others are looked up, and so are the slots of several chunks at once.
    let (mut now, mut next) = (Vec::with_capacity(CHUNKS_TOGETHER), Vec::with_capacity(CHUNKS_TOGETHER));
    loop {
        std::mem::swap(&mut now, &mut next);
        next.clear();
        next.extend(chunks.by_ref().take(CHUNKS_TOGETHER));
        next.iter().for_each(|keys| prefetch::fetch_all(keys.records));
        if now.is_empty() && next.is_empty() {
            return Ok(());
        }
        for &keys in &now {
            for (key, ..) in round.keys(keys) {
                table.fetch(key);
            }
        }
        for &keys in &now {
            for (key, ordinal, _) in round.keys(keys) {
                if table.is_full() {
                    table.grow()?;
                }
                if !table.insert(key) {
                    duplicate(keys.chunk, ordinal);
                }
            }
        }
    }
}

fn places(keys: usize) -> usize {
    (keys + keys / 2 + 1).next_power_of_two()
}

/// A set of keys: open addressing, linear probing, at most two thirds full. Reused from partition to partition.
#[derive(Debug, Default)]
pub struct Table {
    places: Vec<Key>,
    mask: usize,
    /// The number of keys that can still be added.
    room: usize,
}

impl Table {
    /// Bytes of the table of `keys` keys.
    pub fn bytes(keys: usize) -> usize {
        places(keys) * size_of::<Key>()
    }

    /// Empties it and makes room for `keys` keys.
    fn clear_for(&mut self, keys: usize) -> Result<()> {
        let places = places(keys);
        self.places.clear();
        reserve(&mut self.places, places)?;
        self.places.resize(places, 0);
        self.mask = places - 1;
        // At least `keys`, because of how `places` rounds.
        self.room = places * 2 / 3;
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.room == 0
    }

    /// Doubles the places.
    #[cold]
    fn grow(&mut self) -> Result<()> {
        let mut grown = Self::default();
        grown.clear_for(self.places.len())?;
        for &key in self.places.iter().filter(|&&key| key != 0) {
            grown.insert(key);
        }
        *self = grown;
        Ok(())
    }

    /// Prefetches the slot where the search for `key` begins.
    #[inline]
    fn fetch(&self, key: Key) {
        prefetch::fetch(&self.places[key as usize & self.mask]);
    }

    /// Adds `key`, for which there is room; false if it was there.
    #[inline]
    fn insert(&mut self, key: Key) -> bool {
        let mut at = key as usize & self.mask;
        loop {
            match self.places[at] {
                0 => {
                    self.places[at] = key;
                    self.room -= 1;
                    return true;
                }
                there if there == key => return false,
                _ => at = (at + 1) & self.mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::common::secret::KEY_MAX;
    use crate::survey::dedup::{ChunkKeys, PARTITIONS, expected};

    /// The plain way: a set of all keys.
    fn plain(chunks: &[Vec<Key>]) -> Vec<(usize, u16)> {
        let mut seen = HashSet::new();
        let mut duplicates = Vec::new();
        for (chunk, keys) in chunks.iter().enumerate() {
            for (ordinal, &key) in (0..).zip(keys) {
                if !seen.insert(key) {
                    duplicates.push((chunk, ordinal));
                }
            }
        }
        duplicates
    }

    #[test]
    fn the_partitions_together_find_what_one_set_finds() {
        // Keys that collide in partitions and in slots, and many equal ones.
        for spread in [1_u128, 1 << 60, (1 << 111) | 1, (1 << 113) | 7] {
            let key = |n: u128| ((n * n % 977).wrapping_mul(spread) & KEY_MAX).max(1);
            let chunks: Vec<Vec<Key>> =
                (0..9).map(|chunk| (0..chunk * 37).map(|n| key(chunk * 31 + n)).collect()).collect();
            let parted: Vec<ChunkKeys> =
                chunks.iter().map(|keys| ChunkKeys::part(keys, &[]).unwrap()).collect();
            let mut table = Table::default();
            // Tables that have room for all keys, and tables that grow.
            for (rounds, expected) in [(1, 1_000), (3, 1_000), (1, 0), (3, 2)] {
                let mut duplicates = Vec::new();
                for partition in 0..PARTITIONS {
                    let chunks =
                        parted.iter().enumerate().map(|(chunk, keys)| keys.partition(chunk, partition));
                    for number in 0..rounds {
                        let round = Round { partition, number, rounds, expected };
                        find_duplicates(chunks.clone(), round, &mut table, |c, o| duplicates.push((c, o)))
                            .unwrap();
                    }
                }
                duplicates.sort_unstable();
                assert_eq!(duplicates, plain(&chunks));
            }
            for (keys, parted) in chunks.iter().zip(&parted) {
                for (ordinal, &key) in (0..).zip(keys) {
                    assert_eq!(parted.key_at(ordinal), Some(key));
                    assert_eq!(parted.find(key).map(|first| keys[usize::from(first)]), Some(key));
                }
            }
        }
    }

    #[test]
    fn the_table_of_equal_keys_does_not_grow_with_their_number() {
        let keys: Vec<Key> = [1, 2, 3].into_iter().cycle().take(30_000).collect();
        let parted = ChunkKeys::part(&keys, &[]).unwrap();
        let mut table = Table::default();
        let mut duplicates = 0;
        let round = Round::all(0, expected(100_000));
        find_duplicates([parted.partition(0, 0)].into_iter(), round, &mut table, |_, _| duplicates += 1)
            .unwrap();
        assert_eq!(duplicates, keys.len() - 3);
        assert!(table.places.len() <= places(expected(100_000)), "{} places", table.places.len());
    }
}
