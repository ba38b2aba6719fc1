//! Keys of a chunk, partitioned by their highest byte.

use super::record::{self, PARTITION_SHIFT};
use crate::common::fallible::reserve;
use crate::common::secret::{KEY_MAX, Key};
use crate::error::Result;
use crate::intake::lines::CHUNK_URLS_MAX;

/// Hash partitions: one for each value of a key's highest byte.
pub const PARTITIONS: usize = 256;
const _: () = assert!(KEY_MAX >> PARTITION_SHIFT == PARTITIONS as Key - 1);

/// The keys of one chunk, partition by partition: 16 bytes per URL, or 24 with instants.
#[derive(Debug, Default)]
pub struct ChunkKeys {
    /// Partition by partition, in input order within each.
    records: Box<[u8]>,
    has_instants: bool,
    /// The first record of each partition, and the number of records at the end.
    starts: Box<[u16]>,
}

const _: () = assert!(CHUNK_URLS_MAX <= u16::MAX as usize);

impl ChunkKeys {
    /// Partitions the `keys` of a chunk, given in input order, and their `instants`, if there are any.
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

    /// The keys of one partition. `chunk` is the number of this chunk.
    pub fn partition(&self, chunk: usize, partition: usize) -> PartitionKeys<'_> {
        let record_bytes = record::bytes(self.has_instants);
        let [start, end] = [partition, partition + 1].map(|at| usize::from(self.starts[at]) * record_bytes);
        PartitionKeys { chunk, records: &self.records[start..end], has_instants: self.has_instants }
    }

    /// The number of keys.
    pub fn count(&self) -> usize {
        self.starts.last().map_or(0, |&end| usize::from(end))
    }

    /// Bytes of memory that the keys take.
    pub fn bytes(&self) -> usize {
        self.records.len() + size_of_val(&self.starts[..])
    }

    /// The key of one URL, found by scanning all keys: for messages only.
    pub(crate) fn key_at(&self, ordinal: u16) -> Option<Key> {
        (0..PARTITIONS).find_map(|partition| {
            let mut keys = self.partition(0, partition).keys(partition);
            keys.find(|&(_, own, _)| own == ordinal).map(|(key, ..)| key)
        })
    }

    /// The first URL with this key.
    pub(crate) fn find(&self, key: Key) -> Option<u16> {
        let mut keys = self.partition(0, partition(key)).keys(partition(key));
        keys.find(|&(own, ..)| own == key).map(|(_, ordinal, _)| ordinal)
    }
}

/// The keys of one partition of a chunk.
#[derive(Debug, Clone, Copy)]
pub struct PartitionKeys<'a> {
    /// The number of the chunk.
    pub chunk: usize,
    /// As [`PartitionKeys::of`] takes them.
    pub records: &'a [u8],
    /// Whether each has an instant.
    has_instants: bool,
}

impl<'a> PartitionKeys<'a> {
    /// The keys of `chunk`, from records that were written to scratch and read back.
    pub fn of(chunk: usize, records: &'a [u8], has_instants: bool) -> Self {
        Self { chunk, records, has_instants }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len() / record::bytes(self.has_instants)
    }

    /// Key, ordinal and instant of each URL, in input order.
    #[inline]
    fn keys(self, partition: usize) -> impl Iterator<Item = (Key, u16, i64)> + 'a {
        let records = self.records.chunks_exact(record::bytes(self.has_instants));
        records.map(move |record| record::read(record, partition))
    }
}

/// Returns whether `chunks` have at least two keys, so that there may be duplicates among them.
pub fn has_several<'a>(mut chunks: impl Iterator<Item = PartitionKeys<'a>>) -> bool {
    let mut keys = 0;
    chunks.any(|own| {
        keys += own.len();
        keys > 1
    })
}

fn partition(key: Key) -> usize {
    (key >> PARTITION_SHIFT) as usize
}

/// A round over a partition: one of several if the table of all its keys would be too large. Each round takes the keys of
/// some hashes.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The number of the partition.
    pub partition: usize,
    /// The number of this round, from 0.
    pub number: usize,
    /// Rounds over the partition, at most 256.
    pub rounds: usize,
    /// The number of distinct keys that a round has, apart from chance. It may have many more keys if a URL occurs again and again.
    pub expected: usize,
}

/// The number of distinct keys that a partition of `keys` keys in all has, apart from chance: keys are hashes, so an eighth more
/// than the average is enough.
pub fn expected(keys: usize) -> usize {
    keys / PARTITIONS + keys / PARTITIONS / 8
}

impl Round {
    /// The only round over `partition`, which has `expected` distinct keys apart from chance.
    pub fn all(partition: usize, expected: usize) -> Self {
        Self { partition, number: 0, rounds: 1, expected }
    }

    /// The keys among `keys` that belong to this round.
    #[inline]
    pub(super) fn keys(self, keys: PartitionKeys<'_>) -> impl Iterator<Item = (Key, u16, i64)> {
        let round_of = move |key: Key| (usize::from((key >> (PARTITION_SHIFT - 8)) as u8) * self.rounds) >> 8;
        keys.keys(self.partition).filter(move |&(key, ..)| self.rounds == 1 || round_of(key) == self.number)
    }

    /// The number of keys for which a table of this round should have room at first, so that it rarely grows and does not count
    /// equal keys: those of `chunks` that belong to this round, and no more than are expected.
    pub(super) fn room<'a>(self, chunks: impl Iterator<Item = PartitionKeys<'a>>) -> usize {
        let keys: usize = match self.rounds {
            1 => chunks.map(|keys| keys.len()).sum(),
            _ => chunks.map(|keys| self.keys(keys).count()).sum(),
        };
        keys.min(self.expected)
    }
}
