//! Keys and sizes of every URL, kept in memory as far as they fit, until duplicates are found.
//!
//! The rest is spilled to scratch, partition by partition, so each partition is one byte range in every spill:
//!
//! ```text
//! spill     = partition 0 · partition 1 · … · partition 255
//! partition = for each chunk: number of the chunk (4 bytes) · bytes of records (4 bytes) · records
//! ```

use std::ops::Range;

use super::memory::Memory;
use super::sizes::Sizes;
use crate::common::fallible::{reserve, reserve_more};
use crate::error::Result;
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::survey::dedup::{ChunkKeys, NewestTable, PARTITIONS, PartitionKeys, Table, expected};

/// Bytes of the two numbers before the records of a chunk.
const HEAD_BYTES: usize = 2 * size_of::<u32>();

/// Bytes of a spill per write.
const BUFFER_BYTES: usize = 1 << 20;

/// The keys and sizes of all chunks, in their order.
pub struct Keys<'m> {
    memory: &'m Memory,
    has_instants: bool,
    /// Keys in memory, which belong to the last chunks.
    held: Vec<ChunkKeys>,
    sizes: Vec<Stored>,
    held_bytes: usize,
    spills: Vec<Spill>,
    scratch: Option<Scratch>,
    /// The scratch file, once it is complete.
    mapped: Option<Input>,
    urls: usize,
    /// Bytes of other data in memory.
    other_bytes: usize,
}

/// The place of the sizes of a chunk.
enum Stored {
    Held(Sizes),
    Spilled(Range<usize>, usize),
}

/// The offsets in scratch at which the partitions of a spill begin, and at which the last one ends.
struct Spill(Vec<usize>);

impl<'m> Keys<'m> {
    /// An empty collection of keys, with or without instants.
    pub fn new(memory: &'m Memory, has_instants: bool) -> Self {
        Self {
            memory,
            has_instants,
            held: Vec::new(),
            sizes: Vec::new(),
            held_bytes: 0,
            spills: Vec::new(),
            scratch: None,
            mapped: None,
            urls: 0,
            other_bytes: 0,
        }
    }

    /// Adds the keys and sizes of the next chunk.
    ///
    /// # Errors
    /// If there is no memory to record where they are.
    pub fn push(&mut self, keys: ChunkKeys, sizes: Sizes) -> Result<()> {
        reserve_more(&mut self.held, 1)?;
        reserve_more(&mut self.sizes, 1)?;
        self.urls += sizes.entries();
        self.held_bytes += keys.bytes() + sizes.bytes() + size_of::<(ChunkKeys, Stored)>();
        self.held.push(keys);
        self.sizes.push(Stored::Held(sizes));
        Ok(())
    }

    /// Makes room for `more` bytes. If they would not fit, spills the keys and sizes that are in memory.
    ///
    /// # Errors
    /// If scratch space runs out.
    pub fn make_room(&mut self, more: usize) -> Result<()> {
        match self.held_bytes + self.other_bytes + more > self.memory.hold && !self.held.is_empty() {
            true => self.spill(),
            false => Ok(()),
        }
    }

    fn spill(&mut self) -> Result<()> {
        if self.scratch.is_none() {
            self.scratch = Some(Scratch::new(&self.memory.scratch)?);
        }
        let scratch = self.scratch.as_ref().expect("it was made");
        let first = self.sizes.len() - self.held.len();
        let mut buffer = Vec::new();
        reserve(&mut buffer, BUFFER_BYTES + BUFFER_BYTES / 4)?;
        let mut spill = Spill(Vec::new());
        reserve(&mut spill.0, PARTITIONS + 1)?;
        spill.0.push(scratch.bytes() as usize);
        for partition in 0..PARTITIONS {
            for (chunk, keys) in (first..).zip(&self.held) {
                let records = keys.partition(chunk, partition).records;
                if records.is_empty() {
                    continue;
                }
                let chunk = u32::try_from(chunk).expect("2^32 chunks would be 2^50 bytes of input");
                reserve_more(&mut buffer, HEAD_BYTES + records.len())?;
                buffer.extend_from_slice(&chunk.to_le_bytes());
                buffer.extend_from_slice(&(records.len() as u32).to_le_bytes());
                buffer.extend_from_slice(records);
                if buffer.len() >= BUFFER_BYTES {
                    scratch.append(&buffer)?;
                    buffer.clear();
                }
            }
            spill.0.push(scratch.bytes() as usize + buffer.len());
        }
        for stored in &mut self.sizes[first..] {
            let Stored::Held(sizes) = stored else { continue };
            if buffer.len() + sizes.bytes() > BUFFER_BYTES {
                scratch.append(&buffer)?;
                buffer.clear();
            }
            let at = scratch.bytes() as usize + buffer.len();
            reserve_more(&mut buffer, sizes.bytes())?;
            sizes.write(&mut buffer);
            *stored = Stored::Spilled(at..scratch.bytes() as usize + buffer.len(), sizes.entries());
        }
        scratch.append(&buffer)?;
        reserve_more(&mut self.spills, 1)?;
        self.spills.push(spill);
        self.held.clear();
        self.held_bytes = self.sizes.len() * size_of::<Stored>();
        Ok(())
    }

