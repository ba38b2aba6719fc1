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

/// A decimal number from 0.0 to 5.0, written unchanged.
pub fn rating(raw: &[u8], _: &mut Cleaner, out: &mut Vec<u8>) -> bool {
    let raw = raw.trim_ascii();
    let is_decimal = raw.len() <= RATING_BYTES_MAX
        && raw.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.')
        && raw.first().is_some_and(u8::is_ascii_digit)
        && raw.last().is_some_and(u8::is_ascii_digit);
    let number = str::from_utf8(raw).ok().filter(|_| is_decimal).and_then(|text| text.parse::<f64>().ok());
    out.extend_from_slice(raw);
    number.is_some_and(|number| (0.0..=5.0).contains(&number))
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
