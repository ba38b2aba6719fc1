//! Pass 1, survey: reads everything, decides everything, writes nothing.
//!
//! Every chunk is cleaned and keyed on its own, every hash partition deduplicated on its own, and what is left is divided
//! into sitemaps. The outcome is a [`Plan`]: a bit an entry and a few words a chunk are all that is kept of the input.

use rayon::prelude::*;

use super::Run;
use super::judge::{Judge, Judged};
use super::plan::{Chunk, Place, Plan, RowsAt, Tally};
use crate::error::{Error, ErrorKind, Result};
use crate::job::{Job, OnDuplicate};
use crate::progress::Pass;
use crate::stage::dedup::{self, ChunkKeys, NO_INSTANT, NewestTable, PARTITIONS, Secret, Survivors, Table};
use crate::stage::divide::{Divider, Part};
use crate::stage::input::{Extent, Input};
use crate::stage::lines;
use crate::stage::rows::{self, Content, Row};
use crate::stage::xml::{Frame, Namespaces};
use crate::stop::Stop;

/// What is known of a chunk before duplicates are.
struct Surveyed {
    chunk: Chunk,
    keys: ChunkKeys,
    sizes: Sizes,
}

/// How much room the entries of a chunk take.
struct Sizes {
    /// Bytes of each entry without extras, in input order.
    entry_bytes: Box<[u16]>,
    /// Ordinals, bytes and namespaces of those that have extras.
    extras: Box<[(u16, u32, Namespaces)]>,
}

/// Surveys `inputs`.
///
/// # Errors
/// If memory runs out or `stop` is raised.
pub fn survey(run: Run<'_>, inputs: &[Input]) -> Result<Plan> {
    let Run { job, progress, stop, .. } = run;
    let secret = Secret::draw()?;
    let extents: Vec<(usize, Extent)> = inputs
        .iter()
        .enumerate()
        .flat_map(|(at, input)| input.extents().into_iter().map(move |extent| (at, extent)))
        .collect();

    progress.begin(Pass::Survey, extents.iter().map(|(_, extent)| extent.bytes()).sum());
    let surveyed: Vec<Surveyed> = extents
        .into_par_iter()
        .map_init(
            || Surveyor::new(run, &secret),
            |surveyor, (at, extent)| {
                stop.check()?;
                let bytes = extent.bytes();
                let surveyed = surveyor.survey(at, inputs[at].bytes(), extent);
                progress.advance(bytes);
                Ok(surveyed)
            },
        )
        .collect::<Result<_>>()?;
    strike_duplicates(job.on_duplicate, &surveyed, stop)?;
    progress.end();

    let (chunks, sizes): (Vec<Chunk>, Vec<Sizes>) =
        surveyed.into_iter().map(|surveyed| (surveyed.chunk, surveyed.sizes)).unzip();
    let chunks = account(chunks);
    let tally = chunks.iter().fold(Tally::default(), |sum, chunk| sum.add(chunk.tally));
    let sitemaps = divide(job, &chunks, &sizes);
    let planned: u64 = sitemaps.iter().map(|part| u64::from(part.entries)).sum();
    if !tally.is_balanced() || planned != tally.listed {
        return Err(Error::new(
            ErrorKind::Internal,
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
    extras: Vec<(u16, u32, Namespaces)>,
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
            entry_bytes: Vec::new(),
            extras: Vec::new(),
            instants,
        }
    }

    fn survey(&mut self, input: usize, bytes: &[u8], extent: Extent) -> Surveyed {
        self.keys.clear();
        self.entry_bytes.clear();
        self.extras.clear();
        self.instants.iter_mut().for_each(Vec::clear);
        let (rows, (tally, all_clean)) = match extent {
            Extent::Lines(nominal) => {
                let own = lines::own(bytes, nominal);
                // Their numbers are not known yet, and not needed.
                let rows = lines::lines(&bytes[own.clone()], own.start as u64);
                (RowsAt::Lines(own), self.take(rows.map(|line| Row::of_line(0, line))))
            }
            Extent::Rows(block) => {
                let taken = self.take(rows::rows(bytes, &block));
                (RowsAt::Rows(block), taken)
            }
        };
        let is_clean = all_clean && self.keys.len() as u64 == tally.lines;
        let survivors = Survivors::all(self.keys.len());
        Surveyed {
            chunk: Chunk { input, rows, survivors, is_clean, lines_before: 0, tally },
            keys: ChunkKeys::part(&self.keys, self.instants.as_deref().unwrap_or(&[])),
            sizes: Sizes {
                entry_bytes: self.entry_bytes.as_slice().into(),
                extras: self.extras.as_slice().into(),
            },
        }
    }

    /// Judges `rows` and keeps what is to be known of their entries; whether all of these are clean lines without tags.
    #[inline]
    fn take<'i>(&mut self, rows: impl Iterator<Item = Row<'i>>) -> (Tally, bool) {
        let mut tally = Tally::default();
        let mut all_clean = true;
        for row in rows {
            tally.lines += 1;
            let dropped = &mut tally.dropped;
            match self.judge.judge(row.content, &mut |reason| dropped[reason] += 1) {
                Judged::Entry(entry) => {
                    all_clean &= entry.tags.is_empty()
                        && matches!(row.content, Content::Url(raw, _) if entry.url.is(raw));
                    if !entry.extras.xml.is_empty() {
                        let ordinal =
                            u16::try_from(self.keys.len()).expect("a chunk's URLs have such ordinals");
                        self.extras.push((ordinal, entry.extras.xml.len() as u32, entry.extras.uses));
                    }
                    self.keys.push(self.secret.key(entry.url));
                    self.entry_bytes.push(entry.bytes().try_into().expect("ENTRY_BYTES_MAX fits"));
                    if let Some(instants) = &mut self.instants {
                        instants.push(entry.instant.unwrap_or(NO_INSTANT));
                    }
                }
                Judged::Rejected(reason) => tally.rejected[reason] += 1,
                Judged::Blank => tally.blank += 1,
            }
        }
        (tally, all_clean)
    }
}

