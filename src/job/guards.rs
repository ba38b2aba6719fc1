//! Guards: conditions that new data must meet to replace the live set.

use std::fmt;
use std::ops::{RangeFrom, RangeInclusive};
use std::str::FromStr;

/// Conditions that the data must meet to be published. A build whose data do not meet them leaves the live set unchanged and
/// returns the reason in [`Outcome::refused`](crate::Outcome::refused).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Guards {
    /// Refuse unless the inputs have this many lines.
    pub expect_lines: Option<ExpectLines>,
    /// Refuse if more lines than this are rejected.
    pub max_rejects: Option<MaxRejects>,
    /// Refuse if more tags than this are dropped because they are invalid.
    pub max_dropped_tags: Option<MaxDroppedTags>,
    /// Refuse if the set has fewer URLs than the live one by more than this percentage.
    pub max_shrink: MaxShrink,
    /// Publish an empty set if the input has no valid URL. `max_shrink` does not apply to an empty set.
    pub allow_empty: bool,
    /// Do not warn of live sites without URLs in the inputs, for inputs that cover only some of the sites. Only with a base URL
    /// for each origin. [`Report::kept_sites`](crate::Report::kept_sites) names them all the same.
    pub allow_missing_sites: bool,
}

/// Maximum number of rejected lines. Parsed from a number of lines, or from a percentage of all lines such as `0.5%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxRejects(Limit);

/// Maximum number of tags that are dropped because they are invalid. Parsed from a number of tags, or from a percentage of the
/// tags in the input such as `0.5%`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaxDroppedTags(Limit);

/// A number of things, or a percentage of all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Count(u64),
    /// From 0 to 100.
    Percent(f64),
}

impl Limit {
    fn parse(word: &str, things: &str) -> Result<Self, String> {
        let wrong = || format!("expected a number of {things}, or a percentage like 0.5%");
        match word.strip_suffix('%') {
            None => word.parse().map(Self::Count).map_err(|_| wrong()),
            Some(number) if number.parse().is_ok_and(|percent: f64| percent > 100.0) => {
                Err("expected at most 100%".into())
            }
            Some(number) => percent(number).map(Self::Percent).ok_or_else(wrong),
        }
    }
}

/// Implements a limit on `$things`.
macro_rules! limit_on {
    ($things:literal, $limit:ident) => {
        impl $limit {
            #[doc = concat!("At most this many ", $things, ".")]
            pub fn count(max: u64) -> Self {
                Self(Limit::Count(max))
            }

            #[doc = concat!("At most this percentage of all ", $things, "; `None` if it is not from 0 to 100.")]
            pub fn percent(max: f64) -> Option<Self> {
                is_percentage(max).then_some(Self(Limit::Percent(max)))
            }

            #[doc = concat!("Returns whether `part` of `all` ", $things, " exceed the limit.")]
            pub fn is_exceeded(self, part: u64, all: u64) -> bool {
                match self.0 {
                    Limit::Count(max) => part > max,
                    Limit::Percent(max) => exceeds(part, all, max),
                }
            }

            #[doc = concat!("Returns the smallest limit of the same kind that `part` of `all` ", $things)]
            /// do not exceed; a percentage is rounded up.
            pub fn needed(self, part: u64, all: u64) -> Self {
                Self(match self.0 {
                    Limit::Count(_) => Limit::Count(part),
                    Limit::Percent(_) => Limit::Percent(whole_percent(part, all)),
                })
            }
        }

        impl fmt::Display for $limit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Limit::Count(max) => write!(f, "{max}"),
                    Limit::Percent(max) => write!(f, "{max}%"),
                }
            }
        }

        impl FromStr for $limit {
            type Err = String;

            fn from_str(word: &str) -> Result<Self, String> {
                Limit::parse(word, $things).map(Self)
            }
        }
    };
}

limit_on!("lines", MaxRejects);
limit_on!("tags", MaxDroppedTags);

/// The percentage of its URLs that a set may lose when it is replaced; 50 by default. Parsed from `0%` to `100%`; the sign is
/// optional, except after a number between 0 and 1, which could be a fraction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct MaxShrink(f64);

impl MaxShrink {
    /// This percentage; `None` if it is not from 0 to 100.
    pub fn percent(max: f64) -> Option<Self> {
        is_percentage(max).then_some(Self(max))
    }

