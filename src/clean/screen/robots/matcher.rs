//! Finds the rule of a robots.txt that decides about a path.
//!
//! Of all rules that match, the longest decides, and `Allow` wins over a `Disallow` of the same length. Large sites have thousands
//! of rules. So they are grouped by their *heads*, the bytes before the first `*` or the final `$`, which a path must begin with.
//! Heads are sorted; the longest that a path begins with is found by binary search, and each knows the next shorter one.

use std::collections::BTreeMap;

use memchr::memmem::Finder;

use super::{Rule, normal};
use crate::clean::CleanUrl;
use crate::clean::scope::origin_of;

/// The rules of a robots.txt, ready to judge URLs.
#[derive(Debug)]
pub struct Matcher {
    /// In byte order.
    heads: Vec<Head>,
    /// For each byte, the number of heads that are less than a slash and this byte; then the number of those that are less than
    /// anything after the slash.
    starts: Vec<usize>,
}

/// All rules that begin with the same literal bytes.
#[derive(Debug)]
struct Head {
    bytes: Vec<u8>,
    /// The index of the longest other head that this one begins with.
    parent: Option<usize>,
    /// Its rules, by rank.
    tails: Vec<Tail>,
}

/// A rule without its head.
#[derive(Debug)]
struct Tail {
    /// Its position among all rules: of several that match, the one with the lowest rank decides.
    rank: usize,
    /// Its index in the robots.txt, if it forbids.
    forbids: Option<usize>,
    /// The literals that follow each `*`. `None` if the rule has no `*`.
    literals: Option<Vec<Finder<'static>>>,
    /// Whether the path must end where the pattern does.
    is_anchored: bool,
}

impl Matcher {
    /// A matcher for `rules`.
    pub fn new(rules: &[Rule]) -> Self {
        let mut ranked: Vec<(usize, &Rule)> = rules.iter().enumerate().collect();
        ranked.sort_by_key(|(_, rule)| (std::cmp::Reverse(rule.pattern.len()), !rule.allows));
        let mut by_head: BTreeMap<&[u8], Vec<Tail>> = BTreeMap::new();
        for (rank, (index, rule)) in ranked.into_iter().enumerate() {
            let (head, tail) = Tail::of(rank, index, rule);
            by_head.entry(head).or_default().push(tail);
        }
        let mut heads: Vec<Head> = Vec::with_capacity(by_head.len());
        for (bytes, tails) in by_head {
            let parent = longest(&heads, heads.len().checked_sub(1), bytes);
            heads.push(Head { bytes: bytes.to_vec(), parent, tails });
        }
        let before = |bound: &[u8]| heads.partition_point(|head| *head.bytes < *bound);
        let starts = (0..=u8::MAX).map(|byte| before(&[b'/', byte])).chain([before(&[b'/' + 1])]).collect();
        Self { heads, starts }
    }

    /// The index of the rule that forbids `url`. `buffer` is scratch memory.
    pub fn forbidding(&self, url: CleanUrl<'_>, buffer: &mut Vec<u8>) -> Option<usize> {
        let url = url.as_bytes();
        // The last byte of the origin is the slash that begins the path.
        let path = &url[origin_of(url).len() - 1..];
        self.forbidding_path(normal::path(path, buffer))
    }

    /// The index of the rule that forbids `path`, which is in normal form.
    fn forbidding_path(&self, path: &[u8]) -> Option<usize> {
        let mut at = longest(&self.heads, self.last_up_to(path), path);
        let mut best: Option<&Tail> = None;
        while let Some(head) = at.map(|at| &self.heads[at]) {
            let rest = &path[head.bytes.len()..];
            let worst = best.map_or(usize::MAX, |best| best.rank);
            let mut better = head.tails.iter().take_while(|tail| tail.rank < worst);
            best = better.find(|tail| tail.matches(rest)).or(best);
            at = head.parent;
        }
        best?.forbids
    }
}

impl Matcher {
    /// The index of the last head that is not greater than `path`. Most heads differ from a path in the byte after the slash.
    fn last_up_to(&self, path: &[u8]) -> Option<usize> {
        let (from, to) = match path {
            [b'/', second, ..] => (self.starts[usize::from(*second)], self.starts[usize::from(*second) + 1]),
            _ => (0, self.heads.len()),
        };
        let heads = &self.heads[from..to];
        (from + heads.partition_point(|head| *head.bytes <= *path)).checked_sub(1)
    }
}

#[cfg(feature = "internals")]
impl super::Robots {
    /// The pattern of the rule that forbids `url`.
    #[doc(hidden)]
    pub fn forbidding(&self, url: CleanUrl<'_>) -> Option<&str> {
        let found = Matcher::new(self.rules()).forbidding(url, &mut Vec::new());
        found.map(|at| &*self.rules()[at].pattern)
    }
}

