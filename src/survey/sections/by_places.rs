//! Splits a layout among parts whose rows stay where they are: a part has the places of its rows. [`by_copies`](super::by_copies)
//! does the same with copies of the rows.

use std::ops::Range;
use std::sync::Arc;

use super::entry_sizes::EntrySizes;
use super::parts::{self, Ended, finished};
use super::picks::{CHUNKS_TOGETHER, PickedChunk, PickedRows, Picks, RowAt};
use super::recorded::{RECORDED_SHARE, Recorded, RecordedChunk};
use crate::common::fallible::{reserve, reserve_more, try_list};
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::error::{Error, Result};
use crate::sitemap::divide::{Divider, EntrySize};
use crate::survey::chunk::{Chunk, RowsAt};
use crate::survey::context::Context;
use crate::survey::dedup::Survivors;
use crate::survey::layout::{EntryAt, Layout, ListedChunk};
use crate::survey::memory::Memory;
use crate::survey::sizes::Sizes;

/// Chunks that a thread counts together.
const CHUNKS_COUNTED: usize = 256;

/// Counts the listed entries of `layout` by their numbers, of which there are `numbers`.
///
/// # Errors
/// If `stop` is raised.
pub fn count(run: Context<'_>, layout: &Layout, recorded: &Recorded, numbers: usize) -> Result<Vec<u64>> {
    let mut counts = vec![0; numbers];
    let work = |(): &mut (), chunks: Range<usize>| {
        let mut counts = vec![0_u64; numbers];
        for (listed, chunk) in layout.chunks[chunks.clone()].iter().zip(&recorded.chunks[chunks]) {
            listed.survivors.for_each(|ordinal| counts[usize::from(chunk.numbers[ordinal])] += 1);
        }
        counts
    };
    let all = layout.chunks.len();
    let chunks = (0..all).step_by(CHUNKS_COUNTED).map(|first| first..all.min(first + CHUNKS_COUNTED));
    ordered(
        run.job.resources.threads.get(),
        chunks,
        || (),
        work,
        |own| {
            run.stop.check()?;
            counts.iter_mut().zip(own).for_each(|(sum, count)| *sum += count);
            Ok::<_, Error>(())
        },
    )?;
    Ok(counts)
}

/// Splits `layout`, whose entries are `recorded`. Entries with the number `n` are in the part `part_of[n]`. The recorded places
/// become those of the parts. Returns the index and the layout of each part that has entries, in the order in which the parts first
/// occur. `None` if that would take too much memory.
///
/// # Errors
/// If memory runs out, an input has changed, or `stop` is raised.
pub fn pick(
    run: Context<'_>,
    layout: &Layout,
    recorded: Recorded,
    part_of: &[u32],
    memory: &Memory,
) -> Result<Option<Vec<(usize, Layout)>>> {
    let phase = run.progress.phase(Phase::Split, layout.tally.listed);
    let parts_max = part_of.iter().max().map_or(0, |&most| most as usize + 1);
    let Recorded { chunks: mut recorded, sizes, .. } = recorded;
    let picker = || Picker {
        layout,
        sizes: &sizes,
        part_of,
        next: vec![0; parts_max],
        order: Vec::new(),
        places: Vec::new(),
    };
    let mut parts = PickedParts { run, parts: Vec::new(), at: vec![None; parts_max], bytes: 0 };
    let done = ordered(
        run.job.resources.threads.get(),
        neighbours(&layout.chunks, &mut recorded),
        picker,
        |picker: &mut Picker<'_>, (chunks, recorded)| picker.pick(chunks, recorded),
        |picked| {
            run.stop.check()?;
            parts.push(picked?)?;
            match parts.bytes > memory.hold / RECORDED_SHARE {
                true => Err(Ended::TooLarge),
                false => Ok(()),
            }
        },
    );
    drop(phase);
    if !finished(done)? {
        return Ok(None);
    }
    let finish = |(at, part): (usize, PickedPart)| Ok((at, part.layout(run, layout)?));
    Ok(Some(try_list(parts.parts.into_iter().map(finish))?))
}

