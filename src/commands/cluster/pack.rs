//! Pack: judges the rows of a partition, and writes the accepted ones into blocks.
//!
//! Rows of similar URLs go to the same block. Most blocks then belong to one region as a whole, whatever the regions will be, and
//! they are smaller.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::block;
use super::order::{Provenance, WorkOrder, read_json, to_json};
use super::reading::read;
#[cfg(feature = "parquet")]
use super::reading::{RowGroups, read_row_groups};
use super::spread::Spread;
use crate::clean::Reason;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::escape;
use crate::intake::format::{Record, Sink};
use crate::intake::source::Source;
use crate::intake::spool_format::{self, Block, Content, InputRow, RowBuffer};
use crate::job::Job;
use crate::sitemap::divide::borders::{BorderHash, Smallest};
use crate::sitemap::entry::Entry;
use crate::sitemap::tags::{GivenTags, RawTags};
use crate::survey::judge::{Judge, Rules};
use crate::survey::notes::Notes;
use crate::survey::rejects::{Example, Reject, SAMPLES, rejects_of};
use crate::survey::splitters::Splitters;
use crate::survey::tally::Tally;

/// Bytes of the rows of a block: large enough for a shuffle, small enough for any message. A block ends with the row that reaches
/// them, so that a buffer, which doubles as it grows, has twice as many only if that row is large.
pub(super) const BLOCK_BYTES: usize = 256 * 1024 - 4 * 1024;

/// Number of ranges of URLs of a task. A block is opened on its way to the regions only if a border is in its range.
const RANGES: usize = 256;

/// Bytes that the blocks of all ranges hold.
const HELD_BYTES: usize = RANGES * 256 * 1024;

/// The first bytes of rows, from whose URLs the ranges are chosen.
const HEAD_BYTES: usize = 8 << 20;

/// URLs from which a range is chosen.
const SAMPLED_PER_RANGE: usize = 32;

/// Number of border candidates that a task collects before it knows its number of rows.
const CANDIDATES_COLLECTED: usize = 16 * 1024;

/// Minimum number of border candidates per task, and number per million rows: eight times as many as a task contributes on
/// average, so that the driver hardly ever needs more for borders. It also chooses cuts from them: four tasks report enough for
/// most of these.
const CANDIDATES_MIN: usize = 128;
const CANDIDATES_PER_MILLION: u64 = 8;

/// The result of packing one partition: counts of its rows by outcome, and border candidates. The engine collects the results of
/// all [`pack`] tasks, each exactly once, and gives them to the driver. Their size does not depend on the number of rows: usually
/// about ten kilobytes, and at most a few hundred.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Packed {
    pub(super) provenance: Provenance,
    pub(super) tally: Tally,
    pub(super) given: GivenTags,
    /// The sum of the hashes of all accepted rows.
    pub(super) sum: u64,
    /// Bytes of the source.
    pub(super) bytes: u64,
    /// The first rows of each reason.
    pub(super) examples: Examples,
    pub(super) notes: Notes,
    pub(super) candidates: Smallest,
}

impl Packed {
    /// Returns the number of rows of the partition.
    pub fn rows(&self) -> u64 {
        self.tally.lines
    }

    /// Returns the number of accepted rows, including duplicates: all rows in the blocks of the partition.
    pub fn accepted(&self) -> u64 {
        self.tally.entries()
    }

    /// Writes the result as JSON, to be passed to other processes.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads the JSON that [`Packed::to_json`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it is damaged, or written by another version of sitemill.
    pub fn from_json(json: &str) -> Result<Self> {
        read_json(json, "a result of pack")
    }
}

/// Reads all rows of `source`, one partition of the input, and calls `emit` with blocks of those that are accepted. Each block is
/// at most about a megabyte and can be sent to any process; [`Router::push`](super::Router::push) takes it. Rows may be
/// partitioned in any way. They are read once, on the calling thread, in constant memory.
///
/// `candidates` is the least number of border candidates in the result: 0, or the number for which the driver
/// [asks](super::Planned::MoreCandidates).
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if `job` has other rules than the job of the driver; if the source cannot be
/// read, `emit` fails, or `stop` is raised. The engine may run the task again and must then drop all blocks of the first attempt.
pub fn pack(
    job: &Job,
    work_order: &WorkOrder,
    source: Source<'_>,
    candidates: usize,
    emit: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    stop: &Stop,
) -> Result<Packed> {
    let name = name_of(source.name());
    let read = |packer: &mut Packer<'_, '_>| {
        packer.name = name;
        read(job, source, stop, packer)
    };
    pack_all(job, work_order, candidates, Some(emit), read)
}

