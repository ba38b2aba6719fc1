//! Typed values as text: times, dates, numbers and decimals of columns that have types.

use std::fmt::Display;
use std::io::Write;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use crate::sitemap::tags::civil_text;

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "record batches have texts of their own")
    )]
    Text,
    /// Units since 1970, with `per_second` of them in a second.
    Time {
        per_second: i64,
        is_utc: bool,
    },
    /// Days since 1970.
    Date,
    /// Days and nanoseconds, in a physical type of their own.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has it"))]
    Int96,
    /// Signed integers.
    Whole,
    /// Unsigned integers.
    Unsigned,
    Float,
    /// Floating point numbers of two bytes.
    Float16,
    /// Integers with `digits` digits after the point.
    Decimal {
        digits: usize,
    },
    /// No tag can hold it. Its values become texts that no tag accepts, so that they are dropped and counted.
    Other,
}

/// Units of time in a second.
pub const MILLIS: i64 = 1_000;
pub const MICROS: i64 = 1_000_000;
pub const NANOS: i64 = 1_000_000_000;

/// Maximum number of digits after the point: BigQuery's BIGNUMERIC has 38, and no database has more than 76.
pub const DECIMAL_DIGITS_MAX: usize = 76;

/// Writes an integer of this type.
pub fn push_number(value: i64, column_type: ColumnType, out: &mut Vec<u8>) {
    const DAY_SECONDS: i64 = 86_400;
    match column_type {
        ColumnType::Time { per_second, is_utc } => push_time(value.div_euclid(per_second), is_utc, out),
        ColumnType::Date => match civil(value.saturating_mul(DAY_SECONDS)) {
            Some(time) => push(out, format_args!("{}", time.date())),
            None => push(out, format_args!("day {value}")),
        },
        ColumnType::Decimal { digits } => push_decimal(value.into(), digits, out),
        ColumnType::Unsigned => push(out, format_args!("{}", value.cast_unsigned())),
        ColumnType::Other => push(out, format_args!("#{value}")),
        _ => push(out, format_args!("{value}")),
    }
}

/// Writes a decimal as databases do: `0.50` with two digits after the point. If it has more digits than a tag may have, zeros at
/// the end are left out.
pub fn push_decimal(value: i128, digits: usize, out: &mut Vec<u8>) {
    const DIGITS_KEPT: usize = 18;
    let text = format!("{:0width$}", value.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = text.split_at(text.len() - digits);
    let least = fraction.trim_end_matches('0').len().max(DIGITS_KEPT);
    let fraction = &fraction[..least.min(digits)];
    let (sign, point) = (if value < 0 { "-" } else { "" }, if digits > 0 { "." } else { "" });
    push(out, format_args!("{sign}{whole}{point}{fraction}"));
}

/// Writes a floating point number in the fewest digits that identify it, without an exponent. Writes nothing for NaN, which data
/// frames use for missing values.
pub fn push_float(value: impl Into<f64> + Display + Copy, out: &mut Vec<u8>) {
    if !value.into().is_nan() {
        push(out, format_args!("{value}"));
    }
}

/// Writes a floating point number of two bytes (IEEE 754 binary16) like [`push_float`].
pub fn push_half(bits: u16, out: &mut Vec<u8>) {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF));
    let sign = if bits >> 15 == 1 { "-" } else { "" };
    // The distance to the next number. That to the one before is half as long if the exponent changes there.
    let step = 2_f64.powi(exponent.max(1) - 25);
    let step_down = if fraction == 0.0 && exponent > 1 { step / 2.0 } else { step };
    let value = if exponent == 0 { fraction * step } else { (1024.0 + fraction) * step };
    match (exponent, fraction) {
        (0x1F, 0.0) => return push(out, format_args!("{sign}inf")),
        (0x1F, _) => return,
        _ => {}
    }
    let is_it = |text: &String| {
        let off = text.parse::<f64>().unwrap_or(f64::NAN) - value;
        -step_down / 2.0 < off && off < step / 2.0
    };
    let text = (0..=24).map(|places| format!("{value:.places$}")).find(is_it).unwrap_or_default();
    push(out, format_args!("{sign}{text}"));
}

