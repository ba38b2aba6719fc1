//! Rows that consist only of a URL, read in place from a record batch.

use arrow_array::ArrayRef;

use super::texts::Texts;
use crate::intake::format::row::kept;
use crate::intake::urls::UrlRows;

/// Maximum bytes of a row in memory besides its values: its offset and its null flag.
const ROW_BYTES: usize = 17;

/// The URLs of a unit.
#[derive(Debug)]
pub struct Urls {
    texts: Texts,
    rows: usize,
    bytes: usize,
    /// Bytes of the columns that are not read. They stay in memory together with the URLs.
    other_bytes: usize,
    has_other_columns: bool,
}

impl Urls {
    /// The URLs in the text column `column`. Other columns of the batch take `other_bytes`.
    pub fn of(column: &ArrayRef, has_other_columns: bool, other_bytes: usize) -> Self {
        let (texts, mut bytes) = (Texts::of(column), 0);
        texts.for_each(|value| bytes += value.len());
        Self { texts, rows: column.len(), bytes, other_bytes, has_other_columns }
    }
}

impl UrlRows for Urls {
    fn rows(&self) -> usize {
        self.rows
    }

    fn held_bytes(&self) -> usize {
        self.rows * ROW_BYTES + self.bytes + self.other_bytes
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn urls(&self) -> Vec<&[u8]> {
        let mut urls = Vec::with_capacity(self.rows);
        self.texts.for_each(|value| urls.push(kept(value)));
        urls
    }

    fn has_blanks(&self) -> bool {
        !self.has_other_columns
    }
}
