//! Escapes untrusted bytes for terminals, logs and tab-separated files.

use std::io::Write;

/// Maximum number of bytes of untrusted text in a message or summary.
pub const SHOWN_BYTES_MAX: usize = 200;

/// Appends `bytes`, with everything escaped that could break a row or control a terminal: `\t`, `\n`, `\r`, `\\`, and `\xhh` for
/// each byte that is not printable UTF-8, including control and bidirectional characters.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.utf8_chunks() {
        let mut rest = part.valid();
        loop {
            let plain = rest.bytes().take_while(|&byte| is_plain(byte)).count();
            let (plain, others) = rest.split_at(plain);
            out.extend_from_slice(plain.as_bytes());
            let mut others = others.chars();
            let Some(c) = others.next() else { break };
            push(c, out);
            rest = others.as_str();
        }
        hex(part.invalid(), out);
    }
}

/// Whether `byte` is printable ASCII that needs no escape.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'\\'
}

fn push(c: char, out: &mut Vec<u8>) {
    let mut utf8 = [0; 4];
    let encoded = c.encode_utf8(&mut utf8).as_bytes();
    match c {
        '\t' => out.extend(br"\t"),
        '\n' => out.extend(br"\n"),
        '\r' => out.extend(br"\r"),
        '\\' => out.extend(br"\\"),
        _ if is_printable(c) => out.extend(encoded),
        _ => hex(encoded, out),
    }
}

/// Returns the text that [`escape`] has turned into `escaped`.
pub fn unescape(escaped: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
        let (byte, bytes) = match &rest[at + 1..] {
            [b't', ..] => (b'\t', 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b'x', digits @ ..] if digits.len() >= 2 => (hex(&digits[..2]).unwrap_or(b'\\'), 3),
            _ => (b'\\', 1),
        };
        out.push(byte);
        rest = &rest[(at + 1 + bytes).min(rest.len())..];
    }
    out.extend_from_slice(rest);
    out
}

/// Returns `bytes` as text for messages: escaped, and truncated to [`SHOWN_BYTES_MAX`] bytes.
pub fn shown(bytes: &[u8]) -> String {
    cut(bytes, SHOWN_BYTES_MAX)
}

/// Returns at most the first `bytes_max` bytes, escaped; a character is not split. `…` follows if there are more.
pub fn cut(bytes: &[u8], bytes_max: usize) -> String {
    let bytes_max = bytes_max.min(bytes.len());
    let is_boundary = |&at: &usize| bytes.get(at).is_none_or(|byte| byte & 0xC0 != 0x80);
    // A character has at most four bytes. Without a boundary among so many, the bytes are not UTF-8.
    let end = (0..=bytes_max).rev().take(4).find(is_boundary).unwrap_or(bytes_max);
    let mut out = Vec::with_capacity(end + 8);
    escape(&bytes[..end], &mut out);
    if end < bytes.len() {
        out.extend("…".as_bytes());
    }
    String::from_utf8(out).expect("escape() writes UTF-8 only")
}

/// Returns whether `{:?}` shows `c` unescaped. It is shown after a letter, because a combining mark is printable only there;
/// quotes are printable here.
pub(crate) fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return is_plain(c as u8);
    }
    let mut text = *b"a\0\0\0\0";
    let bytes = 1 + c.encode_utf8(&mut text[1..]).len();
    let text = str::from_utf8(&text[..bytes]).expect("a letter and a character");
    text.escape_debug().count() == 2
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        write!(out, "\\x{byte:02x}").expect("a vector takes any number of bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_reach_a_row_or_terminal_only_escaped() {
        for (raw, want) in [
            (&b"plain /a?b='c'&\"d\""[..], "plain /a?b='c'&\"d\""),
            (b"tab\tnewline\nreturn\r", r"tab\tnewline\nreturn\r"),
            (br"back\slash", r"back\\slash"),
            (b"\x1b[31mred\x07\x7f", r"\x1b[31mred\x07\x7f"),
            ("bücher 日本".as_bytes(), "bücher 日本"),
            ("cafe\u{301} ไทย".as_bytes(), "cafe\u{301} ไทย"),
            (b"latin \xe9!", r"latin \xe9!"),
            ("bidi \u{202e}x".as_bytes(), r"bidi \xe2\x80\xaex"),
        ] {
            assert_eq!(cut(raw, 100), want);
            assert_eq!(unescape(want.as_bytes()), raw);
        }
    }

    #[test]
    fn a_cut_does_not_split_a_character() {
        for (raw, bytes_max, want) in [
            (&b"abcdef"[..], 3, "abc…"),
            (b"abcdef", 0, "…"),
            (b"abc", 3, "abc"),
            ("日本".as_bytes(), 2, "…"),
            ("日本".as_bytes(), 4, "日…"),
            ("日本".as_bytes(), 5, "日…"),
            ("日本".as_bytes(), 6, "日本"),
            ("a\u{1f600}b".as_bytes(), 4, "a…"),
            (b"\x80\x80\x80\x80\x80\x80", 5, r"\x80\x80\x80\x80\x80…"),
        ] {
            assert_eq!(cut(raw, bytes_max), want);
        }
    }

    #[test]
    fn every_character_is_escaped_as_debug_shows_it_after_a_letter() {
        for c in '\0'..=char::MAX {
            let is_shown = matches!(c, '"' | '\'') || String::from_iter(['a', c]).escape_debug().count() == 2;
            assert_eq!(is_printable(c), is_shown, "{c:?}");
            let shown = shown(c.to_string().as_bytes());
            assert_eq!(shown == c.to_string(), is_shown, "{c:?}");
            assert_eq!(unescape(shown.as_bytes()), c.to_string().as_bytes());
        }
    }
}
