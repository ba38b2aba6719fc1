//! External sort: records that do not fit in memory are written to a scratch file as sorted runs, which are then merged.
//!
//! [`Sorter`] takes records in any order and sorts as many as fit in memory. Callers that sort differently write [`SortedRuns`].

mod merge;
mod runs;

pub use merge::Merge;
pub use runs::{Codec, RunFile, RunReader, SortedRuns};

use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;

use crate::common::thread_pool::in_pool;

/// Sorts records that are pushed in any order.
pub struct Sorter<'p, C, F: RunFile> {
    codec: C,
    /// The threads that sort.
    pool: &'p ThreadPool,
    /// Bytes that `records` and `starts` may take together.
    memory: usize,
    /// The directory in which the scratch file is created once memory is full.
    space: F::Space,
    /// Encoded records, one after another.
    records: Vec<u8>,
    /// The offset of each record in `records`, which has at most 4 GiB.
    starts: Vec<u32>,
    /// The encoded form of the record being pushed.
    record: Vec<u8>,
    runs: Option<SortedRuns<C, F>>,
}

impl<'p, C: Codec, F: RunFile> Sorter<'p, C, F> {
    /// Creates a sorter that keeps up to `memory` bytes of records in memory, 4 GiB at most, and sorts them in `pool`. The rest
    /// goes to a scratch file in `space`.
    pub fn new(codec: C, pool: &'p ThreadPool, memory: u64, space: F::Space) -> Self {
        let memory = usize::try_from(memory.min(u32::MAX.into())).unwrap_or(usize::MAX);
        let (records, starts, record) = (Vec::new(), Vec::new(), Vec::new());
        Self { codec, pool, memory, space, records, starts, record, runs: None }
    }

    /// Returns the directory of the scratch file.
    pub fn space(&self) -> &F::Space {
        &self.space
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If memory is full and scratch cannot be written to.
    pub fn push(&mut self, record: C::View<'_>) -> Result<(), F::Error> {
        self.record.clear();
        self.codec.encode(record, &mut self.record);
        let bytes = self.records.len() + self.record.len() + (self.starts.len() + 1) * size_of::<u32>();
        if bytes > self.memory && !self.starts.is_empty() {
            self.spill()?;
        }
        let start = u32::try_from(self.records.len()).expect("memory is at most 4 GiB");
        reserve(&mut self.records, self.record.len(), self.memory);
        reserve(&mut self.starts, 1, self.memory / size_of::<u32>());
        self.records.extend_from_slice(&self.record);
        self.starts.push(start);
        Ok(())
    }

    /// Returns all records in order.
    ///
    /// # Errors
    /// If scratch cannot be used.
    pub fn finish(mut self) -> Result<Sorted<C, F>, F::Error> {
        if self.runs.is_none() {
            self.sort();
            let Self { codec, records, starts, .. } = self;
            return Ok(Sorted::InMemory { codec, records, starts: starts.into_iter() });
        }
        self.spill()?;
        let Self { runs, memory, records, starts, .. } = self;
        // The merge may now use their memory for its buffers.
        drop((records, starts));
        Ok(Sorted::Merged(runs.expect("records were spilled").merge(memory)?))
    }

    /// The number of runs in scratch so far.
    #[cfg(test)]
    pub fn runs_count(&self) -> usize {
        self.runs.as_ref().map_or(0, SortedRuns::count)
    }

    fn sort(&mut self) {
        let Self { codec, pool, records, starts, .. } = self;
        let (codec, records) = (&*codec, &**records);
        let view = |start: u32| whole(codec, &records[start as usize..]).0;
        let order = |&one: &u32, &other: &u32| view(one).cmp(&view(other));
        if in_pool(pool, || starts.par_sort_unstable_by(order)).is_err() {
            // The system refuses another thread.
            starts.sort_unstable_by(order);
        }
    }

    /// Writes the records in memory as a sorted run.
    fn spill(&mut self) -> Result<(), F::Error> {
        self.sort();
        let mut runs = match self.runs.take() {
            Some(runs) => runs,
            None => SortedRuns::new(self.codec.clone(), F::create(&self.space)?),
        };
        for &start in &self.starts {
            let record = &self.records[start as usize..];
            runs.push_encoded(&record[..whole(&self.codec, record).1])?;
        }
        runs.end_run();
        self.runs = Some(runs);
        self.records.clear();
        self.starts.clear();
        Ok(())
    }
}

/// The record at the start of `bytes`, and its length.
fn whole<'b, C: Codec>(codec: &C, bytes: &'b [u8]) -> (C::View<'b>, usize) {
    codec.decode(bytes).expect("records in memory are whole")
}

/// Makes room for `more` items by doubling, but never beyond `max` unless the items need it.
fn reserve<T>(vec: &mut Vec<T>, more: usize, max: usize) {
    if vec.capacity() - vec.len() < more {
        let wanted = (2 * vec.capacity()).clamp(vec.len() + more, max.max(vec.len() + more));
        vec.reserve_exact(wanted - vec.len());
    }
}

