//! Step 2: sorts ranges on all threads.

use super::cuts::Cuts;
use super::listed::{BlockFormat, SortedBlock, SortedRange};
use super::range::RangeSorter;
use super::regions::BorderSearch;
use super::rows::RangeRows;
use super::store::{Storage, StoredAt};
use crate::common::fallible::reserve_more;
use crate::common::ordered::ordered;
use crate::error::Result;
use crate::intake::input::Input;
use crate::sitemap::divide::stable::Halt;
use crate::sitemap::divide::{Divider, EntrySize};
use crate::sitemap::xml::Frame;
use crate::survey::chunk::RowsAt;
use crate::survey::context::Context;
use crate::survey::layout::{EntryAt, ListedChunk, SitemapSource};
use crate::survey::memory::Memory;

/// The rows of all ranges, and how they are sorted.
pub struct Sorting<'s> {
    pub run: Context<'s>,
    pub ranges: &'s [RangeRows],
    /// The common prefix of the URLs of each range.
    pub prefixes: Vec<&'s [u8]>,
    pub format: BlockFormat,
    /// Maximum number of rows that a thread sorts at once.
    sorted_rows: usize,
    memory: &'s Memory,
    /// Bytes of memory that sorted blocks may take.
    memory_left: usize,
    /// The files of the ranges, and in place also those of sorted blocks.
    files: Vec<Input>,
    /// The number of files of the ranges.
    of_ranges: usize,
    /// The files of front-coded blocks.
    front_coded: Vec<Input>,
}

impl<'s> Sorting<'s> {
    /// Sorts `ranges`, which are in `files` and whose URLs begin with `prefixes`. A thread sorts at most `sorted_rows` rows at
    /// once.
    pub fn new(
        run: Context<'s>,
        (ranges, files): (&'s [RangeRows], Vec<Input>),
        prefixes: Vec<&'s [u8]>,
        format: BlockFormat,
        sorted_rows: usize,
        (memory, memory_left): (&'s Memory, usize),
    ) -> Self {
        let (of_ranges, front_coded) = (files.len(), Vec::new());
        Self {
            run,
            ranges,
            prefixes,
            format,
            sorted_rows,
            memory,
            memory_left,
            files,
            of_ranges,
            front_coded,
        }
    }

    /// Sorts the ranges with these `numbers`, and passes each of them to `take` in order. Entries are listed as `cuts` of their
    /// range say, and their blocks are stored in `to`.
    ///
    /// # Errors
    /// The first error of `take`; [`Halt::Failed`] if scratch space is needed and runs out, or the run is stopped.
    pub fn sort<'c>(
        &self,
        numbers: &[usize],
        cuts: impl Fn(usize) -> Cuts<'c> + Sync,
        search: &BorderSearch,
        to: &Storage<'_>,
        mut take: impl FnMut(usize, SortedRange) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let Self { run, memory, format, .. } = *self;
        let files = &self.files[..self.of_ranges];
        // Ranges are taken a few ahead of the threads that sort them, in time to prefetch their blocks.
        let numbers = numbers.iter().copied().inspect(|&number| {
            self.ranges[number]
                .blocks
                .iter()
                .for_each(|block| files[block.at.file].prefetch(&block.at.range));
        });
        let sorter = || RangeSorter::new(run, files, format, to, memory, search, self.sorted_rows);
        let work = |sorter: &mut RangeSorter<'_>, number: usize| {
            (number, sorter.sort(&self.ranges[number].blocks, self.prefixes[number], cuts(number)))
        };
        ordered(run.job.resources.threads.get(), numbers, sorter, work, |(number, sorted)| {
            run.stop.check()?;
            let sorted = sorted?;
            run.progress.advance(sorted.rows);
            take(number, sorted)
        })
    }

