//! Judges rows and appends their entries to the ranges of their URLs.

use super::plan::Plan;
use super::rows::{RangeRows, RangeWriter};
use super::seals::RowSealer;
use super::store::{EntryStore, Storage};
use crate::clean::CleanUrl;
use crate::common::array;
use crate::common::fallible::{list, try_list};
use crate::common::prefetch;
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::input::Input;
use crate::intake::spool_format::Content;
use crate::sitemap::entry::Entry;
use crate::survey::chunk::Chunk;
use crate::survey::context::Context;
use crate::survey::judge::Judge;
use crate::survey::splitters::Splitters;
use crate::survey::tally::Tally;

/// Judges rows and appends entries to ranges.
pub struct Distributor<'r> {
    /// Notes on its rows are taken from it.
    pub judge: Judge<'r>,
    stop: &'r Stop,
    splitters: &'r Splitters,
    store: EntryStore<'r>,
    /// A block of this many bytes is stored.
    block_bytes: usize,
    ranges: Vec<RangeWriter>,
    /// Hashes the rows, if they are to be sealed.
    sealer: Option<RowSealer<'r>>,
}

impl<'r> Distributor<'r> {
    /// A distributor with an empty buffer for each range. Rows are sealed with `secret`, if there is one.
    ///
    /// # Errors
    /// If there is no memory for the buffers.
    pub fn new(
        run: Context<'r>,
        splitters: &'r Splitters,
        plan: Plan,
        storage: &'r Storage<'r>,
        secret: Option<&'r Secret>,
    ) -> Result<Self> {
        let writer = |range| RangeWriter::new(splitters.prefix(range).len(), plan.buffer_room_bytes());
        let ranges = try_list((0..splitters.ranges()).map(writer))?;
        let (judge, store) = (Judge::new(run.rules), storage.store());
        let sealer = secret.map(RowSealer::new);
        let stop = run.stop;
        Ok(Self { judge, stop, splitters, store, block_bytes: plan.block_bytes, ranges, sealer })
    }

    /// Distributes the entries of the `at`th chunk, and counts its rows.
    ///
    /// # Errors
    /// If a block cannot be stored.
    pub fn distribute(&mut self, at: usize, chunk: &Chunk, inputs: &'r [Input]) -> Result<Tally> {
        let mut tally = Tally::default();
        let mut place = (at as u64) << u16::BITS;
        let mut waiting: Vec<Entry<'_>> = Vec::with_capacity(TOGETHER);
        chunk.lines(inputs).iter().for_each(|lines| self.judge.begin_lines(lines));
        chunk.try_for_each_row(inputs, |row| {
            let Self { judge, stop, splitters, store, block_bytes, ranges, sealer } = self;
            stop.check_at(tally.lines)?;
            let mut to = Ranges { splitters, store, block_bytes: *block_bytes, ranges, sealer };
            let distributed =
                judge.tally(row.content, &mut tally, |entry| match of_input(&entry, row.content) {
                    Some(entry) => {
                        waiting.push(entry);
                        if waiting.len() < TOGETHER { Ok(()) } else { to.push_all(&mut place, &mut waiting) }
                    }
                    None => {
                        to.push_all(&mut place, &mut waiting)?;
                        to.push(&mut place, to.splitters.range_of(entry.url.as_bytes()), &entry)
                    }
                });
            distributed.unwrap_or(Ok(()))
        })?;
        let Self { splitters, store, block_bytes, ranges, sealer, .. } = self;
        let mut to = Ranges { splitters, store, block_bytes: *block_bytes, ranges, sealer };
        to.push_all(&mut place, &mut waiting)?;
        Ok(tally)
    }

    /// The rows of each range.
    ///
    /// # Errors
    /// If a block cannot be stored.
    pub fn finish(mut self) -> Result<Vec<RangeRows>> {
        self.ranges.iter_mut().try_for_each(|range| range.end_block(&mut self.store))?;
        list(self.ranges.into_iter().map(RangeWriter::into_rows))
    }
}

/// The entry of a row as the input has it; `None` if it had to be changed. It can wait, because it lasts as long as the input.
#[inline]
fn of_input<'i>(entry: &Entry<'_>, content: Content<'i>) -> Option<Entry<'i>> {
    match content {
        Content::Entry(entry) => Some(entry),
        Content::Url(raw, _) if entry.is_plain() && entry.url.is(raw) => {
            Some(Entry::of(CleanUrl::known(raw, entry.url.may_grow())))
        }
        Content::Url(..) | Content::Bad(..) => None,
    }
}

/// Entries whose ranges are found together.
const TOGETHER: usize = 16;

/// Appends entries to their ranges.
struct Ranges<'d, 'r> {
    splitters: &'d Splitters,
    store: &'d mut EntryStore<'r>,
    block_bytes: usize,
    ranges: &'d mut [RangeWriter],
    sealer: &'d mut Option<RowSealer<'r>>,
}

impl Ranges<'_, '_> {
    /// Appends `waiting` entries, and empties the list. The first one gets `place`, which is advanced.
    #[inline]
    fn push_all(&mut self, place: &mut u64, waiting: &mut Vec<Entry<'_>>) -> Result<()> {
        match waiting.first_chunk::<TOGETHER>() {
            Some(entries) => {
                let urls = array::from_fn(|nth| entries[nth].url.as_bytes());
                let of_entries: [_; TOGETHER] = self.splitters.ranges_of(urls);
                // Of many ranges that take turns, no first-level cache holds all.
                of_entries.iter().for_each(|&range| prefetch::fetch(&self.ranges[range]));
                of_entries.iter().for_each(|&range| self.ranges[range].fetch());
                for (entry, range) in entries.iter().zip(of_entries) {
                    self.push(place, range, entry)?;
                }
            }
            None => {
                for entry in &*waiting {
                    self.push(place, self.splitters.range_of(entry.url.as_bytes()), entry)?;
                }
            }
        }
        waiting.clear();
        Ok(())
    }

    /// Appends the entry of the row at `place`, which is advanced.
    #[inline]
    fn push(&mut self, place: &mut u64, range: usize, entry: &Entry<'_>) -> Result<()> {
        let seal = self.sealer.as_mut().map_or(0, |sealer| sealer.seal(entry));
        let range = &mut self.ranges[range];
        let block_bytes = range.push(*place, entry, seal);
        *place += 1;
        if block_bytes < self.block_bytes { Ok(()) } else { range.end_block(self.store) }
    }
}
