//! Sorted order, in three steps:
//!
//! 1. *Distribute*: every entry is added to the range that its URL belongs to, without the prefix that all URLs of the range share.
//! 2. *Sort*: ranges are sorted one by one, and duplicates are dropped. If all entries are in memory, they stay where they are,
//!    and the result is their positions in order. Otherwise, they are front-coded: each URL without the bytes that it shares with
//!    the one before.
//! 3. *Divide*: sorted blocks are divided among sitemaps. The second pass reads them from start to end.
//!
//! Entries are held in memory as long as there is room. The rest is in scratch, which the kernel keeps in memory if it can.
//!
//! There are enough ranges for each of them to be sorted in memory. A range can still be too large, because the sample was not
//! representative or one URL occurs a hundred million times. Such a range is sorted in runs that are merged. Order and
//! duplicates depend only on the bytes of URLs. No hash is needed, and the numbers of ranges and threads do not change the
//! output.

mod distributor;
mod listed;
mod plan;
mod range;
mod regions;
mod rows;
mod sample;
mod store;
mod survivors;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::account::{Account, AccountedChunk};
use super::chunk::{Chunk, RowsAt, extents};
use super::context::Context;
use super::judge::{Judge, Judged};
use super::layout::{EntryAt, Layout, ListedChunk};
use super::memory::Memory;
use super::notes::Notes;
use super::stable;
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::error::{Error, Result, list, reserve, reserve_more};
use crate::intake::input::{Extent, Input};
use crate::sitemap::divide::{Divider, Room};
use crate::sitemap::xml::Frame;
use crate::survey::sort::Splitters;
use distributor::Distributor;
use listed::Form;
pub use plan::Plan;
use range::RangeSorter;
use regions::{BorderSearch, Regions};
use rows::RangeBlock;
use sample::Sample;
pub use store::{EntryStore, SEGMENT_BYTES, Storage, StoredAt};

/// Chunks that are sampled, and rows of each: enough to place splitters to a thousandth of a range.
const SAMPLED_EXTENTS: usize = 4096;
const SAMPLED_ROWS: usize = 16;

/// The sample takes at most one part in this many of memory.
const SAMPLE_SHARE: usize = 4;

/// Surveys and sorts `inputs` within `memory`. If the URLs decide where sitemaps begin, `border_count` gives the number of
/// borders for a number of accepted rows.
///
/// # Errors
/// If memory or scratch space runs out, or the run is stopped.
pub fn survey(
    run: Context<'_>,
    inputs: &[Input],
    memory: &Memory,
    border_count: fn(u64) -> usize,
) -> Result<(Account, Layout)> {
    let extents = extents(inputs)?;
    let input_bytes: u64 = extents.iter().map(|(_, extent)| extent.bytes()).sum();
    run.progress.begin(Phase::Survey, input_bytes);
    let plan = Plan::of(memory, run.job.resources.threads.get(), input_bytes);
    let splitters = sample(run, inputs, &extents, plan.ranges, memory)?;
    let Distributed { account, ranges, files, is_held, memory_left } =
        distribute(run, inputs, &extents, &splitters, plan, memory)?;
    run.progress.end();

    run.progress.begin(Phase::Sort, account.tally.entries());
    let is_stable = stable::is_asked(&run.job.rules);
    let search = BorderSearch::new(if is_stable { border_count(account.tally.entries()) } else { 0 });
    // A split copies the entries, and front-coded ones leave more memory for the copy.
    let in_place = is_held && !run.job.rules.is_split();
    let form = if in_place { Form::InPlace } else { Form::FrontCoded };
    let to = Storage::new(memory_left, memory);
    let sorter = || RangeSorter::new(run, &files, form, &to, memory, &search, plan.sorted_rows);
    let Sorted { chunks, rooms, divider } = sort(run, ranges, &files, &splitters, form, sorter)?;
    let mut files = if in_place { files } else { Vec::new() };
    let sorted = to.into_files()?;
    reserve_more(&mut files, sorted.len())?;
    files.extend(sorted);
    run.progress.end();

    let listed = chunks.iter().map(|chunk| u64::from(chunk.listed)).sum();
    let account = account.with_listed(listed);
    let (chunks, sitemaps) = match is_stable {
        true => {
            let borders = search.into_borders();
            let Regions { chunks, rooms, borders } = Regions::of(chunks, rooms, &borders, &files)?;
            let sitemaps = stable::divide(run, &chunks, &rooms, &files, &borders)?;
            (chunks, sitemaps)
        }
        false => (chunks, divider.finish()),
    };
    let (inputs, tally) = (files.into(), account.tally);
    let layout = Layout { inputs, chunks, sitemaps, tally, sections: Vec::new(), recorded: None };
    Ok((account, layout))
}

/// The listed entries in order, and the room that they take.
struct Sorted {
    chunks: Vec<ListedChunk>,
    /// The room of the entries of each chunk.
    rooms: Vec<Room>,
    /// Has divided all entries among sitemaps.
    divider: Divider<EntryAt>,
}

