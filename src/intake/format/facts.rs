//! Facts: the properties of an input that reports show.

use super::found::{ColumnsFound, NameCounts, UnitFacts};
use super::packing::Packing;
use super::table::Format;
use crate::error::Message;

/// The properties of an input, known once it is opened or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its format; `None` for rows from code.
    pub format: Option<Format>,
    /// How it is packed.
    pub packing: Packing,
    /// Its columns, if it is a table.
    pub columns: Option<ColumnsFound>,
    /// How to read it as a table, if it is text whose first lines look like rows.
    pub likely_options: Option<Message>,
    /// Whether its first URLs have `&amp;` instead of each `&`, and it is neither XML nor binary.
    pub has_entities: bool,
    /// Elements of a sitemap that are not carried over to records.
    pub dropped_elements: NameCounts,
    /// Whether a bad row of CSV has a quote after a backslash.
    pub has_escaped_quotes: bool,
}

impl Facts {
    /// Takes the facts of all units.
    pub fn take(&mut self, UnitFacts { keys, dropped_elements, has_escaped_quotes, .. }: UnitFacts) {
        self.columns = self.columns.take().or(keys);
        self.dropped_elements = dropped_elements;
        self.has_escaped_quotes = has_escaped_quotes;
    }
}
