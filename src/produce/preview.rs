//! Preview: finds out which sitemaps a run would keep, and writes none.
//!
//! Sitemaps are only rendered for their seal, and only if a published one has the same size, as in [`produce`](super::produce).
//! A few are compressed to estimate the bytes of all new files.

use super::batch::{Batch, BatchSitemap};
use super::render::{Made, Outcome, Renderer};
use super::sink::Counts;
use super::{Pass, counting_order};
use crate::common::fallible::reserve;
use crate::common::ordered::ordered;
use crate::error::Result;
use crate::set::manifest::Sitemap;
use crate::set::name::Stem;
use crate::set::shelf::Shelf;
use crate::sitemap::divide::PlannedSitemap;
use crate::sitemap::segments::SegmentRule;
use crate::survey::context::Context;
use crate::survey::layout::{EntryAt, Layout};

/// Maximum number of sitemaps that are compressed, evenly spaced in the set.
const COMPRESSED: usize = 8;

/// Returns the batch that [`produce`](super::produce) would return, as far as it is known without compressing all sitemaps. New
/// sitemaps have the hash `00000000` in their names, no hash of their content, no seals, and an estimate of the bytes of their
/// files. No sitemap has a first URL. The caller has begun [`Phase::Produce`](crate::common::progress::Phase::Produce).
///
/// # Errors
/// If an input has changed since pass 1, if something that is not a file has the name of a sitemap that a run would keep, or if
/// `stop` is raised.
pub fn preview(
    run: Context<'_>,
    layout: &Layout,
    shelf: &dyn Shelf,
    time: &str,
    segments: Option<&SegmentRule>,
) -> Result<Batch> {
    let Context { job, stop, .. } = run;
    let renderer = || Renderer::new(run, layout, shelf.secret(), segments).published_at(time);
    let is_compressed = |at: usize| at.is_multiple_of(layout.sitemaps.len().div_ceil(COMPRESSED));
    let work = |renderer: &mut Renderer<'_>, at: usize| {
        stop.check()?;
        let (looked, counts) = look(renderer, shelf, at, is_compressed(at), segments.is_some())?;
        Ok((at, looked, counts))
    };
    let mut pass = Pass::begin(run, layout, segments);
    let mut found = Vec::new();
    reserve(&mut found, layout.sitemaps.len())?;
    let sitemaps = counting_order(layout).inspect(|&at| layout.prefetch(at));
    ordered(job.resources.threads.get(), sitemaps, renderer, work, |looked_at| {
        let (at, sitemap, counts) = looked_at?;
        pass.add(at, counts);
        found.push((at, sitemap));
        Ok(())
    })?;
    found.reverse();
    let ratio = Ratio::of(found.iter().filter_map(|(at, sitemap)| match sitemap {
        Looked::Kept(sitemap) => Some((sitemap.xml_bytes, sitemap.gzip_bytes)),
        Looked::Compressed(gzip_bytes) => Some((layout.sitemaps[*at].bytes, *gzip_bytes)),
        Looked::New => None,
    }));
    let sitemaps = found.into_iter().map(|(at, sitemap)| {
        let stem = shelf.stem().of_section(layout.sitemap_id(at).section);
        let new = |gzip_bytes| new_sitemap(&stem, &layout.sitemaps[at], gzip_bytes, time);
        let sitemap = match sitemap {
            Looked::Kept(sitemap) => Sitemap { lastmod: time.into(), ..sitemap },
            Looked::Compressed(gzip_bytes) => new(gzip_bytes),
            Looked::New => new(ratio.gzip_bytes(layout.sitemaps[at].bytes)),
        };
        BatchSitemap { first_url: String::new(), sitemap }
    });
    pass.into_batch(sitemaps.collect(), shelf.secret())
}

/// The properties of a sitemap.
enum Looked {
    /// It is published already.
    Kept(Sitemap),
    /// It is new, and compresses to this number of bytes.
    Compressed(u64),
    /// It is new and was not compressed.
    New,
}

/// Looks for the sitemap with the index `at` among the published ones.
fn look(
    renderer: &mut Renderer<'_>,
    shelf: &dyn Shelf,
    at: usize,
    is_compressed: bool,
    counts_segments: bool,
) -> Result<(Looked, Counts)> {
    if let Some(kept) = renderer.layout.kept(at) {
        return Ok((Looked::Kept(kept.sitemap.clone()), Counts::default()));
    }
    let (id, part) = (renderer.layout.sitemap_id(at), &renderer.layout.sitemaps[at]);
    let mut counts = Counts::default();
    let must_count = !is_compressed && (counts_segments || part.news > 0);
    if must_count || shelf.has_size(id, part.entries, part.bytes) {
        let (seal, _, counted) = renderer.seal(at)?;
        // A run writes a damaged or missing file again, with the same name and content.
        if let Some(known) = shelf.known(id, seal)? {
            return Ok((Looked::Kept(known), counted));
        }
        counts = counted;
    }
    if !is_compressed {
        return Ok((Looked::New, counts));
    }
    let Made { counts, outcome, .. } = renderer.make(shelf, at)?;
    let looked = match outcome {
        Outcome::Published(sitemap) => Looked::Kept(sitemap),
        Outcome::New(compressed) => Looked::Compressed(compressed.gzip.len() as u64),
    };
    Ok((looked, counts))
}

fn new_sitemap(stem: &Stem, part: &PlannedSitemap<EntryAt>, gzip_bytes: u64, time: &str) -> Sitemap {
    Sitemap {
        file: stem.sitemap_file(part.number, "00000000"),
        content: String::new(),
        urls: part.entries,
        xml_bytes: part.bytes,
        gzip_bytes,
        lastmod: time.into(),
        seals: None,
    }
}

/// The compression ratio of the sitemaps of a set.
struct Ratio {
    xml_bytes: u128,
    gzip_bytes: u128,
}

impl Ratio {
    /// The ratio of files with these bytes before and after compression.
    fn of(files: impl Iterator<Item = (u64, u64)>) -> Self {
        files.fold(Self { xml_bytes: 0, gzip_bytes: 0 }, |sum, (xml, gzip)| Self {
            xml_bytes: sum.xml_bytes + u128::from(xml),
            gzip_bytes: sum.gzip_bytes + u128::from(gzip),
        })
    }

    /// Estimates the compressed bytes of a sitemap.
    fn gzip_bytes(&self, xml_bytes: u64) -> u64 {
        (u128::from(xml_bytes) * self.gzip_bytes / self.xml_bytes.max(1)) as u64
    }
}
