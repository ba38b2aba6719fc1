//! The zone of times without a zone.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};

/// Maximum offset of a zone from UTC in minutes: XML Schema part 2, section 3.2.7.3.
pub const ZONE_MINUTES_MAX: i32 = 14 * 60;

/// The zone of times without a zone: `Z`, an offset like `+08:00`, or the IANA name of a zone like `Europe/Berlin`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastmodZone {
    word: String,
    zone: TimeZone,
}

impl LastmodZone {
    /// The time that a clock in the zone shows as `local`, and its offset in minutes. If clocks were set back, it is the first
    /// of the two times. A time that clocks skipped is moved by as much as they were set forward (RFC 5545, section 3.3.5). An
    /// offset with seconds, as before standard time, cannot be written: such times become UTC.
    pub(super) fn place(&self, local: DateTime) -> Option<(DateTime, i32)> {
        // Not with instants of jiff, which end 26 hours before the year 9999 does.
        let (local, offset) = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                (local, offset)
            }
            AmbiguousOffset::Gap { before, after } => {
                let forward = SignedDuration::from_secs((after.seconds() - before.seconds()).into());
                (local.checked_add(forward).ok()?, after)
            }
        };
        in_minutes(local, offset)
    }

    /// The same for a time that has the `name` of its zone, such as `CEST`. `None` if clocks in this zone that show `local` do not
    /// have this name: the time is one of another zone.
    pub(super) fn place_named(&self, local: DateTime, name: &[u8]) -> Option<(DateTime, i32)> {
        let offsets = match self.zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => [offset; 2],
            AmbiguousOffset::Fold { before, after } | AmbiguousOffset::Gap { before, after } => {
                [before, after]
            }
        };
        let has_name = |offset: &Offset| {
            offset.to_timestamp(local).is_ok_and(|time| {
                let info = self.zone.to_offset_info(time);
                info.offset() == *offset && info.abbreviation().as_bytes() == name
            })
        };
        in_minutes(local, offsets.into_iter().find(has_name)?)
    }
}

/// The time and its offset in minutes; in UTC if its own cannot be written.
fn in_minutes(local: DateTime, offset: Offset) -> Option<(DateTime, i32)> {
    let seconds = offset.seconds();
    if seconds % 60 != 0 || (seconds / 60).abs() > ZONE_MINUTES_MAX {
        return Some((local.checked_sub(SignedDuration::from_secs(seconds.into())).ok()?, 0));
    }
    Some((local, seconds / 60))
}

impl FromStr for LastmodZone {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let zone = match (word, offset_minutes(word.as_bytes())) {
            ("Z", _) => Some(TimeZone::UTC),
            (_, Some(minutes)) if word.len() == "+00:00".len() => {
                Offset::from_seconds(minutes * 60).ok().map(TimeZone::fixed)
            }
            // Uses the bundled database, so that the output does not depend on the machine.
            _ => TimeZoneDatabase::bundled().get(word).ok(),
        };
        let wrong = || "expected Z, an offset like +08:00, or an IANA name like Europe/Berlin".into();
        zone.map(|zone| Self { word: word.into(), zone }).ok_or_else(wrong)
    }
}

impl fmt::Display for LastmodZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)
    }
}

/// The names of zones whose offset from UTC is defined in feeds. RFC 2822, 4.3: that of any other name is unknown. Elsewhere, a
/// name such as `CST` may be that of one of several zones.
const NAMES: [&str; 12] = ["UT", "GMT", "UTC", "Z", "EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT"];

/// Whether the offset of the zone with this `name` is defined in feeds.
pub fn is_defined(name: &[u8]) -> bool {
    NAMES.iter().any(|defined| name.eq_ignore_ascii_case(defined.as_bytes()))
}

/// Whether `text` is probably the name of a zone other than UTC, such as `MSK`. Shorter words have other meanings, such as `PM`.
pub fn is_zone_name(text: &[u8]) -> bool {
    let is_name = matches!(text.len(), 3..=5) && text.iter().all(u8::is_ascii_uppercase);
    is_name && !matches!(text, b"UTC" | b"GMT")
}

/// The minutes of `±hh:mm`, `±hhmm` or `±hh`; `None` for anything else, and if it exceeds [`ZONE_MINUTES_MAX`].
pub(super) fn offset_minutes(text: &[u8]) -> Option<i32> {
    let (sign, digits) = text.split_first()?;
    let (hours, minutes) = match digits {
        [h, hh, b':', m, mm] | [h, hh, m, mm] => (number(&[*h, *hh])?, number(&[*m, *mm])?),
        [h, hh] => (number(&[*h, *hh])?, 0),
        _ => return None,
    };
    let all = hours * 60 + minutes;
    match sign {
        _ if minutes > 59 || all > ZONE_MINUTES_MAX => None,
        b'+' => Some(all),
        b'-' => Some(-all),
        _ => None,
    }
}

/// The number that `digits` represent; `None` if they contain anything else.
pub(super) fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |value, digit| match digit {
        b'0'..=b'9' => Some(value * 10 + i32::from(digit - b'0')),
        _ => None,
    })
}
