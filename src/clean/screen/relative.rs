//! Lines without a scheme, resolved against a base URL.

use std::fmt;
use std::str::FromStr;

use super::prefix;
use crate::clean::{UrlEncoding, parser, trim};
use crate::escape::is_printable;
use crate::limits::LINE_BYTES_MAX;

/// The URL that lines without a scheme are relative to, as the links of a page are relative to its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativeTo {
    given: String,
    /// Its canonical form, without a query.
    url: String,
}

impl RelativeTo {
    /// Returns the URL in its canonical form, without a query. Non-ASCII characters are percent-encoded as UTF-8.
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Returns the URL with non-ASCII characters percent-encoded in the charset `url_encoding`, as in lines.
    ///
    /// # Errors
    /// If a character does not exist in the charset.
    pub(super) fn encoded(&self, url_encoding: UrlEncoding) -> Result<Self, String> {
        let url = prefix::canonical_page(&self.given, url_encoding)?;
        Ok(Self { given: self.given.clone(), url })
    }

    /// Whether `raw` is a line without a scheme. If it is, `out` becomes the absolute URL that it means, by the rules of browsers
    /// (WHATWG URL, "relative state"), and is not cleaned yet. Lines that begin with `#`, which name no page, or with the byte
    /// order mark of a joined file stay as they are, and so do texts in quotes, words for a missing value, and rows in which an
    /// absolute URL follows other values or invisible characters.
    pub fn resolve(&self, raw: &[u8], out: &mut Vec<u8>) -> bool {
        // A longer line is rejected unread.
        if raw.len() > LINE_BYTES_MAX {
            return false;
        }
        let line = trim(raw);
        let base = match line {
            [] | [b'#', ..] | [0xEF, 0xBB, 0xBF, ..] => return false,
            [b'<' | b'"' | b'\'' | b'`', rest @ ..] if parser::has_web_scheme(rest) => return false,
            [b'<', .., b'>'] | [b'"', .., b'"'] | [b'\'', .., b'\''] | [b'`', .., b'`'] => return false,
            word if is_missing(word) => return false,
            row if has_url_after_blank(row) || is_url_after_invisible(row) => return false,
            [b'/' | b'\\', b'/' | b'\\', ..] => self.scheme(),
            [b'/' | b'\\', ..] => self.origin(),
            [b'?', ..] => &self.url,
            _ if parser::scheme(line).is_some() => return false,
            _ => self.directory(),
        };
        out.clear();
        out.extend_from_slice(base.as_bytes());
        out.extend_from_slice(line);
        true
    }

    /// Whether the line `raw`, which is relative, begins with the host of this URL: most likely, it only lacks the scheme.
    pub(super) fn repeats_host(&self, raw: &[u8]) -> bool {
        let (host, line) = (self.host().as_bytes(), trim(raw));
        let Some((start, rest)) = line.split_at_checked(host.len()) else { return false };
        start.eq_ignore_ascii_case(host) && matches!(rest, [] | [b'/' | b'\\' | b'?' | b'#', ..])
    }

    /// The rule that turns the URLs of such lines into those of pages.
    pub(super) fn without_repeated_host(&self) -> String {
        format!("{}{}/={}/", self.directory(), self.host(), self.origin())
    }

    /// Host and port.
    fn host(&self) -> &str {
        &self.origin()[self.scheme().len() + "//".len()..]
    }

    /// The scheme with its colon.
    fn scheme(&self) -> &str {
        &self.url[..=self.url.find(':').expect("a URL has a scheme")]
    }

    /// Scheme, host and port, without a slash at the end.
    fn origin(&self) -> &str {
        &self.url[..parser::path_of(self.url.as_bytes())]
    }

    /// The URL up to the last slash.
    fn directory(&self) -> &str {
        &self.url[..=self.url.rfind('/').expect("a URL has a path")]
    }
}

/// Whether `line` is how databases (`\N`, `NULL`), Python (`None`, `nan`) or pandas (`NaN`, `<NA>`) write a missing value. `./NULL`
/// is a page with such a name.
fn is_missing(line: &[u8]) -> bool {
    matches!(line, br"\N" | b"NULL" | b"null" | b"None" | b"nan" | b"NaN" | b"<NA>")
}

/// Whether an absolute URL follows a blank or a tab in `line`, as in the output of `uniq -c`.
fn has_url_after_blank(line: &[u8]) -> bool {
    memchr::memchr2_iter(b' ', b'\t', line).any(|at| parser::has_web_scheme(&line[at + 1..]))
}

/// Whether `line` is an absolute URL after invisible characters, such as a no-break space or a zero-width space. No page begins
/// with them.
fn is_url_after_invisible(line: &[u8]) -> bool {
    if line.first().is_none_or(u8::is_ascii) {
        return false;
    }
    let text = line.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let is_invisible = |c: &char| *c == ' ' || !is_printable(*c);
    let bytes = text.chars().take_while(is_invisible).map(char::len_utf8).sum();
    parser::has_web_scheme(&line[bytes..])
}

impl FromStr for RelativeTo {
    type Err = String;

    /// Takes an absolute URL. Its query is dropped, because no line inherits it.
    fn from_str(given: &str) -> Result<Self, String> {
        let url = prefix::canonical_page(given, UrlEncoding::default())?;
        Ok(Self { given: given.to_owned(), url })
    }
}

