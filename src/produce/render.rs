//! Renders the entries of sitemaps, whose rows are read again.

use super::sink::{Compressed, Counts, Sink};
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::job::SetRules;
use crate::set::content::Seal;
use crate::set::manifest::Sitemap;
use crate::set::shelf::Shelf;
use crate::sitemap::divide::PlannedSitemap;
use crate::sitemap::segments::SegmentRule;
use crate::sitemap::tags::plain_lastmod;
use crate::sitemap::xml::Frame;
use crate::survey::context::Context;
use crate::survey::entries::try_for_each_listed;
use crate::survey::judge::Judge;
use crate::survey::layout::{EntryAt, Layout, ListedChunk};

/// A sitemap that was made.
pub struct Made {
    pub first_url: String,
    pub counts: Counts,
    pub outcome: Outcome,
}

/// The source of a sitemap.
pub enum Outcome {
    /// An earlier run has published it.
    Published(Sitemap),
    /// This run has compressed it.
    New(Compressed),
}

/// Renders sitemaps one after another and reuses its buffers.
pub struct Renderer<'r> {
    rules: &'r SetRules,
    pub layout: &'r Layout,
    judge: Judge<'r>,
    stop: &'r Stop,
    sink: Sink<'r>,
    /// The time of publication, in seconds since 1970.
    now: Option<i64>,
}

impl<'r> Renderer<'r> {
    /// A renderer of the sitemaps of `layout`. It counts URLs by segment if there is a rule for `segments`.
    pub fn new(
        run: Context<'r>,
        layout: &'r Layout,
        secret: &Secret,
        segments: Option<&'r SegmentRule>,
    ) -> Self {
        let rules = &run.job.rules;
        let sink = Sink::new(rules, secret, segments);
        Self { rules, layout, judge: Judge::new(run.rules), stop: run.stop, sink, now: None }
    }

    /// Counts articles that are old at `time`, the time of publication.
    pub fn published_at(self, time: &str) -> Self {
        Self { now: plain_lastmod(time.as_bytes()).map(|time| time.instant()), ..self }
    }

    /// Makes the sitemap with the index `at`, unless it is published already. If a published one has its size, it is first rendered
    /// for its seal alone, to find out whether it is the same: most changes also change the number of bytes.
    ///
    /// # Errors
    /// If an input has changed since pass 1, memory runs out, or the run is stopped.
    pub fn make(&mut self, shelf: &dyn Shelf, at: usize) -> Result<Made> {
        if let Some(kept) = self.layout.kept(at) {
            let (first_url, outcome) = (kept.first_url.clone(), Outcome::Published(kept.sitemap.clone()));
            return Ok(Made { first_url, counts: Counts::default(), outcome });
        }
        let (id, part) = (self.layout.sitemap_id(at), &self.layout.sitemaps[at]);
        if shelf.has_size(id, part.entries, part.bytes) {
            let (seal, first_url, counts) = self.seal(at)?;
            if let Some(sitemap) = shelf.find(id, seal) {
                return Ok(Made { first_url, counts, outcome: Outcome::Published(sitemap) });
            }
        }
        self.sink.reserve(part.bytes)?;
        self.render(part, false)?;
        let (first_url, counts) = (self.sink.take_first_url(), self.sink.take_counts());
        Ok(Made { first_url, counts, outcome: Outcome::New(self.sink.finish()) })
    }

    /// Renders the sitemap with the index `at` without compressing it. Returns its seal, its first URL, and what was counted.
    ///
    /// # Errors
    /// If an input has changed since pass 1, or the run is stopped.
    pub fn seal(&mut self, at: usize) -> Result<(Seal, String, Counts)> {
        self.render(&self.layout.sitemaps[at], true)?;
        Ok((self.sink.seal(), self.sink.take_first_url(), self.sink.take_counts()))
    }

    /// Renders the sitemap of `part` into the sink, for its seal alone or to compress it.
    fn render(&mut self, part: &PlannedSitemap<EntryAt>, is_for_seal: bool) -> Result<()> {
        let frame = Frame::sitemap(self.rules.protocol).with(part.uses);
        self.sink.begin(is_for_seal, self.now.filter(|_| part.news > 0));
        frame.open(&mut self.sink.xml);
        let (mut entries, mut read) = (0, 0);
        // The first URLs of the first chunk may belong to the previous sitemap.
        let EntryAt { chunk: first_chunk, ordinal: mut skip } = part.first;
        for chunk in &self.layout.chunks[first_chunk..] {
            self.stop.check()?;
            entries += self.render_chunk(chunk, skip, part.entries - entries);
            read += 1;
            if entries == part.entries {
                break;
            }
            skip = 0;
        }
        frame.close(&mut self.sink.xml);
        if entries != part.entries || self.sink.end() != part.bytes {
            let chunks = &self.layout.chunks[first_chunk..][..read];
            let mut inputs = chunks.iter().map(|listed| &self.layout.inputs[listed.chunk.input]);
            let changed = inputs.clone().find_map(|input| input.check_unchanged().err());
            let first = || inputs.next().expect("a sitemap has at least one chunk").changed();
            return Err(changed.unwrap_or_else(first));
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
