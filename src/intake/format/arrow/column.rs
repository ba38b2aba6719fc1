//! Columns of Arrow, with their values as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray};
use arrow_schema::{DataType, Field, TimeUnit};

use super::nested;
use crate::error::{Message, Setting, message};
use crate::intake::format::columns::RowPart;
use crate::intake::format::typed_text::{
    ColumnType, DECIMAL_DIGITS_MAX, MICROS, MILLIS, NANOS, push, push_decimal, push_number,
};

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All values are null.
    Null,
    /// As bytes: strings and binary data, of any layout.
    Text,
    /// As text of a type.
    Typed(ColumnType),
    /// As JSON: lists, structs and maps.
    Nested,
}

impl Kind {
    /// How `field` is read, which is to hold `part`. A tag may have any type.
    ///
    /// # Errors
    /// If it is to hold the URL and is not text. The message has its name, its type and the way out.
    pub fn of(part: RowPart, field: &Field) -> Result<Self, Message> {
        match Self::of_any(field.data_type()) {
            kind if part != RowPart::Url || matches!(kind, Self::Text | Self::Null) => Ok(kind),
            _ => {
                let name = crate::escape::shown(field.name().as_bytes());
                let holds = crate::escape::shown(field.data_type().to_string().as_bytes());
                Err(message!(
                    "column {name} holds {holds}; expected text; cast it to a string, or name another with ",
                    Setting::Columns.with("url=NAME")
                ))
            }
        }
    }

    /// Whether it can hold the values of an extension.
    pub fn holds_extension(&self) -> bool {
        matches!(self, Self::Text | Self::Nested | Self::Null)
    }

    fn of_any(data_type: &DataType) -> Self {
        let decimal = |scale: i8| match usize::try_from(scale) {
            Ok(digits) if digits <= DECIMAL_DIGITS_MAX => ColumnType::Decimal { digits },
            _ => ColumnType::Other,
        };
        Self::Typed(match data_type {
            DataType::Null => return Self::Null,
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => return Self::Text,
            DataType::Dictionary(_, values) if Self::of_any(values) == Self::Text => return Self::Text,
            DataType::List(_)
            | DataType::LargeList(_)
            | DataType::ListView(_)
            | DataType::LargeListView(_)
            | DataType::FixedSizeList(..)
            | DataType::Struct(_)
            | DataType::Map(..) => return Self::Nested,
            DataType::Timestamp(unit, zone) => {
                let per_second = match unit {
                    TimeUnit::Second => 1,
                    TimeUnit::Millisecond => MILLIS,
                    TimeUnit::Microsecond => MICROS,
                    TimeUnit::Nanosecond => NANOS,
                };
                ColumnType::Time { per_second, is_utc: zone.is_some() }
            }
            DataType::Date32 | DataType::Date64 => ColumnType::Date,
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => ColumnType::Whole,
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => ColumnType::Unsigned,
            DataType::Float16 => ColumnType::Float16,
            DataType::Float32 | DataType::Float64 => ColumnType::Float,
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale) => decimal(*scale),
            _ => ColumnType::Other,
        })
    }
}

/// The values of a column in a unit.
pub enum Column {
    Null,
    Text(Texts),
    Typed(ColumnType, ArrayRef),
    Nested(ArrayRef),
}

/// Strings or binary data. Strings are read as bytes, because nothing has checked that they are UTF-8.
pub enum Texts {
    Short(BinaryArray),
    Long(LargeBinaryArray),
    View(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
    /// For each row the index of its value, if it has one.
    Dictionary(Vec<Option<usize>>, Box<Texts>),
}

impl Column {
    /// The column `array`, read as `kind` says.
    pub fn new(kind: Kind, array: &ArrayRef) -> Self {
        match kind {
            Kind::Null => Self::Null,
            Kind::Text => Self::Text(Texts::of(array)),
            Kind::Typed(column_type) => Self::Typed(column_type, array.clone()),
            Kind::Nested => Self::Nested(array.clone()),
        }
    }

    /// The value of the row `at`; empty for null. A value that is not text is written to `text`.
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
                nested::push_json(array, at, text);
                text
            }
        }
    }
}

