//! Every rule for tags, case by case, and an independent check of the results.

use super::*;
use crate::common::random::Random;
use TagReason as Why;

fn rules(zone: &str) -> LastmodRules {
    let zone = (!zone.is_empty()).then(|| zone.parse().unwrap());
    LastmodRules { zone, unit: LastmodUnit::Text }
}

/// The value that is written; `""` if there is not a tag.
fn text(raw: &str, rules: &LastmodRules) -> Result<String, Why> {
    let read = lastmod(raw.as_bytes(), rules)?;
    let text = read.map_or(String::new(), |read| String::from_utf8(read.as_bytes().to_vec()).unwrap());
    assert!(text.is_empty() || is_legal_lastmod(&text), "{raw:?} was written as {text:?}");
    Ok(text)
}

#[test]
fn lastmod_is_a_date_or_has_full_seconds_and_a_zone() {
    for (raw, want) in [
        ("2020-01-01", Ok("2020-01-01")),
        ("  2020-01-01\t", Ok("2020-01-01")),
        ("2005-06-03T04:20-08:00", Ok("2005-06-03T04:20:00-08:00")),
        ("2005-06-03T04:20Z", Ok("2005-06-03T04:20:00Z")),
        ("2005-06-03T04:20:32-08:00", Ok("2005-06-03T04:20:32-08:00")),
        ("2005-06-03T04:20:32.123456789Z", Ok("2005-06-03T04:20:32Z")),
        ("1997-07-16T19:20:30.45+01:00", Ok("1997-07-16T19:20:30+01:00")),
        ("2024-05-01T10:20:30+00:00", Ok("2024-05-01T10:20:30+00:00")),
        ("2024-05-01T10:20:30-00:00", Ok("2024-05-01T10:20:30-00:00")),
        ("2024-05-01T10:20:30+14:00", Ok("2024-05-01T10:20:30+14:00")),
        ("9999-12-31T23:59:59-14:00", Ok("9999-12-31T23:59:59-14:00")),
        ("0001-01-01", Ok("0001-01-01")),
        ("2024-02-29", Ok("2024-02-29")),
        ("2000-02-29", Ok("2000-02-29")),
        ("", Ok("")),
        (" \t", Ok("")),
        // SQL formats with a zone.
        ("2024-05-01 10:20:30 UTC", Ok("2024-05-01T10:20:30Z")),
        ("2024-05-01 10:20:30.123456 UTC", Ok("2024-05-01T10:20:30Z")),
        ("2024-05-01 10:20:30 GMT", Ok("2024-05-01T10:20:30Z")),
        ("2024-05-01 10:20:30+00", Ok("2024-05-01T10:20:30+00:00")),
        ("2024-05-01 10:20:30.5+0000", Ok("2024-05-01T10:20:30+00:00")),
        ("2024-05-01 10:20:30 -0330", Ok("2024-05-01T10:20:30-03:30")),
        ("2024-05-01T10:20:30+0530", Ok("2024-05-01T10:20:30+05:30")),
        // HTTP: RFC 9110, 5.6.7.
        ("Fri, 01 Mar 2024 10:00:59 GMT", Ok("2024-03-01T10:00:59Z")),
        (" Thu, 29 Feb 2024 23:59:59 GMT ", Ok("2024-02-29T23:59:59Z")),
        ("Mon, 01 Jan 0001 00:00:00 GMT", Ok("0001-01-01T00:00:00Z")),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Ok("1994-11-06T08:49:37Z")),
        ("Fri, 02 Mar 2024 10:00:00 GMT", Err(Why::Lastmod)),
        ("Thu, 30 Feb 2024 10:00:00 GMT", Err(Why::Lastmod)),
        ("Fri, 01 Mar 2024 10:00:00 CET", Err(Why::Lastmod)),
        ("Fri, 01 Mar 2024 10:00:00", Err(Why::Lastmod)),
        ("Fri, 01 Mar 2024 10:00 GMT", Err(Why::Lastmod)),
        ("Fri, 01 Mar 2024 10:00:60 GMT", Err(Why::Lastmod)),
        ("Fri, 01 Mrz 2024 10:00:00 GMT", Err(Why::Lastmod)),
        ("Friday, 01-Mar-24 10:00:00 GMT", Err(Why::Lastmod)),
        // Both schemas require at least a day.
        ("2005", Err(Why::LastmodPrecision)),
        ("2005-06", Err(Why::LastmodPrecision)),
        ("2005-13", Err(Why::Lastmod)),
        ("0000", Err(Why::Lastmod)),
        // No zone is given or set.
        ("2024-05-01T10:20:30", Err(Why::LastmodZone)),
        ("2024-05-01T10:20", Err(Why::LastmodZone)),
        ("2024-05-01 10:20:30", Err(Why::LastmodZone)),
        ("2024-05-01 10:20:30.123", Err(Why::LastmodZone)),
        // More than one zone may have this name.
        ("2024-05-01T10:20:30 CET", Err(Why::LastmodZone)),
        ("2024-05-01 10:20:30 EST", Err(Why::LastmodZone)),
        // No such day or time.
        ("2023-02-29", Err(Why::Lastmod)),
        ("1900-02-29", Err(Why::Lastmod)),
        ("2024-04-31", Err(Why::Lastmod)),
        ("2024-00-01", Err(Why::Lastmod)),
        ("2024-01-00", Err(Why::Lastmod)),
        ("0000-01-01", Err(Why::Lastmod)),
        ("2024-05-01T24:00:00Z", Err(Why::Lastmod)),
        ("2024-05-01T10:60:00Z", Err(Why::Lastmod)),
        ("2024-05-01T10:20:60Z", Err(Why::Lastmod)),
        ("2024-05-01T10:20:30+14:01", Err(Why::Lastmod)),
        ("2024-05-01T10:20:30+01:60", Err(Why::Lastmod)),
        // Not a known format.
        ("2024-5-1", Err(Why::Lastmod)),
        ("20240501", Err(Why::Lastmod)),
        ("01.05.2024", Err(Why::Lastmod)),
        ("2024-05-01Z", Err(Why::Lastmod)),
        ("2024-05-01T", Err(Why::Lastmod)),
        ("2024-05-01T10Z", Err(Why::Lastmod)),
        ("2024-05-01T10:20:30.Z", Err(Why::Lastmod)),
        ("2024-05-01T10:20:Z", Err(Why::Lastmod)),
        ("2024-05-01T10:20:30CET", Err(Why::Lastmod)),
        ("2024-05-01 10:20:30 PM", Err(Why::Lastmod)),
        ("2024-05-01  10:20:30", Err(Why::Lastmod)),
        ("-2024-05-01", Err(Why::Lastmod)),
        ("1714558830", Err(Why::LastmodEpoch)),
        ("20240501102030", Err(Why::Lastmod)),
        ("yesterday", Err(Why::Lastmod)),
        ("２０２４-05-01", Err(Why::Lastmod)),
    ] {
        assert_eq!(text(raw, &rules("")), want.map(str::to_owned), "{raw:?}");
    }
}

