//! The manifest: what a published set consists of, for the run that replaces it.

mod file;
pub mod name;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::limits::{BYTES_PER_SITEMAP_DEFAULT, Protocol, SITEMAPS_PER_INDEX_DEFAULT};
use crate::sitemap::divide::Limits;

pub use file::Role;

/// The version of the file's form. A set written by another version is not guessed at.
const FORMAT: u32 = 1;

/// A set of sitemaps and the index files that list them. `.sitemill/manifest.json` describes the live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the file's form.
    pub format: u32,
    /// The run that made it, and the name of its staging directory.
    pub run: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// The directory that the files are published in, as a URL.
    pub base_url: String,
    /// When it was published; W3C Datetime, like every time in here.
    pub published: String,
    /// In the order in which they are listed.
    pub sitemaps: Vec<Sitemap>,
    /// Names of the index files, in the order of their numbers.
    pub indexes: Vec<String>,
    /// Sitemaps of earlier sets that still lie there, so that nobody who holds an old index file misses one.
    pub superseded: Vec<Superseded>,
    /// Index files of earlier sets that still lie there and that it has no successor for. None in the first manifests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded_indexes: Vec<SupersededIndex>,
    /// Which of the directory's sets it is, counted from 1. A set that comes back keeps its number.
    #[serde(default)]
    pub number: u64,
    /// Most sitemaps of one of its index files.
    #[serde(default = "sitemaps_per_index")]
    pub sitemaps_per_index: u32,
    /// Most bytes of one of its index files.
    #[serde(default = "index_bytes_max")]
    pub index_bytes_max: u64,
    /// Sets that it has replaced and that can come back, the last one first.
    #[serde(default)]
    pub earlier: Vec<Earlier>,
    /// What the seals of its sitemaps are made with, in hexadecimal digits; handed on from set to set. Empty in the first
    /// manifests.
    #[serde(default)]
    pub secret: String,
    /// Which URLs it may list: `directory`, `host` or `any`. Empty in the first manifests; a word that is not known is none.
    #[serde(default)]
    pub scope: String,
    /// Not a set: it stands for the live one, whose manifest is lost, and knows what else there is. No set is made of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stand_in: bool,
}

// What the first manifests, which did not say, were made with unless told otherwise.
fn sitemaps_per_index() -> u32 {
    SITEMAPS_PER_INDEX_DEFAULT
}

fn index_bytes_max() -> u64 {
    BYTES_PER_SITEMAP_DEFAULT
}

/// An earlier set that is kept. Its manifest lies in `.sitemill/sets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The run that made it, or made it live last: the name of its manifest.
    pub run: String,
    /// Which of the directory's sets it is.
    pub number: u64,
    /// When it was replaced.
    pub since: String,
    /// It was rolled back, so a later way back leads past it.
    pub withdrawn: bool,
}

/// One sitemap of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sitemap {
    /// File name.
    pub file: String,
    /// XXH3 of the XML, 128 bits, as 32 hexadecimal digits.
    pub content: String,
    /// URLs in it.
    pub urls: u32,
    /// Bytes of the XML.
    pub xml_bytes: u64,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// When its content last changed: the `lastmod` of its index entry.
    pub lastmod: String,
    /// What the next run knows it by. None in the first manifests.
    #[serde(default)]
    pub seals: Option<Seals>,
}

/// Hashes under the secret of the set: whoever has a say in URLs cannot prepare another content that meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seals {
    /// Of the XML.
    pub xml: Seal,
    /// Of the file.
    pub gzip: Seal,
}

/// 128 bits, written as 32 hexadecimal digits: few readers of JSON take numbers of that size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Seal(pub u128);

impl From<Seal> for String {
    fn from(seal: Seal) -> Self {
        format!("{:032x}", seal.0)
    }
}

impl TryFrom<String> for Seal {
    type Error = std::num::ParseIntError;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&digits, 16).map(Self)
    }
}

/// A sitemap that the set no longer lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// File name.
    pub file: String,
    /// When the set that no longer lists it was published.
    pub since: String,
}

/// An index file of an earlier set. It stays as long as the sitemaps that it lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupersededIndex {
    /// File name.
    pub file: String,
    /// The run of the set that it belongs to.
    pub run: String,
    /// When a set without it was published.
    pub since: String,
    /// XXH3 of its bytes, 128 bits, as 32 hexadecimal digits: another file of that name is none of ours.
    pub content: String,
}

impl Manifest {
    /// A set of `sitemaps` that nobody has published yet.
    pub fn new(
        run: &str,
        protocol: Protocol,
        index_limits: Limits,
        base_url: &str,
        published: &str,
        sitemaps: Vec<Sitemap>,
    ) -> Self {
        Self {
            format: FORMAT,
            run: run.into(),
            protocol: protocol.to_string(),
            base_url: base_url.into(),
            published: published.into(),
            sitemaps,
            indexes: Vec::new(),
            superseded: Vec::new(),
            superseded_indexes: Vec::new(),
            number: 1,
            sitemaps_per_index: index_limits.entries_max,
            index_bytes_max: index_limits.bytes_max,
            earlier: Vec::new(),
            secret: String::new(),
            scope: String::new(),
            is_stand_in: false,
        }
    }