/// The longest head that `path` begins with, if `last` is the last head that is not greater than `path`. Every head between these
/// two begins with the former, so it is an ancestor of `last`.
fn longest(heads: &[Head], last: Option<usize>, path: &[u8]) -> Option<usize> {
    let mut at = last;
    while let Some(head) = at.map(|at| &heads[at]) {
        if path.starts_with(&head.bytes) {
            break;
        }
        at = head.parent;
    }
    at
}

impl Tail {
    /// The head and the tail of a rule.
    fn of(rank: usize, index: usize, rule: &Rule) -> (&[u8], Self) {
        let pattern = rule.pattern.as_bytes();
        let (pattern, is_anchored) = match pattern {
            [pattern @ .., b'$'] => (pattern, true),
            pattern => (pattern, false),
        };
        let mut parts = pattern.split(|&byte| byte == b'*');
        let head = parts.next().unwrap_or_default();
        let literals: Vec<_> = parts.map(|literal| Finder::new(literal).into_owned()).collect();
        let literals = (!literals.is_empty()).then_some(literals);
        (head, Self { rank, forbids: (!rule.allows).then_some(index), literals, is_anchored })
    }

    /// Whether it matches the bytes after its head.
    fn matches(&self, mut rest: &[u8]) -> bool {
        let Some(literals) = &self.literals else { return !self.is_anchored || rest.is_empty() };
        let (last, others) =
            literals.split_last().expect("a rule with * has a literal, perhaps an empty one");
        // Taking the first place for each leaves the most bytes for the next.
        for literal in others {
            let Some(at) = literal.find(rest) else { return false };
            rest = &rest[at + literal.needle().len()..];
        }
        match self.is_anchored {
            true => rest.ends_with(last.needle()),
            false => last.find(rest).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Robots;
    use super::*;
    use crate::clean::screen::patterns::expression;
    use crate::common::random::Random;

    /// Whether `pattern` matches the start of `path`, by trying every possibility.
    fn matches(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => true,
            [b'$'] => path.is_empty(),
            [b'*', rest @ ..] => (0..=path.len()).any(|at| matches(rest, &path[at..])),
            [byte, rest @ ..] => path.first() == Some(byte) && matches(rest, &path[1..]),
        }
    }

    /// The rule that forbids `path`, by looking at all rules.
    fn forbidding(rules: &[Rule], path: &[u8]) -> Option<usize> {
        let matching = rules.iter().enumerate().filter(|(_, rule)| matches(rule.pattern.as_bytes(), path));
        let key = |(_, rule): &(usize, &Rule)| (std::cmp::Reverse(rule.pattern.len()), !rule.allows);
        matching.min_by_key(key).filter(|(_, rule)| !rule.allows).map(|(index, _)| index)
    }

    #[test]
    fn the_deciding_rule_is_the_one_that_a_look_at_all_rules_finds() {
        let mut random = Random::new(1);
        let mut text = |parts: &[&'static str], count: usize| -> String {
            (0..count).map(|_| parts[random.below(parts.len())]).collect()
        };
        let (mut forbidden, mut suspected, mut paths) = (0, 0, 0);
        for round in 0..2_000 {
            let rules: Vec<Rule> = (0..round % 30)
                .map(|n| {
                    let end = if n % 5 == 0 { "$" } else { "" };
                    let pattern = text(&["a", "b", "/", "*", "ab", "ba/"], 1 + n % 7) + end;
                    Rule { allows: n % 3 == 0, pattern: format!("/{pattern}") }
                })
                .collect();
            let matcher = Matcher::new(&rules);
            let patterns = Robots { rules: rules.clone(), ..Robots::default() }.patterns();
            let expressions: Vec<_> = patterns.iter().map(|pattern| expression(pattern.as_str())).collect();
            for length in 0..30 {
                let path = format!("/{}", text(&["a", "b", "/", "ab"], length % 9));
                let found = matcher.forbidding_path(path.as_bytes());
                let want = forbidding(&rules, path.as_bytes());
                assert_eq!(found, want, "{path}: {rules:?}");
                forbidden += usize::from(found.is_some());
                let url = format!("http://h{path}");
                let is_suspect = expressions.iter().any(|expression| expression.is_match(url.as_bytes()));
                assert!(is_suspect || found.is_none(), "{path}: {patterns:?}");
                (suspected, paths) = (suspected + usize::from(is_suspect), paths + 1);
            }
        }
        assert!((10_000..50_000).contains(&forbidden), "{forbidden}");
        assert!(suspected < paths * 9 / 10, "{suspected} of {paths}");
    }
}
