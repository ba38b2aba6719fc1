//! Pass 2, produce: writes what the layout says and decides nothing.
//!
//! Sitemaps are independent, so the output cannot depend on the number of threads. Each worker reads the lines of one sitemap again
//! and renders it buffer by buffer into its compressor; one thread writes the results to disk. A sitemap that may exist already is
//! first rendered without the compressor, to compare its seal. In the first run into a directory, there are none to compare with.

pub mod batch;
pub mod preview;
mod render;
mod sink;

use crate::common::fallible::{list, reserve};
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::common::secret::Secret;
use crate::error::Result;
use crate::job::fingerprint::Fingerprint;
use crate::place::{Unsynced, syncing};
use crate::produce::batch::{Batch, BatchSitemap};
use crate::set::content::Seals;
use crate::set::manifest::Sitemap;
use crate::set::shelf::Shelf;
use crate::sitemap::segments::{SegmentRule, SegmentTally, Segments};
use crate::survey::context::Context;
use crate::survey::layout::Layout;
use render::{Made, Outcome, Renderer};
use sink::{Compressed, Counts};

/// Renders and compresses every sitemap of `layout` and puts it on the `shelf`. All sitemaps get `time`, the time of
/// publication; when the set succeeds the live one, unchanged sitemaps get their earlier time back. The caller has begun
/// [`Phase::Produce`], which may be that of several layouts.
///
/// # Errors
/// If a sitemap cannot be written, an input has changed since pass 1, or `stop` is raised.
pub fn produce(
    run: Context<'_>,
    layout: &Layout,
    shelf: &dyn Shelf,
    time: &str,
    segments: Option<&SegmentRule>,
) -> Result<Batch> {
    let Context { job, stop, .. } = run;
    let renderer = || Renderer::new(run, layout, shelf.secret(), segments).published_at(time);
    let work = |renderer: &mut Renderer<'_>, at: usize| {
        stop.check()?;
        Ok((at, renderer.make(shelf, at)?))
    };
    let mut pass = Pass::begin(run, layout, segments);
    let mut staged = Vec::new();
    reserve(&mut staged, layout.sitemaps.len())?;
    syncing(stop, |sync| {
        // The thread that distributes the sitemaps is a few ahead, so it prefetches their input.
        let sitemaps = order(layout, segments).into_iter().inspect(|&at| layout.prefetch(at));
        ordered(job.resources.threads.get(), sitemaps, renderer, work, |made| {
            let (at, Made { first_url, counts, outcome }) = made?;
            pass.add(at, counts);
            let (sitemap, unsynced) = match outcome {
                Outcome::Published(sitemap) => (Sitemap { lastmod: time.into(), ..sitemap }, None),
                Outcome::New(compressed) => put(layout, shelf, at, compressed, time)?,
            };
            staged.push((at, BatchSitemap { first_url, sitemap }));
            unsynced.map_or(Ok(()), sync)
        })
    })?;
    staged.sort_unstable_by_key(|&(at, _)| at);
    pass.into_batch(list(staged.into_iter().map(|(_, sitemap)| sitemap))?, shelf.secret())
}

/// Pass 2 while it runs: what was counted in the sitemaps so far.
struct Pass<'a> {
    run: Context<'a>,
    layout: &'a Layout,
    segments: Option<SegmentTally<'a>>,
    old_news: u64,
}

impl<'a> Pass<'a> {
    /// Begins the pass. URLs are counted by segment if there is a rule for `segments`.
    fn begin(run: Context<'a>, layout: &'a Layout, segments: Option<&'a SegmentRule>) -> Self {
        Self { run, layout, segments: segments.map(SegmentTally::new), old_news: 0 }
    }

    /// Adds the `counts` of the sitemap with the index `at`.
    fn add(&mut self, at: usize, counts: Counts) {
        self.old_news += counts.old_news;
        self.segments.iter_mut().zip(counts.segments).for_each(|(tally, counted)| tally.add(counted));
        self.run.progress.advance(self.layout.sitemaps[at].entries.into());
    }

    /// Ends the pass. Returns the batch of all `sitemaps`.
    fn into_batch(self, sitemaps: Vec<BatchSitemap>, secret: &Secret) -> Result<Batch> {
        let Self { run, layout, segments, old_news } = self;
        let segments = segments.map(|tally| finish_segments(run, layout, secret, tally)).transpose()?;
        let rules = Fingerprint::of(&run.job.rules, &run.job.input.format);
        Ok(Batch::new(rules, layout.tally, sitemaps).with_segments(segments).with_old_news(old_news))
    }
}

/// Puts the sitemap with the index `at` on the `shelf`. Returns what is known of it, and its file if that must be synced.
fn put(
    layout: &Layout,
    shelf: &dyn Shelf,
    at: usize,
    Compressed { content, seal, gzip }: Compressed,
    time: &str,
) -> Result<(Sitemap, Option<Unsynced>)> {
    let part = &layout.sitemaps[at];
    let file = shelf.put(layout.sitemap_id(at), content, seal, gzip)?;
    let sitemap = Sitemap {
        file: file.file,
        content: content.to_string(),
        urls: part.entries,
        xml_bytes: part.bytes,
        gzip_bytes: file.gzip_bytes,
        lastmod: time.into(),
        seals: Some(Seals { xml: seal, gzip: file.gzip_seal }),
    };
    Ok((sitemap, file.unsynced))
}

/// The order in which sitemaps are made: from the last to the first, because if the input is larger than memory, pass 1 leaves its
/// end in the page cache.
fn order(layout: &Layout, segments: Option<&SegmentRule>) -> Vec<usize> {
    match segments {
        Some(_) => counting_order(layout).collect(),
        None => layout.reading_order(),
    }
}

/// The order in which sitemaps are made if their URLs are counted by segment: the counts depend on the order in which they are
/// added up.
fn counting_order(layout: &Layout) -> impl Iterator<Item = usize> + Send {
    (0..layout.sitemaps.len()).rev()
}

/// Finishes the tally of segments. If there are too many, all sitemaps are rendered once more to count the largest segments;
/// nothing is written.
fn finish_segments(
    run: Context<'_>,
    layout: &Layout,
    secret: &Secret,
    mut tally: SegmentTally<'_>,
) -> Result<Segments> {
    if tally.needs_recount() {
        // Of a set with several sites, no segments are counted, so this layout is all that the phase has.
        run.progress.begin_again(Phase::Produce, layout.tally.listed);
        tally.begin_recount();
        let work = |renderer: &mut Renderer<'_>, at: usize| {
            run.stop.check()?;
            let (_, _, counts) = renderer.seal(at)?;
            Ok((at, counts.segments))
        };
        let rule = tally.rule();
        let renderer = || Renderer::new(run, layout, secret, Some(rule));
        ordered(run.job.resources.threads.get(), counting_order(layout), renderer, work, |counted| {
            let (at, counted) = counted?;
            run.progress.advance(layout.sitemaps[at].entries.into());
            counted.into_iter().for_each(|counted| tally.add(counted));
            Ok(())
        })?;
    }
    Ok(tally.finish())
}
