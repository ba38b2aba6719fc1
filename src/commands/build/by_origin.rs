//! One set for each origin: listed rows are parted by scheme, host and port, and every part goes its way as a plan of its own.
//!
//! All parts lie in one scratch file, block by block as they fill, so that thousands of hosts need no more than one open
//! file and a bounded number of bytes in memory.

use std::collections::HashMap;

use crate::clean::scope;
use crate::clean::scope::{BaseUrl, Origins, SitePath};
use crate::common::ordered::ordered;
use crate::error::{Error, ErrorKind, Result, copy, list, reserve, reserve_more, try_list};
use crate::intake::input::Input;
use crate::intake::scratch::Scratch;
use crate::intake::spool_format::{Block, Content, Row, RowBuffer, rows};
use crate::produce::produce;
use crate::set::manifest::Sitemap;
use crate::set::publish;
use crate::set::publish::Workspace;
use crate::set::publish::name::site_directory;
use crate::sitemap::divide::{Divide, Divider, Room};
use crate::sitemap::xml::Frame;
use crate::survey::Run;
use crate::survey::judge::{Judge, try_for_each_listed};
use crate::survey::memory::Memory;
use crate::survey::plan::{Chunk, Place, Plan, RowsAt, Tally};
use crate::survey::stable;

/// Bytes of a block of one origin.
const BLOCK_BYTES: usize = 32 * 1024;

/// Bytes of all blocks that are being filled, at most, and what share of memory they may be; beyond it, they are written as
/// they are.
const BUFFERED_BYTES_MAX: usize = 128 << 20;
const BUFFERED_SHARE: usize = 4;

/// What is published for one origin.
#[derive(Debug)]
pub struct Site {
    base_url: BaseUrl,
    inputs: [Input; 1],
    plan: Plan,
}

/// Parts the listed rows of `plan` by origin, in the order in which origins come first.
///
/// # Errors
/// If scratch cannot be written to, if an origin has no room for a path, or if `stop` is raised.
pub fn distribute(
    run: Run<'_>,
    plan: &Plan,
    inputs: &[Input],
    path: &SitePath,
    memory: &Memory,
) -> Result<Vec<Site>> {
    let mut parts = Parts::new(memory)?;
    let judge = || Judge::new(run.rules);
    let work = |judge: &mut Judge<'_>, chunk: &Chunk| listed(chunk, inputs, judge);
    ordered(run.job.threads.get(), plan.chunks.iter(), judge, work, |listed| {
        run.stop.check()?;
        parts.push_all(run, &listed?)
    })?;
    let (file, parts) = parts.finish()?;
    let all = file.map()?;
    let site = |(origin, part): OfOrigin| {
        let origin = String::from_utf8(origin).expect("a clean URL is ASCII");
        let base_url = path.on(&origin).map_err(|why| no_site(&origin, &why))?;
        if run.job.bytes_per_sitemap < publish::index_bytes_min(run.job.protocol, &base_url) {
            return Err(no_site(&origin, "an index file is larger than a sitemap may be"));
        }
        let listed = part.blocks.iter().map(|&(_, entries, _)| u64::from(entries)).sum();
        let blocks = list(part.blocks.iter().map(|(block, ..)| block.clone()))?;
        let rooms = list(part.blocks.iter().map(|&(.., room)| room))?;
        let whole = |(block, entries, _)| Chunk::whole(RowsAt::Rows(block), entries);
        let chunks = try_list(part.blocks.into_iter().map(whole))?;
        let inputs = [all.part(blocks)];
        let sitemaps = match run.job.divide {
            Divide::Fill => part.divider.finish(),
            Divide::Stable => stable::divide(run, &chunks, &rooms, &inputs)?,
        };
        let tally = Tally { lines: listed, listed, ..Tally::default() };
        Ok(Site {
            base_url,
            inputs,
            plan: Plan { chunks, sitemaps, tally, out_of_scope: Origins::default() },
        })
    };
    try_list(parts.into_iter().map(site))
}

/// An origin that can have no set, though its rows were listed.
fn no_site(origin: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("{origin}: the survey lists its URLs, and it can have no set: {why}"),
    )
}

/// Opens the directory of every site below `parent`, and looks whether its set may be published there.
///
/// # Errors
/// See [`Workspace::open_site`] and [`Workspace::admit`]; or if `stop` is raised.
pub fn open_all(run: Run<'_>, sites: &[Site], parent: &Workspace) -> Result<Vec<Workspace>> {
    let open_one = |site: &Site| {
        run.stop.check()?;
        let mut workspace = parent.open_site(&site_directory(&site.base_url), run.job.on_damage())?;
        workspace.admit(&site.base_url, run.job.protocol, run.job.consent())?;
        Ok(workspace)
    };
    try_list(sites.iter().map(open_one))
}

/// Renders and stages the sitemaps of every site, each in its directory of `workspaces`.
///
/// # Errors
/// See [`produce`].
pub fn produce_all(
    run: Run<'_>,
    sites: &[Site],
    workspaces: Vec<Workspace>,
    time: &str,
) -> Result<Vec<(Workspace, BaseUrl, Vec<Sitemap>)>> {
    let produce_one = |(site, workspace): (&Site, Workspace)| {
        let sitemaps = produce(run, &site.inputs, &site.plan, &workspace, time)?;
        Ok((workspace, site.base_url.clone(), sitemaps))
    };
    try_list(sites.iter().zip(workspaces).map(produce_one))
}

/// The listed rows of a chunk: canonical URLs, checked tags, and the room that each entry takes.
#[derive(Default)]
struct Listed {
    rows: RowBuffer,
    rooms: Vec<Room>,
}

