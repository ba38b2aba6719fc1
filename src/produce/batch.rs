//! A batch: the result of a producer, and the input of the publisher.

use serde::{Deserialize, Serialize};

use crate::common::counts::is_zero;
use crate::job::fingerprint::Fingerprint;
use crate::set::manifest::Sitemap;
use crate::sitemap::segments::Segments;
use crate::survey::tally::Tally;

/// The version of the serialised form of a batch.
const FORMAT: u32 = 1;

/// Sitemaps on a shelf, with the tally of the rows they are made from. Producer and publisher may be different processes: a
/// serialised batch is all that passes between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    format: Format,
    /// The version of sitemill that made it.
    pub version: String,
    /// The fingerprint of the rules that applied.
    pub rules: Fingerprint,
    /// The counts of the rows. The tallies of all batches of a set add up to the tally of the set.
    pub tally: Tally,
    /// The sitemaps, in the order in which they are listed.
    pub sitemaps: Vec<BatchSitemap>,
    /// Its URLs by segment, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segments: Option<Segments>,
    /// News articles that were published more than two days before the set.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub old_news: u64,
}

/// A sitemap of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSitemap {
    /// Its first URL, canonical and not escaped. In sorted order, the sitemaps of several batches are listed in the byte order of
    /// their first URLs.
    pub first_url: String,
    /// The file.
    #[serde(flatten)]
    pub sitemap: Sitemap,
}

impl Batch {
    /// Creates a batch that this version has produced by `rules`.
    pub fn new(rules: Fingerprint, tally: Tally, sitemaps: Vec<BatchSitemap>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: Format, version, rules, tally, sitemaps, segments: None, old_news: 0 }
    }

    /// Adds the URLs by segment, if they were counted.
    pub fn with_segments(self, segments: Option<Segments>) -> Self {
        Self { segments, ..self }
    }

    /// Sets the number of old news articles.
    pub fn with_old_news(self, old_news: u64) -> Self {
        Self { old_news, ..self }
    }

    /// Returns the number of URLs in its sitemaps.
    pub fn urls(&self) -> u64 {
        self.sitemaps.iter().map(|made| u64::from(made.sitemap.urls)).sum()
    }
}

/// The version [`FORMAT`]. Deserialising any other version fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u32", try_from = "u32")]
struct Format;

impl From<Format> for u32 {
    fn from(_: Format) -> Self {
        FORMAT
    }
}

impl TryFrom<u32> for Format {
    type Error = String;

    fn try_from(format: u32) -> Result<Self, String> {
        match format {
            FORMAT => Ok(Self),
            _ => Err(format!("a batch of format {format}, and this version reads format {FORMAT}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::format::FormatOptions;
    use crate::job::SetRules;
    use crate::set::content::{Seal, Seals};

    fn batch() -> Batch {
        let rules = SetRules::new("https://h.example/".parse().unwrap());
        let rules = Fingerprint::of(&rules, &FormatOptions::default());
        let sitemap = Sitemap {
            file: "sitemap-00001-00000000.xml.gz".into(),
            content: "0".repeat(32),
            urls: 7,
            xml_bytes: u64::MAX,
            gzip_bytes: 1,
            lastmod: "2026-01-02T03:04:05Z".into(),
            seals: Some(Seals { xml: Seal(u128::MAX), gzip: Seal(0) }),
        };
        let first_url = "https://h.example/a&b".into();
        Batch::new(rules, Tally::of_listed(7), vec![BatchSitemap { first_url, sitemap }])
    }

    #[test]
    fn a_batch_is_the_same_after_it_was_written_and_read() {
        let json = serde_json::to_string(&batch()).unwrap();
        assert_eq!(serde_json::from_str::<Batch>(&json).unwrap(), batch(), "{json}");
        assert_eq!(batch().urls(), 7);
    }

    #[test]
    fn a_batch_of_another_format_cannot_be_read() {
        let mut json = serde_json::to_value(batch()).unwrap();
        assert_eq!(json["format"], FORMAT);
        json["format"] = (FORMAT + 1).into();
        let refused = serde_json::from_value::<Batch>(json).unwrap_err();
        assert!(refused.to_string().contains("format 2"), "{refused}");
    }
}
