//! Sections by rules: a file says which URLs belong to which section.
//!
//! ```toml
//! products = ["/products/", "/p/"]
//! help = '^https://www\.example\.com/(faq|help)\b'
//! rest = "other"
//! ```
//!
//! A rule that begins with `/` is a prefix of the path; any other is a regular expression that matches anywhere in the canonical
//! URL. The first rule of the file that applies decides. `rest` names the section of all other URLs.

use std::path::Path;
use std::str::FromStr;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind};
use toml::{Table, Value};

use super::names::{REST, SECTIONS_MAX};
use crate::clean::scope::origin_of;
use crate::clean::screen::{Pattern, PatternSet};
use crate::common::stop::Stop;
use crate::common::whole_file;
use crate::error::{Error, Result, message};
use crate::escape::shown;
use crate::words::grouped;

/// The key that names the section of all other URLs.
const REST_KEY: &str = "rest";

/// Rules that divide URLs among sections, parsed from the text of a file of rules:
///
/// ```
/// use sitemill::options::{SectionRules, SectionsBy};
///
/// let rules: SectionRules = r#"
///     products = ["/products/", "/p/"]
///     help = '^https://www\.example\.com/(faq|help)\b'
///     rest = "other"
/// "#
/// .parse()?;
/// let by = SectionsBy::Rules(rules);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionRules {
    sections: Vec<String>,
    rules: Vec<Rule>,
    rest: String,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// The index of its section.
    section: usize,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    /// The path begins with this.
    Prefix(String),
    Pattern(Pattern),
}

impl Test {
    fn as_str(&self) -> &str {
        match self {
            Self::Prefix(prefix) => prefix,
            Self::Pattern(pattern) => pattern.as_str(),
        }
    }
}

impl SectionRules {
    /// Reads the rules in the file at `path`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it cannot be read, [`ErrorKind::Usage`](crate::ErrorKind::Usage) if a rule
    /// is not valid, with its section and position; if `stop` is raised while a pipe is silent.
    pub fn read(path: &Path, stop: &Stop) -> Result<Self> {
        let text = whole_file::read_text(path, stop)?;
        text.parse().map_err(|why: String| Error::usage(message!(path, ": {why}")))
    }

    /// Returns the names of the sections that have rules, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(String::as_str)
    }

    /// Returns the name of the section of all other URLs.
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// Returns the texts of all rules in the order of the file, each with the index of its section.
    pub fn rules(&self) -> impl Iterator<Item = (usize, &str)> {
        self.rules.iter().map(|rule| (rule.section, rule.test.as_str()))
    }

    /// The compiled rules, for one thread.
    ///
    /// # Panics
    /// Never: they were compiled once when they were read.
    pub(crate) fn matcher(&self) -> RuleMatcher {
        self.compile().expect("the rules were compiled before")
    }

    fn compile(&self) -> Result<RuleMatcher, Box<dyn std::error::Error>> {
        let (mut prefixes, mut patterns) = (Vec::new(), Vec::new());
        let mut matcher = RuleMatcher::default();
        for (number, rule) in self.rules.iter().enumerate() {
            match &rule.test {
                Test::Prefix(prefix) => {
                    prefixes.push(prefix);
                    matcher.of_prefix.push(number);
                }
                Test::Pattern(pattern) => {
                    patterns.push(pattern.clone());
                    matcher.of_pattern.push(number);
                }
            }
        }
        let sets = AhoCorasick::builder()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            .build(prefixes)?;
        matcher.prefixes = (!matcher.of_prefix.is_empty()).then_some(sets);
        matcher.patterns = PatternSet::of(&patterns)?;
        Ok(matcher)
    }
}

impl FromStr for SectionRules {
    type Err = String;

