//! Patterns that can match no URL. Most were meant for the path alone, or for text before it is percent-encoded, and would silently
//! be without effect.

use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::clean::encode::percent_escape;
use crate::clean::scope::ORIGIN_SLASHES;

/// The beginnings of all canonical URLs.
const SCHEMES: [&[u8]; 2] = [b"http://", b"https://"];

/// Says why `pattern` can match no URL, if that is certain.
pub fn why_never(pattern: &Hir) -> Option<String> {
    impossible_byte(pattern).map(of_byte).or_else(|| of_start(pattern)).or_else(|| of_whole(pattern))
}

/// The message for a pattern that needs `byte`, which no URL has.
fn of_byte(byte: u8) -> String {
    if !byte.is_ascii() {
        return "it matches no URL, because URLs are ASCII; write characters as they are in URLs, such as %C3%BC for ü"
            .into();
    }
    let [percent, high, low] = percent_escape(byte).map(char::from);
    let name = match byte {
        b' ' => "a space".into(),
        byte if byte.is_ascii_graphic() => format!("the character {}", char::from(byte)),
        byte => format!(r"the byte \x{byte:02x}"),
    };
    format!("it matches no URL, because none has {name}; write {percent}{high}{low}")
}

/// The message for a pattern that needs `^` and then something else than the scheme and host of a URL.
fn of_start(pattern: &Hir) -> Option<String> {
    if !pattern.properties().look_set_prefix().contains(Look::Start) {
        return None;
    }
    let starts = Extractor::new().extract(pattern);
    let whys = starts.literals()?.iter().map(|start| why_no_start(start.as_bytes()));
    whys.collect::<Option<Vec<&str>>>()?.first().map(|why| format!("it matches no URL, because {why}"))
}

/// Says why no URL begins with `start`. `None` if one may.
fn why_no_start(start: &[u8]) -> Option<&'static str> {
    let begins = |scheme: &&&[u8]| scheme.iter().zip(start).all(|(expected, byte)| expected == byte);
    let Some(scheme) = SCHEMES.iter().find(begins) else {
        return Some(
            "^ is the beginning of the URL and not of its path; write ^https?://[^/]+ for scheme and host, or leave out the ^",
        );
    };
    let after = start.get(scheme.len()..)?;
    let host = after.split(|&byte| byte == b'/').next()?;
    let port: &[u8] = if *scheme == SCHEMES[0] { b":80" } else { b":443" };
    if host.iter().any(u8::is_ascii_uppercase) {
        return Some("hosts are in lower case");
    }
    (host.len() < after.len() && host.ends_with(port))
        .then_some("no URL has the default port of its scheme; leave it out")
}

/// The message for a pattern from `^` to `$` without the slash at the start of the path.
fn of_whole(pattern: &Hir) -> Option<String> {
    let properties = pattern.properties();
    let is_whole = properties.look_set_prefix().contains(Look::Start)
        && properties.look_set_suffix().contains(Look::End);
    (is_whole && slashes_max(pattern) < ORIGIN_SLASHES).then(|| {
        "it matches no URL, because every URL has a slash after the host: that of a home page ends with it".into()
    })
}

/// The most slashes that a match of `pattern` can have, or more.
fn slashes_max(pattern: &Hir) -> usize {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => memchr::memchr_iter(b'/', &literal.0).count(),
        HirKind::Class(Class::Bytes(class)) => {
            usize::from(class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'/')))
        }
        HirKind::Class(Class::Unicode(_)) => 1,
        HirKind::Repetition(repetition) => match (slashes_max(&repetition.sub), repetition.max) {
            (0, _) => 0,
            (_, None) => usize::MAX,
            (each, Some(times)) => each.saturating_mul(times as usize),
        },
        HirKind::Capture(capture) => slashes_max(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(slashes_max).fold(0, usize::saturating_add),
        HirKind::Alternation(branches) => branches.iter().map(slashes_max).max().unwrap_or(0),
    }
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
            ("^https://WWW.h.example/", "hosts are in lower case"),
            ("^https?://(Www|WWW)", "hosts are in lower case"),
            (r"^https://h\.example:443/a", "no URL has the default port of its scheme"),
            (r"^http://h\.example:80/", "no URL has the default port"),
            (r"^https://h\.example$", "every URL has a slash after the host"),
            ("^https?://[^/]+$", "every URL has a slash after the host"),
            ("^(http://a|https://b(:[0-9]{1,4})?)$", "every URL has a slash after the host"),
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
            "(?i)^https://WWW",
            "^https://h.example:44",
            "^http://h.example:443/",
            "^https://h.example/A",
            "^https://[^/]+/$",
            "^https?:/(/[^/]*){2}$",
            "^https://.*$",
            "https://h.example$",
            "^https://h.example",
            r"^https://h\.example$|/a",
            // The dot may be a slash.
            "^https://h.example$",
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
