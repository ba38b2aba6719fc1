//! Screen: resolves relative lines, rewrites URLs, and leaves out those that patterns or a robots.txt exclude.
//!
//! A screen is compiled once for a job. Every thread has a [`LineCleaner`], which takes a line through all steps: its URL is
//! resolved, cleaned, rewritten and cleaned again, and then kept or left out. Without any of these rules there is no screen, and a
//! line costs one branch more than cleaning alone.

mod counts;
mod patterns;
mod prefix;
mod relative;
mod rewrite;
pub mod robots;

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{CleanUrl, Cleaned, Cleaner, Reason, UrlEncoding};
use crate::error::{Error, Message, Result, Setting, message};
use rewrite::Prefixes;
use robots::Robots;
use robots::matcher::Matcher;

pub use counts::{RuleCounts, RuleNumber};
pub use patterns::set::PatternSet;
pub use patterns::{Pattern, read_patterns};
pub use relative::RelativeTo;
pub use rewrite::Rewrite;

/// Which URLs lines mean, and which URLs are left out. By default, lines without a scheme are rejected, and every URL is kept as
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
    /// Checks that the rules can be compiled.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option.
    pub(crate) fn check(&self, url_encoding: UrlEncoding) -> Result<()> {
        Screen::of(self, url_encoding).map(drop)
    }

    /// Whether URLs can be left out.
    fn has_filters(&self) -> bool {
        !self.include.is_empty() || !self.exclude.is_empty() || self.robots.is_some()
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

/// Numbers all rules of a screen: rewrites, patterns to include, patterns to exclude, the lack of a pattern to include, and the
/// lines of the robots.txt.
#[derive(Debug, Clone, Copy)]
struct Numbers {
    include: usize,
    exclude: usize,
    not_included: usize,
}

impl Numbers {
    fn of(rules: &UrlRules) -> Self {
        let include = rules.rewrites.len();
        let exclude = include + rules.include.len();
        Self { include, exclude, not_included: exclude + rules.exclude.len() }
    }

    fn rewrite(self, at: usize) -> RuleNumber {
        RuleNumber(at)
    }

    fn include(self, at: usize) -> RuleNumber {
        RuleNumber(self.include + at)
    }

    fn exclude(self, at: usize) -> RuleNumber {
        RuleNumber(self.exclude + at)
    }

    fn not_included(self) -> RuleNumber {
        RuleNumber(self.not_included)
    }

    fn robots(self, at: usize) -> RuleNumber {
        RuleNumber(self.not_included + 1 + at)
    }

    /// The rules that can exclude a URL, with their names.
    fn excluding(self, rules: &UrlRules) -> impl Iterator<Item = (RuleNumber, String)> {
        let patterns = rules.exclude.iter().enumerate();
        let patterns = patterns.map(move |(at, pattern)| (self.exclude(at), format!("exclude={pattern}")));
        let none = (!rules.include.is_empty()).then(|| (self.not_included(), NOT_INCLUDED.to_owned()));
        let robots = rules.robots.iter().flat_map(Robots::rules).enumerate().filter(|(_, rule)| !rule.allows);
        let robots = robots.map(move |(at, rule)| (self.robots(at), rule.to_string()));
        patterns.chain(none).chain(robots)
    }
}

/// Compiled [`UrlRules`].
#[derive(Debug)]
pub struct Screen {
    relative_to: Option<RelativeTo>,
    rewrites: Vec<Prefixes>,
    include: Option<PatternSet>,
    exclude: Option<PatternSet>,
    robots: Option<Matcher>,
    url_encoding: UrlEncoding,
    numbers: Numbers,
    /// The names of the rules that can exclude a URL, from that of the number `numbers.exclude` on.
    names: Vec<String>,
}

impl Screen {
    /// Compiles `rules`. `None` if they change nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming the option.
    pub fn of(rules: &UrlRules, url_encoding: UrlEncoding) -> Result<Option<Self>> {
        if rules.relative_to.is_none() && rules.rewrites.is_empty() && !rules.has_filters() {
            return Ok(None);
        }
        let of_setting = |setting: Setting, why: String| Error::usage(message!(setting, ": {why}"));
        let prefixes = |rewrite: &Rewrite| {
            let wrong =
                |why| Error::usage(message!(Setting::Rewrite.with(rewrite), ": ", Message::from(why)));
            rewrite.prefixes(url_encoding).map_err(wrong)
        };
        let numbers = Numbers::of(rules);
        let mut names = vec![NOT_INCLUDED.to_owned(); rules.exclude.len() + 1];
        names.resize(
            names.len() + rules.robots.as_ref().map_or(0, |robots| robots.rules().len()),
            String::new(),
        );
        for (RuleNumber(at), name) in numbers.excluding(rules) {
            names[at - numbers.exclude] = name;
        }
        Ok(Some(Self {
            relative_to: rules.relative_to.clone(),
            rewrites: rules.rewrites.iter().map(prefixes).collect::<Result<_>>()?,
            include: PatternSet::of(&rules.include).map_err(|why| of_setting(Setting::Include, why))?,
            exclude: PatternSet::of(&rules.exclude).map_err(|why| of_setting(Setting::Exclude, why))?,
            robots: rules.robots.as_ref().map(|robots| Matcher::new(robots.rules())),
            url_encoding,
            numbers,
            names,
        }))
    }

    /// The name of a rule that excludes URLs, as in reports.
    pub fn name(&self, RuleNumber(at): RuleNumber) -> &str {
        &self.names[at - self.numbers.exclude]
    }
}

/// The result of cleaning and screening one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screened<'a> {
    /// Nothing but spaces and tabs.
    Blank,
    /// A URL that is kept, in its canonical form.
    Url(CleanUrl<'a>),
    /// Rejected.
    Rejected(Reason),
    /// A URL that is left out by a rule.
    Excluded(RuleNumber),
}

impl<'a> From<Cleaned<'a>> for Screened<'a> {
    #[inline(always)]
    fn from(cleaned: Cleaned<'a>) -> Self {
        match cleaned {
            Cleaned::Blank => Self::Blank,
            Cleaned::Url(url) => Self::Url(url),
            Cleaned::Rejected(reason) => Self::Rejected(reason),
        }
    }
}