/// The chunks that are picked from together: a few neighbours of one input, and what is recorded of them.
fn neighbours<'r>(
    chunks: &'r [ListedChunk],
    mut recorded: &'r mut [RecordedChunk],
) -> impl Iterator<Item = (Range<usize>, &'r mut [RecordedChunk])> + Send {
    let mut next = 0;
    std::iter::from_fn(move || {
        let input = chunks.get(next)?.chunk.input;
        let own = chunks[next..].iter().take(CHUNKS_TOGETHER).take_while(|it| it.chunk.input == input);
        let own = next..next + own.count();
        next = own.end;
        Some((own.clone(), recorded.split_off_mut(..own.len())?))
    })
}

/// The rows of a few chunks, part by part.
struct PickedChunks {
    input: usize,
    picks: Arc<Picks>,
    entry_sizes: EntrySizes,
    /// The rows of each part, and their size.
    runs: Vec<(usize, Range<u32>, EntrySize)>,
}

/// Sorts the rows of a few chunks by part.
struct Picker<'r> {
    layout: &'r Layout,
    /// The sizes of the entries of each chunk.
    sizes: &'r [Sizes],
    part_of: &'r [u32],
    /// Of each part: rows so far, then where the next one goes. All are 0 between two picks.
    next: Vec<u32>,
    /// Parts that have rows, in the order in which they first occur.
    order: Vec<u32>,
    /// The places of all rows, part by part.
    places: Vec<RowAt>,
}

impl Picker<'_> {
    fn pick(&mut self, chunks: Range<usize>, recorded: &mut [RecordedChunk]) -> Result<PickedChunks> {
        let Self { layout, part_of, next, order, .. } = self;
        let listed = &layout.chunks[chunks.clone()];
        order.clear();
        for (listed, own) in listed.iter().zip(&*recorded) {
            listed.survivors.for_each(|ordinal| {
                let part = part_of[usize::from(own.numbers[ordinal])];
                let count = &mut next[part as usize];
                if *count == 0 {
                    order.push(part);
                }
                *count += 1;
            });
        }
        let (mut runs, mut rows) = (Vec::new(), 0);
        reserve(&mut runs, order.len())?;
        for &part in order.iter() {
            let first = rows;
            rows += std::mem::replace(&mut next[part as usize], first);
            runs.push((part as usize, first..rows, EntrySize::default()));
        }
        let entry_sizes = self.sort(chunks, recorded, rows as usize)?;
        runs.iter_mut().for_each(|(_, range, size)| *size = entry_sizes.sum(range.clone()));
        self.order.iter().for_each(|&part| self.next[part as usize] = 0);
        let input = listed[0].chunk.input;
        let chunks = try_list(listed.iter().map(|listed| Ok(picked_chunk(listed))))?;
        let places = take_memory(&self.places, recorded)?;
        Ok(PickedChunks { input, picks: Arc::new(Picks { chunks, places }), entry_sizes, runs })
    }

    /// Sorts the places of all `rows` listed rows of `chunks`. Returns their sizes.
    fn sort(&mut self, chunks: Range<usize>, recorded: &[RecordedChunk], rows: usize) -> Result<EntrySizes> {
        let Self { layout, sizes, part_of, next, places, .. } = self;
        let mut entry_sizes = EntrySizes::of(rows)?;
        places.clear();
        reserve(places, rows)?;
        places.resize(rows, RowAt::default());
        for (nth, (at, own)) in chunks.zip(recorded).enumerate() {
            let mut cursor = sizes[at].view().cursor();
            layout.chunks[at].survivors.try_for_each(|ordinal| {
                let to = &mut next[part_of[usize::from(own.numbers[ordinal])] as usize];
                places[*to as usize] = own.places[ordinal].in_chunk(nth);
                entry_sizes.set(*to, cursor.size(ordinal))?;
                *to += 1;
                Ok::<_, Error>(())
            })?;
        }
        Ok(entry_sizes)
    }
}

