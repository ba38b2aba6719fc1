//! The limits of the protocol, with their clauses, those of Google and of robots.txt, and sitemill's own.

use std::fmt;
use std::str::FromStr;

/// Maximum number of URLs per sitemap: sitemaps.org protocol, "Using Sitemap index files", and the text of 0.84.
pub const URLS_PER_SITEMAP_MAX: u32 = 50_000;

/// Default maximum of bytes per uncompressed file, in both protocols: the limit of 0.84 ("10MB (10,485,760)"), which some search
/// engines still require.
pub const BYTES_PER_SITEMAP_DEFAULT: u64 = 10_485_760;

/// Default maximum of sitemaps per index file, in both protocols: the limit of 0.84. Search engines that document a higher limit
/// have refused larger index files.
pub const SITEMAPS_PER_INDEX_DEFAULT: u32 = 1_000;

/// Minimum length of `<loc>` in characters: `minLength` in both published schemas.
pub const URL_BYTES_MIN: usize = 12;

/// Maximum length of `<loc>` in characters: "fewer than 2,048" in the text of both protocols, measured on the percent-encoded URL
/// (pure ASCII, so bytes are characters) before XML escaping.
pub const URL_BYTES_MAX: usize = 2_047;

/// Maximum number of images per URL: Google, "Image sitemaps".
pub const IMAGES_PER_URL_MAX: u32 = 1_000;

/// Maximum number of news articles per sitemap: Google, "News sitemaps".
pub const NEWS_PER_SITEMAP_MAX: u32 = 1_000;

/// Bytes of a robots.txt that every crawler reads: RFC 9309, 2.5. Google reads no more.
pub const ROBOTS_BYTES_MAX: usize = 500 * 1024;

/// Maximum number of namespace declarations in scope, `xml` aside: enough for any sitemap, and few enough that a hostile one cannot
/// slow the search. This limit is sitemill's own.
pub const NAMESPACES_MAX: usize = 64;

/// Maximum length of an input line in bytes, without its line end. Longer lines are rejected unread, so a damaged file with a
/// single huge line costs neither memory nor time. This limit is sitemill's own: 32 times the longest URL leaves room for
/// fragments and dot segments that cleaning removes.
pub const LINE_BYTES_MAX: usize = 65_536;

/// Minimum length in bytes of a line that contains a URL, including its line end: `http:0` means `http://0.0.0.0/`.
pub const LINE_BYTES_MIN: usize = 7;

/// A version of the Sitemap protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Protocol {
    /// Google's first version, of 2005.
    V0_84,
    /// The version of sitemaps.org, which every search engine reads.
    #[default]
    V0_9,
}

impl Protocol {
    /// Returns the XML namespace of sitemaps and index files.
    pub const fn namespace(self) -> &'static str {
        match self {
            Self::V0_84 => "http://www.google.com/schemas/sitemap/0.84",
            Self::V0_9 => "http://www.sitemaps.org/schemas/sitemap/0.9",
        }
    }

    /// Returns the maximum of bytes per uncompressed sitemap or index file: the text of 0.84; sitemaps.org since 2016.
    pub const fn bytes_per_sitemap_max(self) -> u64 {
        match self {
            Self::V0_84 => 10_485_760,
            Self::V0_9 => 52_428_800,
        }
    }

    /// Returns the maximum of sitemaps per index file: the text of 0.84; sitemaps.org, "Using Sitemap index files".
    pub const fn sitemaps_per_index_max(self) -> u32 {
        match self {
            Self::V0_84 => 1_000,
            Self::V0_9 => 50_000,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0_84 => "0.84",
            Self::V0_9 => "0.9",
        })
    }
}

impl FromStr for Protocol {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "0.84" => Ok(Self::V0_84),
            "0.9" => Ok(Self::V0_9),
            _ => Err("expected 0.9 or 0.84".into()),
        }
    }
}
