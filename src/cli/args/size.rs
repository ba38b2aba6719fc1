//! Sizes in bytes.

use std::fmt;
use std::str::FromStr;

/// A number of bytes, with an optional unit as GNU coreutils reads it: `2G`, `2Gi` and `2GiB` are powers of 1024, `2GB` is a
/// power of 1000. Case does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// The letters of units. Each unit is 1024 or 1000 times the previous one.
const LETTERS: [char; 4] = ['k', 'm', 'g', 't'];

impl FromStr for Size {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = word.split_at(digits);
        let size = unit_bytes(unit).and_then(|unit| number.parse::<u64>().ok()?.checked_mul(unit));
        size.map(Size).ok_or_else(|| {
            "expected a whole number, optionally with a unit: 512M, 2G or 2GiB (powers of 1024), or 2GB (powers of 1000)".into()
        })
    }
}

fn unit_bytes(unit: &str) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let mut letters = unit.chars();
    let Some(letter) = letters.next() else { return Some(1) };
    let power = LETTERS.iter().position(|known| *known == letter)? as u32 + 1;
    match letters.as_str() {
        "" | "i" | "ib" => Some(1024_u64.pow(power)),
        "b" => Some(1000_u64.pow(power)),
        _ => None,
    }
}

impl fmt::Display for Size {
    /// In the largest unit that gives a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (power, letter) in (1..).zip(LETTERS).collect::<Vec<_>>().into_iter().rev() {
            let unit = 1024_u64.pow(power);
            if self.0 >= unit && self.0.is_multiple_of(unit) {
                return write!(f, "{}{}iB", self.0 / unit, letter.to_ascii_uppercase());
            }
        }
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024_unless_they_end_in_b_alone() {
        for (words, bytes) in [
            (&["0", "0G"][..], 0),
            (&["1000"], 1_000),
            (&["512K", "512k", "512Ki", "512KiB", "512kib"], 524_288),
            (&["512KB", "512kB", "512kb"], 512_000),
            (&["10M", "10m", "10Mi", "10MiB"], 10_485_760),
            (&["10MB"], 10_000_000),
            (&["2G", "2g", "2Gi", "2GiB", "2048M"], 2 << 30),
            (&["2GB", "2gb"], 2_000_000_000),
            (&["3T", "3Ti", "3TiB"], 3 << 40),
            (&["3TB"], 3_000_000_000_000),
        ] {
            for word in words {
                assert_eq!(word.parse(), Ok(Size(bytes)), "{word}");
            }
        }
        for wrong in [
            "",
            "G",
            "-1",
            "+1",
            "1.5G",
            "1 G",
            "1B",
            "1GG",
            "1GiBB",
            "1Gib ",
            "1Bi",
            "99999999999G",
            "1E",
            "ü",
        ] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_size_is_shown_in_the_largest_whole_unit() {
        for (bytes, shown) in [
            (0, "0"),
            (1_000, "1000"),
            (1_536, "1536"),
            (10 << 20, "10MiB"),
            (1 << 30, "1GiB"),
            (1 << 40, "1TiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), shown);
            assert_eq!(shown.parse(), Ok(Size(bytes)));
        }
    }
}
