//! The regular expressions of patterns, compiled together.

use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::{NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{Extractor, Literal};

use super::dictionary::Dictionary;
use super::{Pattern, parsed, too_large};

/// Maximum bytes of all regular expressions.
const COMPILED_BYTES_MAX: usize = 64 << 20;

/// Maximum bytes of patterns that are compiled together, without what searches for them in reverse. The more patterns, the larger
/// and the more numerous are the states of their automaton: those that URLs need are to fit in [`STATES_BYTES_MAX`].
const PART_BYTES_MAX: usize = 1 << 20;

/// Maximum bytes of a single pattern, or of a part in reverse. With more, [`STATES_BYTES_MAX`] might not be enough for the few
/// states that the library insists on. It would then, without an error, follow every pattern at every byte.
const NFA_BYTES_MAX: usize = 8 << 20;

/// Maximum bytes of the states that each thread keeps of an automaton. With fewer, large sets would be compiled again and again.
const STATES_BYTES_MAX: usize = 16 << 20;

/// Compiled regular expressions. A clone has scratch memory of its own.
#[derive(Debug, Clone, Default)]
pub struct Expressions {
    /// If there are too many patterns for one part: those that are nothing but words.
    dictionary: Option<Dictionary>,
    /// The others, in order.
    parts: Vec<Regex>,
    /// The index of each of these among all patterns.
    indices: Vec<usize>,
}

impl Expressions {
    /// Compiles `patterns`.
    ///
    /// # Errors
    /// If they are too large together.
    pub fn of<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Result<Self, String> {
        let mut patterns: Vec<(usize, Hir)> = patterns.map(parsed).enumerate().collect();
        let mut expressions = Self::default();
        if !is_one_part(patterns.iter().map(|(_, pattern)| pattern)) {
            expressions.dictionary = Dictionary::split_off(&mut patterns)?;
        }
        let (indices, patterns): (_, Vec<Hir>) = patterns.into_iter().unzip();
        expressions.indices = indices;
        expressions.push(&patterns)?;
        Ok(expressions)
    }

    /// Compiles `patterns`, in halves if they are too large for one part.
    fn push(&mut self, patterns: &[Hir]) -> Result<(), String> {
        if patterns.is_empty() {
            return Ok(());
        }
        if !is_one_part(patterns.iter()) {
            let (first, second) = patterns.split_at(patterns.len() / 2);
            self.push(first)?;
            return self.push(second);
        }
        self.parts.push(compiled(patterns)?);
        match self.parts.iter().map(Regex::memory_usage).sum::<usize>() > COMPILED_BYTES_MAX {
            true => Err(too_large(COMPILED_BYTES_MAX)),
            false => Ok(()),
        }
    }

    /// The index of the first pattern that matches `url`.
    pub fn first_match(&self, url: &[u8]) -> Option<usize> {
        let word = self.dictionary.as_ref().and_then(|dictionary| dictionary.first_match(url));
        let other = self.first_of_parts(url).map(|at| self.indices[at]);
        word.into_iter().chain(other).min()
    }

    /// The index of the first pattern that matches `url`, among those in parts.
    fn first_of_parts(&self, url: &[u8]) -> Option<usize> {
        let mut earlier = 0;
        for part in &self.parts {
            // This ends at the first match and may skip most of the URL; finding out which patterns match may not.
            if part.is_match(url) {
                let mut matching = PatternSet::new(part.pattern_len());
                part.which_overlapping_matches(&Input::new(url), &mut matching);
                return matching.iter().next().map(|first| earlier + first.as_usize());
            }
            earlier += part.pattern_len();
        }
        None
    }
}

/// Whether `patterns` can be compiled together. A single one has to be.
fn is_one_part<'p>(patterns: impl ExactSizeIterator<Item = &'p Hir>) -> bool {
    let config = NFA::config().which_captures(WhichCaptures::None).utf8(false);
    let mut compiler = NFA::compiler();
    compiler.configure(config.nfa_size_limit(Some(PART_BYTES_MAX)));
    let is_single = patterns.len() == 1;
    is_single || compiler.build_many_from_hir(&patterns.collect::<Vec<_>>()).is_ok()
}

/// Compiles `patterns` as one part.
fn compiled(patterns: &[Hir]) -> Result<Regex, String> {
    let config = Regex::config()
        .match_kind(MatchKind::All)
        .which_captures(WhichCaptures::None)
        .utf8_empty(false)
        .nfa_size_limit(Some(NFA_BYTES_MAX))
        .hybrid_cache_capacity(STATES_BYTES_MAX)
        .auto_prefilter(false)
        .prefilter(prefilter(patterns));
    Regex::builder().configure(config).build_many_from_hir(patterns).map_err(why)
}

