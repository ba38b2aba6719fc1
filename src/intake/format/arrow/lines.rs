//! Rows of a URL alone, copied as lines.

use arrow_array::{Array, ArrayRef};

use super::texts::Texts;
use crate::intake::format::reader::AsLines;
use crate::intake::format::row::VALUE_BYTES_KEPT;

/// The URLs of a unit.
pub struct UrlLines {
    urls: ArrayRef,
    /// Whether a row without a URL may have other values, so that it is no blank line.
    has_other_columns: bool,
}

impl UrlLines {
    /// The lines of `urls`, a column of text.
    pub fn of(urls: &ArrayRef, has_other_columns: bool) -> Self {
        Self { urls: urls.clone(), has_other_columns }
    }
}

/// The part of a value that a row would have.
fn kept(value: &[u8]) -> &[u8] {
    &value[..value.len().min(VALUE_BYTES_KEPT)]
}

impl AsLines for UrlLines {
    fn rows(&self) -> usize {
        self.urls.len()
    }

    fn bytes(&self) -> usize {
        let mut bytes = self.urls.len();
        Texts::of(&self.urls).for_each(|value| bytes += kept(value).len());
        bytes
    }

    fn copy(&self, mut lines: &mut [u8]) -> bool {
        let mut has_blank = false;
        Texts::of(&self.urls).for_each(|value| {
            let value = kept(value);
            has_blank |= value.trim_ascii().is_empty();
            let (line, rest) = std::mem::take(&mut lines).split_at_mut(value.len() + 1);
            let (end, line) = line.split_last_mut().expect("a line has a line feed");
            line.copy_from_slice(value);
            *end = b'\n';
            lines = rest;
        });
        !(has_blank && self.has_other_columns)
    }
}
