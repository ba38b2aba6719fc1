//! Sorted order, in three steps:
//!
//! 1. *Distribute*: every entry is added to the range that its URL belongs to, without the prefix that all URLs of the range share.
//! 2. *Sort*: ranges are sorted one by one, and duplicates are dropped. If all entries are in memory, they stay in place, and the
//!    result is their positions in order. Otherwise, they are front-coded: each URL is stored without the bytes that it shares
//!    with the one before.
//! 3. *Divide*: sorted blocks are divided among sitemaps. The second pass reads them from start to end.
//!
//! Entries are held in memory as long as there is room. The rest spills to scratch, which stays in the page cache if possible.
//!
//! If the live set was made by the same rules, its ranges are reused, and only those whose rows have changed are sorted
//! ([`reuse`](mod@reuse)). For that, the rows of each range are sealed while they are distributed.
//!
//! There are enough ranges for each of them to be sorted in memory. A range can still be too large, because the sample was not
//! representative or one URL occurs a hundred million times. Such a range is sorted in runs that are merged. Order and
//! duplicates depend only on the bytes of URLs. No hash is needed, and the numbers of ranges and threads do not change the
//! output.

mod arrived;
mod cuts;
mod distributor;
mod duplicates;
mod listed;
mod live;
mod plan;
mod range;
mod regions;
mod reuse;
mod rows;
mod sample;
mod seals;
mod sorting;
mod store;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::account::{Account, AccountedChunk};
use super::chunk::{Chunk, extents};
use super::context::Context;
use super::judge::{Judge, Judged};
use super::layout::{Layout, Sealed, SitemapSource};
use super::memory::Memory;
use super::notes::Notes;
use super::stable;
use super::tally::Tally;
use crate::common::fallible::{list, reserve, reserve_more};
use crate::common::progress::Phase;
use crate::common::secret::Secret;
use crate::common::thread_pool::on_threads;
use crate::error::Result;
use crate::intake::input::{Extent, Input};
use crate::sitemap::divide::stable::Halt;
use crate::survey::splitters::Splitters;
pub use arrived::{Arriving, RegionRows};
use cuts::Cuts;
use distributor::Distributor;
use listed::BlockFormat;
pub use live::{Live, Sealing};
pub use plan::Plan;
use regions::{BorderSearch, Regions};
use reuse::{Divided, reuse};
use rows::RangeRows;
use sample::Sample;
use sorting::Sorting;
pub use store::{EntryStore, SEGMENT_BYTES, Storage, StoredAt};

/// Maximum number of chunks that are sampled, and of rows of each: enough to place splitters to a thousandth of a range.
const SAMPLED_EXTENTS: usize = 4096;
const SAMPLED_ROWS: usize = 16;

/// The sample takes at most this fraction (a fourth) of memory.
const SAMPLE_SHARE: usize = 4;

