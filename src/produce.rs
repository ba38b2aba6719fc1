//! Pass 2, produce: writes what the plan says and decides nothing.
//!
//! Sitemaps are independent, so that the output cannot depend on the number of threads. Each worker reads the lines of one
//! sitemap again, renders it piece by piece into its compressor, and one thread brings the results to disk. A sitemap
//! that may lie there already is rendered without the compressor first; a run into an empty directory has none of these.

mod syncing;

use xxhash_rust::xxh3::Xxh3;

use crate::common::ordered::ordered;
use crate::common::progress::Pass;
use crate::common::secret::Secret;
use crate::compress::gzip::Compressor;
use crate::error::{Result, reserve};
use crate::intake::input::Input;
use crate::intake::lines;
use crate::intake::spool_format;
use crate::intake::spool_format::Row;
use crate::job::Job;
use crate::produce::syncing::syncing;
use crate::set::manifest::{Seal, Seals, Sitemap};
use crate::set::publish::Workspace;
use crate::set::publish::known::Known;
use crate::set::publish::name::ContentHash;
use crate::sitemap::divide::Part;
use crate::sitemap::entry::Entry;
use crate::sitemap::xml::Frame;
use crate::survey::Run;
use crate::survey::dedup::Survivors;
use crate::survey::judge::{Judge, Judged};
use crate::survey::plan::{Chunk, Place, Plan, RowsAt};

/// Bytes of XML that are rendered before they are compressed: they stay in the second-level cache between the two.
const PIECE_BYTES: usize = 128 * 1024;

/// Renders, compresses and stages every sitemap of `plan`; `lastmod` is the time of those that are new.
///
/// # Errors
/// If one cannot be written, an input is not what it was in pass 1, or `stop` is raised.
pub fn produce(
    Run { job, rules, progress, stop }: Run<'_>,
    inputs: &[Input],
    plan: &Plan,
    workspace: &Workspace,
    lastmod: &str,
) -> Result<Vec<Sitemap>> {
    progress.begin(Pass::Produce, plan.tally.listed);
    let known = &workspace.known();
    let sink = || Sink::new(job, known.secret());
    let renderer = || Renderer { job, inputs, plan, judge: Judge::new(rules), sink: sink() };
    let work = |renderer: &mut Renderer<'_>, at: usize| {
        stop.check()?;
        Ok((at, renderer.make(known, &plan.sitemaps[at])?))
    };
    let mut staged = Vec::new();
    reserve(&mut staged, plan.sitemaps.len())?;
    syncing(stop, |sync| {
        // From the last to the first: of an input that is larger than memory, pass 1 leaves the end in it. The thread that
        // hands them out is a few ahead.
        let sitemaps = (0..plan.sitemaps.len()).rev().inspect(|&at| plan.will_need(at, inputs));
        ordered(job.threads.get(), sitemaps, renderer, work, |rendered| {
            let (at, rendered) = rendered?;
            let part = &plan.sitemaps[at];
            progress.advance(part.entries.into());
            let Rendered { content, seal, gzip } = match rendered {
                Made::Before(sitemap) => {
                    staged.push(Sitemap { lastmod: lastmod.into(), ..sitemap.clone() });
                    return Ok(());
                }
                Made::Now(rendered) => rendered,
            };
            let file = workspace.stage(part.number, content, seal, &gzip)?;
            staged.push(Sitemap {
                file: file.file,
                content: content.to_string(),
                urls: part.entries,
                xml_bytes: part.bytes,
                gzip_bytes: file.gzip_bytes,
                lastmod: lastmod.into(),
                seals: Some(Seals { xml: seal, gzip: file.gzip_seal }),
            });
            file.unsynced.map_or(Ok(()), sync)
        })
    })?;
    progress.end();
    staged.reverse();
    Ok(staged)
}

/// A finished sitemap.
enum Made<'k> {
    /// By a run before this one.
    Before(&'k Sitemap),
    /// By this one.
    Now(Rendered),
}

/// A sitemap that was rendered and compressed.
struct Rendered {
    content: ContentHash,
    seal: Seal,
    gzip: Vec<u8>,
}

/// Renders sitemap after sitemap with the same scratch memory.
struct Renderer<'r> {
    job: &'r Job,
    inputs: &'r [Input],
    plan: &'r Plan,
    judge: Judge<'r>,
    sink: Sink,
}

