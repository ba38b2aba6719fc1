//! Texts of fields: checks each kind of text, and writes it with the five special characters escaped.

use crate::clean::{CleanUrl, Cleaned, Cleaner};
use crate::limits::LINE_BYTES_MAX;
use crate::sitemap::entities::{push_escaped, push_escaped_text};
use crate::sitemap::tags::lastmod::plain_lastmod;

/// The canonical form of a URL in a field; `None` if it is not a valid URL.
pub fn clean<'a>(cleaner: &'a mut Cleaner, raw: &'a [u8]) -> Option<CleanUrl<'a>> {
    match cleaner.clean(raw) {
        Cleaned::Url(url) => Some(url),
        Cleaned::Blank | Cleaned::Rejected(_) => None,
    }
}

/// A URL, which is cleaned.
pub fn url(raw: &[u8], cleaner: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    clean(cleaner, raw).is_some_and(|url| {
        push_escaped(url, out);
        true
    })
}

/// Text of at most `CHARACTERS` characters and [`LINE_BYTES_MAX`] bytes. Tabs and line ends become spaces, so that an entry stays
/// on one line.
pub fn text<const CHARACTERS: usize>(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    let Ok(text) = str::from_utf8(raw) else { return false };
    if raw.len() > LINE_BYTES_MAX || text.chars().count() > CHARACTERS || !text.chars().all(is_of_xml) {
        return false;
    }
    if memchr::memchr3(b'\t', b'\n', b'\r', raw).is_none() {
        push_escaped_text(text, out);
    } else {
        push_escaped_text(&text.replace("\r\n", " ").replace(['\t', '\n', '\r'], " "), out);
    }
    !text.is_empty()
}

/// Whether XML allows `character`: XML 1.0, 2.2.
fn is_of_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// A date, or a time with a zone, written like a `lastmod`.
pub fn time(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    plain_lastmod(raw).is_some_and(|time| {
        out.extend_from_slice(time.as_bytes());
        true
    })
}

/// A whole number from `LEAST` to `MOST`. A fraction of zero is left out: data frames write the numbers of a column with gaps as
/// `90.0`.
pub fn whole<const LEAST: u64, const MOST: u64>(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    let is_zero = |fraction: &[u8]| !fraction.is_empty() && fraction.iter().all(|&digit| digit == b'0');
    let point = memchr::memchr(b'.', raw).filter(|&point| is_zero(&raw[point + 1..]));
    let raw = &raw[..point.unwrap_or(raw.len())];
    let is_number = raw.iter().all(u8::is_ascii_digit);
    let number = str::from_utf8(raw).ok().filter(|_| is_number).and_then(|text| text.parse::<u64>().ok());
    out.extend_from_slice(raw);
    number.is_some_and(|number| (LEAST..=MOST).contains(&number))
}

/// Maximum digits of a rating.
const RATING_BYTES_MAX: usize = 20;

/// A decimal number from 0.0 to 5.0, written unchanged. Its digits are compared, because a float would round `5.000000000000000001`
/// to 5.
pub fn rating(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    out.extend_from_slice(raw);
    let point = memchr::memchr(b'.', raw).unwrap_or(raw.len());
    let (whole, fraction) = (&raw[..point], raw.get(point + 1..));
    let is_decimal = raw.len() <= RATING_BYTES_MAX
        && [whole, fraction.unwrap_or(b"0")]
            .iter()
            .all(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit));
    let all_zero = |digits: &[u8]| digits.iter().all(|&digit| digit == b'0');
    is_decimal
        && match whole.split_last() {
            Some((b'0'..=b'4', before)) => all_zero(before),
            Some((b'5', before)) => all_zero(before) && all_zero(fraction.unwrap_or_default()),
            _ => false,
        }
}

/// `yes` or `no`, in any case; `true` and `false` are also read.
pub fn yes_or_no(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let is = |word: &str| raw.trim_ascii().eq_ignore_ascii_case(word.as_bytes());
    let word = if is("yes") || is("true") { "yes" } else { "no" };
    out.extend_from_slice(word.as_bytes());
    word == "yes" || is("no") || is("false")
}

/// Appends the one of `words` that equals `raw` in any case. Returns false if there is none.
pub fn word(words: &[&str], raw: &[u8], out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    let found = words.iter().find(|word| raw.eq_ignore_ascii_case(word.as_bytes()));
    found.iter().for_each(|word| out.extend_from_slice(word.as_bytes()));
    found.is_some()
}

/// Appends the parts of a list with `separator` between them. `write` appends a part. Returns false if there is none or one cannot
/// be written.
pub fn list(
    parts: impl Iterator<Item: AsRef<[u8]>>,
    separator: &str,
    out: &mut Vec<u8>,
    mut write: impl FnMut(&[u8], &mut Vec<u8>) -> bool,
) -> bool {
    let before = out.len();
    for part in parts {
        if out.len() > before {
            out.extend_from_slice(separator.as_bytes());
        }
        if !write(part.as_ref(), out) {
            return false;
        }
    }
    out.len() > before
}

/// The words in `raw` between blanks and commas.
pub fn words(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split(|&byte| byte == b',' || byte.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// The parts of `raw` between commas, without surrounding blanks.
pub fn parts(raw: &[u8]) -> impl Iterator<Item = &[u8]> {
    raw.split(|&byte| byte == b',').map(<[u8]>::trim_ascii)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rating_is_compared_by_its_digits() {
        for (raw, is_written) in [
            ("0", true),
            ("4.99", true),
            ("5.0", true),
            (" 005.00 ", true),
            ("5.000000000000000000", true),
            ("5.000000000000000001", false),
            ("5.0000000000000000000", false),
            ("5.1", false),
            ("6", false),
            ("14.0", false),
            ("15.0", false),
            ("-1", false),
            (".5", false),
            ("5.", false),
            ("4.0.0", false),
            ("", false),
            (".", false),
            ("NaN", false),
        ] {
            let mut out = Vec::new();
            assert_eq!(rating(raw.as_bytes(), &mut Cleaner::default(), &mut out), is_written, "{raw}");
            assert_eq!(out, raw.trim_ascii().as_bytes());
        }
    }
}