#[test]
fn a_time_without_a_zone_gets_the_configured_one() {
    for (zone, raw, want) in [
        ("Z", "2024-05-01 10:20:30", "2024-05-01T10:20:30Z"),
        ("Z", "2024-05-01T10:20", "2024-05-01T10:20:00Z"),
        ("+08:00", "2024-05-01 10:20:30.999", "2024-05-01T10:20:30+08:00"),
        ("-03:30", "2024-05-01T10:20:30", "2024-05-01T10:20:30-03:30"),
        ("Europe/Berlin", "2024-01-01 10:20:30", "2024-01-01T10:20:30+01:00"),
        ("Europe/Berlin", "2024-07-01 10:20:30", "2024-07-01T10:20:30+02:00"),
        ("America/New_York", "2024-07-01 10:20:30", "2024-07-01T10:20:30-04:00"),
        ("Europe/Moscow", "2024-07-01T10:20:30 MSK", "2024-07-01T10:20:30+03:00"),
        ("Europe/Berlin", "2024-07-01 10:20:30 CEST", "2024-07-01T10:20:30+02:00"),
        // Clocks set forward: the skipped hour. Clocks set back: the first of the two times.
        ("Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31T03:30:00+02:00"),
        ("Europe/Berlin", "2024-10-27 02:30:00", "2024-10-27T02:30:00+02:00"),
        ("Europe/Berlin", "2024-10-27 02:30:00 CET", "2024-10-27T02:30:00+01:00"),
        // Local mean time, 53 minutes and 28 seconds ahead.
        ("Europe/Berlin", "1890-01-01 00:53:28", "1890-01-01T00:00:00Z"),
        // The last seconds that can be written.
        ("Europe/Berlin", "9999-12-31 23:59:59", "9999-12-31T23:59:59+01:00"),
        ("America/New_York", "9999-12-31 23:59:59", "9999-12-31T23:59:59-05:00"),
        // Dates, and times with a zone, are left alone.
        ("Europe/Berlin", "2024-05-01T10:20:30Z", "2024-05-01T10:20:30Z"),
        ("+08:00", "2024-05-01", "2024-05-01"),
    ] {
        assert_eq!(text(raw, &rules(zone)).as_deref(), Ok(want), "{raw:?} in {zone}");
    }
    // The name is that of another zone, or of no zone at that time.
    for (zone, raw) in [
        ("UTC", "2024-01-01 10:20:30 CET"),
        ("Z", "2024-01-01 10:20:30 MSK"),
        ("+03:00", "2024-01-01 10:20:30 MSK"),
        ("UTC", "2024-01-01 10:20:30 NULL"),
        ("Europe/Berlin", "2024-07-01 10:20:30 CET"),
        ("Europe/Berlin", "2024-03-31 02:30:00 CET"),
    ] {
        assert_eq!(text(raw, &rules(zone)), Err(Why::LastmodZone), "{raw:?} in {zone}");
    }
    for wrong in ["", "z", "Berlin", "+8", "+0800", "+15:00", "08:00", "Europe/../Berlin"] {
        assert!(wrong.parse::<LastmodZone>().is_err(), "{wrong:?}");
    }
    assert_eq!("Europe/Berlin".parse::<LastmodZone>().unwrap().to_string(), "Europe/Berlin");
}

