//! The regular expressions of patterns, compiled together.

use regex_automata::meta::{BuildError, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Input, MatchKind, PatternSet};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{Extractor, Literal};

use super::{Pattern, parsed};

/// Maximum bytes of all compiled patterns: enough for tens of thousands.
const COMPILED_BYTES_MAX: usize = 256 << 20;

/// Maximum bytes of the states that each thread keeps of the automaton. With fewer, large sets would be compiled again and again.
const STATES_BYTES_MAX: usize = 16 << 20;

/// Compiled regular expressions. A clone has scratch memory of its own.
#[derive(Debug, Clone)]
pub struct Expressions(Regex);

impl Expressions {
    /// Compiles `patterns`.
    ///
    /// # Errors
    /// If they are too large together.
    pub fn of<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Result<Self, String> {
        let patterns: Vec<Hir> = patterns.map(parsed).collect();
        let config = Regex::config()
            .match_kind(MatchKind::All)
            .which_captures(WhichCaptures::None)
            .utf8_empty(false)
            .nfa_size_limit(Some(COMPILED_BYTES_MAX))
            .hybrid_cache_capacity(STATES_BYTES_MAX)
            .auto_prefilter(false)
            .prefilter(prefilter(&patterns));
        let compiled = Regex::builder().configure(config).build_many_from_hir(&patterns);
        compiled.map(Self).map_err(why)
    }

    /// The index of the first pattern that matches `url`.
    pub fn first_match(&self, url: &[u8]) -> Option<usize> {
        // This ends at the first match and may skip most of the URL; finding out which patterns match may not.
        if !self.0.is_match(url) {
            return None;
        }
        let mut matching = PatternSet::new(self.0.pattern_len());
        self.0.which_overlapping_matches(&Input::new(url), &mut matching);
        matching.iter().next().map(|first| first.as_usize())
    }
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
        Some(bytes) => {
            format!("the patterns are too large together: compiled, they take more than {bytes} bytes")
        }
        None => format!("the patterns cannot be compiled: {error}"),
    }
}
