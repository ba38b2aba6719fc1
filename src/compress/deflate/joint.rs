//! The joint parser: puts off the bytes and the seams of many records, and takes the cheapest of all sequences for them together.
//!
//! A seam is one match among others here. It ends earlier if another match begins within its last word, and a match that begins
//! before it may replace it.

use super::deep::Deep;
use super::finder::{Match, SHORT_BYTES};
use super::parser::{SeamParser, Stretch};
use super::payoff::Payoff;
use super::positions::Bucket;
use super::sizes::PENDING_BYTES_MAX;
use super::tokens::Tokens;
use super::ways::{Pending, Ways};
use super::window::Window;

/// Maximum number of stretches that are put off. Few, because only then is it known whether the search pays off.
const PENDING_MAX: usize = 32;

/// Maximum bytes before the first different one in which a slash is looked for.
const NAME_BYTES_MAX: usize = 24;

/// Number of stretches after which it is tried again whether joint sequences pay off. Many, because a trial takes twice as long as
/// the deep parser.
const PERIOD: u32 = 8192;

/// Joint sequences are used while they save at least one bit in this many.
const WORTH: u64 = 256;

/// Encodes stretches together while that saves enough. Otherwise, the deep parser encodes each stretch by itself.
#[derive(Debug)]
pub struct Joint<B: Bucket> {
    deep: Deep<B, true>,
    /// The bits that joint sequences save against those that take seams as they are.
    payoff: Payoff<WORTH, PERIOD>,
    pending: Pending,
    ways: Ways,
}

impl<B: Bucket> Joint<B> {
    /// Searches for matches as `deep` does.
    pub fn new(deep: Deep<B, true>) -> Self {
        let (payoff, pending, ways) = Default::default();
        Self { deep, payoff, pending, ways }
    }

    /// Puts a stretch off: finds the matches at its positions, and inserts them.
    fn search(&mut self, window: &Window, stretch: &Stretch) {
        let Stretch { from, to, end, distance, .. } = *stretch;
        self.pending.stretches += 1;
        let costs = self.deep.estimate.costs();
        self.pending.literals += window.range(from, to).iter().map(|&byte| costs.literal(byte)).sum::<u32>();
        // What is left of the match that ends last.
        let mut left = 0;
        for at in from..to {
            left = self.search_at(window, at, stretch, left);
        }
        if to == end {
            return;
        }
        let seam = Match { length: end - to, distance };
        self.pending.seams += self.deep.estimate.costs().a_match(seam.length, distance);
        let head_end = head_end(window, stretch);
        self.pending.push_seam(seam, head_end - to);
        self.deep.finder.remember(window, to, head_end);
        left = left.max(seam.length + 1).saturating_sub(head_end - to);
        for at in head_end..end {
            left = self.search_at(window, at, stretch, left);
        }
    }

    /// Finds the matches at a position, unless it is well within another one, of which `left` bytes were left before it. Inserts
    /// it, and returns what is left after it of the match that ends last.
    #[inline(always)]
    fn search_at(&mut self, window: &Window, at: usize, stretch: &Stretch, left: usize) -> usize {
        let Self { deep: Deep { finder, depth, enough, .. }, pending, .. } = self;
        pending.push_position();
        let mut left = left.saturating_sub(1);
        // A match may cover the rest of the record.
        let stretch = Stretch { end: stretch.limit, ..*stretch };
        if left >= *enough {
            finder.insert(window, at, at + 1);
        } else if at + SHORT_BYTES <= stretch.end {
            finder.find(window, at, &stretch, *depth, |found| {
                left = left.max(found.length);
                pending.push_match(found);
            });
        }
        left
    }
}

/// The first position in a seam at which another match may begin: after the last slash in the bytes that the record before shares,
/// because names in a directory often begin alike.
fn head_end(window: &Window, &Stretch { to, shared, .. }: &Stretch) -> usize {
    let first = (to + 1).max(shared.saturating_sub(NAME_BYTES_MAX));
    let slash = window.range(first, shared.max(first)).iter().rposition(|&byte| byte == b'/');
    slash.map_or(first, |slash| first + slash + 1)
}

impl<B: Bucket> SeamParser for Joint<B> {
    fn parse(&mut self, window: &Window, stretch: &Stretch, tokens: &mut Tokens) -> usize {
        if !self.payoff.begin() {
            self.flush(window, stretch.from, tokens);
            return self.deep.parse(window, stretch, tokens);
        }
        // It counts the same stretches, but whether matches alone pay off matters only once joint sequences do not.
        self.deep.payoff.begin();
        if self.pending.stretches == 0 {
            self.deep.estimate.learn(tokens);
        }
        self.search(window, stretch);
        if self.pending.stretches == PENDING_MAX || self.pending.bytes() >= PENDING_BYTES_MAX {
            self.flush(window, stretch.end, tokens);
        }
        stretch.end
    }