impl fmt::Display for RelativeTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};
    use crate::common::random::Random;

    fn resolved(base: &str, line: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        base.parse::<RelativeTo>().unwrap().resolve(line, &mut out).then_some(())?;
        match Cleaner::default().clean(&out) {
            Cleaned::Url(url) => Some(String::from_utf8(url.as_bytes().to_vec()).unwrap()),
            other => Some(format!("{other:?}")),
        }
    }

    #[test]
    fn lines_without_a_scheme_are_resolved_as_links_of_the_base() {
        for (line, want) in [
            ("/p/1", "https://h.example/p/1"),
            ("p/1", "https://h.example/a/p/1"),
            ("?x=4", "https://h.example/a/b?x=4"),
            ("//other.example/p", "https://other.example/p"),
            ("\\\\other.example\\p", "https://other.example/p"),
            ("../p", "https://h.example/p"),
            ("../../../p", "https://h.example/p"),
            ("./", "https://h.example/a/"),
            (" /p q\t", "https://h.example/p%20q"),
            ("/ü?a:b#c", "https://h.example/%C3%BC?a:b"),
            ("p?u=http://x/", "https://h.example/a/p?u=http://x/"),
            ("1:2", "https://h.example/a/1:2"),
            ("/NULL", "https://h.example/NULL"),
            ("./NULL", "https://h.example/a/NULL"),
            ("<a", "https://h.example/a/%3Ca"),
            ("\"a\" b", "https://h.example/a/%22a%22%20b"),
            ("a http", "https://h.example/a/a%20http"),
            ("NULL/", "https://h.example/a/NULL/"),
            ("none", "https://h.example/a/none"),
            ("\u{a0}/p", "https://h.example/a/%C2%A0/p"),
            ("ühttp://x", "https://h.example/a/%C3%BChttp://x"),
        ] {
            assert_eq!(resolved("https://h.example/a/b?q", line.as_bytes()).as_deref(), Some(want), "{line}");
        }
        for line in [
            "",
            " ",
            "#top",
            "\\N",
            " NULL ",
            "null",
            "None",
            "nan",
            "NaN",
            "<NA>",
            "<https://h.example/>",
            "'HTTP://h.example/'",
            "<a>",
            "\"/a\"",
            " '/a b' ",
            "`a`",
            "\"\"",
            "\"/c,d\"",
            "7 https://h.example/",
            "/a\tHTTP://h.example/",
            "\u{feff}https://h.example/",
            "\u{feff}/p",
            "\u{a0}https://h.example/",
            " \u{200b}\u{a0} HTTP://h.example/",
            "\u{3000}\u{feff}http://h.example/",
            "https://h.example/",
            "mailto:a@h.example",
            "a:b",
        ] {
            assert_eq!(resolved("https://h.example/", line.as_bytes()), None, "{line}");
        }
        for base in ["https://h.example/a/..", "https://h.example/a/%2e%2e?q"] {
            assert_eq!(resolved(base, b"p").as_deref(), Some("https://h.example/p"), "{base}");
            assert_eq!(resolved(base, b"?x").as_deref(), Some("https://h.example/?x"), "{base}");
        }
        let long = vec![b'p'; LINE_BYTES_MAX + 1];
        assert_eq!(resolved("https://h.example/", &long), None);
    }

    #[test]
    fn the_base_is_percent_encoded_as_lines_are() {
        let latin: UrlEncoding = "iso-8859-1".parse().unwrap();
        let base = "https://h.example/ü/".parse::<RelativeTo>().unwrap();
        assert_eq!(base.as_str(), "https://h.example/%C3%BC/");
        assert_eq!(base.encoded(latin).unwrap().as_str(), "https://h.example/%FC/");
        let kanji = "https://h.example/日/".parse::<RelativeTo>().unwrap();
        assert_eq!(kanji.encoded(latin).unwrap_err(), "it is not a valid URL (not-encodable)");
    }

    #[test]
    fn the_parser_of_browsers_resolves_every_line_to_the_same_url() {
        let mut random = Random::new(3);
        let parts = [
            "/",
            "\\",
            "?",
            ".",
            "..",
            "a",
            "b",
            "x",
            "%2e",
            "%",
            "=",
            "&",
            "//",
            "1",
            "é",
            " ",
            "h.example",
        ];
        for base in ["https://h.example/a/b", "http://h.example:81/a/b/", "http://h.example/a/b/.."] {
            let parsed = url::Url::parse(base).unwrap();
            for _ in 0..100_000 {
                let line = random.joined(&parts, 1..8);
                // More than two slashes begin an authority (WHATWG URL, "special authority ignore slashes state"). The crate
                // refuses them after a base, and not in an absolute URL.
                let slashes =
                    line.trim_matches(' ').bytes().take_while(|byte| matches!(byte, b'/' | b'\\')).count();
                let Some(found) = resolved(base, line.as_bytes()) else { continue };
                if slashes > 2 {
                    continue;
                }
                // What the crate makes of the absolute URL is compared elsewhere; here, both take the same way from there.
                let want =
                    parsed.join(line.trim_matches(' ')).map_err(|_| ()).and_then(
                        |url| match Cleaner::default().clean(url.as_str().as_bytes()) {
                            Cleaned::Url(url) => Ok(String::from_utf8(url.as_bytes().to_vec()).unwrap()),
                            _ => Err(()),
                        },
                    );
                assert_eq!(found.starts_with("http").then_some(found), want.ok(), "{line:?} on {base}");
            }
        }
    }
}
