//! Details of a report, for people who compare runs. Their size is bounded for any input.

mod history;
mod previous;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::common::counts::is_zero;
use crate::place::SetName;
use crate::set::manifest::Manifest;
use crate::sitemap::divide::Limits;
use crate::sitemap::segments::Segments;
use crate::survey::rejects::Example;

pub use history::PastSet;
pub(crate) use previous::Previous;
pub use previous::PreviousSet;

/// Maximum number of examples per reason.
pub const EXAMPLES_OF_REASON_MAX: usize = 10;

/// Maximum number of segments in the report.
const SEGMENTS_MAX: usize = 100;

/// Maximum number of earlier sets in the report.
pub const HISTORY_MAX: usize = 60;

/// The parts of a report for comparing runs. They describe one set, or the sets of all sites together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// Time of publication, even if the set was refused; W3C Datetime.
    pub time: String,
    /// Options that decide whether and what the run publishes, with their values.
    pub settings: BTreeMap<String, String>,
    /// The first lines of each reason, at most ten, in the order in which lines are checked; then early lines of the rules that
    /// exclude the most.
    pub examples: Vec<Example>,
    /// The set that was live before. Of several sites, only if it is known of each that had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<PreviousSet>,
    /// Whether a set was live before that is not known, because it is no longer kept or its manifest is lost or damaged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_previous_unknown: bool,
    /// Listed URLs by first path segment, or by origin.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "sections")]
    pub segments: Option<SegmentsReport>,
    /// Numbers of sitemaps by fullness.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fullness: Option<Fullness>,
    /// Sitemaps that are new, unchanged or removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// The sets that are kept and this one, the oldest first, at most 60. Of several sites, each counts at each time with the set
    /// that was live then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<PastSet>,
    /// The time from which the sets of all sites are known, until the details are finished.
    #[serde(skip)]
    pub(crate) known_since: String,
}

/// Listed URLs by first path segment, or by origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentsReport {
    /// Whether URLs are counted by path segment or by origin.
    pub by: SegmentKind,
    /// At most 100 segments, sorted by the larger of their current and previous numbers of URLs, the largest first, then by name.
    pub named: Vec<SegmentReport>,
    /// URLs of all other segments.
    pub others: u64,
    /// The number of other segments, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "other_sections")]
    pub other_segments: Option<u64>,
}

/// By what URLs are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SegmentKind {
    /// The first segment of the path; for URLs on other origins, the origin.
    Path,
    /// Scheme, host and port, if each origin has its own set.
    Origin,
}

/// The URLs of a path segment or an origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentReport {
    /// A path such as `/products`, or an origin.
    pub name: String,
    /// URLs in it.
    pub urls: u64,
    /// URLs in it in the previous set, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<u64>,
}

/// How full the sitemaps are. Element n of each list, counted from 0, is the number of sitemaps filled to more than n and at most
/// n + 1 tenths of a limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fullness {
    /// Limit of URLs per sitemap; for several sites, the highest.
    pub urls_max: u64,
    /// Limit of bytes per sitemap before compression; for several sites, the highest.
    pub bytes_max: u64,
    /// Sitemaps by their number of URLs.
    pub urls: [u64; 10],
    /// Sitemaps by their bytes before compression.
    pub bytes: [u64; 10],
}

/// Which sitemaps changed. Crawlers that have read the previous set fetch the new ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Sitemaps that the previous set did not list.
    pub new_sitemaps: u64,
    /// Bytes of their files.
    pub new_bytes: u64,
    /// Sitemaps that the previous set listed with the same content.
    pub kept_sitemaps: u64,
    /// Bytes of their files.
    pub kept_bytes: u64,
    /// Sitemaps that only the previous set listed.
    pub removed_sitemaps: u64,
    /// Index files that are new, have other bytes, or were only in the previous set. Sitemaps that sitemill did not write change
    /// them, too. 0 in the page about a directory.
    #[serde(default)]
    pub changed_indexes: u64,
    /// Sitemaps and index files that the previous set had with the same content, and that were written again because they were
    /// lost or damaged. If this run has completed the switch to the previous set, its index files count, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restored_files: u64,
}

impl Details {
    /// Adds a set, which may be one of many. `earlier` has the kept sets, the latest first, and `limits` are those of its sitemaps.
    pub(crate) fn add_set(
        &mut self,
        set: &Manifest,
        previous: Previous<'_>,
        earlier: &[Manifest],
        limits: Limits,
    ) {
        self.add_previous(previous);
        let fullness = self.fullness.get_or_insert_with(|| Fullness::of(limits));
        fullness.urls_max = fullness.urls_max.max(limits.entries_max.into());
        fullness.bytes_max = fullness.bytes_max.max(limits.bytes_max);
        set.sitemaps.iter().for_each(|sitemap| fullness.add(sitemap.urls.into(), sitemap.xml_bytes, limits));
        self.changes.get_or_insert_default().add(set, previous.known());
        let known_since = history::add(&mut self.history, [set].into_iter().chain(earlier));
        self.known_since = known_since.max(std::mem::take(&mut self.known_since));
    }

