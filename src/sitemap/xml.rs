//! XML: the frames of sitemaps and index files, and their entries, escaped.
//!
//! Sizes and bytes come from the same constants, so that a planned size is the written one.

mod count;

use super::tags::{LASTMOD_BYTES_MAX, PRIORITY_BYTES_MAX, Tags};
use crate::clean::CleanUrl;
use crate::limits::{Protocol, URL_BYTES_MAX};

pub use count::count_tags;

/// What stands before and behind the entries of a file.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    root: &'static str,
    namespace: &'static str,
    uses: Namespaces,
}

/// Namespaces of extensions that a file declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Namespaces(u8);

impl Namespaces {
    /// Those of the protocol alone.
    pub const NONE: Self = Self(0);
    /// Links to other languages.
    pub const XHTML: Self = Self(1);
    /// Images.
    pub const IMAGE: Self = Self(2);

    const ALL: [(Self, &'static str); 2] = [
        (Self::XHTML, " xmlns:xhtml=\"http://www.w3.org/1999/xhtml\""),
        (Self::IMAGE, " xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\""),
    ];

    /// These and `others`.
    pub fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    fn declarations(self) -> impl Iterator<Item = &'static str> {
        let used = Self::ALL.into_iter().filter(move |(each, _)| self.0 & each.0 != 0);
        used.map(|(_, declaration)| declaration)
    }

    /// As a number, for [`Namespaces::from_bits`].
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Those that [`Namespaces::bits`] are of.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Bytes of their declarations.
    pub fn bytes(self) -> u64 {
        self.declarations().map(|declaration| declaration.len() as u64).sum()
    }
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const URL: [&[u8]; 2] = [b"<url><loc>", b"</loc></url>\n"];
/// The same end in two parts: tags stand between them.
const LOC_END: &[u8] = b"</loc>";
const URL_END: &[u8] = b"</url>\n";
const _: () = assert!(LOC_END.len() + URL_END.len() == URL[1].len());
const SITEMAP: [&str; 3] = ["<sitemap><loc>", "</loc><lastmod>", "</lastmod></sitemap>\n"];

/// Longer by this many bytes than one: `&amp;`, `&apos;`.
const AMPERSAND_GROWTH: usize = b"&amp;".len() - 1;
const APOSTROPHE_GROWTH: usize = b"&apos;".len() - 1;

/// Least bytes that [`push_entry`] appends.
pub const ENTRY_BYTES_MIN: usize = URL[0].len() + URL[1].len();

/// Most bytes that [`push_entry`] can append without extras: the longest URL, every byte of it the one that grows most, and the
/// longest of all tags.
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

    /// The same with the declarations of `uses`.
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

    /// Appends what stands before the entries.
    pub fn open(&self, out: &mut Vec<u8>) {
        self.opening().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// Appends what stands behind the entries.
    pub fn close(&self, out: &mut Vec<u8>) {
        self.closing().iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// Bytes of both.
    pub fn bytes(&self) -> u64 {
        self.opening().chain(self.closing()).map(|part| part.len() as u64).sum()
    }
}

/// Appends the `<url>` entry of `url`, with the XML of what stands beside it: [`push_tags`], then extras.
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

/// Appends a link to the page in another language.
pub fn push_alternate(hreflang: &[u8], url: CleanUrl<'_>, out: &mut Vec<u8>) {
    for part in [&b"<xhtml:link rel=\"alternate\" hreflang=\""[..], hreflang, b"\" href=\""] {
        out.extend_from_slice(part);
    }
    push_escaped(url, out);
    out.extend_from_slice(b"\"/>");
}

/// Appends an image.
pub fn push_image(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"<image:image><image:loc>");
    push_escaped(url, out);
    out.extend_from_slice(b"</image:loc></image:image>");
}

/// Bytes that [`push_url`] appends.
#[inline]
pub fn url_bytes(url: CleanUrl<'_>) -> usize {
    let grown = if url.may_grow() { growth(url.as_bytes()) } else { 0 };
    URL[0].len() + url.as_bytes().len() + grown + URL[1].len()
}

/// Bytes by which escaping makes `url` longer.
fn growth(url: &[u8]) -> usize {
    // In numbers of a byte each, which vectors have many of and which so few of them cannot overflow.
    let count_few = |part: &[u8], byte| part.iter().fold(0, |sum: u8, &one| sum + u8::from(one == byte));
    let count =
        |byte| url.chunks(u8::MAX.into()).map(|part| usize::from(count_few(part, byte))).sum::<usize>();
    AMPERSAND_GROWTH * count(b'&') + APOSTROPHE_GROWTH * count(b'\'')
}

/// Appends the `<url>` entry of `url`, which has no tags.
#[inline]
pub fn push_url(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    push_loc(url, out);
    out.extend_from_slice(URL[1]);
}

/// Appends everything up to the end of the URL.
#[inline]
fn push_loc(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(URL[0]);
    push_escaped(url, out);
}

#[inline]
fn push_escaped(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    let mut rest = url.as_bytes();
    if !url.may_grow() {
        return out.extend_from_slice(rest);
    }
    // Of the five characters to escape, a clean URL can hold two: cleaning percent-encodes `< > "`.
    while let Some(at) = memchr::memchr2(b'&', b'\'', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(if rest[at] == b'&' { b"&amp;" } else { b"&apos;" });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends the `<sitemap>` entry of an index file. `loc` is not escaped yet, `lastmod` has nothing to escape.
pub fn push_sitemap(loc: &str, lastmod: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(SITEMAP[0].as_bytes());
    escape(loc, out);
    for part in [SITEMAP[1], lastmod, SITEMAP[2]] {
        out.extend_from_slice(part.as_bytes());
    }
}

/// The plain way, for any text: all five, as both protocols list them ("Entity escaping").
fn escape(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};

    #[test]
    fn an_entry_has_its_planned_size_and_escapes_like_the_plain_way() {
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
            escape(str::from_utf8(url.as_bytes()).unwrap(), &mut want);
            want.extend(b"</loc></url>\n");
            assert_eq!(entry, want);
        }
    }

    #[test]
    fn tags_stand_in_the_order_of_the_schema_and_are_counted() {
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
            let tags = TagRules::default()
                .check(RawTags { lastmod, changefreq, priority, ..RawTags::default() }, &mut |tag| {
                    dropped[tag.reason] += 1
                });
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
