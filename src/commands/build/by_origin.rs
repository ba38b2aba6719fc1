//! One set per origin: distributes the listed rows by scheme, host and port, and gives each origin its own layout.
//!
//! The rows of all origins share one scratch file, to which each origin writes a block when its buffer is full. Thousands of
//! origins therefore need one open file and a bounded amount of memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clean::scope::{self, BaseUrl, SitePath};
use crate::common::ordered::ordered;
use crate::error::{Error, ErrorKind, Result, copy, list, reserve, reserve_more, try_list};
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::intake::spool_format::{Block, Content, InputRow, RowBuffer, rows};
use crate::set::publish;
use crate::sitemap::divide::{Divide, Divider, Room};
use crate::sitemap::xml::Frame;
use crate::survey::chunk::RowsAt;
use crate::survey::context::Context;
use crate::survey::judge::{Judge, try_for_each_listed};
use crate::survey::layout::{EntryAt, Layout, ListedChunk};
use crate::survey::memory::Memory;
use crate::survey::stable;
use crate::survey::tally::Tally;

/// Target size of a block of one origin in bytes.
const BLOCK_BYTES: usize = 32 * 1024;

/// Maximum bytes of all blocks that are being filled, and the fraction of memory they may take (a fourth). Beyond either, all
/// blocks are written, full or not.
const BUFFERED_BYTES_MAX: usize = 128 << 20;
const BUFFERED_SHARE: usize = 4;

/// Distributes the listed rows of `layout` by origin. Returns the base URL and the layout of each origin, in the order in
/// which the origins first occur.
///
/// # Errors
/// If scratch cannot be written, if an origin is too long for a base URL, or if `stop` is raised.
pub fn distribute(
    run: Context<'_>,
    layout: &Layout,
    path: &SitePath,
    memory: &Memory,
) -> Result<Vec<(BaseUrl, Layout)>> {
    let mut origins = RowsByOrigin::new(memory)?;
    let judge = || Judge::new(run.rules);
    let work = |judge: &mut Judge<'_>, chunk: &ListedChunk| listed(chunk, &layout.inputs, judge);
    ordered(run.job.resources.threads.get(), layout.chunks.iter(), judge, work, |listed| {
        run.stop.check()?;
        origins.push_all(run, &listed?)
    })?;
    let (file, origins) = origins.finish()?;
    let all = file.map_file()?;
    try_list(origins.into_iter().map(|(origin, origin_rows)| {
        let origin = String::from_utf8(origin).expect("a clean URL is ASCII");
        let base_url = path.on(&origin).map_err(|why| no_site(&origin, &why))?;
        if run.job.rules.bytes_per_sitemap < publish::index_bytes_min(run.job.rules.protocol, &base_url) {
            return Err(no_site(&origin, "an index file is larger than a sitemap may be"));
        }
        Ok((base_url, origin_rows.layout(run, &all)?))
    }))
}

/// The error for an origin that cannot have a set although the survey listed its rows.
fn no_site(origin: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("{origin}: the survey lists its URLs, and it can have no set: {why}"),
    )
}

/// The listed rows of a chunk: canonical URLs, validated tags, and the bytes of each entry.
#[derive(Default)]
struct Listed {
    rows: RowBuffer,
    rooms: Vec<Room>,
}

fn listed(chunk: &ListedChunk, inputs: &[Input], judge: &mut Judge<'_>) -> Result<Listed> {
    let mut listed = Listed::default();
    reserve(&mut listed.rooms, chunk.listed as usize)?;
    try_for_each_listed(chunk, inputs, judge, 0, |_, entry| {
        listed.rows.push(&InputRow::of_entry(entry));
        listed.rooms.push(entry.room());
        Ok(())
    })?;
    Ok(listed)
}

/// The rows of one origin.
struct OriginRows {
    buffer: RowBuffer,
    /// Blocks in scratch, with the number of their entries and the bytes these take.
    blocks: Vec<(Block, u32, Room)>,
    /// Number of entries in `buffer`.
    entries: u32,
    room: Room,
    divider: Divider<EntryAt>,
}

impl OriginRows {
    fn new(divider: Divider<EntryAt>) -> Self {
        let (buffer, blocks) = (RowBuffer::default(), Vec::new());
        Self { buffer, blocks, entries: 0, room: Room::default(), divider }
    }

    /// Returns the layout of the rows, which are in `file`.
    fn layout(self, run: Context<'_>, file: &Input) -> Result<Layout> {
        let listed = self.blocks.iter().map(|&(_, entries, _)| u64::from(entries)).sum();
        let blocks = list(self.blocks.iter().map(|(block, ..)| block.clone()))?;
        let rooms = list(self.blocks.iter().map(|&(.., room)| room))?;
        let whole = |(block, entries, _)| ListedChunk::whole(0, RowsAt::Rows(block), entries);
        let chunks = try_list(self.blocks.into_iter().map(whole))?;
        let inputs = Arc::from([file.part(blocks)]);
        let sitemaps = match run.job.rules.divide {
            Divide::Fill => self.divider.finish(),
            Divide::Stable => stable::divide(run, &chunks, &rooms, &inputs, &[])?,
        };
        Ok(Layout { inputs, chunks, sitemaps, tally: Tally::of_listed(listed) })
    }
}

/// An origin and its rows.
type OfOrigin = (Vec<u8>, OriginRows);

