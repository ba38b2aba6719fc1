//! The deep parser: searches at every position, and takes the cheapest of all sequences of literals and matches.

use super::costs::Estimate;
use super::finder::{Depth, Finder, Match, SHORT_BYTES};
use super::parser::{SeamParser, Stretch, end_stretch};
use super::payoff::{NEXT_TO_NOTHING, Payoff};
use super::positions::Bucket;
use super::tokens::{Step, Tokens};
use super::ways::Way;
use super::window::Window;

/// Chooses by the costs of the text so far. A bucket `B` has the positions for short matches.
#[derive(Debug)]
pub struct Deep<B: Bucket, const IS_DEEP: bool> {
    pub finder: Finder<B, IS_DEEP>,
    pub depth: Depth,
    /// Length of a match within which others are not searched for.
    pub enough: usize,
    pub estimate: Estimate,
    pub payoff: Payoff<NEXT_TO_NOTHING>,
    /// The matches at all positions of a stretch, in order.
    matches: Vec<Match>,
    /// For each position of a stretch, and its end, the number of matches before it.
    starts: Vec<u32>,
    /// For each position of a stretch, and its end, the cheapest way to the end of the seam.
    ways: Vec<Way>,
}

impl<B: Bucket, const IS_DEEP: bool> Deep<B, IS_DEEP> {
    /// Follows chains to this depth. Within a match, searches only in its last `enough` bytes.
    pub fn new(depth: Depth, enough: usize) -> Self {
        let (finder, estimate, payoff) = Default::default();
        Self {
            finder,
            depth,
            enough,
            estimate,
            payoff,
            matches: Vec::new(),
            starts: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// Finds the matches at all positions before the seam, and inserts them.
    fn search(&mut self, window: &Window, stretch: &Stretch) {
        let Self { finder, depth, matches, starts, .. } = self;
        matches.clear();
        starts.clear();
        // What is left of the match that ends last.
        let mut last = Match { length: 0, distance: 0 };
        for at in stretch.from..stretch.to {
            starts.push(matches.len() as u32);
            last.length = last.length.saturating_sub(1);
            if last.length >= self.enough {
                finder.insert(window, at, at + 1);
            } else if at + SHORT_BYTES <= stretch.end {
                finder.find(window, at, stretch, *depth, |found| {
                    last = if found.length >= last.length { found } else { last };
                    matches.push(found);
                });
            }
        }
        starts.push(matches.len() as u32);
    }

    /// Finds the cheapest way from each position, from the last to the first.
    fn choose(&mut self, window: &Window, stretch: &Stretch) {
        let Stretch { from, to, end, distance: seam, .. } = *stretch;
        let Self { estimate, payoff, matches, starts, ways, .. } = self;
        let costs = estimate.costs();
        ways.clear();
        ways.resize(to - from + 1, Way::default());
        let seam_cost = if end > to { costs.a_match(end - to, seam) } else { 0 };
        ways[to - from].cost = seam_cost;
        let mut literals = 0;
        let mut carried = Match { length: 0, distance: 0 };
        for at in (from..to).rev() {
            let here = at - from;
            let literal = costs.literal(window.byte(at));
            literals += literal;
            let mut best = Way { step: Step::default(), cost: literal + ways[here + 1].cost };
            let mut shorter = SHORT_BYTES - 1;
            for &Match { length, distance } in &matches[starts[here] as usize..starts[here + 1] as usize] {
                let of_distance = costs.distance(distance);
                let mut consider = |length: usize, then: u32| {
                    let cost = of_distance + costs.length(length) + then;
                    if cost < best.cost {
                        best = Way { step: Step::new(length, distance), cost };
                    }
                };
                // The match before this one is nearer, so it is better for its length and below.
                for own in shorter + 1..=length.min(to - at) {
                    consider(own, ways[here + own].cost);
                }
                if at + length > to {
                    consider(length, costs.rest(end - at - length, seam));
                }
                shorter = length;
            }
            // The same for a match that begins later, of which only the length is not known.
            let is_longer = carried.length > 0 && window.byte(at - carried.distance) == window.byte(at);
            carried.length = if is_longer { carried.length + 1 } else { 0 };
            if is_longer {
                let Match { length, distance } = carried;
                let then = if at + length > to {
                    costs.rest(end - at - length, seam)
                } else {
                    ways[here + length].cost
                };
                let cost = costs.a_match(length, distance) + then;
                if cost < best.cost {
                    best = Way { step: Step::new(length, distance), cost };
                }
            } else if best.step.length > 0 {
                carried = Match { length: best.step.length.into(), distance: best.step.distance() };
            }
            ways[here] = best;
        }
        payoff.count(literals, literals + seam_cost - ways[0].cost);
    }
}

impl<B: Bucket, const IS_DEEP: bool> SeamParser for Deep<B, IS_DEEP> {
    fn parse(&mut self, window: &Window, stretch: &Stretch, tokens: &mut Tokens) -> usize {
        self.estimate.learn(tokens);
        if !self.payoff.begin() {
            return end_stretch(window, stretch, stretch.from, tokens);
        }
        self.search(window, stretch);
        self.choose(window, stretch);
        let encoded_to =
            tokens.push_steps(window, stretch.from, stretch.to, |at| self.ways[at - stretch.from].step);
        let encoded_to = end_stretch(window, stretch, encoded_to, tokens);
        self.finder.remember(window, stretch.to, encoded_to);
        encoded_to
    }

    fn clear(&mut self) {
        self.finder.clear();
        (self.estimate, self.payoff) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    /// The cost of the cheapest way over these matches, of which any may be shortened.
    fn plain_cost(deep: &Deep<u32, true>, window: &Window, stretch: &Stretch) -> u32 {
        let costs = deep.estimate.costs();
        let mut least = vec![0; stretch.to - stretch.from + 1];
        for here in (0..stretch.to - stretch.from).rev() {
            least[here] = costs.literal(window.byte(stretch.from + here)) + least[here + 1];
            for found in &deep.matches[deep.starts[here] as usize..deep.starts[here + 1] as usize] {
                for length in SHORT_BYTES..=found.length.min(stretch.to - stretch.from - here) {
                    least[here] =
                        least[here].min(costs.a_match(length, found.distance) + least[here + length]);
                }
            }
        }
        least[0]
    }

    #[test]
    fn no_sequence_of_the_matches_is_cheaper_and_all_of_them_are_genuine() {
        let words = ["red", "shoe", "winter-coat", "of", "garden", "chair", "lamp", "catalogue"];
        let mut random = Random::new(3);
        let mut window = Window::default();
        let start = window.end();
        let text: Vec<_> = (0..4_000).map(|_| words[random.next() as usize % words.len()]).collect();
        window.push(text.join("-").as_bytes());
        let mut deep = Deep::<u32, true>::new(Depth { steps: 8, enough: 32 }, usize::MAX);
        for from in (start..window.end() - 100).step_by(50) {
            let stretch = Stretch::without_seam(from, from + 50, from - start);
            deep.search(&window, &stretch);
            deep.choose(&window, &stretch);
            let (costs, mut at, mut cost) = (deep.estimate.costs(), from, 0);
            while at < stretch.to {
                let step @ Step { length, .. } = deep.ways[at - from].step;
                let (bytes, distance) = (usize::from(length).max(1), step.distance());
                cost += match length {
                    0 => costs.literal(window.byte(at)),
                    _ => costs.a_match(bytes, distance),
                };
                let is_genuine = length == 0 || window.common_prefix(at - distance, at, bytes) == bytes;
                assert!(is_genuine && distance <= stretch.reach.max(1), "position {at}");
                at += bytes;
            }
            assert_eq!((at, cost), (stretch.to, deep.ways[0].cost));
            assert!(cost <= plain_cost(&deep, &window, &stretch), "stretch at {from}");
        }
    }
}
