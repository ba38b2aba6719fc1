//! The rules of a screen, and how often each of them applied.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::counts::{RuleCounts, RuleNumber};
use super::patterns::Pattern;
use super::relative::RelativeTo;
use super::rewrite::Rewrite;
use super::robots::Robots;
use crate::error::{Message, Setting, message};
use crate::words::plural;

/// How lines become URLs, and which are left out. By default, lines without a scheme are rejected, and every URL is kept as
/// it is.
///
/// The rules apply in this order: [`relative_to`](Self::relative_to) to the line, [`rewrites`](Self::rewrites) to its canonical
/// URL, then the filters. A URL is left out if a pattern excludes it, if there are patterns to include and none of them matches,
/// or if the robots.txt forbids it; the first of these that applies is counted.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct UrlRules {
    /// The URL that lines without a scheme are relative to.
    pub relative_to: Option<RelativeTo>,
    /// Replacements of the beginning of URLs. The first one that matches applies.
    pub rewrites: Vec<Rewrite>,
    /// If there are any: only URLs that match one of them are kept.
    pub include: Vec<Pattern>,
    /// URLs that match one of them are left out, even if they are included.
    pub exclude: Vec<Pattern>,
    /// A robots.txt: URLs that it forbids are left out.
    pub robots: Option<Robots>,
}

/// The word for URLs that no pattern includes.
const NOT_INCLUDED: &str = "not-included";

impl UrlRules {
    /// Whether URLs can be left out.
    pub(super) fn has_filters(&self) -> bool {
        !self.include.is_empty() || !self.exclude.is_empty() || self.robots.is_some()
    }

    /// A hint if lines that only lack the scheme were resolved as paths.
    pub(crate) fn hint(&self, counts: &RuleCounts) -> Option<Message> {
        let (base, lines) = (self.relative_to.as_ref()?, counts.of(Numbers::of(self).repeated_host));
        if lines == 0 {
            return None;
        }
        let count = if lines == 1 { "counts as a path" } else { "count as paths" };
        let lines = plural(lines, "line begins", "lines begin");
        Some(message!(
            "{lines} with the host of ",
            Setting::RelativeTo.with(base),
            " and, without a scheme, {count} below it; if only the scheme is missing, add ",
            Setting::Rewrite.with(base.without_repeated_host())
        ))
    }

    /// The counts of all rules by their names. Rules that did not apply to any line count zero.
    pub(crate) fn counted(&self, counts: &RuleCounts) -> CountedRules {
        let numbers = Numbers::of(self);
        let mut counted = CountedRules::default();
        let mut add = |to: fn(&mut CountedRules) -> &mut WordCounts, number, name: String| {
            *to(&mut counted).entry(name.into()).or_insert(0) += counts.of(number);
        };
        for (at, rewrite) in self.rewrites.iter().enumerate() {
            add(|counted| &mut counted.rewritten, numbers.rewrite(at), rewrite.to_string());
        }
        for (at, pattern) in self.include.iter().enumerate() {
            add(|counted| &mut counted.included, numbers.include(at), pattern.to_string());
        }
        for (number, name) in numbers.excluding(self) {
            add(|counted| &mut counted.excluded, number, name);
        }
        counted
    }
}

/// Counts by the name of a rule.
pub(crate) type WordCounts = BTreeMap<Cow<'static, str>, u64>;

/// The numbers of lines that each rule applied to.
#[derive(Debug, Default)]
pub(crate) struct CountedRules {
    /// Accepted lines by the rule that rewrote their URL.
    pub rewritten: WordCounts,
    /// Accepted lines by the first pattern that includes their URL.
    pub included: WordCounts,
    /// Lines that were left out, by the first rule that excludes their URL.
    pub excluded: WordCounts,
}

/// Numbers all rules of a screen: rewrites, patterns to include, patterns to exclude, the lack of a pattern to include, the lines
/// of the robots.txt, and lines that begin with the host they are relative to.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    include: usize,
    /// The first rule that excludes URLs.
    pub exclude: usize,
    not_included: usize,
    /// Not a rule: counts accepted lines that begin with the host they are relative to.
    pub repeated_host: RuleNumber,
}

impl Numbers {
    pub fn of(rules: &UrlRules) -> Self {
        let include = rules.rewrites.len();
        let exclude = include + rules.include.len();
        let not_included = exclude + rules.exclude.len();
        let robots = rules.robots.as_ref().map_or(0, |robots| robots.rules().len());
        Self { include, exclude, not_included, repeated_host: RuleNumber(not_included + 1 + robots) }
    }

    pub fn rewrite(self, at: usize) -> RuleNumber {
        RuleNumber(at)
    }

    pub fn include(self, at: usize) -> RuleNumber {
        RuleNumber(self.include + at)
    }

    pub fn exclude(self, at: usize) -> RuleNumber {
        RuleNumber(self.exclude + at)
    }

    /// The number of patterns that exclude URLs.
    pub fn exclude_count(self) -> usize {
        self.not_included - self.exclude
    }

    pub fn not_included(self) -> RuleNumber {
        RuleNumber(self.not_included)
    }

    pub fn robots(self, at: usize) -> RuleNumber {
        RuleNumber(self.not_included + 1 + at)
    }

    /// The rules that can exclude a URL, with their names.
    pub fn excluding(self, rules: &UrlRules) -> impl Iterator<Item = (RuleNumber, String)> {
        let patterns = rules.exclude.iter().enumerate();
        let patterns = patterns.map(move |(at, pattern)| (self.exclude(at), format!("exclude={pattern}")));
        let none = (!rules.include.is_empty()).then(|| (self.not_included(), NOT_INCLUDED.to_owned()));
        let robots = rules.robots.iter().flat_map(Robots::rules).enumerate().filter(|(_, rule)| !rule.allows);
        let robots = robots.map(move |(at, rule)| (self.robots(at), rule.to_string()));
        patterns.chain(none).chain(robots)
    }
}