/// Cleans lines, screens their URLs, and counts the rules that applied.
#[derive(Debug)]
pub struct LineCleaner<'s> {
    cleaner: Cleaner,
    screener: Option<Box<Screener<'s>>>,
    counts: RuleCounts,
}

impl<'s> LineCleaner<'s> {
    /// A cleaner that percent-encodes in the charset `url_encoding`, and screens URLs if there is a screen.
    pub fn new(url_encoding: UrlEncoding, screen: Option<&'s Screen>) -> Self {
        let screener = screen.map(|screen| Box::new(Screener::new(screen)));
        Self { cleaner: Cleaner::new(url_encoding), screener, counts: RuleCounts::default() }
    }

    /// Cleans and screens one raw line without its line end. The result does not depend on earlier lines.
    #[inline(always)]
    pub fn clean<'a>(&'a mut self, raw: &'a [u8]) -> Screened<'a> {
        match &mut self.screener {
            None => self.cleaner.clean(raw).into(),
            Some(screener) => screener.clean(raw, &mut self.cleaner),
        }
    }

    /// Counts the rules by which the line that was cleaned last became the URL that was accepted.
    #[inline]
    pub fn count_accepted(&mut self) {
        if let Some(screener) = &self.screener {
            screener.count_accepted(&mut self.counts);
        }
    }

    /// Counts a line that `rule` has excluded.
    pub fn count_excluded(&mut self, rule: RuleNumber) {
        self.counts.count(rule);
    }

    /// The name of a rule that excludes URLs.
    pub fn rule_name(&self, rule: RuleNumber) -> &'s str {
        self.screener.as_ref().expect("a screen has excluded a line").screen.name(rule)
    }

    /// The counts since the last call.
    pub fn take_counts(&mut self) -> RuleCounts {
        std::mem::take(&mut self.counts)
    }
}

/// Applies a screen to line after line. Reuses its memory.
#[derive(Debug)]
struct Screener<'s> {
    screen: &'s Screen,
    /// An absolute URL made of a relative line.
    absolute: Vec<u8>,
    /// A rewritten URL, before it is cleaned again.
    rewritten: Vec<u8>,
    /// Cleans rewritten URLs.
    again: Cleaner,
    /// Copies with scratch memory for this thread.
    include: Option<PatternSet>,
    exclude: Option<PatternSet>,
    /// The path of a URL as it is compared with robots.txt.
    path: Vec<u8>,
    /// The rules that applied to the last line.
    rewritten_by: Option<RuleNumber>,
    included_by: Option<RuleNumber>,
}

impl<'s> Screener<'s> {
    fn new(screen: &'s Screen) -> Self {
        Self {
            screen,
            absolute: Vec::new(),
            rewritten: Vec::new(),
            again: Cleaner::new(screen.url_encoding),
            include: screen.include.clone(),
            exclude: screen.exclude.clone(),
            path: Vec::new(),
            rewritten_by: None,
            included_by: None,
        }
    }

    #[inline(never)]
    fn clean<'a>(&'a mut self, raw: &'a [u8], cleaner: &'a mut Cleaner) -> Screened<'a> {
        (self.rewritten_by, self.included_by) = (None, None);
        let relative_to = self.screen.relative_to.as_ref();
        let line = match relative_to.is_some_and(|base| base.resolve(raw, &mut self.absolute)) {
            true => &self.absolute,
            false => raw,
        };
        let mut cleaned = cleaner.clean(line);
        if let Cleaned::Url(url) = cleaned
            && let Some(at) =
                self.screen.rewrites.iter().position(|rule| url.as_bytes().starts_with(&rule.from))
        {
            let Prefixes { from, to } = &self.screen.rewrites[at];
            self.rewritten_by = Some(self.screen.numbers.rewrite(at));
            self.rewritten.clear();
            self.rewritten.extend_from_slice(to);
            self.rewritten.extend_from_slice(&url.as_bytes()[from.len()..]);
            // The joint may be a dot segment, the query may have a quote that was in the path, and the length has changed.
            cleaned = self.again.clean(&self.rewritten);
        }
        let Cleaned::Url(url) = cleaned else { return cleaned.into() };
        let numbers = self.screen.numbers;
        if let Some(at) = self.exclude.as_mut().and_then(|patterns| patterns.first_match(url.as_bytes())) {
            return Screened::Excluded(numbers.exclude(at));
        }
        if let Some(patterns) = &mut self.include {
            match patterns.first_match(url.as_bytes()) {
                None => return Screened::Excluded(numbers.not_included()),
                Some(at) => self.included_by = Some(numbers.include(at)),
            }
        }
        match self.screen.robots.as_ref().and_then(|robots| robots.forbidding(url, &mut self.path)) {
            Some(at) => Screened::Excluded(numbers.robots(at)),
            None => Screened::Url(url),
        }
    }

    fn count_accepted(&self, counts: &mut RuleCounts) {
        self.rewritten_by.into_iter().chain(self.included_by).for_each(|rule| counts.count(rule));
    }
}

#[cfg(test)]
mod tests;
