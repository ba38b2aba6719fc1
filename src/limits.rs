//! Every number of the protocol, once, with the clause it comes from.

use std::fmt;
use std::str::FromStr;

/// Most URLs in one sitemap: sitemaps.org protocol, "Using Sitemap index files"; the 0.84 text says the same.
pub const URLS_PER_SITEMAP_MAX: u32 = 50_000;

/// Bytes of one uncompressed sitemap that every engine accepts: the 0.84 text ("10MB (10,485,760)"), still asked
/// for by some engines today. The default in both protocols.
pub const BYTES_PER_SITEMAP_DEFAULT: u64 = 10_485_760;

/// Sitemaps in one index file: the 0.84 text. The default in both protocols, because an index with more has been
/// refused by engines that publish a higher limit.
pub const SITEMAPS_PER_INDEX_DEFAULT: u32 = 1_000;

/// Shortest `<loc>` in characters: `minLength` of both published schemas.
pub const URL_BYTES_MIN: usize = 12;

/// Longest `<loc>` in characters: "fewer than 2,048" in the text of both protocols, measured on the
/// percent-encoded URL (pure ASCII, so bytes are characters) before XML escaping.
pub const URL_BYTES_MAX: usize = 2_047;

/// Most images of one URL: Google, "Image sitemaps".
pub const IMAGES_PER_URL_MAX: u32 = 1_000;

/// Longest line that is looked at, in bytes and without its end. Anything beyond is refused unseen, so that one
/// damaged file of a single line costs neither memory nor a parse of it. Ours, not the protocol's: 32 times the
/// longest URL leaves room for fragments and dot segments that cleaning removes.
pub const LINE_BYTES_MAX: usize = 65_536;

/// Fewest bytes of a line, its end included, that can hold a URL: `http:0` means `http://0.0.0.0/`.
pub const LINE_BYTES_MIN: usize = 7;

/// The two versions of the Sitemap protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// Google's first, of 2005.
    V0_84,
    /// sitemaps.org, the one every engine reads today.
    #[default]
    V0_9,
}

impl Protocol {
    /// The XML namespace of sitemaps and index files.
    pub const fn namespace(self) -> &'static str {
        match self {
            Self::V0_84 => "http://www.google.com/schemas/sitemap/0.84",
            Self::V0_9 => "http://www.sitemaps.org/schemas/sitemap/0.9",
        }
    }

    /// Most bytes of one uncompressed sitemap or index file: the 0.84 text; sitemaps.org since 2016.
    pub const fn bytes_per_sitemap_max(self) -> u64 {
        match self {
            Self::V0_84 => 10_485_760,
            Self::V0_9 => 52_428_800,
        }
    }

    /// Most sitemaps in one index file: the 0.84 text; sitemaps.org, "Using Sitemap index files".
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
            _ => Err("the protocol is 0.9 or 0.84".into()),
        }
    }
}