    /// Parses the text of a file of rules. The error names the section, or the position in the text.
    fn from_str(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let (mut sections, mut rules, mut rest) = (Vec::new(), Vec::new(), REST.to_owned());
        for (name, value) in &table {
            let wrong = |why: String| format!("section {}: {why}", shown(name.as_bytes()));
            if name == REST_KEY {
                match value {
                    Value::String(given) if !given.trim().is_empty() && !given.starts_with('/') => {
                        rest = given.trim().to_owned();
                        continue;
                    }
                    _ => {
                        return Err(wrong(
                            "expected a name for the section of all other URLs, such as rest = \"other\""
                                .into(),
                        ));
                    }
                }
            }
            let name = name.trim();
            if name.is_empty() || sections.iter().any(|known| known == name) {
                return Err(wrong("every section needs a name of its own".into()));
            }
            let tests = tests(value).map_err(wrong)?;
            rules.extend(tests.into_iter().map(|test| Rule { section: sections.len(), test }));
            sections.push(name.to_owned());
        }
        if sections.is_empty() {
            return Err("has no sections; expected lines such as products = [\"/products/\"]".into());
        }
        if sections.len() > SECTIONS_MAX as usize {
            return Err(format!(
                "has {} sections, but a set can have at most {}",
                grouped(sections.len() as u64),
                grouped(SECTIONS_MAX.into())
            ));
        }
        if sections.contains(&rest) {
            return Err(format!(
                "section {}: is also the name of rest; rename one of them",
                shown(rest.as_bytes())
            ));
        }
        let this = Self { sections, rules, rest };
        this.compile().map_err(|error| error.to_string())?;
        Ok(this)
    }
}

/// The tests in the value of a section: one, or several in an array.
fn tests(value: &Value) -> Result<Vec<Test>, String> {
    const EXPECTED: &str = "expected a prefix such as \"/products/\", a pattern, or an array of them";
    let texts: Vec<&str> = match value {
        Value::String(text) => vec![text],
        Value::Array(texts) => texts.iter().map(Value::as_str).collect::<Option<_>>().ok_or(EXPECTED)?,
        _ => return Err(EXPECTED.into()),
    };
    if texts.is_empty() {
        return Err(EXPECTED.into());
    }
    let test = |text: &str| match text.starts_with('/') {
        true => prefix(text).map(Test::Prefix),
        false => {
            let pattern = text.parse::<Pattern>();
            pattern.map(Test::Pattern).map_err(|why| format!("pattern {}: {why}", shown(text.as_bytes())))
        }
    };
    texts.into_iter().map(test).collect()
}

/// Characters of patterns that hardly any path has.
const OF_PATTERNS: &[char] = &['\\', '^', '$', '*', '|', '(', ')', '[', ']', '{', '}'];

/// Checks a prefix.
fn prefix(text: &str) -> Result<String, String> {
    if let Some(c) = text.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(format!(
            "prefix {}: {c:?} is not in canonical URLs; percent-encode it",
            shown(text.as_bytes())
        ));
    }
    if text.contains(OF_PATTERNS) {
        return Err(format!("{text} begins with / and would be a prefix; begin a pattern with .* or ^https"));
    }
    Ok(text.to_owned())
}

/// Finds the rule for a URL.
#[derive(Debug, Default)]
pub struct RuleMatcher {
    prefixes: Option<AhoCorasick>,
    /// The number of the rule of each prefix.
    of_prefix: Vec<usize>,
    patterns: Option<PatternSet>,
    /// The number of the rule of each pattern.
    of_pattern: Vec<usize>,
}

