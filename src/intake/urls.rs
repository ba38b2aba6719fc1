//! URLs from code that are read in place, without a copy.

use std::fmt::Debug;
use std::ops::Range;

use super::lines::Line;
use super::spool_format::{Content, InputRow};
use crate::clean::Reason;

/// Consecutive rows that consist only of a URL.
pub trait UrlRows: Debug + Send + Sync {
    /// The number of rows.
    fn rows(&self) -> usize;

    /// Bytes of memory that the rows keep allocated.
    fn held_bytes(&self) -> usize;

    /// The total number of bytes of the URLs.
    fn bytes(&self) -> usize;

    /// The URL of each row, not yet clean. It is empty if there is none.
    fn urls(&self) -> Vec<&[u8]>;

    /// Whether a row without a URL is blank. Otherwise it may have values that are not read.
    fn has_blanks(&self) -> bool;
}

/// The first rows of a source, up to the last one that is held in memory.
#[derive(Debug, Default)]
pub struct HeldUrls {
    /// The units, each with the number of rows before it.
    units: Vec<(u64, Box<dyn UrlRows>)>,
    rows: u64,
    held_bytes: usize,
}

impl HeldUrls {
    /// Adds the next rows.
    pub fn push(&mut self, urls: Box<dyn UrlRows>) {
        let rows_before = self.rows;
        self.rows += urls.rows() as u64;
        self.held_bytes += urls.held_bytes();
        self.units.push((rows_before, urls));
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of memory that the rows hold.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Groups the units into chunks. Each item has the range of units and the bytes of their URLs. A chunk has more than
    /// `rows_max` rows only if it is a single unit.
    pub fn chunks(&self, rows_max: usize) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
        let mut start = 0;
        std::iter::from_fn(move || {
            let (mut end, mut rows, mut bytes) = (start, 0, 0);
            while let Some((_, unit)) = self.units.get(end)
                && (end == start || rows + unit.rows() <= rows_max)
            {
                (end, rows, bytes) = (end + 1, rows + unit.rows(), bytes + unit.bytes());
            }
            let units = std::mem::replace(&mut start, end)..end;
            (!units.is_empty()).then_some((units, bytes))
        })
    }

    /// The URLs of `units`.
    pub fn urls(&self, units: &Range<usize>) -> Vec<&[u8]> {
        match &self.units[units.clone()] {
            [(_, unit)] => unit.urls(),
            units => units.iter().flat_map(|(_, unit)| unit.urls()).collect(),
        }
    }

    /// The rows of `units`. Their offset is the number of rows before them.
    pub fn read<'u>(&'u self, units: &Range<usize>) -> impl Iterator<Item = InputRow<'u>> + use<'u> {
        self.units[units.clone()].iter().flat_map(|(rows_before, unit)| {
            let has_blanks = unit.has_blanks();
            (*rows_before..).zip(unit.urls()).map(move |(offset, raw)| {
                let row = InputRow::of_line(offset + 1, Line { offset, raw });
                match has_blanks || !raw.trim_ascii().is_empty() {
                    true => row,
                    false => InputRow { content: Content::Bad(b"", Reason::NoUrl), ..row },
                }
            })
        })
    }
}
