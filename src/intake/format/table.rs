//! The table of formats: one line for each.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::spec::Spec;
use crate::error::Result;

macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $spec:path,)*) => {
        /// The format of an input.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// All of them, in the order of the table.
            pub(super) const ALL: &[Self] = &[$(Self::$format),*];

            /// Its properties.
            pub(super) const fn spec(self) -> &'static Spec {
                match self {
                    $(Self::$format => &$spec,)*
                }
            }
        }
    };
}

formats! {
    /// One URL per line.
    Text = super::text::TEXT,
    /// Values separated by commas, or by the delimiter in [`FormatOptions::delimiter`](crate::options::FormatOptions::delimiter) or
    /// in the header; RFC 4180.
    Csv = super::csv::CSV,
    /// Values separated by tabs, with quotes as in CSV.
    Tsv = super::csv::TSV,
    /// One JSON object per line.
    Jsonl = super::json::JSONL,
    /// Apache Parquet.
    Parquet = super::parquet::PARQUET,
    /// An existing sitemap.
    Sitemap = super::sitemap::SITEMAP,
    /// An RSS feed.
    Rss = super::feed::RSS,
    /// An Atom feed.
    Atom = super::feed::ATOM,
    /// Lines of Google's first generator: a URL, then `lastmod=… changefreq=… priority=…`.
    Google = super::google::GOOGLE,
}

impl Format {
    /// The format of an input if neither its first bytes nor its name shows another.
    pub(super) const FALLBACK: Self = Self::Text;

    /// Whether it is that of a sitemap or of a feed.
    pub(crate) fn is_xml(self) -> bool {
        matches!(self, Self::Sitemap | Self::Rss | Self::Atom)
    }

    /// Whether its values may be in quotes.
    pub(crate) fn has_quotes(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    /// Returns the names of all formats, as a placeholder in help: `text|csv|…`.
    pub fn names() -> &'static str {
        static NAMES: LazyLock<String> = LazyLock::new(|| {
            Format::ALL.iter().map(|format| format.spec().name).collect::<Vec<_>>().join("|")
        });
        &NAMES
    }

    /// The word for one of its columns in messages.
    pub(crate) fn column_word(self) -> &'static str {
        self.spec().column_word
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec().name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|format| format.spec().name == word);
        known.copied().ok_or_else(|| {
            let names = Self::names().replace('|', ", ");
            let (others, last) = names.rsplit_once(", ").unwrap_or_default();
            format!("expected {others} or {last}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_no_two_share_a_name_or_an_extension() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(*format));
        }
        let mut extensions: Vec<_> = Format::ALL.iter().flat_map(|format| format.spec().extensions).collect();
        let all = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), all);
        assert_eq!(
            "xml".parse::<Format>(),
            Err("expected text, csv, tsv, jsonl, parquet, sitemap, rss, atom or google".into())
        );
        assert_eq!(Format::names(), "text|csv|tsv|jsonl|parquet|sitemap|rss|atom|google");
    }
}