impl Texts {
    /// The values of `array`, which is of a type that [`Kind::Text`] reads.
    pub fn of(array: &ArrayRef) -> Self {
        match array.data_type() {
            DataType::Utf8 => Self::Short(array.as_string::<i32>().clone().into()),
            DataType::LargeUtf8 => Self::Long(array.as_string::<i64>().clone().into()),
            DataType::Utf8View => Self::View(array.as_string_view().clone().to_binary_view()),
            DataType::Binary => Self::Short(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Long(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            DataType::FixedSizeBinary(_) => Self::Fixed(array.as_fixed_size_binary().clone()),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let nulls = dictionary.keys().nulls();
                let keys = match dictionary.values().is_empty() {
                    // All keys are null then.
                    true => vec![0; array.len()],
                    false => dictionary.normalized_keys(),
                };
                let key = |(at, key)| nulls.is_none_or(|nulls| nulls.is_valid(at)).then_some(key);
                Self::Dictionary(
                    keys.into_iter().enumerate().map(key).collect(),
                    Box::new(Self::of(dictionary.values())),
                )
            }
            other => unreachable!("{other} is not text"),
        }
    }

    /// The value of the row `at`; none for null.
    #[inline]
    pub fn value(&self, at: usize) -> Option<&[u8]> {
        match self {
            Self::Short(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Long(array) => array.is_valid(at).then(|| array.value(at)),
            Self::View(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Fixed(array) => array.is_valid(at).then(|| array.value(at)),
            Self::Dictionary(keys, values) => values.value(keys[at]?),
        }
    }
}

/// Writes the value of the row `at`, which is not null.
fn push_typed(column_type: ColumnType, array: &ArrayRef, at: usize, out: &mut Vec<u8>) {
    const DAY_MILLIS: i64 = 86_400_000;
    fn value<T: ArrowPrimitiveType>(array: &ArrayRef, at: usize) -> T::Native {
        array.as_primitive::<T>().value(at)
    }
    let mut whole = |number: i64| push_number(number, column_type, out);
    match array.data_type() {
        DataType::Int8 => whole(value::<Int8Type>(array, at).into()),
        DataType::Int16 => whole(value::<Int16Type>(array, at).into()),
        DataType::Int32 => whole(value::<Int32Type>(array, at).into()),
        DataType::Int64 => whole(value::<Int64Type>(array, at)),
        DataType::UInt8 => whole(value::<UInt8Type>(array, at).into()),
        DataType::UInt16 => whole(value::<UInt16Type>(array, at).into()),
        DataType::UInt32 => whole(value::<UInt32Type>(array, at).into()),
        DataType::UInt64 => whole(value::<UInt64Type>(array, at).cast_signed()),
        DataType::Date32 => whole(value::<Date32Type>(array, at).into()),
        DataType::Date64 => whole(value::<Date64Type>(array, at).div_euclid(DAY_MILLIS)),
        DataType::Timestamp(TimeUnit::Second, _) => whole(value::<TimestampSecondType>(array, at)),
        DataType::Timestamp(TimeUnit::Millisecond, _) => whole(value::<TimestampMillisecondType>(array, at)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => whole(value::<TimestampMicrosecondType>(array, at)),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => whole(value::<TimestampNanosecondType>(array, at)),
        // The shortest text for this number, without an exponent.
        DataType::Float16 => push(out, format_args!("{}", value::<Float16Type>(array, at))),
        DataType::Float32 => push(out, format_args!("{}", value::<Float32Type>(array, at))),
        DataType::Float64 => push(out, format_args!("{}", value::<Float64Type>(array, at))),
        DataType::Boolean => push(out, format_args!("{}", array.as_boolean().value(at))),
        data_type => match (column_type, decimal(array, at)) {
            (ColumnType::Decimal { digits }, Some(number)) => push_decimal(number, digits, out),
            _ => push(out, format_args!("a value of type {data_type}")),
        },
    }
}

/// The digits of a decimal; none if it needs more than 16 bytes, or is none.
fn decimal(array: &ArrayRef, at: usize) -> Option<i128> {
    match array.data_type() {
        DataType::Decimal32(..) => Some(array.as_primitive::<Decimal32Type>().value(at).into()),
        DataType::Decimal64(..) => Some(array.as_primitive::<Decimal64Type>().value(at).into()),
        DataType::Decimal128(..) => Some(array.as_primitive::<Decimal128Type>().value(at)),
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value(at).to_i128(),
        _ => None,
    }
}
