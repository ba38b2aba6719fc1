//! Pass 1, survey: reads everything, decides everything, writes nothing.
//!
//! Every chunk is cleaned and keyed on its own, every hash partition deduplicated on its own, and what is left is divided
//! into sitemaps. The outcome is a [`Plan`]: 2 bits and a few words a chunk are all that is kept of the input.

use std::io::Write;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;

use super::Run;
use super::judge::{Judge, Rules};
use super::ordered::ordered;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::progress::Pass;
use crate::report::Example;
use crate::stage::clean::{Cleaned, Reason, Rejected};
use crate::stage::dedup::{self, ChunkKeys, PARTITIONS, Secret, Survivors, Table};
use crate::stage::divide::{Divider, Part};
use crate::stage::input::Input;
use crate::stage::lines::{self, Line};
use crate::stage::rejects;
use crate::stage::xml::{self, Frame};
use crate::stop::Stop;
use crate::text;

/// Which lines are listed, and in which sitemap.
#[derive(Debug)]
pub struct Plan {
    /// In input order.
    pub chunks: Vec<Chunk>,
    /// In the order of their numbers.
    pub sitemaps: Vec<Part<Place>>,
    /// All lines, accounted for.
    pub tally: Tally,
}

/// Where a URL stands: in which chunk, and which of its URLs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the chunk.
    pub chunk: usize,
    /// Counts the chunk's lines that the judge accepts, from 0.
    pub ordinal: usize,
}

/// A stretch of whole lines of one input, and what became of them.
#[derive(Debug)]
pub struct Chunk {
    /// Index of the input.
    pub input: usize,
    /// Its bytes there.
    pub range: Range<usize>,
    /// Which of its URLs are listed.
    pub survivors: Survivors,
    /// Whether every line of it is a canonical URL as it stands, so that the second pass can do without a judge.
    pub is_clean: bool,
    /// Lines before it in its input.
    lines_before: u64,
    tally: Tally,
}

/// Lines by what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// All lines.
    pub lines: u64,
    /// Nothing but spaces and tabs.
    pub blank: u64,
    /// In a sitemap.
    pub listed: u64,
    /// Equal to an earlier one.
    pub duplicates: u64,
    /// Refused.
    pub rejected: Rejected,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            blank: self.blank + other.blank,
            listed: self.listed + other.listed,
            duplicates: self.duplicates + other.duplicates,
            rejected: self.rejected + other.rejected,
        }
    }

    /// Every line is blank, listed, a duplicate or refused.
    fn is_balanced(&self) -> bool {
        self.lines == self.blank + self.listed + self.duplicates + self.rejected.total()
    }
}

/// What is known of a chunk before duplicates are.
struct Surveyed {
    chunk: Chunk,
    keys: ChunkKeys,
    /// Bytes of the entry of each URL, in input order.
    entry_bytes: Box<[u16]>,
}

/// Surveys `inputs`.
///
/// # Errors
/// If memory runs out or `stop` is raised.
pub fn survey(Run { job, rules, progress, stop }: Run<'_>, inputs: &[Input]) -> Result<Plan> {
    let secret = Secret::draw()?;
    let ranges: Vec<(usize, Range<usize>)> = inputs
        .iter()
        .enumerate()
        .flat_map(|(input, bytes)| lines::chunks(bytes.bytes().len()).map(move |range| (input, range)))
        .collect();

    progress.begin(Pass::Survey, inputs.iter().map(|input| input.bytes().len() as u64).sum());
    let surveyed: Vec<Surveyed> = ranges
        .into_par_iter()
        .map_init(
            || Surveyor {
                judge: Judge::new(rules),
                secret: &secret,
                keys: Vec::new(),
                entry_bytes: Vec::new(),
            },
            |surveyor, (input, range)| {
                stop.check()?;
                let nominal_bytes = range.len() as u64;
                let surveyed = surveyor.survey(input, inputs[input].bytes(), range);
                progress.advance(nominal_bytes);
                Ok(surveyed)
            },
        )
        .collect::<Result<_>>()?;
    strike_duplicates(&surveyed, stop)?;
    progress.end();

    let (chunks, entry_bytes): (Vec<Chunk>, Vec<Box<[u16]>>) =
        surveyed.into_iter().map(|surveyed| (surveyed.chunk, surveyed.entry_bytes)).unzip();
    let chunks = account(chunks);
    let tally = chunks.iter().fold(Tally::default(), |sum, chunk| sum.add(chunk.tally));
    let sitemaps = divide(job, &chunks, &entry_bytes);
    let planned: u64 = sitemaps.iter().map(|part| u64::from(part.entries)).sum();
    if !tally.is_balanced() || planned != tally.listed {
        return Err(Error::new(
            crate::ErrorKind::Internal,
            format!("the lines do not add up ({tally:?}, {planned} planned)"),
        ));
    }
    Ok(Plan { chunks, sitemaps, tally })
}

