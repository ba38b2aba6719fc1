//! Of equal URLs the first in input order stays.

use super::keys::{Run, Share};
use crate::common::prefetch;
use crate::common::secret::Key;
use crate::error::{Result, reserve};

/// Runs that are looked up together: some hundred keys, whose places the first-level cache holds.
const RUNS_TOGETHER: usize = 8;

/// Walks through the `share` of all `runs` in input order and calls `duplicate` with the chunk and the ordinal of every URL
/// that an earlier one equals.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the table cannot be had.
pub fn find_duplicates<'a>(
    mut runs: impl Iterator<Item = Run<'a>> + Clone,
    share: Share,
    table: &mut Table,
    mut duplicate: impl FnMut(usize, u16),
) -> Result<()> {
    table.clear_for(share.count(runs.clone()))?;
    // A run is short, and in memory that was not looked at for long, as are most places of a large table: runs are asked for
    // while others are looked up, and so are the places of several of them at once.
    let (mut now, mut next) = (Vec::with_capacity(RUNS_TOGETHER), Vec::with_capacity(RUNS_TOGETHER));
    loop {
        std::mem::swap(&mut now, &mut next);
        next.clear();
        next.extend(runs.by_ref().take(RUNS_TOGETHER));
        next.iter().for_each(|run| prefetch::fetch_all(run.records));
        if now.is_empty() && next.is_empty() {
            return Ok(());
        }
        let keys = now.iter().flat_map(|&run| share.keys(run));
        keys.for_each(|(key, ..)| table.fetch(key));
        for &run in &now {
            for (key, ordinal, _) in share.keys(run) {
                if !table.insert(key) {
                    duplicate(run.chunk, ordinal);
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
        Ok(())
    }

    /// Asks for the place where `key` is looked for first.
    #[inline]
    fn fetch(&self, key: Key) {
        prefetch::fetch(&self.places[key as usize & self.mask]);
    }

    /// Adds `key`; false if it was there.
    #[inline]
    fn insert(&mut self, key: Key) -> bool {
        let mut at = key as usize & self.mask;
        loop {
            match self.places[at] {
                0 => {
                    self.places[at] = key;
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
    use crate::survey::dedup::{ChunkKeys, PARTITIONS};

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
        // Keys that meet in partitions and in places, and many that are equal.
        for spread in [1_u128, 1 << 60, (1 << 111) | 1, (1 << 113) | 7] {
            let key = |n: u128| ((n * n % 977).wrapping_mul(spread) & KEY_MAX).max(1);
            let chunks: Vec<Vec<Key>> =
                (0..9).map(|chunk| (0..chunk * 37).map(|n| key(chunk * 31 + n)).collect()).collect();
            let parted: Vec<ChunkKeys> =
                chunks.iter().map(|keys| ChunkKeys::part(keys, &[]).unwrap()).collect();
            let mut table = Table::default();
            for rounds in [1, 3] {
                let mut duplicates = Vec::new();
                for partition in 0..PARTITIONS {
                    let runs = parted.iter().enumerate().map(|(chunk, keys)| keys.run(chunk, partition));
                    for round in 0..rounds {
                        let share = Share { partition, round, rounds };
                        find_duplicates(runs.clone(), share, &mut table, |c, o| duplicates.push((c, o)))
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
}