#[test]
fn numbers_are_times_only_if_a_unit_is_set() {
    let of = |unit, raw| text(raw, &LastmodRules { unit, zone: None });
    for (unit, raw, want) in [
        (LastmodUnit::EpochSeconds, "0", Ok("1970-01-01T00:00:00Z")),
        (LastmodUnit::EpochSeconds, "1714558830", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochSeconds, "1714558830.75", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochSeconds, "-1", Ok("1969-12-31T23:59:59Z")),
        (LastmodUnit::EpochMillis, "1714558830999", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochMillis, "-1", Ok("1969-12-31T23:59:59Z")),
        // The same instants in both units.
        (LastmodUnit::EpochSeconds, "-1.5", Ok("1969-12-31T23:59:58Z")),
        (LastmodUnit::EpochMillis, "-1500", Ok("1969-12-31T23:59:58Z")),
        (LastmodUnit::EpochSeconds, "-0.5", Ok("1969-12-31T23:59:59Z")),
        (LastmodUnit::EpochMillis, "-500.0", Ok("1969-12-31T23:59:59Z")),
        (LastmodUnit::EpochMillis, "-1000.5", Ok("1969-12-31T23:59:58Z")),
        (LastmodUnit::EpochSeconds, "-1.0", Ok("1969-12-31T23:59:59Z")),
        (LastmodUnit::EpochMillis, "", Ok("")),
        (LastmodUnit::EpochMicros, "1714558830999999", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochNanos, "1714558830999999999", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochSeconds, "1714558830999", Err(Why::LastmodEpoch)),
        // In these units, they would be times in January 1970.
        (LastmodUnit::EpochMillis, "1714558830", Err(Why::LastmodEpoch)),
        (LastmodUnit::EpochMicros, "1714558830", Err(Why::LastmodEpoch)),
        (LastmodUnit::EpochMicros, "1714558830999.5", Err(Why::LastmodEpoch)),
        (LastmodUnit::EpochNanos, "1714558830999999", Err(Why::LastmodEpoch)),
        (LastmodUnit::EpochMillis, "0", Ok("1970-01-01T00:00:00Z")),
        (LastmodUnit::EpochMillis, "86400000", Ok("1970-01-02T00:00:00Z")),
        (LastmodUnit::EpochSeconds, "253402300799", Ok("9999-12-31T23:59:59Z")),
        (LastmodUnit::EpochSeconds, "253402300800", Err(Why::Lastmod)),
        (LastmodUnit::EpochSeconds, "-99999999999", Err(Why::Lastmod)),
        (LastmodUnit::EpochSeconds, "99999999999999999999", Err(Why::Lastmod)),
        (LastmodUnit::EpochSeconds, "1.7e9", Err(Why::Lastmod)),
        // A date is not a number, whatever unit is set.
        (LastmodUnit::EpochSeconds, "20240501", Err(Why::Lastmod)),
        (LastmodUnit::EpochMillis, "20240501102030", Err(Why::Lastmod)),
        (LastmodUnit::EpochSeconds, "20240231", Ok("1970-08-23T06:17:11Z")),
        (LastmodUnit::EpochSeconds, "2024-05-01", Ok("2024-05-01")),
        (LastmodUnit::EpochMillis, "2024-05-01T10:20:30Z", Ok("2024-05-01T10:20:30Z")),
        (LastmodUnit::EpochNanos, "2024-05-01 10:20:30", Err(Why::LastmodZone)),
        (LastmodUnit::EpochSeconds, "2024-02-30", Err(Why::Lastmod)),
        (LastmodUnit::EpochSeconds, "Fri, 01 Mar 2024 10:00:00 GMT", Ok("2024-03-01T10:00:00Z")),
        (LastmodUnit::EpochMillis, "yesterday", Err(Why::Lastmod)),
    ] {
        assert_eq!(of(unit, raw), want.map(str::to_owned), "{unit:?} {raw:?}");
    }
}

