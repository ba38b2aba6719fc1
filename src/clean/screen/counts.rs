//! Counts of lines by the rule that applied to them.

use serde::{Deserialize, Serialize};

/// The number of a rule among all rules of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleNumber(pub(super) usize);

/// The number of lines that each rule applied to. Counts of different lines can be added if they are of the same rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(usize, u64)>", from = "Vec<(usize, u64)>")]
pub struct RuleCounts(Vec<u64>);

impl RuleCounts {
    /// Counts a line.
    pub fn count(&mut self, RuleNumber(at): RuleNumber) {
        self.add(at, 1);
    }

    /// The number of lines that a rule applied to.
    pub fn of(&self, RuleNumber(at): RuleNumber) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules that were counted.
    pub fn rules(&self) -> RuleSet {
        let counted = self.0.iter().enumerate().filter(|&(_, &lines)| lines > 0);
        counted.map(|(at, _)| RuleNumber(at)).collect()
    }

    /// Adds the counts of `more`.
    pub fn merge(&mut self, more: &Self) {
        more.0.iter().enumerate().for_each(|(at, &lines)| self.add(at, lines));
    }

    fn add(&mut self, at: usize, lines: u64) {
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] += lines;
    }
}

/// A set of rules, in 64 bits. Rules whose numbers are equal modulo 64 share a bit, so it may seem to have more than it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RuleSet(u64);

impl RuleSet {
    /// Whether a rule may be in both sets. False is always right.
    pub fn may_share(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl FromIterator<RuleNumber> for RuleSet {
    fn from_iter<I: IntoIterator<Item = RuleNumber>>(rules: I) -> Self {
        Self(rules.into_iter().fold(0, |all, RuleNumber(at)| all | 1 << (at % u64::BITS as usize)))
    }
}

/// The rules that applied to a line, with their counts: a robots.txt may have thousands of rules that never apply.
impl From<RuleCounts> for Vec<(usize, u64)> {
    fn from(counts: RuleCounts) -> Self {
        counts.0.into_iter().enumerate().filter(|&(_, lines)| lines > 0).collect()
    }
}

impl From<Vec<(usize, u64)>> for RuleCounts {
    fn from(pairs: Vec<(usize, u64)>) -> Self {
        let mut counts = Self::default();
        pairs.into_iter().for_each(|(at, lines)| counts.add(at, lines));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_rules_that_were_counted() {
        let set = |rules: &[usize]| rules.iter().map(|&at| RuleNumber(at)).collect::<RuleSet>();
        let mut counts = RuleCounts::default();
        assert_eq!(counts.rules(), set(&[]));
        [7, 2, 700].into_iter().for_each(|at| counts.count(RuleNumber(at)));
        assert_eq!(counts.rules(), set(&[2, 7, 700]));
        assert!(counts.rules().may_share(set(&[700])) && counts.rules().may_share(set(&[1, 2])));
        assert!(!counts.rules().may_share(set(&[0, 1, 6])));
    }

    #[test]
    fn counts_are_added_by_rule_and_are_the_same_after_they_were_written_and_read() {
        let mut counts = RuleCounts::default();
        assert!(counts.is_empty());
        [7, 2, 7].into_iter().for_each(|at| counts.count(RuleNumber(at)));
        let mut sum = counts.clone();
        sum.merge(&RuleCounts(vec![1, 0, 1]));
        sum.merge(&RuleCounts::default());
        let of = |counts: &RuleCounts| [0, 1, 2, 7, 8].map(|at| counts.of(RuleNumber(at)));
        assert_eq!(of(&sum), [1, 0, 2, 2, 0]);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(json, "[[0,1],[2,2],[7,2]]");
        assert_eq!(serde_json::from_str::<RuleCounts>(&json).unwrap(), sum);
    }
}
