//! The medium parser: takes the match that saves most, searches again at its end, and gives up the first match if the second
//! can begin earlier. One search per match is enough for this, while positions are inserted without one. The strategy of this
//! name in zlib-ng does the same.

use super::costs::{Costs, Estimate};
use super::finder::{Depth, Finder, Match, SHORT_BYTES};
use super::parser::{Parser, SeamParser, Stretch, end_stretch};
use super::payoff::{NEXT_TO_NOTHING, Payoff};
use super::positions::Bucket;
use super::tokens::Tokens;
use super::window::Window;

/// A match of fewer bytes is not taken if one byte later, another one saves this much more, in sixteenths of a bit.
const SHORT_MATCH: usize = 8;
const DELAY_GAIN: i32 = 32;

/// Chooses by the costs of the text so far. A bucket `B` has the positions for short matches.
#[derive(Debug)]
pub struct Medium<B: Bucket, const IS_DEEP: bool> {
    finder: Finder<B, IS_DEEP>,
    depth: Depth,
    estimate: Estimate,
    payoff: Payoff<NEXT_TO_NOTHING>,
    /// The cost of the literals from the start of the stretch to each position before its seam.
    literals: Vec<u32>,
}

/// A match that is taken unless another one is better.
#[derive(Debug, Clone, Copy)]
struct Choice {
    at: usize,
    found: Match,
    /// The bits that it saves compared with literals.
    gain: i32,
    /// The first position that is not inserted yet.
    seen: usize,
    /// Its cost. Less than nothing if it saves the seam.
    cost: i32,
}

impl<B: Bucket, const IS_DEEP: bool> Medium<B, IS_DEEP> {
    /// Follows chains to this depth.
    pub fn new(depth: Depth) -> Self {
        let (finder, estimate, payoff) = Default::default();
        Self { finder, depth, estimate, payoff, literals: Vec::new() }
    }

    /// Prepares for the search in a stretch.
    fn begin(&mut self, window: &Window, stretch: &Stretch) {
        let costs = self.estimate.costs();
        let mut sum = 0;
        let sums = window.range(stretch.from, stretch.to).iter().map(|&byte| {
            sum += costs.literal(byte);
            sum
        });
        self.literals.clear();
        self.literals.push(0);
        self.literals.extend(sums);
    }

    /// The best match that begins first, at `at` or later. Inserts all positions up to it.
    #[inline(always)]
    fn next(&mut self, window: &Window, mut at: usize, stretch: &Stretch) -> Option<Choice> {
        while at < stretch.to && at + SHORT_BYTES <= stretch.end {
            let best = self.best(window, at, stretch);
            at += 1;
            let Some(mut best) = best else { continue };
            if best.found.length < SHORT_MATCH && at < stretch.to && at + SHORT_BYTES <= stretch.end {
                let later = self.best(window, at, stretch);
                if let Some(later) = later.filter(|later| later.gain > best.gain + DELAY_GAIN) {
                    best = later;
                }
                best.seen = at + 1;
            }
            return Some(best);
        }
        None
    }

    /// Inserts `at`, and returns the match there that saves most, if one saves anything.
    #[inline(always)]
    fn best(&mut self, window: &Window, at: usize, stretch: &Stretch) -> Option<Choice> {
        let Self { finder, estimate, literals, depth, .. } = self;
        let Stretch { from, to, end, .. } = *stretch;
        let costs = estimate.costs();
        let (mut best, mut best_gain) = (None, 0);
        finder.find(window, at, stretch, *depth, |found| {
            let own = found.length.min(to - at);
            let saved = literals[at - from + own] - literals[at - from];
            let mut length = own.max(SHORT_BYTES);
            let mut cost = costs.a_match(length, found.distance) as i32;
            if at + found.length > to && end > to {
                let with_seam = cost_with_seam(costs, at, found, stretch);
                if with_seam < cost {
                    (length, cost) = (found.length, with_seam);
                }
            }
            let gain = saved as i32 - cost;
            if gain > best_gain {
                best_gain = gain;
                best = Some(Choice { at, found: Match { length, ..found }, gain, seen: at + 1, cost });
            }
        });
        best
    }

