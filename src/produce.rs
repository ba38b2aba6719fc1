//! Pass 2, produce: writes what the layout says and decides nothing.
//!
//! Sitemaps are independent, so the output cannot depend on the number of threads. Each worker reads the lines of one sitemap
//! again and renders it buffer by buffer into its compressor; one thread writes the results to disk. A sitemap that may exist
//! already is first rendered without the compressor, to compare its seal. In an empty directory there are none of these.

pub mod batch;
pub mod preview;

use xxhash_rust::xxh3::Xxh3;

use crate::common::frequent::KeyCounts;
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::common::secret::Secret;
use crate::compress::gzip::Compressor;
use crate::error::{Result, list, reserve};
use crate::job::SetRules;
use crate::job::fingerprint::Fingerprint;
use crate::place::syncing;
use crate::produce::batch::{Batch, BatchSitemap};
use crate::set::content::ContentHash;
use crate::set::manifest::{Seal, Seals, Sitemap};
use crate::set::shelf::Shelf;
use crate::sitemap::divide::PlannedSitemap;
use crate::sitemap::entry::Entry;
use crate::sitemap::extensions::news;
use crate::sitemap::sections::counts::{SectionCounter, SectionRule, SectionTally, Sections};
use crate::sitemap::xml::Frame;
use crate::survey::context::Context;
use crate::survey::judge::{Judge, try_for_each_listed};
use crate::survey::layout::{EntryAt, Layout, ListedChunk};

/// Bytes of XML that are rendered before they are compressed. They fit in the second-level cache.
const BUFFER_BYTES: usize = 128 * 1024;

/// Renders and compresses every sitemap of `layout` and puts it on the `shelf`. New sitemaps get the time `lastmod`.
///
/// # Errors
/// If a sitemap cannot be written, an input has changed since pass 1, or `stop` is raised.
pub fn produce(
    run: Context<'_>,
    layout: &Layout,
    shelf: &dyn Shelf,
    lastmod: &str,
    sections: Option<&SectionRule>,
) -> Result<Batch> {
    let Context { job, progress, stop, .. } = run;
    progress.begin(Phase::Produce, layout.tally.listed);
    let renderer = || Renderer::new(run, layout, shelf.secret(), sections).at(lastmod);
    let work = |renderer: &mut Renderer<'_>, at: usize| {
        stop.check()?;
        let made = renderer.make(shelf, at)?;
        Ok((at, made, renderer.sink.old_news, renderer.sink.take_sections()))
    };
    let mut tally = sections.map(SectionTally::new);
    let mut old_news = 0;
    let mut staged = Vec::new();
    reserve(&mut staged, layout.sitemaps.len())?;
    syncing(stop, |sync| {
        // The thread that distributes the sitemaps is a few ahead, so it prefetches their input.
        let sitemaps = order(layout, sections).into_iter().inspect(|&at| layout.will_need(at));
        ordered(job.resources.threads.get(), sitemaps, renderer, work, |rendered| {
            let (at, rendered, old, counted) = rendered?;
            old_news += old;
            let part = &layout.sitemaps[at];
            tally.iter_mut().zip(counted).for_each(|(tally, counted)| tally.add(counted));
            progress.advance(part.entries.into());
            let Rendered { first_url, content, seal, gzip } = match rendered {
                Made::Before(first_url, sitemap) => {
                    let sitemap = Sitemap { lastmod: lastmod.into(), ..sitemap };
                    staged.push((at, BatchSitemap { first_url, sitemap }));
                    return Ok(());
                }
                Made::Now(rendered) => rendered,
            };
            let file = shelf.put(layout.sitemap_id(at), content, seal, gzip)?;
            let sitemap = Sitemap {
                file: file.file,
                content: content.to_string(),
                urls: part.entries,
                xml_bytes: part.bytes,
                gzip_bytes: file.gzip_bytes,
                lastmod: lastmod.into(),
                seals: Some(Seals { xml: seal, gzip: file.gzip_seal }),
            };
            staged.push((at, BatchSitemap { first_url, sitemap }));
            file.unsynced.map_or(Ok(()), sync)
        })
    })?;
    progress.end();
    staged.sort_unstable_by_key(|&(at, _)| at);
    let staged = list(staged.into_iter().map(|(_, sitemap)| sitemap))?;
    let sections = tally.map(|tally| finish_sections(run, layout, shelf.secret(), tally)).transpose()?;
    let rules = Fingerprint::of(&job.rules, &job.input.form);
    Ok(Batch::new(rules, layout.tally, staged).with_sections(sections).with_old_news(old_news))
}