    /// The same as the successor of `live`: what has not changed keeps its `lastmod`.
    pub fn succeeding(mut self, live: &Self) -> Self {
        let kept: HashMap<_, _> =
            live.sitemaps.iter().map(|old| ((&old.file, &old.content), &old.lastmod)).collect();
        for sitemap in &mut self.sitemaps {
            if let Some(lastmod) = kept.get(&(&sitemap.file, &sitemap.content)) {
                sitemap.lastmod.clone_from(lastmod);
            }
        }
        self.number = live.number_max().saturating_add(1);
        self.supersede(live);
        self
    }

    /// Takes the place of `live`: what this set does not list is superseded now.
    pub fn supersede(&mut self, live: &Self) {
        let since = &self.published;
        let listed: HashSet<_> = self.sitemaps.iter().map(|sitemap| &sitemap.file).collect();
        let now = live.sitemaps.iter().map(|s| Superseded { file: s.file.clone(), since: since.clone() });
        let all = live.superseded.iter().cloned().chain(now);
        self.superseded = all.filter(|s| !listed.contains(&s.file)).collect();
        let (run, number) = (live.run.clone(), live.number);
        let replaced = Earlier { run, number, since: since.clone(), withdrawn: false };
        let replaced = (!live.is_stand_in).then_some(replaced);
        self.earlier = replaced.into_iter().chain(live.earlier.iter().cloned()).collect();
    }

    /// The highest number of a set that is live or kept.
    pub fn number_max(&self) -> u64 {
        let numbers = self.earlier.iter().map(|earlier| earlier.number).chain([self.number]);
        numbers.max().expect("it has a number itself")
    }

    /// The set alone, as it is kept when another one is live.
    pub fn alone(&self) -> Self {
        let (superseded, superseded_indexes) = (Vec::new(), Vec::new());
        Self { superseded, superseded_indexes, earlier: Vec::new(), ..self.clone() }
    }

    /// URLs in its sitemaps.
    pub fn urls(&self) -> u64 {
        self.sitemaps.iter().map(|sitemap| u64::from(sitemap.urls)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sitemap(file: &str, content: &str, lastmod: &str) -> Sitemap {
        let (content, lastmod) = (content.into(), lastmod.into());
        Sitemap { file: file.into(), content, urls: 1, xml_bytes: 2, gzip_bytes: 3, lastmod, seals: None }
    }

    fn succeed(live: Option<&Manifest>, published: &str, sitemaps: Vec<Sitemap>) -> Manifest {
        let limits = Limits { entries_max: 1, bytes_max: 2 };
        let set = Manifest::new(published, Protocol::V0_9, limits, "u", published, sitemaps);
        live.map_or(set.clone(), |live| set.succeeding(live))
    }

    #[test]
    fn what_has_not_changed_keeps_its_lastmod_and_what_is_gone_is_remembered() {
        let first = succeed(None, "t1", vec![sitemap("a", "1", "t1"), sitemap("b", "2", "t1")]);
        let second = succeed(Some(&first), "t2", vec![sitemap("a", "1", "t2"), sitemap("c", "3", "t2")]);
        assert_eq!(second.sitemaps, [sitemap("a", "1", "t1"), sitemap("c", "3", "t2")]);
        assert_eq!(second.superseded, [Superseded { file: "b".into(), since: "t2".into() }]);
        let third = succeed(Some(&second), "t3", vec![sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.sitemaps, [sitemap("b", "2", "t3"), sitemap("c", "other", "t3")]);
        assert_eq!(third.superseded, [Superseded { file: "a".into(), since: "t3".into() }]);
        assert_eq!(third.number, 3);
        let earlier = |run: &str, number, since: &str| Earlier {
            run: run.into(),
            number,
            since: since.into(),
            withdrawn: false,
        };
        assert_eq!(third.earlier, [earlier("t2", 2, "t3"), earlier("t1", 1, "t2")]);
    }

    #[test]
    fn what_stands_for_a_lost_set_is_none_to_come_back() {
        let lost = Manifest { is_stand_in: true, number: 7, ..succeed(None, "t1", Vec::new()) };
        let next = succeed(Some(&lost), "t2", Vec::new());
        assert_eq!((next.number, next.earlier, next.is_stand_in), (8, Vec::new(), false));
    }

    #[test]
    fn a_manifest_of_the_first_kind_is_still_read() {
        let mut whole = serde_json::to_value(succeed(None, "t", Vec::new())).unwrap();
        for key in ["number", "sitemaps_per_index", "index_bytes_max", "earlier", "secret", "scope"] {
            whole.as_object_mut().unwrap().remove(key).unwrap();
        }
        let manifest: Manifest = serde_json::from_value(whole).unwrap();
        assert_eq!((manifest.number, manifest.sitemaps_per_index), (0, 1_000));
        assert_eq!(succeed(Some(&manifest), "t2", Vec::new()).number, 1);
    }
}
