//! Why a tag is left out, and how often.

use crate::stage::counter::{Counter, reasons};

reasons! {
    /// Why a tag is not written though it was given. The words are part of the contract: reports and reject files carry
    /// them. In the order of the tags.
    TagReason {
        /// No W3C Datetime and no form of SQL, or a day or time that does not exist.
        Lastmod = "tag-lastmod",
        /// A time of day without a zone, and none was said for such times.
        LastmodZone = "tag-lastmod-zone",
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

/// Dropped tags by reason.
pub type DroppedTags = Counter<TagReason, { TagReason::ALL.len() }>;
