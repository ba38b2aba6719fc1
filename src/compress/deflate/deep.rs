//! The deep parser: searches chains of positions for the match that saves most, and checks whether a better one begins a byte or
//! two later.

use super::costs::Estimate;
use super::finder::{Depth, Finder, Match, SHORT_BYTES};
use super::parser::{Part, SeamParser};
use super::positions::Bucket;
use super::symbols::MATCH_MIN;
use super::tokens::Tokens;
use super::window::Window;

/// A match that begins 0, 1 or 2 bytes later must save more than this, in sixteenths of a bit, because the literals before it
/// cost a token.
const DELAY_GAINS: [i32; 3] = [0, 32, 112];

/// Number of positions at the end of a seam that are inserted. The bytes before them begin every record, or were inserted for
/// another record with the same directories.
const REMEMBERED: usize = 24;

/// Chooses by the costs of the text so far. A bucket `B` has the positions for short matches.
#[derive(Debug)]
pub struct Deep<B: Bucket> {
    finder: Finder<B>,
    depth: Depth,
    /// Length of a match that is taken without looking for a better one.
    enough: usize,
    /// Bytes after a match at which a better one is looked for, at most two.
    ahead: usize,
    estimate: Estimate,
    /// The cost of the literals from the start of the part to each position before its seam.
    literals: Vec<u32>,
}

/// A match, and what it saves compared with literals, in sixteenths of a bit.
#[derive(Debug, Clone, Copy)]
struct Choice {
    found: Match,
    gain: i32,
}

impl<B: Bucket> Deep<B> {
    /// Follows chains to this depth. Looks for a better match up to `ahead` bytes later, unless the first has `enough` bytes.
    pub fn new(depth: Depth, enough: usize, ahead: usize) -> Self {
        let (finder, estimate) = (Finder::default(), Estimate::default());
        Self { finder, depth, enough, ahead, estimate, literals: Vec::new() }
    }

    /// Prepares for the search in a part that follows `tokens`.
    fn begin(&mut self, window: &Window, part: &Part, tokens: &Tokens) {
        self.estimate.learn(tokens);
        let costs = self.estimate.costs();
        let mut sum = 0;
        let sums = window.range(part.from, part.to).iter().map(|&byte| {
            sum += costs.literal(byte);
            sum
        });
        self.literals.clear();
        self.literals.push(0);
        self.literals.extend(sums);
    }

    /// Inserts `at`, and returns the match there that saves most, if one saves anything.
    #[inline(always)]
    fn best(&mut self, window: &Window, at: usize, part: &Part) -> Option<Choice> {
        let Self { finder, estimate, literals, depth, .. } = self;
        let Part { from, to, end, distance: seam, .. } = *part;
        let (costs, own_max, mut best) = (estimate.costs(), to - at, None);
        let mut best_gain = 0;
        finder.find(window, at, part, *depth, |Match { length, distance }| {
            // Bytes that the seam covers anyway save nothing, unless it is not needed any more.
            let own = length.min(own_max);
            let saved = literals[at - from + own] - literals[at - from];
            let is_seam_covered = at + length == end && end > to;
            let (length, saved) = match is_seam_covered {
                true => (length, saved + costs.length(end - to) + costs.distance(seam)),
                false => (length.min(own_max.max(SHORT_BYTES)), saved),
            };
            let gain = saved as i32 - (costs.length(length) + costs.distance(distance)) as i32;
            if gain > best_gain {
                best_gain = gain;
                best = Some(Choice { found: Match { length, distance }, gain });
            }
        });
        best
    }

    fn insert(&mut self, window: &Window, from: usize, to: usize) {
        for at in from..to {
            self.finder.insert(at, window.word(at));
        }
    }
}

impl<B: Bucket> SeamParser for Deep<B> {
    fn parse(&mut self, window: &Window, part: &Part, tokens: &mut Tokens) -> usize {
        let Part { from, to, end, distance, .. } = *part;
        self.begin(window, part, tokens);
        let is_searched = |at: usize| at < to && at + SHORT_BYTES <= end;
        let (mut at, mut said) = (from, from);
        while is_searched(at) {
            let Some(mut best) = self.best(window, at, part) else {
                at += 1;
                continue;
            };
            let mut seen = at + 1;
            let mut later = 1;
            while later <= self.ahead && best.found.length < self.enough && is_searched(at + later) {
                let other = self.best(window, at + later, part);
                seen = at + later + 1;
                if let Some(other) = other.filter(|other| other.gain > best.gain + DELAY_GAINS[later]) {
                    at += later;
                    best = other;
                    later = 0;
                }
                later += 1;
            }
            tokens.push_literals(window, said, at);
            tokens.push_match(best.found.length, best.found.distance);
            said = at + best.found.length;
            self.insert(window, seen, said);
            at = said;
        }
        if said < to {
            tokens.push_literals(window, said, to);
            said = to;
        }
        self.insert(window, at.max(to).max(end.saturating_sub(REMEMBERED)), end);
        // What is too short for a match is left to the next part.
        if end - said < MATCH_MIN {
            return said;
        }
        tokens.push_match(end - said, distance);
        end
    }

    fn clear(&mut self) {
        self.finder.clear();
        self.estimate = Estimate::default();
    }
}
