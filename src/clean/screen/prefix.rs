//! Prefixes of canonical URLs, as a user spells them.

use crate::clean::{Cleaned, Cleaner, Reason, UrlEncoding, parser};

/// Follows a prefix while it is cleaned. So the prefix is long enough to be a URL, and its last segment may be incomplete:
/// `https://h.example/.` is a prefix of `https://h.example/.well-known`. A hyphen is not part of an escape.
const REST: &str = "------------";

/// The canonical form of a prefix of URLs. A prefix without a path gets the slash that begins the path.
///
/// # Errors
/// What is wrong with it.
pub fn canonical(given: &str, url_encoding: UrlEncoding) -> Result<String, String> {
    let given = given.trim_matches([' ', '\t']);
    if given.contains('#') {
        return Err("a listed URL has no fragment; leave out everything from the # on".into());
    }
    let slash = if parser::path_of(given.as_bytes()) == given.len() { "/" } else { "" };
    let mut cleaner = Cleaner::new(url_encoding);
    match cleaner.clean(format!("{given}{slash}{REST}").as_bytes()) {
        Cleaned::Url(url) => {
            let prefix = &url.as_bytes()[..url.as_bytes().len() - REST.len()];
            Ok(String::from_utf8(prefix.to_vec()).expect("a clean URL is ASCII"))
        }
        Cleaned::Blank => Err("it is empty".into()),
        Cleaned::Rejected(Reason::NotAbsolute) => {
            Err("it needs a scheme and a host, as https://www.example.com/".into())
        }
        Cleaned::Rejected(reason) => Err(format!("no URL: {}", reason.as_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_canonical_and_its_last_segment_may_be_incomplete() {
        for (given, want) in [
            ("http://a.b", "http://a.b/"),
            (" HTTPS://H.example:443 ", "https://h.example/"),
            ("http://h.example/a/../b c", "http://h.example/b%20c"),
            ("http://h.example/.", "http://h.example/."),
            ("http://h.example/50%", "http://h.example/50%25"),
            ("http://h.example?q='", "http://h.example/?q=%27"),
            ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ] {
            assert_eq!(canonical(given, UrlEncoding::default()).as_deref(), Ok(want), "{given}");
        }
        let latin: UrlEncoding = "iso-8859-1".parse().unwrap();
        assert_eq!(canonical("http://h.example/ü", latin).unwrap(), "http://h.example/%FC");
        for (wrong, said) in [
            ("", "it needs a scheme"),
            ("/a", "it needs a scheme"),
            ("http://h.example/#a", "fragment"),
            ("ftp://h.example/", "no URL: scheme"),
            ("http://u@h.example/", "no URL: credentials"),
        ] {
            let why = canonical(wrong, UrlEncoding::default()).unwrap_err();
            assert!(why.contains(said), "{wrong}: {why}");
        }
    }
}