/// Finds where a match may begin, by the words that matches begin with. The library would make the same search, but in a time that
/// grows with the square of the number of patterns.
fn prefilter(patterns: &[Hir]) -> Option<Prefilter> {
    let extractor = Extractor::new();
    let mut words: Vec<Literal> = Vec::new();
    for pattern in patterns {
        words.extend_from_slice(extractor.extract(pattern).literals()?);
    }
    words.sort();
    words.dedup();
    Prefilter::new(MatchKind::All, &words)
}

fn why(error: BuildError) -> String {
    match error.size_limit() {
        Some(bytes) => too_large(bytes),
        None => format!("the patterns cannot be compiled: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::hybrid::dfa::DFA;

    use super::super::expression;
    use super::*;

    fn patterns(count: usize, of: impl Fn(usize) -> String) -> Vec<Pattern> {
        (0..count).map(|n| of(n).parse().unwrap()).collect()
    }

    #[test]
    fn every_part_is_small_enough_for_an_automaton_whose_states_are_made_when_needed() {
        let path = "/long".repeat(60);
        let patterns = patterns(3_000, |n| format!("^https://h/{n}{path}[0-9]"));
        let expressions = Expressions::of(patterns.iter()).unwrap();
        let mut left = &patterns[..];
        for part in &expressions.parts {
            let (own, others) = left.split_at(part.pattern_len());
            left = others;
            let own: Vec<Hir> = own.iter().map(parsed).collect();
            for is_reverse in [false, true] {
                let config = NFA::config().which_captures(WhichCaptures::None).reverse(is_reverse);
                let nfa = NFA::compiler().configure(config.utf8(false)).build_many_from_hir(&own).unwrap();
                let config = DFA::config().starts_for_each_pattern(true);
                let least = config.get_minimum_cache_capacity(&nfa).unwrap();
                assert!(least < STATES_BYTES_MAX, "{least} bytes for {} patterns", own.len());
            }
        }
        assert!(left.is_empty() && expressions.parts.len() > 1);
        for n in [0, 1, 1_499, 1_500, 2_999, 3_000] {
            let url = format!("https://h/{n}{path}7");
            assert_eq!(expressions.first_match(url.as_bytes()), (n < 3_000).then_some(n), "{n}");
        }
    }

    #[test]
    fn of_many_patterns_only_those_that_are_more_than_words_are_compiled() {
        for (of, compiled) in [
            ((|n| format!(r"^https://www\.example\.com/p/{n}\?id={n}$")) as fn(usize) -> String, 0),
            (|n| format!("/some/longer/path/p/{n}$"), 0),
            (|n| format!("https://www.example.com/p/{n}?id={n}"), 0),
            (|n| format!("https://www.example.com/{}{n}$", if n % 10 == 3 { "p/.+/" } else { "p/" }), 200),
        ] {
            let patterns = patterns(2_000, of);
            let expressions = Expressions::of(patterns.iter()).unwrap();
            assert_eq!(expressions.indices.len(), compiled, "{}", patterns[3]);
            let single: Vec<_> = patterns.iter().map(|pattern| expression(pattern.as_str())).collect();
            for n in [0, 3, 64, 640, 1_999, 2_000] {
                for path in [
                    format!("p/{n}"),
                    format!("p/{n}?id={n}"),
                    format!("p/7/{n}"),
                    format!("p/{n}id={n}x"),
                    format!("some/longer/path/p/{n}"),
                ] {
                    let url = format!("https://www.example.com/{path}").into_bytes();
                    let want = single.iter().position(|pattern| pattern.is_match(&url));
                    assert_eq!(expressions.first_match(&url), want, "{path} by {}", patterns[3]);
                }
            }
        }
    }

    #[test]
    fn patterns_that_are_too_large_are_refused() {
        let large = patterns(1, |_| "[a-z0-9]{0,60000}(?:[a-z]{0,60000}x){4}".into());
        let many = patterns(300, |n| format!("(?:[a-z]{{1,60}}/){{60}}{n}"));
        for (patterns, bytes) in [(large, NFA_BYTES_MAX), (many, COMPILED_BYTES_MAX)] {
            let why = Expressions::of(patterns.iter()).unwrap_err();
            assert!(why.ends_with(&format!("they take more than {bytes} bytes")), "{why}");
        }
    }
}
