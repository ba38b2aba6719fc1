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
    /// Between the values of some lists. It is not detected, because names of files contain it, too.
    pub(super) const SPACE: Self = Self(b' ');
    /// Between the values of some exports.
    pub(super) const BAR: Self = Self(b'|');
    /// Between no values: the text has one column. It is a control character that no URL may have.
    pub(super) const NONE: Self = Self(0x1F);
    /// The delimiters that are detected. Of two that fit equally well, the first is used.
    pub(super) const DETECTED: [Self; 4] = [Self::TAB, Self(b';'), Self::BAR, Self::COMMA];

    /// The delimiter `byte`, if it must be set because it is not detected. Letters and digits are part of names, and every URL has
    /// dots and slashes.
    pub(super) fn undetected(byte: u8) -> Option<Self> {
        let by = Self(byte);
        let is_possible = byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"./".contains(&byte);
        (is_possible && !Self::DETECTED.contains(&by)).then_some(by)
    }

    /// The value of the option that sets it: the character, or `tab`.
    pub(crate) fn word(self) -> String {
        if self == Self::TAB { "tab".into() } else { char::from(self.0).into() }
    }

    /// Returns the character.
    pub fn as_byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// Reads one character, `tab` or `\t`.
    fn from_str(word: &str) -> Result<Self, String> {
        match word.as_bytes() {
            b"tab" | b"\\t" => Ok(Self::TAB),
            [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(Self(*byte)),
            _ => Err("expected tab or one ASCII character, but not a quote or a line end".into()),
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
        ] {
            let delimiter: Delimiter = word.parse().unwrap();
            assert_eq!((delimiter.as_byte(), &*delimiter.to_string()), (byte, shown));
            assert_eq!(delimiter.word().parse(), Ok(delimiter), "its word is a value of the option");
        }
        for wrong in ["", "\"", "\n", "\r", ";;", "ü", "comma"] {
            assert!(wrong.parse::<Delimiter>().is_err(), "{wrong:?}");
        }
    }
}
