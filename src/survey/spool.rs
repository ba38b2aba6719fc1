//! Maps inputs for both passes. Inputs that are not files of plain lines are first copied to scratch, as lines or as rows. Rows
//! from code that consist only of a URL stay where they are, as far as the memory limit allows. Small files are read.

mod held;
mod small;

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::context::Context;
use super::inputs::SourceFacts;
use super::judge::{Judge, Judged, is_of_foreign_bytes};
use super::memory::{Memory, with_page_memory};
use crate::clean::Reason;
use crate::clean::screen::RuleCounts;
use crate::common::fallible::reserve_more;
use crate::common::ordered::ordered;
use crate::common::pipe::FirstFailure;
use crate::common::progress::Phase;
use crate::error::{Error, Result};
use crate::intake::format::{self, FormatOptions, Opened, Record, Sink, Unit, UnitFacts, Units};
use crate::intake::input::{Input, UnreadInput};
use crate::intake::lines::CHUNK_BYTES;
use crate::intake::scratch::{Copied, Scratch, ScratchSpace};
use crate::intake::spool_format::{Block, Content, InputRow, RowBuffer};
use crate::sitemap::tags::{GivenTags, RawTags};
use held::{Held, hold};
use small::FileMaps;

const BUFFER_BYTES: usize = 1 << 20;

/// URLs from code may take this fraction (a quarter) of the memory for data that grows with the input.
const URLS_SHARE: usize = 4;

/// Maps or reads all `sources`, several at a time. Returns the inputs and the facts about each source. A source of rows from code
/// may become two inputs.
///
/// # Errors
/// If an input does not have the expected format, cannot be mapped or cannot be read; if scratch space runs out; or if `stop` is
/// raised.
pub fn mapped_all(
    run: Context<'_>,
    sources: Vec<UnreadInput<'_>>,
    memory: &Memory,
) -> Result<(Vec<Input>, Vec<SourceFacts>)> {
    let threads = run.job.resources.threads.get();
    // Separate files can be read more independently than the rows of one file, so threads are assigned to files first.
    let at_once = threads.min(sources.len()).max(1);
    let mut inputs = Vec::with_capacity(sources.len());
    let mut facts = Vec::with_capacity(sources.len());
    // Most inputs need no reading.
    let reading = OnceLock::new();
    let begin = || _ = reading.get_or_init(|| run.progress.phase(Phase::Read, 0));
    let failed = FirstFailure::default();
    let options = with_page_memory(&run.job.input.format, run.job.resources.memory, threads);
    let from_code = sources.iter().filter(|source| source.path().is_none()).count();
    let urls_bytes_max = memory.hold / URLS_SHARE / from_code.max(1);
    let maps = FileMaps::new(memory);
    let work = |(): &mut (), (number, source)| {
        let (threads, failed) = (threads.div_ceil(at_once), failed.of(number));
        let (scratch, options, maps, begin) = (&memory.scratch, &options, &maps, &begin);
        Reading { run, options, scratch, maps, urls_bytes_max, threads, failed, begin }.mapped(source)
    };
    ordered(
        at_once,
        sources.into_iter().enumerate(),
        || (),
        work,
        |mapped| {
            if let Some((of_input, of_source)) = mapped? {
                inputs.extend(of_input);
                facts.push(of_source);
            }
            run.stop.check()
        },
    )?;
    Ok((inputs, facts))
}

/// The context for reading one input.
struct Reading<'r> {
    run: Context<'r>,
    options: &'r FormatOptions,
    /// The destination of copies.
    scratch: &'r Arc<ScratchSpace>,
    maps: &'r FileMaps<'r>,
    /// Maximum bytes of memory for URLs from code.
    urls_bytes_max: usize,
    threads: usize,
    failed: FirstFailure,
    /// Called before the first byte is copied.
    begin: &'r dyn Fn(),
}