/// Surveys and sorts `inputs` within `memory`. If the URLs decide where sitemaps begin, `border_count` gives the number of
/// borders for a number of accepted rows. With `sealing`, the rows are sealed, and sitemaps of the live set that have not changed
/// are reused.
///
/// # Errors
/// If memory or scratch space runs out, or the run is stopped.
pub fn survey(
    run: Context<'_>,
    inputs: &[Input],
    memory: &Memory,
    border_count: fn(u64) -> usize,
    sealing: Option<Sealing<'_>>,
) -> Result<(Account, Layout)> {
    let extents = extents(inputs)?;
    let input_bytes: u64 = extents.iter().map(|(_, extent)| extent.bytes()).sum();
    let phase = run.progress.phase(Phase::Survey, input_bytes);
    let plan = Plan::of(memory, run.job.resources.threads.get(), input_bytes);
    let sample = sample(run, inputs, &extents, plan.ranges, memory)?;
    let live = sealing.and_then(|sealing| {
        let live = sealing.live?;
        Some((live, live.splitters(&sample, plan.ranges)?))
    });
    let (live, splitters) = live.map_or_else(
        || (None, Splitters::of_sample(sample, plan.ranges)),
        |(live, splitters)| (Some(live), splitters),
    );
    let plan = plan.with_ranges(splitters.ranges(), run.job.resources.threads.get());
    let secret = sealing.map(|sealing| sealing.shelf.secret());
    let Distributed { account, ranges, files, is_held, memory_left } =
        distribute(run, inputs, &extents, &splitters, plan, memory, secret)?;
    drop(phase);

    let format = BlockFormat::of(run, is_held);
    let prefixes = list((0..ranges.len()).map(|range| splitters.prefix(range)))?;
    let mut sorting =
        Sorting::new(run, (&ranges, files), prefixes, format, plan.sorted_rows, (memory, memory_left));
    let border_count = run.job.rules.divides_whole_set_stably().then_some(border_count);
    let divided = match live.zip(sealing) {
        Some((live, sealing)) => reuse(&mut sorting, live, sealing.shelf, border_count)?,
        None => None,
    };
    let Divided { chunks, sitemaps, kept, listed, by_order, candidates } = match divided {
        Some(divided) => divided,
        None => sort_all(&mut sorting, border_count)?,
    };
    let has_news = sitemaps.iter().any(|sitemap| sitemap.news > 0);
    let sealed = match sealing.filter(|_| !has_news) {
        Some(_) => {
            let ranges = live::record(&splitters, &ranges, &by_order)?;
            Some(Sealed { ranges, candidates })
        }
        None => None,
    };
    let account = account.with_listed(listed);
    let inputs = sorting.into_chunk_files().into();
    let layout = Layout { kept, sealed, ..Layout::new(inputs, chunks, sitemaps, account.tally) };
    Ok((account, layout))
}

/// Sorts the rows of one region of a set, whose counts are in `tally`.
///
/// # Errors
/// If memory or scratch space runs out, or the run is stopped.
pub fn survey_region(run: Context<'_>, rows: RegionRows, tally: Tally) -> Result<Layout> {
    let (sorted_rows, memory_left) = rows.room(run.job.resources.threads.get());
    let RegionRows { ranges, prefixes, files, is_held, memory } = rows;
    let format = BlockFormat::of(run, is_held);
    let prefixes = list(prefixes.iter().map(Vec::as_slice))?;
    let mut sorting =
        Sorting::new(run, (&ranges, files), prefixes, format, sorted_rows, (&memory, memory_left));
    let no_borders: fn(u64) -> usize = |_| 0;
    let Divided { chunks, sitemaps, listed, .. } =
        sort_all(&mut sorting, run.job.rules.divides_whole_set_stably().then_some(no_borders))?;
    Ok(Layout::new(sorting.into_chunk_files().into(), chunks, sitemaps, tally.with_listed(listed)))
}

/// Sorts all ranges, and divides their entries.
fn sort_all(sorting: &mut Sorting<'_>, border_count: Option<fn(u64) -> usize>) -> Result<Divided> {
    let run = sorting.run;
    let rows = sorting.ranges.iter().map(|range| range.rows() as u64).sum();
    let phase = run.progress.phase(Phase::Sort, rows);
    let borders = border_count.map_or(0, |count| count(rows));
    let search = BorderSearch::new(borders);
    let to = sorting.storage();
    let (mut collector, mut by_order) = (sorting.collector(), Vec::new());
    let all = list(0..sorting.ranges.len())?;
    let sorted = sorting.sort(
        &all,
        |_| Cuts::default(),
        &search,
        &to,
        |range, sorted| {
            by_order.extend(sorted.is_by_order.then_some(range));
            sorted.blocks.into_iter().try_for_each(|block| collector.push(block)).map_err(Halt::Failed)
        },
    );
    sorted.map_err(Halt::into_error)?;
    sorting.set_sorted(to.into_files()?)?;
    drop(phase);
    let listed = collector.chunks.iter().map(|chunk| u64::from(chunk.listed)).sum();
    let candidates = search.into_candidates();
    let (chunks, sitemaps) = match border_count {
        Some(_) => {
            let borders = candidates.clone().map_or(Some(Vec::new()), |all| all.into_borders(borders));
            let borders = borders.expect("as many were sought");
            let files = sorting.chunk_files();
            let Regions { chunks, sizes, borders } =
                Regions::of(collector.chunks, collector.sizes, &borders, files)?;
            let sitemaps = stable::divide(run, &chunks, &sizes, files, &borders)?;
            (chunks, sitemaps)
        }
        None => {
            let sitemaps = collector.divider.finish().into_iter();
            (collector.chunks, list(sitemaps.map(|sitemap| sitemap.map_first(SitemapSource::entry)))?)
        }
    };
    Ok(Divided { chunks, sitemaps, kept: Vec::new(), listed, by_order, candidates })
}