    /// Ends the collection, so that it can be read.
    ///
    /// # Errors
    /// If scratch cannot be mapped.
    pub fn complete(&mut self) -> Result<()> {
        if let Some(scratch) = &self.scratch {
            self.mapped = Some(scratch.map_file()?);
        }
        Ok(())
    }

    /// Returns the number of rounds per partition, and the number of threads (up to `threads`) that may work at the same time, so
    /// that tables fit in memory.
    pub fn rounds(&self, threads: usize) -> (usize, usize) {
        let table = self.table_bytes(expected(self.urls));
        // Tables grow by doubling: a third of the keys may take half of the bytes.
        let rounds = table.div_ceil(self.table_room()).next_power_of_two();
        (rounds.min(PARTITIONS), (self.table_room() / table).clamp(1, threads))
    }

    /// The number of distinct keys that one of `rounds` rounds over a partition has, apart from chance.
    pub fn expected(&self, rounds: usize) -> usize {
        expected(self.urls) / rounds
    }

    /// Bytes of a table with `keys` keys.
    fn table_bytes(&self, keys: usize) -> usize {
        match self.has_instants {
            true => NewestTable::bytes(keys),
            false => Table::bytes(keys),
        }
    }

    /// Bytes that all tables may take.
    fn table_room(&self) -> usize {
        self.memory.hold.saturating_sub(self.held_bytes + self.other_bytes).max(self.memory.hold / 4).max(1)
    }

    /// The keys of one partition, chunk by chunk.
    pub fn chunks(&self, partition: usize) -> impl Iterator<Item = PartitionKeys<'_>> + Clone {
        let first = self.sizes.len() - self.held.len();
        let bytes = self.bytes();
        let spilled = self.spills.iter().flat_map(move |Spill(starts)| Spilled {
            rest: &bytes[starts[partition]..starts[partition + 1]],
            has_instants: self.has_instants,
        });
        let held = (first..).zip(&self.held);
        spilled.chain(held.map(move |(chunk, keys)| keys.partition(chunk, partition)))
    }

    /// Sets the number of bytes that other data holds.
    pub fn set_other_bytes(&mut self, bytes: usize) {
        self.other_bytes = bytes;
    }

    /// The sizes of the entries of all chunks. `None` if some of them are in scratch.
    pub fn take_sizes(&mut self) -> Option<Vec<Sizes>> {
        if !self.spills.is_empty() {
            return None;
        }
        let held = |stored| match stored {
            Stored::Held(sizes) => Some(sizes),
            Stored::Spilled(..) => None,
        };
        std::mem::take(&mut self.sizes).into_iter().map(held).collect()
    }

    /// Frees the keys once duplicates are found. Sizes are kept.
    pub fn drop_keys(&mut self) {
        self.held = Vec::new();
    }

    /// The sizes of the entries of `chunk`.
    pub fn sizes(&self, chunk: usize) -> super::sizes::View<'_> {
        match &self.sizes[chunk] {
            Stored::Held(sizes) => sizes.view(),
            Stored::Spilled(range, entries) => Sizes::read(&self.bytes()[range.clone()], *entries),
        }
    }

    fn bytes(&self) -> &[u8] {
        self.mapped.as_ref().map_or(&[], Input::bytes)
    }
}

/// The keys of one partition in a spill, chunk by chunk.
#[derive(Clone)]
struct Spilled<'a> {
    rest: &'a [u8],
    has_instants: bool,
}

impl<'a> Iterator for Spilled<'a> {
    type Item = PartitionKeys<'a>;

    fn next(&mut self) -> Option<PartitionKeys<'a>> {
        let (head, rest) = self.rest.split_at_checked(HEAD_BYTES)?;
        let number =
            |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes")) as usize;
        let (records, rest) = rest.split_at(number(size_of::<u32>()));
        self.rest = rest;
        Some(PartitionKeys::of(number(0), records, self.has_instants))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::scratch::ScratchSpace;

    #[test]
    fn tables_fit_within_the_memory_limit() {
        for has_instants in [false, true] {
            for (urls, hold) in
                [(0, 1 << 20), (1_000, 1 << 20), (100_000_000, 20 << 20), (987_654_321, 32 << 20)]
            {
                let memory = Memory { budget: 0, hold, scratch: ScratchSpace::of(&std::env::temp_dir()) };
                let keys = Keys { urls, ..Keys::new(&memory, has_instants) };
                let (rounds, threads) = keys.rounds(3);
                let bytes = threads * keys.table_bytes(urls.div_ceil(PARTITIONS * rounds));
                assert!(bytes <= hold || rounds == PARTITIONS, "{urls} URLs in {rounds} rounds: {bytes}");
                if urls == 1_000 {
                    assert_eq!((rounds, threads), (1, 3), "all at once where there is room");
                }
            }
        }
    }
}
