//! Splits a layout into several: one for each origin, or for each section, or both.
//!
//! Listed entries are distributed by a key, front-coded again for each part, and held in memory as far as there is room. Threads
//! group the entries of a few chunks each; the groups are then appended to their parts one after the other, which preserves the
//! order. All parts share one file for what does not fit in memory. [`by_places`](super::by_places) does the same without copies,
//! where it can.

use std::collections::HashMap;
use std::sync::Arc;

use super::parts::{self, Ended, finished};
use crate::common::fallible::{copy, list, reserve, reserve_more, try_list};
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::common::quick_hash::QuickHash;
use crate::error::{Error, Result};
use crate::intake::input::Input;
use crate::job::Order;
use crate::sitemap::divide::{Divider, EntrySize};
use crate::sitemap::entry::Entry;
use crate::sitemap::sections::SectionNumber;
use crate::survey::chunk::RowsAt;
use crate::survey::context::Context;
use crate::survey::entries::try_for_each_listed;
use crate::survey::front_coded::FrontCoder;
use crate::survey::judge::Judge;
use crate::survey::layout::{EntryAt, Layout, ListedChunk};
use crate::survey::memory::Memory;
use crate::survey::sorted::{EntryStore, SEGMENT_BYTES, Storage, StoredAt};

/// Chunks that a thread groups together: enough that the groups of a thousand parts have several entries.
const CHUNKS_TOGETHER: usize = 16;

/// Target size of a block of one part in bytes.
const BLOCK_BYTES: usize = 32 * 1024;

/// Maximum bytes of all blocks that are being filled, and the fraction of memory that they may take (a fourth). Beyond either, all
/// blocks are stored, full or not.
const BUFFERED_BYTES_MAX: usize = 128 << 20;
const BUFFERED_SHARE: usize = 4;

/// Tells which part an entry belongs to. Every thread has its own.
pub trait PartKey {
    /// Appends the key of the part that `entry` belongs to.
    fn push(&mut self, entry: &Entry<'_>, key: &mut Vec<u8>);

    /// Counts since the last call, which are added up by position.
    fn take_counts(&mut self) -> Vec<u64> {
        Vec::new()
    }
}

/// A layout in parts.
#[derive(Debug)]
pub struct Split {
    /// The key and the layout of each part, in the order in which the keys first occur.
    pub parts: Vec<(Vec<u8>, Layout)>,
    /// The sums of [`PartKey::take_counts`].
    pub counts: Vec<u64>,
}

/// Maximum bytes of entries that a split holds in memory while `taken` bytes are held for the layout.
pub fn held_bytes_max(memory: &Memory, taken: usize) -> usize {
    (memory.hold / 2).min(memory.hold.saturating_sub(taken)).saturating_sub(SEGMENT_BYTES)
}

/// Splits `layout` by the keys that `key` finds. `None` if there are more than `parts_max` of them.
///
/// # Errors
/// If memory or scratch runs out, an input has changed, or `stop` is raised.
pub fn split<'r, K: PartKey>(
    run: Context<'r>,
    layout: &'r Layout,
    memory: &Memory,
    parts_max: usize,
    key: impl Fn() -> K + Sync,
) -> Result<Option<Split>> {
    let phase = run.progress.phase(Phase::Split, layout.tally.listed);
    // The inputs of a sorted layout are its own. Other inputs are mapped files, or were subtracted before.
    let taken = match run.job.rules.order {
        Order::Sorted => layout.inputs.iter().map(|input| input.bytes().len()).sum(),
        Order::Input => 0,
    };
    let storage = Storage::new(held_bytes_max(memory, taken), memory);
    let mut parts = CopiedParts::new(run, storage.store(), memory);
    let grouper = || Grouper { key: key(), judge: Judge::new(run.rules), parts_max };
    let work = |grouper: &mut Grouper<'r, K>, chunks: &[ListedChunk]| grouper.group(chunks, &layout.inputs);
    let mut counts: Vec<u64> = Vec::new();
    let done = ordered(
        run.job.resources.threads.get(),
        layout.chunks.chunks(CHUNKS_TOGETHER),
        grouper,
        work,
        |grouped| {
            run.stop.check()?;
            let Grouped { groups, counts: own } = grouped?;
            counts.resize(counts.len().max(own.len()), 0);
            counts.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
            for group in groups {
                run.progress.advance(group.sizes.len() as u64);
                parts.push(group)?;
            }
            match parts.parts.len() > parts_max {
                true => Err(Ended::TooLarge),
                false => Ok(()),
            }
        },
    );
    drop(phase);
    if !finished(done)? {
        return Ok(None);
    }
    let parts = parts.finish()?;
    let files: Arc<[Input]> = storage.into_files()?.into();
    let finish = |(key, part): (Vec<u8>, CopiedPart)| Ok((key, part.layout(run, &files)?));
    Ok(Some(Split { parts: try_list(parts.into_iter().map(finish))?, counts }))
}