/// Copies `places` to the memory of those that were `recorded`, which have as many or more.
fn take_memory(mut places: &[RowAt], recorded: &mut [RecordedChunk]) -> Result<Vec<Vec<RowAt>>> {
    try_list(recorded.iter_mut().map(|chunk| {
        let mut own = std::mem::take(&mut chunk.places);
        own.truncate(places.len());
        let (these, others) = places.split_at(own.len());
        own.copy_from_slice(these);
        places = others;
        Ok(own)
    }))
}

fn picked_chunk(listed: &ListedChunk) -> PickedChunk {
    let (bytes, rows) = match &listed.chunk.rows {
        RowsAt::Lines(bytes) if listed.is_clean => (bytes, PickedRows::CleanLines),
        RowsAt::Lines(bytes) => (bytes, PickedRows::Lines),
        RowsAt::Rows(block) => (&block.range, PickedRows::Rows),
        RowsAt::Urls(_) | RowsAt::FrontCoded { .. } | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {
            unreachable!("only lines and rows in scratch are recorded")
        }
    };
    PickedChunk { bytes: bytes.clone(), rows }
}

/// One part.
struct PickedPart {
    chunks: Vec<ListedChunk>,
    entry_sizes: Vec<EntrySize>,
    listed: u64,
    divider: Divider<EntryAt>,
}

impl PickedPart {
    fn layout(self, run: Context<'_>, whole: &Layout) -> Result<Layout> {
        let Self { chunks, entry_sizes, listed, divider } = self;
        parts::layout(run, divider, chunks, &entry_sizes, &whole.inputs, listed)
    }
}

/// All parts.
struct PickedParts<'r> {
    run: Context<'r>,
    /// In the order in which they first occur, each with its index.
    parts: Vec<(usize, PickedPart)>,
    /// Where each part is in `parts`.
    at: Vec<Option<usize>>,
    /// Bytes of memory that they take.
    bytes: usize,
}

impl PickedParts<'_> {
    fn push(&mut self, picked: PickedChunks) -> Result<()> {
        let PickedChunks { input, picks, entry_sizes, runs } = picked;
        for (part, range, size) in runs {
            let at = match self.at[part] {
                Some(at) => at,
                None => self.add(part)?,
            };
            let count = range.len() as u32;
            let part = &mut self.parts[at].1;
            let chunk = part.chunks.len();
            let places = range.clone().enumerate();
            let places = places.map(|(ordinal, at)| (EntryAt { chunk, ordinal }, entry_sizes.get(at)));
            part.divider.push_together(count, size, places)?;
            reserve_more(&mut part.chunks, 1)?;
            reserve_more(&mut part.entry_sizes, 1)?;
            let rows = RowsAt::Picked { picks: Arc::clone(&picks), range };
            let (chunk, survivors) = (Chunk { input, rows }, Survivors::default());
            let listed =
                ListedChunk { chunk, survivors, listed: count, smallest_mark: None, is_clean: false };
            part.chunks.push(listed);
            part.entry_sizes.push(size);
            part.listed += u64::from(count);
            self.bytes += size_of::<(ListedChunk, EntrySize)>();
            self.run.progress.advance(count.into());
        }
        Ok(())
    }

    /// Adds the part with the index `part` and returns where it is.
    fn add(&mut self, part: usize) -> Result<usize> {
        let divider = parts::divider(&self.run.job.rules);
        let at = self.parts.len();
        reserve_more(&mut self.parts, 1)?;
        self.parts
            .push((part, PickedPart { chunks: Vec::new(), entry_sizes: Vec::new(), listed: 0, divider }));
        self.at[part] = Some(at);
        Ok(at)
    }
}