/// Counts the rows of `partition` and finds border candidates, as [`pack`] does with the rows of a source, but makes no blocks. A
/// task can read the rows once more when the plan is known ([`send_row_groups`](super::send_row_groups)), so that none has to be
/// kept meanwhile.
///
/// # Errors
/// As [`pack`]; also if a file has no such row group.
#[cfg(feature = "parquet")]
pub fn count_row_groups(
    job: &Job,
    work_order: &WorkOrder,
    partition: &[RowGroups],
    candidates: usize,
    stop: &Stop,
) -> Result<Packed> {
    pack_all(job, work_order, candidates, None, |packer| {
        partition.iter().try_fold(0, |bytes, groups| {
            packer.name = name_of(&groups.path);
            Ok(bytes + read_row_groups(job, groups, stop, packer)?)
        })
    })
}

/// Packs all rows that `read` passes to the packer. It returns the number of their bytes.
fn pack_all<'e>(
    job: &Job,
    work_order: &WorkOrder,
    candidates: usize,
    emit: Option<&'e mut dyn FnMut(Vec<u8>) -> Result<()>>,
    read: impl FnOnce(&mut Packer<'_, 'e>) -> Result<u64>,
) -> Result<Packed> {
    work_order.check(job)?;
    let rules = Rules::of(job);
    let packed = Packed {
        provenance: work_order.provenance.clone(),
        tally: Tally::default(),
        given: GivenTags::default(),
        sum: 0,
        bytes: 0,
        examples: Examples::default(),
        notes: Notes::default(),
        candidates: Smallest::new(CANDIDATES_COLLECTED.max(candidates)),
    };
    let stamp = work_order.provenance.stamp();
    let (judge, teller) = (Judge::new(&rules), Judge::new(&rules));
    let blocks = emit.map(|emit| Blocks { head: RowBuffer::default(), spread: None, stamp, emit });
    let mut packer = Packer { judge, teller, name: String::new(), blocks, packed };
    let bytes = read(&mut packer)?;
    let Packer { mut packed, mut judge, blocks, .. } = packer;
    (packed.bytes, packed.notes) = (bytes, judge.take_notes());
    blocks.map_or(Ok(()), Blocks::finish)?;
    let wanted = (CANDIDATES_PER_MILLION * packed.accepted() / 1_000_000) as usize;
    let mut kept = Smallest::new(wanted.max(CANDIDATES_MIN).max(candidates));
    kept.merge(packed.candidates)?;
    Ok(Packed { candidates: kept, ..packed })
}

/// The name of a source in examples, escaped.
fn name_of(name: &Path) -> String {
    escape::shown(name.as_os_str().as_encoded_bytes())
}

/// Judges rows, and fills blocks unless it only counts.
struct Packer<'r, 'e> {
    judge: Judge<'r>,
    /// Judges the rows of examples a second time, without counting them.
    teller: Judge<'r>,
    /// The name of the source in examples.
    name: String,
    blocks: Option<Blocks<'e>>,
    packed: Packed,
}

impl Packer<'_, '_> {
    /// Always inlined: reading a row that was copied through memory would wait for all writes of the row before.
    #[inline(always)]
    fn row(&mut self, row: InputRow<'_>) -> Result<()> {
        let Self { judge, blocks, packed, .. } = self;
        let Packed { tally, given, candidates, sum, .. } = packed;
        let Tally { blank, excluded, .. } = *tally;
        let has_tags = matches!(row.content, Content::Url(_, tags) if !tags.is_empty());
        let dropped = has_tags.then_some(tally.dropped);
        let accepted = judge.tally(row.content, tally, |entry| {
            let url = BorderHash::of(entry.url.as_bytes());
            candidates.push_hashed(url, entry.url.as_bytes())?;
            let hash = block::hash_with(url, &entry);
            *sum = sum.wrapping_add(hash);
            blocks.as_mut().map_or(Ok(()), |blocks| blocks.push(&entry, hash))
        });
        let is_accepted = accepted.transpose()?.is_some();
        if let Content::Url(_, tags) = row.content {
            tags.count(if is_accepted { &mut given.of_entries } else { &mut given.of_rejected });
        }
        let tally = &packed.tally;
        let is_rejected = !is_accepted && blank == tally.blank && excluded == tally.excluded;
        let lost = is_rejected || dropped.is_some_and(|dropped| dropped != tally.dropped);
        let is_excluded = excluded != tally.excluded && excluded < EXCLUDED_MAX;
        if lost && !packed.examples.are_full(&packed.tally) || is_excluded {
            rejects_of(row, &mut self.teller)
                .into_iter()
                .for_each(|reject| packed.examples.add(&self.name, &reject));
        }
        Ok(())
    }
}

