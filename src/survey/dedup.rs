//! Dedup: of equal URLs the first in input order stays, or the newest (in [`newest`](find_all_but_newest)).
//!
//! A URL is known by a key of 120 bits, of XXH3 of its canonical bytes under a secret drawn for the run: with its place in
//! the input it makes sixteen bytes. The key decides alone: among a billion URLs two different ones share a key with a
//! chance of 2^-61, and nobody can prepare a pair, because XXH3's known collisions need the secret. Confirming shorter keys on the bytes instead would read the
//! input at random places, which no disk does quickly.
//!
//! Keys are parted by their highest byte while the chunk they come from is in the cache; then each of the 256
//! partitions fits in the cache with its table, and needs no word from the others.

mod newest;
mod record;
mod survivors;

use crate::common::secret::{KEY_MAX, Key};
pub use newest::{NO_INSTANT, NewestTable, find_all_but_newest};
pub use survivors::Survivors;

use crate::common::prefetch;
use crate::error::{Result, reserve};
use crate::intake::lines::CHUNK_URLS_MAX;

/// Hash partitions: one for each value of a key's highest byte.
pub const PARTITIONS: usize = 256;

/// Runs that are looked up together: some hundred keys, whose places the first-level cache holds.
const RUNS_TOGETHER: usize = 8;

/// Below the byte of a key that is its partition.
const PARTITION_SHIFT: u32 = 112;
const _: () = assert!(KEY_MAX >> PARTITION_SHIFT == PARTITIONS as Key - 1);

/// The keys of one chunk, parted. 16 bytes a URL; with instants 24.
#[derive(Debug, Default)]
pub struct ChunkKeys {
    /// Partition by partition, in input order within each.
    records: Box<[u8]>,
    has_instants: bool,
    /// Which record each partition begins with; one more for the end.
    starts: Box<[u16]>,
}

const _: () = assert!(CHUNK_URLS_MAX <= u16::MAX as usize);

impl ChunkKeys {
    /// Parts the `keys` of a chunk, given in input order, and their `instants`, if there are any.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for them.
    pub fn part(keys: &[Key], instants: &[i64]) -> Result<Self> {
        let mut starts = [0_u16; PARTITIONS + 1];
        for &key in keys {
            starts[partition(key) + 1] += 1;
        }
        for p in 0..PARTITIONS {
            starts[p + 1] += starts[p];
        }
        let has_instants = !instants.is_empty();
        let record_bytes = record::bytes(has_instants);
        let mut records = Vec::new();
        reserve(&mut records, keys.len() * record_bytes)?;
        records.resize(keys.len() * record_bytes, 0);
        let mut next = starts;
        for (ordinal, &key) in (0_u16..).zip(keys) {
            let at = &mut next[partition(key)];
            let own = &mut records[usize::from(*at) * record_bytes..][..record_bytes];
            record::write(own, key, ordinal, instants.get(usize::from(ordinal)).copied());
            *at += 1;
        }
        Ok(Self { records: records.into(), has_instants, starts: starts.into() })
    }

    /// The keys of one partition. `chunk` is what this one is called.
    pub fn run(&self, chunk: usize, partition: usize) -> Run<'_> {
        let record_bytes = record::bytes(self.has_instants);
        let [start, end] = [partition, partition + 1].map(|at| usize::from(self.starts[at]) * record_bytes);
        Run { chunk, records: &self.records[start..end], has_instants: self.has_instants }
    }

    /// Bytes of memory that are held.
    pub fn bytes(&self) -> usize {
        self.records.len() + size_of_val(&self.starts[..])
    }

    /// The key of one URL. A walk through all of them: for what is told a person.
    pub(crate) fn key_at(&self, ordinal: u16) -> Option<Key> {
        (0..PARTITIONS).find_map(|partition| {
            let mut keys = self.run(0, partition).keys(partition);
            keys.find(|&(_, own, _)| own == ordinal).map(|(key, ..)| key)
        })
    }

    /// The first URL of that key.
    pub(crate) fn find(&self, key: Key) -> Option<u16> {
        let mut keys = self.run(0, partition(key)).keys(partition(key));
        keys.find(|&(own, ..)| own == key).map(|(_, ordinal, _)| ordinal)
    }
}

/// The keys of one partition of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The chunk that they are of.
    pub chunk: usize,
    /// As [`Run::of`] takes them.
    pub records: &'a [u8],
    /// Whether each has an instant.
    has_instants: bool,
}

impl<'a> Run<'a> {
    /// The run of `chunk` whose records were written elsewhere and read again.
    pub fn of(chunk: usize, records: &'a [u8], has_instants: bool) -> Self {
        Self { chunk, records, has_instants }
    }

    fn len(&self) -> usize {
        self.records.len() / record::bytes(self.has_instants)
    }

    /// Key, ordinal and instant of each URL, in input order.
    #[inline]
    fn keys(self, partition: usize) -> impl Iterator<Item = (Key, u16, i64)> + 'a {
        let records = self.records.chunks_exact(record::bytes(self.has_instants));
        records.map(move |record| record::read(record, partition))
    }
}

fn partition(key: Key) -> usize {
    (key >> PARTITION_SHIFT) as usize
}

/// A share of a partition: all of it, or one of several rounds in which it is looked at because its table would be too large.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Which partition.
    pub partition: usize,
    /// Which round.
    pub round: usize,
    /// How many there are, at most 256.
    pub rounds: usize,
}

impl Share {
    /// All of `partition`.
    pub fn all(partition: usize) -> Self {
        Self { partition, round: 0, rounds: 1 }
    }

    /// The keys of `run` that are in it.
    #[inline]
    fn keys(self, run: Run<'_>) -> impl Iterator<Item = (Key, u16, i64)> {
        let round_of = move |key: Key| (usize::from((key >> (PARTITION_SHIFT - 8)) as u8) * self.rounds) >> 8;
        run.keys(self.partition).filter(move |&(key, ..)| self.rounds == 1 || round_of(key) == self.round)
    }

    /// How many keys of `runs` are in it.
    fn count<'a>(self, runs: impl Iterator<Item = Run<'a>>) -> usize {
        match self.rounds {
            1 => runs.map(|run| run.len()).sum(),
            _ => runs.map(|run| self.keys(run).count()).sum(),
        }
    }
}

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
