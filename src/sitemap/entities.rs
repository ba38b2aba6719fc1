//! Entities: characters that XML escapes.

use crate::clean::CleanUrl;
use crate::common::simd;

/// How many bytes longer `&amp;` is than `&`.
pub const AMPERSAND_GROWTH: usize = b"&amp;".len() - 1;
/// How many bytes longer `&apos;` is than `'`.
pub const APOSTROPHE_GROWTH: usize = b"&apos;".len() - 1;

/// The number of bytes that escaping adds to `url`.
#[inline]
pub fn growth(url: &[u8]) -> usize {
    let (mut ampersands, mut apostrophes) = (0, 0);
    // Counters of one byte vectorise best. 255 bytes at a time cannot overflow them.
    for part in url.chunks(u8::MAX.into()) {
        let count = |byte| part.iter().fold(0, |sum: u8, &one| sum + u8::from(one == byte));
        ampersands += usize::from(count(b'&'));
        apostrophes += usize::from(count(b'\''));
    }
    AMPERSAND_GROWTH * ampersands + APOSTROPHE_GROWTH * apostrophes
}

/// Appends `url` to the output, escaped.
#[inline]
pub fn push_escaped(url: CleanUrl<'_>, out: &mut Vec<u8>) {
    let mut rest = url.as_bytes();
    if !url.may_grow() {
        return out.extend_from_slice(rest);
    }
    // A clean URL can contain only two of the five characters that need escaping: cleaning percent-encodes `< > "`.
    while let Some(at) = simd::find_any(rest, *b"&'") {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(if rest[at] == b'&' { b"&amp;" } else { b"&apos;" });
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends any text, escaped: all five characters that both protocols list ("Entity escaping").
pub fn push_escaped_text(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'&' => out.extend_from_slice(b"&amp;"),
            b'\'' => out.extend_from_slice(b"&apos;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            _ => out.push(byte),
        }
    }
}
