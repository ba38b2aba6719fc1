//! Columns of Arrow, with their values as text.

use arrow_array::{Array, ArrayRef};

use super::encoded::encoded;
use super::kind::Kind;
use super::nested::push_json;
use super::texts::Texts;
use super::typed::push_typed;
use crate::intake::format::typed_text::ColumnType;

/// The values of a column in a unit.
pub enum Column {
    Null,
    Text(Texts),
    Typed(ColumnType, ArrayRef),
    Nested(ArrayRef),
    /// The index of each row's value, if it has one.
    Encoded(Vec<Option<usize>>, Box<Column>),
}

impl Column {
    /// Creates a reader for the column `array`, whose values are read as `kind`.
    pub fn new(kind: Kind, array: &ArrayRef) -> Self {
        if kind != Kind::Text
            && let Some((keys, values)) = encoded(array)
        {
            return Self::Encoded(keys, Box::new(Self::new(kind, values)));
        }
        match kind {
            Kind::Null => Self::Null,
            Kind::Text => Self::Text(Texts::of(array)),
            Kind::Typed(column_type) => Self::Typed(column_type, array.clone()),
            Kind::Nested => Self::Nested(array.clone()),
        }
    }

    /// Returns the value of the row `at`; empty for null. A value that is not text is converted into `text`.
    #[inline]
    pub fn value<'v>(&'v self, at: usize, text: &'v mut Vec<u8>) -> &'v [u8] {
        match self {
            Self::Null => &[],
            Self::Text(texts) => texts.value(at).unwrap_or_default(),
            Self::Typed(_, array) | Self::Nested(array) if array.is_null(at) => &[],
            Self::Typed(column_type, array) => {
                text.clear();
                push_typed(*column_type, array, at, text);
                text
            }
            Self::Nested(array) => {
                text.clear();
                push_json(array, at, text);
                text
            }
            Self::Encoded(keys, values) => keys[at].map_or(&[], |key| values.value(key, text)),
        }
    }
}
