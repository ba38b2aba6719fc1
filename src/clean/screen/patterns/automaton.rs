//! Automata of at most sixteen states: few enough that [`Pair`](super::pair::Pair) can step through them quickly.

use std::array;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use regex_automata::hybrid::{LazyStateID, dfa};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::alphabet::Unit;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind};

use super::literals::{ANY, URL_BYTES};
use crate::clean::scope::ORIGIN_SLASHES;

/// Most states of an automaton.
pub const STATES_MAX: usize = 16;

/// Most states before a common prefix is split off and equal states are merged.
const UNMERGED_MAX: usize = 192;

/// State in which a pattern has matched, whatever follows.
const MATCHED: u8 = 0;

/// The number of values that a byte has.
pub const BYTES: usize = 256;

/// A few patterns as an automaton.
#[derive(Debug, Clone)]
pub struct Automaton {
    /// The beginning of every match, at most an origin. [`ANY`] is any byte.
    pub prefix: Vec<u8>,
    /// The states. The first one is that after the prefix.
    pub states: States,
}

impl Automaton {
    /// The automaton for `patterns`. `None` if it has more than sixteen states, not counting a common prefix.
    pub fn of(patterns: &[&str]) -> Option<Self> {
        let mut states = States::of(patterns)?;
        let prefix = states.split_prefix();
        Some(Self { prefix, states: states.reachable().merged()? })
    }
}

/// The states of an automaton, numbered from 0.
#[derive(Debug, Clone)]
pub struct States {
    /// The next state after each, for each byte.
    pub next: Vec<[u8; BYTES]>,
    /// Whether a pattern matches a URL that ends in it.
    pub is_match: Vec<bool>,
    /// The first state.
    pub start: u8,
    /// One byte of each class of bytes that lead to the same states.
    representatives: Vec<u8>,
}

impl States {
    /// The states of the automaton for `patterns`, [`MATCHED`] first. `None` if there are too many.
    fn of(patterns: &[&str]) -> Option<Self> {
        let dfa = dfa::Builder::new()
            .configure(dfa::Config::new().match_kind(MatchKind::All).minimum_cache_clear_count(Some(0)))
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .thompson(thompson::Config::new().utf8(false).which_captures(WhichCaptures::None))
            .build_many(patterns)
            .ok()?;
        let classes = dfa.byte_classes();
        let representatives: Vec<u8> = classes.representatives(..).filter_map(Unit::as_u8).collect();
        let mut cache = dfa.create_cache();
        let start = dfa.start_state(&mut cache, &start::Config::new().anchored(Anchored::No)).ok()?;
        let mut numbers = HashMap::from([(start, MATCHED + 1)]);
        let mut ids: Vec<LazyStateID> = vec![start];
        let (next, is_match) = (vec![[MATCHED; BYTES]], vec![true]);
        let mut states = Self { next, is_match, start: MATCHED + 1, representatives };
        while let Some(&id) = ids.get(states.next.len() - 1) {
            let mut by_class = [MATCHED; BYTES];
            for &byte in &states.representatives {
                let to = dfa.next_state(&mut cache, id, byte).ok()?;
                if to.is_quit() {
                    return None;
                }
                if to.is_match() {
                    continue;
                }
                by_class[usize::from(classes.get(byte))] = match numbers.entry(to) {
                    Entry::Occupied(known) => *known.get(),
                    Entry::Vacant(_) if ids.len() == UNMERGED_MAX => return None,
                    Entry::Vacant(new) => {
                        ids.push(to);
                        *new.insert(ids.len() as u8)
                    }
                };
            }
            let next = array::from_fn(|byte| by_class[usize::from(classes.get(byte as u8))]);
            states.next.push(next);
            states.is_match.push(dfa.next_eoi_state(&mut cache, id).ok()?.is_match());
        }
        Some(states)
    }

    /// Splits off what every match begins with, at most an origin, and moves the start past it. [`ANY`] is any byte that a URL
    /// can have.
    fn split_prefix(&mut self) -> Vec<u8> {
        let mut prefix = Vec::new();
        let has_origin =
            |prefix: &[u8]| prefix.iter().filter(|&&byte| byte == b'/').count() == ORIGIN_SLASHES;
        // No prefix is longer than a way that reaches every state once.
        while prefix.len() < self.next.len()
            && !has_origin(&prefix)
            && !self.is_match[usize::from(self.start)]
        {
            let next = &self.next[usize::from(self.start)];
            let live: Vec<u8> = URL_BYTES.filter(|&byte| !self.is_dead(next[usize::from(byte)])).collect();
            let byte = match live[..] {
                [byte] => byte,
                [first, ..]
                    if URL_BYTES
                        .map(|byte| next[usize::from(byte)])
                        .all(|to| to == next[usize::from(first)]) =>
                {
                    ANY
                }
                _ => break,
            };
            prefix.push(byte);
            self.start = next[usize::from(live[0])];
        }
        prefix
    }

