//! Column types: the types of values that can be URLs or tags.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Message, Setting, message};
use crate::intake::format::columns::RowPart;
use crate::intake::format::typed_text::{ColumnType, DECIMAL_DIGITS_MAX, MICROS, MILLIS, NANOS};

impl ColumnType {
    /// The type of `column`, which is to hold `part`. A tag may have any type.
    ///
    /// # Errors
    /// If the column is in a list, is to hold the URL and is not text, or the section and has no text. The message has its name,
    /// its type and a remedy.
    pub fn of(part: RowPart, column: &ColumnDescriptor) -> Result<Self, Message> {
        let name = crate::escape::shown(column.path().string().as_bytes());
        if column.max_rep_level() > 0 {
            let way = match part.extension() {
                Some(_) => "name the whole list, which must be a column of its own, or choose another column",
                None => "choose another",
            };
            return Err(message!("column {name} is in a list; {way} with ", Setting::Columns));
        }
        let column_type = Self::of_any(column);
        let (is_usable, choose) = match part {
            RowPart::Url => (column_type == Self::Text, Setting::Columns.with("url=NAME")),
            RowPart::Section => {
                let has_text = column_type != Self::Other || column.physical_type() == Type::BOOLEAN;
                (has_text, Setting::SectionColumn.with("NAME"))
            }
            _ => return Ok(column_type),
        };
        if is_usable || is_null(column) {
            return Ok(column_type);
        }
        let holds = type_name(column);
        Err(message!(
            "column {name} holds {holds}; expected text; export it with CAST({name} AS VARCHAR), ",
            "or choose another with ",
            choose
        ))
    }

    /// The type of `column`.
    pub fn of_any(column: &ColumnDescriptor) -> Self {
        let in_utc = |per_second| Self::Time { per_second, is_utc: true };
        let decimal = || match usize::try_from(column.type_scale()) {
            Ok(digits) if digits <= DECIMAL_DIGITS_MAX => Self::Decimal { digits },
            _ => Self::Other,
        };
        // The older form of logical types.
        let converted = column.converted_type();
        let is_decimal = converted == ConvertedType::DECIMAL;
        match (column.physical_type(), column.logical_type_ref()) {
            (Type::BYTE_ARRAY, None) if !is_decimal && converted != ConvertedType::BSON => Self::Text,
            (Type::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => {
                Self::Text
            }
            (Type::FIXED_LEN_BYTE_ARRAY, None) if converted == ConvertedType::NONE => Self::Text,
            (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) if column.type_length() == 2 => {
                Self::Float16
            }
            (Type::BOOLEAN | Type::FLOAT | Type::DOUBLE | Type::INT96, Some(LogicalType::Decimal(_))) => {
                Self::Other
            }
            (_, Some(LogicalType::Decimal(_))) => decimal(),
            (_, None) if is_decimal => decimal(),
            (Type::INT96, _) => Self::Int96,
            (Type::INT64, Some(LogicalType::Timestamp(time))) => {
                let per_second = match time.unit {
                    TimeUnit::MILLIS => MILLIS,
                    TimeUnit::MICROS => MICROS,
                    TimeUnit::NANOS => NANOS,
                };
                Self::Time { per_second, is_utc: time.is_adjusted_to_u_t_c }
            }
            (Type::INT64, None) if converted == ConvertedType::TIMESTAMP_MILLIS => in_utc(MILLIS),
            (Type::INT64, None) if converted == ConvertedType::TIMESTAMP_MICROS => in_utc(MICROS),
            (Type::INT32, Some(LogicalType::Date)) => Self::Date,
            (Type::INT32, None) if converted == ConvertedType::DATE => Self::Date,
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(integer))) if !integer.is_signed => {
                Self::Unsigned
            }
            (Type::INT32 | Type::INT64, None) if is_unsigned(converted) => Self::Unsigned,
            (Type::INT32 | Type::INT64, Some(LogicalType::Integer(_))) => Self::Whole,
            (Type::INT32 | Type::INT64, None) if !is_time_of_day(converted) => Self::Whole,
            (Type::FLOAT | Type::DOUBLE, _) => Self::Float,
            _ => Self::Other,
        }
    }
}

/// Whether all values of `column` are null, as in a column that was empty when its type was inferred.
pub fn is_null(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Unknown))
}

fn is_unsigned(converted: ConvertedType) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(converted, UINT_8 | UINT_16 | UINT_32 | UINT_64)
}

fn is_time_of_day(converted: ConvertedType) -> bool {
    matches!(converted, ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS)
}

/// The type of `column` in its schema.
fn type_name(column: &ColumnDescriptor) -> String {
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
            format!("DECIMAL({},{})", column.type_precision(), column.type_scale())
        }
        (Some(logical), _) => format!("{logical:?}"),
        (None, ConvertedType::NONE) => column.physical_type().to_string(),
        (None, converted) => converted.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::SchemaDescriptor;

    use super::*;
    use crate::sitemap::tags::TagName;

    #[test]
    fn a_section_has_a_text_and_a_tag_may_have_any_type() {
        let of = |part, column: &str| {
            let schema = parse_message_type(&format!("message m {{ required {column}; }}")).unwrap();
            ColumnType::of(part, &SchemaDescriptor::new(Arc::new(schema)).column(0))
        };
        for (column, holds) in [
            ("int64 kind (TIME(MICROS,true))", "Time"),
            ("fixed_len_byte_array(16) kind (UUID)", "Uuid"),
            ("binary kind (BSON)", "Bson"),
        ] {
            let why = of(RowPart::Section, column).unwrap_err().to_string();
            assert!(why.starts_with(&format!("column kind holds {holds}")), "{why}");
            assert!(why.ends_with("choose another with `section_column: NAME`"), "{why}");
            assert!(of(RowPart::Tag(TagName::Lastmod), column).is_ok());
        }
        for column in [
            "binary kind (STRING)",
            "boolean kind",
            "int32 kind",
            "int64 kind (DECIMAL(9,2))",
            "int32 kind (DATE)",
            "int64 kind (UNKNOWN)",
        ] {
            assert!(of(RowPart::Section, column).is_ok(), "{column}");
        }
    }
}
