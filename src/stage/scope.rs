//! Scope: which URLs a sitemap may list, given where it is published.
//!
//! A sitemap speaks for the directory it lies in (0.84 text and sitemaps.org, "Sitemap file location"): another
//! directory, host, port or scheme is out. A robots.txt line can widen that to other hosts, hence `host` and `any`.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::clean::{CleanUrl, Cleaned, Cleaner, Reason};
use super::wide;
use crate::limits::{URL_BYTES_MAX, URL_BYTES_MIN};

mod origins;

pub use origins::{ORIGINS_MAX, Origins};

/// The directory that the files are published in: a canonical URL that ends in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

/// Longest base URL: the name of a file must fit behind it in a `<loc>`.
const BASE_URL_BYTES_MAX: usize = URL_BYTES_MAX - 64;

/// Shortest base URL: with one more byte it is long enough for a `<loc>`.
const BASE_URL_BYTES_MIN: usize = URL_BYTES_MIN - 1;

impl BaseUrl {
    /// The URL, with its slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port, with a slash at the end.
    pub fn origin(&self) -> &str {
        &self.0[..origin_of(self.0.as_bytes()).len()]
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
            Cleaned::Rejected(Reason::NotAbsolute) => match format!("https://{given}").parse::<Self>() {
                Ok(url) if !given.starts_with(['/', '.']) => {
                    Err(format!("it needs a scheme; did you mean {url}?"))
                }
                _ => Err("it needs a scheme and a host, as https://www.example.com/".into()),
            },
            Cleaned::Rejected(reason) => Err(format!("no URL of a directory: {}", reason.as_str())),
        }
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where sets are published: one in a directory, or one for every origin that the input names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// All of it in this directory.
    Directory(BaseUrl),
    /// The URLs of each scheme, host and port in this directory of their own: `{origin}/` or `{origin}/sitemaps/`.
    EachOrigin(SitePath),
}

/// The path of the same directory on every site; it begins and ends with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePath(String);

/// What stands for scheme, host and port.
const ORIGIN: &str = "{origin}";

impl SitePath {
    /// The directory on the site of `origin`, which ends in a slash.
    ///
    /// # Errors
    /// If a file's name would have no room behind it.
    pub fn on(&self, origin: &str) -> Result<BaseUrl, String> {
        format!("{}{}", origin.trim_end_matches('/'), self.0).parse()
    }
}

impl FromStr for Base {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let Some(path) = given.trim_matches([' ', '\t']).strip_prefix(ORIGIN) else {
            return given.parse().map(Self::Directory);
        };
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!("a slash and a path follow {ORIGIN}, and nothing else"));
        }
        let anywhere: BaseUrl = format!("http://h.example{path}").parse()?;
        Ok(Self::EachOrigin(SitePath(anywhere.0["http://h.example".len()..].to_owned())))
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(url) => url.fmt(f),
            Self::EachOrigin(SitePath(path)) => write!(f, "{ORIGIN}{path}"),
        }
    }
}

/// The part of a URL before its path, with the slash that begins it.
pub fn origin_of(clean_url: &[u8]) -> &[u8] {
    let slashes = memchr::memchr_iter(b'/', clean_url);
    &clean_url[..=slashes.take(3).last().expect("a clean URL has a path")]
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

impl ScopeRule {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::Host => "host",
            Self::Any => "any",
        }
    }
}

impl FromStr for ScopeRule {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = [Self::Directory, Self::Host, Self::Any].into_iter().find(|rule| rule.as_str() == word);
        known.ok_or_else(|| "the scope is directory, host or any".into())
    }
}

/// The rule made ready.
#[derive(Debug, Clone)]
pub enum Scope {
    /// A URL must start with these bytes.
    Url(Vec<u8>),
    /// A URL goes to the set of its origin.
    Sites(Sites),
}

/// Which URLs are listed if each origin has a set of its own.
#[derive(Debug, Clone)]
pub struct Sites {
    /// Their paths must start with these bytes.
    path: Vec<u8>,
    /// Lengths of origins whose base URL is neither too short nor too long.
    origin_bytes: RangeInclusive<usize>,
    /// Most bytes of an origin in XML.
    xml_bytes_max: u64,
}

impl Scope {
    /// `rule`, seen from `base`.
    pub fn new(rule: ScopeRule, base: &Base) -> Self {
        match (rule, base) {
            (ScopeRule::Directory, Base::Directory(url)) => Self::Url(url.as_str().into()),
            (ScopeRule::Host, Base::Directory(url)) => Self::Url(url.origin().into()),
            (ScopeRule::Any, Base::Directory(_)) => Self::Url(Vec::new()),
            (_, Base::EachOrigin(SitePath(path))) => {
                let behind = path.len() - 1;
                let least = BASE_URL_BYTES_MIN.saturating_sub(behind);
                let origin_bytes = least..=BASE_URL_BYTES_MAX.saturating_sub(behind);
                let path = match rule {
                    ScopeRule::Directory => path.clone(),
                    // Its own host is where a URL is published, whatever it is.
                    ScopeRule::Host | ScopeRule::Any => "/".to_owned(),
                };
                Self::Sites(Sites { path: path.into(), origin_bytes, xml_bytes_max: u64::MAX })
            }
        }
    }

