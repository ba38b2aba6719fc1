//! Scope: which URLs a sitemap may list, given where it is published.
//!
//! A sitemap speaks for the directory it lies in (0.84 text and sitemaps.org, "Sitemap file location"): another
//! directory, host, port or scheme is out. A robots.txt line can widen that to other hosts, hence `host` and `any`.

use std::fmt;
use std::str::FromStr;

use super::clean::{CleanUrl, Cleaned, Cleaner};
use crate::limits::URL_BYTES_MAX;

/// The directory that the files are published in: a canonical URL that ends in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Longest base URL: the name of a file must fit behind it in a `<loc>`.
const BASE_URL_BYTES_MAX: usize = URL_BYTES_MAX - 64;

impl BaseUrl {
    /// The URL, with its slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port, with a slash at the end.
    fn origin(&self) -> &str {
        let host_at = self.0.find("://").expect("a clean URL is absolute") + 3;
        let path_at = host_at + self.0[host_at..].find('/').expect("a clean URL has a path");
        &self.0[..=path_at]
    }
}

impl FromStr for BaseUrl {
    type Err = String;

    /// Takes the URL of a directory, cleaned like any other and with a slash put behind it if there is none.
    fn from_str(given: &str) -> Result<Self, String> {
        if given.contains(['?', '#']) {
            return Err("it names a directory: no query, no fragment".into());
        }
        // Cleaned with a file name behind it: a bare `http://a.b` would be too short to be a URL in a sitemap.
        let given = given.trim_matches([' ', '\t']);
        let slash = if given.ends_with(['/', '\\']) { "" } else { "/" };
        let mut cleaner = Cleaner::default();
        match cleaner.clean(format!("{given}{slash}-").as_bytes()) {
            Cleaned::Url(url) if url.as_bytes().len() <= BASE_URL_BYTES_MAX => {
                let directory = &url.as_bytes()[..url.as_bytes().len() - 1];
                Ok(Self(String::from_utf8(directory.to_vec()).expect("a clean URL is ASCII")))
            }
            Cleaned::Url(_) => Err(format!("longer than {BASE_URL_BYTES_MAX} bytes")),
            Cleaned::Blank => Err("it is empty".into()),
            Cleaned::Rejected(reason) => Err(format!("no URL of a directory: {}", reason.as_str())),
        }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How far `--base-url` reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScopeRule {
    /// URLs that start with the base URL: what the protocol says.
    #[default]
    Directory,
    /// URLs with its scheme, host and port.
    Host,
    /// Every URL.
    Any,
}

impl FromStr for ScopeRule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "directory" => Ok(Self::Directory),
            "host" => Ok(Self::Host),
            "any" => Ok(Self::Any),
            _ => Err("the scope is directory, host or any".into()),
        }
    }
}

/// The rule made ready: the bytes that a URL must start with.
#[derive(Debug, Clone)]
pub struct Scope(Vec<u8>);

impl Scope {
    /// `rule`, seen from `base`.
    pub fn new(rule: ScopeRule, base: &BaseUrl) -> Self {
        Self(match rule {
            ScopeRule::Directory => base.as_str().into(),
            ScopeRule::Host => base.origin().into(),
            ScopeRule::Any => Vec::new(),
        })
    }

    /// Whether `url` may be listed.
    pub fn admits(&self, url: CleanUrl<'_>) -> bool {
        url.as_bytes().starts_with(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_names_a_directory_however_it_is_spelt() {
        for (given, want) in [
            ("https://www.example.com", "https://www.example.com/"),
            ("https://www.example.com/", "https://www.example.com/"),
            ("HTTPS://WWW.Example.com:443/maps", "https://www.example.com/maps/"),
            ("http://bücher.example/a b/", "http://xn--bcher-kva.example/a%20b/"),
            ("http://a.b", "http://a.b/"),
            ("http://h.example/shop//", "http://h.example/shop//"),
            ("http://h.example/shop\\", "http://h.example/shop/"),
        ] {
            assert_eq!(given.parse::<BaseUrl>().unwrap().as_str(), want);
        }
        for wrong in [
            "",
            "/maps/",
            "ftp://h.example/",
            "https://h.example/?q",
            "https://h.example/#f",
            "https://",
            "\u{a0}https://h.example",
        ] {
            assert!(wrong.parse::<BaseUrl>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_scope_is_the_directory_unless_told_otherwise() {
        let base: BaseUrl = "http://h.example/catalog".parse().unwrap();
        for (url, admitted) in [
            ("http://h.example/catalog/show?item=23", [true, true, true]),
            ("http://h.example/catalog/", [true, true, true]),
            ("http://h.example/catalogue/", [false, true, true]),
            ("http://h.example/images/", [false, true, true]),
            ("https://h.example/catalog/x", [false, false, true]),
            ("http://h.example:8080/catalog/x", [false, false, true]),
            ("http://www.h.example/catalog/x", [false, false, true]),
        ] {
            let mut cleaner = Cleaner::default();
            let Cleaned::Url(clean) = cleaner.clean(url.as_bytes()) else { panic!("{url} is clean") };
            let rules = [ScopeRule::Directory, ScopeRule::Host, ScopeRule::Any];
            assert_eq!(rules.map(|rule| Scope::new(rule, &base).admits(clean)), admitted, "{url}");
        }
    }
}
