//! Keeps the newest of equal URLs, by `lastmod`.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

use super::keys::{PartitionKeys, Round};
use crate::common::secret::Key;
use crate::error::{Error, Result};

/// The position of the newest of equal URLs, by key. Reused from partition to partition.
#[derive(Debug, Default)]
pub struct NewestTable(HashMap<Key, Newest, BuildHasherDefault<KeyItself>>);

#[derive(Debug, Clone, Copy)]
struct Newest {
    instant: i64,
    chunk: usize,
    ordinal: u16,
}

impl NewestTable {
    /// Bytes of the table of `keys` keys: at most seven eighths of its slots are used, and each has a control byte.
    pub fn bytes(keys: usize) -> usize {
        (keys + keys / 7).next_power_of_two() * (size_of::<(Key, Newest)>() + 1)
    }

    /// Empties it and makes room for `keys` keys.
    fn clear_for(&mut self, keys: usize) -> Result<()> {
        self.0.clear();
        self.reserve(keys)
    }

    /// Makes room for one more key.
    #[inline]
    fn make_room(&mut self) -> Result<()> {
        if self.0.len() < self.0.capacity() { Ok(()) } else { self.reserve(1) }
    }

    fn reserve(&mut self, more: usize) -> Result<()> {
        self.0.try_reserve(more).map_err(|_| Error::no_memory(Self::bytes(self.0.len() + more)))
    }
}

/// Walks through the keys of `chunks` that belong to `round`. Calls `older` with the chunk and the ordinal of every URL except
/// the newest of each group of equal URLs; of equally new ones the first is kept. A key without an instant is older than any.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if the table cannot be allocated.
pub fn find_all_but_newest<'a>(
    chunks: impl Iterator<Item = PartitionKeys<'a>> + Clone,
    round: Round,
    table: &mut NewestTable,
    mut older: impl FnMut(usize, u16),
) -> Result<()> {
    table.clear_for(round.room(chunks.clone()))?;
    for keys in chunks {
        for (key, ordinal, instant) in round.keys(keys) {
            let this = Newest { instant, chunk: keys.chunk, ordinal };
            table.make_room()?;
            match table.0.entry(key) {
                Entry::Vacant(place) => drop(place.insert(this)),
                Entry::Occupied(mut place) if instant > place.get().instant => {
                    let was = place.insert(this);
                    older(was.chunk, was.ordinal);
                }
                Entry::Occupied(_) => older(keys.chunk, ordinal),
            }
        }
    }
    Ok(())
}

/// Uses the lower half of a key, which is a hash already.
#[derive(Debug, Default)]
struct KeyItself(u64);

impl Hasher for KeyItself {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers")
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::dedup::record::PARTITION_SHIFT;
    use crate::survey::dedup::{ChunkKeys, NO_INSTANT, PARTITIONS};

    #[test]
    fn the_newest_row_stays_and_among_equally_new_ones_the_first() {
        let key = |n: u128| (n << PARTITION_SHIFT) | n;
        // Chunk by chunk: key and instant of each URL.
        let chunks = [
            vec![(1, 10), (2, NO_INSTANT), (3, 5), (3, 9)],
            vec![(1, 10), (2, 7), (3, 1)],
            vec![(1, 11), (2, 7), (4, NO_INSTANT), (4, NO_INSTANT), (1, 3)],
        ];
        let parted: Vec<ChunkKeys> = chunks
            .iter()
            .map(|chunk| {
                let (keys, instants): (Vec<Key>, Vec<i64>) = chunk.iter().map(|&(n, i)| (key(n), i)).unzip();
                ChunkKeys::part(&keys, &instants).unwrap()
            })
            .collect();
        let mut older = Vec::new();
        let mut table = NewestTable::default();
        for partition in 0..PARTITIONS {
            let chunks = parted.iter().enumerate().map(|(chunk, keys)| keys.partition(chunk, partition));
            // The table has no room at first, and grows.
            let round = Round::all(partition, 0);
            find_all_but_newest(chunks, round, &mut table, |c, o| older.push((c, o))).unwrap();
        }
        older.sort_unstable();
        assert_eq!(older, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 1), (2, 3), (2, 4)]);
    }

    #[test]
    fn the_stated_size_of_a_table_is_its_real_size() {
        for keys in [20, 447, 448, 449, 5_000, 100_000] {
            let mut table = NewestTable::default();
            table.clear_for(keys).unwrap();
            // Seven of eight slots may be in use.
            let places = table.0.capacity() / 7 * 8;
            assert_eq!(NewestTable::bytes(keys), places * (size_of::<(Key, Newest)>() + 1), "{keys}");
        }
    }
}