/// The order in which sitemaps are made: from the last to the first, because if the input is larger than memory, pass 1 leaves its end
/// in the page cache.
fn order(layout: &Layout, sections: Option<&SectionRule>) -> Vec<usize> {
    match sections {
        Some(_) => counting_order(layout).collect(),
        None => layout.reading_order(),
    }
}

/// The order in which sitemaps are made if their URLs are counted by section: the counts depend on the order in which they are added
/// up.
fn counting_order(layout: &Layout) -> impl Iterator<Item = usize> + Send {
    (0..layout.sitemaps.len()).rev()
}

/// Finishes the tally of sections. If there are too many, all sitemaps are rendered once more to count the largest sections;
/// nothing is written.
fn finish_sections(
    run: Context<'_>,
    layout: &Layout,
    secret: &Secret,
    mut tally: SectionTally<'_>,
) -> Result<Sections> {
    if tally.needs_recount() {
        run.progress.begin(Phase::Produce, layout.tally.listed);
        tally.begin_recount();
        let work = |renderer: &mut Renderer<'_>, at: usize| {
            run.stop.check()?;
            renderer.sink.is_for_seal = true;
            renderer.render(&layout.sitemaps[at])?;
            Ok((at, renderer.sink.take_sections()))
        };
        let rule = tally.rule();
        let renderer = || Renderer::new(run, layout, secret, Some(rule));
        ordered(run.job.resources.threads.get(), counting_order(layout), renderer, work, |counted| {
            let (at, counted) = counted?;
            run.progress.advance(layout.sitemaps[at].entries.into());
            counted.into_iter().for_each(|counted| tally.add(counted));
            Ok(())
        })?;
        run.progress.end();
    }
    Ok(tally.finish())
}

/// A finished sitemap.
enum Made {
    /// An earlier run has published it.
    Before(String, Sitemap),
    /// This run has rendered it.
    Now(Rendered),
}

/// A sitemap that was rendered and compressed.
struct Rendered {
    first_url: String,
    content: ContentHash,
    seal: Seal,
    gzip: Vec<u8>,
}

/// Renders sitemaps one after another and reuses its buffers.
struct Renderer<'r> {
    rules: &'r SetRules,
    layout: &'r Layout,
    judge: Judge<'r>,
    sink: Sink<'r>,
    /// The time of publication, in seconds since 1970.
    now: Option<i64>,
}

impl<'r> Renderer<'r> {
    fn new(run: Context<'r>, layout: &'r Layout, secret: &Secret, sections: Option<&'r SectionRule>) -> Self {
        let sink = Sink::new(&run.job.rules, secret, sections);
        Self { rules: &run.job.rules, layout, judge: Judge::new(run.rules), sink, now: None }
    }

    /// Counts articles that are old at `time`, the time of publication.
    fn at(self, time: &str) -> Self {
        Self { now: news::instant(time), ..self }
    }

    /// Renders the sitemap with the index `at`, unless the survey reuses a live one. If a published one has its size, it is first
    /// rendered for its seal alone, to find out whether it is the same: most changes also change the number of bytes.
    fn make(&mut self, shelf: &dyn Shelf, at: usize) -> Result<Made> {
        if let Some(kept) = self.layout.kept(at) {
            return Ok(Made::Before(kept.first_url.clone(), kept.sitemap.clone()));
        }
        let (id, part) = (self.layout.sitemap_id(at), &self.layout.sitemaps[at]);
        if shelf.has_size(id, part.entries, part.bytes) {
            let seal = self.seal(part)?;
            if let Some(sitemap) = shelf.find(id, seal) {
                return Ok(Made::Before(self.sink.take_first_url(), sitemap));
            }
        }
        self.sink.is_for_seal = false;
        // Most sitemaps compress to less than a quarter.
        self.sink.compressor.reserve(part.bytes as usize / 4)?;
        self.render(part)?;
        Ok(Made::Now(self.sink.finish()))
    }

    /// Renders the sitemap of `part` for its seal alone.
    fn seal(&mut self, part: &PlannedSitemap<EntryAt>) -> Result<Seal> {
        self.sink.is_for_seal = true;
        self.render(part)?;
        Ok(self.sink.seal())
    }

    /// Renders the sitemap of `part` into the sink.
    fn render(&mut self, part: &PlannedSitemap<EntryAt>) -> Result<()> {
        let frame = Frame::sitemap(self.rules.protocol).with(part.uses);
        self.sink.begin();
        self.sink.now = self.now.filter(|_| part.news > 0);
        frame.open(&mut self.sink.xml);
        let mut entries = 0;
        // The first URLs of the first chunk may belong to the previous sitemap.
        let EntryAt { chunk: first_chunk, ordinal: mut skip } = part.first;
        for chunk in &self.layout.chunks[first_chunk..] {
            entries += self.render_chunk(chunk, skip, part.entries - entries);
            if entries == part.entries {
                break;
            }
            skip = 0;
        }
        frame.close(&mut self.sink.xml);
        if entries != part.entries || self.sink.end() != part.bytes {
            let input = self.layout.chunks[first_chunk].chunk.input;
            return Err(self.layout.inputs[input].changed());
        }
        Ok(())
    }