/// Surveys chunk after chunk with the same scratch memory.
struct Surveyor<'r> {
    judge: Judge<'r>,
    secret: &'r Secret,
    keys: Vec<dedup::Key>,
    entry_bytes: Vec<u16>,
}

impl Surveyor<'_> {
    fn survey(&mut self, input: usize, bytes: &[u8], nominal: Range<usize>) -> Surveyed {
        let range = lines::own(bytes, nominal);
        let mut tally = Tally::default();
        let mut is_clean = true;
        self.keys.clear();
        self.entry_bytes.clear();
        for line in lines::lines(&bytes[range.clone()], range.start as u64) {
            tally.lines += 1;
            match self.judge.judge(line.raw) {
                Cleaned::Url(url) => {
                    is_clean &= url.is(line.raw);
                    self.keys.push(self.secret.key(url));
                    let entry_bytes = xml::url_bytes(url);
                    self.entry_bytes.push(entry_bytes.try_into().expect("URL_ENTRY_BYTES_MAX fits"));
                }
                Cleaned::Rejected(reason) => tally.rejected[reason] += 1,
                Cleaned::Blank => tally.blank += 1,
            }
        }
        is_clean &= self.keys.len() as u64 == tally.lines;
        let survivors = Survivors::all(self.keys.len());
        Surveyed {
            chunk: Chunk { input, range, survivors, is_clean, lines_before: 0, tally },
            keys: ChunkKeys::part(&self.keys),
            entry_bytes: self.entry_bytes.as_slice().into(),
        }
    }
}

fn strike_duplicates(surveyed: &[Surveyed], stop: &Stop) -> Result<()> {
    (0..PARTITIONS).into_par_iter().try_for_each_init(Table::default, |table, partition| {
        stop.check()?;
        let keys = surveyed.iter().map(|surveyed| &surveyed.keys);
        dedup::find_duplicates(keys, partition, table, |chunk, ordinal| {
            surveyed[chunk].chunk.survivors.strike(ordinal);
        })
    })
}

/// Completes the tallies, now that duplicates are known, and counts the lines before each chunk.
fn account(mut chunks: Vec<Chunk>) -> Vec<Chunk> {
    let mut input = 0;
    let mut lines_before = 0;
    for chunk in &mut chunks {
        if chunk.input != input {
            (input, lines_before) = (chunk.input, 0);
        }
        chunk.lines_before = lines_before;
        lines_before += chunk.tally.lines;
        let tally = &mut chunk.tally;
        tally.listed = chunk.survivors.count().into();
        tally.duplicates = tally.lines - tally.blank - tally.rejected.total() - tally.listed;
    }
    chunks
}

