//! The XML declaration and processing instructions: XML 1.0, 2.6 and 2.8.

use std::io::{self, BufRead};

use quick_xml::events::{BytesDecl, BytesPI};

use super::pairs::Pairs;
use super::{Broken, Reader, place};
use crate::commands::check::entities;
use crate::commands::check::name::Name;
use crate::commands::check::rules::Rule;
use crate::escape::shown;

impl Reader<'_> {
    /// Returns the rule that a document violates if its first bytes show that the parser cannot read it, and what it is.
    ///
    /// # Errors
    /// If the disk fails.
    pub(super) fn why_unreadable(&mut self) -> io::Result<Option<(Rule, &'static str)>> {
        let start = self.events.get_mut().fill_buf()?;
        Ok(match start {
            // A single compression has been undone.
            [0x1F, 0x8B, ..] => Some((Rule::Gzip, "compressed twice; decompress it once")),
            _ => charset(start).map(|words| (Rule::Encoding, words)).or(packed(start)),
        })
    }

    /// Checks an XML declaration: production 23. It also refuses versions other than 1.0, which 1.0 processors may read, and
    /// encodings other than UTF-8.
    pub(super) fn declaration(&mut self, declaration: &BytesDecl<'_>) -> Result<(), Broken> {
        if !self.is_first_event {
            return self.broken("an XML declaration that is not at the very beginning");
        }
        let content = declaration.strip_prefix("xml").unwrap_or_default();
        let mut pairs = Pairs(content).peekable();
        let mut next = |key: &str| pairs.next_if(|pair| pair.is_ok_and(|pair| pair.key == key))?.ok();
        let (version, encoding, standalone) = (next("version"), next("encoding"), next("standalone"));
        match pairs.next() {
            None => {}
            Some(Ok(_)) => {
                return self.broken("the XML declaration has more than version, encoding and standalone");
            }
            Some(Err(words)) => return self.broken(&format!("{words} in the XML declaration")),
        }
        if version.is_none_or(|version| version.value != "1.0") {
            return self.broken("the XML declaration does not begin with version 1.0");
        }
        if standalone.is_some_and(|standalone| !matches!(standalone.value, "yes" | "no")) {
            return self.broken("standalone is neither yes nor no");
        }
        if let Some(encoding) = encoding.filter(|encoding| !encoding.value.eq_ignore_ascii_case("UTF-8")) {
            self.findings.push(None, Rule::Encoding, || {
                format!("the XML declaration says {}", shown(encoding.value.as_bytes()))
            });
        }
        Ok(())
    }

    /// Handles a document type declaration, after which nothing is read. `declaration` begins with the name of the root element.
    pub(super) fn document_type<T>(&mut self, declaration: &str) -> Result<T, Broken> {
        let is_end = |c: char| c.is_ascii_whitespace() || c == '[';
        let root = declaration.split(is_end).next().unwrap_or_default();
        if is_html(root) {
            return self.html();
        }
        self.is_of_other_kind = !matches!(root, "urlset" | "sitemapindex" | "rss" | "feed");
        let words = || "a document type declaration; the rest was not read".into();
        self.findings.push(None, Rule::Doctype, words);
        Err(Broken)
    }

    /// Reports that the document is an HTML page.
    pub(super) fn html<T>(&mut self) -> Result<T, Broken> {
        let words =
            "an HTML page; the file was fetched from the wrong URL, or the server sends an error page";
        self.findings.push(None, Rule::Root, || words.into());
        Err(Broken)
    }

    /// Checks a processing instruction: productions 16 and 17. By Namespaces in XML, 7, its target has no colon.
    pub(super) fn instruction(&mut self, instruction: &BytesPI<'_>) -> Result<(), Broken> {
        if !entities::is_legal_text(instruction) {
            return self.broken("a character that XML does not allow");
        }
        let target = instruction.target();
        match Name::of(target) {
            Name::Not => self.broken("a processing instruction whose target is not a name"),
            _ if target.eq_ignore_ascii_case("xml") => {
                self.broken("a processing instruction whose target is xml")
            }
            _ => {
                if target.contains(':') {
                    self.findings.push(place(self.entries), Rule::Namespace, || {
                        format!(
                            "a colon in the target of a processing instruction: {}",
                            shown(target.as_bytes())
                        )
                    });
                }
                Ok(())
            }
        }
    }
}

/// Whether `root` is the name of the root element of a web page, which HTML does not distinguish by case.
pub(super) fn is_html(root: &str) -> bool {
    root.eq_ignore_ascii_case("html")
}

/// Says that a document which begins with `start` is in UTF-16 or UTF-32, with or without a byte order mark: XML 1.0, appendix F.
fn charset(start: &[u8]) -> Option<&'static str> {
    match start {
        [0, 0, 0xFE, 0xFF, ..] | [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0, b'<', ..] | [b'<', 0, 0, 0, ..] => {
            Some("UTF-32; convert it to UTF-8")
        }
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] | [0, b'<', ..] | [b'<', 0, ..] => {
            Some("UTF-16; convert it to UTF-8")
        }
        _ => None,
    }
}

/// Names the compression of a document that begins with `start`, unless it is gzip.
fn packed(start: &[u8]) -> Option<(Rule, &'static str)> {
    let words = match start {
        [0x28, 0xB5, 0x2F, 0xFD, ..] => "compressed with zstd; decompress it, or use gzip",
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => "compressed with bzip2; decompress it, or use gzip",
        [0xFD, b'7', b'z', b'X', b'Z', ..] => "compressed with xz; decompress it, or use gzip",
        [b'P', b'K', 3, 4, ..] => "a zip archive; extract the sitemap from it",
        _ => return None,
    };
    Some((Rule::WellFormed, words))
}
