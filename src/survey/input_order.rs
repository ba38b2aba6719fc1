//! The survey in input order.
//!
//! Every chunk is cleaned and keyed by itself, every hash partition is deduplicated by itself, and what is left is divided
//! into sitemaps. Of the input, a bit per entry and a few words per chunk are kept.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;

use super::account::{Account, AccountedChunk};
use super::chunk::{Chunk, RowsAt, extents};
use super::context::Context;
use super::judge::Judge;
use super::keys::Keys;
use super::layout::{EntryAt, Layout, ListedChunk};
use super::memory::Memory;
use super::notes::Notes;
use super::sections::picks::RowAt;
use super::sections::recorded::{RecordedChunk, Recorder, Recording};
use super::sizes::Sizes;
use super::stable;
use super::tally::Tally;
use crate::clean::screen::RuleSet;
use crate::common::fallible::reserve;
use crate::common::ordered::ordered;
use crate::common::pool::Pool;
use crate::common::progress::Phase;
use crate::common::secret::{Key, Secret};
use crate::common::stop::Stop;
use crate::common::thread_pool::{in_pool, thread_pool};
use crate::error::Result;
use crate::intake::input::{Extent, Input};
use crate::intake::lines::CHUNK_URLS_MAX;
use crate::intake::spool_format::{Content, InputRow};
use crate::intake::{lines, spool_format};
use crate::job::{Job, OnDuplicate, SetRules};
use crate::sitemap::divide::stable::SmallestMark;
use crate::sitemap::divide::{Divider, EntrySize, PlannedSitemap};
use crate::sitemap::xml::Frame;
use crate::survey::dedup::{self, ChunkKeys, NO_INSTANT, NewestTable, PARTITIONS, Round, Survivors, Table};

/// The data of a chunk before duplicates are known.
struct SurveyedChunk {
    listed: ListedChunk,
    tally: Tally,
    rules: RuleSet,
    keys: ChunkKeys,
    sizes: Sizes,
    recorded: Option<RecordedChunk>,
}

/// Chunks that a thread takes at a time: few enough that all threads end together.
const CHUNKS_TOGETHER: usize = 16;

/// Bytes of what is known of a chunk, at most, extras aside: a key and a size for each URL.
const SURVEYED_BYTES_MAX: usize = CHUNK_URLS_MAX * 25;

/// Surveys `inputs` in input order, and holds no more than `memory` allows.
///
/// # Errors
/// If memory or scratch space runs out, or `stop` is raised.
pub fn survey(run: Context<'_>, inputs: &Arc<[Input]>, memory: &Memory) -> Result<(Account, Layout)> {
    // No more threads than there are extents.
    let threads = run.job.resources.threads.get();
    let threads = inputs.iter().flat_map(Input::extents).take(threads).count();
    let pool = thread_pool(threads, "survey", run.stop)?;
    in_pool(&pool, || survey_in_pool(run, inputs, memory))?
}

fn survey_in_pool(run: Context<'_>, inputs: &Arc<[Input]>, memory: &Memory) -> Result<(Account, Layout)> {
    let Context { job, progress, stop, .. } = run;
    let extents = extents(inputs)?;
    let phase = progress.phase(Phase::Survey, extents.iter().map(|(_, extent)| extent.bytes()).sum());
    let mut keys = Keys::new(memory, job.rules.on_duplicate == OnDuplicate::Newest);
    let mut recording = Recording::of(&job.rules, inputs, memory);
    let (account, mut chunks) = judge_all(run, inputs, &extents, memory, &mut keys, &mut recording)?;
    drop_duplicates(job, &keys, &chunks, stop)?;
    keys.drop_keys();
    drop(phase);

    chunks.iter_mut().for_each(|chunk| chunk.listed = chunk.survivors.count());
    let account = account.with_listed(chunks.iter().map(|chunk| u64::from(chunk.listed)).sum());
    let recording = recording.filter(Recording::is_whole);
    let recorded = recording.and_then(|recording| Some(recording.finish(keys.take_sizes()?)));
    let sitemaps = match &recorded {
        // These entries are divided when they are picked.
        Some(_) => Vec::new(),
        None => {
            let sizes = chunk_sizes(&chunks, &keys)?;
            match job.rules.divides_whole_set_stably() {
                true => stable::divide(run, &chunks, &sizes, inputs, &[])?,
                false => divide(&job.rules, &chunks, &sizes, &keys)?,
            }
        }
    };
    let (inputs, tally) = (Arc::clone(inputs), account.tally);
    let layout = Layout { recorded, ..Layout::new(inputs, chunks, sitemaps, tally) };
    Ok((account, layout))
}

