//! Patterns: regular expressions that URLs are included or excluded by.

pub mod ahead;
mod automaton;
mod dictionary;
mod division;
mod edges;
mod expressions;
mod gate;
mod literals;
mod pair;
mod possible;
pub mod set;
mod streams;
mod vectors;
mod words;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{self, Hir};

use crate::clean::encode::percent_escape;
use crate::common::stop::Stop;
use crate::common::whole_file;
use crate::error::{Error, Result, message};

/// A regular expression for canonical URLs, in the syntax of the crate `regex`. It may match anywhere in the URL unless it has `^`
/// or `$`. URLs are ASCII, and so are patterns and what `\w`, `\d` and `.` match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Reads patterns from a file, one per line. Blank lines and lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if the file cannot be read, [`ErrorKind::Usage`](crate::ErrorKind::Usage) for
    /// a pattern that is not valid, with its line and column; if `stop` is raised while a pipe is silent.
    pub fn read_all(path: &Path, stop: &Stop) -> Result<Vec<Self>> {
        let text = whole_file::read_text(path, stop)?;
        let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().map(str::trim);
        let patterns = (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let parse = |(number, line): (u64, &str)| {
            line.parse().map_err(|why: String| Error::usage(message!(path, ": line {number}: {why}")))
        };
        patterns.map(parse).collect()
    }

    /// Returns the regular expression.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = String;

    /// Checks the syntax, and refuses a pattern that can match no URL. An error of syntax names the column.
    fn from_str(given: &str) -> Result<Self, String> {
        let pattern = Self::well_formed(given)?;
        possible::why_never(&parsed(&pattern)).map_or(Ok(pattern), Err)
    }
}

impl Pattern {
    /// A pattern, even if no URL has what it matches: other text than URLs is searched, too.
    pub(super) fn well_formed(given: &str) -> Result<Self, String> {
        if given.is_empty() {
            return Err("an empty pattern matches every URL; leave it out".into());
        }
        if let Some((at, c)) = given.char_indices().find(|(_, c)| !c.is_ascii_graphic() && *c != ' ') {
            let column = given[..at].chars().count() + 1;
            let way_out = match c.is_ascii() {
                true => "write a control character as an escape, such as \\t".to_owned(),
                false => as_in_urls(c),
            };
            return Err(format!("column {column}: {way_out}"));
        }
        let Err(error) = parse(given) else { return Ok(Self(given.to_owned())) };
        let (why, at) = match *error {
            regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.column),
            regex_syntax::Error::Translate(error) => {
                (translate_error(error.kind()), error.span().start.column)
            }
            error => (error.to_string(), 1),
        };
        Err(format!("column {at}: {why}"))
    }
}

/// How to write `c`, which is not ASCII.
fn as_in_urls(c: char) -> String {
    let escaped = percent_encoded(c);
    format!(
        "URLs are ASCII; in a path, {c} is {escaped} if it is encoded as UTF-8, and a host is in punycode (xn--…); \
         `sitemill clean` writes URLs as patterns see them"
    )
}

/// Explains an error in a pattern whose syntax is right, but not for bytes.
fn translate_error(kind: &hir::ErrorKind) -> String {
    match kind {
        hir::ErrorKind::UnicodeNotAllowed => {
            r"URLs are ASCII, so \p{…} and escapes of other characters are not supported; write [A-Z], [a-z] or [0-9]".into()
        }
        kind => kind.to_string(),
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The syntax tree of a regular expression.
fn parse(given: &str) -> Result<Hir, Box<regex_syntax::Error>> {
    Ok(ParserBuilder::new().unicode(false).utf8(false).build().parse(given)?)
}

/// The syntax tree of a pattern.
fn parsed(pattern: &Pattern) -> Hir {
    parse(pattern.as_str()).expect("a pattern was parsed when it was made")
}

/// The message for patterns that take more than `bytes`.
fn too_large(bytes: usize) -> String {
    format!("the patterns are too large together: compiled, they take more than {bytes} bytes")
}

/// The regular expression that every other way of matching is compared with.
#[cfg(test)]
pub(super) fn expression(pattern: &str) -> regex::bytes::Regex {
    regex::bytes::RegexBuilder::new(pattern).unicode(false).build().unwrap()
}

/// `c` as in a URL: `%C3%BC`.
fn percent_encoded(c: char) -> String {
    let mut utf8 = [0; 4];
    c.encode_utf8(&mut utf8).bytes().flat_map(percent_escape).map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::set::PatternSet;
    use super::*;

    #[test]
    fn the_error_for_a_pattern_names_the_column() {
        for (wrong, said) in [
            ("", "an empty pattern"),
            ("/a(b", "column 3: unclosed group"),
            ("[z-a]", "column 2: invalid character class range"),
            ("a**{2,1}", "column 4: invalid repetition count range"),
            (
                r"/\p{Greek}",
                r"column 2: URLs are ASCII, so \p{…} and escapes of other characters are not supported",
            ),
            (r"\PN", "column 1: URLs are ASCII"),
            (r"\x{20AC}", "it matches no URL, because URLs are ASCII"),
            (
                "/müll",
                "column 3: URLs are ASCII; in a path, ü is %C3%BC if it is encoded as UTF-8, and a host is in punycode",
            ),
            ("/a\tb", "column 3: write a control character as an escape"),
        ] {
            let why = wrong.parse::<Pattern>().unwrap_err();
            assert!(why.starts_with(said), "{wrong}: {why}");
        }
        for right in [r"\bb\b", r"\w+\.(html|php)$", r"[^/]{3,}", "(?i)x"] {
            let pattern: Pattern = right.parse().unwrap();
            assert!(PatternSet::of(&[pattern]).unwrap().is_some(), "{right}");
        }
    }
}
