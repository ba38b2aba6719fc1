//! Why a tag is left out, and how often.

use std::ops::{Add, Index, IndexMut};

/// Why a tag is not written though it was given. The words are part of the contract: reports and reject files carry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TagReason {
    /// No W3C Datetime and no form of SQL, or a day or time that does not exist.
    Lastmod,
    /// A time of day without a zone, and none was said for such times.
    LastmodZone,
    /// A year, or a year and a month: W3C Datetime, but both schemas refuse it.
    LastmodPrecision,
    /// None of the seven words.
    Changefreq,
    /// No decimal number from 0.0 to 1.0.
    Priority,
    /// A link to another language that is no URL or names no language, or a protocol without such links.
    Alternate,
    /// An image that is no URL or one too many, or a protocol without images.
    Image,
}

impl TagReason {
    /// All of them, in the order of the tags.
    pub const ALL: [Self; 7] = [
        Self::Lastmod,
        Self::LastmodZone,
        Self::LastmodPrecision,
        Self::Changefreq,
        Self::Priority,
        Self::Alternate,
        Self::Image,
    ];

    /// The word in reports and reject files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lastmod => "tag-lastmod",
            Self::LastmodZone => "tag-lastmod-zone",
            Self::LastmodPrecision => "tag-lastmod-precision",
            Self::Changefreq => "tag-changefreq",
            Self::Priority => "tag-priority",
            Self::Alternate => "tag-alternate",
            Self::Image => "tag-image",
        }
    }
}

/// Dropped tags by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DroppedTags([u64; TagReason::ALL.len()]);

impl DroppedTags {
    /// All dropped tags.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The reasons that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (TagReason, u64)> + '_ {
        TagReason::ALL.into_iter().map(|reason| (reason, self[reason])).filter(|&(_, count)| count > 0)
    }
}

impl Index<TagReason> for DroppedTags {
    type Output = u64;

    fn index(&self, reason: TagReason) -> &u64 {
        &self.0[reason as usize]
    }
}

impl IndexMut<TagReason> for DroppedTags {
    fn index_mut(&mut self, reason: TagReason) -> &mut u64 {
        &mut self.0[reason as usize]
    }
}

impl Add for DroppedTags {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
        self
    }
}