/// Judges all rows and collects the keys of their URLs. Every entry is listed as yet.
fn judge_all(
    run: Context<'_>,
    inputs: &[Input],
    extents: &[(usize, Extent)],
    memory: &Memory,
    keys: &mut Keys<'_>,
    recording: &mut Option<Recording>,
) -> Result<(Account, Vec<ListedChunk>)> {
    let Context { job, progress, stop, .. } = run;
    let secret = Secret::draw()?;
    let (mut accounted, mut listed) = (Vec::new(), Vec::new());
    reserve(&mut accounted, extents.len())?;
    reserve(&mut listed, extents.len())?;
    // Of all threads: the notes on every chunk would take too much memory.
    let notes = Mutex::new(Notes::default());
    // After so many chunks, keys are spilled if memory is short.
    let at_once = (memory.hold / 4 / SURVEYED_BYTES_MAX).max(4 * job.resources.threads.get());
    let mut surveyed: Vec<Option<SurveyedChunk>> = Vec::new();
    reserve(&mut surveyed, at_once.min(extents.len()))?;
    for extents in extents.chunks(at_once) {
        keys.set_other_bytes(recording.as_ref().map_or(0, Recording::bytes));
        keys.make_room(extents.len() * SURVEYED_BYTES_MAX)?;
        surveyed.resize_with(extents.len(), || None);
        let surveyors = Pool::new();
        surveyed
            .par_iter_mut()
            .zip(extents)
            // Left alone, rayon would give each thread a quarter at a time, and one of them would wait for the other's.
            .with_max_len(CHUNKS_TOGETHER)
            .try_for_each_init(
                || surveyors.take_or(|| Surveyor::new(run, &secret, recording.as_ref())),
                |surveyor, (found, &(at, ref extent))| {
                    stop.check()?;
                    inputs[at].prefetch_ahead_of(extent.range());
                    let mut surveyed = surveyor.survey(at, &inputs[at], extent.clone())?;
                    let own = surveyor.judge.take_notes();
                    if !own.is_empty() {
                        surveyed.rules = own.rules.rules();
                        notes.lock().expect("no thread panics with the lock").merge(&own);
                    }
                    *found = Some(surveyed);
                    progress.advance(extent.bytes());
                    Ok(())
                },
            )?;
        drop(surveyors);
        for mut found in surveyed.drain(..).flatten() {
            accounted.push(AccountedChunk::new(found.listed.chunk.clone(), found.tally, found.rules));
            listed.push(found.listed);
            recording.iter_mut().try_for_each(|recording| recording.push(found.recorded.take()))?;
            keys.push(found.keys, found.sizes)?;
        }
    }
    keys.complete()?;
    let notes = notes.into_inner().expect("no thread panics with the lock");
    Ok((Account::new(accounted, notes), listed))
}

/// Surveys chunk after chunk with the same scratch memory.
struct Surveyor<'r> {
    judge: Judge<'r>,
    stop: &'r Stop,
    secret: &'r Secret,
    keys: Vec<Key>,
    sizes: Sizes,
    /// Whether marks decide where sitemaps begin.
    seeks_smallest_mark: bool,
    smallest_mark: Option<SmallestMark>,
    /// Kept only if the newest row of a URL is to stay.
    instants: Option<Vec<i64>>,
    /// Kept only if the entries are to be picked by section.
    recorder: Option<Recorder<'r>>,
}

impl<'r> Surveyor<'r> {
    fn new(run: Context<'r>, secret: &'r Secret, recording: Option<&'r Recording>) -> Self {
        let instants = (run.job.rules.on_duplicate == OnDuplicate::Newest).then(Vec::new);
        Self {
            judge: Judge::new(run.rules),
            stop: run.stop,
            secret,
            keys: Vec::new(),
            sizes: Sizes::default(),
            seeks_smallest_mark: run.job.rules.divides_whole_set_stably(),
            smallest_mark: None,
            instants,
            recorder: recording.and_then(|recording| Recorder::new(&run.job.rules, recording)),
        }
    }

