//! Finds the rule of a robots.txt that decides about a path.
//!
//! Of all rules that match, the longest decides, and `Allow` wins over a `Disallow` of the same length. Large sites have thousands
//! of rules. So they are grouped by their *heads*, the bytes before the first `*` or the final `$`, which a path must begin with.
//! Heads are sorted; the longest that a path begins with is found by binary search, and each knows the next shorter one.
//!
//! Most rules with `*` have the same head, a slash. If they are many, one search finds the literals of all of them.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::AhoCorasick;
use memchr::memmem::Finder;

use super::{Rule, normal};
use crate::clean::CleanUrl;
use crate::clean::scope::origin_of;

/// Fewest rules of a head for which a search for literals takes less time than trying one rule after the other.
const SOUGHT_MIN: usize = 10;

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
    bytes: Box<[u8]>,
    /// The index of the longest other head that this one begins with.
    parent: Option<usize>,
    /// Its rules, by rank, but for those that are found by a literal.
    tails: Vec<Tail>,
    /// The others.
    sought: Option<Box<Sought>>,
}

/// Rules that can match only where one of their literals is.
#[derive(Debug)]
struct Sought {
    /// By rank.
    tails: Vec<Tail>,
    /// Finds a literal of each, which has the same index.
    literals: AhoCorasick,
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
        for (bytes, mut tails) in by_head {
            let parent = longest(&heads, heads.len().checked_sub(1), bytes);
            let sought = Sought::split_off(&mut tails).map(Box::new);
            heads.push(Head { bytes: bytes.into(), parent, tails, sought });
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
            best = better(&head.tails, rest, best);
            if let Some(sought) = &head.sought {
                best = sought.better(rest, best);
            }
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

/// The best of `tails`, which are in order of their ranks, that matches `rest`, unless `best` is better.
fn better<'t>(tails: &'t [Tail], rest: &[u8], best: Option<&'t Tail>) -> Option<&'t Tail> {
    let mut better = tails.iter().take_while(|tail| tail.is_better_than(best));
    better.find(|tail| tail.matches(rest)).or(best)
}

impl Sought {
    /// Moves those of `tails` that have literals here. `None` if trying one after the other is as quick.
    fn split_off(tails: &mut Vec<Tail>) -> Option<Self> {
        let sought: Vec<Tail> = tails.extract_if(.., |tail| !tail.needles().all(<[u8]>::is_empty)).collect();
        if sought.len() < SOUGHT_MIN {
            tails.extend(sought);
            tails.sort_by_key(|tail| tail.rank);
            return None;
        }
        let mut uses: HashMap<&[u8], usize> = HashMap::new();
        sought.iter().flat_map(Tail::needles).for_each(|needle| *uses.entry(needle).or_default() += 1);
        // Few paths have a literal that few rules have, or a long one.
        let rarity = |needle: &&[u8]| (std::cmp::Reverse(uses[needle]), needle.len());
        let rarest = |tail| {
            let needles = Tail::needles(tail).filter(|needle| !needle.is_empty());
            needles.max_by_key(rarity).expect("only those with a literal are sought")
        };
        let literals = AhoCorasick::new(sought.iter().map(rarest));
        let literals = literals.expect("a robots.txt is too short for more states than can be numbered");
        Some(Self { tails: sought, literals })
    }

    /// The best rule that matches `rest`, unless `best` is better.
    fn better<'t>(&'t self, rest: &[u8], mut best: Option<&'t Tail>) -> Option<&'t Tail> {
        let found = self.literals.find_overlapping_iter(rest).map(|found| &self.tails[found.pattern()]);
        for (count, tail) in found.enumerate() {
            if count == self.tails.len() {
                // Literals overlap so much that it takes less time to try every rule once.
                return better(&self.tails, rest, best);
            }
            if tail.is_better_than(best) && tail.matches(rest) {
                best = Some(tail);
            }
        }
        best
    }
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

    /// The literals that follow each `*`. Some may be empty.
    fn needles(&self) -> impl Iterator<Item = &[u8]> {
        self.literals.iter().flatten().map(Finder::needle)
    }

    /// Whether it decides if both match.
    fn is_better_than(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| self.rank < other.rank)
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
    fn many_rules_with_one_head_are_found_by_their_rarest_literals() {
        let texts = (0..50).map(|n| (format!("/*?cat=*&color={n}$"), format!("/x?cat=a&color={n}")));
        let (patterns, paths): (Vec<_>, Vec<_>) = texts.unzip();
        let rules: Vec<_> = patterns.into_iter().map(|pattern| Rule { allows: false, pattern }).collect();
        let matcher = Matcher::new(&rules);
        let sought = matcher.heads[0].sought.as_ref().unwrap();
        for (index, path) in paths.iter().enumerate() {
            let found = sought.literals.find_overlapping_iter(path.as_bytes());
            // `&color=1` is also found in `&color=12`.
            assert_eq!(found.count(), if index < 10 { 1 } else { 2 }, "{path}");
            assert_eq!(matcher.forbidding_path(path.as_bytes()), Some(index), "{path}");
            assert_eq!(matcher.forbidding_path(&path.as_bytes()[..path.len() - 3]), None, "{path}");
        }
    }

    #[test]
    fn the_deciding_rule_is_the_one_that_a_look_at_all_rules_finds() {
        let mut random = Random::new(1);
        let mut text = |parts: &[&'static str], count: usize| -> String {
            (0..count).map(|_| parts[random.below(parts.len())]).collect()
        };
        let (mut forbidden, mut suspected, mut paths, mut searches) = (0, 0, 0, 0);
        for round in 0..2_000 {
            // In some rounds, most rules have the same head.
            let start = if round % 4 == 0 { "/*" } else { "/" };
            let rules: Vec<Rule> = (0..round % 30)
                .map(|n| {
                    let end = if n % 5 == 0 { "$" } else { "" };
                    let pattern = text(&["a", "b", "/", "*", "ab", "ba/"], 1 + n % 7) + end;
                    Rule { allows: n % 3 == 0, pattern: format!("{start}{pattern}") }
                })
                .collect();
            let matcher = Matcher::new(&rules);
            searches += matcher.heads.iter().filter(|head| head.sought.is_some()).count();
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
        assert!(searches > 200, "{searches}");
        assert!(suspected < paths * 9 / 10, "{suspected} of {paths}");
    }
}
