//! `lastmod`: reads W3C Datetime and the formats that databases and web servers write. Writes `YYYY-MM-DD`, or whole seconds
//! with a zone.
//!
//! Both forms are legal in the schemas of 0.84 and 0.9. A date-time without seconds, without a zone or with a fraction is not
//! legal in both. A date stays a date, and a given zone is kept.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};

use super::zone::{LastmodZone, is_zone_name, number, offset_minutes};
use crate::sitemap::tag_names::TagReason;

/// Maximum length of a `lastmod` in bytes, `2024-05-01T10:20:30+02:00`: `maxLength` of the 0.84 schema.
pub const LASTMOD_BYTES_MAX: usize = 25;

/// The names of days and months in dates of HTTP: RFC 9110, 5.6.7.
const WEEKDAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// The beginning of Unix time.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The format of a `lastmod` column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LastmodUnit {
    /// Dates and times as text.
    #[default]
    Text,
    /// Seconds since 1970 in UTC, a fraction allowed.
    EpochSeconds,
    /// Milliseconds since 1970 in UTC, a fraction allowed.
    EpochMillis,
    /// Microseconds since 1970 in UTC, a fraction allowed.
    EpochMicros,
    /// Nanoseconds since 1970 in UTC, a fraction allowed.
    EpochNanos,
}

impl LastmodUnit {
    /// The unit in which the number `text` is a likely time for a page, from 2001 to 2286. `None` for any other text, such as a
    /// date without hyphens.
    pub fn of_number(text: &[u8]) -> Option<Self> {
        let text = text.trim_ascii();
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let is_number = match &text[digits..] {
            [] => true,
            [b'.', fraction @ ..] => fraction.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        match digits {
            10 if is_number => Some(Self::EpochSeconds),
            13 if is_number => Some(Self::EpochMillis),
            16 if is_number => Some(Self::EpochMicros),
            19 if is_number => Some(Self::EpochNanos),
            _ => None,
        }
    }

    /// Every unit.
    pub const ALL: [Self; 5] =
        [Self::Text, Self::EpochSeconds, Self::EpochMillis, Self::EpochMicros, Self::EpochNanos];

    /// Returns its word, which [`FromStr`](std::str::FromStr) parses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::EpochSeconds => "seconds",
            Self::EpochMillis => "millis",
            Self::EpochMicros => "micros",
            Self::EpochNanos => "nanos",
        }
    }
}

impl std::str::FromStr for LastmodUnit {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let named = Self::ALL.into_iter().find(|unit| unit.as_str() == word);
        named.ok_or_else(|| "expected text, seconds, millis, micros or nanos".into())
    }
}

impl std::fmt::Display for LastmodUnit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How to read a `lastmod` whose text is ambiguous.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LastmodRules {
    /// The format of the column.
    pub unit: LastmodUnit,
    /// The zone of times without a zone. If it is not set, such times are dropped. Times with the name of a zone other than UTC,
    /// such as `MSK`, are kept only if clocks in this zone have that name at the time. In feeds, RFC 2822 defines a few names.
    pub zone: Option<LastmodZone>,
}

/// A checked `lastmod`: its text and its instant. Only [`lastmod`] creates one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lastmod {
    text: [u8; LASTMOD_BYTES_MAX],
    text_bytes: u8,
    instant: i64,
}

impl Lastmod {
    /// Returns the ASCII text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text[..usize::from(self.text_bytes)]
    }

    /// Seconds since 1970 in UTC, to find the newer of two. A date counts as its midnight in UTC.
    pub fn instant(&self) -> i64 {
        self.instant
    }
}

/// Reads a `lastmod`; `None` if there are only blanks.
///
/// # Errors
/// One of the reasons for `lastmod` if the tag cannot be written.
pub fn lastmod(raw: &[u8], rules: &LastmodRules) -> Result<Option<Lastmod>, TagReason> {
    let text = raw.trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    // A date is text even if a unit is set: columns of dates in Parquet come as text. No number begins with a letter.
    let is_text = text[0].is_ascii_alphabetic() || begins_with_date(text);
    let unit = if is_text { LastmodUnit::Text } else { rules.unit };
    // As a Unix time, it would be one in 1970 or far in the future.
    if is_compact_date(text) {
        return Err(TagReason::Lastmod);
    }
    // In a finer unit than its own, it would be a time in 1970.
    if LastmodUnit::of_number(text).is_some_and(|likely| likely != unit) {
        return Err(TagReason::LastmodEpoch);
    }
    let read = match unit {
        LastmodUnit::Text => of_text(text, rules.zone.as_ref()),
        LastmodUnit::EpochSeconds => of_epoch(text, 1),
        LastmodUnit::EpochMillis => of_epoch(text, 1_000),
        LastmodUnit::EpochMicros => of_epoch(text, 1_000_000),
        LastmodUnit::EpochNanos => of_epoch(text, 1_000_000_000),
    };
    read.map(Some)
}