    /// Returns whether a set of `new` URLs is too small to replace one of `live` URLs.
    pub fn is_exceeded(self, live: u64, new: u64) -> bool {
        exceeds(live.saturating_sub(new), live, self.0)
    }

    /// Returns the smallest whole percentage that lets a set of `new` URLs replace one of `live` URLs.
    pub fn needed(live: u64, new: u64) -> Self {
        Self(whole_percent(live.saturating_sub(new), live))
    }
}

impl Default for MaxShrink {
    fn default() -> Self {
        Self(50.0)
    }
}

impl fmt::Display for MaxShrink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

impl FromStr for MaxShrink {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let number = word.strip_suffix('%').unwrap_or(word);
        match percent(number) {
            None => Err("expected a percentage from 0% to 100%".into()),
            Some(percent) if word == number && percent > 0.0 && percent < 1.0 => {
                let of_fraction = (percent * 1e4).round() / 100.0;
                Err(format!("write {percent}%, or {of_fraction}% if it is a fraction"))
            }
            Some(percent) => Ok(Self(percent)),
        }
    }
}

/// Whether `part` is more than this percentage of `all`. The tolerance covers the rounding of a decimal percentage, such as 0.57,
/// and is far less than one of `part`.
fn exceeds(part: u64, all: u64, percent: f64) -> bool {
    part as f64 * 100.0 > percent * all as f64 * (1.0 + 4.0 * f64::EPSILON)
}

/// The percentage of `part` in `all`, rounded up.
fn whole_percent(part: u64, all: u64) -> f64 {
    (u128::from(part) * 100).div_ceil(u128::from(all.max(1))) as f64
}

fn percent(number: &str) -> Option<f64> {
    number.parse().ok().filter(|&percent| is_percentage(percent))
}

fn is_percentage(number: f64) -> bool {
    (0.0..=100.0).contains(&number)
}

/// The number of lines that complete inputs have. Parsed from `1000` (exactly), `1000..` (at least) or `1000..2000` (both ends
/// included).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectLines {
    min: u64,
    max: u64,
}

impl ExpectLines {
    /// Returns whether `lines` is within the bounds.
    pub fn is_met(self, lines: u64) -> bool {
        (self.min..=self.max).contains(&lines)
    }
}

impl From<u64> for ExpectLines {
    fn from(lines: u64) -> Self {
        (lines..=lines).into()
    }
}

impl From<RangeFrom<u64>> for ExpectLines {
    fn from(lines: RangeFrom<u64>) -> Self {
        (lines.start..=u64::MAX).into()
    }
}

/// No input meets an empty range.
impl From<RangeInclusive<u64>> for ExpectLines {
    fn from(lines: RangeInclusive<u64>) -> Self {
        let (min, max) = lines.into_inner();
        Self { min, max }
    }
}

impl fmt::Display for ExpectLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, max) if min == max => write!(f, "{min}"),
            (min, u64::MAX) => write!(f, "{min}.."),
            (min, max) => write!(f, "{min}..{max}"),
        }
    }
}