impl Reading<'_> {
    /// Maps a file of plain lines in place. Any other input is copied, unpacked or read into a scratch file first. Returns
    /// `None` for a pipe that is no longer read because another input has failed: the error of that input is reported.
    fn mapped(&self, source: UnreadInput<'_>) -> Result<Option<(Vec<Input>, SourceFacts)>> {
        let Self { run, failed, .. } = self;
        let is_pipe = !source.is_file();
        self.map_or_copy(source).map(Some).or_else(|error| {
            // A read that was interrupted by `stop` reports the stop.
            run.stop.check()?;
            failed.set();
            if is_pipe && failed.is_another() { Ok(None) } else { Err(error) }
        })
    }

    fn map_or_copy(&self, source: UnreadInput<'_>) -> Result<(Vec<Input>, SourceFacts)> {
        let &Self { run, scratch, maps, begin, .. } = self;
        let name = source.name().to_owned();
        let (raw, identity) = source.into_raw()?;
        let streamed = Arc::new(AtomicU64::new(0));
        let copied = Copied::of(&name, &raw, &streamed);
        let known_bytes = identity.map(|identity| identity.bytes()).or_else(|| raw.remote_bytes());
        let raw = raw.watched(run.stop, &self.failed, &streamed)?;
        let (mut non_utf8, mut rules) = (0, RuleCounts::default());
        let (mut facts, opened) = format::open(&name, raw, self.options)?;
        let inputs = match opened {
            Opened::Plain(file) => vec![Input::of(&name, maps.map(&name, &file)?, identity)],
            Opened::Lines(lines) => {
                begin();
                let (stream, failed) = lines.into_parts();
                let file = copy(stream, failed, &copied, scratch, run)?;
                vec![Input::of(&name, maps.map(&name, &file)?, identity)]
            }
            Opened::Rows(reader) => {
                begin();
                let Held { urls, rest } = hold(run, reader.units, self.urls_bytes_max)?;
                let mut inputs = Vec::new();
                if urls.rows() > 0 {
                    inputs.push(Input::urls(&name, urls));
                }
                if let Some(units) = rest {
                    let to = Scratch::copy_of(copied, scratch)?;
                    let Spooled { blocks, given_tags, facts: of_rows, non_utf8: odd, rules: applied } =
                        self.read_rows(units, &to)?;
                    facts.take(of_rows);
                    (non_utf8, rules) = (odd, applied);
                    let map = maps.map(&name, to.file())?;
                    let input = Input::of(&name, map, identity).with_blocks(blocks);
                    let continues = !inputs.is_empty();
                    inputs.push(input.with_tags(given_tags).continuing(continues));
                }
                inputs
            }
        };
        let bytes = known_bytes.unwrap_or_else(|| streamed.load(Ordering::Relaxed));
        Ok((inputs, SourceFacts { facts, bytes, non_utf8, rules }))
    }

    /// Reads and judges rows, once for both passes.
    fn read_rows(&self, units: Units<'_>, to: &Scratch) -> Result<Spooled> {
        let &Self { run, threads, ref failed, .. } = self;
        let mut all = Spooled::default();
        let worker = || Spooler::new(run, to);
        let work = |worker: &mut Spooler<'_>, unit: Result<Unit<'_>>| worker.spool(unit?);
        let mut take = |spooled: Result<Spooled>| {
            let Spooled { blocks, given_tags, facts, non_utf8, rules } = spooled?;
            reserve_more(&mut all.blocks, blocks.len())?;
            all.blocks.extend(blocks);
            all.given_tags = all.given_tags + given_tags;
            all.facts.merge(&facts);
            all.non_utf8 += non_utf8;
            all.rules.merge(&rules);
            run.stop.check()
        };
        // After an error, units may still be waiting for the pipe.
        ordered(threads, units, worker, work, |spooled| take(spooled).inspect_err(|_| failed.set()))?;
        Ok(all)
    }
}

