//! A dictionary: the words of many patterns, which one pass over a URL finds. Long lists of patterns are mostly lists of URLs.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};
use regex_syntax::hir::Hir;

use super::literals::{self, ANY, Edge};
use super::too_large;

/// Maximum bytes of an automaton while it is built: enough for hundreds of thousands of URLs.
const BYTES_MAX: usize = 256 << 20;

/// Bytes of a state of the automaton while it is built, at most. There is one for each byte, those of a common beginning once.
const STATE_BYTES: usize = 64;

/// Words of patterns, each with the index of its pattern.
#[derive(Debug, Clone)]
pub struct Dictionary {
    /// Finds a fragment of each word, which has the same index.
    fragments: AhoCorasick,
    words: Arc<[Word]>,
}

#[derive(Debug)]
struct Word {
    bytes: Box<[u8]>,
    /// Where a URL must have it. Anywhere if there is none.
    edge: Option<Edge>,
    /// The index in it at which its fragment ends.
    fragment_end: usize,
    /// The pattern that has this word.
    pattern: usize,
}

impl Dictionary {
    /// Moves the patterns that are nothing but words out of `patterns`, which have an index each. `None` if there are none.
    ///
    /// # Errors
    /// If they are too large together.
    pub fn split_off(patterns: &mut Vec<(usize, Hir)>) -> Result<Option<Self>, String> {
        let mut words: Vec<(Vec<u8>, Option<Edge>, usize)> = Vec::new();
        patterns.retain(|(index, pattern)| {
            let own = literals::only_words(pattern);
            // A word without a fragment, such as the empty one, is not found.
            let own = own.filter(|(_, own)| own.iter().all(|word| fragments(word).next().is_some()));
            let Some((edge, own)) = own else { return true };
            words.extend(own.into_iter().map(|word| (word, edge, *index)));
            false
        });
        if words.is_empty() { Ok(None) } else { Self::of(&words).map(Some) }
    }

    fn of(words: &[(Vec<u8>, Option<Edge>, usize)]) -> Result<Self, String> {
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for (_, fragment) in words.iter().flat_map(|(word, ..)| fragments(word)) {
            *counts.entry(fragment).or_default() += 1;
        }
        // Of a host and a path, the path has the fragment that few words share.
        let rarest = |word| {
            let key = |&(_, fragment): &(usize, &[u8])| (counts[fragment], Reverse(fragment.len()));
            fragments(word).min_by_key(key).expect("a word has a fragment")
        };
        let sought: Vec<(usize, &[u8])> = words.iter().map(|(word, ..)| rarest(word)).collect();
        if states(&sought) > BYTES_MAX / STATE_BYTES {
            return Err(too_large(BYTES_MAX));
        }
        let fragments = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(sought.iter().map(|(_, fragment)| fragment))
            .map_err(|error| format!("the patterns cannot be compiled: {error}"))?;
        let word = |((bytes, edge, pattern), (at, fragment)): (&(Vec<u8>, _, _), &(usize, &[u8]))| Word {
            bytes: bytes.as_slice().into(),
            edge: *edge,
            fragment_end: at + fragment.len(),
            pattern: *pattern,
        };
        Ok(Self { fragments, words: words.iter().zip(&sought).map(word).collect() })
    }

    /// The index of the first pattern that has a word of `url`.
    pub fn first_match(&self, url: &[u8]) -> Option<usize> {
        let found = self.fragments.find_overlapping_iter(url);
        let words = found.map(|found| (&self.words[found.pattern().as_usize()], found.end()));
        words.fold(None, |first, (word, end)| match first {
            Some(first) if first <= word.pattern => Some(first),
            first => word.is_in(url, end).then_some(word.pattern).or(first),
        })
    }
}

