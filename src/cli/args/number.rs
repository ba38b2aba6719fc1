//! Whole numbers.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use sitemill::options::Level;

/// Parses a whole number.
pub fn whole<T: FromStr<Err = ParseIntError>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|error: ParseIntError| {
        let why = match error.kind() {
            IntErrorKind::PosOverflow => "the number is too large",
            IntErrorKind::Zero => "expected 1 or more",
            _ => "expected a whole number, digits only",
        };
        why.into()
    })
}

/// Parses a level of compression.
pub fn level(word: &str) -> Result<Level, String> {
    word.parse().ok().and_then(Level::new).ok_or_else(|| "expected a number from 0 to 9".into())
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    #[test]
    fn a_wrong_number_is_refused_with_what_is_expected() {
        assert_eq!(whole::<u32>("50000"), Ok(50_000));
        for word in ["50,000", "50_000", "-1", "1.5", "many", ""] {
            assert_eq!(whole::<u32>(word).unwrap_err(), "expected a whole number, digits only", "{word}");
        }
        assert_eq!(whole::<u32>("4294967296").unwrap_err(), "the number is too large");
        assert_eq!(whole::<NonZero<usize>>("0").unwrap_err(), "expected 1 or more");
    }
}