#[test]
fn instants_show_which_of_two_dates_is_newer_in_any_form() {
    let instant = |raw: &str| lastmod(raw.as_bytes(), &rules("")).unwrap().unwrap().instant();
    assert_eq!(instant("1970-01-01"), 0);
    assert_eq!(instant("2024-05-01"), instant("2024-05-01T00:00Z"));
    assert_eq!(instant("2024-05-01T10:20:30Z"), 1_714_558_830);
    assert_eq!(instant("2024-05-01T12:20:30+02:00"), 1_714_558_830);
    assert!(instant("2024-05-01T00:30+02:00") < instant("2024-05-01"));
    assert!(instant("0001-01-01") < instant("9999-12-31T23:59:59-14:00"));
}

#[test]
fn changefreq_is_one_of_seven_words() {
    for known in Changefreq::ALL {
        let shouted = format!(" {} ", known.as_str().to_uppercase());
        assert_eq!(changefreq(known.as_str().as_bytes()), Ok(Some(known)));
        assert_eq!(changefreq(shouted.as_bytes()), Ok(Some(known)));
        assert_eq!(shouted.parse(), Ok(known));
    }
    assert_eq!(changefreq(b" "), Ok(None));
    assert!(" ".parse::<Changefreq>().is_err() && "day".parse::<Changefreq>().is_err());
    for wrong in ["dayly", "day", "daily weekly", "never.", "0"] {
        assert_eq!(changefreq(wrong.as_bytes()), Err(Why::Changefreq), "{wrong}");
    }
}

#[test]
fn priority_passes_through_as_it_is_written() {
    for right in [
        "0.85",
        "0.0",
        "0",
        "1",
        "1.0",
        "1.000",
        "0.5",
        ".5",
        "1.",
        "0.",
        "00.5",
        "01",
        "0.123456789012345678",
    ] {
        assert_eq!(priority(right.as_bytes()).unwrap().unwrap().as_bytes(), right.as_bytes());
        assert!(is_legal_priority(right), "{right}");
    }
    assert_eq!(priority(b" 0.5\t").unwrap().unwrap().as_bytes(), b"0.5");
    assert_eq!(priority(b""), Ok(None));
    assert_eq!(" 0.5\t".parse::<Priority>().unwrap().as_bytes(), b"0.5");
    assert!("".parse::<Priority>().is_err() && "2".parse::<Priority>().is_err());
    for wrong in [
        "5",
        "1e-05",
        "NaN",
        "inf",
        "-0.5",
        "+0.5",
        "-0",
        "1.01",
        "1.0001",
        "2",
        "11",
        "10",
        ".",
        "0,5",
        "0.5.",
        "0 .5",
        "0.1234567890123456789",
        "high",
    ] {
        assert_eq!(priority(wrong.as_bytes()), Err(Why::Priority), "{wrong}");
    }
}

