//! Numbers, times and decimals of Arrow as text.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};

use crate::intake::format::typed_text::{ColumnType, push, push_decimal, push_float, push_half, push_number};

/// Writes the value of the row `at`, which is not null.
pub fn push_typed(column_type: ColumnType, array: &ArrayRef, at: usize, out: &mut Vec<u8>) {
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
        DataType::Float16 => push_half(value::<Float16Type>(array, at).to_bits(), out),
        DataType::Float32 => push_float(value::<Float32Type>(array, at), out),
        DataType::Float64 => push_float(value::<Float64Type>(array, at), out),
        DataType::Boolean => push(out, format_args!("{}", array.as_boolean().value(at))),
        data_type => match (column_type, decimal(array, at)) {
            (ColumnType::Decimal { digits }, Some(number)) => push_decimal(number, digits, out),
            _ => push(out, format_args!("a value of type {data_type}")),
        },
    }
}

/// The digits of a decimal; `None` if they do not fit into 16 bytes or the column has another type.
fn decimal(array: &ArrayRef, at: usize) -> Option<i128> {
    match array.data_type() {
        DataType::Decimal32(..) => Some(array.as_primitive::<Decimal32Type>().value(at).into()),
        DataType::Decimal64(..) => Some(array.as_primitive::<Decimal64Type>().value(at).into()),
        DataType::Decimal128(..) => Some(array.as_primitive::<Decimal128Type>().value(at)),
        DataType::Decimal256(..) => array.as_primitive::<Decimal256Type>().value(at).to_i128(),
        _ => None,
    }
}
