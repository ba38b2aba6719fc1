//! The first segments of paths that become sections, because they have the most URLs.

use std::collections::{HashMap, HashSet};

use crate::common::frequent::{FrequentKeys, KeyCounts};
use crate::common::ordered::ordered;
use crate::common::progress::Phase;
use crate::error::{Error, Result};
use crate::sitemap::sections::by_path::PathSegments;
use crate::survey::context::Context;
use crate::survey::entries::try_for_each_listed;
use crate::survey::judge::Judge;
use crate::survey::layout::{Layout, ListedChunk};

/// Chunks after which rare segments are dropped, if there are many.
const CHUNKS_TOGETHER: usize = 16;

/// The first segments of paths that become sections.
pub struct Chosen {
    pub segments: HashSet<Box<[u8]>>,
    pub left_out: LeftOut,
}

impl Chosen {
    /// Chooses the first `segments_max` of `all` by the number of their URLs. Of equally frequent ones, those that are first in
    /// byte order.
    fn of(mut all: Vec<(&[u8], u64)>, segments_max: usize, has_uncounted: bool) -> Self {
        all.sort_unstable_by(|(one, urls), (other, others)| others.cmp(urls).then_with(|| one.cmp(other)));
        let others = all.split_off(segments_max.min(all.len()));
        let text = |segment: &[u8]| String::from_utf8_lossy(segment).into_owned();
        let urls = others.into_iter().map(|(segment, urls)| (text(segment), urls)).collect();
        let segments = all.into_iter().map(|(segment, _)| segment.into()).collect();
        Self { segments, left_out: LeftOut { urls, has_uncounted } }
    }
}

/// First segments of paths that are not sections because others have more URLs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Each with its URLs in all sites.
    urls: HashMap<String, u64>,
    /// Whether there are others, whose URLs are not known.
    has_uncounted: bool,
}

impl LeftOut {
    /// The URLs of `segment` in all sites; `None` if they are not known.
    pub fn urls_of(&self, segment: &str) -> Option<u64> {
        match self.urls.get(segment) {
            Some(&urls) => Some(urls),
            None => (!self.has_uncounted).then_some(0),
        }
    }
}

/// The `segments` with the most URLs, by their `counts`, if more than `segments_max` have URLs. See [`most_frequent`].
pub fn most_urls(segments: &[Vec<u8>], counts: &[u64], segments_max: usize) -> Option<Chosen> {
    // Without counts, there are few segments.
    let counted = segments.iter().map(Vec::as_slice).zip(counts.iter().copied());
    let mut all: Vec<_> = counted.filter(|&(_, urls)| urls > 0).collect();
    if all.len() <= segments_max {
        return None;
    }
    all.retain(|(segment, _)| !segment.is_empty());
    Some(Chosen::of(all, segments_max, false))
}

/// The first segments with the most URLs, at most `segments_max`.
///
/// # Errors
/// If an input has changed, or the run is stopped.
pub fn most_frequent<'r>(
    run: Context<'r>,
    layout: &'r Layout,
    segments: &PathSegments,
    segments_max: usize,
) -> Result<Chosen> {
    let mut frequent = FrequentKeys::default();
    loop {
        let phase = run.progress.phase(Phase::Split, layout.tally.listed);
        let judge = || Judge::new(run.rules);
        // One chunk at a time: each may have a segment for every URL, and many of them wait for the sink.
        let work = |judge: &mut Judge<'r>, chunk: &ListedChunk| {
            let mut counts = KeyCounts::new();
            try_for_each_listed(chunk, &layout.inputs, judge, 0, |_, entry| {
                let segment = segments.of(entry.url.as_bytes());
                match counts.get_mut(segment) {
                    Some(count) => *count += 1,
                    None if segment.is_empty() => {}
                    None => _ = counts.insert(segment.into(), 1),
                }
                Ok::<_, Error>(())
            })?;
            Ok::<_, Error>((counts, u64::from(chunk.listed)))
        };
        let mut added = 0;
        ordered(run.job.resources.threads.get(), layout.chunks.iter(), judge, work, |counted| {
            run.stop.check()?;
            let (counts, listed) = counted?;
            run.progress.advance(listed);
            frequent.add(counts);
            added += 1;
            if added % CHUNKS_TOGETHER == 0 {
                frequent.cut();
            }
            Ok::<_, Error>(())
        })?;
        frequent.cut();
        drop(phase);
        match frequent.needs_recount() {
            true => frequent.begin_recount(std::iter::empty()),
            false => break,
        }
    }
    Ok(Chosen::of(frequent.certain().collect(), segments_max, frequent.distinct().is_none()))
}