impl Word {
    /// Whether `url` has it, with its fragment ending at `fragment_end`.
    fn is_in(&self, url: &[u8], fragment_end: usize) -> bool {
        let Some(at) = fragment_end.checked_sub(self.fragment_end) else { return false };
        let Some(own) = url.get(at..at + self.bytes.len()) else { return false };
        let is_end = at + own.len() == url.len();
        let is_there = match self.edge {
            None => true,
            Some(Edge::Start) => at == 0,
            Some(Edge::End) => is_end,
            Some(Edge::Whole) => at == 0 && is_end,
        };
        is_there && literals::fits(&self.bytes, own)
    }
}

/// The parts of a word between bytes that may be any, each with its index.
fn fragments(word: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    let fragments = word.split(|&byte| byte == ANY).map(move |fragment| {
        let this = at;
        at += fragment.len() + 1;
        (this, fragment)
    });
    fragments.filter(|(_, fragment)| !fragment.is_empty())
}

/// The number of states of the automaton that finds these fragments.
fn states(sought: &[(usize, &[u8])]) -> usize {
    let mut fragments: Vec<&[u8]> = sought.iter().map(|&(_, fragment)| fragment).collect();
    fragments.sort_unstable();
    let shared = |pair: &[&[u8]]| pair[0].iter().zip(pair[1]).take_while(|(one, other)| one == other).count();
    let all: usize = fragments.iter().map(|fragment| fragment.len()).sum();
    all - fragments.windows(2).map(shared).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::super::{Pattern, expression, parsed};
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn a_dictionary_finds_what_a_look_at_each_pattern_finds() {
        let mut random = Random::new(23);
        let parts =
            ["/", "a", "b", "ab/", ".", "a?", "(?:a|ba)", r"\.", "^", "$", "[ab]", "(?i:a)", "http://h/"];
        let url_parts = ["/", "a", "b", "ab/", "A", "."];
        let (mut found, mut left) = (0, 0);
        for _ in 0..2_000 {
            let patterns: Vec<Pattern> = (0..1 + random.below(8))
                .filter_map(|_| Pattern::well_formed(&random.joined(&parts, 1..6)).ok())
                .collect();
            let mut others: Vec<_> = patterns.iter().map(parsed).enumerate().collect();
            let dictionary = Dictionary::split_off(&mut others).unwrap();
            let is_other = |at: usize| others.iter().any(|(index, _)| *index == at);
            left += others.len();
            for _ in 0..8 {
                let url = ["http://h/", "h"][random.below(2)].to_owned() + &random.joined(&url_parts, 0..8);
                let matches = |pattern: &Pattern| expression(pattern.as_str()).is_match(url.as_bytes());
                let mut own = patterns.iter().enumerate().filter(|&(at, _)| !is_other(at));
                let want = own.find(|(_, pattern)| matches(pattern)).map(|(at, _)| at);
                let first = dictionary.as_ref().and_then(|words| words.first_match(url.as_bytes()));
                assert_eq!(first, want, "{url} by {patterns:?}");
                found += usize::from(want.is_some());
            }
        }
        assert!(found > 2_000 && left > 200, "{found}, {left}");
    }

    #[test]
    fn a_word_is_sought_by_the_fragment_that_fewest_share() {
        let patterns: Vec<Pattern> =
            (0..50).map(|n| format!("^https://www.example.com/{n}.html$").parse().unwrap()).collect();
        let mut others = patterns.iter().map(parsed).enumerate().collect();
        let dictionary = Dictionary::split_off(&mut others).unwrap().unwrap();
        assert!(others.is_empty());
        let url = b"https://www.example.com/7.html";
        let sought = dictionary.fragments.find_overlapping_iter(url).count();
        assert_eq!((sought, dictionary.first_match(url)), (1, Some(7)));
        assert_eq!(dictionary.first_match(b"https://www.example.com/7.html?x"), None);
    }

    #[test]
    fn states_of_common_beginnings_are_counted_once() {
        let count = |words: &[&'static str]| {
            states(&words.iter().map(|word| (0, word.as_bytes())).collect::<Vec<_>>())
        };
        assert_eq!((count(&["abc"]), count(&["abd", "abc", "ab", "abc", "x"])), (3, 5));
    }
}
