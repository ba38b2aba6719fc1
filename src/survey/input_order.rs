//! Pass 1, survey: reads everything, decides everything, writes nothing.
//!
//! Every chunk is cleaned and keyed on its own, every hash partition deduplicated on its own, and what is left is divided
//! into sitemaps. The outcome is a [`Plan`]: a bit an entry and a few words a chunk are all that is kept of the input.

use std::sync::Mutex;

use rayon::prelude::*;

use super::Run;
use super::judge::Judge;
use super::keys::Keys;
use super::memory::Memory;
use super::plan::{Chunk, Place, Plan, RowsAt, Tally, extents};
use super::sizes::Sizes;
use super::stable;
use crate::clean::scope::Origins;
use crate::common::ordered::ordered;
use crate::common::progress::Pass;
use crate::common::secret::{Key, Secret};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, reserve};
use crate::intake::input::{Extent, Input};
use crate::intake::lines;
use crate::intake::lines::CHUNK_URLS_MAX;
use crate::intake::spool_format;
use crate::intake::spool_format::{Content, Row};
use crate::job::{Job, OnDuplicate};
use crate::sitemap::divide::stable::Least;
use crate::sitemap::divide::{Divider, Part, Room};
use crate::sitemap::xml::Frame;
use crate::survey::dedup;
use crate::survey::dedup::{ChunkKeys, NO_INSTANT, NewestTable, PARTITIONS, Share, Survivors, Table};

/// What is known of a chunk before duplicates are.
struct Surveyed {
    chunk: Chunk,
    keys: ChunkKeys,
    sizes: Sizes,
}

/// Chunks that a thread takes at a time: few enough that all threads end together.
const CHUNKS_TOGETHER: usize = 16;

/// Bytes of what is known of a chunk, at most, extras aside: a key and a size for each URL.
const SURVEYED_BYTES_MAX: usize = CHUNK_URLS_MAX * 25;

/// Surveys `inputs`, with no more held than `memory` allows.
///
/// # Errors
/// If memory or scratch space runs out or `stop` is raised.
pub fn survey(run: Run<'_>, inputs: &[Input], memory: &Memory) -> Result<Plan> {
    let Run { job, progress, stop, .. } = run;
    let secret = Secret::draw()?;
    let extents = extents(inputs)?;

    progress.begin(Pass::Survey, extents.iter().map(|(_, extent)| extent.bytes()).sum());
    let mut keys = Keys::new(memory, job.on_duplicate == OnDuplicate::Newest);
    let mut chunks = Vec::new();
    // Of all threads: the origins of every chunk of a wave would take too much memory.
    let out_of_scope = Mutex::new(Origins::default());
    reserve(&mut chunks, extents.len())?;
    // Between two waves there is time to let go of what was found.
    let wave = (memory.hold / 4 / SURVEYED_BYTES_MAX).max(4 * job.threads.get());
    let mut surveyed: Vec<Option<Surveyed>> = Vec::new();
    reserve(&mut surveyed, wave.min(extents.len()))?;
    for wave in extents.chunks(wave) {
        keys.make_room(wave.len() * SURVEYED_BYTES_MAX)?;
        surveyed.resize_with(wave.len(), || None);
        surveyed
            .par_iter_mut()
            .zip(wave)
            // Left alone, rayon would give each thread a quarter at a time, and one of them would wait for the other's.
            .with_max_len(CHUNKS_TOGETHER)
            .try_for_each_init(
                || Surveyor::new(run, &secret),
                |surveyor, (found, &(at, ref extent))| {
                    stop.check()?;
                    inputs[at].come_to(extent.range());
                    *found = Some(surveyor.survey(at, inputs[at].bytes(), extent.clone())?);
                    let own = surveyor.judge.take_out_of_scope();
                    if !own.is_empty() {
                        out_of_scope.lock().expect("no thread panics with the lock").merge(&own);
                    }
                    progress.advance(extent.bytes());
                    Ok(())
                },
            )?;
        for found in surveyed.drain(..).flatten() {
            chunks.push(found.chunk);
            keys.push(found.keys, found.sizes)?;
        }
    }
    keys.complete()?;
    strike_duplicates(job, &keys, &chunks, stop)?;
    keys.drop_keys();
    progress.end();

    let chunks = account(chunks);
    let tally = chunks.iter().fold(Tally::default(), |sum, chunk| sum.add(chunk.tally));
    let rooms = rooms(&chunks, &keys)?;
    let sitemaps = match stable::is_asked(job) {
        true => stable::divide(run, &chunks, &rooms, inputs)?,
        false => divide(job, &chunks, &rooms, &keys)?,
    };
    let planned: u64 = sitemaps.iter().map(|part| u64::from(part.entries)).sum();
    if !tally.is_balanced() || planned != tally.listed {
        return Err(Error::new(
            ErrorKind::Internal,
            format!("the lines do not add up ({tally:?}, {planned} planned)"),
        ));
    }
    let out_of_scope = out_of_scope.into_inner().expect("no thread panics with the lock");
    Ok(Plan { chunks, sitemaps, tally, out_of_scope })
}

/// Surveys chunk after chunk with the same scratch memory.
struct Surveyor<'r> {
    judge: Judge<'r>,
    secret: &'r Secret,
    keys: Vec<Key>,
    sizes: Sizes,
    /// Whether marks decide where sitemaps begin.
    seeks_least: bool,
    least: Option<Least>,
    /// Kept only if the newest row of a URL is to stay.
    instants: Option<Vec<i64>>,
}

impl<'r> Surveyor<'r> {
    fn new(run: Run<'r>, secret: &'r Secret) -> Self {
        let instants = (run.job.on_duplicate == OnDuplicate::Newest).then(Vec::new);
        Self {
            judge: Judge::new(run.rules),
            secret,
            keys: Vec::new(),
            sizes: Sizes::default(),
            seeks_least: stable::is_asked(run.job),
            least: None,
            instants,
        }
    }

