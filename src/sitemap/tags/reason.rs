//! Tags that are counted: how many were given, how many were left out, and why.

use crate::common::counter::{Counter, reasons};

reasons! {
    /// Why a tag is not written though it was given. The words are part of the contract: reports and reject files carry
    /// them. In the order of the tags.
    TagReason {
        /// No W3C Datetime and no form of SQL, or a day or time that does not exist.
        Lastmod = "tag-lastmod",
        /// A time of day without a zone, and none was said for such times.
        LastmodZone = "tag-lastmod-zone",
        /// A number that can only be a time since 1970, in another unit than was said, or where none was said.
        LastmodEpoch = "tag-lastmod-epoch",
        /// A year, or a year and a month: W3C Datetime, but both schemas refuse it.
        LastmodPrecision = "tag-lastmod-precision",
        /// None of the seven words.
        Changefreq = "tag-changefreq",
        /// No decimal number from 0.0 to 1.0.
        Priority = "tag-priority",
        /// A link to another language that is no URL or names no language, or a protocol without such links.
        Alternate = "tag-alternate",
        /// An image that is no URL or one too many, or a protocol without images.
        Image = "tag-image",
    }
}

impl TagReason {
    /// The tag that is left out.
    pub const fn tag(self) -> TagName {
        match self {
            Self::Lastmod | Self::LastmodZone | Self::LastmodEpoch | Self::LastmodPrecision => {
                TagName::Lastmod
            }
            Self::Changefreq => TagName::Changefreq,
            Self::Priority => TagName::Priority,
            Self::Alternate => TagName::Alternates,
            Self::Image => TagName::Images,
        }
    }
}

/// A tag that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped<'a> {
    /// Why.
    pub reason: TagReason,
    /// Of a link, the language that is given.
    pub hreflang: Option<&'a [u8]>,
    /// The value that is given; of a link or image, its URL.
    pub value: &'a [u8],
}

impl Dropped<'_> {
    /// The text of its row in the reject file, not yet escaped: the value, or `hreflang=de href=…`.
    pub fn to_text(self) -> Vec<u8> {
        match self.hreflang {
            Some(hreflang) => [b"hreflang=", hreflang, b" href=", self.value].concat(),
            None => self.value.to_vec(),
        }
    }
}

/// Dropped tags by reason.
pub type DroppedTags = Counter<TagReason, { TagReason::ALL.len() }>;

reasons! {
    /// A tag that a row can have beside its URL, by the name of its key or column.
    TagName {
        /// A date or time.
        Lastmod = "lastmod",
        /// A word.
        Changefreq = "changefreq",
        /// A number.
        Priority = "priority",
        /// The same page in other languages; each link counts.
        Alternates = "alternates",
        /// Images on the page; each counts.
        Images = "images",
    }
}

/// Tags by name.
pub type TagCounts = Counter<TagName, { TagName::ALL.len() }>;

/// The tags that rows give, whatever their values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GivenTags {
    /// Of rows whose URL is listed, or is that of another row.
    pub of_entries: TagCounts,
    /// Of rows that are refused or blank.
    pub of_refused: TagCounts,
}

impl std::ops::Add for GivenTags {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            of_entries: self.of_entries + other.of_entries,
            of_refused: self.of_refused + other.of_refused,
        }
    }
}
