//! Stable division by the marks that the survey found. Two kinds of chunks are read again: chunks in which a file begins or
//! ends, and chunks whose smallest mark belonged to a duplicate.

use super::context::Context;
use super::entries::try_for_each_listed;
use super::judge::Judge;
use super::layout::{EntryAt, ListedChunk, SitemapSource};
use crate::common::fallible::{list, reserve};
use crate::common::ordered::ordered;
use crate::error::{Error, Result};
use crate::intake::input::Input;
use crate::sitemap::divide::stable::{ChunkSummary, Halt, Mark, Span, Weighed, Whole};
use crate::sitemap::divide::{EntrySize, PlannedSitemap, stable};
use crate::sitemap::xml::Frame;

/// A sitemap of the live set whose entries come between chunks, or are in them.
pub struct Unchanged {
    /// The index of the first chunk after the sitemap begins.
    pub before: usize,
    /// The sitemap. If it has chunks, none of them is empty.
    pub whole: Whole<SitemapSource>,
}

/// Divides the listed entries of `chunks`, which are read from `inputs`. `sizes` has the total size of each chunk's listed entries,
/// and `borders` the indexes of the chunks that begin with a border, in ascending order.
///
/// # Errors
/// If the run is stopped, or an input has changed.
pub fn divide(
    run: Context<'_>,
    chunks: &[ListedChunk],
    sizes: &[EntrySize],
    inputs: &[Input],
    borders: &[usize],
) -> Result<Vec<PlannedSitemap<EntryAt>>> {
    let sitemaps = divide_around(run, chunks, sizes, inputs, borders, &[]).map_err(Halt::into_error)?;
    list(sitemaps.into_iter().map(|sitemap| sitemap.map_first(SitemapSource::entry)))
}

/// Divides the entries of `chunks` and of the `unchanged` sitemaps, which are in order, as [`divide`] does.
///
/// # Errors
/// Same as [`divide`]; also [`Halt::Needs`] with the index of an unchanged sitemap without chunks that may not be one of the new
/// set.
pub fn divide_around(
    run: Context<'_>,
    chunks: &[ListedChunk],
    sizes: &[EntrySize],
    inputs: &[Input],
    borders: &[usize],
    unchanged: &[Unchanged],
) -> Result<Vec<PlannedSitemap<SitemapSource>>, Halt> {
    let reader = || Reader { chunks, sizes, inputs, judge: Judge::new(run.rules) };
    let mut marks = list(chunks.iter().map(known_smallest_mark))?;
    // Chunks with nothing listed are left out.
    let filled = list((0..chunks.len()).filter(|&at| chunks[at].listed > 0))?;
    let unknown = list(filled.iter().copied().filter(|&at| marks[at].is_none()))?;
    let work = |reader: &mut Reader<'_>, at: usize| Ok((at, reader.smallest_mark(at)?));
    ordered(run.job.resources.threads.get(), unknown.into_iter(), reader, work, |found| {
        run.stop.check()?;
        let (at, smallest_mark) = found?;
        marks[at] = Some(smallest_mark);
        Ok::<_, Error>(())
    })?;
    let summary = |at: usize| ChunkSummary {
        entries: chunks[at].listed,
        size: sizes[at],
        smallest_mark: marks[at].expect("it was known or found"),
        is_border: borders.binary_search(&at).is_ok(),
    };
    // The index of each span among the chunks, or among the unchanged sitemaps.
    let (mut spans, mut indexes) = (Vec::new(), Vec::new());
    reserve(&mut spans, filled.len() + unchanged.len())?;
    reserve(&mut indexes, filled.len() + unchanged.len())?;
    let mut wholes = unchanged.iter().enumerate().peekable();
    for at in filled.into_iter().chain([chunks.len()]) {
        while let Some((nth, unchanged)) = wholes.next_if(|(_, unchanged)| unchanged.before <= at) {
            spans.push(Span::Whole(unchanged.whole));
            indexes.push(nth);
        }
        if at < chunks.len() {
            spans.push(Span::Chunk(summary(at)));
            indexes.push(at);
        }
    }
    let (limits, frame) = (run.job.rules.sitemap_limits(), Frame::sitemap(run.job.rules.protocol));
    let mut reader = reader();
    let divided = stable::divide(limits, &frame, &spans, |span| {
        run.stop.check()?;
        reader.entries(indexes[span])
    });
    divided.map_err(|halt| match halt {
        Halt::Needs(span) => Halt::Needs(indexes[span]),
        failed => failed,
    })
}

/// The smallest mark of the listed entries of `chunk`, if the survey found it.
fn known_smallest_mark(chunk: &ListedChunk) -> Option<Mark> {
    chunk
        .smallest_mark
        .filter(|smallest| chunk.survivors.contains(smallest.nth))
        .map(|smallest| smallest.mark)
}

/// Reads chunks again.
struct Reader<'r> {
    chunks: &'r [ListedChunk],
    sizes: &'r [EntrySize],
    inputs: &'r [Input],
    judge: Judge<'r>,
}

impl Reader<'_> {
    /// The smallest mark of the listed entries of the `at`th chunk, at least one.
    fn smallest_mark(&mut self, at: usize) -> Result<Mark> {
        let marks = self.entries(at)?.into_iter().map(|entry| entry.mark);
        Ok(marks.min().expect("there are entries, and all were found"))
    }

    /// The listed entries of the `at`th chunk.
    fn entries(&mut self, at: usize) -> Result<Vec<Weighed<SitemapSource>>> {
        let chunk = &self.chunks[at];
        let mut entries = Vec::new();
        reserve(&mut entries, chunk.listed as usize)?;
        try_for_each_listed(chunk, self.inputs, &mut self.judge, 0, |ordinal, entry| {
            let at = SitemapSource::Entry(EntryAt { chunk: at, ordinal });
            let (size, mark) = (entry.size(), Mark::of(entry.url));
            entries.push(Weighed { at, size, mark });
            Ok::<_, Error>(())
        })?;
        let size: EntrySize = entries.iter().map(|entry| entry.size).sum();
        match entries.len() == chunk.listed as usize && size == self.sizes[at] {
            true => Ok(entries),
            false => Err(self.inputs[chunk.chunk.input].changed()),
        }
    }
}