/// Writes the rows of all origins to scratch.
struct RowsByOrigin {
    file: Scratch,
    /// Bytes in all buffers.
    buffered: usize,
    buffered_max: usize,
    origins: Vec<OfOrigin>,
    by_origin: HashMap<Vec<u8>, usize>,
}

impl RowsByOrigin {
    fn new(memory: &Memory) -> Result<Self> {
        let file = Scratch::new(&memory.scratch)?;
        let buffered_max = (memory.hold / BUFFERED_SHARE).min(BUFFERED_BYTES_MAX);
        Ok(Self { file, buffered: 0, buffered_max, origins: Vec::new(), by_origin: HashMap::new() })
    }

    fn push_all(&mut self, run: Context<'_>, listed: &Listed) -> Result<()> {
        let (limits, frame) = (run.job.rules.sitemap_limits(), Frame::sitemap(run.job.rules.protocol));
        for (row, &room) in rows(listed.rows.bytes(), &listed.rows.block()).zip(&listed.rooms) {
            let Content::Entry(entry) = row.content else { unreachable!("listed rows are entries") };
            let origin = scope::origin_of(entry.url.as_bytes());
            let at = match self.by_origin.get(origin) {
                Some(&at) => at,
                None => self.add(origin, Divider::new(limits, &frame))?,
            };
            let origin_rows = &mut self.origins[at].1;
            let place = EntryAt { chunk: origin_rows.blocks.len(), ordinal: origin_rows.entries as usize };
            origin_rows.divider.push(place, room)?;
            origin_rows.room = origin_rows.room.and(room);
            let before = origin_rows.buffer.held_bytes();
            origin_rows.buffer.push(&row);
            origin_rows.entries += 1;
            self.buffered += origin_rows.buffer.held_bytes() - before;
            if origin_rows.buffer.is_full(BLOCK_BYTES) {
                self.end_block(at)?;
            }
            if self.buffered > self.buffered_max {
                self.end_all()?;
            }
        }
        Ok(())
    }

    /// Adds an origin and returns its index.
    fn add(&mut self, origin: &[u8], divider: Divider<EntryAt>) -> Result<usize> {
        let at = self.origins.len();
        reserve_more(&mut self.origins, 1)?;
        let room = self.by_origin.try_reserve(1);
        room.map_err(|_| Error::no_memory((at + 1) * size_of::<(Vec<u8>, usize)>()))?;
        self.origins.push((copy(origin)?, OriginRows::new(divider)));
        self.by_origin.insert(copy(origin)?, at);
        Ok(at)
    }

    fn end_block(&mut self, at: usize) -> Result<()> {
        let origin_rows = &mut self.origins[at].1;
        if origin_rows.entries == 0 {
            return Ok(());
        }
        let at = self.file.append(origin_rows.buffer.bytes())?;
        let block = origin_rows.buffer.end_block(at);
        reserve_more(&mut origin_rows.blocks, 1)?;
        origin_rows.blocks.push((
            block,
            std::mem::take(&mut origin_rows.entries),
            std::mem::take(&mut origin_rows.room),
        ));
        Ok(())
    }

    /// Writes all blocks and frees their buffers.
    fn end_all(&mut self) -> Result<()> {
        for at in 0..self.origins.len() {
            self.end_block(at)?;
            self.origins[at].1.buffer.let_go();
        }
        self.buffered = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(Scratch, Vec<OfOrigin>)> {
        self.end_all()?;
        Ok((self.file, self.origins))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::clean::{Cleaned, Cleaner};
    use crate::common::progress::Silent;
    use crate::common::stop::Stop;
    use crate::intake::scratch::Space;
    use crate::job::Job;
    use crate::sitemap::entry::Entry;
    use crate::survey::judge::Rules;

    #[test]
    fn buffers_for_any_number_of_origins_stay_within_their_share_of_memory() {
        let job = Job::new(Vec::new(), "{origin}/".parse().unwrap(), PathBuf::new());
        let run =
            Context { job: &job, rules: &Rules::of(&job.rules), progress: &Silent, stop: &Stop::default() };
        let (mut cleaner, mut listed) = (Cleaner::default(), Listed::default());
        for n in 0..2_000 {
            let url = format!("https://h{n}.example/");
            let Cleaned::Url(url) = cleaner.clean(url.as_bytes()) else { panic!("it is clean") };
            let entry = Entry::of(url);
            listed.rows.push(&InputRow::of_entry(entry));
            listed.rooms.push(entry.room());
        }
        for hold in [1 << 10, 1 << 17, usize::MAX] {
            let memory = Memory { budget: 0, hold, scratch: Space::of(&std::env::temp_dir()) };
            let mut origins = RowsByOrigin::new(&memory).unwrap();
            for _ in 0..20 {
                origins.push_all(run, &listed).unwrap();
                let held: usize =
                    origins.origins.iter().map(|(_, origin_rows)| origin_rows.buffer.held_bytes()).sum();
                assert!(held <= hold / BUFFERED_SHARE, "{held} of {hold}");
            }
            let (_, origins) = origins.finish().unwrap();
            let entries = |origin_rows: &OriginRows| {
                origin_rows.blocks.iter().map(|&(_, entries, _)| entries).sum::<u32>()
            };
            assert_eq!(origins.len(), 2_000);
            assert!(origins.iter().all(|(_, origin_rows)| entries(origin_rows) == 20));
        }
    }
}
