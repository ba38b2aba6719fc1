//! Strings and binary data of Arrow, in any layout.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_schema::DataType;

use super::encoded::encoded;

/// Strings or binary data. Strings are read as bytes, because nothing has checked that they are UTF-8.
#[derive(Debug)]
pub enum Texts {
    Short(BinaryArray),
    Long(LargeBinaryArray),
    View(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    /// The index of each row's value, if it has one.
    Encoded(Vec<Option<usize>>, Box<Texts>),
}

impl Texts {
    /// The values of `array`, whose type must be one that [`Kind::Text`](super::kind::Kind::Text) covers.
    pub fn of(array: &ArrayRef) -> Self {
        match array.data_type() {
            DataType::Utf8 => Self::Short(array.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Self::Long(array.as_string::<i64>().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Self::Short(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Long(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            other => match encoded(array) {
                Some((keys, values)) => Self::Encoded(keys, Box::new(Self::of(values))),
                None => unreachable!("{other} is not text"),
            },
        }
    }

    /// Calls `act` with the value of each row in order. Null is an empty value.
    pub fn for_each<'t>(&'t self, mut act: impl FnMut(&'t [u8])) {
        // One loop per layout, so that there is no branch on the layout for every row.
        match self {
            Self::Short(array) => array.iter().for_each(|value| act(value.unwrap_or_default())),
            Self::Long(array) => array.iter().for_each(|value| act(value.unwrap_or_default())),
            Self::View(array) => array.iter().for_each(|value| act(value.unwrap_or_default())),
            Self::Fixed(array) => array.iter().for_each(|value| act(value.unwrap_or_default())),
            Self::Encoded(keys, values) => {
                keys.iter().for_each(|key| act(key.and_then(|key| values.value(key)).unwrap_or_default()));
            }
        }
    }

    /// The value of the row `at`; `None` for null.
    #[inline]
    pub fn value(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Short(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Long(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Fixed(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Encoded(keys, values) => values.value(keys[at]?),
        }
    }
}
