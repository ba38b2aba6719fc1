//! Patterns that can match no URL. Most were meant for the path alone, or for text before it is percent-encoded, and would silently
//! be without effect.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::clean::encode::escape;

/// What every canonical URL begins with.
const SCHEMES: [&[u8]; 2] = [b"http://", b"https://"];

/// Says why `pattern` can match no URL, if that is certain.
pub fn why_never(pattern: &Hir) -> Option<String> {
    impossible_byte(pattern).map(of_byte).or_else(|| of_start(pattern))
}

/// The message for a pattern that needs `byte`, which no URL has.
fn of_byte(byte: u8) -> String {
    if !byte.is_ascii() {
        return "it matches no URL, because URLs are ASCII; write characters as they are in URLs, such as %C3%BC for ü"
            .into();
    }
    let [percent, high, low] = escape(byte).map(char::from);
    let name = match byte {
        b' ' => "a space".into(),
        byte if byte.is_ascii_graphic() => format!("the character {}", char::from(byte)),
        byte => format!(r"the byte \x{byte:02x}"),
    };
    format!("it matches no URL, because none has {name}; write {percent}{high}{low}")
}

/// The message for a pattern that needs `^` and then something else than a scheme.
fn of_start(pattern: &Hir) -> Option<String> {
    if !pattern.properties().look_set_prefix().contains(Look::Start) {
        return None;
    }
    let starts = Extractor::new().extract(pattern);
    let begins_a_url = |start: &[u8]| {
        SCHEMES.iter().any(|scheme| scheme.iter().zip(start).all(|(expected, byte)| expected == byte))
    };
    let is_never = starts.literals()?.iter().all(|start| !begins_a_url(start.as_bytes()));
    is_never.then(|| {
        "it matches no URL, because ^ is the beginning of the URL and not of its path; write ^https?://[^/]+ for scheme and host, \
         or leave out the ^"
            .into()
    })
}

/// A byte that `pattern` needs, although no URL has it.
fn impossible_byte(pattern: &Hir) -> Option<u8> {
    match pattern.kind() {
        HirKind::Literal(literal) => literal.0.iter().copied().find(|&byte| !may_be_in_url(byte)),
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = || class.ranges().iter().flat_map(|range| range.start()..=range.end());
            // Of white space, a space is what is meant.
            let first = bytes().find(|&byte| byte == b' ').or_else(|| bytes().next())?;
            (!bytes().any(may_be_in_url)).then_some(first)
        }
        HirKind::Repetition(repetition) if repetition.min > 0 => impossible_byte(&repetition.sub),
        HirKind::Capture(capture) => impossible_byte(&capture.sub),
        HirKind::Concat(parts) => parts.iter().find_map(impossible_byte),
        HirKind::Alternation(branches) => {
            let bytes: Option<Vec<u8>> = branches.iter().map(impossible_byte).collect();
            bytes?.first().copied()
        }
        // Only patterns that set the flag `u` have classes of Unicode.
        HirKind::Class(Class::Unicode(_)) | HirKind::Repetition(_) | HirKind::Empty | HirKind::Look(_) => {
            None
        }
    }
}

/// Whether a canonical URL may have `byte`. Hosts have some that a path has only as escapes, such as `{`.
fn may_be_in_url(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"#<>\\^|".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use crate::clean::{Cleaned, Cleaner};

    #[test]
    fn a_pattern_that_can_match_no_url_is_refused() {
        for (wrong, said) in [
            ("a b", "because none has a space; write %20"),
            ("/a[ ]b", "a space"),
            (r"/(a|x)\s+b", "a space; write %20"),
            ("a\\t", r"the byte \x09; write %09"),
            (r"a\\b", r"the character \; write %5C"),
            ("/a#top", "the character #; write %23"),
            ("(a b|c d)", "a space"),
            (r"\x{fc}", "because URLs are ASCII; write characters as they are in URLs, such as %C3%BC for ü"),
            (r"\xFC", "because URLs are ASCII"),
            (r"usual\r?\n", r"the byte \x0a"),
            ("^/blog/", "^ is the beginning of the URL and not of its path; write ^https?://[^/]+"),
            (r"^www\.example\.com/", "^ is the beginning of the URL"),
            ("^(/a|/b)", "^ is the beginning of the URL"),
            ("(?i)^/blog", "^ is the beginning of the URL"),
        ] {
            let why = wrong.parse::<Pattern>().unwrap_err();
            assert!(why.contains(said), "{wrong}: {why}");
        }
        for right in [
            "a b|c",
            "[a ]",
            "a ?b",
            "^https?://",
            "(?i)^HTTP://",
            "^h",
            "^",
            "^[^/]+//",
            "^.*/blog/",
            "^/a|/b",
            r"\W",
            "%20",
            r"\[::1\]",
        ] {
            assert!(right.parse::<Pattern>().is_ok(), "{right}");
        }
    }

    #[test]
    fn no_byte_that_a_url_may_have_is_ruled_out() {
        let mut cleaner = Cleaner::default();
        for byte in 0..=u8::MAX {
            for (before, after) in
                [("http://h.example/", "x"), ("http://h.example/?", "x"), ("http://x", "y.example/")]
            {
                let line = [before.as_bytes(), &[byte], after.as_bytes()].concat();
                if let Cleaned::Url(url) = cleaner.clean(&line) {
                    assert!(
                        url.as_bytes().iter().copied().all(super::may_be_in_url),
                        "{}",
                        line.escape_ascii()
                    );
                }
            }
        }
    }
}
