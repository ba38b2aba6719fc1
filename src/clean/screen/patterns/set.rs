//! Pattern sets: many patterns at once.
//!
//! A regular expression looks at every byte of a URL, which takes longer than everything else that the survey does with it. Most
//! patterns need no regular expression: those that URLs begin or end with are compared, and of the others, nearly every one
//! requires a word that few URLs have.

use regex::bytes::{RegexSet, RegexSetBuilder};

use super::edges::Edges;
use super::gate::Gate;
use super::literals::Shape;
use super::{Pattern, parse};

/// Maximum bytes of all compiled patterns: enough for tens of thousands.
const COMPILED_BYTES_MAX: usize = 256 << 20;

/// Maximum bytes of the states that each thread keeps of the automaton. With fewer, large sets would be compiled again and again.
const STATES_BYTES_MAX: usize = 16 << 20;

/// Most words that are compared one after the other. With more, an automaton is quicker.
const EDGES_MAX: usize = 64;

/// Most patterns without a required word that are matched one by one. One alone may be matched from the end of the URL, or have
/// another short cut; a set never has.
const ALONE_MAX: usize = 3;

/// Compiled patterns. A clone has scratch memory of its own, so every thread should use one.
#[derive(Debug, Clone)]
pub struct PatternSet {
    edges: Edges,
    groups: Vec<Group>,
}

/// Patterns that are not just words at the start or the end of URLs.
#[derive(Debug, Clone)]
struct Group {
    /// Without one, every URL is matched.
    gate: Option<Gate>,
    patterns: RegexSet,
    /// The index of each among all patterns, in ascending order.
    indices: Vec<usize>,
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
        let of_open = if open.len() <= ALONE_MAX { 1 } else { open.len() };
        let gated = Some(&gated[..]).filter(|gated| !gated.is_empty()).map(|gated| (gate, gated));
        let groups = gated.into_iter().chain(open.chunks(of_open).map(|open| (None, open)));
        let groups = groups.map(|(gate, patterns)| Group::of(gate, patterns)).collect::<Result<_, _>>()?;
        Ok(Some(Self { edges, groups }))
    }

    /// The index of the first pattern that matches `url`.
    #[inline]
    pub fn first_match(&mut self, url: &[u8]) -> Option<usize> {
        let mut first = self.edges.first_match(url);
        for group in &mut self.groups {
            if first.is_none_or(|first| group.indices[0] < first) {
                let found = group.first_match(url);
                first = first.into_iter().chain(found).min();
            }
        }
        first
    }
}

fn cannot(error: impl std::fmt::Display) -> String {
    format!("the patterns cannot be compiled: {error}")
}

impl Group {
    fn of(gate: Option<Gate>, patterns: &[Numbered<'_>]) -> Result<Self, String> {
        let mut builder = RegexSetBuilder::new(patterns.iter().map(|(_, pattern)| pattern.as_str()));
        builder.unicode(false).size_limit(COMPILED_BYTES_MAX).dfa_size_limit(STATES_BYTES_MAX);
        let indices = patterns.iter().map(|&(index, _)| index).collect();
        Ok(Self { gate, patterns: builder.build().map_err(cannot)?, indices })
    }

    #[inline]
    fn first_match(&mut self, url: &[u8]) -> Option<usize> {
        if self.gate.as_mut().is_some_and(|gate| !gate.admits(url)) {
            return None;
        }
        // It ends at the first match and may skip most of the URL; finding out which patterns match may not.
        match self.patterns.is_match(url) {
            false => None,
            true if self.indices.len() == 1 => Some(self.indices[0]),
            true => self.patterns.matches(url).iter().next().map(|at| self.indices[at]),
        }
    }
}

#[cfg(test)]
mod tests;
