//! Prefixes of canonical URLs, as a user spells them.

use crate::clean::given::{NO_HOST, refusal, trimmed};
use crate::clean::{Cleaned, Cleaner, UrlEncoding, parser};

/// Follows what is given while it is cleaned. So a prefix is long enough to be a URL, and its last segment may be incomplete:
/// `https://h.example/.` is a prefix of `https://h.example/.well-known`. A hyphen is not part of an escape.
const REST: &str = "------------";

/// The canonical form of a prefix of URLs. A prefix without a path gets the slash that begins the path.
///
/// # Errors
/// If `given` is invalid. The message says why.
pub fn canonical(given: &str, url_encoding: UrlEncoding) -> Result<String, String> {
    let given = trimmed(given);
    let slash = if lacks_path(given) { "/" } else { "" };
    before(given, &format!("{slash}{REST}"), REST, url_encoding)
}

/// Whether the prefix `given` ends with the host or the port.
pub fn lacks_path(given: &str) -> bool {
    let given = trimmed(given);
    parser::path_of(given.as_bytes()) == given.len()
}

/// The canonical form of the URL `given` without its query. Its last segment is complete: `https://h.example/a/..` is
/// `https://h.example/`.
///
/// # Errors
/// If `given` is invalid. The message says why.
pub fn canonical_page(given: &str, url_encoding: UrlEncoding) -> Result<String, String> {
    let page = trimmed(given.split('?').next().unwrap_or_default());
    let query = format!("?{REST}");
    before(page, &query, &query, url_encoding)
}

/// The text before `end` in the canonical form of `given` and `more`, which ends with it.
fn before(given: &str, more: &str, end: &str, url_encoding: UrlEncoding) -> Result<String, String> {
    if given.contains('#') {
        return Err("a listed URL has no fragment; leave out everything from the # on".into());
    }
    if parser::lacks_host(given) {
        return Err(NO_HOST.into());
    }
    let mut cleaner = Cleaner::new(url_encoding);
    match cleaner.clean(format!("{given}{more}").as_bytes()) {
        Cleaned::Url(url) => {
            let prefix = url.as_bytes().strip_suffix(end.as_bytes()).ok_or(NO_HOST)?;
            Ok(String::from_utf8(prefix.to_vec()).expect("a clean URL is ASCII"))
        }
        Cleaned::Blank => Err("it is empty".into()),
        Cleaned::Rejected(reason) => Err(refusal(reason)),
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
            ("https://", "it needs a scheme and a host"),
            ("https:", "it needs a scheme and a host"),
            ("https:///", "it needs a scheme and a host"),
            ("https:///shop/", "it needs a scheme and a host"),
            ("https:\\\\/shop/", "it needs a scheme and a host"),
            ("https://?q", "it needs a scheme and a host"),
            ("http://h.example/#a", "fragment"),
            ("ftp://h.example/", "it must begin with https:// or http://"),
            ("http://u@h.example/", "it is not a valid URL (credentials)"),
        ] {
            for canonical in [canonical, canonical_page] {
                let why = canonical(wrong, UrlEncoding::default()).unwrap_err();
                assert!(why.contains(said), "{wrong}: {why}");
            }
        }
    }

    #[test]
    fn the_last_segment_of_a_page_is_complete() {
        for (given, want) in [
            ("http://a.b", "http://a.b/"),
            ("http://h.example/a/b?c=d?", "http://h.example/a/b"),
            ("http://h.example/a/..", "http://h.example/"),
            ("http://h.example/a/%2E%2e ", "http://h.example/"),
            ("http://h.example/a/.", "http://h.example/a/"),
            ("http://h.example/a/...", "http://h.example/a/..."),
        ] {
            assert_eq!(canonical_page(given, UrlEncoding::default()).as_deref(), Ok(want), "{given}");
        }
    }
}
