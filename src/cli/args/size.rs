//! Sizes.

use std::fmt;
use std::str::FromStr;

/// Bytes, as people write them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl FromStr for Size {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let in_unit = UNITS.iter().find_map(|&(unit, bytes)| Some((word.strip_suffix(unit)?, bytes)));
        let (number, unit) = in_unit.unwrap_or((word, 1));
        let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        size.map(Size).ok_or_else(|| "a size is a whole number of bytes, or of KiB, MiB or GiB: 10MiB".into())
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, bytes)| self.0 >= *bytes && self.0.is_multiple_of(*bytes)) {
            Some((unit, bytes)) => write!(f, "{}{unit}", self.0 / bytes),
            None => write!(f, "{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_binary_units_or_plain_bytes() {
        for (word, bytes) in [("10MiB", 10_485_760), ("512KiB", 524_288), ("1GiB", 1 << 30), ("1000", 1000)] {
            assert_eq!(word.parse(), Ok(Size(bytes)));
            assert_eq!(Size(bytes).to_string(), word);
        }
        for wrong in ["", "MiB", "-1", "1.5MiB", "10MB", "1 KiB", "99999999999GiB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }
}