    fn survey(&mut self, at: usize, input: &'r Input, extent: Extent) -> Result<SurveyedChunk> {
        self.keys.clear();
        self.sizes.clear();
        self.instants.iter_mut().for_each(Vec::clear);
        reserve(&mut self.keys, CHUNK_URLS_MAX)?;
        self.instants.iter_mut().try_for_each(|instants| reserve(instants, CHUNK_URLS_MAX))?;
        let chunk = Chunk::of(at, input.bytes(), extent);
        let text =
            if let RowsAt::Lines(own) = &chunk.rows { Some(&input.bytes()[own.clone()]) } else { None };
        self.recorder.iter_mut().try_for_each(|recorder| recorder.begin(text))?;
        let (tally, all_clean) = match self.recorder.is_some() {
            true => self.take_recording(&chunk, input),
            false => self.take_all(&chunk, input),
        }?;
        let entries = self.keys.len();
        Ok(SurveyedChunk {
            listed: ListedChunk {
                chunk,
                survivors: Survivors::all(entries)?,
                listed: entries as u32,
                smallest_mark: self.smallest_mark.take(),
                is_clean: all_clean && entries as u64 == tally.lines,
            },
            tally,
            rules: RuleSet::default(),
            keys: ChunkKeys::part(&self.keys, self.instants.as_deref().unwrap_or(&[]))?,
            sizes: self.sizes.to_fit()?,
            recorded: self.recorder.as_mut().map_or(Ok(None), Recorder::end)?,
        })
    }

    /// Judges the rows of `chunk` and keeps what is to be known of their entries. Returns whether all of these are clean lines
    /// without tags, too.
    fn take_all(&mut self, chunk: &Chunk, input: &'r Input) -> Result<(Tally, bool)> {
        // Nothing is recorded, so the starts of rows are not needed.
        let without_start = |row| (row, 0);
        let bytes = input.bytes();
        match &chunk.rows {
            // Their numbers are not known yet, and not needed.
            RowsAt::Lines(own) => {
                let lines = lines::lines(&bytes[own.clone()], own.start as u64);
                self.judge.begin_lines(&lines);
                self.take::<false>(lines.map(|line| InputRow::of_line(0, line)).map(without_start))
            }
            RowsAt::Rows(block) => self.take::<false>(spool_format::rows(bytes, block).map(without_start)),
            RowsAt::Urls(units) => self.take::<false>(input.held_urls().read(units).map(without_start)),
            RowsAt::FrontCoded { .. } | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {
                unreachable!("{NOT_YET}")
            }
        }
    }

    /// As [`Surveyor::take_all`], and records the entries.
    fn take_recording(&mut self, chunk: &Chunk, input: &'r Input) -> Result<(Tally, bool)> {
        let bytes = input.bytes();
        match &chunk.rows {
            RowsAt::Lines(own) => {
                let lines = lines::lines(&bytes[own.clone()], own.start as u64);
                self.judge.begin_lines(&lines);
                let start = own.start;
                self.take::<true>(
                    lines.map(|line| (InputRow::of_line(0, line), line.offset as usize - start)),
                )
            }
            RowsAt::Rows(block) => self.take::<true>(spool_format::rows(bytes, block).with_starts()),
            RowsAt::Urls(_) | RowsAt::FrontCoded { .. } | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {
                unreachable!("{NOT_YET}")
            }
        }
    }

    /// Judges `rows`, each with its start in the chunk, and records their entries if `RECORDS`.
    #[inline]
    fn take<'i, const RECORDS: bool>(
        &mut self,
        rows: impl Iterator<Item = (InputRow<'i>, usize)>,
    ) -> Result<(Tally, bool)> {
        let mut tally = Tally::default();
        let mut all_clean = true;
        for (row, start) in rows {
            self.stop.check_at(tally.lines)?;
            self.judge.tally(row.content, &mut tally, |entry| {
                let is_raw = matches!(row.content, Content::Url(raw, _) if entry.url.is(raw));
                all_clean &= is_raw && entry.tags.is_empty();
                if self.seeks_smallest_mark {
                    self.smallest_mark =
                        Some(SmallestMark::or(self.smallest_mark, self.keys.len(), entry.url));
                }
                self.keys.push(self.secret.key(entry.url.as_bytes()));
                self.sizes.push(entry.size());
                if let Some(recorder) = self.recorder.as_mut().filter(|_| RECORDS) {
                    recorder.push(&entry, place(row.content, start, entry.url.may_grow()), is_raw);
                }
                if let Some(instants) = &mut self.instants {
                    instants.push(entry.instant.unwrap_or(NO_INSTANT));
                }
            });
        }
        Ok((tally, all_clean))
    }
}