    fn survey(&mut self, input: usize, bytes: &[u8], extent: Extent) -> Result<Surveyed> {
        self.keys.clear();
        self.sizes.clear();
        self.instants.iter_mut().for_each(Vec::clear);
        reserve(&mut self.keys, CHUNK_URLS_MAX)?;
        self.instants.iter_mut().try_for_each(|instants| reserve(instants, CHUNK_URLS_MAX))?;
        let mut chunk = Chunk::of(input, bytes, extent);
        let (tally, all_clean) = match &chunk.rows {
            // Their numbers are not known yet, and not needed.
            RowsAt::Lines(own) => self
                .take(lines::lines(&bytes[own.clone()], own.start as u64).map(|line| Row::of_line(0, line))),
            RowsAt::Rows(block) => self.take(spool_format::rows(bytes, block)),
            RowsAt::Positions { .. } => unreachable!("nothing was sorted yet"),
        };
        chunk.is_clean = all_clean && self.keys.len() as u64 == tally.lines;
        chunk.survivors = Survivors::all(self.keys.len())?;
        chunk.tally = tally;
        chunk.least = self.least.take();
        Ok(Surveyed {
            chunk,
            keys: ChunkKeys::part(&self.keys, self.instants.as_deref().unwrap_or(&[]))?,
            sizes: self.sizes.to_fit()?,
        })
    }

    /// Judges `rows` and keeps what is to be known of their entries; whether all of these are clean lines without tags.
    #[inline]
    fn take<'i>(&mut self, rows: impl Iterator<Item = Row<'i>>) -> (Tally, bool) {
        let mut tally = Tally::default();
        let mut all_clean = true;
        for row in rows {
            self.judge.tally(row.content, &mut tally, |entry| {
                all_clean &=
                    entry.tags.is_empty() && matches!(row.content, Content::Url(raw, _) if entry.url.is(raw));
                if self.seeks_least {
                    self.least = Some(Least::or(self.least, self.keys.len(), entry.url));
                }
                self.keys.push(self.secret.key(entry.url.as_bytes()));
                self.sizes.push(entry.room());
                if let Some(instants) = &mut self.instants {
                    instants.push(entry.instant.unwrap_or(NO_INSTANT));
                }
            });
        }
        (tally, all_clean)
    }
}

fn strike_duplicates(job: &Job, keys: &Keys<'_>, chunks: &[Chunk], stop: &Stop) -> Result<()> {
    let strike = |chunk: usize, ordinal| chunks[chunk].survivors.strike(ordinal);
    let (rounds, threads) = keys.rounds(job.threads.get());
    let shares = (0..PARTITIONS)
        .flat_map(|partition| (0..rounds).map(move |round| Share { partition, round, rounds }));
    let runs = |share: Share| keys.runs(share.partition);
    match job.on_duplicate {
        OnDuplicate::First => {
            let work = |table: &mut Table, share| dedup::find_duplicates(runs(share), share, table, strike);
            ordered(threads, shares, Table::default, work, |done| stop.check().and(done))
        }
        OnDuplicate::Newest => {
            let work = |table: &mut NewestTable, share| {
                dedup::find_all_but_newest(runs(share), share, table, strike)
            };
            ordered(threads, shares, NewestTable::default, work, |done| stop.check().and(done))
        }
    }
}

/// Counts the lines before each chunk in its input.
pub fn number_lines(mut chunks: Vec<Chunk>) -> Vec<Chunk> {
    let mut input = 0;
    let mut lines_before = 0;
    for chunk in &mut chunks {
        if chunk.input != input {
            (input, lines_before) = (chunk.input, 0);
        }
        chunk.lines_before = lines_before;
        lines_before += chunk.tally.lines;
    }
    chunks
}

/// Completes the tallies, now that duplicates are known.
fn account(chunks: Vec<Chunk>) -> Vec<Chunk> {
    let mut chunks = number_lines(chunks);
    for chunk in &mut chunks {
        let tally = &mut chunk.tally;
        tally.listed = chunk.survivors.count().into();
        tally.duplicates = tally.lines - tally.blank - tally.rejected.total() - tally.listed;
    }
    chunks
}

/// What the listed entries of each chunk take.
fn rooms(chunks: &[Chunk], keys: &Keys<'_>) -> Result<Vec<Room>> {
    let room = |(at, chunk)| listed(chunk, keys, at).map(|(_, room)| room).sum();
    let mut rooms = Vec::new();
    reserve(&mut rooms, chunks.len())?;
    chunks.par_iter().enumerate().map(room).collect_into_vec(&mut rooms);
    Ok(rooms)
}

/// Divides the listed entries into sitemaps.
fn divide(job: &Job, chunks: &[Chunk], rooms: &[Room], keys: &Keys<'_>) -> Result<Vec<Part<Place>>> {
    let mut divider = Divider::new(job.sitemap_limits(), &Frame::sitemap(job.protocol));
    for (at, chunk) in chunks.iter().enumerate() {
        let entries = listed(chunk, keys, at).map(|(ordinal, room)| (Place { chunk: at, ordinal }, room));
        divider.push_together(chunk.tally.listed as u32, rooms[at], entries)?;
    }
    Ok(divider.finish())
}

/// Ordinals of the entries of `chunk`, which is the `at`th, that are listed, and what they take.
fn listed<'a>(chunk: &'a Chunk, keys: &'a Keys<'_>, at: usize) -> impl Iterator<Item = (usize, Room)> + 'a {
    let all = keys.sizes(at).iter().enumerate();
    all.filter(|&(ordinal, _)| chunk.survivors.contains(ordinal))
}
