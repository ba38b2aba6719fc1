//! XML of sitemaps and index files: their frames and entries.
//!
//! Sizes are computed from the same constants that are written, so a planned size is exact.

mod count;
mod values;

use super::entities::{AMPERSAND_GROWTH, APOSTROPHE_GROWTH, growth, push_escaped, push_escaped_text};
use super::tags::{LASTMOD_BYTES_MAX, PRIORITY_BYTES_MAX, Tags};
use crate::clean::CleanUrl;
use crate::limits::{Protocol, URL_BYTES_MAX};

pub use super::extensions::Namespaces;
pub use count::count_tags;
pub use values::tag_values;

/// The XML before and after the entries of a file.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    root: &'static str,
    namespace: &'static str,
    uses: Namespaces,
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const URL: [&[u8]; 2] = [b"<url><loc>", b"</loc></url>\n"];
/// The end of an entry, in two parts. The tags go between them.
const LOC_END: &[u8] = b"</loc>";
const URL_END: &[u8] = b"</url>\n";
const _: () = assert!(LOC_END.len() + URL_END.len() == URL[1].len());
const SITEMAP: [&str; 3] = ["<sitemap><loc>", "</loc><lastmod>", "</lastmod></sitemap>\n"];

/// Minimum number of bytes that [`push_entry`] appends.
pub const ENTRY_BYTES_MIN: usize = URL[0].len() + URL[1].len();

/// Maximum number of bytes that [`push_entry`] appends without extras: the longest URL, if escaping every byte made it as long as
/// possible, and the longest tags.
pub const ENTRY_BYTES_MAX: usize = URL[0].len()
    + URL_BYTES_MAX * (1 + APOSTROPHE_GROWTH)
    + URL[1].len()
    + "<lastmod></lastmod><changefreq>monthly</changefreq><priority></priority>".len()
    + LASTMOD_BYTES_MAX
    + PRIORITY_BYTES_MAX;
const _: () = assert!(ENTRY_BYTES_MAX <= u16::MAX as usize && AMPERSAND_GROWTH < APOSTROPHE_GROWTH);

impl Frame {
    /// The frame of a sitemap.
    pub const fn sitemap(protocol: Protocol) -> Self {
        Self { root: "urlset", namespace: protocol.namespace(), uses: Namespaces::NONE }
    }

    /// The frame of an index file.
    pub const fn index(protocol: Protocol) -> Self {
        Self { root: "sitemapindex", namespace: protocol.namespace(), uses: Namespaces::NONE }
    }

    /// This frame with declarations of the namespaces `uses`.
    pub const fn with(self, uses: Namespaces) -> Self {
        Self { uses, ..self }
    }

