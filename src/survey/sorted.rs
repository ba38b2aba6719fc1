//! Sorted order: every entry is written to scratch, to the range that its URL belongs to. Ranges are then sorted one by one.
//! The second pass reads the entries where they are: those of one range are close together.
//!
//! There are enough ranges for each of them to be sorted in memory. A range can still be too large, because the sample was not
//! representative or one URL occurs a hundred million times. Such a range is sorted in runs that are merged. Order and
//! duplicates depend only on the bytes of URLs. No hash is needed, and the numbers of ranges and threads do not change the
//! output.

mod range;
mod regions;
mod sample;

use std::sync::atomic::{AtomicUsize, Ordering};

use super::account::{Account, AccountedChunk};
use super::chunk::{Chunk, RowsAt, extents};
use super::context::Context;
use super::judge::{Judge, Judged};
use super::layout::{EntryAt, Layout, ListedChunk};
use super::memory::Memory;
use super::stable;
use super::tally::Tally;
use crate::clean::scope::Origins;
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::error::{Error, Result, list, reserve, reserve_more, try_list};
use crate::intake::input::{Extent, Input};
use crate::intake::scratch::Scratch;
use crate::intake::spool_format::{Block, Content, InputRow, RowBuffer};
use crate::sitemap::divide::{Divider, Room};
use crate::sitemap::xml::Frame;
use crate::survey::sort::{RANGES_MAX, Splitters};
use range::{RangeBlock, RangeSorter};
use regions::{BorderSearch, Regions};
use sample::Sample;

/// Bytes of the rows of one range that a thread buffers and writes together.
const BUFFER_BYTES: usize = 16 * 1024;

/// Room of such a buffer: its last row may exceed [`BUFFER_BYTES`].
const BUFFER_ROOM_BYTES: usize = BUFFER_BYTES + 4 * 1024;

/// Maximum bytes of a range, so that its rows and the data that sorts them stay close to the cache.
const RANGE_BYTES: usize = 4 << 20;

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
    let ranges = ranges(memory, run.job.resources.threads.get(), input_bytes);
    let splitters = sample(run, inputs, &extents, ranges, memory)?;
    let Distributed { account, ranges, mut files } = distribute(run, inputs, &extents, &splitters, memory)?;
    run.progress.end();

    run.progress.begin(Phase::Sort, account.tally.entries());
    let to = Scratch::new(&memory.scratch)?;
    let is_stable = stable::is_asked(&run.job.rules);
    let search = BorderSearch::new(if is_stable { border_count(account.tally.entries()) } else { 0 });
    let sorter = || {
        let bytes_max = 4 * range_bytes(memory, run.job.resources.threads.get());
        RangeSorter::new(run, &files, &to, &search, bytes_max)
    };
    let Sorted { chunks, rooms, divider } = sort(run, ranges, &files, &splitters, sorter)?;
    run.progress.end();

    let listed = chunks.iter().map(|chunk| u64::from(chunk.listed)).sum();
    let account = account.with_listed(listed);
    files.insert(0, to.map_file()?);
    let (chunks, sitemaps) = match is_stable {
        true => {
            let borders = search.into_borders();
            let Regions { chunks, rooms, borders } = Regions::of(chunks, rooms, &borders, &files)?;
            let sitemaps = stable::divide(run, &chunks, &rooms, &files, &borders)?;
            (chunks, sitemaps)
        }
        false => (chunks, divider.finish()),
    };
    let layout = Layout { inputs: files.into(), chunks, sitemaps, tally: account.tally };
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
    sorter: impl Fn() -> RangeSorter<'r> + Sync,
) -> Result<Sorted> {
    let threads = run.job.resources.threads.get();
    // Ranges are drawn a few ahead of the threads that sort them, in time to prefetch their blocks.
    let ranges = ranges.into_iter().enumerate().inspect(|(_, range)| {
        range.iter().for_each(|(file, block)| files[*file].will_need(&block.range));
    });
    let work = |sorter: &mut RangeSorter<'_>, (number, range): (usize, Vec<RangeBlock>)| {
        // The second pass reads the same blocks again.
        let blocks = list(range.iter().map(|(file, block)| (*file, block.range.clone())))?;
        Ok((blocks, sorter.sort(range, splitters.shared(number))?))
    };
    let mut divider = Divider::new(run.job.rules.sitemap_limits(), &Frame::sitemap(run.job.rules.protocol));
    let (mut chunks, mut rooms) = (Vec::new(), Vec::new());
    ordered(threads, ranges, sorter, work, |range: Result<_>| {
        run.stop.check()?;
        let (mut blocks, sorted) = range?;
        reserve_more(&mut chunks, sorted.len())?;
        reserve_more(&mut rooms, sorted.len())?;
        for block in sorted {
            run.progress.advance(block.rows());
            let room = block.rooms.iter().copied().sum();
            let entries = block.rooms.iter().enumerate();
            let entries = entries.map(|(ordinal, &room)| (EntryAt { chunk: chunks.len(), ordinal }, room));
            divider.push_together(block.rooms.len() as u32, room, entries)?;
            rooms.push(room);
            let rows = RowsAt::Positions { range: block.positions, blocks: std::mem::take(&mut blocks) };
            let chunk = ListedChunk::whole(rows, block.rooms.len() as u32)?;
            chunks.push(ListedChunk { least: block.least, ..chunk });
        }
        Ok::<_, Error>(())
    })?;
    Ok(Sorted { chunks, rooms, divider })
}