/// The entries of a few chunks, grouped.
struct Grouped {
    /// In the order in which their keys first occur.
    groups: Vec<PartEntries>,
    counts: Vec<u64>,
}

/// The entries of a few chunks that belong to one part.
struct PartEntries {
    key: Vec<u8>,
    coder: FrontCoder,
    sizes: Vec<EntrySize>,
}

/// Groups chunk after chunk.
struct Grouper<'r, K> {
    key: K,
    judge: Judge<'r>,
    /// With more groups, there are too many parts.
    parts_max: usize,
}

impl<'r, K: PartKey> Grouper<'r, K> {
    fn group(&mut self, chunks: &[ListedChunk], inputs: &'r [Input]) -> Result<Grouped, Ended> {
        let Self { key, judge, parts_max } = self;
        let mut groups: Vec<PartEntries> = Vec::new();
        let mut by_key: HashMap<Vec<u8>, usize, QuickHash> = HashMap::default();
        let mut own = Vec::new();
        // Neighbours often belong together.
        let mut last = usize::MAX;
        for chunk in chunks {
            try_for_each_listed(chunk, inputs, judge, 0, |_, entry| {
                own.clear();
                key.push(&entry, &mut own);
                if groups.get(last).is_none_or(|group| group.key != own) {
                    last = match by_key.get(&own) {
                        Some(&at) => at,
                        None if groups.len() > *parts_max => return Err(Ended::TooLarge),
                        None => {
                            let at = groups.len();
                            reserve_more(&mut groups, 1)?;
                            let (coder, sizes) = (FrontCoder::new(&[]), Vec::new());
                            groups.push(PartEntries { key: copy(&own)?, coder, sizes });
                            by_key.insert(copy(&own)?, at);
                            at
                        }
                    };
                }
                let group = &mut groups[last];
                // The part knows the section.
                let entry = Entry { section: SectionNumber::REST, ..entry };
                group.coder.push_entry(&entry);
                reserve_more(&mut group.sizes, 1)?;
                group.sizes.push(entry.size());
                Ok::<_, Ended>(())
            })?;
        }
        Ok(Grouped { groups, counts: key.take_counts() })
    }
}

/// The entries of one part.
struct CopiedPart {
    /// The block that is being filled.
    buffer: Vec<u8>,
    /// Number and size of its entries.
    entries: u32,
    size: EntrySize,
    blocks: Vec<StoredBlock>,
    divider: Divider<EntryAt>,
}

struct StoredBlock {
    at: StoredAt,
    entries: u32,
    size: EntrySize,
}

impl CopiedPart {
    fn new(divider: Divider<EntryAt>) -> Self {
        Self { buffer: Vec::new(), entries: 0, size: EntrySize::default(), blocks: Vec::new(), divider }
    }

    /// The layout of the entries, which are in `files`.
    fn layout(self, run: Context<'_>, files: &Arc<[Input]>) -> Result<Layout> {
        let listed = self.blocks.iter().map(|block| u64::from(block.entries)).sum();
        let sizes = list(self.blocks.iter().map(|block| block.size))?;
        let chunk = |StoredBlock { at, entries, .. }: StoredBlock| {
            let rows = RowsAt::FrontCoded { block: at.range, entries: 0..entries as usize };
            ListedChunk::whole(at.file, rows, entries)
        };
        let chunks = try_list(self.blocks.into_iter().map(chunk))?;
        parts::layout(run, self.divider, chunks, &sizes, files, listed)
    }
}

/// All parts.
struct CopiedParts<'r> {
    run: Context<'r>,
    store: EntryStore<'r>,
    /// Bytes in all buffers.
    buffered: usize,
    buffered_max: usize,
    parts: Vec<(Vec<u8>, CopiedPart)>,
    by_key: HashMap<Vec<u8>, usize>,
}

impl<'r> CopiedParts<'r> {
    fn new(run: Context<'r>, store: EntryStore<'r>, memory: &Memory) -> Self {
        let buffered_max = (memory.hold / BUFFERED_SHARE).min(BUFFERED_BYTES_MAX);
        Self { run, store, buffered: 0, buffered_max, parts: Vec::new(), by_key: HashMap::new() }
    }

