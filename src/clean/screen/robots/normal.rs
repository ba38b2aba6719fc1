//! The form in which paths and patterns of robots.txt are compared (RFC 9309, 2.2.2 and 2.2.3): escapes of unreserved characters
//! are decoded, hexadecimal digits are upper case, and everything that canonical URLs may spell in two ways is percent-encoded.

use crate::clean::encode::push_escape;
use crate::clean::legal::{is_escape, is_legal};
use crate::common::simd;

/// The normal form of the pattern in a rule. `*`, and `$` at the end, keep their meaning; elsewhere, `$` is a character. The
/// beginning of an escape stays as it is if the path may go on there, because the path may have the rest of the escape.
pub fn pattern(value: &[u8]) -> String {
    let (value, is_anchored) = match value {
        [value @ .., b'$'] => (value, true),
        value => (value, false),
    };
    let mut normal = Vec::with_capacity(value.len() + 1);
    let mut literals = value.split(|&byte| byte == b'*').peekable();
    while let Some(literal) = literals.next() {
        let is_last = literals.peek().is_none();
        let (whole, begun) = match is_last && is_anchored {
            true => (literal, &b""[..]),
            false => literal.split_at(literal.len() - begun_escape(literal)),
        };
        push(whole, &mut normal);
        normal.extend(begun.to_ascii_uppercase());
        if !is_last {
            normal.push(b'*');
        }
    }
    if is_anchored {
        normal.push(b'$');
    }
    String::from_utf8(normal).expect("everything else is percent-encoded")
}

/// The only bytes of a canonical URL that its normal form may have in another way.
pub const BYTES_THAT_CHANGE: &str = "%'*$";

/// The normal form of path and query of a canonical URL. `buffer` holds it if it differs.
#[inline]
pub fn path<'a>(path: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let [a, b, c, d] = *BYTES_THAT_CHANGE.as_bytes() else { unreachable!("they are four") };
    if !simd::contain_any(path, [a, b]) && !simd::contain_any(path, [c, d]) {
        return path;
    }
    buffer.clear();
    push(path, buffer);
    buffer
}

/// The number of bytes at the end of `literal` that begin an escape: `%` or `%2`.
fn begun_escape(literal: &[u8]) -> usize {
    match literal {
        [.., b'%'] => 1,
        [.., b'%', digit] if digit.is_ascii_hexdigit() => 2,
        _ => 0,
    }
}

/// Appends `text`, in which no byte has a special meaning.
fn push(text: &[u8], normal: &mut Vec<u8>) {
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if !is_escape(&[&[byte], after.get(..2).unwrap_or_default()].concat()) {
            push_character(byte, normal);
            continue;
        }
        let digit = |at: usize| char::from(after[at]).to_digit(16).expect("it is an escape") as u8;
        match digit(0) << 4 | digit(1) {
            unreserved if unreserved.is_ascii_alphanumeric() || b"-._~".contains(&unreserved) => {
                normal.push(unreserved);
            }
            other => push_escape(other, normal),
        }
        rest = &after[2..];
    }
}

/// Appends a byte that has no special meaning.
fn push_character(byte: u8, normal: &mut Vec<u8>) {
    match is_legal(byte, true) && !matches!(byte, b'*' | b'$') {
        true => normal.push(byte),
        false => push_escape(byte, normal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};

    #[test]
    fn spellings_of_one_path_have_one_form() {
        for (given, want) in [
            ("/a b", "/a%20b"),
            ("/ü", "/%C3%BC"),
            ("/%c3%bc", "/%C3%BC"),
            ("/%62%61%7A%7e", "/baz~"),
            ("/it's", "/it%27s"),
            ("/a|b", "/a%7Cb"),
            ("/50%-", "/50%25-"),
            ("/a%2fb%3A", "/a%2Fb%3A"),
            ("/%2A%24", "/%2A%24"),
        ] {
            assert_eq!(pattern(given.as_bytes()), want);
            let line = format!("http://h.example{given}");
            let mut cleaner = Cleaner::default();
            let Cleaned::Url(url) = cleaner.clean(line.as_bytes()) else { panic!("{line} is a URL") };
            let canonical = &url.as_bytes()["http://h.example".len()..];
            assert_eq!(path(canonical, &mut Vec::new()), want.as_bytes(), "{given}");
        }
        assert_eq!(pattern(b"/*a*$b$"), "/*a*%24b$");
        for (given, want) in
            [("/50%", "/50%"), ("/50%$", "/50%25$"), ("/*%e3%8", "/*%E3%8"), ("/%c*%%*%g", "/%C*%25%*%25g")]
        {
            assert_eq!(pattern(given.as_bytes()), want);
        }
        assert_eq!(path(b"/50%25", &mut Vec::new()), b"/50%25");
        assert_eq!(path(b"/a*b$", &mut Vec::new()), b"/a%2Ab%24");
    }
}