/// Samples a few rows of many chunks.
fn sample(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    ranges: usize,
    memory: &Memory,
) -> Result<Vec<Vec<u8>>> {
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
    Ok(sample.finish())
}

/// All rows, judged.
struct Distributed {
    /// The account of the rows, in which nothing is listed yet.
    account: Account,
    /// The rows of each range.
    ranges: Vec<RangeRows>,
    /// The files of the blocks.
    files: Vec<Input>,
    /// Whether all blocks are in memory.
    is_held: bool,
    /// Bytes of memory that the blocks have left.
    memory_left: usize,
}

/// The work of a thread: its chunks, the rows of each range, and notes on its rows.
type OfWorker = (Vec<(usize, AccountedChunk)>, Vec<RangeRows>, Notes);

/// Judges all rows and appends every entry to its range, on all threads. They are sealed with `secret`, if there is one.
fn distribute(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    splitters: &Splitters,
    plan: Plan,
    memory: &Memory,
    secret: Option<&Secret>,
) -> Result<Distributed> {
    let storage = Storage::new(plan.entries_bytes, memory);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = Distributor::new(run, splitters, plan, &storage, secret)?;
        let (mut chunks, mut notes) = (Vec::new(), Notes::default());
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((input, extent)) = extents.get(at) else { break };
            run.stop.check()?;
            inputs[*input].prefetch_ahead_of(extent.range());
            let chunk = Chunk::of(*input, inputs[*input].bytes(), extent.clone());
            let tally = worker.distribute(at, &chunk, inputs)?;
            reserve_more(&mut chunks, 1)?;
            let own = worker.judge.take_notes();
            chunks.push((at, AccountedChunk::new(chunk, tally, own.rules.rules())));
            notes.merge(&own);
            run.progress.advance(extent.bytes());
        }
        Ok((chunks, worker.finish()?, notes))
    };
    // No more threads than there is work for.
    let threads = run.job.resources.threads.get().min(extents.len());
    let done = on_threads(threads, run.stop, work)?;
    run.stop.check()?;
    let mut chunks = Vec::new();
    reserve(&mut chunks, extents.len())?;
    let mut ranges = list((0..splitters.ranges()).map(|_| RangeRows::default()))?;
    let mut notes = Notes::default();
    for of_worker in done {
        let (own_chunks, own_ranges, own_notes): OfWorker = of_worker?;
        chunks.extend(own_chunks);
        notes.merge(&own_notes);
        ranges.iter_mut().zip(own_ranges).try_for_each(|(range, own)| range.add(own))?;
    }
    chunks.sort_unstable_by_key(|&(at, _)| at);
    let chunks = list(chunks.into_iter().map(|(_, chunk)| chunk))?;
    let (is_held, memory_left) = (storage.is_held(), storage.left());
    let files = storage.into_files()?;
    Ok(Distributed { account: Account::new(chunks, notes), ranges, files, is_held, memory_left })
}
