//! Pattern sets: many patterns at once.
//!
//! A regular expression looks at every byte of a URL, which takes longer than everything else that the survey does with it. Most
//! patterns need no regular expression: those that URLs begin or end with are compared, and of the others, nearly every one
//! requires a word that few URLs have. Most of the rest have few states, so that a small automaton tells which URLs match. What is
//! left looks at all bytes of a URL at once. Most lines of a text do not even come here: the look ahead at many lines has told that
//! nothing matches.

use super::division::{Division, Numbered, PAIRS_MAX};
use super::edges::Edges;
use super::expressions::Expressions;
use super::gate::{self, Gate, Required};
use super::literals::Shape;
use super::pair::{LANES, Pair};
use super::streams::{Streams, TooLong};
use super::words::Matching;
use super::{Pattern, parsed};
use crate::clean::scope::origin_bytes;
use crate::common::simd;

/// Most words that are compared one after the other. With more, an automaton is quicker.
const EDGES_MAX: usize = 64;

/// Most patterns that streams look for one after the other. With more, their regular expressions are quicker together.
const EACH_MAX: u32 = 4;

/// The number of URLs in a row after which it pays to prepare streams for what they begin with.
const STABLE: u32 = 64;

/// Compiled patterns. A clone has scratch memory of its own, so every thread should use one.
#[derive(Debug, Clone)]
pub struct PatternSet {
    edges: Edges,
    /// All automata in order, two in each pair.
    pairs: Vec<Pair>,
    groups: Vec<Group>,
    /// The origin of the last URL that had another one, or more if a pattern has a longer prefix. Most URLs begin like the one
    /// before.
    beginning: Vec<u8>,
    /// Whether `beginning` is as long as the prefixes, so that it tells of other URLs, too.
    is_known: bool,
    /// The number of URLs in a row that have it, up to [`STABLE`].
    in_a_row: u32,
}

/// Patterns that are not just words at the start or the end of URLs.
#[derive(Debug, Clone)]
struct Group {
    filter: Filter,
    expressions: Expressions,
    /// The index of each among all patterns, in ascending order.
    indices: Vec<usize>,
}

/// A quick test of URLs, before or instead of the regular expressions.
#[derive(Debug, Clone)]
enum Filter {
    /// Nothing.
    None,
    /// Which patterns require a word that it has. Of each of these, streams tell whether it matches. Where there are none, regular
    /// expressions tell.
    Words { gate: Box<Gate>, each: Vec<Option<Streams>> },
    /// Whether one of the patterns matches: the automaton with this index tells. Which one does, streams for each of them tell.
    Match { automaton: usize, each: Vec<Option<Streams>> },
    /// Which of the patterns is the first that matches, unless the URL is too long.
    First(Box<Streams>),
}

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
            match Shape::of(&parsed(pattern)) {
                Shape::Edge(edge, edge_words) if edges.len() + edge_words.len() <= EDGES_MAX => {
                    edge_words.iter().for_each(|word| edges.push(index, edge, word));
                }
                Shape::Containing { words: required, is_exact } => {
                    words.push(Required { words: required, is_exact });
                    gated.push(numbered);
                }
                Shape::Edge(..) | Shape::Any => open.push(numbered),
            }
        }
        edges.finish();
        let gate = Gate::of(&words, &[]);
        if gate.is_none() {
            open.append(&mut gated);
            open.sort_by_key(|&(index, _)| index);
        }
        let Division { automata, streams, others } = Division::of(&open);
        let mut groups = Vec::new();
        let mut add = |filter, patterns: &[Numbered<'_>]| -> Result<(), String> {
            groups.push(Group::of(filter, patterns)?);
            Ok(())
        };
        for (at, (patterns, _)) in automata.iter().enumerate() {
            add(Filter::Match { automaton: at, each: streams_of_each(patterns) }, patterns)?;
        }
        if let Some((patterns, streams)) = streams {
            add(Filter::First(Box::new(streams)), &patterns)?;
        }
        if !others.is_empty() {
            add(Filter::None, &others)?;
        }
        if let Some(gate) = gate {
            let each = if gate.tells_patterns() { streams_of_each(&gated) } else { Vec::new() };
            add(Filter::Words { gate: Box::new(gate), each }, &gated)?;
        }
        let automata: Vec<_> = automata.into_iter().map(|(_, automaton)| automaton).collect();
        let pairs = automata.chunks(LANES).map(Pair::of).collect();
        Ok(Some(Self { edges, pairs, groups, beginning: Vec::new(), is_known: false, in_a_row: 0 }))
    }

    /// The index of the first pattern that matches `url`.
    #[inline]
    pub fn first_match(&mut self, url: &[u8]) -> Option<usize> {
        if !self.is_known || !simd::starts_with(url, &self.beginning) {
            self.begin(url);
        } else if self.in_a_row < STABLE {
            self.in_a_row += 1;
            if self.in_a_row == STABLE {
                self.begin_streams();
            }
        }
        let mut first = self.edges.first_match(url);
        if first == Some(0) || self.groups.is_empty() {
            return first;
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
        let origin_bytes = origin_bytes(url);
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
        self.edges.begin(beginning);
        self.beginning.clear();
        self.beginning.extend_from_slice(beginning);
        if std::mem::take(&mut self.in_a_row) == STABLE {
            self.begin_streams();
        }
    }

    /// Prepares the streams for the beginning of URLs if it is stable; otherwise, for any.
    #[cold]
    fn begin_streams(&mut self) {
        let beginning = if self.in_a_row == STABLE { &self.beginning[..] } else { &[] };
        let streams = self.groups.iter_mut().flat_map(|group| -> Vec<&mut Streams> {
            match &mut group.filter {
                Filter::Words { each, .. } | Filter::Match { each, .. } => {
                    each.iter_mut().flatten().collect()
                }
                Filter::First(streams) => vec![&mut **streams],
                Filter::None => Vec::new(),
            }
        });
        streams.for_each(|streams| streams.begin(beginning));
    }
}