/// The planned bytes of a range: every thread must be able to sort one in memory.
fn range_bytes(memory: &Memory, threads: usize) -> usize {
    (memory.hold / (4 * threads)).min(RANGE_BYTES)
}

/// The maximum number of ranges for `input_bytes`: each thread has a buffer for every range.
pub fn ranges(memory: &Memory, threads: usize, input_bytes: u64) -> usize {
    let ranges_max = (memory.hold / (2 * threads * BUFFER_ROOM_BYTES)).clamp(1, RANGES_MAX);
    (input_bytes / range_bytes(memory, threads) as u64 + 1).min(ranges_max as u64) as usize
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
    /// The entries of each range, in any order. The line of an entry is its place in the input.
    ranges: Vec<Vec<RangeBlock>>,
    /// The scratch files of the entries, one per thread: two threads that write to one file would wait for each other.
    files: Vec<Input>,
}

/// The work of a thread: its chunks, the blocks of each range, their scratch file, and origins out of scope.
type OfWorker = (Vec<(usize, AccountedChunk)>, Vec<Vec<Block>>, Input, Origins);

/// Judges all rows and appends every entry to its range, on all threads.
fn distribute(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    splitters: &Splitters,
    memory: &Memory,
) -> Result<Distributed> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut worker = Distributor::new(run, splitters, memory)?;
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
        let out_of_scope = worker.judge.take_out_of_scope();
        let (ranges, scratch) = worker.finish()?;
        Ok((chunks, ranges, scratch.map_file()?, out_of_scope))
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
    let mut files = Vec::new();
    let mut out_of_scope = Origins::default();
    for (file, of_worker) in done.into_iter().enumerate() {
        let (own_chunks, own_ranges, own_file, own_out_of_scope): OfWorker = of_worker?;
        chunks.extend(own_chunks);
        out_of_scope.merge(&own_out_of_scope);
        for (range, own) in ranges.iter_mut().zip(own_ranges) {
            reserve_more(range, own.len())?;
            range.extend(own.into_iter().map(|block| (file, block)));
        }
        files.push(own_file);
    }
    chunks.sort_unstable_by_key(|&(at, _)| at);
    let chunks = list(chunks.into_iter().map(|(_, chunk)| chunk))?;
    Ok(Distributed { account: Account::new(chunks, out_of_scope), ranges, files })
}

/// Judges rows and appends entries to ranges.
struct Distributor<'r> {
    judge: Judge<'r>,
    splitters: &'r Splitters,
    scratch: Scratch,
    ranges: Vec<(RowBuffer, Vec<Block>)>,
}

impl<'r> Distributor<'r> {
    fn new(run: Context<'r>, splitters: &'r Splitters, memory: &Memory) -> Result<Self> {
        let range = |_| Ok((RowBuffer::with_room(BUFFER_ROOM_BYTES)?, Vec::new()));
        let ranges = try_list((0..splitters.ranges()).map(range))?;
        let scratch = Scratch::new(&memory.scratch)?;
        Ok(Self { judge: Judge::new(run.rules), splitters, scratch, ranges })
    }

    /// Distributes the entries of the `at`th chunk, and counts its rows.
    fn distribute(&mut self, at: usize, chunk: &Chunk, inputs: &[Input]) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut place = (at as u64) << u16::BITS;
        chunk.try_for_each_row(inputs, |row| {
            let distributed = self.judge.tally(row.content, &mut tally, |entry| {
                let range = self.splitters.range_of(entry.url.as_bytes());
                let (buffer, blocks) = &mut self.ranges[range];
                buffer.push(&InputRow { line: place, offset: 0, content: Content::Entry(entry) });
                if buffer.is_full(BUFFER_BYTES) {
                    reserve_more(blocks, 1)?;
                    blocks.push(buffer.end_block(self.scratch.append(buffer.bytes())?));
                }
                place += 1;
                Ok(())
            });
            distributed.unwrap_or(Ok(()))
        })?;
        Ok(tally)
    }

    fn finish(self) -> Result<(Vec<Vec<Block>>, Scratch)> {
        let finish = |(mut buffer, mut blocks): (RowBuffer, Vec<Block>)| {
            if !buffer.bytes().is_empty() {
                reserve_more(&mut blocks, 1)?;
                blocks.push(buffer.end_block(self.scratch.append(buffer.bytes())?));
            }
            Ok(blocks)
        };
        let ranges = self.ranges.into_iter().map(finish).collect::<Result<_>>()?;
        Ok((ranges, self.scratch))
    }
}
