//! The sitemaps and index files in a place, and what the names that `build` gives to index files tell.

use std::borrow::Borrow;
use std::ffi::OsStr;

use crate::commands::check::content::Content;
use crate::commands::check::entry::Entry;
use crate::commands::check::finding::Findings;
use crate::commands::check::manifests::Manifests;
use crate::commands::check::reader::{FileKind, Reader};
use crate::error::Result;
use crate::place::{Listed, PlaceFile, View};
use crate::set::name::is_sitemap_file;

/// Returns the sitemaps and index files in a place: XML, feeds, and text whose name begins with `sitemap`, with numbers in names
/// sorted by value, in any letter case. Some may be links.
pub(super) fn names(view: &dyn View) -> Result<Vec<Listed>> {
    // Text has many other uses, as in robots.txt.
    let is_sitemap = |listed: &Listed| {
        let name = &listed.name.as_encoded_bytes().to_ascii_lowercase()[..];
        let plain = name.strip_suffix(b".gz").unwrap_or(name);
        let is_text = plain.ends_with(b".txt") && name.starts_with(b"sitemap");
        let is_xml = [&b".xml"[..], b".rss", b".atom"].iter().any(|end| plain.ends_with(end));
        (is_xml || is_text) && !name.starts_with(b".") && !listed.is_directory
    };
    let mut names: Vec<_> = view.list()?.into_iter().filter(is_sitemap).collect();
    names.sort_by_cached_key(|listed| by_number(listed.name.as_encoded_bytes()));
    Ok(names)
}

/// Whether the files `names` in a place without robots lines are only sitemaps of runs that have not published a set. Index files
/// were published, even if a copy lacks the rest of their set.
pub(super) fn is_unpublished(view: &dyn View, manifests: &Manifests, names: &[Listed]) -> bool {
    manifests.are_awaited(view) && !has_own_index(view, names)
}

/// Whether an index file among `names` is most likely one that sitemill wrote: its name and that of a sitemap in it are names that
/// sitemill gives. Other programs may give names such as `sitemap-index-1.xml`, too.
pub(super) fn has_own_index<N: Borrow<Listed>>(view: &dyn View, names: &[N]) -> bool {
    let named = names.iter().map(Borrow::borrow);
    let mut named = named.filter(|listed| listed.is_file && index_stem(&listed.name).is_some());
    named.any(|listed| lists_own_sitemap(&PlaceFile::new(view.share(), &listed.name)))
}

/// Whether `file` is an index file that lists a sitemap with a name that sitemill gives. A file that cannot be read is not, and is
/// an error or a finding when it is read like a file of another program.
fn lists_own_sitemap(file: &PlaceFile) -> bool {
    let mut findings = Findings::new(String::new(), 0);
    let Ok(content) = Content::open(file) else { return false };
    let mut reader = Reader::lenient(content, &mut findings);
    let mut entry = Entry::default();
    while reader.next(&mut entry).is_ok_and(|is_entry| is_entry) {
        let name = entry.loc().and_then(|loc| loc.rsplit(|&byte| byte == b'/').next());
        match reader.own().0 {
            FileKind::Sitemap => return false,
            FileKind::Index
                if name.and_then(|name| str::from_utf8(name).ok()).is_some_and(is_sitemap_file) =>
            {
                return true;
            }
            FileKind::Index => {}
        }
    }
    false
}

/// Returns a key that sorts `a-9` before `a-10`, because each number is preceded by the count of its digits.
fn by_number(name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 8);
    for run in name.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        if run[0].is_ascii_digit() {
            // Names have at most 255 bytes.
            key.extend([b'0', run.len() as u8]);
        }
        key.extend(run);
    }
    key
}

/// Returns the part of a name before `-index-` and a number, if `build` names index files like this.
pub(super) fn index_stem(name: &OsStr) -> Option<&str> {
    let name = name.to_str()?;
    let (stem, number) =
        name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".xml")?.rsplit_once("-index-")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (stem == "sitemap" || stem.starts_with("sitemap-"))).then_some(stem)
}

/// Whether `index` is an index file with the stem of `other` and a lower number.
pub(super) fn is_before(index: &OsStr, other: &OsStr) -> bool {
    let number = |name: &OsStr| by_number(name.as_encoded_bytes());
    index_stem(index) == index_stem(other) && number(index) < number(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_by_their_value() {
        let mut names = ["b-10.xml", "b-9.xml", "a-11.xml", "b-1.xml", "b-100.xml"];
        names.sort_by_cached_key(|name| by_number(name.as_bytes()));
        assert_eq!(names, ["a-11.xml", "b-1.xml", "b-9.xml", "b-10.xml", "b-100.xml"]);
        for (name, stem) in [
            ("sitemap-index-1.xml", Some("sitemap")),
            ("sitemap-index-12.xml.gz", Some("sitemap")),
            ("sitemap-blog-index-1.xml", Some("sitemap-blog")),
            ("sitemap-index-index-1.xml", Some("sitemap-index")),
            ("other-index-1.xml", None),
            ("sitemap-index-.xml", None),
            ("sitemap-index-new.xml", None),
            ("sitemap-00001-1f2e3d4c.xml.gz", None),
        ] {
            assert_eq!(index_stem(OsStr::new(name)), stem, "{name}");
        }
    }
}
