//! Escapes untrusted bytes for terminals, logs and tab-separated files.

/// Maximum number of bytes of untrusted text in a message or summary.
pub const SHOWN_BYTES_MAX: usize = 200;

/// Appends `bytes`, with everything escaped that could break a row or control a terminal: `\t`, `\n`, `\r`, `\\`, and `\xhh` for
/// each byte that is not printable UTF-8, including control and bidirectional characters.
pub fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for part in bytes.utf8_chunks() {
        for c in part.valid().chars() {
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
        hex(part.invalid(), out);
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

/// Returns the first `bytes_max` bytes, escaped, followed by `…` if there are more.
pub fn cut(bytes: &[u8], bytes_max: usize) -> String {
    let mut out = Vec::with_capacity(bytes.len().min(bytes_max) + 8);
    escape(&bytes[..bytes.len().min(bytes_max)], &mut out);
    if bytes.len() > bytes_max {
        out.extend("…".as_bytes());
    }
    String::from_utf8(out).expect("escape() writes UTF-8 only")
}

/// Formats `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `number` with three significant digits, for an estimate: more would look like a count. Rounded up, because estimates are
/// compared with what is there.
pub fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    number.div_ceil(unit).saturating_mul(unit)
}

/// `1 sitemap`, `2,000 sitemaps`.
pub fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// ` and 2,000 more`, which ends a list if so many are `left_out`. Empty if none is.
pub fn and_more(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    }
}

/// Returns whether `{:?}` shows `c` unescaped. It is shown after a letter, because a combining mark is printable only there;
/// quotes are printable here.
pub(crate) fn is_printable(c: char) -> bool {
    c == '"' || c == '\'' || String::from_iter(['a', c]).escape_debug().count() == 2
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend(format!("\\x{byte:02x}").as_bytes());
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
        assert_eq!(cut(b"abcdef", 3), "abc…");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        for (number, want) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (123_456, "123,456"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), want);
        }
        for (number, want) in
            [(0, 0), (7, 7), (999, 999), (1_234, 1_240), (999_986, 1_000_000), (47_820_725, 47_900_000)]
        {
            assert_eq!(rounded(number), want);
        }
        assert!(rounded(u64::MAX) > u64::MAX / 2);
        assert_eq!([0, 1, 2_000].map(and_more), ["", " and 1 more", " and 2,000 more"]);
    }
}
