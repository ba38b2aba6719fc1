//! robots.txt (RFC 9309): which URLs crawlers must not request. A sitemap should not list them, because search consoles report
//! each of them as an error.
//!
//! The crates for robots.txt parse the file or the URL again for every question, and do not tell which rule forbids a URL. This
//! parser is therefore our own, tested against the cases that Google has published for its parser. Like Google, it accepts common
//! misspellings, longer words (`User-agents`), and a space in place of the colon; an `Allow` of `/a/index.html` also allows `/a/`.

pub mod matcher;
mod normal;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::patterns::Pattern;
use crate::common::stop::Stop;
use crate::common::whole_file;
use crate::error::Result;
use crate::limits::ROBOTS_BYTES_MAX;

/// Bytes of a line that are read, as in Google's parser: eight times what browsers allow in a URL.
const ROBOTS_LINE_BYTES_MAX: usize = 8 * 2083 - 1;

/// The name of a crawler in robots.txt, its product token: `Googlebot`. `*` has the rules for all crawlers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RobotsAgent(String);

impl RobotsAgent {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RobotsAgent {
    type Err = String;

    fn from_str(given: &str) -> Result<Self, String> {
        let is_name = !given.is_empty() && product_token(given.as_bytes()).len() == given.len();
        match is_name || given == "*" {
            true => Ok(Self(given.to_owned())),
            false => {
                Err("the name of a crawler has only letters, - and _, as Googlebot; * is any crawler".into())
            }
        }
    }
}

/// The rules of a robots.txt for one crawler. They apply to the path and the query of URLs of any host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Robots {
    source: PathBuf,
    agent: Option<RobotsAgent>,
    rules: Vec<Rule>,
    is_cut: bool,
}

/// A line `Allow` or `Disallow` whose pattern is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether it is `Allow`.
    pub allows: bool,
    /// The pattern in the form of [`normal`]: ASCII, `*` for any bytes, and perhaps a `$` at the end.
    pub pattern: String,
}

impl Robots {
    /// Patterns, one of which matches every canonical URL that a rule forbids. They also match other URLs.
    pub(super) fn patterns(&self) -> Vec<Pattern> {
        let forbidding = self.rules.iter().filter(|rule| !rule.allows);
        let mut patterns: Vec<String> = forbidding
            .map(|Rule { pattern, .. }| {
                let (path, end) = pattern.strip_suffix('$').map_or((&**pattern, ""), |path| (path, "$"));
                let literals: Vec<_> = path.split('*').map(regex_syntax::escape).collect();
                format!("^https?://[^/]+{}{end}", literals.join(".*"))
            })
            .collect();
        if !patterns.is_empty() {
            // The path of such a URL has another normal form.
            patterns.push(format!("[{}]", regex_syntax::escape(normal::BYTES_THAT_CHANGE)));
        }
        let parsed = patterns.iter().map(|pattern| Pattern::well_formed(pattern));
        parsed.collect::<Result<_, _>>().expect("paths in normal form are ASCII without control characters")
    }

    /// Reads the rules for `agent` from the file `path`. Without an agent, or if no group of the file names it, the rules are those
    /// for `*`. As in crawlers, lines that are not rules are skipped, and so is everything after the first 500 KiB.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if the file cannot be read; if `stop` is raised while a pipe is silent.
    pub fn read(path: &Path, agent: Option<&RobotsAgent>, stop: &Stop) -> Result<Self> {
        let text = whole_file::read(path, ROBOTS_BYTES_MAX as u64 + 1, stop)?;
        Ok(Self { source: path.into(), ..Self::parse(&text, agent) })
    }

    /// Returns the rules for `agent` in the robots.txt `text`; see [`Robots::read`].
    pub fn parse(text: &[u8], agent: Option<&RobotsAgent>) -> Self {
        let is_cut = text.len() > ROBOTS_BYTES_MAX;
        let end = match is_cut {
            // The line that the limit cuts would be a shorter rule, which matches more.
            true => text[..ROBOTS_BYTES_MAX].iter().rposition(|&byte| is_line_end(&byte)).unwrap_or(0),
            false => text.len(),
        };
        let mut groups = Groups::default();
        for line in without_bom(&text[..end]).split(is_line_end) {
            groups.take(line, agent);
        }
        let rules = if groups.has_own { groups.own } else { groups.of_all };
        Self { source: PathBuf::new(), agent: agent.cloned(), rules, is_cut }
    }

