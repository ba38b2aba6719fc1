//! The joint parser: puts off the bytes and the seams of many records, and takes the cheapest of all sequences for them together.
//!
//! A seam is one match among others here. It ends earlier if another match begins within its last word, and a match that begins
//! before it may replace it.

use super::deep::Deep;
use super::finder::{Match, SHORT_BYTES};
use super::parser::{Part, SeamParser};
use super::payoff::Payoff;
use super::positions::Bucket;
use super::sizes::BATCH_BYTES;
use super::tokens::Tokens;
use super::ways::{Batch, Ways};
use super::window::Window;

/// Maximum number of parts that are put off. Few, because only then is it known whether the search pays off.
const BATCH_PARTS: usize = 32;

/// Maximum bytes before the first different one in which a slash is looked for.
const NAME_BYTES_MAX: usize = 24;

/// Number of parts after which it is tried again whether joint sequences pay off. Many, because a trial takes twice as long as the
/// deep parser.
const PERIOD: u32 = 8192;

/// Joint sequences are used while they save at least one in so many bits.
const WORTH: u64 = 256;

/// Encodes parts together while that saves enough. Otherwise, the deep parser encodes each part by itself.
#[derive(Debug)]
pub struct Joint<B: Bucket> {
    deep: Deep<B, true>,
    /// What joint sequences save against those that take seams as they are.
    payoff: Payoff<WORTH, PERIOD>,
    batch: Batch,
    ways: Ways,
}

impl<B: Bucket> Joint<B> {
    /// Searches for matches as `deep` does.
    pub fn new(deep: Deep<B, true>) -> Self {
        let (payoff, batch, ways) = Default::default();
        Self { deep, payoff, batch, ways }
    }

    /// Adds a part to the batch: finds the matches at its positions, and inserts them.
    fn search(&mut self, window: &Window, part: &Part) {
        let Part { from, to, end, distance, .. } = *part;
        self.batch.parts += 1;
        let costs = self.deep.estimate.costs();
        self.batch.literals += window.range(from, to).iter().map(|&byte| costs.literal(byte)).sum::<u32>();
        // What is left of the match that ends last.
        let mut left = 0;
        for at in from..to {
            left = self.search_at(window, at, part, left);
        }
        if to == end {
            return;
        }
        let seam = Match { length: end - to, distance };
        self.batch.seams += self.deep.estimate.costs().a_match(seam.length, distance);
        let head_end = head_end(window, part);
        self.batch.push_seam(seam, head_end - to);
        self.deep.finder.remember(window, to, head_end);
        left = left.max(seam.length + 1).saturating_sub(head_end - to);
        for at in head_end..end {
            left = self.search_at(window, at, part, left);
        }
    }

    /// Finds the matches at a position, unless it is well within another one, of which `left` bytes were left before it. Inserts
    /// it, and returns what is left after it of the match that ends last.
    #[inline(always)]
    fn search_at(&mut self, window: &Window, at: usize, part: &Part, left: usize) -> usize {
        let Self { deep: Deep { finder, depth, enough, .. }, batch, .. } = self;
        batch.push_position();
        let mut left = left.saturating_sub(1);
        // A match may cover the rest of the record.
        let part = Part { end: part.limit, ..*part };
        if left >= *enough {
            finder.insert(window, at, at + 1);
        } else if at + SHORT_BYTES <= part.end {
            finder.find(window, at, &part, *depth, |found| {
                left = left.max(found.length);
                batch.push_match(found);
            });
        }
        left
    }
}

/// The first position in a seam at which another match may begin: after the last slash in the bytes that the record before shares,
/// because names in a directory often begin alike.
fn head_end(window: &Window, &Part { to, shared, .. }: &Part) -> usize {
    let first = (to + 1).max(shared.saturating_sub(NAME_BYTES_MAX));
    let slash = window.range(first, shared.max(first)).iter().rposition(|&byte| byte == b'/');
    slash.map_or(first, |slash| first + slash + 1)
}

impl<B: Bucket> SeamParser for Joint<B> {
    fn parse(&mut self, window: &Window, part: &Part, tokens: &mut Tokens) -> usize {
        if !self.payoff.begin() {
            self.flush(window, part.from, tokens);
            return self.deep.parse(window, part, tokens);
        }
        // It counts the same parts, but whether matches alone pay off matters only once joint sequences do not.
        self.deep.payoff.begin();
        if self.batch.parts == 0 {
            self.deep.estimate.learn(tokens);
        }
        self.search(window, part);
        if self.batch.parts == BATCH_PARTS || self.batch.bytes() >= BATCH_BYTES {
            self.flush(window, part.end, tokens);
        }
        part.end
    }

    fn put_off(&self) -> usize {
        self.batch.bytes()
    }

    fn flush(&mut self, window: &Window, to: usize, tokens: &mut Tokens) {
        let Self { deep: Deep { estimate, payoff: of_matches, .. }, payoff, batch, ways, .. } = self;
        if batch.parts == 0 {
            return;
        }
        let from = to - batch.bytes();
        let mut find = |seams_are_whole| {
            ways.find(window, from, batch, estimate.costs(), seams_are_whole);
            ways.cost()
        };
        if payoff.decides() {
            let alone = find(true);
            of_matches.count(batch.literals, (batch.literals + batch.seams).saturating_sub(alone));
            payoff.count(alone, alone.saturating_sub(find(false)));
        } else {
            find(false);
        }
        let said = tokens.push_steps(window, from, to, |at| ways.step(at - from, batch));
        if to > said {
            tokens.push_literals(window, said, to);
        }
        batch.clear();
    }

    fn clear(&mut self) {
        self.deep.clear();
        self.batch.clear();
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
    fn plain_cost(window: &Window, from: usize, batch: &Batch, costs: &Costs) -> u32 {
        let count = batch.bytes();
        let mut least = vec![u32::MAX / 2; count + 1];
        least[count] = 0;
        for at in (0..count).rev() {
            if !batch.is_in_head(at) {
                least[at] = costs.literal(window.byte(from + at)) + least[at + 1];
            }
            for &Match { length, distance } in batch.matches(at) {
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
            let part = match last.replace(to) {
                Some(last) => Part {
                    shared: end - 4,
                    end,
                    limit,
                    distance: to - last,
                    ..Part::without_seam(from, to, from - start)
                },
                None => Part::without_seam(from, end, from - start),
            };
            joint.search(&window, &part);
            from = end;
            if joint.batch.parts < 20 {
                continue;
            }
            let Joint { batch, ways, deep: Deep { estimate, .. }, .. } = &mut joint;
            let (first, costs) = (end - batch.bytes(), estimate.costs());
            ways.find(&window, first, batch, costs, false);
            let (mut at, mut cost) = (0, 0);
            while at < batch.bytes() {
                let step = ways.step(at, batch);
                let bytes = usize::from(step.length).max(1);
                cost += match step.length {
                    0 => costs.literal(window.byte(first + at)),
                    _ => costs.a_match(bytes, step.distance()),
                };
                let earlier = (first + at).wrapping_sub(step.distance());
                assert!(step.length == 0 || window.common_prefix(earlier, first + at, bytes) == bytes);
                at += bytes;
            }
            assert_eq!((at, cost), (batch.bytes(), ways.cost()));
            assert!(cost <= plain_cost(&window, first, batch, costs), "batch that ends at {end}");
            assert!(cost < batch.literals + batch.seams);
            batch.clear();
            checked += 1;
        }
        assert!(checked > 50);
    }
}