impl Renderer<'_> {
    /// Makes the sitemap of `part`, unless it lies there already. Only one that has the size of a known one is worth
    /// rendering to find that out: most that changed are another number of bytes.
    fn make<'k>(&mut self, known: &'k Known, part: &Part<Place>) -> Result<Made<'k>> {
        if known.has_size(part.number, part.entries, part.bytes) {
            self.sink.is_for_seal = true;
            self.render(part)?;
            if let Some(sitemap) = known.find(part.number, self.sink.seal()) {
                return Ok(Made::Before(sitemap));
            }
        }
        self.sink.is_for_seal = false;
        // A quarter of the XML is more than most sitemaps need.
        self.sink.compressor.reserve(part.bytes as usize / 4)?;
        self.render(part)?;
        Ok(Made::Now(self.sink.finish()))
    }

    /// Renders the sitemap of `part` into the sink.
    fn render(&mut self, part: &Part<Place>) -> Result<()> {
        let frame = Frame::sitemap(self.job.protocol).with(part.uses);
        frame.open(&mut self.sink.xml);
        let mut entries = 0;
        // The first URLs of the first chunk may belong to the sitemap before this one.
        let Place { chunk: first_chunk, ordinal: mut skip } = part.first;
        for chunk in &self.plan.chunks[first_chunk..] {
            entries += self.render_chunk(chunk, skip, part.entries - entries);
            if entries == part.entries {
                break;
            }
            skip = 0;
        }
        frame.close(&mut self.sink.xml);
        if entries != part.entries || self.sink.end() != part.bytes {
            return Err(self.inputs[self.plan.chunks[first_chunk].input].changed());
        }
        Ok(())
    }

    /// Renders up to `wanted` listed entries of `chunk` behind the first `skip`; how many.
    fn render_chunk(&mut self, chunk: &Chunk, skip: usize, wanted: u32) -> u32 {
        let survivors = &chunk.survivors;
        if let Some(urls) = chunk.known_urls(self.inputs) {
            let urls = urls.enumerate().skip(skip);
            let listed = urls.filter(|&(ordinal, _)| survivors.contains(ordinal)).take(wanted as usize);
            return listed.map(|(_, url)| self.sink.push(&Entry::of(url))).count() as u32;
        }
        let bytes = self.inputs[chunk.input].bytes();
        match &chunk.rows {
            RowsAt::Lines(range) => {
                let lines = lines::lines(&bytes[range.clone()], range.start as u64);
                self.render_rows(lines.map(|line| Row::of_line(0, line)), survivors, skip, wanted)
            }
            RowsAt::Rows(block) => {
                self.render_rows(spool_format::rows(bytes, block), survivors, skip, wanted)
            }
            RowsAt::Positions { range, .. } => {
                self.render_rows(chunk.entries(range, self.inputs), survivors, skip, wanted)
            }
        }
    }

    /// The same for `rows` that must be judged once more.
    fn render_rows<'i>(
        &mut self,
        rows: impl Iterator<Item = Row<'i>>,
        survivors: &Survivors,
        skip: usize,
        wanted: u32,
    ) -> u32 {
        let (mut ordinal, mut rendered) = (0, 0);
        for row in rows {
            let Judged::Entry(entry) = self.judge.judge(row.content, &mut |_| {}) else { continue };
            if ordinal >= skip && survivors.contains(ordinal) {
                self.sink.push(&entry);
                rendered += 1;
                if rendered == wanted {
                    break;
                }
            }
            ordinal += 1;
        }
        rendered
    }
}

/// Renders, hashes, counts and compresses one sitemap after the other, piece by piece.
struct Sink {
    /// The piece at hand.
    xml: Vec<u8>,
    compressor: Compressor,
    hasher: Box<Xxh3>,
    sealer: Box<Xxh3>,
    /// Nothing but the seal is wanted.
    is_for_seal: bool,
    /// Bytes before the piece at hand.
    bytes: u64,
}

impl Sink {
    fn new(job: &Job, secret: &Secret) -> Self {
        Self {
            xml: Vec::with_capacity(2 * PIECE_BYTES),
            compressor: Compressor::new(job.gzip_engine, job.level),
            hasher: Box::default(),
            sealer: Box::new(secret.hasher()),
            is_for_seal: false,
            bytes: 0,
        }
    }

    #[inline]
    fn push(&mut self, entry: &Entry<'_>) {
        entry.push(&mut self.xml);
        if self.xml.len() >= PIECE_BYTES {
            self.end_piece();
        }
    }

    fn end_piece(&mut self) {
        self.sealer.update(&self.xml);
        if !self.is_for_seal {
            self.hasher.update(&self.xml);
            self.compressor.push(&self.xml);
        }
        self.bytes += self.xml.len() as u64;
        self.xml.clear();
    }

    /// Ends a sitemap: the bytes of its XML.
    fn end(&mut self) -> u64 {
        self.end_piece();
        std::mem::take(&mut self.bytes)
    }

    /// The seal of what has ended.
    fn seal(&mut self) -> Seal {
        let seal = Seal(self.sealer.digest128());
        self.sealer.reset();
        seal
    }

    /// What became of it, if more than the seal was wanted.
    fn finish(&mut self) -> Rendered {
        let content = ContentHash(self.hasher.digest128());
        self.hasher.reset();
        Rendered { content, seal: self.seal(), gzip: self.compressor.finish() }
    }
}
