//! What an extension consists of.

use crate::clean::{CleanUrl, Cleaned, Cleaner};
use crate::sitemap::tag_names::{TagName, TagReason};

/// Most fields of a value.
pub const FIELDS_MAX: usize = 2;

/// The fields of a value in the order of [`Extension::FIELDS`]; the rest is empty.
pub type Fields<'a> = [&'a [u8]; FIELDS_MAX];

/// An extension of the protocol: elements in a namespace of their own. A URL can have several values, and each becomes an
/// element.
pub trait Extension {
    /// Its line in the table.
    const NAME: TagName;
    /// Why a value is dropped.
    const DROPPED: TagReason;
    /// The names of the fields of a value; a single field needs none.
    const FIELDS: &'static [&'static str];
    /// Most values of one URL. Further ones are dropped.
    const VALUES_MAX: u64;
    /// The declaration of its namespace in the root element, after a space.
    const DECLARATION: &'static str;
    /// What every element begins with. Nothing else in an entry contains it.
    const START: &'static [u8];

    /// Appends the element of a value. False if it cannot be written, and then nothing is appended.
    fn push(fields: Fields<'_>, cleaner: &mut Cleaner, out: &mut Vec<u8>) -> bool;
}

/// The canonical form of a URL in a field; none if it is no URL.
pub fn clean<'a>(cleaner: &'a mut Cleaner, raw: &'a [u8]) -> Option<CleanUrl<'a>> {
    match cleaner.clean(raw) {
        Cleaned::Url(url) => Some(url),
        Cleaned::Blank | Cleaned::Rejected(_) => None,
    }
}
