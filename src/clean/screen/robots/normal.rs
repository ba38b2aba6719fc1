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

/// The normal form of path and query of a canonical URL. `buffer` holds it if it may differ.
#[inline]
pub fn path<'a>(path: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    let [a, b, c, d] = *BYTES_THAT_CHANGE.as_bytes() else { unreachable!("they are four") };
    if !simd::contain_any(path, [a, b]) && !simd::contain_any(path, [c, d]) || is_normal_at_sight(path) {
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
    loop {
        let (same, other) = rest.split_at(normal_length(rest));
        normal.extend_from_slice(same);
        rest = match *other {
            [] => return,
            [b'%', high, low, ref after @ ..] if is_escape(other) => {
                match digit(high) << 4 | digit(low) {
                    unreserved if is_unreserved(unreserved) => normal.push(unreserved),
                    byte => push_escape(byte, normal),
                }
                after
            }
            [byte, ref after @ ..] => {
                push_escape(byte, normal);
                after
            }
        };
    }
}

/// Whether `path` of a canonical URL has nothing that may change: only escapes of other bytes than ASCII, in upper case. Without
/// branches, many bytes are looked at together.
fn is_normal_at_sight(path: &[u8]) -> bool {
    let begin = path.len().saturating_sub(2);
    let (first, last) = path.split_at(begin);
    let [second, third] = [1, 2].map(|from| path.get(from..from + begin).unwrap_or_default());
    let is_special = |byte| (byte == b'\'') | (byte == b'*') | (byte == b'$');
    let is_odd = |first, second, third| {
        is_special(first) | (first == b'%') & (!(b'8'..=b'F').contains(&second) | (third > b'F'))
    };
    let bytes = first.iter().zip(second).zip(third);
    let any = bytes.fold(false, |any, ((&first, &second), &third)| any | is_odd(first, second, third));
    // No escape begins in the last two bytes.
    !any && !last.iter().any(|&byte| is_special(byte))
}

/// The number of bytes at the start of `text` that are in normal form.
fn normal_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += match text[at..] {
            _ if IS_PLAIN[usize::from(byte)] => 1,
            [b'%', high, low, ..]
                if is_upper_digit(high)
                    && is_upper_digit(low)
                    && !is_unreserved(digit(high) << 4 | digit(low)) =>
            {
                3
            }
            _ => break,
        };
    }
    at
}

/// Whether a byte is its own normal form.
const IS_PLAIN: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_plain[byte] = is_legal(byte as u8, true) && !matches!(byte as u8, b'*' | b'$');
        byte += 1;
    }
    is_plain
};

/// RFC 3986, 2.3. As an escape, such a byte is decoded.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

const fn is_upper_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'F')
}

/// The value of a hexadecimal digit.
const fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        _ => (byte | 0x20) - b'a' + 10,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::{Cleaned, Cleaner};
    use crate::common::random::Random;

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

    #[test]
    fn a_path_that_is_normal_at_sight_is_its_own_normal_form() {
        let parts =
            ["a", "/", "%C3%BC", "%2F", "%41", "%c3", "%Cf", "'", "*", "$", "%80", "-longer-than-a-vector-"];
        let mut random = Random::new(1);
        let (mut normal, mut at_sight) = (0, 0);
        for length in 0..20_000 {
            let given: String = (0..length % 9).map(|_| parts[random.below(parts.len())]).collect();
            let mut pushed = Vec::new();
            push(given.as_bytes(), &mut pushed);
            assert_eq!(path(given.as_bytes(), &mut Vec::new()), pushed, "{given}");
            let is_same = pushed == given.as_bytes();
            assert!(is_same || !is_normal_at_sight(given.as_bytes()), "{given}");
            (normal, at_sight) =
                (normal + usize::from(is_same), at_sight + usize::from(is_normal_at_sight(given.as_bytes())));
        }
        assert!(at_sight > 3_000 && normal > at_sight, "{at_sight} of {normal}");
    }
}