fn listed(chunk: &Chunk, inputs: &[Input], judge: &mut Judge<'_>) -> Result<Listed> {
    let mut listed = Listed::default();
    reserve(&mut listed.rooms, chunk.tally.listed as usize)?;
    try_for_each_listed(chunk, inputs, judge, |_, entry| {
        listed.rows.push(&Row { line: 0, offset: 0, content: Content::Entry(entry) });
        listed.rooms.push(entry.room());
        Ok(())
    })?;
    Ok(listed)
}

/// The rows of one origin.
struct Part {
    buffer: RowBuffer,
    /// With the number of their entries, and what these take.
    blocks: Vec<(Block, u32, Room)>,
    /// Of the block at hand.
    entries: u32,
    room: Room,
    divider: Divider<Place>,
}

impl Part {
    fn new(divider: Divider<Place>) -> Self {
        let (buffer, blocks) = (RowBuffer::default(), Vec::new());
        Self { buffer, blocks, entries: 0, room: Room::default(), divider }
    }
}

/// Origin and rows.
type OfOrigin = (Vec<u8>, Part);

/// The rows of all origins, on their way to scratch.
struct Parts {
    file: Scratch,
    /// Bytes that buffers hold.
    buffered: usize,
    buffered_max: usize,
    parts: Vec<OfOrigin>,
    by_origin: HashMap<Vec<u8>, usize>,
}

impl Parts {
    fn new(memory: &Memory) -> Result<Self> {
        let file = Scratch::new(&memory.scratch)?;
        let buffered_max = (memory.hold / BUFFERED_SHARE).min(BUFFERED_BYTES_MAX);
        Ok(Self { file, buffered: 0, buffered_max, parts: Vec::new(), by_origin: HashMap::new() })
    }

    fn push_all(&mut self, run: Run<'_>, listed: &Listed) -> Result<()> {
        let (limits, frame) = (run.job.sitemap_limits(), Frame::sitemap(run.job.protocol));
        for (row, &room) in rows(listed.rows.bytes(), &listed.rows.block()).zip(&listed.rooms) {
            let Content::Entry(entry) = row.content else { unreachable!("listed rows are entries") };
            let origin = scope::origin_of(entry.url.as_bytes());
            let at = match self.by_origin.get(origin) {
                Some(&at) => at,
                None => self.add(origin, Divider::new(limits, &frame))?,
            };
            let part = &mut self.parts[at].1;
            let place = Place { chunk: part.blocks.len(), ordinal: part.entries as usize };
            part.divider.push(place, room)?;
            part.room = part.room.and(room);
            let before = part.buffer.held_bytes();
            part.buffer.push(&row);
            part.entries += 1;
            self.buffered += part.buffer.held_bytes() - before;
            if part.buffer.is_full(BLOCK_BYTES) {
                self.end_block(at)?;
            }
            if self.buffered > self.buffered_max {
                self.end_all()?;
            }
        }
        Ok(())
    }

    /// A place for the rows of another origin; which it is.
    fn add(&mut self, origin: &[u8], divider: Divider<Place>) -> Result<usize> {
        let at = self.parts.len();
        reserve_more(&mut self.parts, 1)?;
        let room = self.by_origin.try_reserve(1);
        room.map_err(|_| Error::no_memory((at + 1) * size_of::<(Vec<u8>, usize)>()))?;
        self.parts.push((copy(origin)?, Part::new(divider)));
        self.by_origin.insert(copy(origin)?, at);
        Ok(at)
    }

    fn end_block(&mut self, at: usize) -> Result<()> {
        let part = &mut self.parts[at].1;
        if part.entries == 0 {
            return Ok(());
        }
        let at = self.file.append(part.buffer.bytes())?;
        let block = part.buffer.end_block(at);
        reserve_more(&mut part.blocks, 1)?;
        part.blocks.push((block, std::mem::take(&mut part.entries), std::mem::take(&mut part.room)));
        Ok(())
    }

    /// Ends all blocks and lets go of what they were in.
    fn end_all(&mut self) -> Result<()> {
        for at in 0..self.parts.len() {
            self.end_block(at)?;
            self.parts[at].1.buffer.let_go();
        }
        self.buffered = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<(Scratch, Vec<OfOrigin>)> {
        self.end_all()?;
        Ok((self.file, self.parts))
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
    fn buffers_of_any_number_of_origins_keep_within_their_share_of_memory() {
        let job = Job::new(Vec::new(), "{origin}/".parse().unwrap(), PathBuf::new());
        let run = Run { job: &job, rules: &Rules::of(&job), progress: &Silent, stop: &Stop::default() };
        let (mut cleaner, mut listed) = (Cleaner::default(), Listed::default());
        for n in 0..2_000 {
            let url = format!("https://h{n}.example/");
            let Cleaned::Url(url) = cleaner.clean(url.as_bytes()) else { panic!("it is clean") };
            let entry = Entry::of(url);
            listed.rows.push(&Row { line: 0, offset: 0, content: Content::Entry(entry) });
            listed.rooms.push(entry.room());
        }
        for hold in [1 << 10, 1 << 17, usize::MAX] {
            let memory = Memory { budget: 0, hold, scratch: Space::of(&std::env::temp_dir()) };
            let mut parts = Parts::new(&memory).unwrap();
            for _ in 0..20 {
                parts.push_all(run, &listed).unwrap();
                let held: usize = parts.parts.iter().map(|(_, part)| part.buffer.held_bytes()).sum();
                assert!(held <= hold / BUFFERED_SHARE, "{held} of {hold}");
            }
            let (_, parts) = parts.finish().unwrap();
            let entries = |part: &Part| part.blocks.iter().map(|&(_, entries, _)| entries).sum::<u32>();
            assert_eq!(parts.len(), 2_000);
            assert!(parts.iter().all(|(_, part)| entries(part) == 20));
        }
    }
}
