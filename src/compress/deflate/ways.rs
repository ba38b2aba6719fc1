//! The cheapest sequence of literals and matches for the bytes of many records.

use super::costs::{Costs, GROUP, TOO_MUCH};
use super::finder::Match;
use super::symbols::MATCH_MIN;
use super::tokens::Step;
use super::window::Window;
use crate::common::array;

/// The bytes of one stretch after another, and the matches in them. Positions count from its first byte.
#[derive(Debug, Default)]
pub struct Pending {
    /// The matches at all positions, in order.
    matches: Vec<Match>,
    /// For each position, the number of matches before it.
    starts: Vec<u32>,
    /// In order.
    heads: Vec<Head>,
    /// Number of stretches.
    pub stretches: usize,
    /// The cost of the bytes outside seams as literals.
    pub literals: u32,
    /// The cost of the seams.
    pub seams: u32,
}

/// The first bytes of a seam, in which no other match begins.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// The first position of the seam. The seam is the match there.
    from: usize,
    /// The first position at which another match may begin.
    to: usize,
    /// The end of the seam.
    end: usize,
    /// The distance of the seam.
    distance: usize,
}

impl Pending {
    /// Bytes so far.
    pub fn bytes(&self) -> usize {
        self.starts.len()
    }

    /// Adds a byte.
    #[inline(always)]
    pub fn push_position(&mut self) {
        self.starts.push(self.matches.len() as u32);
    }

    /// Adds a match at the last byte. The shortest one comes first.
    #[inline(always)]
    pub fn push_match(&mut self, found: Match) {
        self.matches.push(found);
    }

    /// Adds the first `bytes` of a seam. The others must follow.
    pub fn push_seam(&mut self, seam: Match, bytes: usize) {
        let from = self.bytes();
        let Match { length, distance } = seam;
        self.heads.push(Head { from, to: from + bytes, end: from + length, distance });
        self.push_position();
        self.push_match(seam);
        self.starts.resize(from + bytes, self.matches.len() as u32);
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.matches.clear();
        self.starts.clear();
        self.heads.clear();
        (self.stretches, self.literals, self.seams) = (0, 0, 0);
    }

    /// Whether a position is within the head of a seam.
    #[cfg(test)]
    pub fn is_in_head(&self, at: usize) -> bool {
        self.heads.iter().any(|head| (head.from..head.to).contains(&at))
    }

    /// The matches at a position.
    #[inline(always)]
    pub fn matches(&self, at: usize) -> &[Match] {
        let end = self.starts.get(at + 1).map_or(self.matches.len(), |&end| end as usize);
        &self.matches[self.starts[at] as usize..end]
    }
}

/// The step for the rest of a seam. No match is as long.
const REST: Step = Step::new(u16::MAX as usize, 1);

/// A sequence of literals and matches: the first of them, and the cost of all.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way {
    pub step: Step,
    pub cost: u32,
}

/// The cheapest way from each position of the pending bytes to their end: the first step, and the cost of all of them.
#[derive(Debug, Default)]
pub struct Ways {
    steps: Vec<Step>,
    /// The cost at the end, nothing, comes last. [`GROUP`] others come first, so that a group may begin before the pending bytes.
    costs: Vec<u32>,
}

impl Ways {
    /// Finds them for pending bytes that begin at the position `from` of the window. If `seams_are_whole`, no match begins within
    /// one.
    pub fn find(
        &mut self,
        window: &Window,
        from: usize,
        pending: &Pending,
        costs: &Costs,
        seams_are_whole: bool,
    ) {
        let known = pending.bytes();
        self.steps.clear();
        self.steps.resize(known, REST);
        self.costs.clear();
        self.costs.resize(GROUP + known, TOO_MUCH);
        self.costs.push(0);
        let bytes = window.range(from, from + known);
        let mut search = Search { ways: self, window, from, bytes, pending, costs, known, seam_at: known };
        for &head in pending.heads.iter().rev() {
            let to = if seams_are_whole { head.end } else { head.to };
            search.extend_to(to);
            search.extend_over(Head { to, ..head });
        }
        search.extend_to(0);
    }

    /// The cost of the cheapest way from the first position.
    pub fn cost(&self) -> u32 {
        self.costs[GROUP]
    }