/// Records in order.
pub enum Sorted<C: Codec, F: RunFile> {
    /// All of them are in memory.
    InMemory {
        /// Decodes the records.
        codec: C,
        /// Encoded records.
        records: Vec<u8>,
        /// The offsets of the remaining records, in order.
        starts: std::vec::IntoIter<u32>,
    },
    /// They are read from scratch.
    Merged(Merge<RunReader<C, F>>),
}

impl<C: Codec, F: RunFile> Sorted<C, F> {
    /// Writes the next record to `record`. Returns false at the end.
    ///
    /// # Errors
    /// If scratch cannot be read.
    pub fn read(&mut self, record: &mut C::Owned) -> Result<bool, F::Error> {
        match self {
            Self::InMemory { codec, records, starts } => {
                let Some(start) = starts.next() else { return Ok(false) };
                codec.store(whole(codec, &records[start as usize..]).0, record);
                Ok(true)
            }
            Self::Merged(runs) => runs.read(record),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::common::field;
    use crate::common::stop::Stop;
    use crate::common::thread_pool::thread_pool;

    #[derive(Clone)]
    struct Bytes;

    impl Codec for Bytes {
        type View<'b> = &'b [u8];
        type Owned = Vec<u8>;

        fn encode(&self, record: &[u8], bytes: &mut Vec<u8>) {
            field::push(record, bytes);
        }

        fn decode<'b>(&self, bytes: &'b [u8]) -> Option<(&'b [u8], usize)> {
            let (record, rest) = field::split(bytes)?;
            Some((record, bytes.len() - rest.len()))
        }

        fn store(&self, record: &[u8], owned: &mut Vec<u8>) {
            owned.clear();
            owned.extend_from_slice(record);
        }
    }

    fn sorted(records: &[Vec<u8>], memory: u64) -> (Vec<Vec<u8>>, usize) {
        let pool = thread_pool(2, "sort", &Stop::default()).unwrap();
        let mut sorter = Sorter::<_, File>::new(Bytes, &pool, memory, std::env::temp_dir());
        records.iter().for_each(|record| sorter.push(record).unwrap());
        let runs = sorter.runs_count();
        let (mut sorted, mut all, mut record) = (sorter.finish().unwrap(), Vec::new(), Vec::new());
        while sorted.read(&mut record).unwrap() {
            all.push(record.clone());
        }
        assert!(!sorted.read(&mut record).unwrap(), "the end stays the end");
        (all, runs)
    }

    #[test]
    fn external_sort_agrees_with_a_sort_in_memory() {
        let numbers = |count: usize, distinct: usize| -> Vec<Vec<u8>> {
            (0..count).map(|n| (n * 7919 % distinct).to_string().into_bytes()).collect()
        };
        let lengths = |max: usize| -> Vec<Vec<u8>> {
            (0..400).map(|n| vec![(n % 3) as u8; n * n * 31 % max]).collect()
        };
        let giant = |at: usize, bytes: usize| {
            let mut records = numbers(50, 37);
            records.insert(at, vec![b'3'; bytes]);
            records
        };
        for (name, records) in [
            ("none", Vec::new()),
            ("one", numbers(1, 1)),
            ("one without bytes", vec![Vec::new()]),
            ("two", numbers(2, 2)),
            ("all equal", numbers(1_000, 1)),
            ("few distinct", numbers(1_000, 3)),
            ("all distinct", numbers(1_000, 1_009)),
            ("sorted", (0..300_u32).map(|n| n.to_be_bytes().to_vec()).collect()),
            ("reversed", (0..300_u32).rev().map(|n| n.to_be_bytes().to_vec()).collect()),
            ("short and empty", lengths(7)),
            ("longer than a buffer of the merge", lengths(9_001)),
            ("giant first", giant(0, 3 << 20)),
            ("giant in the middle", giant(25, 3 << 20)),
            ("giant last", giant(50, 3 << 20)),
        ] {
            let mut want = records.clone();
            want.sort();
            for memory in [0, 1, 100, 5_000, 1 << 20, u64::MAX] {
                let (got, runs) = sorted(&records, memory);
                assert!(got == want, "{name}, {memory} bytes");
                let expected_runs = match memory {
                    0 => records.len().saturating_sub(1),
                    u64::MAX => 0,
                    _ => runs,
                };
                assert_eq!(runs, expected_runs, "{name}, {memory} bytes: runs before the last");
            }
        }
    }

    #[test]
    fn room_grows_by_doubling_up_to_the_memory_allowed() {
        let mut vec = vec![0_u8; 100];
        reserve(&mut vec, 1, 1_000);
        assert_eq!(vec.capacity(), 200);
        vec.resize(200, 0);
        reserve(&mut vec, 1, 250);
        assert_eq!(vec.capacity(), 250);
        vec.resize(250, 0);
        reserve(&mut vec, 40, 250);
        assert_eq!(vec.capacity(), 290);
    }
}
