//! Dates of RSS: `Sat, 07 Sep 2002 09:42:31 GMT` (RFC 822, and RFC 2822 with four digits of the year).

use jiff::fmt::rfc2822::DateTimeParser;

use crate::sitemap::tags::{is_defined, is_zone_name};

/// Feeds sometimes name the wrong weekday, so it is ignored.
static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// The offset from UTC that RFC 2822, 3.3, writes if the zone is unknown.
const UNKNOWN_ZONE: &[u8] = b" -0000";

/// `text` as W3C Datetime, without a zone if it has none. If the offset of its zone is not defined, its name follows after a space.
/// Anything but a date of RFC 822 stays as it is: it may be a date that is legal in sitemaps.
pub fn w3c(text: &[u8]) -> Vec<u8> {
    let date = without_comments(text);
    let zone = date.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_unknown = zone.iter().all(u8::is_ascii_alphabetic) && !is_defined(zone);
    let (time, format) = match PARSER.parse_zoned(date) {
        Ok(time) if !is_unknown => (time, "%Y-%m-%dT%H:%M:%S%:z"),
        Ok(time) => (time, "%Y-%m-%dT%H:%M:%S"),
        Err(_) => match PARSER.parse_zoned([date, UNKNOWN_ZONE].concat()) {
            Ok(time) => (time, "%Y-%m-%dT%H:%M:%S"),
            Err(_) => return text.into(),
        },
    };
    let mut written = time.strftime(format).to_string().into_bytes();
    if is_unknown && is_zone_name(zone) {
        written.push(b' ');
        written.extend(zone);
    }
    written
}

/// `date` without the comments at its end, which usually name the zone: `Sat, 07 Sep 2002 09:42:31 +0200 (CEST)`. A comment may
/// contain others (RFC 2822, 3.2.3).
fn without_comments(date: &[u8]) -> &[u8] {
    let mut date = date.trim_ascii();
    while date.ends_with(b")") {
        let mut open = 0;
        let start = date.iter().rposition(|byte| {
            open += i32::from(*byte == b')') - i32::from(*byte == b'(');
            open == 0
        });
        let Some(start) = start else { break };
        date = date[..start].trim_ascii_end();
    }
    date
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_rfc_822_become_w3c_datetimes_and_others_stay() {
        for (given, want) in [
            ("Sat, 07 Sep 2002 09:42:31 GMT", "2002-09-07T09:42:31+00:00"),
            (" 7 Sep 2002 09:42 +0200 ", "2002-09-07T09:42:00+02:00"),
            ("Mon, 07 Sep 2002 09:42:31 EST", "2002-09-07T09:42:31-05:00"),
            ("07 Sep 02 09:42:31 PDT", "2002-09-07T09:42:31-07:00"),
            // A name that is not defined may be that of any zone.
            ("Sat, 07 Sep 2002 09:42:31 CEST", "2002-09-07T09:42:31 CEST"),
            ("Sat, 07 Sep 2002 09:42:31 A", "2002-09-07T09:42:31"),
            ("Sat, 07 Sep 2002 09:42:31 utc", "2002-09-07T09:42:31+00:00"),
            // Comments are not zones.
            ("Sat, 07 Sep 2002 09:42:31 CEST (Berlin)", "2002-09-07T09:42:31 CEST"),
            ("Sat, 07 Sep 2002 09:42:31 CEST (a (b)) (c) ", "2002-09-07T09:42:31 CEST"),
            ("Sat, 07 Sep 2002 09:42:31 GMT(UTC)", "2002-09-07T09:42:31+00:00"),
            ("Sat, 07 Sep 2002 09:42:31 +0200 (CEST)", "2002-09-07T09:42:31+02:00"),
            // No zone at all.
            ("Sat, 07 Sep 2002 09:42:31", "2002-09-07T09:42:31"),
            ("7 Sep 2002 09:42 (CEST)", "2002-09-07T09:42:00"),
            ("Sat, 07 Sep 2002 09:42:31 CEST)", "Sat, 07 Sep 2002 09:42:31 CEST)"),
            ("(yesterday)", "(yesterday)"),
            ("Sat, 07 Sep 2002", "Sat, 07 Sep 2002"),
            ("2002-09-07", "2002-09-07"),
            ("yesterday", "yesterday"),
            ("Sat, 32 Sep 2002 09:42:31 GMT", "Sat, 32 Sep 2002 09:42:31 GMT"),
        ] {
            assert_eq!(w3c(given.as_bytes()), want.as_bytes(), "{given}");
        }
    }
}