/// Reads a `lastmod` that needs no rules: a date, or a time with its zone. `None` for any other text.
pub fn plain_lastmod(raw: &[u8]) -> Option<Lastmod> {
    lastmod(raw, &LastmodRules::default()).ok().flatten()
}

/// Whether `text` is probably a date without hyphens, `YYYYMMDD`, perhaps with a time, `hhmmss`: a day from 1990 to 2100.
pub fn is_compact_date(text: &[u8]) -> bool {
    let has_digits = matches!(text.len(), 8 | 14) && text.iter().all(u8::is_ascii_digit);
    let date = has_digits.then(|| [&text[..4], &text[4..6], &text[6..8]].join(&b'-'));
    date.and_then(|date| date_of(&date)).is_some_and(|date| (1990..=2100).contains(&date.year()))
}

fn begins_with_date(text: &[u8]) -> bool {
    text.split_at_checked("YYYY-MM-DD".len()).is_some_and(|(date, _)| date_of(date).is_some())
}

fn of_text(text: &[u8], zone: Option<&LastmodZone>) -> Result<Lastmod, TagReason> {
    let (date, after) = match text.split_at_checked("YYYY-MM-DD".len()) {
        Some((date, after)) => match date_of(date) {
            Some(date) => (date, after),
            None => return of_http(text).ok_or(TagReason::Lastmod),
        },
        None if is_year_or_month(text) => return Err(TagReason::LastmodPrecision),
        None => return Err(TagReason::Lastmod),
    };
    match after {
        [] => Ok(written(text, date.to_datetime(jiff::civil::Time::midnight()), 0)),
        [b'T' | b' ', clock @ ..] => of_date_time(date, clock, zone),
        _ => Err(TagReason::Lastmod),
    }
}

/// The rest of a date-time: `hh:mm`, perhaps `:ss`, perhaps a fraction, perhaps a zone.
fn of_date_time(date: Date, clock: &[u8], zone: Option<&LastmodZone>) -> Result<Lastmod, TagReason> {
    let (time, given) = time_of(clock).ok_or(TagReason::Lastmod)?;
    let local = date.at(time[0], time[1], time[2], 0);
    match given.strip_prefix(b" ").unwrap_or(given) {
        b"" => {
            let zone = zone.ok_or(TagReason::LastmodZone)?;
            let (local, minutes) = zone.place(local).ok_or(TagReason::Lastmod)?;
            in_zone(local, minutes, None)
        }
        name if name != given && is_zone_name(name) => {
            let placed = zone.and_then(|zone| zone.place_named(local, name));
            let (local, minutes) = placed.ok_or(TagReason::LastmodZone)?;
            in_zone(local, minutes, None)
        }
        b"Z" | b"UTC" | b"GMT" => in_zone(local, 0, None),
        offset => in_zone(local, offset_minutes(offset).ok_or(TagReason::Lastmod)?, Some(offset[0])),
    }
}

/// A time as in the header `Last-Modified` of HTTP, which crawlers copy: `Fri, 01 Mar 2024 10:00:00 GMT`. Servers compute the day
/// of the week, so another one means that the text is damaged.
fn of_http(text: &[u8]) -> Option<Lastmod> {
    let (weekday, rest) = text.split_at_checked("Fri, ".len())?;
    let (day, clock) = rest.split_at_checked("01 Mar 2024 ".len())?;
    let [d1, d2, b' ', month @ .., b' ', y1, y2, y3, y4, b' '] = day else { return None };
    let mut iso = [*y1, *y2, *y3, *y4, b'-', 0, 0, b'-', *d1, *d2];
    let month = MONTHS.iter().position(|name| *name == month)?;
    put(&mut iso[5..7], month as i32 + 1);
    let date = date_of(&iso)?;
    let name = WEEKDAYS[date.weekday().to_sunday_zero_offset() as usize];
    if weekday.strip_suffix(b", ") != Some(name) {
        return None;
    }
    let clock = clock.strip_suffix(b" GMT").filter(|clock| clock.len() == "hh:mm:ss".len())?;
    let (time, []) = time_of(clock)? else { return None };
    in_zone(date.at(time[0], time[1], time[2], 0), 0, None).ok()
}

