//! Pattern sets: many patterns at once.
//!
//! A regular expression looks at every byte of a URL, which takes longer than everything else that the survey does with it. Most
//! patterns need no regular expression: those that URLs begin or end with are compared, and of the others, nearly every one
//! requires a word that few URLs have. Most of the rest have few states, so that a small automaton tells which URLs match.

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::automaton::{Automaton, ORIGIN_SLASHES};
use super::edges::Edges;
use super::gate::{Gate, starts_of};
use super::literals::Shape;
use super::pair::{LANES, Pair};
use super::{Pattern, parse};
use crate::common::simd;

/// Maximum bytes of all compiled patterns: enough for tens of thousands.
const COMPILED_BYTES_MAX: usize = 256 << 20;

/// Maximum bytes of the states that each thread keeps of the automaton. With fewer, large sets would be compiled again and again.
const STATES_BYTES_MAX: usize = 16 << 20;

/// Most words that are compared one after the other. With more, an automaton is quicker.
const EDGES_MAX: usize = 64;

/// Most groups of patterns without a required word. Each looks at all of every URL; more take longer than one set of all patterns,
/// even though a set has no short cuts.
const OPEN_MAX: usize = 4;

/// Most pairs of automata: for as many groups.
const PAIRS_MAX: usize = OPEN_MAX / LANES;

/// Most patterns without a required word that are divided among small automata. With more there would be too many automata.
const PACKED_MAX: usize = 32;

/// Compiled patterns. A clone has scratch memory of its own, so every thread should use one.
#[derive(Debug, Clone)]
pub struct PatternSet {
    edges: Edges,
    /// All automata in order, two in each pair.
    pairs: Vec<Pair>,
    groups: Vec<Group>,
    /// The origin of the last URL that had another one, or more if a pattern has a longer prefix. Most URLs begin like the one before.
    beginning: Vec<u8>,
    /// Whether `beginning` is as long as the prefixes, so that it tells of other URLs, too.
    is_known: bool,
}

/// Patterns that are not just words at the start or the end of URLs.
#[derive(Debug, Clone)]
struct Group {
    filter: Filter,
    patterns: RegexSet,
    /// The index of each among all patterns, in ascending order.
    indices: Vec<usize>,
}

/// What is known of a URL before regular expressions look at it.
#[derive(Debug, Clone)]
enum Filter {
    /// Nothing.
    None,
    /// Whether it has a word that the patterns require. The automaton with the index `starts` finds the first bytes of any.
    Words { gate: Gate, starts: Option<usize> },
    /// Whether one of the patterns matches: the automaton with this index tells.
    Match(usize),
}

/// A pattern and its index among all patterns.
type Numbered<'p> = (usize, &'p Pattern);

impl PatternSet {
    /// Compiles `patterns`. `None` if there are none.
    ///
    /// # Errors
    /// If they are too large together.
    pub fn of(patterns: &[Pattern]) -> Result<Option<Self>, String> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let mut edges = Edges::default();
        let (mut gated, mut open, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for numbered @ (index, pattern) in patterns.iter().enumerate() {
            match Shape::of(&parse(pattern.as_str()).map_err(cannot)?) {
                Shape::Edge(edge, edge_words) if edges.len() + edge_words.len() <= EDGES_MAX => {
                    edge_words.iter().for_each(|word| edges.push(index, edge, word));
                }
                Shape::Containing(required) => {
                    words.extend(required);
                    gated.push(numbered);
                }
                Shape::Edge(..) | Shape::Any => open.push(numbered),
            }
        }
        let gate = Gate::of(&words);
        if gate.is_none() {
            open.append(&mut gated);
            open.sort_by_key(|&(index, _)| index);
        }
        let (mut automata, mut groups) = (Vec::new(), Vec::new());
        for (patterns, automaton) in packed(&open) {
            let filter = if automaton.is_some() { Filter::Match(automata.len()) } else { Filter::None };
            groups.push(Group::of(filter, &patterns)?);
            automata.extend(automaton);
        }
        if let Some(gate) = gate {
            // The second automaton of a pair takes no time.
            let is_free = !automata.len().is_multiple_of(LANES);
            let starts = is_free.then(|| starts_of(&words)).flatten();
            let number = starts.is_some().then_some(automata.len());
            groups.push(Group::of(Filter::Words { gate, starts: number }, &gated)?);
            automata.extend(starts);
        }
        let pairs = automata.chunks(LANES).map(Pair::of).collect();
        Ok(Some(Self { edges, pairs, groups, beginning: Vec::new(), is_known: false }))
    }

