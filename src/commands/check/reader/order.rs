//! The order of the elements of an entry, and how often each occurs.

use crate::commands::check::extensions::FIELDS_MAX;
use crate::commands::check::tag::Tag;

/// The elements of the current entry so far.
#[derive(Debug, Default)]
pub(super) struct Order {
    pub seen: [bool; Tag::ALL.len()],
    pub last: Option<Tag>,
    pub is_extended: bool,
    /// Whether it has been reported that its elements are out of order.
    pub is_misplaced: bool,
    /// Whether there is an element in the `guid` of an item.
    pub has_element_in_guid: bool,
    /// How often each field of the current element of an extension occurs.
    pub fields: [u8; FIELDS_MAX],
}