/// Writes a time as W3C Datetime, with `Z` if it is an instant. A time beyond the calendar becomes a text that is refused.
pub fn push_time(seconds: i64, is_utc: bool, out: &mut Vec<u8>) {
    match civil(seconds) {
        Some(local) if local.year() >= 0 => {
            out.extend(civil_text(local));
            out.extend(is_utc.then_some(b'Z'));
        }
        _ => push(out, format_args!("second {seconds}")),
    }
}

/// The time so many seconds after 1970; `None` if it is beyond the calendar, which ends with the year 9999. A [`Timestamp`] ends
/// almost 26 hours before that, so that it has a time in any zone. Databases often store the last day, so it is that of the zone
/// that is furthest ahead.
fn civil(seconds: i64) -> Option<DateTime> {
    let zone = Offset::MAX;
    let time = Timestamp::from_second(seconds.saturating_sub(zone.seconds().into())).ok()?;
    Some(zone.to_datetime(time))
}

/// Writes formatted text.
pub fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a Vec takes all that is written to it");
}

/// Writes a JSON string. A byte that is not UTF-8 becomes the escape of an unpaired surrogate, from which [`shapes`](super::shapes)
/// gets it back: it may belong to a URL, in which it is percent-encoded, but not to another text.
pub fn push_json_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        let valid = serde_json::to_string(chunk.valid()).expect("a string is JSON");
        out.extend_from_slice(&valid.as_bytes()[1..valid.len() - 1]);
        chunk.invalid().iter().for_each(|byte| push(out, format_args!("\\udc{byte:02x}")));
    }
    out.push(b'"');
}

/// Writes the name of a member of a JSON object. Bytes that are not UTF-8 belong to no known name, and are replaced.
pub fn push_json_name(name: &[u8], out: &mut Vec<u8>) {
    push_json_string(String::from_utf8_lossy(name).as_bytes(), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_two_bytes_has_the_fewest_digits_that_identify_it() {
        let text = |bits| {
            let mut out = Vec::new();
            push_half(bits, &mut out);
            String::from_utf8(out).unwrap()
        };
        for (bits, want) in [
            (0x2E66, "0.1"),
            (0x34CD, "0.3"),
            (0x3555, "0.3333"),
            (0x399A, "0.7"),
            (0x3C00, "1"),
            (0x0001, "0.00000006"),
            (0x8000, "-0"),
            (0x7BFF, "65504"),
            (0x7C00, "inf"),
            (0x7E00, ""),
        ] {
            assert_eq!(text(bits), want, "{bits:#x}");
        }
        // From 0 to 2, the numbers are in the order of their bits, and so are their texts.
        let values: Vec<f64> = (0..=0x4000).map(|bits| text(bits).parse().unwrap()).collect();
        assert!(values.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn the_calendar_has_all_its_days() {
        let text = |column_type, value| {
            let mut out = Vec::new();
            push_number(value, column_type, &mut out);
            String::from_utf8(out).unwrap()
        };
        let day = |value| text(ColumnType::Date, value);
        let second = |value| text(ColumnType::Time { per_second: 1, is_utc: true }, value);
        const LAST_DAY: i64 = 2_932_896;
        const LAST_SECOND: i64 = (LAST_DAY + 1) * 86_400 - 1;
        assert_eq!(day(0), "1970-01-01");
        assert_eq!(day(-719_528), "0000-01-01");
        assert_eq!(day(LAST_DAY), "9999-12-31");
        assert_eq!(second(LAST_SECOND), "9999-12-31T23:59:59Z");
        assert_eq!(second(-62_167_219_200), "0000-01-01T00:00:00Z");
        // Beyond it, no tag accepts the text.
        assert_eq!(day(LAST_DAY + 1), format!("day {}", LAST_DAY + 1));
        assert_eq!(day(i64::MIN), format!("day {}", i64::MIN));
        assert_eq!(second(LAST_SECOND + 1), format!("second {}", LAST_SECOND + 1));
        assert_eq!(second(i64::MAX), format!("second {}", i64::MAX));
        for number in (-719_528..LAST_DAY - 1).step_by(977) {
            let time = Timestamp::from_second(number * 86_400).unwrap();
            assert_eq!(day(number), Offset::UTC.to_datetime(time).date().to_string());
        }
    }
}
