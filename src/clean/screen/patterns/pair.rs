//! Pairs of automata. The next state of all sixteen states of an automaton fits half a vector register, so a step of both is one
//! shuffle, which takes a cycle. In larger automata each step waits for a load from memory, which takes five.

use super::automaton::{Automaton, BYTES, STATES_MAX};
use super::literals;
use super::vectors;
use crate::common::array;

/// Automata that take their steps together.
pub const LANES: usize = 2;

/// The next state after each state, of both automata. Aligned so that a vector load stays within a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Steps([u8; LANES * STATES_MAX]);

/// Two automata that look at a URL together.
#[derive(Debug, Clone)]
pub struct Pair {
    lanes: [Lane; LANES],
    /// The steps for each byte.
    steps: Box<[Steps; BYTES]>,
    /// The states after what URLs begin with.
    begun: [u8; LANES],
    /// A bit for each state: whether a pattern matches a URL with this beginning that ends there.
    matching: [u16; LANES],
    /// Whether the processor has the shuffle.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "the shuffle is one of x86-64"))]
    is_vectorised: bool,
}

/// One of the automata.
#[derive(Debug, Clone, Default)]
struct Lane {
    prefix: Vec<u8>,
    /// The state after the prefix.
    start: u8,
    /// A bit for each state: whether a pattern matches a URL that ends there.
    matching: u16,
}

impl Pair {
    /// Creates a pair from one or two automata.
    pub fn of(automata: &[Automaton]) -> Self {
        let mut lanes: [Lane; LANES] = Default::default();
        let mut steps = Box::new([Steps([0; LANES * STATES_MAX]); BYTES]);
        for (at, Automaton { prefix, states }) in automata.iter().enumerate() {
            let bits = (0..).zip(&states.is_match).map(|(state, &is_match)| u16::from(is_match) << state);
            lanes[at] = Lane { prefix: prefix.clone(), start: states.start, matching: bits.sum() };
            for (state, next) in states.next.iter().enumerate() {
                (0..BYTES).for_each(|byte| steps[byte].0[at * STATES_MAX + state] = next[byte]);
            }
        }
        let is_vectorised = vectors::are_available();
        let (begun, matching) = Default::default();
        Self { lanes, steps, begun, matching, is_vectorised }
    }

    /// The bytes of the longest prefix. What URLs begin with must be as long.
    pub fn prefix_bytes(&self) -> usize {
        self.lanes.iter().map(|lane| lane.prefix.len()).max().unwrap_or(0)
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        for at in 0..LANES {
            let Lane { prefix, start, matching } = &self.lanes[at];
            let rest = beginning
                .split_at_checked(prefix.len())
                .and_then(|(begin, rest)| literals::fits(prefix, begin).then_some(rest));
            self.matching[at] = rest.map_or(0, |_| *matching);
            self.begun[at] = self.ends([*start; LANES], rest.unwrap_or_default())[at];
        }
    }

    /// Whether a URL with this beginning, then `rest`, matches a pattern of each automaton.
    #[inline]
    pub fn matching(&self, rest: &[u8]) -> [bool; LANES] {
        let ends = self.ends(self.begun, rest);
        array::from_fn(|at| self.matching[at] >> ends[at] & 1 == 1)
    }

    /// The states after `bytes`, from the states `starts` on.
    #[inline]
    fn ends(&self, starts: [u8; LANES], bytes: &[u8]) -> [u8; LANES] {
        #[cfg(target_arch = "x86_64")]
        if self.is_vectorised {
            #[expect(unsafe_code)]
            // SAFETY: the processor has AVX2, see `vectors`.
            return unsafe { avx2::ends(&self.steps, starts, bytes) };
        }
        bytes.iter().fold(starts, |states, &byte| {
            array::from_fn(|at| self.steps[usize::from(byte)].0[at * STATES_MAX + usize::from(states[at])])
        })
    }
}

/// Looks up the next states with one instruction.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{_mm256_extract_epi8, _mm256_set_epi64x, _mm256_shuffle_epi8};

    use super::{BYTES, LANES, STATES_MAX, Steps};
    use crate::clean::screen::patterns::vectors::{twice, vector};

    /// All states.
    const EACH: [u8; STATES_MAX] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    /// Both halves of `bytes` at the same time, so that no step waits for the one before it in the other half: the steps of the
    /// second half are taken from every state, and the end of the first half chooses among them.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub fn ends(steps: &[Steps; BYTES], starts: [u8; LANES], bytes: &[u8]) -> [u8; LANES] {
        let step = |states, &byte: &u8| _mm256_shuffle_epi8(vector(&steps[usize::from(byte)].0), states);
        let (first, second) = bytes.split_at(bytes.len() / 2);
        let [one, other] = starts.map(|start| i64::from_le_bytes([start; 8]));
        let begin = (_mm256_set_epi64x(other, other, one, one), twice(&EACH));
        let halves = first.iter().zip(second);
        let (states, from_each) = halves
            .fold(begin, |(states, from_each), (one, other)| (step(states, one), step(from_each, other)));
        let from_each = second[first.len()..].iter().fold(from_each, step);
        let states = _mm256_shuffle_epi8(from_each, states);
        [_mm256_extract_epi8::<0>(states) as u8, _mm256_extract_epi8::<16>(states) as u8]
    }
}

#[cfg(test)]
mod tests {
    use super::super::expression;
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn it_matches_what_the_regular_expression_matches_with_and_without_the_shuffle() {
        let mut random = Random::new(17);
        let parts = [
            "a",
            "b",
            "/",
            "[ab]",
            "[^a]",
            ".",
            ".*",
            "a+",
            "(?i:b)",
            "b{2,3}",
            "^",
            "$",
            r"\b",
            r"\n",
            "|",
            "[^/]+/",
            "^http://h/",
            "^http://./",
            "^https?://",
            "^http",
        ];
        let (mut some, mut matches) = (0, 0);
        for _ in 0..3_000 {
            let patterns = [random.joined(&parts, 1..6), random.joined(&parts, 1..6)];
            let patterns = [&*patterns[0], &*patterns[1]];
            let automata = patterns.map(|pattern| Automaton::of(&[pattern]));
            let [Some(one), Some(other)] = automata else { continue };
            let mut pair = Pair::of(&[one, other]);
            let mut plain = Pair { is_vectorised: false, ..pair.clone() };
            some += 1;
            let regexes = patterns.map(expression);
            for _ in 0..20 {
                let mut url =
                    ["http://h/", "http://a/", "https://ab/", ""][random.below(4)].as_bytes().to_vec();
                url.extend((0..random.below(12)).map(|_| b"aabbB/-"[random.below(7)]));
                let want = [0, 1].map(|at| regexes[at].is_match(&url));
                let prefix_bytes = pair.prefix_bytes().min(url.len());
                let (beginning, rest) =
                    url.split_at(prefix_bytes + random.below(url.len() - prefix_bytes + 1));
                for pair in [&mut pair, &mut plain] {
                    pair.begin(beginning);
                    assert_eq!(pair.matching(rest), want, "{patterns:?} in {:?}", url.escape_ascii());
                }
                matches += want.iter().filter(|&&is_match| is_match).count();
            }
        }
        assert!(some > 1_500 && matches > 5_000, "{some}, {matches}");
    }
}