/// Divides the listed URLs into sitemaps. A chunk that fits as a whole is taken as a whole.
fn divide(job: &Job, chunks: &[Chunk], entry_bytes: &[Box<[u16]>]) -> Vec<Part<Place>> {
    let sizes: Vec<u64> = chunks
        .par_iter()
        .zip(entry_bytes)
        .map(|(chunk, entry_bytes)| listed(chunk, entry_bytes).map(|(_, bytes)| bytes).sum())
        .collect();
    let mut divider = Divider::new(job.sitemap_limits(), &Frame::sitemap(job.protocol));
    for (at, (chunk, entry_bytes)) in chunks.iter().zip(entry_bytes).enumerate() {
        if !divider.push_run(chunk.tally.listed as u32, sizes[at]) {
            for (ordinal, bytes) in listed(chunk, entry_bytes) {
                divider.push(Place { chunk: at, ordinal }, bytes);
            }
        }
    }
    divider.finish()
}

/// Ordinals and entry bytes of the URLs of `chunk` that are listed.
fn listed<'a>(chunk: &'a Chunk, entry_bytes: &'a [u16]) -> impl Iterator<Item = (usize, u64)> + 'a {
    let all = entry_bytes.iter().enumerate();
    all.filter(|&(ordinal, _)| chunk.survivors.contains(ordinal))
        .map(|(ordinal, &bytes)| (ordinal, bytes.into()))
}

impl Plan {
    /// Writes the rows of all refused lines to `out`, in input order. Their chunks are judged once more: to keep the
    /// rows of a damaged export in memory would cost more than all the rest.
    ///
    /// # Errors
    /// If `path`, where `out` leads, cannot be written to, or if `stop` is raised.
    pub fn write_rejects(
        &self,
        Run { job, rules, stop, .. }: Run<'_>,
        inputs: &[Input],
        path: &Path,
        mut out: impl Write,
    ) -> Result<()> {
        let unwritten = |error| Error::io(path, "could not be written", error);
        out.write_all(rejects::HEADER.as_bytes()).map_err(unwritten)?;
        let rows = |judge: &mut Judge<'_>, chunk: &Chunk| {
            let mut rows = Vec::new();
            for (number, line, reason) in chunk.rejects(inputs, judge) {
                rejects::push_row(inputs[chunk.input].name(), number, line, reason, &mut rows);
            }
            rows
        };
        let with_rejects = self.chunks.iter().filter(|chunk| chunk.tally.rejected.total() > 0);
        ordered(
            job.threads.get(),
            with_rejects,
            || Judge::new(rules),
            rows,
            |rows| {
                stop.check()?;
                out.write_all(&rows).map_err(unwritten)
            },
        )
    }

    /// The first refused line of every reason that occurred.
    pub fn examples(&self, rules: &Rules, inputs: &[Input]) -> Vec<Example> {
        let mut judge = Judge::new(rules);
        let first_of = |reason: Reason| self.chunks.iter().find(|chunk| chunk.tally.rejected[reason] > 0);
        let mut examples = Vec::new();
        for (reason, chunk) in Reason::ALL.into_iter().filter_map(|r| Some((r, first_of(r)?))) {
            let first = chunk.rejects(inputs, &mut judge).into_iter().find(|&(.., r)| r == reason);
            examples.extend(first.map(|(line, Line { raw, .. }, _)| Example {
                reason: reason.as_str(),
                input: text::shown(inputs[chunk.input].name().as_os_str().as_encoded_bytes()),
                line,
                text: text::shown(raw),
            }));
        }
        examples
    }
}

impl Chunk {
    /// Its lines, of the `inputs` that were surveyed.
    pub fn lines<'i>(&self, inputs: &'i [Input]) -> impl Iterator<Item = Line<'i>> + use<'i> {
        lines::lines(&inputs[self.input].bytes()[self.range.clone()], self.range.start as u64)
    }

    /// Its refused lines, with their numbers.
    fn rejects<'i>(&self, inputs: &'i [Input], judge: &mut Judge<'_>) -> Vec<(u64, Line<'i>, Reason)> {
        (self.lines_before + 1..)
            .zip(self.lines(inputs))
            .filter_map(|(number, line)| match judge.judge(line.raw) {
                Cleaned::Rejected(reason) => Some((number, line, reason)),
                _ => None,
            })
            .collect()
    }
}
