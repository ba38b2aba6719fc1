//! Dates of RSS: `Sat, 07 Sep 2002 09:42:31 GMT` (RFC 822, and RFC 2822 with four digits of the year).

use jiff::fmt::rfc2822::DateTimeParser;

/// Feeds name the wrong day of the week now and then; the date counts.
static PARSER: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// The names of zones whose offset from UTC is defined. RFC 2822, 4.3: that of any other name is unknown.
const ZONES: [&str; 12] = ["UT", "GMT", "UTC", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];

/// `text` as W3C Datetime, without a zone if the name of its zone is unknown. Anything but a date of RFC 822 stays as it is: it may
/// be a date that is legal in sitemaps.
pub fn w3c(text: &[u8]) -> Vec<u8> {
    let zone = text.trim_ascii().rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    let is_unknown = zone.iter().all(u8::is_ascii_alphabetic)
        && !ZONES.iter().any(|known| zone.eq_ignore_ascii_case(known.as_bytes()));
    let format = if is_unknown { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%:z" };
    match PARSER.parse_zoned(text.trim_ascii()) {
        Ok(time) => time.strftime(format).to_string().into(),
        Err(_) => text.into(),
    }
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
            ("Sat, 07 Sep 2002 09:42:31 CEST", "2002-09-07T09:42:31"),
            ("Sat, 07 Sep 2002 09:42:31 A", "2002-09-07T09:42:31"),
            ("Sat, 07 Sep 2002 09:42:31 utc", "2002-09-07T09:42:31+00:00"),
            ("2002-09-07", "2002-09-07"),
            ("yesterday", "yesterday"),
            ("Sat, 32 Sep 2002 09:42:31 GMT", "Sat, 32 Sep 2002 09:42:31 GMT"),
        ] {
            assert_eq!(w3c(given.as_bytes()), want.as_bytes(), "{given}");
        }
    }
}