impl FromStr for ExpectLines {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let number = |word: &str| word.parse::<u64>().ok();
        let bounds = match word.split_once("..") {
            None => number(word).map(|lines| (lines, lines)),
            Some((min, "")) => number(min).map(|min| (min, u64::MAX)),
            Some((min, max)) => number(min).zip(number(max)),
        };
        match bounds {
            Some((min, max)) if min <= max => Ok(Self { min, max }),
            Some((min, max)) => Err(format!("{min} is more than {max}")),
            None => Err("expected a number of lines: 1000 (exactly), 1000.. (at least) or 1000..2000 (bounds included)".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_are_counted_in_lines_or_in_percent() {
        let max = |word: &str| word.parse::<MaxRejects>();
        assert!(!max("5").unwrap().is_exceeded(5, 5) && max("5").unwrap().is_exceeded(6, 1000));
        assert!(!max("0.5%").unwrap().is_exceeded(5, 1000) && max("0.5%").unwrap().is_exceeded(6, 1000));
        assert!(max("0%").unwrap().is_exceeded(1, 1_000_000_000));
        for wrong in ["", "%", "-1", "1.5", "101%", "NaN%", "five"] {
            assert!(max(wrong).is_err(), "{wrong}");
        }
        assert_eq!(max("101%").unwrap_err(), "expected at most 100%");
        assert_eq!((MaxRejects::count(5), MaxRejects::percent(0.5)), (max("5").unwrap(), max("0.5%").ok()));
        assert_eq!(
            (MaxDroppedTags::count(5), MaxDroppedTags::percent(7.0)),
            ("5".parse().unwrap(), "7%".parse().ok())
        );
        assert_eq!(MaxShrink::percent(0.5), "0.5%".parse().ok());
        // NaN would let any number of rejects pass.
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 100.1] {
            assert_eq!((MaxRejects::percent(wrong), MaxShrink::percent(wrong)), (None, None), "{wrong}");
        }
        assert!("1.5".parse::<MaxDroppedTags>().unwrap_err().contains("a number of tags"));
    }

    #[test]
    fn a_percentage_allows_its_exact_part_and_not_one_more() {
        for hundredths in 0..=10_000_u64 {
            let word = format!("{}.{:02}%", hundredths / 100, hundredths % 100);
            let rejects: MaxRejects = word.parse().unwrap();
            let tags: MaxDroppedTags = word.parse().unwrap();
            let shrink: MaxShrink = word.parse().unwrap();
            for all in [1, 999, 1000, 10_000, 123_457, 1_000_000_000, 50_000_000_000] {
                let most = all * hundredths / 10_000;
                for (part, is_exceeded) in [(most, false), (most + 1, true)] {
                    let about = format!("{part} of {all} by {word}");
                    assert_eq!(rejects.is_exceeded(part, all), is_exceeded, "{about}");
                    assert_eq!(tags.is_exceeded(part, all), is_exceeded, "{about}");
                    if part <= all {
                        assert_eq!(shrink.is_exceeded(all, all - part), is_exceeded, "{about}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_set_may_shrink_by_the_limit_but_not_by_one_url_more() {
        let max = |word: &str| word.parse::<MaxShrink>().unwrap();
        for (word, live, least) in
            [("50", 100, 50), ("50%", 101, 51), ("0", 7, 7), ("0.1%", 1000, 999), ("100", 9, 0)]
        {
            assert!(!max(word).is_exceeded(live, least), "{word} of {live}");
            assert!(least == 0 || max(word).is_exceeded(live, least - 1), "{word} of {live}");
        }
        assert!(!max("0").is_exceeded(0, 0) && !max("0").is_exceeded(5, 6));
        for (live, new) in [(3, 1), (1000, 1), (1_000_000, 0), (7, 6), (1, 0), (5, 9), (0, 0)] {
            let needed = MaxShrink::needed(live, new);
            assert!(!needed.is_exceeded(live, new), "{needed} lets {live} become {new}");
            assert!(
                needed.0 == 0.0 || MaxShrink(needed.0 - 1.0).is_exceeded(live, new),
                "and one less does not"
            );
        }
        for wrong in ["", "%", "-1", "101", "inf", "half", "0.001", "0.999"] {
            assert!(wrong.parse::<MaxShrink>().is_err(), "{wrong}");
        }
        let refused = "0.29".parse::<MaxShrink>().unwrap_err();
        assert_eq!(refused, "write 0.29%, or 29% if it is a fraction");
    }

    #[test]
    fn expected_lines_are_a_number_or_a_range() {
        for (word, met, missed) in [
            ("5", vec![5], vec![4, 6]),
            ("5..", vec![5, u64::MAX], vec![4]),
            ("5..7", vec![5, 7], vec![4, 8]),
        ] {
            let expected: ExpectLines = word.parse().unwrap();
            assert!(met.iter().all(|&lines| expected.is_met(lines)), "{word}");
            assert!(!missed.iter().any(|&lines| expected.is_met(lines)), "{word}");
            assert_eq!(expected.to_string(), word);
        }
        let [exactly, least, between] = ["5", "5..", "5..7"].map(|word| word.parse().unwrap());
        assert_eq!((ExpectLines::from(5), (5..).into(), (5..=7).into()), (exactly, least, between));
        for wrong in ["", "..", "..5", "7..5", "-1", "5...7", "many"] {
            assert!(wrong.parse::<ExpectLines>().is_err(), "{wrong}");
        }
        assert_eq!("7..5".parse::<ExpectLines>().unwrap_err(), "7 is more than 5");
    }
}
