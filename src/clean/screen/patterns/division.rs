//! The division of patterns without a required word among the ways that look for them.

use std::collections::HashMap;

use super::Pattern;
use super::automaton::Automaton;
use super::pair::LANES;
use super::streams::Streams;

/// Most pairs of automata. More take longer than a regular expression.
pub const PAIRS_MAX: usize = 2;

/// Most patterns that are divided. With more there would be too many automata.
const PATTERNS_MAX: usize = 32;

/// The time that a pair of automata takes, in steps of streams.
const PAIR_COST: usize = 16;

/// The time that streams take before their first step, in steps.
const STREAMS_COST: usize = 12;

/// A pattern and its index among all patterns.
pub type Numbered<'p> = (usize, &'p Pattern);

/// Which way looks for each pattern.
pub struct Division<'p> {
    /// Small automata, each with its patterns.
    pub automata: Vec<(Vec<Numbered<'p>>, Automaton)>,
    /// Streams, with the patterns that they are for.
    pub streams: Option<(Vec<Numbered<'p>>, Streams)>,
    /// Patterns for which there is nothing but regular expressions.
    pub others: Vec<Numbered<'p>>,
}

impl<'p> Division<'p> {
    /// The division of `patterns` that probably takes least time.
    pub fn of(patterns: &[Numbered<'p>]) -> Self {
        // If a regular expression has to look at all of every URL, it can look for all patterns.
        let mut best = Self { automata: Vec::new(), streams: None, others: patterns.to_vec() };
        if patterns.is_empty() || patterns.len() > PATTERNS_MAX {
            return best;
        }
        let mut automata = Automata::default();
        for pairs in 0..=PAIRS_MAX {
            let (automata, rest) = automata.packed(patterns, LANES * pairs);
            let streams = Streams::of(rest.iter().map(|&(_, pattern)| pattern));
            if rest.is_empty() || streams.is_some() {
                let streams = streams.map(|streams| (rest, streams));
                let division = Self { automata, streams, others: Vec::new() };
                if division.cost() < best.cost() {
                    best = division;
                }
            }
        }
        best
    }

    /// The time that it takes, in steps of streams.
    fn cost(&self) -> usize {
        if !self.others.is_empty() {
            return usize::MAX;
        }
        let of_streams = self.streams.as_ref().map_or(0, |(_, streams)| STREAMS_COST + streams.cost());
        PAIR_COST * self.automata.len().div_ceil(LANES) + of_streams
    }
}

/// Makes automata, each combination of patterns only once.
#[derive(Default)]
struct Automata {
    /// The automata so far, by the indices of their patterns. `None` for one with too many states.
    known: HashMap<Vec<usize>, Option<Automaton>>,
}

impl Automata {
    /// Divides patterns among at most `automata_max` small automata. The others are those that do not fit.
    fn packed<'p>(
        &mut self,
        patterns: &[Numbered<'p>],
        automata_max: usize,
    ) -> (Vec<(Vec<Numbered<'p>>, Automaton)>, Vec<Numbered<'p>>) {
        let mut packs: Vec<(Vec<Numbered<'_>>, Automaton)> = Vec::new();
        let mut rest = Vec::new();
        for &numbered in patterns {
            let alone = if automata_max > 0 { self.of(&[numbered]) } else { None };
            let Some(alone) = alone else {
                rest.push(numbered);
                continue;
            };
            let mut fits = |pack: &[Numbered<'_>]| self.of(&[pack, &[numbered]].concat());
            match packs.iter().enumerate().find_map(|(at, (pack, _))| Some((at, fits(pack)?))) {
                Some((at, shared)) => {
                    packs[at].0.push(numbered);
                    packs[at].1 = shared;
                }
                None if packs.len() == automata_max => rest.push(numbered),
                None => packs.push((vec![numbered], alone)),
            }
        }
        (packs, rest)
    }

    /// The automaton for `patterns`. `None` if it has too many states.
    fn of(&mut self, patterns: &[Numbered<'_>]) -> Option<Automaton> {
        let indices = patterns.iter().map(|&(index, _)| index).collect();
        let make = || {
            let patterns: Vec<&str> = patterns.iter().map(|(_, pattern)| pattern.as_str()).collect();
            Automaton::of(&patterns)
        };
        self.known.entry(indices).or_insert_with(make).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors;
    use super::*;

    #[test]
    fn each_pattern_is_looked_for_in_the_quickest_way() {
        if !vectors::tests::are_available() {
            return;
        }
        for (patterns, automata, streamed, others) in [
            (&[][..], 0, 0, 0),
            (&["[0-9]{8}", "^http://h/[a-z]{2}/", "/x?[0-9]+$"], 3, 0, 0),
            (&["[^/]{40,}"], 0, 1, 0),
            (&["[^/]{40,}", "[0-9]{8}"], 0, 2, 0),
            (&["(?:[0-9]a){90}", "[0-9]{8}"], 0, 0, 2),
        ] {
            let parsed: Vec<Pattern> =
                patterns.iter().map(|pattern| Pattern::well_formed(pattern).unwrap()).collect();
            let numbered: Vec<_> = parsed.iter().enumerate().collect();
            let found = Division::of(&numbered);
            let of_streams = found.streams.map_or(0, |(patterns, _)| patterns.len());
            let counts = (found.automata.len(), of_streams, found.others.len());
            assert_eq!(counts, (automata, streamed, others), "{patterns:?}");
        }
    }
}
