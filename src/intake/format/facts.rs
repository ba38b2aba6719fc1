//! Facts: what an input turned out to be.

use super::found::{ColumnsFound, NameCounts, UnitFacts};
use super::packing::Packing;
use super::table::Format;

/// What an input turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Its format; none for rows from code.
    pub format: Option<Format>,
    /// How it is packed.
    pub packing: Packing,
    /// Its columns, if it is a table.
    pub columns: Option<ColumnsFound>,
    /// Elements of a sitemap that no record has.
    pub dropped_elements: NameCounts,
}

impl Facts {
    /// Takes what was found in all units.
    pub fn take(&mut self, UnitFacts { keys, dropped_elements, .. }: UnitFacts) {
        self.columns = self.columns.take().or(keys);
        self.dropped_elements = dropped_elements;
    }
}
