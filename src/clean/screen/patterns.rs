//! Patterns: regular expressions that URLs are included or excluded by.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::ParserBuilder;

use crate::error::{Error, Result, message};

/// A regular expression for canonical URLs, in the syntax of the crate `regex`. It may match anywhere in the URL unless it has `^`
/// or `$`. URLs are ASCII, and so are patterns and what `\w`, `\d` and `.` match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// The regular expression.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Pattern {
    type Err = String;

    /// Checks the syntax. An error names the column.
    fn from_str(given: &str) -> Result<Self, String> {
        if given.is_empty() {
            return Err("an empty pattern matches every URL; leave it out".into());
        }
        if let Some((at, c)) = given.char_indices().find(|(_, c)| !c.is_ascii_graphic() && *c != ' ') {
            let column = given[..at].chars().count() + 1;
            let way_out = match c.is_ascii() {
                true => "write a control character as an escape, such as \\t".to_owned(),
                false => format!("URLs are ASCII; write {c} as {}", percent_encoded(c)),
            };
            return Err(format!("column {column}: {way_out}"));
        }
        let parsed = ParserBuilder::new().unicode(false).utf8(false).build().parse(given);
        let (why, at) = match parsed {
            Ok(_) => return Ok(Self(given.to_owned())),
            Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span().start.column),
            Err(regex_syntax::Error::Translate(error)) => {
                (error.kind().to_string(), error.span().start.column)
            }
            Err(error) => (error.to_string(), 1),
        };
        Err(format!("column {at}: {why}"))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `c` as in a URL: `%C3%BC`.
fn percent_encoded(c: char) -> String {
    let mut utf8 = [0; 4];
    c.encode_utf8(&mut utf8).bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Reads patterns from a file, one per line. Blank lines and lines that begin with `#` are skipped.
///
/// # Errors
/// [`ErrorKind::Input`](crate::ErrorKind::Input) if the file cannot be read, [`ErrorKind::Usage`](crate::ErrorKind::Usage) for a
/// pattern that is not valid, with its line and column.
pub fn read_patterns(path: &Path) -> Result<Vec<Pattern>> {
    let text = fs::read_to_string(path).map_err(|error| Error::input(path, error))?;
    let lines = text.strip_prefix('\u{feff}').unwrap_or(&text).lines().map(str::trim);
    let patterns = (1..).zip(lines).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let parse = |(number, line): (u64, &str)| {
        line.parse().map_err(|why: String| Error::usage(message!(path, ": line {number}: {why}")))
    };
    patterns.map(parse).collect()
}

/// Maximum bytes of all compiled patterns: enough for tens of thousands.
const COMPILED_BYTES_MAX: usize = 256 << 20;

/// Maximum bytes of the states that each thread keeps of the automaton. With fewer, large sets would be compiled again and again.
const STATES_BYTES_MAX: usize = 16 << 20;

/// Compiled patterns. A clone has scratch memory of its own, so every thread should use one.
#[derive(Debug, Clone)]
pub struct PatternSet {
    all: RegexSet,
    is_single: bool,
}

impl PatternSet {
    /// Compiles `patterns`. `None` if there are none.
    ///
    /// # Errors
    /// If they are too large together.
    pub fn of(patterns: &[Pattern]) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut builder = RegexSetBuilder::new(patterns.iter().map(Pattern::as_str));
        builder.unicode(false).size_limit(COMPILED_BYTES_MAX).dfa_size_limit(STATES_BYTES_MAX);
        let all = builder.build().map_err(|error| format!("the patterns cannot be compiled: {error}"))?;
        Ok(Some(Self { all, is_single: patterns.len() == 1 }))
    }

    /// The index of the first pattern that matches `url`.
    #[inline]
    pub fn first_match(&self, url: &[u8]) -> Option<usize> {
        // It ends at the first match and may skip most of the URL; finding out which patterns match may not.
        match self.all.is_match(url) {
            false => None,
            true if self.is_single => Some(0),
            true => self.all.matches(url).iter().next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_several_patterns_that_match_is_found() {
        let patterns: Vec<Pattern> =
            ["^https://", r"\.pdf$", "/b/", r"(?i)[?&]sort="].map(|given| given.parse().unwrap()).into();
        let set = PatternSet::of(&patterns).unwrap().unwrap();
        let single = PatternSet::of(&patterns[1..2]).unwrap().unwrap();
        for (url, first, is_pdf) in [
            ("https://h.example/b/x.pdf", Some(0), true),
            ("http://h.example/b/x.pdf", Some(1), true),
            ("http://h.example/b/x.pdf?SORT=1", Some(2), false),
            ("http://h.example/x?a&SORT=1", Some(3), false),
            ("http://h.example/B/", None, false),
        ] {
            assert_eq!(set.first_match(url.as_bytes()), first, "{url}");
            assert_eq!(single.first_match(url.as_bytes()), is_pdf.then_some(0), "{url}");
        }
        assert!(PatternSet::of(&[]).unwrap().is_none());
    }

    #[test]
    fn the_error_for_a_pattern_names_the_column() {
        for (wrong, said) in [
            ("", "an empty pattern"),
            ("/a(b", "column 3: unclosed group"),
            ("[z-a]", "column 2: invalid character class range"),
            ("a**{2,1}", "column 4: invalid repetition count range"),
            (r"/\p{Greek}", "column 2: Unicode not allowed here"),
            ("/müll", "column 3: URLs are ASCII; write ü as %C3%BC"),
            ("/a\tb", "column 3: write a control character as an escape"),
        ] {
            let why = wrong.parse::<Pattern>().unwrap_err();
            assert!(why.starts_with(said), "{wrong}: {why}");
        }
        for right in ["a b", r"\bb\b", r"\w+\.(html|php)$", r"[^/]{3,}", "(?i)x"] {
            let pattern: Pattern = right.parse().unwrap();
            assert!(PatternSet::of(&[pattern]).unwrap().is_some(), "{right}");
        }
    }
}