    /// This scope without the sites whose origin takes more than `bytes` in XML.
    pub fn with_origins_of_at_most(mut self, bytes: u64) -> Self {
        if let Self::Sites(sites) = &mut self {
            sites.xml_bytes_max = bytes;
        }
        self
    }

    /// Whether `url` may be listed.
    #[inline]
    pub fn admits(&self, url: CleanUrl<'_>) -> bool {
        match self {
            Self::Url(start) => wide::starts_with(url.as_bytes(), start),
            Self::Sites(sites) => sites.admit(url.as_bytes()),
        }
    }

    /// Why `url` is not admitted. If it is out of scope, `origins` counts its origin.
    #[cold]
    pub fn reason(&self, url: CleanUrl<'_>, origins: &mut Origins) -> Reason {
        let origin = origin_of(url.as_bytes());
        match self {
            Self::Sites(sites) if sites.is_below(origin, url.as_bytes()) => Reason::NoSite,
            _ => {
                origins.count(origin);
                Reason::OutOfScope
            }
        }
    }
}

impl Sites {
    fn admit(&self, url: &[u8]) -> bool {
        let origin = origin_of(url);
        self.is_below(origin, url) && self.origin_bytes.contains(&origin.len()) && self.has_room_for(origin)
    }

    fn is_below(&self, origin: &[u8], url: &[u8]) -> bool {
        url[origin.len() - 1..].starts_with(&self.path)
    }

    fn has_room_for(&self, origin: &[u8]) -> bool {
        let in_xml = |byte: &u8| match byte {
            b'&' => b"&amp;".len() as u64,
            b'\'' => b"&apos;".len() as u64,
            _ => 1,
        };
        // As a rule there is room for much more than any origin takes.
        6 * origin.len() as u64 <= self.xml_bytes_max
            || origin.iter().map(in_xml).sum::<u64>() <= self.xml_bytes_max
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
    fn a_base_url_without_a_scheme_is_told_with_the_whole_one() {
        for (given, said) in [
            ("www.shop.example", "it needs a scheme; did you mean https://www.shop.example/?"),
            ("shop.example/maps", "it needs a scheme; did you mean https://shop.example/maps/?"),
            ("/maps/", "it needs a scheme and a host, as https://www.example.com/"),
        ] {
            assert_eq!(given.parse::<BaseUrl>().unwrap_err(), said);
        }
    }

    /// Whether each rule admits `url`.
    fn admits(base: &Base, url: &str) -> [bool; 3] {
        let mut cleaner = Cleaner::default();
        let Cleaned::Url(clean) = cleaner.clean(url.as_bytes()) else { panic!("{url} is clean") };
        [ScopeRule::Directory, ScopeRule::Host, ScopeRule::Any]
            .map(|rule| Scope::new(rule, base).admits(clean))
    }

    #[test]
    fn the_scope_is_the_directory_unless_told_otherwise() {
        let base: Base = "http://h.example/catalog".parse().unwrap();
        for (url, admitted) in [
            ("http://h.example/catalog/show?item=23", [true, true, true]),
            ("http://h.example/catalog/", [true, true, true]),
            ("http://h.example/catalogue/", [false, true, true]),
            ("http://h.example/images/", [false, true, true]),
            ("https://h.example/catalog/x", [false, false, true]),
            ("http://h.example:8080/catalog/x", [false, false, true]),
            ("http://www.h.example/catalog/x", [false, false, true]),
        ] {
            assert_eq!(admits(&base, url), admitted, "{url}");
        }
    }

    #[test]
    fn a_base_for_each_origin_has_a_path_of_its_own() {
        for (given, want) in [
            ("{origin}", "{origin}/"),
            ("{origin}/", "{origin}/"),
            ("{origin}/sitemaps", "{origin}/sitemaps/"),
            ("{origin}/a b/", "{origin}/a%20b/"),
            ("https://h.example", "https://h.example/"),
        ] {
            assert_eq!(given.parse::<Base>().unwrap().to_string(), want);
        }
        for wrong in ["{origin}x/", "{origin}:80/", "{origin}/?q", "http://{origin}/"] {
            assert!(wrong.parse::<Base>().is_err(), "{wrong}");
        }
        let Ok(base @ Base::EachOrigin(_)) = "{origin}/maps/".parse() else { panic!("it is one") };
        for (url, admitted) in [
            ("http://a.example/maps/x", [true, true, true]),
            ("https://b.example:81/maps/", [true, true, true]),
            ("http://a.example/other/maps/", [false, true, true]),
        ] {
            assert_eq!(admits(&base, url), admitted, "{url}");
        }
    }
}
