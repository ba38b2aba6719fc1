//! References: the five predefined entities of XML, such as `&amp;`, and character references. No other entity is looked up,
//! and replacement text is not parsed again, so nothing can expand.

/// Why a reference is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It names none of the five entities.
    Entity,
    /// XML does not allow the character: XML 1.0, 2.2.
    Character,
}

/// Returns the character for the reference `&name;`: XML 1.0, 4.1 and 4.6.
#[inline]
pub(crate) fn resolve(name: &str) -> Result<char, Wrong> {
    match name {
        "amp" => Ok('&'),
        "apos" => Ok('\''),
        "quot" => Ok('"'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        _ => match name.strip_prefix('#') {
            Some(number) => character(number).ok_or(Wrong::Character),
            None => Err(Wrong::Entity),
        },
    }
}

fn character(number: &str) -> Option<char> {
    let (digits, radix) = match number.strip_prefix('x') {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    // Rust's parser would accept a sign, which is not a digit.
    let code = match digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => u32::from_str_radix(digits, radix).ok()?,
        false => return None,
    };
    char::from_u32(code).filter(|&c| is_legal(c))
}

fn is_legal(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}')
}

/// Returns whether XML allows every character of `text`.
#[inline]
pub(crate) fn is_legal_text(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_control = bytes.iter().fold(false, |found, &byte| {
        found | (byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r')
    });
    !has_control && (memchr::memchr(0xef, bytes).is_none() || text.chars().all(is_legal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_five_entities_and_numeric_references_are_known() {
        for (name, want) in [
            ("amp", Ok('&')),
            ("apos", Ok('\'')),
            ("quot", Ok('"')),
            ("lt", Ok('<')),
            ("gt", Ok('>')),
            ("#38", Ok('&')),
            ("#x26", Ok('&')),
            ("#xFC", Ok('ü')),
            ("nbsp", Err(Wrong::Entity)),
            ("AMP", Err(Wrong::Entity)),
            ("", Err(Wrong::Entity)),
            ("#", Err(Wrong::Character)),
            ("#x", Err(Wrong::Character)),
            ("#0", Err(Wrong::Character)),
            ("#xD800", Err(Wrong::Character)),
            ("#xFFFF", Err(Wrong::Character)),
            ("#+38", Err(Wrong::Character)),
            ("#X26", Err(Wrong::Character)),
            ("#99999999999", Err(Wrong::Character)),
        ] {
            assert_eq!(resolve(name), want, "{name}");
        }
    }

    #[test]
    fn the_quick_look_at_a_text_agrees_with_the_plain_one() {
        for code in 0..0x11_000 {
            let Some(c) = char::from_u32(code) else { continue };
            let text: String = ['a', c, 'b'].into_iter().collect();
            assert_eq!(is_legal_text(&text), is_legal(c), "{code:x}");
        }
    }
}
