//! A batch: what a producer hands to the publisher.

use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::job::fingerprint::Fingerprint;
use crate::set::manifest::Sitemap;
use crate::survey::tally::Tally;

/// The version of the form that batches are written in.
const FORMAT: u32 = 1;

/// Sitemaps that lie where they were produced, and the tally of the rows that they are made from. A producer and a publisher can be two
/// processes: serialised, a batch is all that goes from one to the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    format: Format,
    /// The version of sitemill that made it.
    pub version: String,
    /// The rules that it was made by.
    pub rules: Fingerprint,
    /// What became of the rows. The tallies of all batches of a set add up to that of the set.
    pub tally: Tally,
    /// The sitemaps, in the order in which they are listed.
    pub sitemaps: Vec<BatchSitemap>,
}

/// A sitemap of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSitemap {
    /// The first URL in it, canonical and not escaped. In sorted order, the sitemaps of several batches follow each other in
    /// the byte order of these.
    pub first_url: String,
    /// The file.
    #[serde(flatten)]
    pub sitemap: Sitemap,
}

impl Batch {
    /// A batch that this version has made for `job`.
    pub fn new(job: &Job, tally: Tally, sitemaps: Vec<BatchSitemap>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: Format, version, rules: Fingerprint::of(job), tally, sitemaps }
    }

    /// URLs in its sitemaps.
    pub fn urls(&self) -> u64 {
        self.sitemaps.iter().map(|made| u64::from(made.sitemap.urls)).sum()
    }
}

/// [`FORMAT`]: a batch of any other form cannot be read.
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
    use crate::set::manifest::{Seal, Seals};

    fn batch() -> Batch {
        let job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), "out".into());
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
        Batch::new(&job, Tally::of_listed(7), vec![BatchSitemap { first_url, sitemap }])
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