    /// Whether no pattern can match any more.
    fn is_dead(&self, state: u8) -> bool {
        let at = usize::from(state);
        !self.is_match[at] && self.next[at].iter().all(|&to| to == state)
    }

    /// Only the states that can be reached from the start.
    fn reachable(self) -> Self {
        let mut reached = vec![self.start];
        let mut at = 0;
        while let Some(&state) = reached.get(at) {
            let next = &self.next[usize::from(state)];
            for to in self.representatives.iter().map(|&byte| next[usize::from(byte)]) {
                if !reached.contains(&to) {
                    reached.push(to);
                }
            }
            at += 1;
        }
        self.only(&reached, |state| reached.iter().position(|&to| to == state).expect("it was reached") as u8)
    }

    /// This automaton with states merged that no URL tells apart: Moore's algorithm. `None` if more than sixteen are left.
    fn merged(self) -> Option<Self> {
        // At first, only what matches at the end tells states apart; then, where bytes lead.
        let mut groups: Vec<u8> = self.is_match.iter().map(|&is_match| u8::from(is_match)).collect();
        let mut count = 0;
        loop {
            let mut numbers = HashMap::new();
            let mut finer = Vec::with_capacity(groups.len());
            for (state, next) in self.next.iter().enumerate() {
                let new = numbers.len() as u8;
                let group = |&byte: &u8| groups[usize::from(next[usize::from(byte)])];
                let behaviour = (groups[state], self.representatives.iter().map(group).collect::<Vec<_>>());
                finer.push(*numbers.entry(behaviour).or_insert(new));
            }
            groups = finer;
            if numbers.len() > STATES_MAX {
                return None;
            }
            if numbers.len() == count {
                break;
            }
            count = numbers.len();
        }
        let member =
            |group| groups.iter().position(|&of| usize::from(of) == group).expect("no group is empty");
        let members: Vec<u8> = (0..count).map(|group| member(group) as u8).collect();
        Some(self.only(&members, |state| groups[usize::from(state)]))
    }

    /// The automaton of these `states`, with new numbers.
    fn only(&self, states: &[u8], renumbered: impl Fn(u8) -> u8) -> Self {
        let old = |&state: &u8| usize::from(state);
        Self {
            next: states.iter().map(old).map(|state| self.next[state].map(&renumbered)).collect(),
            is_match: states.iter().map(old).map(|state| self.is_match[state]).collect(),
            start: renumbered(self.start),
            representatives: self.representatives.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_prefix_is_split_off_and_equal_states_are_merged() {
        for (patterns, want) in [
            (&["a"][..], Some(("", 2))),
            (&["[0-9]{8}"], Some(("", 9))),
            (&["[0-9]{15}$"], Some(("", 16))),
            (&["[0-9]{15}"], Some(("", 16))),
            (&["[0-9]{16}"], None),
            (&["[0-9]{200}"], None),
            (&["(?:ab|cb)$"], Some(("", 3))),
            (&["^http://h/[^/]+/[0-9]+$"], Some(("http://h/", 5))),
            (&["^http://www.example.com/[a-z]{2}/"], Some(("http://www\0example\0com/", 5))),
            (&["^http://h/[0-9]", "^http://h/[a-z]{2}/"], Some(("http://h/", 5))),
            (&["^http://h/[0-9]", "^http://h.+[0-9]"], Some(("http://h", 4))),
            (&["^http://h/[0-9]", "[A-Z]"], Some(("", 12))),
            (&["^abc$"], Some(("abc", 2))),
            (&["^http://h/a/[0-9]"], Some(("http://h/", 5))),
            (&["[a&&b]"], Some(("", 1))),
            (&["^"], Some(("", 1))),
        ] {
            let found = Automaton::of(patterns);
            let found =
                found.map(|found| (String::from_utf8(found.prefix).unwrap(), found.states.next.len()));
            let found = found.as_ref().map(|(prefix, states)| (&prefix[..], *states));
            assert_eq!(found, want, "{patterns:?}");
        }
    }
}