fn strike_duplicates(on_duplicate: OnDuplicate, surveyed: &[Surveyed], stop: &Stop) -> Result<()> {
    let keys = surveyed.iter().map(|surveyed| &surveyed.keys);
    let strike = |chunk: usize, ordinal| surveyed[chunk].chunk.survivors.strike(ordinal);
    let partitions = (0..PARTITIONS).into_par_iter();
    match on_duplicate {
        OnDuplicate::First => partitions.try_for_each_init(Table::default, |table, partition| {
            stop.check()?;
            dedup::find_duplicates(keys.clone(), partition, table, strike)
        }),
        OnDuplicate::Newest => partitions.try_for_each_init(NewestTable::default, |table, partition| {
            stop.check()?;
            dedup::find_all_but_newest(keys.clone(), partition, table, strike)
        }),
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

/// Divides the listed entries into sitemaps. A chunk that fits as a whole is taken as a whole.
fn divide(job: &Job, chunks: &[Chunk], sizes: &[Sizes]) -> Vec<Part<Place>> {
    let whole: Vec<(u64, Namespaces)> = chunks
        .par_iter()
        .zip(sizes)
        .map(|(chunk, sizes)| {
            let add = |(sum, all): (u64, Namespaces), (_, bytes, uses)| (sum + bytes, all.and(uses));
            listed(chunk, sizes).fold((0, Namespaces::NONE), add)
        })
        .collect();
    let mut divider = Divider::new(job.sitemap_limits(), &Frame::sitemap(job.protocol));
    for (at, (chunk, sizes)) in chunks.iter().zip(sizes).enumerate() {
        let (bytes, uses) = whole[at];
        if !divider.push_run(chunk.tally.listed as u32, bytes, uses) {
            for (ordinal, bytes, uses) in listed(chunk, sizes) {
                divider.push(Place { chunk: at, ordinal }, bytes, uses);
            }
        }
    }
    divider.finish()
}

/// Ordinals, bytes and namespaces of the entries of `chunk` that are listed.
fn listed<'a>(chunk: &'a Chunk, sizes: &'a Sizes) -> impl Iterator<Item = (usize, u64, Namespaces)> + 'a {
    let mut extras = sizes.extras.iter().peekable();
    let all = sizes.entry_bytes.iter().enumerate().map(move |(ordinal, &bytes)| {
        let here = extras.next_if(|&&(at, ..)| usize::from(at) == ordinal);
        let (extra_bytes, uses) = here.map_or((0, Namespaces::NONE), |&(_, bytes, uses)| (bytes, uses));
        (ordinal, u64::from(bytes) + u64::from(extra_bytes), uses)
    });
    all.filter(|&(ordinal, ..)| chunk.survivors.contains(ordinal))
}
