//! The tally: counts of rows by outcome.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::clean::Rejected;
use crate::sitemap::tags::{DroppedTags, TagCounts};

/// Counts of rows by outcome. Tallies of different rows can be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// All rows.
    pub lines: u64,
    /// Rows of only spaces and tabs.
    pub blank: u64,
    /// Rows that are listed in a sitemap.
    pub listed: u64,
    /// Rows whose URL is listed from another row.
    pub duplicates: u64,
    /// Rows that were refused.
    pub rejected: Rejected,
    /// Rows whose URL is left out by a rule of the job.
    pub excluded: u64,
    /// Dropped tags of rows that were neither refused nor excluded.
    pub dropped: DroppedTags,
    /// Tags in the entries of other rows, counted in the XML that they became.
    pub rendered: TagCounts,
    /// Tags of rows that were refused or excluded.
    pub refused_tags: TagCounts,
    /// Rows that were neither refused nor excluded and whose URL has bytes that are not UTF-8.
    pub non_utf8: u64,
}

impl Tally {
    /// The tally of `entries` listed entries.
    pub fn of_listed(entries: u64) -> Self {
        Self { lines: entries, listed: entries, ..Self::default() }
    }

    /// Sets the number of listed entries. All other entries are duplicates.
    pub fn with_listed(self, listed: u64) -> Self {
        Self { listed, duplicates: self.entries() - listed, ..self }
    }

    /// Rows that are neither blank nor refused nor excluded, duplicates included.
    pub fn entries(&self) -> u64 {
        self.lines - self.blank - self.rejected.total() - self.excluded
    }

    /// Whether every row is blank, listed, a duplicate, refused or excluded.
    pub fn is_balanced(&self) -> bool {
        self.lines == self.blank + self.listed + self.duplicates + self.rejected.total() + self.excluded
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            lines: self.lines + other.lines,
            blank: self.blank + other.blank,
            listed: self.listed + other.listed,
            duplicates: self.duplicates + other.duplicates,
            rejected: self.rejected + other.rejected,
            excluded: self.excluded + other.excluded,
            dropped: self.dropped + other.dropped,
            rendered: self.rendered + other.rendered,
            refused_tags: self.refused_tags + other.refused_tags,
            non_utf8: self.non_utf8 + other.non_utf8,
        }
    }
}

impl Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), Self::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::Reason;
    use crate::sitemap::tags::{TagName, TagReason};

    /// A tally in which all counts differ.
    fn tally() -> Tally {
        let mut next = 1;
        let mut count = || {
            next *= 3;
            next
        };
        let (lines, blank, listed, duplicates, non_utf8) = (count(), count(), count(), count(), count());
        let excluded = count();
        let mut tally = Tally { lines, blank, listed, duplicates, excluded, non_utf8, ..Tally::default() };
        tally.rejected[Reason::Host] = count();
        tally.rejected[Reason::NoUrl] = count();
        tally.dropped[TagReason::Image] = count();
        tally.rendered[TagName::Lastmod] = count();
        tally.refused_tags[TagName::Alternates] = count();
        tally
    }

    #[test]
    fn a_tally_is_the_same_after_it_was_written_and_read() {
        for tally in [tally(), Tally::default()] {
            let json = serde_json::to_string(&tally).unwrap();
            assert_eq!(serde_json::from_str::<Tally>(&json).unwrap(), tally, "{json}");
        }
    }

    #[test]
    fn adding_a_tally_to_itself_doubles_every_count() {
        let doubled = [tally(), tally()].into_iter().sum::<Tally>();
        let mut json = serde_json::to_value(tally()).unwrap();
        fn double(value: &mut serde_json::Value) {
            match value {
                serde_json::Value::Object(counts) => counts.values_mut().for_each(double),
                count => *count = (2 * count.as_u64().unwrap()).into(),
            }
        }
        double(&mut json);
        assert_eq!(serde_json::to_value(doubled).unwrap(), json);
    }

    #[test]
    fn a_reason_that_this_version_does_not_know_is_refused() {
        let json = serde_json::to_string(&tally()).unwrap();
        assert!(json.contains(r#""host""#), "{json}");
        assert!(serde_json::from_str::<Tally>(&json.replace("\"host\"", "\"planet\"")).is_err());
    }
}