    /// Appends the entries of `group` to its part.
    fn push(&mut self, group: PartEntries) -> Result<()> {
        let at = match self.by_key.get(&group.key) {
            Some(&at) => at,
            None => self.add(&group.key)?,
        };
        let part = &mut self.parts[at].1;
        let before = part.buffer.capacity();
        let (block, first, bytes) = (part.blocks.len(), part.entries as usize, group.coder.bytes());
        let size = group.sizes.iter().copied().sum();
        let places = (first..).zip(&group.sizes);
        let places = places.map(|(ordinal, &size)| (EntryAt { chunk: block, ordinal }, size));
        part.divider.push_together(group.sizes.len() as u32, size, places)?;
        reserve(&mut part.buffer, bytes.len())?;
        part.buffer.extend_from_slice(bytes);
        part.entries += group.sizes.len() as u32;
        part.size = part.size + size;
        self.buffered += part.buffer.capacity() - before;
        if part.buffer.len() >= BLOCK_BYTES {
            self.end_block(at)?;
        }
        if self.buffered > self.buffered_max { self.end_all() } else { Ok(()) }
    }

    /// Adds a part and returns its index.
    fn add(&mut self, key: &[u8]) -> Result<usize> {
        let divider = parts::divider(&self.run.job.rules);
        let at = self.parts.len();
        reserve_more(&mut self.parts, 1)?;
        let room = self.by_key.try_reserve(1);
        room.map_err(|_| Error::no_memory((at + 1) * size_of::<(Vec<u8>, usize)>()))?;
        self.parts.push((copy(key)?, CopiedPart::new(divider)));
        self.by_key.insert(copy(key)?, at);
        Ok(at)
    }

    fn end_block(&mut self, at: usize) -> Result<()> {
        let part = &mut self.parts[at].1;
        if part.entries == 0 {
            return Ok(());
        }
        let at = self.store.append(&part.buffer)?;
        part.buffer.clear();
        reserve_more(&mut part.blocks, 1)?;
        let (entries, size) = (std::mem::take(&mut part.entries), std::mem::take(&mut part.size));
        part.blocks.push(StoredBlock { at, entries, size });
        Ok(())
    }

    /// Stores all blocks and frees their buffers.
    fn end_all(&mut self) -> Result<()> {
        for at in 0..self.parts.len() {
            self.end_block(at)?;
            self.parts[at].1.buffer = Vec::new();
        }
        self.buffered = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<(Vec<u8>, CopiedPart)>> {
        self.end_all()?;
        Ok(self.parts)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::clean::scope::origin_of;
    use crate::clean::{Cleaned, Cleaner};
    use crate::common::progress::Silent;
    use crate::common::stop::Stop;
    use crate::intake::scratch::ScratchSpace;
    use crate::job::Job;
    use crate::survey::judge::Rules;

    fn group(url: &str) -> PartEntries {
        let mut cleaner = Cleaner::default();
        let Cleaned::Url(url) = cleaner.clean(url.as_bytes()) else { panic!("it is clean") };
        let (entry, mut coder) = (Entry::of(url), FrontCoder::new(&[]));
        coder.push_entry(&entry);
        PartEntries { key: origin_of(url.as_bytes()).to_vec(), coder, sizes: vec![entry.size()] }
    }

    #[test]
    fn buffers_for_any_number_of_parts_stay_within_their_share_of_memory() {
        let job = Job::new(Vec::new(), "{origin}/".parse().unwrap(), PathBuf::new());
        let run = Context { job: &job, rules: &Rules::of(&job), progress: &Silent, stop: &Stop::default() };
        for hold in [1 << 10, 1 << 17, usize::MAX] {
            let memory = Memory { budget: 0, hold, scratch: ScratchSpace::of(&std::env::temp_dir()) };
            let storage = Storage::new(0, &memory);
            let mut parts = CopiedParts::new(run, storage.store(), &memory);
            for _ in 0..20 {
                for n in 0..2_000 {
                    parts.push(group(&format!("https://h{n}.example/"))).unwrap();
                    let held: usize = parts.parts.iter().map(|(_, part)| part.buffer.capacity()).sum();
                    assert!(held <= hold / BUFFERED_SHARE, "{held} of {hold}");
                }
            }
            let parts = parts.finish().unwrap();
            let entries = |part: &CopiedPart| part.blocks.iter().map(|block| block.entries).sum::<u32>();
            assert_eq!(parts.len(), 2_000);
            assert!(parts.iter().all(|(_, part)| entries(part) == 20));
        }
    }
}