    /// The index of the first pattern that matches `url`.
    #[inline]
    pub fn first_match(&mut self, url: &[u8]) -> Option<usize> {
        let mut first = self.edges.first_match(url);
        if first == Some(0) || self.groups.is_empty() {
            return first;
        }
        if !self.is_known || !simd::starts_with(url, &self.beginning) {
            self.begin(url);
        }
        let rest = &url[self.beginning.len()..];
        let mut matching = [[false; LANES]; PAIRS_MAX];
        for (matching, pair) in matching.iter_mut().zip(&self.pairs) {
            *matching = pair.matching(rest);
        }
        let matching = |automaton: usize| matching[automaton / LANES][automaton % LANES];
        for group in &mut self.groups {
            if first.is_none_or(|first| group.indices[0] < first) {
                let found = group.first_match(url, matching);
                first = first.into_iter().chain(found).min();
            }
        }
        first
    }

    /// Learns how `url` begins.
    #[cold]
    fn begin(&mut self, url: &[u8]) {
        let slash = memchr::memchr_iter(b'/', url).nth(ORIGIN_SLASHES - 1);
        let origin_bytes = slash.map_or(0, |slash| slash + 1);
        // With dots for any byte, a prefix may be longer than the origin of a short host.
        let prefix_bytes = self.pairs.iter().map(Pair::prefix_bytes).max().unwrap_or(0);
        self.is_known = origin_bytes > 0 && url.len() >= prefix_bytes;
        let beginning = &url[..origin_bytes.max(prefix_bytes).min(url.len())];
        self.pairs.iter_mut().for_each(|pair| pair.begin(beginning));
        for group in &mut self.groups {
            if let Filter::Words { gate, .. } = &mut group.filter {
                gate.begin(beginning);
            }
        }
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
    }
}

/// Divides patterns without a required word into groups: as many in a small automaton as fit, and those that do not fit alone.
fn packed<'p>(open: &[Numbered<'p>]) -> Vec<(Vec<Numbered<'p>>, Option<Automaton>)> {
    if open.len() > PACKED_MAX {
        return vec![(open.to_vec(), None)];
    }
    let mut packs: Vec<(Vec<Numbered<'_>>, Option<Automaton>)> = Vec::new();
    for &numbered in open {
        let alone = automaton(&[numbered]);
        let fits = |pack: &[Numbered<'_>]| automaton(&[pack, &[numbered]].concat());
        let shared = packs.iter().enumerate().filter(|_| alone.is_some());
        match shared.filter_map(|(at, (pack, _))| Some((at, fits(pack)?))).next() {
            Some((at, shared)) => {
                packs[at].0.push(numbered);
                packs[at].1 = Some(shared);
            }
            None if packs.len() == OPEN_MAX => return vec![(open.to_vec(), None)],
            None => packs.push((vec![numbered], alone)),
        }
    }
    packs
}

fn automaton(patterns: &[Numbered<'_>]) -> Option<Automaton> {
    let patterns: Vec<&str> = patterns.iter().map(|(_, pattern)| pattern.as_str()).collect();
    Automaton::of(&patterns)
}

fn cannot(error: impl std::fmt::Display) -> String {
    format!("the patterns cannot be compiled: {error}")
}

impl Group {
    fn of(filter: Filter, patterns: &[Numbered<'_>]) -> Result<Self, String> {
        let mut builder = RegexSetBuilder::new(patterns.iter().map(|(_, pattern)| pattern.as_str()));
        builder.unicode(false).size_limit(COMPILED_BYTES_MAX).dfa_size_limit(STATES_BYTES_MAX);
        let indices = patterns.iter().map(|&(index, _)| index).collect();
        Ok(Self { filter, patterns: builder.build().map_err(cannot)?, indices })
    }

    /// The index of the first pattern that matches `url`. `matching` tells whether the automaton with an index does.
    #[inline]
    fn first_match(&mut self, url: &[u8], matching: impl Fn(usize) -> bool) -> Option<usize> {
        let is_alone = self.indices.len() == 1;
        let is_match = match &mut self.filter {
            Filter::Match(automaton) => matching(*automaton),
            // Most URLs that have a word match, and to find out whether takes as long as to find out by which of several patterns.
            Filter::Words { gate, starts } => {
                starts.is_none_or(&matching) && gate.admits(url) && (!is_alone || self.patterns.is_match(url))
            }
            // This ends at the first match and may skip most of the URL; finding out which patterns match may not.
            Filter::None => self.patterns.is_match(url),
        };
        match is_match {
            false => None,
            true if is_alone => Some(self.indices[0]),
            true => self.patterns.matches(url).iter().next().map(|at| self.indices[at]),
        }
    }
}

#[cfg(test)]
mod tests;
