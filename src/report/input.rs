//! Inputs in a report: what was read, and what of it could not be used.

use std::collections::BTreeMap;

use serde::Serialize;

/// An input that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InputReport {
    /// Its path, escaped; `-` is standard input.
    pub path: String,
    /// Its format: `text`, `csv`, `tsv`, `jsonl`, `parquet`, `sitemap` or `google`.
    pub format: String,
    /// `gzip`, `zstd` or `bzip2`, if it is compressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packing: Option<String>,
    /// Its lines or rows.
    pub lines: u64,
    /// Its bytes, compressed if it is.
    pub bytes: u64,
    /// Its columns or keys, if its format has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<ColumnsReport>,
    /// Elements of a sitemap that cannot be carried over, by name; what they contain is not counted again.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_elements: BTreeMap<String, u64>,
}

/// The columns of a table, or the keys of JSON lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnsReport {
    /// What each part of a record was read from: `url`, `lastmod`, `changefreq`, `priority`, `alternates`, `images`.
    pub used: BTreeMap<&'static str, String>,
    /// All others in the order in which they occur first, escaped; `…` stands for those beyond the first 64.
    pub unused: Vec<String>,
}

/// A file or directory below an input directory that was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Its path, escaped.
    pub path: String,
    /// Why it was not read.
    pub reason: &'static str,
}
