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
mod rules;

use super::{CleanUrl, Cleaned, Cleaner, Reason, UrlEncoding};
use crate::error::{Error, Message, Result, Setting, message};
use patterns::ahead::{Foreseen, LookAhead};
use rewrite::Prefixes;
use robots::Robots;
use robots::matcher::Matcher;
use rules::Numbers;

pub use counts::{RuleCounts, RuleNumber, RuleSet};
pub use patterns::Pattern;
pub use patterns::set::PatternSet;
pub use relative::RelativeTo;
pub use rewrite::Rewrite;
pub(crate) use rules::CountedRules;
pub use rules::UrlRules;

/// Compiled [`UrlRules`].
#[derive(Debug)]
pub struct Screen {
    relative_to: Option<RelativeTo>,
    rewrites: Vec<Prefixes>,
    include: Option<PatternSet>,
    exclude: Option<PatternSet>,
    robots: Option<Matcher>,
    /// Look for lines that may be excluded, and for those that may be included.
    excluding: LookAhead,
    including: LookAhead,
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
        let relative_to = |base: &RelativeTo| {
            let wrong = |why| Error::usage(message!(Setting::RelativeTo.with(base), ": {why}"));
            base.encoded(url_encoding).map_err(wrong)
        };
        let numbers = Numbers::of(rules);
        let robots_rules = rules.robots.as_ref().map_or(0, |robots| robots.rules().len());
        let mut names = vec![String::new(); rules.exclude.len() + 1 + robots_rules];
        for (RuleNumber(at), name) in numbers.excluding(rules) {
            names[at - numbers.exclude] = name;
        }
        let mut excluding = rules.exclude.clone();
        excluding.extend(rules.robots.iter().flat_map(Robots::patterns));
        Ok(Some(Self {
            excluding: LookAhead::new(excluding),
            including: LookAhead::new(rules.include.clone()),
            relative_to: rules.relative_to.as_ref().map(relative_to).transpose()?,
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

    /// The rules that exclude URLs and have this name.
    pub fn named(&self, name: &str) -> RuleSet {
        let own = self.names.iter().enumerate().filter(|(_, own)| *own == name);
        own.map(|(at, _)| RuleNumber(self.numbers.exclude + at)).collect()
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

    /// Announces that the lines of `text` will be cleaned in order, so that patterns can be searched for in many lines at once. The
    /// lines are recognised by their addresses, so the text must stay where it is.
    pub fn begin_text(&mut self, text: &'s [u8]) {
        if let Some(screener) = &mut self.screener {
            screener.filters.begin_text(text);
        }
    }

    /// Cleans and screens one raw line without its line end. The result does not depend on earlier lines.
    #[inline(always)]
    pub fn clean<'a>(&'a mut self, raw: &'a [u8]) -> Screened<'a> {
        let Some(screener) = &mut self.screener else { return self.cleaner.clean(raw).into() };
        if !screener.filters.has_cleared(raw) {
            return screener.clean(raw, &mut self.cleaner);
        }
        match self.cleaner.clean(raw) {
            // `raw` is in registers. The URL was written to memory word by word, and reading it in vectors would have to wait.
            Cleaned::Url(url) if url.is(raw) => Screened::Url(CleanUrl::known(raw, url.may_grow())),
            // It is not the line of which something was known.
            Cleaned::Url(url) => screener.filters.apply(url, false),
            cleaned @ (Cleaned::Blank | Cleaned::Rejected(_)) => cleaned.into(),
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
    /// The rule that rewrote the last URL.
    rewritten_by: Option<RuleNumber>,
    /// Whether the last line begins with the host that it is relative to, and no rule rewrote its URL.
    repeats_host: bool,
    filters: Filters<'s>,
}

impl<'s> Screener<'s> {
    fn new(screen: &'s Screen) -> Self {
        Self {
            screen,
            absolute: Vec::new(),
            rewritten: Vec::new(),
            again: Cleaner::new(screen.url_encoding),
            rewritten_by: None,
            repeats_host: false,
            filters: Filters::new(screen),
        }
    }

    /// Takes a line through all steps.
    #[inline(never)]
    fn clean<'a>(&'a mut self, raw: &'a [u8], cleaner: &'a mut Cleaner) -> Screened<'a> {
        (self.rewritten_by, self.filters.included_by) = (None, None);
        let relative_to = self.screen.relative_to.as_ref();
        let resolved_by = relative_to.filter(|base| base.resolve(raw, &mut self.absolute));
        let line = if resolved_by.is_some() { &self.absolute } else { raw };
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
        self.repeats_host =
            self.rewritten_by.is_none() && resolved_by.is_some_and(|base| base.repeats_host(raw));
        match cleaned {
            Cleaned::Url(url) => self.filters.apply(url, url.is(raw)),
            Cleaned::Blank | Cleaned::Rejected(_) => cleaned.into(),
        }
    }

    #[inline]
    fn count_accepted(&self, counts: &mut RuleCounts) {
        // A screen that only excludes sets neither rule.
        if self.filters.only_excludes {
            return;
        }
        let repeated_host = self.repeats_host.then_some(self.screen.numbers.repeated_host);
        let rules = self.rewritten_by.into_iter().chain(self.filters.included_by).chain(repeated_host);
        rules.for_each(|rule| counts.count(rule));
    }
}

/// The filters of a screen, with scratch memory for this thread.
#[derive(Debug)]
struct Filters<'s> {
    screen: &'s Screen,
    include: Option<PatternSet>,
    exclude: Option<PatternSet>,
    excluding: LookAhead,
    including: LookAhead,
    /// Whether a screen only excludes URLs.
    only_excludes: bool,
    /// The text whose lines are screened, if it was told.
    text: &'s [u8],
    /// The path of a URL as it is compared with robots.txt.
    path: Vec<u8>,
    /// The pattern that included the last URL.
    included_by: Option<RuleNumber>,
}

impl<'s> Filters<'s> {
    fn new(screen: &'s Screen) -> Self {
        let Screen { relative_to, rewrites, include, exclude, excluding, including, .. } = screen;
        Self {
            screen,
            include: include.clone(),
            exclude: exclude.clone(),
            excluding: excluding.clone(),
            including: including.clone(),
            only_excludes: relative_to.is_none() && rewrites.is_empty() && include.is_none(),
            text: &[],
            path: Vec::new(),
            included_by: None,
        }
    }

    fn begin_text(&mut self, text: &'s [u8]) {
        self.text = text;
        self.excluding.begin(text);
        self.including.begin(text);
    }

    /// Whether the URL of `line` is kept if it is the line as it stands.
    #[inline]
    fn has_cleared(&mut self, line: &[u8]) -> bool {
        self.only_excludes && self.excluding.has_cleared(line, self.text)
    }

    /// Keeps or excludes a URL. `is_line` if it is a line as it stands.
    #[inline(never)]
    fn apply<'a>(&mut self, url: CleanUrl<'a>, is_line: bool) -> Screened<'a> {
        let (bytes, numbers) = (url.as_bytes(), self.screen.numbers);
        let foreseen = |ahead: &mut LookAhead, text| {
            if is_line { ahead.foresee(bytes, text) } else { Foreseen::Unknown }
        };
        let first = |foreseen, patterns: &mut PatternSet| match foreseen {
            Foreseen::Unknown => patterns.first_match(bytes),
            Foreseen::NoMatch => None,
            Foreseen::First(at) => Some(at),
        };
        let excluding = foreseen(&mut self.excluding, self.text);
        if let Some(patterns) = &mut self.exclude
            // The patterns of a robots.txt come after these.
            && let Some(at) = first(excluding, patterns).filter(|&at| at < numbers.exclude_count())
        {
            return Screened::Excluded(numbers.exclude(at));
        }
        if let Some(patterns) = &mut self.include {
            match first(foreseen(&mut self.including, self.text), patterns) {
                None => return Screened::Excluded(numbers.not_included()),
                Some(at) => self.included_by = Some(numbers.include(at)),
            }
        }
        let robots = self.screen.robots.as_ref().filter(|_| excluding != Foreseen::NoMatch);
        match robots.and_then(|robots| robots.forbidding(url, &mut self.path)) {
            Some(at) => Screened::Excluded(numbers.robots(at)),
            None => Screened::Url(url),
        }
    }
}

#[cfg(test)]
mod tests;