    fn opening(&self) -> impl Iterator<Item = &'static str> + use<> {
        let root = [DECLARATION, "<", self.root, " xmlns=\"", self.namespace, "\""];
        root.into_iter().chain(self.uses.declarations()).chain([">\n"])
    }

    const fn closing(&self) -> [&'static str; 3] {
        ["</", self.root, ">\n"]
    }

    /// Appends the XML before the entries.
    pub fn open(&self, out: &mut Vec<u8>) {
        self.opening().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// Appends the XML after the entries.
    pub fn close(&self, out: &mut Vec<u8>) {
        self.closing().iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// The number of bytes of both parts.
    pub fn bytes(&self) -> u64 {
        self.opening().chain(self.closing()).map(|part| part.len() as u64).sum()
    }
}

/// Appends the `<url>` entry of `url`, with the XML of its tags ([`push_tags`]) and of its extras.
#[inline]
pub fn push_entry(url: CleanUrl<'_>, tags: &[u8], extras: &[u8], out: &mut Vec<u8>) {
    if tags.is_empty() && extras.is_empty() {
        return push_url(url, out);
    }
    push_loc(url, out);
    for part in [LOC_END, tags, extras, URL_END] {
        out.extend_from_slice(part);
    }
}

/// Appends `tags` in the order of 0.9, which 0.84 allows too.
pub fn push_tags(tags: &Tags<'_>, out: &mut Vec<u8>) {
    for (name, value) in tags.written() {
        for part in [b"<", name, b">", value, b"</", name, b">"] {
            out.extend_from_slice(part);
        }
    }
}

/// The number of bytes that [`push_url`] appends.
#[inline]
pub fn url_bytes(url: CleanUrl<'_>) -> usize {
    let grown = if url.may_grow() { growth(url.as_bytes()) } else { 0 };
    URL[0].len() + url.as_bytes().len() + grown + URL[1].len()
}

/// Appends the `<url>` entry of `url`, which has no tags.
#[inline]
pub fn push_url(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    push_loc(url, out);
    out.extend_from_slice(URL[1]);
}

/// Appends the start of an entry up to the end of the URL.
#[inline]
fn push_loc(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(URL[0]);
    push_escaped(url, out);
}

/// Appends the `<sitemap>` entry of an index file. Escapes `loc`; `lastmod` needs no escaping.
pub fn push_sitemap(loc: &str, lastmod: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(SITEMAP[0].as_bytes());
    push_escaped_text(loc, out);
    for part in [SITEMAP[1], lastmod, SITEMAP[2]] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// Appends the `<sitemap>` entry of an index file for a sitemap whose `lastmod` is unknown. Escapes `loc`.
pub fn push_undated_sitemap(loc: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(SITEMAP[0].as_bytes());
    push_escaped_text(loc, out);
    out.extend_from_slice(b"</loc></sitemap>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};

    #[test]
    fn an_entry_has_its_planned_size_and_is_escaped_as_by_the_plain_version() {
        for raw in [
            "http://h.example/",
            "http://h.example/?a=1&b=2&&c=&",
            "http://h.example/it's/'q'",
            "http://h.example/?a=1&amp;b=2",
            "http://h.example/<\"'&>?<\"'&>",
        ] {
            let mut cleaner = Cleaner::default();
            let Cleaned::Url(url) = cleaner.clean(raw.as_bytes()) else { panic!("{raw} is a URL") };
            let mut entry = Vec::new();
            push_url(url, &mut entry);
            assert_eq!(entry.len(), url_bytes(url));
            let mut want = b"<url><loc>".to_vec();
            push_escaped_text(str::from_utf8(url.as_bytes()).unwrap(), &mut want);
            want.extend(b"</loc></url>\n");
            assert_eq!(entry, want);
        }
    }

    #[test]
    fn tags_are_written_in_the_order_of_the_schema_and_counted() {
        use crate::sitemap::tags::{DroppedTags, RawTags, TagRules};

        let mut cleaner = Cleaner::default();
        let Cleaned::Url(url) = cleaner.clean(b"http://h.example/a&b") else { panic!("it is a URL") };
        let loc = "<url><loc>http://h.example/a&amp;b</loc>";
        for (tags, want) in [
            (["", "", ""], ""),
            (["2005-01-01", "", ""], "<lastmod>2005-01-01</lastmod>"),
            (["", "WEEKLY", ""], "<changefreq>weekly</changefreq>"),
            (["", "", "0.85"], "<priority>0.85</priority>"),
            (
                ["2005-06-03T04:20-08:00", "never", "0.0"],
                "<lastmod>2005-06-03T04:20:00-08:00</lastmod><changefreq>never</changefreq><priority>0.0</priority>",
            ),
        ] {
            let [lastmod, changefreq, priority] = tags.map(str::as_bytes);
            let mut dropped = DroppedTags::default();
            let raw = RawTags { lastmod, changefreq, priority, ..RawTags::default() };
            let rules = TagRules::default();
            let tags = rules.check(raw, &mut |tag| dropped[tag.reason] += 1);
            let (mut beside, mut entry) = (Vec::new(), Vec::new());
            tags.iter().for_each(|tags| push_tags(tags, &mut beside));
            push_entry(url, &beside, b"", &mut entry);
            assert_eq!(str::from_utf8(&entry).unwrap(), format!("{loc}{want}</url>\n"));
            assert_eq!(url_bytes(url) + beside.len(), entry.len());
            assert_eq!(dropped.total(), 0);
        }
    }

    #[test]
    fn index_entries_are_escaped_too() {
        let mut entry = Vec::new();
        push_sitemap("http://h.example/a&b'c/sitemap.xml.gz", "2005-01-01", &mut entry);
        let want = "<sitemap><loc>http://h.example/a&amp;b&apos;c/sitemap.xml.gz</loc>\
                    <lastmod>2005-01-01</lastmod></sitemap>\n";
        assert_eq!(str::from_utf8(&entry), Ok(want));
    }
}