/// The blocks of a partition.
struct Blocks<'e> {
    /// The first entries, until the ranges are known.
    head: RowBuffer,
    spread: Option<Spread>,
    stamp: u64,
    emit: &'e mut dyn FnMut(Vec<u8>) -> Result<()>,
}

impl Blocks<'_> {
    fn push(&mut self, entry: &Entry<'_>, hash: u64) -> Result<()> {
        match &mut self.spread {
            Some(spread) => spread.push(entry, hash, &mut |_, block| (self.emit)(block)),
            None => {
                self.head.push_entry(entry);
                if self.head.bytes().len() >= HEAD_BYTES { self.spread_head(RANGES) } else { Ok(()) }
            }
        }
    }

    /// Chooses up to `ranges` ranges, and moves the first entries there.
    fn spread_head(&mut self, ranges: usize) -> Result<()> {
        let head = std::mem::take(&mut self.head);
        let whole = Block::alone(0..head.bytes().len());
        let entries = || spool_format::rows(head.bytes(), &whole).filter_map(|row| row.content.entry());
        let distance = (head.rows() / (ranges * SAMPLED_PER_RANGE)).max(1);
        let sample = entries().step_by(distance).map(|entry| entry.url.as_bytes().to_vec());
        let splitters = match ranges {
            1 => Splitters::of_sorted(Vec::new()),
            _ => Splitters::of_sample(sample.collect(), ranges),
        };
        self.spread = Some(Spread::new(splitters, |_| self.stamp, BLOCK_BYTES, HELD_BYTES)?);
        entries().try_for_each(|entry| self.push(&entry, block::hash_of(&entry)))
    }

    /// Ends all blocks.
    fn finish(mut self) -> Result<()> {
        if self.spread.is_none() {
            self.spread_head(self.head.bytes().len() / BLOCK_BYTES + 1)?;
        }
        let Self { spread, emit, .. } = self;
        spread.map_or(Ok(()), |mut spread| spread.emit_all(&mut |_, block| emit(block)))
    }
}

impl Sink for Packer<'_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.row(row_of(record))
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.row(InputRow { line, offset, content: Content::Bad(text, reason) })
    }
}

pub(super) fn row_of<'a>(record: &Record<'a>) -> InputRow<'a> {
    let &Record { line, offset, url, section, lastmod, changefreq, priority, extras } = record;
    InputRow {
        line,
        offset,
        content: Content::Url(url, RawTags { lastmod, changefreq, priority, extras, section }),
    }
}

/// The first excluded rows of a partition, which are examples of the rules that exclude them.
const EXCLUDED_MAX: u64 = 64;

/// The first rows of each reason, up to a maximum.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Examples(BTreeMap<String, Vec<Example>>);

impl Examples {
    /// Whether there are enough examples of every reason in `tally`.
    fn are_full(&self, tally: &Tally) -> bool {
        let is_full = |word: &str| self.of(word).len() == SAMPLES;
        tally.rejected.iter().all(|(reason, _)| is_full(reason.as_str()))
            && tally.dropped.iter().all(|(reason, _)| is_full(reason.as_str()))
    }

    fn add(&mut self, input: &str, reject: &Reject<'_>) {
        let known = self.0.entry(reject.reason.into()).or_default();
        if known.len() < SAMPLES {
            known.push(reject.to_example(input));
        }
    }

    /// Adds the examples of another partition.
    pub fn merge(&mut self, more: &Self) {
        for (reason, examples) in &more.0 {
            let known = self.0.entry(reason.clone()).or_default();
            known.extend(examples.iter().take(SAMPLES.saturating_sub(known.len())).cloned());
        }
    }

    /// The examples of a reason.
    pub fn of(&self, reason: &str) -> &[Example] {
        self.0.get(reason).map_or(&[], Vec::as_slice)
    }
}
