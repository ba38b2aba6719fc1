//! The data of a manifest.

use serde::{Deserialize, Serialize};

use super::rows::SealedRows;
use crate::clean::scope::{BaseUrl, ScopeRule};
use crate::common::counts::is_zero;
use crate::limits::{BYTES_PER_SITEMAP_DEFAULT, SITEMAPS_PER_INDEX_DEFAULT};
use crate::set::content::Seals;
use crate::sitemap::segments::{Segments, root};

/// Version of the file format. A manifest of another version is refused.
pub(super) const FORMAT: u32 = 1;

/// A set of sitemaps and the index files that list them. `.sitemill/manifest.json` describes the live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the file format.
    pub format: u32,
    /// The run that made it, and the name of its staging directory.
    pub run: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// The directory that the files are published in, as a URL.
    pub base_url: String,
    /// When it was published; W3C Datetime, like every time in here.
    pub published: String,
    /// Its sitemaps, in the order in which they are listed.
    pub sitemaps: Vec<Sitemap>,
    /// Sitemaps that it lists after its own, and that sitemill did not write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ExternalEntry>,
    /// Its sections, in the order in which they are listed. Empty if it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<SetSection>,
    /// Names of the index files, in the order of their numbers.
    pub indexes: Vec<String>,
    /// Sitemaps of earlier sets that still exist, for crawlers that have read an old index file.
    pub superseded: Vec<Superseded>,
    /// Index files of earlier sets that still exist and that this set does not replace. Missing in manifests of early releases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub superseded_indexes: Vec<SupersededIndex>,
    /// Number of the set in its directory, counted from 1. A restored set keeps its number.
    #[serde(default)]
    pub number: u64,
    /// Maximum number of sitemaps in one index file.
    #[serde(default = "sitemaps_per_index")]
    pub sitemaps_per_index: u32,
    /// Maximum bytes of one index file.
    #[serde(default = "index_bytes_max")]
    pub index_bytes_max: u64,
    /// Earlier sets that can be restored, the last one first.
    #[serde(default)]
    pub earlier: Vec<Earlier>,
    /// Key of the seals of its sitemaps, in hexadecimal digits. Every set inherits it from the set before. Empty in
    /// manifests of early releases.
    #[serde(default)]
    pub secret: String,
    /// Which URLs it may list: `directory`, `host` or `any`. Empty in manifests of early releases; unknown words are ignored.
    #[serde(default)]
    pub scope: String,
    /// Counts of its run, if the run made a report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<RunCounts>,
    /// The rows that it was made from, if the next run may reuse some of its sitemaps without sorting them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<SealedRows>,
    /// This is not a set but a stand-in for the live set, whose manifest is lost. It records the files that are known, and can
    /// never be restored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stand_in: bool,
    /// Number of the earlier set that a rollback restored when it replaced this one. That set and those between were rolled back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolled_back_to: Option<u64>,
}

// Defaults of the early releases, whose manifests lack the field.
fn sitemaps_per_index() -> u32 {
    SITEMAPS_PER_INDEX_DEFAULT
}

fn index_bytes_max() -> u64 {
    BYTES_PER_SITEMAP_DEFAULT
}

impl Manifest {
    /// The counts of its run, if a set at `base_url` with `scope` counts by the same segments. Those below another directory would
    /// look new or lost.
    pub fn counts_below(&self, base_url: &str, scope: &str) -> Option<&RunCounts> {
        let root_of = |base_url: &str, scope: &str| {
            // Manifests of early releases lack the scope.
            let scope: ScopeRule = scope.parse().unwrap_or_default();
            base_url.parse::<BaseUrl>().map(|url| root(&url, scope).to_owned())
        };
        let is_same = root_of(&self.base_url, &self.scope) == root_of(base_url, scope);
        self.counts.as_ref().filter(|_| is_same)
    }
}

/// Counts of a run, for the report of the next run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCounts {
    /// Lines of the inputs.
    pub lines: u64,
    /// Lines with nothing but spaces and tabs.
    pub blank: u64,
    /// Lines whose URL is listed because of another line.
    pub duplicates: u64,
    /// Refused lines.
    pub rejected: u64,
    /// Lines that rules left out. Missing if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub excluded: u64,
    /// Listed URLs by first path segment.
    #[serde(rename = "sections")]
    pub segments: Segments,
    /// Maximum number of URLs per sitemap. `None` in the first manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub urls_per_sitemap: Option<u32>,
}

/// An earlier set that is kept. Its manifest is in `.sitemill/sets`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The run that made it, or made it live last: the name of its manifest.
    pub run: String,
    /// Its number among the sets of the directory.
    pub number: u64,
    /// When it was replaced.
    pub since: String,
    /// It was rolled back, so later rollbacks skip it.
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
    /// Seals by which the next run recognises it. Missing in manifests of early releases.
    #[serde(default)]
    pub seals: Option<Seals>,
}

/// A section of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetSection {
    /// Its name, in printable characters.
    pub name: String,
    /// Its name as used in the names of its sitemaps and index files.
    pub word: String,
    /// Whether it is the section of all URLs that have no other, which may have any name. Missing in manifests of early releases.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rest: bool,
}

/// A sitemap that a set lists and that sitemill did not write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalEntry {
    /// Its URL, below the base URL of the set.
    pub loc: String,
    /// When it last changed, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lastmod: Option<String>,
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
    /// XXH3 of its bytes, 128 bits, as 32 hexadecimal digits. A file of that name with other bytes is not from sitemill.
    pub content: String,
}