    /// Returns the file that the rules were read from.
    pub fn source(&self) -> &Path {
        &self.source
    }

    /// Returns the crawler whose rules they are, if one was named.
    pub fn agent(&self) -> Option<&RobotsAgent> {
        self.agent.as_ref()
    }

    /// Returns whether the file has more than 500 KiB, so that its end was not read.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns whether no rule applies to the crawler.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules in the order of the file.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Forgets everything but the rules, so that equal rules are equal wherever they come from.
    pub(crate) fn forget_source(&mut self) {
        *self = Self { rules: std::mem::take(&mut self.rules), ..Self::default() };
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", if self.allows { "allow" } else { "disallow" }, self.pattern)
    }
}

/// The rules that were found so far.
#[derive(Default)]
struct Groups {
    /// Rules for the crawler, and whether a group names it.
    own: Vec<Rule>,
    has_own: bool,
    /// Rules for `*`.
    of_all: Vec<Rule>,
    /// Whether the current group applies to the crawler, and to `*`.
    is_own: bool,
    is_of_all: bool,
    /// Whether the current group has rules. The next line that names a crawler then begins another group.
    has_rules: bool,
}

impl Groups {
    fn take(&mut self, line: &[u8], agent: Option<&RobotsAgent>) {
        let Some((key, value)) = key_and_value(&line[..line.len().min(ROBOTS_LINE_BYTES_MAX)]) else {
            return;
        };
        // Like Google, a key that only begins with the word is accepted: `Disallowed`.
        let is = |names: &[&str]| names.iter().any(|name| begins_with(key, name));
        if is(&["user-agent", "useragent", "user agent"]) {
            if std::mem::take(&mut self.has_rules) {
                (self.is_own, self.is_of_all) = (false, false);
            }
            self.is_of_all |= matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..]);
            let is_named =
                |agent: &RobotsAgent| agent.0.as_bytes().eq_ignore_ascii_case(product_token(value));
            if agent.is_some_and(is_named) {
                (self.is_own, self.has_own) = (true, true);
            }
        } else if is(&["allow"]) {
            self.add(true, value);
        } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
            self.add(false, value);
        }
        // Other lines, such as Sitemap, do not end a group (RFC 9309, 2.2.4).
    }

    fn add(&mut self, allows: bool, value: &[u8]) {
        self.has_rules = true;
        // An empty pattern matches nothing (RFC 9309, 2.2.2: a rule may have no path).
        let mut patterns = Vec::new();
        if !value.is_empty() {
            patterns.push(normal::pattern(value));
        }
        let directory = value.iter().rposition(|&byte| byte == b'/').map(|slash| value.split_at(slash + 1));
        if let Some((directory, file)) = directory
            && allows
            && file.starts_with(b"index.htm")
        {
            patterns.push(normal::pattern(directory) + "$");
        }
        let rules = patterns.into_iter().map(|pattern| Rule { allows, pattern });
        match (self.is_own, self.is_of_all) {
            (true, _) => self.own.extend(rules),
            (false, true) => self.of_all.extend(rules),
            (false, false) => {}
        }
    }
}

/// Splits a line at its colon, without its comment. A line of two words may have a space instead.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|&byte| byte == b'#').next().unwrap_or_default().trim_ascii();
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (&line[..colon], &line[colon + 1..]),
        None => {
            let (key, value) = line.split_at(line.iter().position(is_blank)?);
            (key, Some(value.trim_ascii()).filter(|value| !value.iter().any(is_blank))?)
        }
    };
    Some((key.trim_ascii(), value.trim_ascii()))
}

/// Whether `key` begins with `word`, in any letter case.
fn begins_with(key: &[u8], word: &str) -> bool {
    key.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
}

/// The start of `value` that is the name of a crawler: RFC 9309, 2.2.1, `product-token`.
fn product_token(value: &[u8]) -> &[u8] {
    let is_token = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    let end = value.iter().position(|byte| !is_token(byte));
    &value[..end.unwrap_or(value.len())]
}

/// `text` without a byte order mark, which may be incomplete.
fn without_bom(text: &[u8]) -> &[u8] {
    let bom = text.iter().zip(b"\xEF\xBB\xBF").take_while(|(byte, of_bom)| byte == of_bom);
    &text[bom.count()..]
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
