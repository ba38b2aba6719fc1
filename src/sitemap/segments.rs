//! Segments: counts listed URLs by the first segment of their path, in bounded memory. The number of threads does not change
//! the counts.
//!
//! Each sitemap is counted separately, and the counts are added up in the order of the sitemaps: see
//! [`FrequentKeys`](crate::common::frequent::FrequentKeys).

use std::cmp::Reverse;
use std::collections::HashMap;

use memchr::memmem::Finder;
use serde::{Deserialize, Serialize};

use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::common::frequent::{FrequentKeys, KeyCounts};

/// Maximum number of segments named in a report or manifest, not counting those that the caller requested.
const NAMED_MAX: usize = 100;

/// Bytes of a segment that are compared and shown. Longer segments with the same start count as one segment.
const SEGMENT_BYTES_MAX: usize = 120;

/// Ends the name of a segment that was cut at [`SEGMENT_BYTES_MAX`].
const CUT: &str = "…";

/// URLs by segment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segments {
    /// The largest segments first, then by name. Segments of the previous set are included even if they have no URLs now.
    pub named: Vec<Segment>,
    /// URLs of all other segments.
    pub others: u64,
    /// The number of other segments, if it is known.
    #[serde(rename = "other_sections", skip_serializing_if = "Option::is_none")]
    pub other_segments: Option<u64>,
}

/// The URLs that share the first segment of their path, or the URLs on another origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The path up to the end of the segment: `/products`. With scope `directory` it begins below the base URL. Of URLs on
    /// another origin, that origin.
    pub name: String,
    /// The number of its URLs.
    pub urls: u64,
}

impl Segments {
    /// The number of URLs in the segment `name`, if known.
    pub fn urls_of(&self, name: &str) -> Option<u64> {
        let named = self.named.iter().find(|segment| segment.name == name);
        named.map(|segment| segment.urls).or((self.others == 0).then_some(0))
    }

    /// Adds the segments of `before`, the previous set, that have no URLs now, as far as that is known.
    pub fn with_gone(&self, before: Option<&Self>) -> Self {
        let mut all = self.clone();
        for segment in before.filter(|_| self.others == 0).iter().flat_map(|before| &before.named) {
            if !self.named.iter().any(|own| own.name == segment.name) {
                all.named.push(Segment { name: segment.name.clone(), urls: 0 });
            }
        }
        all.named.sort_by(by_size);
        all
    }

    /// Merges the segments of several batches. URLs of segments that a batch does not name count as others.
    pub fn sum(parts: &[&Self]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        parts.iter().for_each(|part| names.extend(part.named.iter().map(|segment| &*segment.name)));
        names.sort_unstable();
        names.dedup();
        let all: u64 = parts.iter().map(|part| part.urls()).sum();
        let known = |&name: &&str| {
            let urls = parts.iter().map(|part| part.urls_of(name)).sum::<Option<u64>>()?;
            Some(Segment { name: name.into(), urls })
        };
        let mut named: Vec<_> = names.iter().filter_map(known).collect();
        named.sort_by(by_size);
        let others = all - named.iter().map(|segment| segment.urls).sum::<u64>();
        Self { named, others, other_segments: (others == 0).then_some(0) }
    }

    fn urls(&self) -> u64 {
        self.others + self.named.iter().map(|segment| segment.urls).sum::<u64>()
    }
}

fn by_size(one: &Segment, other: &Segment) -> std::cmp::Ordering {
    Reverse(one.urls).cmp(&Reverse(other.urls)).then_with(|| one.name.cmp(&other.name))
}

/// Determines which segment a URL belongs to.
#[derive(Debug, Clone)]
pub struct SegmentRule {
    /// The prefix of URLs that are counted by path segment. Other URLs are counted by origin.
    root: String,
    /// The path of `root`.
    path: String,
    /// Names of segments that are always reported, however small.
    wanted: Vec<String>,
}

impl SegmentRule {
    /// The rule for a set at `base_url`. The segments `wanted` are always reported, however small.
    pub fn new(base_url: &BaseUrl, scope: ScopeRule, wanted: Vec<String>) -> Self {
        let root = root(base_url, scope);
        let path = format!("/{}", &root[base_url.origin().len()..]);
        Self { root: root.into(), path, wanted }
    }

    /// The key of the segment of `url`: a path segment (without slashes) or an origin (with slashes).
    fn key<'u>(&self, url: &'u [u8]) -> &'u [u8] {
        match url.strip_prefix(self.root.as_bytes()) {
            Some(path) => {
                let end = path.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
                &path[..end.unwrap_or(path.len()).min(SEGMENT_BYTES_MAX)]
            }
            None => &url[..memchr::memchr_iter(b'/', url).nth(2).map_or(url.len(), |at| at + 1)],
        }
    }

    fn name(&self, key: &[u8]) -> String {
        let key_text = String::from_utf8_lossy(key);
        match key.contains(&b'/') {
            true => key_text.into_owned(),
            false if key.len() == SEGMENT_BYTES_MAX => format!("{}{key_text}{CUT}", self.path),
            false => format!("{}{key_text}", self.path),
        }
    }

    /// The keys of the wanted segments.
    fn wanted_keys(&self) -> impl Iterator<Item = &[u8]> {
        let key = |name: &String| name.strip_prefix(&self.path).map(|segment| segment.len());
        self.wanted.iter().filter_map(move |name| match key(name) {
            Some(segment) => {
                let segment = &name[name.len() - segment..];
                Some(segment.strip_suffix(CUT).unwrap_or(segment).as_bytes())
            }
            None => name.contains("://").then_some(name.as_bytes()),
        })
    }
}

