//! The rows that a sorted set was made from, by range of URLs. If the rows of a range are the same in the next run, their order
//! and their sitemaps are the same too, and need not be computed again.

use serde::{Deserialize, Serialize};

use crate::set::content::Seal;
use crate::sitemap::divide::borders::Smallest;

/// The rows of a sorted set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedRows {
    /// The fingerprint of the job, and the version of sitemill. Another job or version may make other sitemaps of the same rows.
    pub rules: String,
    /// The ranges, in byte order of their URLs. Together they have all accepted rows.
    pub ranges: Vec<SealedRange>,
    /// The URLs with the smallest hashes. The first of them are the borders of the set. `None` if it has no borders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Smallest>,
    /// The first URL of each sitemap of the set, canonical and not escaped, in the order of the sitemaps.
    pub first_urls: Vec<String>,
}

/// The rows of a range of URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedRange {
    /// Its URLs are not less than this one in byte order, and less than that of the next range. Empty in the first range.
    pub from: String,
    /// Accepted rows, duplicates included.
    pub rows: u64,
    /// The sum of the keyed hashes of these rows, modulo 2^128: the same for the same rows in any order. `None` if the order of
    /// the rows decides what is listed, because rows of one URL have different tags.
    pub seal: Option<Seal>,
}
