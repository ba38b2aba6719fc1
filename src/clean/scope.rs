//! Scope: which URLs a sitemap may list, given where it is published.
//!
//! A sitemap may list URLs of its own directory (0.84 text and sitemaps.org, "Sitemap file location"), not those of another
//! directory, host, port or scheme. A robots.txt line can allow other hosts, hence `host` and `any`.

use std::ops::RangeInclusive;
use std::str::FromStr;

mod base;
mod origins;

use crate::clean::{CleanUrl, Reason};
use crate::common::simd;
use base::{BASE_URL_BYTES_MAX, BASE_URL_BYTES_MIN};

pub use base::{Base, BaseUrl, SitePath};
pub use origins::{ORIGIN_SLASHES, ORIGINS_SERIALISED_MAX, Origins, origin_bytes, origin_of};

/// The rule that decides which URLs belong to a base URL. A later rule permits every URL that an earlier one permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ScopeRule {
    /// URLs that start with the base URL: the rule of the protocol.
    #[default]
    Directory,
    /// URLs with its scheme, host and port.
    Host,
    /// Every URL.
    Any,
}

impl ScopeRule {
    /// Returns its word, which [`FromStr`] parses.
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
        known.ok_or_else(|| "expected directory, host or any".into())
    }
}

/// A rule with its base, ready to judge URLs.
#[derive(Debug, Clone)]
pub enum Scope {
    /// A URL must start with these bytes.
    Url(Vec<u8>),
    /// A URL goes to the set of its origin.
    Sites(Sites),
}

/// Decides which URLs are listed if each origin has its own set.
#[derive(Debug, Clone)]
pub struct Sites {
    /// Their paths must start with these bytes.
    path: Vec<u8>,
    /// Lengths of origins whose base URL is neither too short nor too long.
    origin_bytes: RangeInclusive<usize>,
    /// Maximum number of bytes of an origin in XML.
    xml_bytes_max: u64,
}

impl Scope {
    /// The scope of `rule` with this base.
    pub fn new(rule: ScopeRule, base: &Base) -> Self {
        match (rule, base) {
            (ScopeRule::Directory, Base::Directory(url)) => Self::Url(url.as_str().into()),
            (ScopeRule::Host, Base::Directory(url)) => Self::Url(url.origin().into()),
            (ScopeRule::Any, Base::Directory(_)) => Self::Url(Vec::new()),
            (_, Base::EachOrigin(path)) => {
                let after = path.below_root().len();
                let least = BASE_URL_BYTES_MIN.saturating_sub(after);
                let origin_bytes = least..=BASE_URL_BYTES_MAX.saturating_sub(after);
                let path = match rule {
                    ScopeRule::Directory => path.as_str(),
                    // A URL is published on its own host, so every host is in scope.
                    ScopeRule::Host | ScopeRule::Any => "/",
                };
                Self::Sites(Sites { path: path.into(), origin_bytes, xml_bytes_max: u64::MAX })
            }
        }
    }

    /// Excludes sites whose origin takes more than `bytes` in XML.
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
            Self::Url(start) => simd::starts_with(url.as_bytes(), start),
            Self::Sites(sites) => sites.admit(url.as_bytes()),
        }
    }

    /// Why `url` is not admitted. If it is out of scope, its origin is counted in `origins`.
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
        // Usually the limit is far above the length of any origin.
        6 * origin.len() as u64 <= self.xml_bytes_max
            || origin.iter().map(in_xml).sum::<u64>() <= self.xml_bytes_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};

    /// Whether each rule admits `url`.
    fn admits(base: &Base, url: &str) -> [bool; 3] {
        let mut cleaner = Cleaner::default();
        let Cleaned::Url(clean) = cleaner.clean(url.as_bytes()) else { panic!("{url} is clean") };
        [ScopeRule::Directory, ScopeRule::Host, ScopeRule::Any]
            .map(|rule| Scope::new(rule, base).admits(clean))
    }

    #[test]
    fn the_scope_is_the_directory_by_default() {
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
    fn a_base_for_each_origin_may_have_a_path() {
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