/// The prefix of the URLs that are counted by path segment in a set at `base_url`. Only counts below the same one are comparable.
pub fn root(base_url: &BaseUrl, scope: ScopeRule) -> &str {
    if scope == ScopeRule::Directory { base_url.as_str() } else { base_url.origin() }
}

/// Counts the URLs of one sitemap.
#[derive(Debug)]
pub struct SegmentCounter<'r> {
    rule: &'r SegmentRule,
    finder: Finder<'static>,
    counts: KeyCounts,
    /// The segment of the last `run` URLs: neighbouring URLs often share a segment.
    last: Vec<u8>,
    run: u64,
    unescaped: Vec<u8>,
}

impl<'r> SegmentCounter<'r> {
    /// Creates a counter with all counts at zero.
    pub fn new(rule: &'r SegmentRule) -> Self {
        let (last, unescaped) = (Vec::new(), Vec::new());
        Self { rule, finder: Finder::new("<loc>"), counts: HashMap::new(), last, run: 0, unescaped }
    }

    /// Counts the URL of every entry of `xml`, which consists of whole entries written by sitemill.
    pub fn add_xml(&mut self, xml: &[u8]) {
        let mut rest = xml;
        while let Some(at) = self.finder.find(rest) {
            rest = &rest[at + b"<loc>".len()..];
            let end = memchr::memchr(b'<', rest).unwrap_or(rest.len());
            let url = &rest[..end];
            if memchr::memchr(b'&', url).is_none() {
                self.add(url);
            } else {
                let mut unescaped = std::mem::take(&mut self.unescaped);
                unescape(url, &mut unescaped);
                self.add(&unescaped);
                self.unescaped = unescaped;
            }
            rest = &rest[end..];
        }
    }

    /// Counts `url`.
    pub fn add(&mut self, url: &[u8]) {
        let key = self.rule.key(url);
        if key != self.last {
            self.end_run();
            self.last.extend_from_slice(key);
        }
        self.run += 1;
    }

    fn end_run(&mut self) {
        if self.run > 0 {
            match self.counts.get_mut(&*self.last) {
                Some(count) => *count += self.run,
                None => drop(self.counts.insert(self.last.as_slice().into(), self.run)),
            }
        }
        self.run = 0;
        self.last.clear();
    }

    /// Returns the counts since the last call and resets them.
    pub fn take(&mut self) -> KeyCounts {
        self.end_run();
        std::mem::take(&mut self.counts)
    }
}

/// Replaces `out` with the unescaped `url`. A clean URL contains only two characters that XML escapes, `&` and `'`.
fn unescape(url: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = url;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, entity) = if rest[at..].starts_with(b"&apos;") { (b'\'', 6) } else { (b'&', 5) };
        out.push(byte);
        rest = rest.get(at + entity..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// Adds up the counts of sitemaps. The result depends only on the sitemaps and their order.
#[derive(Debug)]
pub struct SegmentTally<'r> {
    rule: &'r SegmentRule,
    counts: FrequentKeys,
}

impl<'r> SegmentTally<'r> {
    /// Creates an empty tally.
    pub fn new(rule: &'r SegmentRule) -> Self {
        Self { rule, counts: FrequentKeys::default() }
    }

    /// The rule that assigns URLs to segments.
    pub fn rule(&self) -> &'r SegmentRule {
        self.rule
    }

    /// Adds the counts of the next sitemap.
    pub fn add(&mut self, counted: KeyCounts) {
        self.counts.add(counted);
        self.counts.cut();
    }

    /// Whether the counts are inexact, so that all sitemaps must be added again after [`Self::begin_recount`].
    pub fn needs_recount(&self) -> bool {
        self.counts.needs_recount()
    }

    /// Resets all counts, to count exactly the segments that may be the largest ones.
    pub fn begin_recount(&mut self) {
        self.counts.begin_recount(self.rule.wanted_keys());
    }

    /// Returns the largest segments and the wanted ones.
    pub fn finish(mut self) -> Segments {
        let (distinct, all) = (self.counts.distinct(), self.counts.items());
        let mut wanted = Vec::new();
        for key in self.rule.wanted_keys() {
            let urls = self.counts.remove(key).unwrap_or(0);
            wanted.push(Segment { name: self.rule.name(key), urls });
        }
        let certain = self.counts.certain();
        let mut named: Vec<_> =
            certain.map(|(key, urls)| Segment { name: self.rule.name(key), urls }).collect();
        named.sort_by(by_size);
        named.truncate(NAMED_MAX);
        named.append(&mut wanted);
        named.sort_by(by_size);
        let others = all - named.iter().map(|segment| segment.urls).sum::<u64>();
        let met = named.iter().filter(|segment| segment.urls > 0).count() as u64;
        Segments { named, others, other_segments: distinct.map(|distinct| distinct - met) }
    }
}

#[cfg(test)]
mod tests;
