//! Writes the lines one by one and draws the kind of each.

use super::random::SplitMix64;
use super::recipe::Counts;
use super::{Corpus, bad};

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A URL that is new in the corpus.
    Fresh,
    /// A URL of an earlier line.
    Duplicate,
    /// A line that must be rejected for this reason.
    Bad(&'static str),
}

/// Writes the lines of a corpus.
pub struct Lines<'a> {
    corpus: &'a Corpus,
    random: SplitMix64,
    fresh_left: u64,
    duplicates_left: u64,
    bad_left: u64,
}

impl<'a> Lines<'a> {
    /// Starts at the first line of `corpus`. Kinds are drawn with `random`.
    pub fn new(corpus: &'a Corpus, random: SplitMix64) -> Self {
        let Counts { distinct, duplicates, bad, .. } = corpus.counts;
        Lines { corpus, random, fresh_left: distinct, duplicates_left: duplicates, bad_left: bad }
    }

    /// Appends the next line with its `\n`; `None` after the last.
    ///
    /// Each kind is drawn in proportion to its remaining lines (selection sampling: Knuth, "The Art of Computer
    /// Programming", vol. 2, 3.4.2, algorithm S). This spreads it over the file and still meets its count exactly.
    pub fn write_next(&mut self, out: &mut Vec<u8>) -> Option<Kind> {
        let counts = &self.corpus.counts;
        let fresh_done = counts.distinct - self.fresh_left;
        let special_left = self.duplicates_left + self.bad_left;
        let drawn = match self.fresh_left + special_left {
            0 => return None,
            _ if special_left == 0 => 0,
            lines_left => self.random.below(lines_left),
        };
        // The first valid line cannot repeat an earlier one.
        let can_repeat = fresh_done > 0;
        let kind =
            if drawn < self.fresh_left || (!can_repeat && drawn < self.fresh_left + self.duplicates_left) {
                self.fresh_left -= 1;
                self.corpus.write_nth(fresh_done, out);
                Kind::Fresh
            } else if drawn < self.fresh_left + self.duplicates_left {
                self.duplicates_left -= 1;
                self.corpus.write_nth(self.random.below(fresh_done), out);
                Kind::Duplicate
            } else {
                let reason = bad::write(&self.corpus.base, counts.bad - self.bad_left, out);
                self.bad_left -= 1;
                Kind::Bad(reason)
            };
        out.push(b'\n');
        Some(kind)
    }
}