    /// Begins `next` earlier if this is cheaper, but not before `choice`. Returns whether it replaces `choice`.
    #[inline(always)]
    fn move_back(&self, window: &Window, stretch: &Stretch, choice: &Choice, next: &mut Choice) -> bool {
        let Match { length, distance } = next.found;
        let more = window.common_suffix(next.at - distance, next.at, next.at - choice.at);
        let gap = next.at - choice.at - choice.found.length;
        let costs = self.estimate.costs();
        let longer = |bytes: usize| costs.length(length + bytes) as i32 - costs.length(length) as i32;
        let literals = |from: usize, to: usize| {
            (self.literals[to - stretch.from] - self.literals[from - stretch.from]) as i32
        };
        let is_replaced = more > gap && {
            let replacing = literals(choice.at, next.at - more) + longer(more);
            replacing < choice.cost + literals(next.at - gap, next.at)
        };
        let bytes = if is_replaced { more } else { more.min(gap) };
        if bytes > 0 {
            next.cost += longer(bytes);
            next.at -= bytes;
            next.found.length += bytes;
        }
        is_replaced
    }
}

/// The cost of a match that covers bytes of the seam, less what the seam would have cost.
#[inline(always)]
fn cost_with_seam(costs: &Costs, at: usize, found: Match, stretch: &Stretch) -> i32 {
    let Stretch { to, end, distance, .. } = *stretch;
    let all = costs.a_match(found.length, found.distance) + costs.rest(end - at - found.length, distance);
    all as i32 - costs.a_match(end - to, distance) as i32
}

impl<B: Bucket, const IS_DEEP: bool> SeamParser for Medium<B, IS_DEEP> {
    fn parse(&mut self, window: &Window, stretch: &Stretch, tokens: &mut Tokens) -> usize {
        self.estimate.learn(tokens);
        if !self.payoff.begin() {
            return end_stretch(window, stretch, stretch.from, tokens);
        }
        self.begin(window, stretch);
        let mut saved = 0;
        // The first byte that is not encoded yet, and the first position that is not inserted yet.
        let (mut encoded_to, mut seen) = (stretch.from, stretch.from);
        let mut next = self.next(window, stretch.from, stretch);
        while let Some(choice) = next {
            let after = choice.at + choice.found.length;
            self.finder.insert(window, choice.seen, after);
            next = self.next(window, after, stretch);
            seen = choice.seen.max(after);
            if let Some(next) = &mut next
                && self.move_back(window, stretch, &choice, next)
            {
                continue;
            }
            if choice.at > encoded_to {
                tokens.push_literals(window, encoded_to, choice.at);
            }
            tokens.push_match(choice.found.length, choice.found.distance);
            encoded_to = after;
            let own = |at: usize| self.literals[at.min(stretch.to) - stretch.from];
            saved += (own(after) - own(choice.at)).saturating_add_signed(-choice.cost);
        }
        self.payoff.count(self.literals[stretch.to - stretch.from], saved);
        let encoded_to = end_stretch(window, stretch, encoded_to, tokens);
        self.finder.remember(window, seen.max(stretch.to), encoded_to);
        encoded_to
    }

    fn clear(&mut self) {
        self.finder.clear();
        (self.estimate, self.payoff) = Default::default();
    }
}

/// Takes every seam as it is.
impl<B: Bucket, const IS_DEEP: bool> Parser for Medium<B, IS_DEEP> {
    fn parse(&mut self, window: &Window, from: usize, to: usize, reach: usize, tokens: &mut Tokens) {
        SeamParser::parse(self, window, &Stretch::without_seam(from, to, reach), tokens);
    }

    fn pass(&mut self, window: &Window, from: usize, to: usize) {
        self.finder.remember(window, from, to);
    }

    fn clear(&mut self) {
        SeamParser::clear(self);
    }
}