    fn put_off(&self) -> usize {
        self.pending.bytes()
    }

    fn flush(&mut self, window: &Window, to: usize, tokens: &mut Tokens) {
        let Self { deep: Deep { estimate, payoff: of_matches, .. }, payoff, pending, ways, .. } = self;
        if pending.stretches == 0 {
            return;
        }
        let from = to - pending.bytes();
        let mut find = |seams_are_whole| {
            ways.find(window, from, pending, estimate.costs(), seams_are_whole);
            ways.cost()
        };
        if payoff.decides() {
            let alone = find(true);
            of_matches.count(pending.literals, (pending.literals + pending.seams).saturating_sub(alone));
            payoff.count(alone, alone.saturating_sub(find(false)));
        } else {
            find(false);
        }
        let encoded_to = tokens.push_steps(window, from, to, |at| ways.step(at - from, pending));
        if to > encoded_to {
            tokens.push_literals(window, encoded_to, to);
        }
        pending.clear();
    }

    fn clear(&mut self) {
        self.deep.clear();
        self.pending.clear();
        self.payoff = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;
    use crate::compress::deflate::costs::Costs;
    use crate::compress::deflate::finder::Depth;

    /// Bytes in words, each followed by the same text, like the end of a record and the start of the next.
    fn text() -> String {
        let words = ["red", "shoe", "winter-coat", "of", "garden", "chair", "lamp", "catalogue"];
        let mut random = Random::new(3);
        (0..2_000).map(|_| words[random.next() as usize % words.len()].to_owned() + SEAM).collect()
    }

    const SEAM: &str = "</loc>\n<loc>h.example/";

    /// The cost of the cheapest way over these matches, of which any may be shortened by a few bytes.
    fn plain_cost(window: &Window, from: usize, pending: &Pending, costs: &Costs) -> u32 {
        let count = pending.bytes();
        let mut least = vec![u32::MAX / 2; count + 1];
        least[count] = 0;
        for at in (0..count).rev() {
            if !pending.is_in_head(at) {
                least[at] = costs.literal(window.byte(from + at)) + least[at + 1];
            }
            for &Match { length, distance } in pending.matches(at) {
                for shorter in 0..16.min(length - 2) {
                    let length = length.min(count - at).max(3 + shorter) - shorter;
                    if at + length <= count {
                        least[at] = least[at].min(costs.a_match(length, distance) + least[at + length]);
                    }
                }
            }
        }
        least[0]
    }

    #[test]
    fn no_sequence_of_the_matches_is_cheaper_and_all_of_them_are_genuine() {
        let mut window = Window::default();
        let start = window.end();
        let text = text();
        window.push(text.as_bytes());
        let deep = Deep::<u32, true>::new(Depth { steps: 8, enough: 32 }, 16);
        let mut joint = Joint::new(deep);
        let ends: Vec<_> = text.match_indices(SEAM).map(|(at, _)| start + at).collect();
        let (mut from, mut checked, mut last) = (start, 0, None);
        for &to in &ends[..ends.len() - 1] {
            let (end, limit) = (to + SEAM.len(), to + SEAM.len() + 4);
            let stretch = match last.replace(to) {
                Some(last) => Stretch {
                    shared: end - 4,
                    end,
                    limit,
                    distance: to - last,
                    ..Stretch::without_seam(from, to, from - start)
                },
                None => Stretch::without_seam(from, end, from - start),
            };
            joint.search(&window, &stretch);
            from = end;
            if joint.pending.stretches < 20 {
                continue;
            }
            let Joint { pending, ways, deep: Deep { estimate, .. }, .. } = &mut joint;
            let (first, costs) = (end - pending.bytes(), estimate.costs());
            ways.find(&window, first, pending, costs, false);
            let (mut at, mut cost) = (0, 0);
            while at < pending.bytes() {
                let step = ways.step(at, pending);
                let bytes = usize::from(step.length).max(1);
                cost += match step.length {
                    0 => costs.literal(window.byte(first + at)),
                    _ => costs.a_match(bytes, step.distance()),
                };
                let earlier = (first + at).wrapping_sub(step.distance());
                assert!(step.length == 0 || window.common_prefix(earlier, first + at, bytes) == bytes);
                at += bytes;
            }
            assert_eq!((at, cost), (pending.bytes(), ways.cost()));
            assert!(cost <= plain_cost(&window, first, pending, costs), "pending bytes that end at {end}");
            assert!(cost < pending.literals + pending.seams);
            pending.clear();
            checked += 1;
        }
        assert!(checked > 50);
    }
}
