//! The grammars of `lastmod`, `changefreq` and `priority`.

use crate::limits::Protocol;

/// A phrase that says what is wrong with a value.
pub(crate) type Wrong = &'static str;

/// Longest `lastmod` of protocol 0.84, in characters: `maxLength` in its schema.
const LASTMOD_BYTES_MAX_V0_84: usize = 25;

/// The values of `changefreq`: sitemaps.org and the text of 0.84, "changefreq".
const CHANGEFREQ: [&str; 7] = ["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"];

/// Checks `value` against W3C Datetime and the schema of `protocol`. Together they allow a date, or a date and a time with a
/// zone. The time must have seconds in 0.9. In 0.84 seconds are optional, and the value has at most 25 characters.
pub(crate) fn check_lastmod(value: &[u8], protocol: Protocol) -> Result<(), Wrong> {
    // Schema 0.9 ignores white space around xs:date and xs:dateTime. In 0.84 the type is xs:string, which keeps it.
    let value = if protocol == Protocol::V0_9 { value.trim_ascii() } else { value };
    match value.len() {
        0 => return Err("it is empty"),
        4 | 7 if value[0].is_ascii_digit() => return Err("a year or month alone, without a day"),
        _ => {}
    }
    let mut rest = value;
    let year = number(&mut rest, 4)?;
    sign(&mut rest, b'-')?;
    let month = number(&mut rest, 2)?;
    sign(&mut rest, b'-')?;
    let day = number(&mut rest, 2)?;
    if year == 0 || !(1..=12).contains(&month) || !(1..=days(year, month)).contains(&day) {
        return Err("not a day of the calendar");
    }
    if rest.is_empty() {
        return Ok(());
    }
    sign(&mut rest, b'T')?;
    let hour = number(&mut rest, 2)?;
    sign(&mut rest, b':')?;
    let minute = number(&mut rest, 2)?;
    let second = match rest {
        [b':', ..] => {
            sign(&mut rest, b':')?;
            number(&mut rest, 2)?
        }
        _ if protocol == Protocol::V0_9 => return Err("no seconds, which the 0.9 schema requires"),
        _ => 0,
    };
    if hour > 23 || minute > 59 || second > 59 {
        return Err("not a time of day");
    }
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err("no digit after the point");
        }
        rest = &fraction[digits..];
    }
    check_zone(rest)?;
    if protocol == Protocol::V0_84 && value.len() > LASTMOD_BYTES_MAX_V0_84 {
        return Err("longer than 25 characters, which the 0.84 schema refuses");
    }
    Ok(())
}

fn check_zone(mut rest: &[u8]) -> Result<(), Wrong> {
    match rest {
        [] => Err("no time zone, which W3C Datetime requires"),
        b"Z" => Ok(()),
        [b'+' | b'-', ..] => {
            rest = &rest[1..];
            let hours = number(&mut rest, 2)?;
            sign(&mut rest, b':')?;
            let minutes = number(&mut rest, 2)?;
            // XML Schema 2, 3.2.7.3.
            match hours * 60 + minutes <= 14 * 60 && minutes <= 59 && rest.is_empty() {
                true => Ok(()),
                false => Err("not a valid time zone"),
            }
        }
        _ => Err("not a W3C Datetime"),
    }
}

fn number(rest: &mut &[u8], digits: usize) -> Result<u32, Wrong> {
    match rest.split_at_checked(digits) {
        Some((number, after)) if number.iter().all(u8::is_ascii_digit) => {
            *rest = after;
            Ok(number.iter().fold(0, |number, digit| 10 * number + u32::from(digit - b'0')))
        }
        _ => Err("not a W3C Datetime"),
    }
}

fn sign(rest: &mut &[u8], wanted: u8) -> Result<(), Wrong> {
    match rest {
        [sign, after @ ..] if *sign == wanted => {
            *rest = after;
            Ok(())
        }
        _ => Err("not a W3C Datetime"),
    }
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns whether `value` is one of the seven words. The type is `xs:string`, so white space counts.
pub(crate) fn is_changefreq(value: &[u8]) -> bool {
    CHANGEFREQ.iter().any(|word| word.as_bytes() == value)
}

/// Returns whether `value` is a decimal number from 0.0 to 1.0 (XML Schema 2, 3.2.3): no exponent, no NaN.
pub(crate) fn is_priority(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let (is_negative, digits) = match value {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    let point = memchr::memchr(b'.', digits).unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    if whole.len() + fraction.len() == 0 || !whole.iter().chain(fraction).all(u8::is_ascii_digit) {
        return false;
    }
    let is_zero = |digits: &[u8]| digits.iter().all(|&digit| digit == b'0');
    match whole {
        whole if is_zero(whole) => !is_negative || is_zero(fraction),
        [zeros @ .., b'1'] => is_zero(zeros) && is_zero(fraction) && !is_negative,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_accepts_its_own_dates_and_times() {
        for (value, in_0_9, in_0_84) in [
            ("2005-06-03", true, true),
            ("2005-06-03T04:20:32Z", true, true),
            ("2005-06-03T04:20:32-08:00", true, true),
            ("2005-06-03T04:20-08:00", false, true),
            ("2005-06-03T04:20Z", false, true),
            ("2005-06-03T04:20:32.1Z", true, true),
            ("2005-06-03T04:20:32.123456789-08:00", true, false),
            (" 2005-06-03\n", true, false),
            ("2004-02-29", true, true),
            ("2005-02-29", false, false),
            ("1900-02-29", false, false),
            ("2005", false, false),
            ("2005-06", false, false),
            ("2005-06-03T04:20:32", false, false),
            ("2005-06-03T24:00:00Z", false, false),
            ("2005-06-03T23:59:60Z", false, false),
            ("2005-06-03T04:20:32.Z", false, false),
            ("2005-06-03T04:20:32z", false, false),
            ("2005-06-03T04:20:32+14:01", false, false),
            ("2005-06-03T04:20:32+01:60", false, false),
            ("2005-06-03T04:20:32+0100", false, false),
            ("2005-06-03 04:20:32Z", false, false),
            ("2005-13-01", false, false),
            ("2005-06-31", false, false),
            ("0000-01-01", false, false),
            ("2005-6-3", false, false),
            ("03.06.2005", false, false),
            ("-2005-06-03", false, false),
            ("2005-06-03Z", false, false),
            ("yesterday", false, false),
            ("", false, false),
        ] {
            let valid = |protocol| check_lastmod(value.as_bytes(), protocol).is_ok();
            assert_eq!((valid(Protocol::V0_9), valid(Protocol::V0_84)), (in_0_9, in_0_84), "{value}");
        }
    }

    #[test]
    fn priorities_are_decimals_from_zero_to_one() {
        for right in ["0.0", "1.0", "0.85", "1", "0", ".5", "1.", "+0.5", "-0.0", "001.000", " 0.5\n"] {
            assert!(is_priority(right.as_bytes()), "{right}");
        }
        for wrong in
            ["", ".", "1.1", "2", "10", "-0.1", "-1", "1e-05", "NaN", "0,5", "0.5.5", "+-0", "0. 5", "high"]
        {
            assert!(!is_priority(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn changefreq_accepts_seven_words() {
        assert!(
            is_changefreq(b"never")
                && !is_changefreq(b"Never")
                && !is_changefreq(b" never")
                && !is_changefreq(b"")
        );
    }
}
