//! Delimiters: the character between two values of a row.

use std::fmt;
use std::str::FromStr;

/// The character between two values of a row: any ASCII character except a quote and a line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// Between the values of TSV.
    pub const TAB: Self = Self(b'\t');
    /// Between the values of CSV, unless its header shows another one.
    pub const COMMA: Self = Self(b',');
    /// Between the values of CSV where commas are decimal points.
    pub(super) const SEMICOLON: Self = Self(b';');
    /// Between the values of some lists. It is not detected, because names of files contain it, too.
    pub(super) const SPACE: Self = Self(b' ');
    /// Between the values of some exports.
    pub(super) const BAR: Self = Self(b'|');
    /// Between the values of text tables of Hive and Athena, which have no header.
    const HIVE: Self = Self(1);
    /// Between the values of a few exports, as ASCII intends it ("unit separator").
    const UNIT: Self = Self(0x1F);
    /// For texts with one column. In most texts, it separates nothing.
    pub(super) const NONE: Self = Self::UNIT;
    /// The delimiters that are detected. Of two that fit equally well, the first is used.
    pub(super) const DETECTED: [Self; 6] =
        [Self::HIVE, Self::UNIT, Self::TAB, Self::SEMICOLON, Self::BAR, Self::COMMA];
    /// The control characters among them.
    pub(crate) const CONTROLS: [Self; 3] = [Self::HIVE, Self::UNIT, Self::TAB];

    /// The delimiter `byte`, if it must be set because it is not detected. Letters and digits are part of names, and every URL has
    /// dots and slashes.
    pub(super) fn undetected(byte: u8) -> Option<Self> {
        let by = Self(byte);
        let is_possible = byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"./".contains(&byte);
        (is_possible && !Self::DETECTED.contains(&by)).then_some(by)
    }

    /// The value of the option that sets it: the character, `tab`, or a number such as `\x01`.
    pub(crate) fn word(self) -> String {
        match self.0 {
            b'\t' => "tab".into(),
            byte if byte.is_ascii_control() => format!("\\x{byte:02x}"),
            byte => char::from(byte).into(),
        }
    }

    /// Whether it is a control character, which no URL contains.
    pub(super) fn is_control(self) -> bool {
        self.0.is_ascii_control()
    }

    /// Returns the character.
    pub fn as_byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// Reads one character, `tab`, `\t`, or the number of a character as `\x01` (hexadecimal) or `\001` (octal).
    fn from_str(word: &str) -> Result<Self, String> {
        let numbered = match word.as_bytes() {
            // Not a sign, which numbers may have.
            [b'\\', b'x', high, _] if high.is_ascii_hexdigit() => u8::from_str_radix(&word[2..], 16).ok(),
            [b'\\', b'0'..=b'1', _, _] => u8::from_str_radix(&word[1..], 8).ok(),
            _ => None,
        };
        match (word.as_bytes(), numbered) {
            (b"tab" | b"\\t", _) => Ok(Self::TAB),
            (_, Some(byte)) | (&[byte], _) if byte.is_ascii() && !b"\"\r\n".contains(&byte) => Ok(Self(byte)),
            _ => {
                let expected = "expected tab, an ASCII character or its code, such as \\x01; quotes and line ends are not allowed";
                Err(expected.into())
            }
        }
    }
}

impl fmt::Display for Delimiter {
    /// As shown in a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            b'\'' => f.write_str("\"'\""),
            byte if byte == b',' || byte.is_ascii_alphanumeric() => write!(f, "{}", char::from(byte)),
            byte if byte.is_ascii_graphic() || byte == b' ' => write!(f, "'{}'", char::from(byte)),
            byte => write!(f, "\\x{byte:02x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delimiter_is_one_ascii_character_or_the_word_tab() {
        for (word, byte, shown) in [
            ("tab", b'\t', "tab"),
            ("\\t", b'\t', "tab"),
            ("\t", b'\t', "tab"),
            (",", b',', ","),
            (";", b';', "';'"),
            ("|", b'|', "'|'"),
            (" ", b' ', "' '"),
            ("'", b'\'', "\"'\""),
            ("\u{1}", 1, "\\x01"),
            ("\\x01", 1, "\\x01"),
            ("\\001", 1, "\\x01"),
            ("\\x7C", b'|', "'|'"),
        ] {
            let delimiter: Delimiter = word.parse().unwrap();
            assert_eq!((delimiter.as_byte(), &*delimiter.to_string()), (byte, shown));
            assert_eq!(delimiter.word().parse(), Ok(delimiter), "its word is a value of the option");
        }
        for wrong in
            ["", "\"", "\n", "\r", ";;", "ü", "comma", "\\x22", "\\x0a", "\\012", "\\x80", "\\xü", "\\x+1"]
        {
            assert!(wrong.parse::<Delimiter>().is_err(), "{wrong:?}");
        }
    }
}