fn of_epoch(text: &[u8], per_second: i64) -> Result<Lastmod, TagReason> {
    // Exports of floating point numbers have `1714558830.0`. The second is the one in which the time is, before 1970 as well.
    let point = text.iter().position(|&byte| byte == b'.').unwrap_or(text.len());
    let (whole, fraction) = text.split_at(point);
    let is_fraction = fraction.iter().skip(1).all(u8::is_ascii_digit);
    let count: Option<i64> = str::from_utf8(whole).ok().and_then(|whole| whole.parse().ok());
    let is_below_whole = whole.starts_with(b"-") && fraction.iter().any(|digit| matches!(digit, b'1'..=b'9'));
    let count = count.and_then(|count| count.checked_sub(i64::from(is_below_whole)));
    let since_epoch = count.map(|count| SignedDuration::from_secs(count.div_euclid(per_second)));
    match since_epoch.map(|duration| EPOCH.checked_add(duration)) {
        Some(Ok(time)) if is_fraction => in_zone(time, 0, None),
        _ => Err(TagReason::Lastmod),
    }
}

/// `YYYY-MM-DD` of a day that exists. XML Schema 1.0, in which both schemas are written, has no year 0.
fn date_of(text: &[u8]) -> Option<Date> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text else { return None };
    let [year, month, day] = [number(&[y1, y2, y3, y4])?, number(&[m1, m2])?, number(&[d1, d2])?];
    let date = Date::new(year as i16, month as i8, day as i8).ok()?;
    (year > 0).then_some(date)
}

/// `YYYY` or `YYYY-MM` that exists.
fn is_year_or_month(text: &[u8]) -> bool {
    let mut first_day = *b"0000-01-01";
    match text.len() {
        4 | 7 => first_day[..text.len()].copy_from_slice(text),
        _ => return false,
    }
    date_of(&first_day).is_some()
}

/// Splits a time into hours, minutes, seconds, and the text after them and any fraction. W3C Datetime has no 24:00 and no leap
/// seconds.
fn time_of(clock: &[u8]) -> Option<([i8; 3], &[u8])> {
    let ([h1, h2, b':', m1, m2], after) = clock.split_first_chunk()? else { return None };
    let (seconds, after) = match after {
        [b':', s1, s2, after @ ..] => (number(&[*s1, *s2])?, without_fraction(after)?),
        _ => (0, after),
    };
    let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
    let exists = hours < 24 && minutes < 60 && seconds < 60;
    exists.then_some(([hours as i8, minutes as i8, seconds as i8], after))
}

/// The rest after `.` and its digits; `None` if no digit follows the point.
fn without_fraction(text: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = text.strip_prefix(b".") else { return Some(text) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0).then(|| &fraction[digits..])
}

/// A date-time in whole seconds. `sign` is the sign of the given offset, because `-00:00` is legal too. Without a sign, UTC is
/// `Z`.
fn in_zone(local: DateTime, minutes: i32, sign: Option<u8>) -> Result<Lastmod, TagReason> {
    if local.year() < 1 {
        return Err(TagReason::Lastmod);
    }
    let mut text = *b"YYYY-MM-DDThh:mm:ss+hh:mm";
    text[..19].copy_from_slice(&civil_text(local));
    if minutes == 0 && sign.is_none() {
        text[19] = b'Z';
        return Ok(written(&text[..20], local, 0));
    }
    text[19] = sign.unwrap_or(if minutes < 0 { b'-' } else { b'+' });
    put(&mut text[20..22], minutes.abs() / 60);
    put(&mut text[23..25], minutes.abs() % 60);
    Ok(written(&text, local, minutes))
}

/// `YYYY-MM-DDThh:mm:ss`, for years from 0 on.
pub(crate) fn civil_text(local: DateTime) -> [u8; 19] {
    let mut text = *b"YYYY-MM-DDThh:mm:ss";
    put(&mut text[0..4], local.year().into());
    put(&mut text[5..7], local.month().into());
    put(&mut text[8..10], local.day().into());
    put(&mut text[11..13], local.hour().into());
    put(&mut text[14..16], local.minute().into());
    put(&mut text[17..19], local.second().into());
    text
}

/// The decimal digits of `value`, padded with zeros.
fn put(digits: &mut [u8], mut value: i32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

fn written(from: &[u8], local: DateTime, minutes: i32) -> Lastmod {
    let mut text = [0; LASTMOD_BYTES_MAX];
    text[..from.len()].copy_from_slice(from);
    let instant = local.duration_since(EPOCH).as_secs() - i64::from(minutes) * 60;
    Lastmod { text, text_bytes: from.len() as u8, instant }
}
