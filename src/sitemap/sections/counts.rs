//! Sections: counts listed URLs by the first segment of their path, in bounded memory. The number of threads does not change
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

/// Maximum number of sections named in a report or manifest, not counting those that the caller requested.
const NAMED_MAX: usize = 100;

/// Bytes of a segment that are compared and shown. Longer segments with the same start count as one section.
const SEGMENT_BYTES_MAX: usize = 120;

/// Ends the name of a segment that was cut at [`SEGMENT_BYTES_MAX`].
const CUT: &str = "…";

/// URLs by section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sections {
    /// The largest sections first, then by name. Sections of the previous set are included even if they have no URLs now.
    pub named: Vec<Section>,
    /// URLs of all other sections.
    pub others: u64,
    /// The number of other sections, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_sections: Option<u64>,
}

/// The URLs that share the first segment of their path, or the URLs on another origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The path up to the end of the segment: `/products`. With scope `directory` it begins below the base URL. Of URLs on
    /// another origin, that origin.
    pub name: String,
    /// The number of its URLs.
    pub urls: u64,
}

impl Sections {
    /// The number of URLs in the section `name`, if known.
    pub fn urls_of(&self, name: &str) -> Option<u64> {
        let named = self.named.iter().find(|section| section.name == name);
        named.map(|section| section.urls).or((self.others == 0).then_some(0))
    }

    /// Merges the sections of several batches. URLs of sections that a batch does not name count as others.
    pub fn sum(parts: &[&Self]) -> Self {
        let mut names: Vec<&str> = Vec::new();
        parts.iter().for_each(|part| names.extend(part.named.iter().map(|section| &*section.name)));
        names.sort_unstable();
        names.dedup();
        let all: u64 = parts.iter().map(|part| part.urls()).sum();
        let known = |&name: &&str| {
            let urls = parts.iter().map(|part| part.urls_of(name)).sum::<Option<u64>>()?;
            Some(Section { name: name.into(), urls })
        };
        let mut named: Vec<_> = names.iter().filter_map(known).collect();
        named.sort_by(by_size);
        let others = all - named.iter().map(|section| section.urls).sum::<u64>();
        Self { named, others, other_sections: (others == 0).then_some(0) }
    }

    fn urls(&self) -> u64 {
        self.others + self.named.iter().map(|section| section.urls).sum::<u64>()
    }
}

fn by_size(one: &Section, other: &Section) -> std::cmp::Ordering {
    Reverse(one.urls).cmp(&Reverse(other.urls)).then_with(|| one.name.cmp(&other.name))
}

/// Determines which section a URL belongs to.
#[derive(Debug, Clone)]
pub struct SectionRule {
    /// The prefix of URLs that are counted by path segment. Other URLs are counted by origin.
    root: String,
    /// The path of `root`.
    path: String,
    /// Names of sections that are always reported, however small.
    wanted: Vec<String>,
}

impl SectionRule {
    /// The rule for a set at `base_url`. The sections `wanted` are always reported, however small.
    pub fn new(base_url: &BaseUrl, scope: ScopeRule, wanted: Vec<String>) -> Self {
        let root = root(base_url, scope);
        let path = format!("/{}", &root[base_url.origin().len()..]);
        Self { root: root.into(), path, wanted }
    }

    /// The key of the section of `url`: a path segment (without slashes) or an origin (with slashes).
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

    /// The keys of the wanted sections.
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
pub struct SectionCounter<'r> {
    rule: &'r SectionRule,
    finder: Finder<'static>,
    counts: KeyCounts,
    /// The section of the last `run` URLs: neighbouring URLs often share a section.
    last: Vec<u8>,
    run: u64,
    unescaped: Vec<u8>,
}

impl<'r> SectionCounter<'r> {
    /// Creates a counter with all counts at zero.
    pub fn new(rule: &'r SectionRule) -> Self {
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
pub struct SectionTally<'r> {
    rule: &'r SectionRule,
    counts: FrequentKeys,
}

impl<'r> SectionTally<'r> {
    /// Creates an empty tally.
    pub fn new(rule: &'r SectionRule) -> Self {
        Self { rule, counts: FrequentKeys::default() }
    }

    /// The rule that assigns URLs to sections.
    pub fn rule(&self) -> &'r SectionRule {
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

    /// Resets all counts, to count exactly the sections that may be the largest ones.
    pub fn begin_recount(&mut self) {
        self.counts.begin_recount(self.rule.wanted_keys());
    }

    /// Returns the largest sections and the wanted ones.
    pub fn finish(mut self) -> Sections {
        let (distinct, all) = (self.counts.distinct(), self.counts.items());
        let mut wanted = Vec::new();
        for key in self.rule.wanted_keys() {
            let urls = self.counts.remove(key).unwrap_or(0);
            wanted.push(Section { name: self.rule.name(key), urls });
        }
        let certain = self.counts.certain();
        let mut named: Vec<_> =
            certain.map(|(key, urls)| Section { name: self.rule.name(key), urls }).collect();
        named.sort_by(by_size);
        named.truncate(NAMED_MAX);
        named.append(&mut wanted);
        named.sort_by(by_size);
        let others = all - named.iter().map(|section| section.urls).sum::<u64>();
        let met = named.iter().filter(|section| section.urls > 0).count() as u64;
        Sections { named, others, other_sections: distinct.map(|distinct| distinct - met) }
    }
}

#[cfg(test)]
mod tests;
