//! Names of tags, the reasons for dropping one, and counts of both.

use serde::{Deserialize, Serialize};

use super::extensions::table::with_extensions;
use crate::common::counts::{Counts, counted};

/// Defines the enums below: variants for the tags of the protocol, then one for each extension.
macro_rules! tag_names {
    ($(
        $(#[$name_doc:meta])* $module:ident: $name:ident = $name_word:literal,
        $(#[$reason_doc:meta])* $reason:ident = $reason_word:literal
        $(, $(#[$field_doc:meta])* $field_reason:ident = $field_word:literal)?;
    )*) => {
        counted! {
            /// Why a given tag is not written, in the order of the tags. The words appear in reports and reject files and do not
            /// change.
            #[non_exhaustive]
            TagReason {
                /// Neither W3C Datetime nor an SQL format, or a day or time that does not exist.
                Lastmod = "tag-lastmod",
                /// A time of day without a zone, and no zone was set for such times.
                LastmodZone = "tag-lastmod-zone",
                /// A number that is probably a Unix time, but no unit or a different unit was set.
                LastmodEpoch = "tag-lastmod-epoch",
                /// A year, or a year and a month. Both schemas refuse it, although it is W3C Datetime.
                LastmodPrecision = "tag-lastmod-precision",
                /// Not one of the seven words of the protocol.
                Changefreq = "tag-changefreq",
                /// Not a decimal number from 0.0 to 1.0.
                Priority = "tag-priority",
                $($(#[$reason_doc])* $reason = $reason_word,
                $($(#[$field_doc])* $field_reason = $field_word,)?)*
            }
        }

        counted! {
            /// A tag that a row can have besides its URL, by the name of its key or column.
            TagName {
                /// A date or time.
                Lastmod = "lastmod",
                /// A word.
                Changefreq = "changefreq",
                /// A number.
                Priority = "priority",
                $($(#[$name_doc])* $name = $name_word,)*
            }
        }

        impl TagReason {
            /// The tag that is not written, or not with all its fields.
            pub(crate) const fn tag(self) -> TagName {
                match self {
                    Self::Lastmod | Self::LastmodZone | Self::LastmodEpoch | Self::LastmodPrecision => {
                        TagName::Lastmod
                    }
                    Self::Changefreq => TagName::Changefreq,
                    Self::Priority => TagName::Priority,
                    $(Self::$reason => TagName::$name,
                    $(Self::$field_reason => TagName::$name,)?)*
                }
            }

            /// Whether only a field of the tag's value is not written.
            pub const fn is_of_field(self) -> bool {
                match self {
                    $($(Self::$field_reason => true,)?)*
                    _ => false,
                }
            }
        }
    };
}
with_extensions!(tag_names);

/// A tag that cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped<'a> {
    /// Why it cannot be written.
    pub reason: TagReason,
    /// The fields of the value with their names. If there is only one field, its name is empty.
    pub fields: &'a [(&'static str, &'a [u8])],
}

impl Dropped<'_> {
    /// Its text in the reject file, not yet escaped: the value, or `hreflang=de href=…`.
    pub fn to_text(self) -> Vec<u8> {
        let texts = self.fields.iter().map(|&(name, value)| match name {
            "" => value.to_vec(),
            name => [name.as_bytes(), b"=", value].concat(),
        });
        texts.collect::<Vec<_>>().join(&b' ')
    }
}

/// Dropped tags by reason.
pub type DroppedTags = Counts<TagReason, { TagReason::ALL.len() }>;

/// Tags by name.
pub type TagCounts = Counts<TagName, { TagName::ALL.len() }>;

/// The tags in rows, whether their values are valid or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenTags {
    /// In rows whose URL is listed, and in their duplicates.
    pub of_entries: TagCounts,
    /// In rows that are rejected or blank.
    pub of_rejected: TagCounts,
}

impl std::ops::Add for GivenTags {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            of_entries: self.of_entries + other.of_entries,
            of_rejected: self.of_rejected + other.of_rejected,
        }
    }
}