#[test]
fn reasons_begin_with_tag_and_can_be_counted() {
    let mut dropped = DroppedTags::default();
    dropped[Why::Priority] += 2;
    dropped[Why::Image] += 1;
    let twice = dropped + dropped;
    assert_eq!(twice.iter().collect::<Vec<_>>(), [(Why::Priority, 4), (Why::Image, 2)]);
    assert_eq!(twice.by_word(), [("tag-priority", 4), ("tag-image", 2)].into());
    assert_eq!(twice.total(), 6);
    assert!(
        Why::ALL.iter().enumerate().all(|(at, why)| *why as usize == at && why.as_str().starts_with("tag-"))
    );
}

#[test]
fn every_written_value_is_valid_in_both_schemas() {
    let seeds = [
        "2024-02-29",
        "2005-06-03T04:20-08:00",
        "1997-07-16T19:20:30.45+01:00",
        "2024-05-01 10:20:30 UTC",
        "2024-12-31 23:59:59+0000",
        "0.85",
        "1.000",
        "1714558830",
        "daily",
    ];
    let alphabet = b"0123456789-+:.TZ UC12";
    let all_rules = ["", "Z", "-09:30", "Europe/Berlin", "Africa/Monrovia", "Asia/Manila"].map(rules);
    let mut random = Random::new(7);
    let mut written = 0;
    for round in 0..400_000 {
        let mut raw = seeds[round % seeds.len()].as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(raw.len() + 1);
            let byte = alphabet[random.below(alphabet.len())];
            match random.below(4) {
                0 => raw.insert(at, byte),
                1 => raw.truncate(at.max(1)),
                _ if at < raw.len() => raw[at] = byte,
                _ => {}
            }
        }
        let raw = String::from_utf8(raw).unwrap();
        let mut rules = all_rules[random.below(all_rules.len())].clone();
        written += usize::from(text(&raw, &rules).is_ok());
        rules.unit = [LastmodUnit::EpochSeconds, LastmodUnit::EpochMillis][round % 2];
        written += usize::from(text(&raw, &rules).is_ok());
        if let Ok(Some(priority)) = priority(raw.as_bytes()) {
            assert!(is_legal_priority(str::from_utf8(priority.as_bytes()).unwrap()), "{raw}");
        }
    }
    assert!(written > 50_000, "{written} are too few to prove anything");
}

/// The rules of the schemas, implemented again: `xsd:date` or `xsd:dateTime` (0.9) of 10 to 25 characters (0.84), and W3C
/// Datetime, which requires a zone.
fn is_legal_lastmod(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    let (date, time) = match shape.as_str() {
        "9999-99-99" => (text, None),
        "9999-99-99T99:99:99Z" => (&text[..10], Some((&text[11..19], "00:00"))),
        "9999-99-99T99:99:99+99:99" | "9999-99-99T99:99:99-99:99" => {
            (&text[..10], Some((&text[11..19], &text[20..])))
        }
        _ => return false,
    };
    let numbers = |of: &str| of.split(['-', ':']).map(|n| n.parse::<u32>().unwrap()).collect::<Vec<_>>();
    let [year, month, day] = numbers(date)[..] else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    let is_time = time.is_none_or(|(clock, zone)| {
        let (clock, zone) = (numbers(clock), numbers(zone));
        clock[0] < 24 && clock[1] < 60 && clock[2] < 60 && zone[1] < 60 && zone[0] * 60 + zone[1] <= 14 * 60
    });
    (10..=25).contains(&text.len()) && year > 0 && (1..=days).contains(&day) && is_time
}

/// `xsd:decimal` without a sign, from 0.0 to 1.0.
fn is_legal_priority(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let points = text.chars().filter(|&c| c == '.').count();
    let is_decimal = digits > 0 && points <= 1 && digits + points == text.len();
    is_decimal && text.parse::<f64>().is_ok_and(|value| (0.0..=1.0).contains(&value))
}
