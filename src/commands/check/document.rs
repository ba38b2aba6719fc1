//! Checks one file.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::content::Content;
use super::entry::Entry;
use super::finding::Findings;
use super::judge::judge;
use super::normal::normal;
use super::reader::{DocumentFormat, FileKind, Reader};
use super::rules::Rule;
use crate::common::secret::{Key, Secret};
use crate::error::{Error, Result};
use crate::escape::shown;
use crate::limits::Protocol;
use crate::place::PlaceFile;
use crate::set::name::hash_digits_of;
use crate::survey::dedup::ChunkKeys;

/// Properties of a set that its files are checked against.
pub(crate) struct Rules<'a> {
    /// The prefix of every `loc` in a sitemap.
    pub urls_below: Option<&'a str>,
    /// Whether sitemaps in directories below list only URLs below their own directory.
    pub is_by_directory: bool,
    /// The prefix of every `loc` in an index file.
    pub sitemaps_below: Option<&'a str>,
    /// Maximum number of findings kept per file.
    pub kept_max: usize,
    /// The secret under which URLs are hashed.
    pub secret: &'a Secret,
}

impl<'a> Rules<'a> {
    /// The rules for a sitemap whose directory has the URL `directory`, if that is below the one of the set.
    pub fn for_directory(&'a self, directory: Option<&'a str>) -> Self {
        let own = directory.filter(|_| self.is_by_directory);
        Self { urls_below: own.or(self.urls_below), ..*self }
    }
}

/// Buffers that a worker reuses from file to file.
#[derive(Default)]
pub(crate) struct Scratch {
    entry: Entry,
    keys: Vec<Key>,
}

/// The result of checking a file.
pub(crate) struct Document {
    /// The file.
    pub file: PlaceFile,
    /// Its findings.
    pub findings: Findings,
    /// Its kind, if its root element could be read.
    pub kind: Option<FileKind>,
    /// Its protocol, if its root element could be read.
    pub protocol: Option<Protocol>,
    /// Whether it is XML of the protocol, and not a feed or text.
    pub is_of_protocol: bool,
    /// The number of its entries.
    pub entries: u64,
    /// For a sitemap, the keys of its URLs. Entry number n has index n - 1.
    pub keys: ChunkKeys,
    /// For an index file, the sitemaps it lists.
    pub members: Vec<Member>,
}

/// A sitemap that an index file lists.
pub(crate) struct Member {
    /// The number of the entry.
    pub entry: u64,
    /// Its URL, as written in the index file.
    pub loc: Box<[u8]>,
}

/// Reads and checks `file`. `is_member` says whether an index file lists it.
///
/// # Errors
/// If it cannot be opened, or the disk fails.
pub(crate) fn check(
    file: PlaceFile,
    is_member: bool,
    rules: &Rules<'_>,
    scratch: &mut Scratch,
) -> Result<Document> {
    let path = file.path();
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), rules.kept_max);
    let content = Content::open(&file)?;
    check_name(path, content.is_gzip(), &mut findings);
    let mut reader = Reader::new(content, &mut findings);
    let Scratch { entry, keys } = scratch;
    keys.clear();
    let mut members = Vec::new();
    while reader.next(entry).map_err(|error| Error::io(path, "could not be read", error))? {
        let (kind, protocol) = reader.own();
        let below = match kind {
            FileKind::Sitemap => rules.urls_below,
            FileKind::Index => rules.sitemaps_below,
        };
        let url = entry.loc().map(|loc| normal(loc, below));
        judge(entry, url.as_deref(), protocol, below, reader.findings());
        // Entries beyond the limit are a finding already, and must not take memory.
        let is_counted = entry.number() <= kind.entries_max(protocol);
        match (kind, url.as_deref().filter(|_| entry.has_whole_loc())) {
            // An entry whose URL is missing or truncated needs a key too, so that keys stay aligned with entries; two such entries
            // are not duplicates.
            (FileKind::Sitemap, None | Some(b"")) if is_counted => keys.push(rules.secret.key(&unique())),
            (FileKind::Sitemap, Some(url)) if is_counted => keys.push(rules.secret.key(url)),
            // A truncated URL, which is a finding, leads to no sitemap.
            (FileKind::Index, Some(_)) if is_counted => {
                members.extend(entry.loc().map(|loc| Member { entry: entry.number(), loc: loc.into() }));
            }
            _ => {}
        }
    }
    let (head, entries, hash) = (reader.head(), reader.entries(), reader.hash());
    let is_of_protocol = reader.format() == DocumentFormat::Protocol;
    let (kind, protocol) = head.unzip();
    if is_member && kind == Some(FileKind::Index) {
        report_listed_index(&mut findings);
    }
    if let Some(hash) = hash {
        check_content_name(path, hash, &mut findings);
    }
    let keys = ChunkKeys::part(keys, &[])?;
    Ok(Document { file, findings, kind, protocol, is_of_protocol, entries, keys, members })
}

/// Reports that the file, which is an index file, is listed in one.
pub(crate) fn report_listed_index(findings: &mut Findings) {
    findings.push(None, Rule::IndexOfIndexes, || "this index file is listed in an index file".into());
}

/// Returns bytes that are unique in this run and that no URL begins with.
fn unique() -> [u8; 9] {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 9];
    bytes[1..].copy_from_slice(&NUMBER.fetch_add(1, Ordering::Relaxed).to_ne_bytes());
    bytes
}

/// Checks that the name says whether the file is compressed, because servers derive the content type from it.
fn check_name(path: &Path, is_gzip: bool, findings: &mut Findings) {
    let extension = path.extension().unwrap_or_default();
    if extension.eq_ignore_ascii_case("gz") && !is_gzip {
        findings.push(None, Rule::Gzip, || "is named .gz but is not gzip".into());
    } else if ["xml", "txt", "rss", "atom"].iter().any(|plain| extension.eq_ignore_ascii_case(plain))
        && is_gzip
    {
        findings.push(None, Rule::Gzip, || "is gzip but is not named .gz".into());
    }
}

/// Checks the hash in a name such as `sitemap-00001-1f2e3d4c.xml.gz`, also with words for a set and a section: eight digits of the
/// XXH3 of the XML, taken from one of four positions.
fn check_content_name(path: &Path, hash: u128, findings: &mut Findings) {
    let Some(word) = path.file_name().and_then(|name| hash_digits_of(name.to_str()?)) else { return };
    let digits = format!("{hash:032x}");
    if (0..4).all(|at| digits[8 * at..][..8] != *word) {
        findings.push(None, Rule::ContentName, || {
            format!(
                "the hash in the name is {word}, that of the content is {}: changed since it was published",
                &digits[..8]
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_whether_the_file_is_compressed_in_any_letter_case() {
        for (name, is_gzip, want) in [
            ("sitemap.xml", false, 0),
            ("SITEMAP.XML", true, 1),
            ("sitemap.xml.gz", true, 0),
            ("SITEMAP.XML.GZ", false, 1),
            ("a.Txt", true, 1),
            ("sitemap", true, 0),
        ] {
            let mut findings = Findings::new(name.into(), 1);
            check_name(Path::new(name), is_gzip, &mut findings);
            assert_eq!(findings.counts.total(), want, "{name}");
        }
    }
}