    /// A storage for sorted blocks. Those of an earlier attempt are dropped first, because each attempt may take all memory.
    pub fn storage(&mut self) -> Storage<'s> {
        self.front_coded = Vec::new();
        self.files.truncate(self.of_ranges);
        Storage::new(self.memory_left, self.memory)
    }

    /// Sets the files of all sorted blocks, which were in the [storage](Sorting::storage).
    ///
    /// # Errors
    /// If there is no memory for the list.
    pub fn set_sorted(&mut self, sorted: Vec<Input>) -> Result<()> {
        match self.format {
            BlockFormat::FrontCoded => self.front_coded = sorted,
            BlockFormat::InPlace => {
                reserve_more(&mut self.files, sorted.len())?;
                self.files.extend(sorted);
            }
        }
        Ok(())
    }

    /// The files of the chunks of sorted blocks.
    pub fn chunk_files(&self) -> &[Input] {
        match self.format {
            BlockFormat::FrontCoded => &self.front_coded,
            BlockFormat::InPlace => &self.files,
        }
    }

    /// Same as [`Sorting::chunk_files`].
    pub fn into_chunk_files(self) -> Vec<Input> {
        match self.format {
            BlockFormat::FrontCoded => self.front_coded,
            BlockFormat::InPlace => self.files,
        }
    }

    /// Makes a chunk of each block.
    pub fn collector(&self) -> Collector {
        let rules = &self.run.job.rules;
        Collector {
            format: self.format,
            files_before: if self.format == BlockFormat::InPlace { self.of_ranges } else { 0 },
            chunks: Vec::new(),
            sizes: Vec::new(),
            divider: Divider::new(rules.sitemap_limits(), &Frame::sitemap(rules.protocol)),
        }
    }
}

/// Makes chunks of sorted blocks, and divides their entries to fill sitemaps.
pub struct Collector {
    format: BlockFormat,
    /// Sorted blocks are in other files, which come after those of entries that stay in place.
    files_before: usize,
    pub chunks: Vec<ListedChunk>,
    /// The size of the entries of each chunk.
    pub sizes: Vec<EntrySize>,
    pub divider: Divider<SitemapSource>,
}

impl Collector {
    /// Adds the next block.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn push(&mut self, block: SortedBlock) -> Result<()> {
        let SortedBlock { at: StoredAt { file, range }, sizes, smallest_mark, .. } = block;
        let (chunk, entries) = (self.chunks.len(), 0..sizes.len());
        let size = sizes.iter().copied().sum();
        let each = sizes.iter().enumerate();
        let each = each.map(|(ordinal, &size)| (SitemapSource::Entry(EntryAt { chunk, ordinal }), size));
        self.divider.push_together(sizes.len() as u32, size, each)?;
        let rows = match self.format {
            BlockFormat::FrontCoded => RowsAt::FrontCoded { block: range, entries },
            BlockFormat::InPlace => RowsAt::InPlace { block: range, entries },
        };
        reserve_more(&mut self.sizes, 1)?;
        reserve_more(&mut self.chunks, 1)?;
        self.sizes.push(size);
        let whole = ListedChunk::whole(self.files_before + file, rows, sizes.len() as u32)?;
        self.chunks.push(ListedChunk { smallest_mark, ..whole });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::common::progress::Silent;
    use crate::common::stop::Stop;
    use crate::intake::input::Segment;
    use crate::intake::scratch::ScratchSpace;
    use crate::job::Job;
    use crate::survey::judge::Rules;

    #[test]
    fn blocks_of_an_earlier_attempt_are_dropped_before_the_next_takes_memory() {
        let job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), PathBuf::new());
        let run = Context { job: &job, rules: &Rules::of(&job), progress: &Silent, stop: &Stop::default() };
        let memory = Memory { budget: 0, hold: 0, scratch: ScratchSpace::of(&std::env::temp_dir()) };
        let file = || Input::held(Path::new("blocks"), Segment::new(1).unwrap()).unwrap();
        for (format, before) in [(BlockFormat::FrontCoded, 0), (BlockFormat::InPlace, 1)] {
            let mut sorting = Sorting::new(run, (&[], vec![file()]), Vec::new(), format, 1, (&memory, 0));
            for _ in 0..2 {
                let _storage = sorting.storage();
                assert_eq!(sorting.chunk_files().len(), before);
                sorting.set_sorted(vec![file(), file()]).unwrap();
                assert_eq!(sorting.chunk_files().len(), before + 2);
            }
        }
    }
}