    /// Renders up to `wanted` entries of `listed` after the first `skip`. Returns their number.
    fn render_chunk(&mut self, listed: &ListedChunk, skip: usize, wanted: u32) -> u32 {
        struct Enough;
        let Self { layout, judge, sink, .. } = self;
        let mut rendered = 0;
        let _ = try_for_each_listed(listed, &layout.inputs, judge, skip, |_, entry| {
            sink.push(&entry);
            rendered += 1;
            if rendered == wanted { Err(Enough) } else { Ok(()) }
        });
        rendered
    }
}

/// Renders, hashes, counts and compresses sitemaps one after another.
struct Sink<'r> {
    /// The buffer of rendered XML that is not compressed yet.
    xml: Vec<u8>,
    compressor: Compressor,
    hasher: Box<Xxh3>,
    sealer: Box<Xxh3>,
    /// Whether only the seal is needed.
    is_for_seal: bool,
    /// Counts URLs by section, if the report needs it. Reads whole buffers, so that rendering an entry costs the same.
    sections: Option<SectionCounter<'r>>,
    /// The time of publication, if the sitemap has news articles.
    now: Option<i64>,
    /// Articles of the sitemap that are old at this time.
    old_news: u64,
    /// Bytes of XML before the buffer.
    bytes: u64,
    /// The first URL; empty before there is one.
    first_url: String,
    /// When the buffer has this many bytes, [`Sink::push`] has more to do: store the first URL, or flush the buffer.
    busy_from: usize,
}

impl<'r> Sink<'r> {
    fn new(rules: &SetRules, secret: &Secret, sections: Option<&'r SectionRule>) -> Self {
        Self {
            xml: Vec::with_capacity(2 * BUFFER_BYTES),
            compressor: Compressor::new(rules.gzip_engine, rules.level),
            hasher: Box::default(),
            sealer: Box::new(secret.hasher()),
            is_for_seal: false,
            sections: sections.map(SectionCounter::new),
            now: None,
            old_news: 0,
            bytes: 0,
            first_url: String::new(),
            busy_from: 0,
        }
    }

    /// Begins a sitemap.
    fn begin(&mut self) {
        self.first_url.clear();
        (self.busy_from, self.old_news) = (0, 0);
        // What was rendered for its seal alone may be rendered again.
        self.take_sections();
    }

    /// URLs by section since the last call, if they are counted.
    fn take_sections(&mut self) -> Option<KeyCounts> {
        self.sections.as_mut().map(SectionCounter::take)
    }

    #[inline]
    fn push(&mut self, entry: &Entry<'_>) {
        entry.push(&mut self.xml);
        if self.xml.len() >= self.busy_from {
            self.after_push(entry);
        }
    }

    /// Does the rare work of [`Sink::push`], out of line because every entry goes through that.
    #[inline(never)]
    fn after_push(&mut self, entry: &Entry<'_>) {
        if self.first_url.is_empty() {
            self.first_url.push_str(str::from_utf8(entry.url.as_bytes()).expect("a clean URL is ASCII"));
            self.busy_from = BUFFER_BYTES;
        }
        if self.xml.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Returns the first URL of the finished sitemap.
    fn take_first_url(&mut self) -> String {
        std::mem::take(&mut self.first_url)
    }

    fn flush(&mut self) {
        self.sealer.update(&self.xml);
        if let Some(sections) = &mut self.sections {
            sections.add_xml(&self.xml);
        }
        if let Some(now) = self.now {
            self.old_news += news::count_old(&self.xml, now);
        }
        if !self.is_for_seal {
            self.hasher.update(&self.xml);
            self.compressor.push(&self.xml);
        }
        self.bytes += self.xml.len() as u64;
        self.xml.clear();
    }

    /// Ends a sitemap and returns the bytes of its XML.
    fn end(&mut self) -> u64 {
        self.flush();
        std::mem::take(&mut self.bytes)
    }

    /// Returns the seal of the finished sitemap.
    fn seal(&mut self) -> Seal {
        let seal = Seal(self.sealer.digest128());
        self.sealer.reset();
        seal
    }

    /// Returns the finished sitemap, unless only the seal was needed.
    fn finish(&mut self) -> Rendered {
        let content = ContentHash(self.hasher.digest128());
        self.hasher.reset();
        Rendered {
            first_url: self.take_first_url(),
            content,
            seal: self.seal(),
            gzip: self.compressor.finish(),
        }
    }
}