    /// The first step of the cheapest way from a position.
    pub fn step(&self, at: usize, pending: &Pending) -> Step {
        match self.steps[at] {
            REST => {
                let next = pending.heads.partition_point(|head| head.from < at);
                let Head { end, distance, .. } = pending.heads[next - 1];
                Step::new(end - at, distance)
            }
            step => step,
        }
    }
}

/// The search for ways, from the last position to the first.
struct Search<'b> {
    ways: &'b mut Ways,
    window: &'b Window,
    from: usize,
    bytes: &'b [u8],
    pending: &'b Pending,
    costs: &'b Costs,
    /// The first position whose way is known.
    known: usize,
    /// The start of the next seam, or the end of the pending bytes.
    seam_at: usize,
}

impl Search<'_> {
    fn cost(&self, at: usize) -> u32 {
        self.ways.costs[GROUP + at]
    }

    #[inline(always)]
    fn set(&mut self, at: usize, Way { step, cost }: Way) {
        self.ways.steps[at] = step;
        self.ways.costs[GROUP + at] = cost;
    }

    #[inline(always)]
    fn a_literal(&self, at: usize) -> Way {
        Way { step: Step::default(), cost: self.costs.literal(self.bytes[at]) + self.cost(at + 1) }
    }

    /// Finds the ways from `to` up to the known ones, where no seam begins.
    fn extend_to(&mut self, to: usize) {
        let Self { window, from, bytes, costs, .. } = *self;
        // The match that the way from the next position begins with.
        let mut next = Match { length: 0, distance: 0 };
        for at in (to..self.known).rev() {
            let mut best = self.best(at, self.a_literal(at));
            // It may begin here, too, because within a match, others are not searched for.
            let is_longer = next.length > 0 && window.byte(from + at - next.distance) == bytes[at];
            next.length = if is_longer { next.length + 1 } else { 0 };
            if is_longer {
                let cost = costs.a_match(next.length, next.distance) + self.cost(at + next.length);
                if cost < best.cost {
                    best = Way { step: Step::new(next.length, next.distance), cost };
                }
            } else if best.step.length > 0 {
                next = Match { length: best.step.length.into(), distance: best.step.distance() };
            }
            self.set(at, best);
        }
        self.known = to;
    }

    /// Finds the ways from the positions of a head: a match at its start, and the rest of the seam elsewhere.
    fn extend_over(&mut self, Head { from, to, end, distance }: Head) {
        // A rest of one or two bytes is no match.
        let rest_to = to.min(end + 1 - MATCH_MIN);
        for at in (rest_to..to).rev() {
            self.set(at, self.a_literal(at));
        }
        let more = self.costs.distance(distance) + self.cost(end);
        let rests = &mut self.ways.costs[GROUP + from + 1..GROUP + rest_to];
        self.costs.fill_ending_alike(rests, end + 1 - rest_to, more);
        self.seam_at = from;
        let best = self.best(from, Way { step: REST, cost: u32::MAX });
        self.set(from, best);
        self.known = from;
    }

    /// The cheapest of `best` and the ways that begin with a match at `at`.
    #[inline(always)]
    fn best(&self, at: usize, mut best: Way) -> Way {
        for &Match { length, distance } in self.pending.matches(at) {
            let of_distance = self.costs.distance(distance);
            // Compares so many lengths without a branch: which one is best is unpredictable.
            let mut consider = |length: usize| {
                let after: &[u32; GROUP] =
                    self.ways.costs[at + length + 1..].first_chunk().expect("so many precede each position");
                let of_lengths = self.costs.lengths_to(length);
                let sums: [i32; GROUP] = array::from_fn(|nth| (of_lengths[nth] + after[nth]) as i32);
                let least = sums.into_iter().fold(i32::MAX, i32::min);
                let cost = of_distance + least as u32;
                if cost < best.cost {
                    let shorter = sums.iter().rev().position(|&sum| sum == least).unwrap_or(0);
                    best = Way { step: Step::new(length - shorter, distance), cost };
                }
            };
            let length = length.min(self.bytes.len() - at);
            if length >= MATCH_MIN {
                consider(length);
            }
            // A match that covers the start of a seam may also end there.
            let own = self.seam_at - at;
            if (MATCH_MIN..length).contains(&own) {
                consider(own);
            }
        }
        best
    }
}
