//! The grammars of values in extensions.

use std::cmp::Ordering;

use crate::commands::check::loc;
use crate::commands::check::values::{Wrong, check_lastmod};
use crate::limits::Protocol;

/// Accepts any text, even an empty one: many templates write each optional element, and the schemas permit that.
pub(super) fn any_text(_: &[u8]) -> Result<(), Wrong> {
    Ok(())
}

/// Accepts any text that is not empty.
pub(super) fn some_text(value: &[u8]) -> Result<(), Wrong> {
    if value.is_empty() { Err("it is empty") } else { Ok(()) }
}

/// Checks that a text has at most `MAX` characters.
pub(super) fn text_of_at_most<const MAX: usize>(value: &[u8]) -> Result<(), Wrong> {
    match String::from_utf8_lossy(value).chars().count() <= MAX {
        true => Ok(()),
        false => Err(match MAX {
            100 => "longer than 100 characters",
            255 => "longer than 255 characters",
            256 => "longer than 256 characters",
            2_048 => "longer than 2,048 characters",
            _ => unreachable!("no text has this limit"),
        }),
    }
}

/// Checks that a text is not empty and has at most `MAX` characters.
pub(super) fn some_text_of_at_most<const MAX: usize>(value: &[u8]) -> Result<(), Wrong> {
    some_text(value)?;
    text_of_at_most::<MAX>(value)
}

/// Checks a URL of any host.
pub(super) fn url(value: &[u8]) -> Result<(), Wrong> {
    loc::check_grammar(value)?;
    match loc::check_length(value) {
        Ordering::Greater => Err(&loc::TOO_LONG),
        _ => Ok(()),
    }
}

/// Checks a URL of any host, which may be empty.
pub(super) fn url_or_empty(value: &[u8]) -> Result<(), Wrong> {
    if value.is_empty() { Ok(()) } else { url(value) }
}

/// Checks a W3C Datetime: a date, or a time with a zone.
pub(super) fn time(value: &[u8]) -> Result<(), Wrong> {
    check_lastmod(value, Protocol::V0_84).or_else(|_| check_lastmod(value, Protocol::V0_9))
}

/// Checks for `yes` or `no` in any case.
pub(super) fn yes_or_no(value: &[u8]) -> Result<(), Wrong> {
    one_of(&["yes", "no"], &value.to_ascii_lowercase(), "neither yes nor no")
}

/// Checks for `allow` or `deny`.
pub(super) fn allow_or_deny(value: &[u8]) -> Result<(), Wrong> {
    one_of(&["allow", "deny"], value, "neither allow nor deny")
}

/// Checks that `value` is one of `words`.
pub(super) fn one_of(words: &[&str], value: &[u8], wrong: Wrong) -> Result<(), Wrong> {
    match words.iter().any(|word| value == word.as_bytes()) {
        true => Ok(()),
        false => Err(wrong),
    }
}

/// Returns a whole number without a sign; `None` for anything else.
pub(super) fn whole(value: &[u8]) -> Option<u64> {
    let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    str::from_utf8(value).ok().filter(|_| is_number)?.parse().ok()
}
