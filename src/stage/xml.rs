//! XML: the frames of sitemaps and index files, and their entries, escaped.
//!
//! Sizes and bytes come from the same constants, so that a planned size is the written one.

use super::clean::CleanUrl;
use crate::limits::{Protocol, URL_BYTES_MAX};

/// What stands before and behind the entries of a file.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    root: &'static str,
    namespace: &'static str,
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
const URL: [&[u8]; 2] = [b"<url><loc>", b"</loc></url>\n"];
const SITEMAP: [&str; 3] = ["<sitemap><loc>", "</loc><lastmod>", "</lastmod></sitemap>\n"];

/// Longer by this many bytes than one: `&amp;`, `&apos;`.
const AMPERSAND_GROWTH: usize = b"&amp;".len() - 1;
const APOSTROPHE_GROWTH: usize = b"&apos;".len() - 1;

/// Most bytes that [`push_url`] can append: the longest URL, every byte of it the one that grows most.
pub const URL_ENTRY_BYTES_MAX: usize = URL[0].len() + URL_BYTES_MAX * (1 + APOSTROPHE_GROWTH) + URL[1].len();
const _: () = assert!(URL_ENTRY_BYTES_MAX <= u16::MAX as usize && AMPERSAND_GROWTH < APOSTROPHE_GROWTH);

impl Frame {
    /// The frame of a sitemap.
    pub const fn sitemap(protocol: Protocol) -> Self {
        Self { root: "urlset", namespace: protocol.namespace() }
    }

    /// The frame of an index file.
    pub const fn index(protocol: Protocol) -> Self {
        Self { root: "sitemapindex", namespace: protocol.namespace() }
    }

    const fn opening(&self) -> [&'static str; 6] {
        [DECLARATION, "<", self.root, " xmlns=\"", self.namespace, "\">\n"]
    }

    const fn closing(&self) -> [&'static str; 3] {
        ["</", self.root, ">\n"]
    }

    /// Appends what stands before the entries.
    pub fn open(&self, out: &mut Vec<u8>) {
        self.opening().iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// Appends what stands behind the entries.
    pub fn close(&self, out: &mut Vec<u8>) {
        self.closing().iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
    }

    /// Bytes of both.
    pub fn bytes(&self) -> u64 {
        self.opening().iter().chain(&self.closing()).map(|part| part.len() as u64).sum()
    }
}

/// Bytes that [`push_url`] appends.
#[inline]
pub fn url_bytes(url: CleanUrl<'_>) -> usize {
    let bytes = url.as_bytes();
    let growth = |at: usize| if bytes[at] == b'&' { AMPERSAND_GROWTH } else { APOSTROPHE_GROWTH };
    let grown: usize = memchr::memchr2_iter(b'&', b'\'', bytes).map(growth).sum();
    URL[0].len() + bytes.len() + grown + URL[1].len()
}

/// Appends the `<url>` entry of `url`.
#[inline]
pub fn push_url(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(URL[0]);
    // Of the five characters to escape, a clean URL can hold two: cleaning percent-encodes `< > "`.
    let mut rest = url.as_bytes();
    while let Some(at) = memchr::memchr2(b'&', b'\'', rest) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(if rest[at] == b'&' { b"&amp;" } else { b"&apos;" });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(URL[1]);
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
    use crate::stage::clean::{Cleaned, Cleaner};

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
    fn index_entries_are_escaped_too() {
        let mut entry = Vec::new();
        push_sitemap("http://h.example/a&b'c/sitemap.xml.gz", "2005-01-01", &mut entry);
        let want = "<sitemap><loc>http://h.example/a&amp;b&apos;c/sitemap.xml.gz</loc>\
                    <lastmod>2005-01-01</lastmod></sitemap>\n";
        assert_eq!(str::from_utf8(&entry), Ok(want));
    }
}