impl RuleMatcher {
    /// The number of the first rule that applies to the canonical URL `url`, counted from 0.
    pub fn rule_of(&mut self, url: &[u8]) -> Option<usize> {
        let path = &url[origin_of(url).len() - 1..];
        let anchored = Input::new(path).anchored(Anchored::Yes);
        let by_prefix = self.prefixes.as_ref().and_then(|prefixes| prefixes.find(anchored));
        let by_prefix = by_prefix.map(|found| self.of_prefix[found.pattern().as_usize()]);
        // Patterns that come after the prefix cannot change the result.
        let is_earlier = |&number: &usize| by_prefix.is_none_or(|by_prefix| number < by_prefix);
        let patterns = self.patterns.as_mut().filter(|_| self.of_pattern.first().is_some_and(is_earlier));
        let by_pattern = patterns.and_then(|patterns| patterns.first_match(url));
        let by_pattern = by_pattern.map(|at| self.of_pattern[at]).filter(is_earlier);
        by_pattern.or(by_prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> SectionRules {
        text.parse().unwrap()
    }

    #[test]
    fn the_first_rule_of_the_file_that_applies_decides() {
        let rules = rules(
            "products = ['/p/', '/products/', '[?&]sku=']\nnews = '^https://h\\.example/n'\nall = '/n'\nrest = 'other'",
        );
        assert_eq!(rules.names().collect::<Vec<_>>(), ["products", "news", "all"]);
        assert_eq!(rules.rest(), "other");
        let mut matcher = rules.matcher();
        for (path, rule) in [
            ("/p/1", Some(0)),
            ("/products/1?sku=2", Some(1)),
            ("/x?sku=2", Some(2)),
            ("/n/1?sku=2", Some(2)),
            ("/n/1", Some(3)),
            ("/p", None),
            ("/", None),
            ("/x/p/", None),
        ] {
            assert_eq!(matcher.rule_of(format!("https://h.example{path}").as_bytes()), rule, "{path}");
        }
        assert_eq!(matcher.rule_of(b"https://other.example/n"), Some(4));
    }

    #[test]
    fn a_thousand_rules_agree_with_trying_one_after_the_other() {
        let text: String = (0..1_000)
            .map(|n| match n % 7 {
                0 => format!("s{n} = 'h.example/[a-c]{{{}}}/?$'\n", n % 5 + 1),
                _ => format!(
                    "s{n} = '/{}'\n",
                    (0..n % 6 + 1).map(|at| ["a", "b", "c/"][(n + at) / 3 % 3]).collect::<String>()
                ),
            })
            .collect();
        let mut matcher = rules(&text).matcher();
        let mut single: Vec<_> = text.lines().map(|line| rules(line).matcher()).collect();
        for n in 0..729_u32 {
            let path: String = (0..6).map(|at| ["a", "b", "c/"][(n / 3_u32.pow(at) % 3) as usize]).collect();
            let url = format!("https://h.example/{path}");
            let plain = single.iter_mut().position(|matcher| matcher.rule_of(url.as_bytes()).is_some());
            assert_eq!(matcher.rule_of(url.as_bytes()), plain, "{url}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_meant_is_refused_with_the_place() {
        for (text, says) in [
            ("", "has no sections"),
            ("rest = 'x'", "has no sections"),
            ("a = 1", "section a: expected a prefix"),
            ("a = []", "section a: expected a prefix"),
            ("a = [1]", "section a: expected a prefix"),
            ("a = { b = 1 }", "section a: expected a prefix"),
            ("a = '('", "section a: pattern (: column 1: unclosed group"),
            ("a = '/(b|c)/'", "section a: /(b|c)/ begins with / and would be a prefix"),
            ("a = '/ü'", "section a: prefix /ü: 'ü' is not in canonical URLs"),
            ("a = ''", "section a: pattern : an empty pattern"),
            ("a = '/x'\nrest = ['/y']", "section rest: expected a name for the section of all other URLs"),
            ("a = '/x'\nrest = '/y'", "section rest: expected a name for the section of all other URLs"),
            ("a = '/x'\nrest = ''", "such as rest = \"other\""),
            ("a = '/x'\nrest = 'a'", "section a: is also the name of rest"),
            ("' ' = '/x'", "a name of its own"),
            ("a = '/x'\na = '/y'", "line 2"),
        ] {
            let why = text.parse::<SectionRules>().unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