/// Sorts range after range, on all threads, each with its own `sorter`.
fn sort<'r>(
    run: Context<'_>,
    ranges: Vec<Vec<RangeBlock>>,
    files: &[Input],
    splitters: &Splitters,
    form: Form,
    sorter: impl Fn() -> RangeSorter<'r> + Sync,
) -> Result<Sorted> {
    let threads = run.job.resources.threads.get();
    // Ranges are drawn a few ahead of the threads that sort them, in time to prefetch their blocks.
    let ranges = ranges.into_iter().enumerate().inspect(|(_, range)| {
        range.iter().for_each(|block| files[block.at.file].will_need(&block.at.range));
    });
    let work = |sorter: &mut RangeSorter<'_>, (number, range): (usize, Vec<RangeBlock>)| {
        sorter.sort(&range, splitters.prefix(number))
    };
    let mut divider = Divider::new(run.job.rules.sitemap_limits(), &Frame::sitemap(run.job.rules.protocol));
    let (mut chunks, mut rooms) = (Vec::new(), Vec::new());
    ordered(threads, ranges, sorter, work, |range: Result<_>| {
        run.stop.check()?;
        let sorted = range?;
        reserve_more(&mut chunks, sorted.len())?;
        reserve_more(&mut rooms, sorted.len())?;
        for block in sorted {
            run.progress.advance(block.rows());
            let room = block.rooms.iter().copied().sum();
            let entries = block.rooms.iter().enumerate();
            let entries = entries.map(|(ordinal, &room)| (EntryAt { chunk: chunks.len(), ordinal }, room));
            divider.push_together(block.rooms.len() as u32, room, entries)?;
            rooms.push(room);
            let StoredAt { file, range } = block.at;
            let entries = 0..block.rooms.len();
            // Sorted blocks are in other files, which come after those of entries that stay in place.
            let (file, rows) = match form {
                Form::FrontCoded => (file, RowsAt::FrontCoded { block: range, entries }),
                Form::InPlace => (files.len() + file, RowsAt::InPlace { block: range, entries }),
            };
            let chunk = ListedChunk::whole(file, rows, block.rooms.len() as u32)?;
            chunks.push(ListedChunk { least: block.least, ..chunk });
        }
        Ok::<_, Error>(())
    })?;
    Ok(Sorted { chunks, rooms, divider })
}

/// Samples a few rows of many chunks.
fn sample(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    ranges: usize,
    memory: &Memory,
) -> Result<Splitters> {
    let mut judge = Judge::new(run.rules);
    let mut sample = Sample::new(memory.hold / SAMPLE_SHARE);
    if ranges > 1 {
        for (at, extent) in extents.iter().step_by(extents.len().div_ceil(SAMPLED_EXTENTS).max(1)) {
            let chunk = Chunk::of(*at, inputs[*at].bytes(), extent.clone());
            for row in chunk.rows(inputs, 0).take(SAMPLED_ROWS) {
                if let Judged::Entry(entry) = judge.judge(row.content, &mut |_| {}) {
                    sample.push(entry.url.as_bytes())?;
                }
            }
        }
    }
    Ok(Splitters::of_sample(sample.finish(), ranges))
}

/// All rows, judged.
struct Distributed {
    /// The account of the rows, in which nothing is listed yet.
    account: Account,
    /// The blocks of each range, in any order.
    ranges: Vec<Vec<RangeBlock>>,
    /// The files of the blocks.
    files: Vec<Input>,
    /// Whether all blocks are in memory.
    is_held: bool,
    /// Bytes of memory that the blocks have left.
    memory_left: usize,
}

/// The work of a thread: its chunks, the blocks of each range, and notes on its rows.
type OfWorker = (Vec<(usize, AccountedChunk)>, Vec<Vec<RangeBlock>>, Notes);

/// Judges all rows and appends every entry to its range, on all threads.
fn distribute(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    splitters: &Splitters,
    plan: Plan,
    memory: &Memory,
) -> Result<Distributed> {
    let storage = Storage::new(plan.entries_bytes, memory);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = Distributor::new(run, splitters, plan, &storage)?;
        let mut chunks = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((input, extent)) = extents.get(at) else { break };
            run.stop.check()?;
            inputs[*input].come_to(extent.range());
            let chunk = Chunk::of(*input, inputs[*input].bytes(), extent.clone());
            let tally = worker.distribute(at, &chunk, inputs)?;
            reserve_more(&mut chunks, 1)?;
            chunks.push((at, AccountedChunk::new(chunk, tally)));
            run.progress.advance(extent.bytes());
        }
        let notes = worker.judge.take_notes();
        Ok((chunks, worker.finish()?, notes))
    };
    let done: Vec<Result<_>> = std::thread::scope(|scope| {
        // No more of them than there is work for, and none once a signal has come.
        let numbers = 0..run.job.resources.threads.get().min(extents.len().max(1));
        let numbers = numbers.take_while(|_| !run.stop.is_raised());
        let workers: Vec<_> = numbers.map(|_| scope.spawn(work)).collect();
        let joined = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    run.stop.check()?;
    let mut chunks = Vec::new();
    reserve(&mut chunks, extents.len())?;
    let mut ranges = vec![Vec::new(); splitters.ranges()];
    let mut notes = Notes::default();
    for of_worker in done {
        let (own_chunks, own_ranges, own_notes): OfWorker = of_worker?;
        chunks.extend(own_chunks);
        notes.merge(&own_notes);
        for (range, own) in ranges.iter_mut().zip(own_ranges) {
            reserve_more(range, own.len())?;
            range.extend(own);
        }
    }
    chunks.sort_unstable_by_key(|&(at, _)| at);
    let chunks = list(chunks.into_iter().map(|(_, chunk)| chunk))?;
    let (is_held, memory_left) = (storage.is_held(), storage.left());
    let files = storage.into_files()?;
    Ok(Distributed { account: Account::new(chunks, notes), ranges, files, is_held, memory_left })
}