/// Copies plain lines to scratch.
fn copy(
    mut stream: Box<dyn Read + Send>,
    failed: impl Fn(io::Error) -> Error,
    of: &Copied,
    scratch: &ScratchSpace,
    Context { progress, stop, .. }: Context<'_>,
) -> Result<File> {
    of.check_packed(scratch)?;
    let mut file = scratch.new_file()?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut copied = 0;
    loop {
        stop.check()?;
        let bytes = match stream.read(&mut buffer) {
            Ok(0) => {
                let there = file.metadata().map_err(|error| of.failed(scratch, copied, copied, error))?.len();
                return if there == copied { Ok(file) } else { Err(of.incomplete(scratch, copied, there)) };
            }
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        let written = copied;
        copied += bytes as u64;
        file.write_all(&buffer[..bytes]).map_err(|error| of.failed(scratch, written, copied, error))?;
        scratch.add_written(bytes as u64);
        progress.advance(bytes as u64);
    }
}

/// Rows in scratch.
#[derive(Default)]
struct Spooled {
    /// The blocks of the rows, in order.
    blocks: Vec<Block>,
    /// Counts of the tags in the rows.
    given_tags: GivenTags,
    /// Facts about the input besides its rows.
    facts: UnitFacts,
    /// The number of rows whose URL has bytes that are not UTF-8 and that the survey can no longer detect.
    non_utf8: u64,
    /// The rules that applied to rows that are entries now, to which the survey does not apply them again.
    rules: RuleCounts,
}

/// Judges rows and writes them to scratch, unit by unit.
struct Spooler<'r> {
    run: Context<'r>,
    judge: Judge<'r>,
    to: &'r Scratch,
    rows: RowBuffer,
    /// The blocks and counts of the current unit.
    spooled: Spooled,
}

impl<'r> Spooler<'r> {
    fn new(run: Context<'r>, to: &'r Scratch) -> Self {
        let judge = Judge::new(run.rules);
        Self { run, judge, to, rows: RowBuffer::default(), spooled: Spooled::default() }
    }

    fn spool(&mut self, unit: Unit<'_>) -> Result<Spooled> {
        self.rows.begin();
        self.spooled.facts = unit.read(self)?;
        self.spooled.rules = self.judge.take_notes().rules;
        self.end_block()?;
        Ok(std::mem::take(&mut self.spooled))
    }

    fn end_block(&mut self) -> Result<()> {
        self.run.stop.check()?;
        if !self.rows.bytes().is_empty() {
            let at = self.to.append(self.rows.bytes())?;
            self.run.progress.advance(self.rows.bytes().len() as u64);
            self.spooled.blocks.push(self.rows.end_block(at));
        }
        Ok(())
    }

    fn end_row(&mut self) -> Result<()> {
        if self.rows.is_full(CHUNK_BYTES) { self.end_block() } else { Ok(()) }
    }
}

impl Sink for Spooler<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let &Record { line, offset, url, section, lastmod, changefreq, priority, extras } = record;
        let tags = RawTags { lastmod, changefreq, priority, extras, section };
        let raw = Content::Url(url, tags);
        let mut has_dropped = false;
        // Rejected rows and rows with dropped tags are kept as they were written, for the reject file.
        let judged = self.judge.judge(raw, &mut |_| has_dropped = true);
        let GivenTags { of_entries, of_rejected } = &mut self.spooled.given_tags;
        tags.count(if matches!(judged, Judged::Entry(_)) { of_entries } else { of_rejected });
        let content = match judged {
            Judged::Entry(entry) if !has_dropped => {
                self.spooled.non_utf8 += u64::from(is_of_foreign_bytes(entry.url, raw));
                Content::Entry(entry)
            }
            _ => raw,
        };
        let is_entry = matches!(content, Content::Entry(_));
        self.rows.push(&InputRow { line, offset, content });
        if is_entry {
            self.judge.count_accepted();
        }
        self.end_row()
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.rows.push(&InputRow { line, offset, content: Content::Bad(text, reason) });
        self.end_row()
    }
}