    /// Adds index files that have changed.
    pub(crate) fn add_changed_indexes(&mut self, indexes: u64) {
        self.changes.get_or_insert_default().changed_indexes += indexes;
    }

    /// Adds files that were lost or damaged.
    pub(crate) fn add_restored_files(&mut self, files: u64) {
        self.changes.get_or_insert_default().restored_files += files;
    }

    /// Adds the number of URLs in each segment of a single set.
    pub(crate) fn set_segments(&mut self, set: &Segments, previous: Option<&Segments>) {
        let named = set.named.iter().map(|segment| SegmentReport {
            name: segment.name.clone(),
            urls: segment.urls,
            previous: previous.and_then(|previous| previous.urls_of(&segment.name)),
        });
        let (others, other_segments) = (set.others, set.other_segments);
        let (by, named) = (SegmentKind::Path, named.collect());
        self.segments = Some(SegmentsReport { by, named, others, other_segments });
    }

    /// Adds the set of an origin.
    pub(crate) fn add_origin(&mut self, set: &Manifest, name: Option<&SetName>, previous: Previous<'_>) {
        let none = || SegmentsReport {
            by: SegmentKind::Origin,
            named: Vec::new(),
            others: 0,
            other_segments: Some(0),
        };
        let segments = self.segments.get_or_insert_with(none);
        let previous = previous.urls();
        let name = name.map_or_else(|| set.base_url.clone(), |name| format!("{} {name}", set.base_url));
        segments.named.push(SegmentReport { name, urls: set.urls(), previous });
    }

    /// Truncates the lists that grow with the number of sets, and leaves out what is not known of all, once all sets are added.
    pub(crate) fn finish(&mut self) {
        if let Some(segments) = &mut self.segments {
            segments.bound();
        }
        let known_since = std::mem::take(&mut self.known_since);
        self.history.retain(|past| past.published >= known_since);
        let surplus = self.history.len().saturating_sub(HISTORY_MAX);
        self.history.drain(..surplus);
        if self.is_previous_unknown {
            // The sum of the others would look like a loss.
            self.previous = None;
        }
        // The first sets of several sites have no previous sets.
        if let (Some(SegmentsReport { by: SegmentKind::Origin, named, .. }), None) =
            (&mut self.segments, &self.previous)
        {
            named.iter_mut().for_each(|segment| segment.previous = None);
        }
    }

    fn add_previous(&mut self, previous: Previous<'_>) {
        match previous {
            Previous::None => {}
            Previous::Unknown => self.is_previous_unknown = true,
            Previous::Known(set) => PreviousSet::add(&mut self.previous, set),
        }
    }
}

impl SegmentsReport {
    fn bound(&mut self) {
        let size = |segment: &SegmentReport| segment.urls.max(segment.previous.unwrap_or(0));
        self.named.sort_by(|one, other| {
            Reverse(size(one)).cmp(&Reverse(size(other))).then_with(|| one.name.cmp(&other.name))
        });
        let surplus = self.named.split_off(self.named.len().min(SEGMENTS_MAX));
        self.others += surplus.iter().map(|segment| segment.urls).sum::<u64>();
        let met = surplus.iter().filter(|segment| segment.urls > 0).count() as u64;
        self.other_segments = self.other_segments.map(|others| others + met);
    }
}

impl Fullness {
    fn of(limits: Limits) -> Self {
        let (urls_max, bytes_max) = (limits.entries_max.into(), limits.bytes_max);
        Self { urls_max, bytes_max, urls: [0; 10], bytes: [0; 10] }
    }

    fn add(&mut self, urls: u64, bytes: u64, limits: Limits) {
        // A sitemap of exactly three tenths counts in the third element.
        let bucket = |part: u64, max: u64| {
            let tenths = (u128::from(part) * 10).div_ceil(u128::from(max.max(1)));
            tenths.clamp(1, 10) as usize - 1
        };
        self.urls[bucket(urls, limits.entries_max.into())] += 1;
        self.bytes[bucket(bytes, limits.bytes_max)] += 1;
    }
}

