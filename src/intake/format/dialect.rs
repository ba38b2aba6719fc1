//! Dialects of CSV: the characters between values, and before quotes within values.

use std::str::FromStr;

use super::delimiter::Delimiter;

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The character between values.
    pub by: Delimiter,
    /// The character before a quote within quotes, if quotes are not doubled.
    pub escape: Option<QuoteEscape>,
}

impl Dialect {
    /// The character between values.
    pub fn delimiter(self) -> u8 {
        self.by.as_byte()
    }

    /// The character before a quote within quotes, if there is one.
    pub fn escape(self) -> Option<u8> {
        self.escape.map(QuoteEscape::as_byte)
    }

    /// A new reader of rows.
    pub fn reader(self) -> csv_core::Reader {
        csv_core::ReaderBuilder::new().delimiter(self.delimiter()).escape(self.escape()).build()
    }
}

/// The character that escapes a quote in a quoted value, usually a backslash. Before any other character, it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteEscape(u8);

impl QuoteEscape {
    /// A backslash, as Spark, Hadoop, MySQL and Redshift write it.
    pub(crate) const BACKSLASH: Self = Self(b'\\');

    /// Returns the character.
    pub fn as_byte(self) -> u8 {
        self.0
    }

    /// The value of the option that sets it.
    pub(crate) fn word(self) -> String {
        char::from(self.0).into()
    }
}

impl FromStr for QuoteEscape {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match *word.as_bytes() {
            [byte] if byte.is_ascii_punctuation() && byte != b'"' => Ok(Self(byte)),
            _ => Err("expected one ASCII punctuation character other than a quote, such as \\".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_escaped_by_one_punctuation_character() {
        for word in ["\\", "^", "!", "'"] {
            let escape: QuoteEscape = word.parse().unwrap();
            assert_eq!(escape.word(), word);
        }
        for wrong in ["", "\"", "\\\\", "n", "0", " ", "\n", "§", "backslash"] {
            assert!(wrong.parse::<QuoteEscape>().is_err(), "{wrong:?}");
        }
    }
}
