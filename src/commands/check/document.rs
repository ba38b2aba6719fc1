//! One file, from its bytes to its findings.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::content::Content;
use super::entry::Entry;
use super::finding::Findings;
use super::judge::judge;
use super::reader::{Kind, Reader};
use super::rules::Rule;
use crate::common::secret::{Key, Secret};
use crate::error::{Error, Result};
use crate::escape::shown;
use crate::survey::dedup::ChunkKeys;

/// What the files of a set are held against.
pub(crate) struct Rules<'a> {
    /// What a `loc` in a sitemap must start with.
    pub urls_below: Option<&'a str>,
    /// What a `loc` in an index file must start with.
    pub sitemaps_below: Option<&'a str>,
    /// Most findings of a file that are kept.
    pub kept_max: usize,
    /// What URLs are keyed with.
    pub secret: &'a Secret,
}

/// What a worker keeps from file to file.
#[derive(Default)]
pub(crate) struct Scratch {
    entry: Entry,
    keys: Vec<Key>,
}

/// A file that was read.
pub(crate) struct Document {
    /// Where it lies.
    pub path: PathBuf,
    /// What was found in it.
    pub findings: Findings,
    /// What it is, if that could be seen.
    pub kind: Option<Kind>,
    /// Its entries.
    pub entries: u64,
    /// Of a sitemap: the keys of its URLs, by the numbers of their entries less one.
    pub keys: ChunkKeys,
    /// Of an index file: what it lists.
    pub members: Vec<Member>,
}

/// A sitemap that an index file lists.
pub(crate) struct Member {
    /// The number of the entry.
    pub entry: u64,
    /// Its URL.
    pub loc: Box<[u8]>,
}

/// Reads and judges the file at `path`; `is_member` if an index file names it.
///
/// # Errors
/// If it cannot be opened, or the disk fails.
pub(crate) fn check(
    path: PathBuf,
    is_member: bool,
    rules: &Rules<'_>,
    scratch: &mut Scratch,
) -> Result<Document> {
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), rules.kept_max);
    let content = Content::open(&path)?;
    check_name(&path, content.is_gzip(), &mut findings);
    let mut reader = Reader::new(content, &mut findings);
    let Scratch { entry, keys } = scratch;
    keys.clear();
    let mut members = Vec::new();
    while reader.next(entry).map_err(|error| Error::io(&path, "could not be read", error))? {
        let (kind, protocol) = reader.own();
        let below = match kind {
            Kind::Sitemap => rules.urls_below,
            Kind::Index => rules.sitemaps_below,
        };
        judge(entry, protocol, below, reader.findings());
        // What is beyond the limit is a finding already, and has no place in memory.
        let is_counted = entry.number() <= kind.entries_max(protocol);
        match (kind, entry.loc()) {
            // No URL is a place to keep, so that keys stay where their entries are; two of them are no duplicates.
            (Kind::Sitemap, None) if is_counted => keys.push(rules.secret.key(&unique())),
            (Kind::Sitemap, Some(loc)) if is_counted => keys.push(rules.secret.key(loc)),
            (Kind::Index, Some(loc)) if is_counted => {
                members.push(Member { entry: entry.number(), loc: loc.into() });
            }
            _ => {}
        }
    }
    let (kind, entries, hash) = (reader.head().map(|(kind, _)| kind), reader.entries(), reader.hash());
    if is_member && kind == Some(Kind::Index) {
        findings.push(None, Rule::IndexOfIndexes, || "an index file that another one names".into());
    }
    if let Some(hash) = hash {
        check_content_name(&path, hash, &mut findings);
    }
    Ok(Document { path, findings, kind, entries, keys: ChunkKeys::part(keys, &[])?, members })
}

/// Bytes that no other entry of the run has, and no URL begins with.
fn unique() -> [u8; 9] {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_ne_bytes());
    bytes
}

/// A server tells its clients by the name whether a file is compressed.
fn check_name(path: &Path, is_gzip: bool, findings: &mut Findings) {
    let extension = path.extension().unwrap_or_default();
    if extension == "gz" && !is_gzip {
        findings.push(None, Rule::Gzip, || "is called .gz and is not gzip".into());
    } else if extension == "xml" && is_gzip {
        findings.push(None, Rule::Gzip, || "is gzip and is not called .gz".into());
    }
}

/// `sitemap-00001-1f2e3d4c.xml.gz` carries eight digits of the XXH3 of its XML, one of the four eights there are.
fn check_content_name(path: &Path, hash: u128, findings: &mut Findings) {
    let Some(word) = path.file_name().and_then(|name| content_word(name.to_str()?)) else { return };
    let digits = format!("{hash:032x}");
    if (0..4).all(|at| digits[8 * at..][..8] != *word) {
        findings.push(None, Rule::ContentName, || {
            format!("the name says {word}, the content is {}: changed since it was published", &digits[..8])
        });
    }
}

/// The digits in the name of a sitemap that sitemill has written.
fn content_word(name: &str) -> Option<&str> {
    let (number, word) = name.strip_prefix("sitemap-")?.strip_suffix(".xml.gz")?.split_once('-')?;
    let is_number = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = word.len() == 8 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_number && is_word).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_sitemill_gives_carry_their_content() {
        assert_eq!(content_word("sitemap-00001-1f2e3d4c.xml.gz"), Some("1f2e3d4c"));
        assert_eq!(content_word("sitemap-123456-abcdef01.xml.gz"), Some("abcdef01"));
        for other in
            ["sitemap-1-1f2e3d4c.xml.gz", "sitemap-00001-1f2e3d4c.xml", "sitemap-00001-products.xml.gz"]
        {
            assert_eq!(content_word(other), None, "{other}");
        }
    }
}