impl Changes {
    /// Adds the changes from `previous` to `set`.
    pub(super) fn add(&mut self, set: &Manifest, previous: Option<&Manifest>) {
        let old = previous.into_iter().flat_map(|previous| &previous.sitemaps);
        let mut old: HashSet<_> = old.map(|sitemap| (&sitemap.file, &sitemap.content)).collect();
        for sitemap in &set.sitemaps {
            let is_kept = old.remove(&(&sitemap.file, &sitemap.content));
            let (sitemaps, bytes) = match is_kept {
                true => (&mut self.kept_sitemaps, &mut self.kept_bytes),
                false => (&mut self.new_sitemaps, &mut self.new_bytes),
            };
            *sitemaps += 1;
            *bytes += sitemap.gzip_bytes;
        }
        self.removed_sitemaps += old.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::limits::Protocol;
    use crate::set::manifest::Sitemap;

    const LIMITS: Limits = Limits { entries_max: 10, bytes_max: 1_000 };

    /// A set with sitemaps of these names, URLs and bytes.
    fn set(base_url: &str, published: &str, sitemaps: &[(&str, u32, u64)]) -> Manifest {
        let sitemap = |&(file, urls, xml_bytes): &(&str, u32, u64)| Sitemap {
            file: file.into(),
            content: file.repeat(2),
            urls,
            xml_bytes,
            gzip_bytes: xml_bytes / 10,
            lastmod: String::new(),
            seals: None,
        };
        let sitemaps = sitemaps.iter().map(sitemap).collect();
        Manifest::new("run", Protocol::V0_9, LIMITS, base_url, published, sitemaps)
    }

    #[test]
    fn reports_with_the_former_names_of_segments_are_read() {
        let details = Details {
            segments: Some(SegmentsReport {
                by: SegmentKind::Path,
                named: vec![SegmentReport { name: "/a".into(), urls: 3, previous: None }],
                others: 2,
                other_segments: Some(1),
            }),
            ..Details::default()
        };
        let json = serde_json::to_string(&details).unwrap();
        let former = json.replace("segments", "sections");
        assert!(former.contains("\"sections\":") && former.contains("\"other_sections\":1"), "{former}");
        assert_eq!(serde_json::from_str::<Details>(&former).unwrap(), details);
    }

    #[test]
    fn sets_of_several_sites_add_up() {
        let mut details = Details::default();
        let old = set("https://a/", "t1", &[("1", 10, 1_000), ("2", 3, 300)]);
        let new = set("https://a/", "t2", &[("1", 10, 1_000), ("3", 4, 301)]);
        let previous = Previous::of_live(Some(&old));
        details.add_set(&new, previous, slice::from_ref(&old), LIMITS);
        details.add_origin(&new, None, previous);
        let only = set("https://b/", "t2", &[("1", 1, 0)]);
        details.add_set(&only, Previous::None, &[], LIMITS);
        details.add_origin(&only, None, Previous::None);
        details.finish();

        let fullness = details.fullness.unwrap();
        assert_eq!(fullness.urls, [1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
        assert_eq!(fullness.bytes, [1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
        let changes = Changes {
            new_sitemaps: 2,
            new_bytes: 30,
            kept_sitemaps: 1,
            kept_bytes: 100,
            removed_sitemaps: 1,
            changed_indexes: 0,
            restored_files: 0,
        };
        assert_eq!(details.changes, Some(changes));
        let history: Vec<_> = details.history.iter().map(|past| (&*past.published, past.listed)).collect();
        assert_eq!(history, [("t1", 13), ("t2", 15)]);
        assert_eq!(
            details.previous.map(|previous| (previous.published, previous.listed)),
            Some(("t1".into(), 13))
        );
        let named = details.segments.unwrap().named;
        assert_eq!(named[0], SegmentReport { name: "https://a/".into(), urls: 14, previous: Some(13) });
        assert_eq!(named[1], SegmentReport { name: "https://b/".into(), urls: 1, previous: Some(0) });
    }

    #[test]
    fn sites_and_history_are_bounded_and_lose_no_url() {
        let mut details = Details::default();
        for n in 0..500 {
            let site = set(&format!("https://h{n}/"), &format!("t{n:04}"), &[("1", n, 1)]);
            details.add_set(&site, Previous::None, &[], LIMITS);
            details.add_origin(&site, None, Previous::None);
        }
        details.finish();
        assert_eq!((details.history.len(), &*details.history[0].published), (60, "t0440"));
        let segments = details.segments.unwrap();
        assert_eq!((segments.named.len(), segments.named[0].urls), (100, 499));
        let named: u64 = segments.named.iter().map(|segment| segment.urls).sum();
        assert_eq!(named + segments.others, (0..500).sum::<u64>());
        // One of them has no URL, so it is not a segment.
        assert_eq!(segments.other_segments, Some(399));
        assert!(segments.named.iter().all(|segment| segment.previous.is_none()));
    }
}