/// Streams for each pattern that has a bit of its own in a gate.
fn streams_of_each(patterns: &[Numbered<'_>]) -> Vec<Option<Streams>> {
    let own = patterns.iter().take(gate::PATTERNS_MAX);
    own.map(|&(_, pattern)| Streams::of([pattern])).collect()
}

/// Whether the pattern at `at` matches `url`. `None` if there are no streams for it, or the URL is too long for them.
#[inline]
fn is_match(each: &mut [Option<Streams>], at: usize, url: &[u8]) -> Option<bool> {
    let first = each.get_mut(at)?.as_mut()?.first_match(url);
    first.ok().map(|first| first.is_some())
}

impl Group {
    fn of(filter: Filter, patterns: &[Numbered<'_>]) -> Result<Self, String> {
        let expressions = Expressions::of(patterns.iter().map(|&(_, pattern)| pattern))?;
        Ok(Self { filter, expressions, indices: patterns.iter().map(|&(index, _)| index).collect() })
    }

    /// The index of the first pattern that matches `url`. `matching` tells whether the automaton with an index does.
    #[inline]
    fn first_match(&mut self, url: &[u8], matching: impl Fn(usize) -> bool) -> Option<usize> {
        match &mut self.filter {
            Filter::Match { automaton, .. } if !matching(*automaton) => None,
            Filter::Match { each, .. } => {
                let last = each.len() - 1;
                for at in 0..last {
                    match is_match(each, at, url) {
                        Some(false) => (),
                        Some(true) => return Some(self.indices[at]),
                        None => return self.first_expression(url),
                    }
                }
                // One of them matches.
                Some(self.indices[last])
            }
            Filter::First(streams) => match streams.first_match(url) {
                Ok(first) => first.map(|at| self.indices[at]),
                Err(TooLong) => self.first_expression(url),
            },
            Filter::Words { gate, each } => {
                let Matching { may: mut admitted, does } = gate.admitted(url);
                while admitted != 0 {
                    let at = admitted.trailing_zeros() as usize;
                    if does >> at & 1 == 1 && at < gate::PATTERNS_MAX {
                        return Some(self.indices[at]);
                    }
                    if admitted.count_ones() > EACH_MAX {
                        return self.first_expression(url);
                    }
                    match is_match(each, at, url) {
                        Some(false) => admitted &= admitted - 1,
                        Some(true) => return Some(self.indices[at]),
                        None => return self.first_expression(url),
                    }
                }
                None
            }
            Filter::None => self.first_expression(url),
        }
    }

    /// Returns the index of the first pattern whose regular expression matches `url`.
    fn first_expression(&self, url: &[u8]) -> Option<usize> {
        self.expressions.first_match(url).map(|at| self.indices[at])
    }
}

#[cfg(test)]
mod tests;