const NOT_YET: &str = "nothing was front-coded or picked yet, and held URLs are not recorded";

/// The place of a row that starts at `start` in its chunk. `may_grow` is about its URL.
#[inline]
fn place(content: Content<'_>, start: usize, may_grow: bool) -> Option<RowAt> {
    let length = match content {
        Content::Url(raw, _) => raw.len(),
        Content::Entry(entry) => entry.url.as_bytes().len() + spool_format::UNTAGGED_OVERHEAD_BYTES,
        Content::Bad(..) => 0,
    };
    RowAt::new(start, length, may_grow)
}

fn drop_duplicates(job: &Job, keys: &Keys<'_>, chunks: &[ListedChunk], stop: &Stop) -> Result<()> {
    let remove = |chunk: usize, ordinal| chunks[chunk].survivors.remove(ordinal);
    let (rounds, threads) = keys.rounds(job.resources.threads.get());
    let expected = keys.expected(rounds);
    // A small input leaves most partitions empty, and each one costs a hand-over between threads.
    let shares = (0..PARTITIONS)
        .filter(|&partition| dedup::has_several(keys.chunks(partition)))
        .flat_map(|partition| (0..rounds).map(move |number| Round { partition, number, rounds, expected }));
    let chunks = |round: Round| keys.chunks(round.partition);
    match job.rules.on_duplicate {
        OnDuplicate::First => {
            let work = |table: &mut Table, round| dedup::find_duplicates(chunks(round), round, table, remove);
            ordered(threads, shares, Table::default, work, |done| stop.check().and(done))
        }
        OnDuplicate::Newest => {
            let work = |table: &mut NewestTable, round| {
                dedup::find_all_but_newest(chunks(round), round, table, remove)
            };
            ordered(threads, shares, NewestTable::default, work, |done| stop.check().and(done))
        }
    }
}

/// The size that the listed entries of each chunk take.
fn chunk_sizes(chunks: &[ListedChunk], keys: &Keys<'_>) -> Result<Vec<EntrySize>> {
    let size = |(at, chunk)| listed(chunk, keys, at).map(|(_, size)| size).sum();
    let mut sizes = Vec::new();
    reserve(&mut sizes, chunks.len())?;
    chunks.par_iter().enumerate().map(size).collect_into_vec(&mut sizes);
    Ok(sizes)
}

/// Divides the listed entries into sitemaps.
fn divide(
    rules: &SetRules,
    chunks: &[ListedChunk],
    sizes: &[EntrySize],
    keys: &Keys<'_>,
) -> Result<Vec<PlannedSitemap<EntryAt>>> {
    let mut divider = Divider::new(rules.sitemap_limits(), &Frame::sitemap(rules.protocol));
    for (at, chunk) in chunks.iter().enumerate() {
        let entries = listed(chunk, keys, at).map(|(ordinal, size)| (EntryAt { chunk: at, ordinal }, size));
        divider.push_together(chunk.listed, sizes[at], entries)?;
    }
    Ok(divider.finish())
}

/// Ordinals of the entries of `chunk`, which is the `at`th, that are listed, and what they take.
fn listed<'a>(
    chunk: &'a ListedChunk,
    keys: &'a Keys<'_>,
    at: usize,
) -> impl Iterator<Item = (usize, EntrySize)> + 'a {
    let all = keys.sizes(at).iter().enumerate();
    all.filter(|&(ordinal, _)| chunk.survivors.contains(ordinal))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;

    use super::*;
    use crate::common::progress::Silent;
    use crate::survey::judge::Rules;

    #[test]
    fn a_request_to_stop_is_noticed_within_a_chunk() {
        let path = std::env::temp_dir().join(format!("sitemill-stopped-{}", std::process::id()));
        fs::write(&path, "https://h.example/\n".repeat(1_000)).unwrap();
        let input = Input::lines(&path, &File::open(&path).unwrap(), None).unwrap();
        fs::remove_file(&path).unwrap();
        let job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), PathBuf::new());
        let (rules, stop, secret) = (Rules::of(&job), Stop::default(), Secret::draw().unwrap());
        let run = Context { job: &job, rules: &rules, progress: &Silent, stop: &stop };
        let mut surveyor = Surveyor::new(run, &secret, None);
        let mut is_surveyed = || surveyor.survey(0, &input, Extent::Lines(0..19_000)).is_ok();
        assert!(is_surveyed());
        stop.raise(0);
        assert!(!is_surveyed());
    }
}
