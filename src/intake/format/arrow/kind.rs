//! How the values of an Arrow type are read.

use arrow_schema::{DataType, Field, TimeUnit};

use crate::error::{Message, Setting, message};
use crate::intake::format::columns::RowPart;
use crate::intake::format::typed_text::{ColumnType, DECIMAL_DIGITS_MAX, MICROS, MILLIS, NANOS};

/// How the values of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All values are null.
    Null,
    /// As bytes: strings and binary data, in any layout.
    Text,
    /// As text converted from a value of this type.
    Typed(ColumnType),
    /// As JSON: lists, structs and maps.
    Nested,
}

impl Kind {
    /// How the column `field` is read if it contains `part`. A tag may have any type.
    ///
    /// # Errors
    /// If the column should contain the URL but is not text, or the section but has no short text. The message has its name, its
    /// type and a remedy.
    pub fn of(part: RowPart, field: &Field) -> Result<Self, Message> {
        let kind = Self::of_any(field.data_type());
        let (is_usable, choose) = match part {
            RowPart::Url => (matches!(kind, Self::Text | Self::Null), Setting::Columns.with("url=NAME")),
            RowPart::Section => {
                let is_truth = *values_of(field.data_type()) == DataType::Boolean;
                let has_text = !matches!(kind, Self::Nested | Self::Typed(ColumnType::Other));
                (has_text || is_truth, Setting::SectionColumn.with("NAME"))
            }
            _ => return Ok(kind),
        };
        if is_usable {
            return Ok(kind);
        }
        let name = crate::escape::shown(field.name().as_bytes());
        let holds = crate::escape::shown(field.data_type().to_string().as_bytes());
        Err(message!(
            "column {name} holds {holds}; expected text; cast it to a string, or choose another with ",
            choose
        ))
    }

    /// Whether the column can contain values of an extension.
    pub fn holds_extension(&self) -> bool {
        matches!(self, Self::Text | Self::Nested | Self::Null)
    }

    /// How values of this type are read.
    pub fn of_any(data_type: &DataType) -> Self {
        let decimal = |scale: i8| match usize::try_from(scale) {
            Ok(digits) if digits <= DECIMAL_DIGITS_MAX => ColumnType::Decimal { digits },
            _ => ColumnType::Other,
        };
        Self::Typed(match values_of(data_type) {
            DataType::Null => return Self::Null,
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => return Self::Text,
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

/// The type of the values, which may be in a dictionary or in runs.
fn values_of(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values_of(values),
        DataType::RunEndEncoded(_, values) => values_of(values.data_type()),
        data_type => data_type,
    }
}
