//! Decides whether searching for matches pays off: among random letters, it saves next to nothing.

/// Number of parts in a period.
const PERIOD: u32 = 512;
/// Number of parts at the start of a period in which matches are always searched for.
const TRIED: u32 = 64;
/// The search goes on if it saves at least one in this many bits.
const FRACTION: u64 = 128;

/// What the search has saved in a period.
#[derive(Debug, Default)]
pub struct Payoff {
    /// Number of parts so far.
    parts: u32,
    is_over: bool,
    /// The cost of all bytes as literals.
    literals: u64,
    /// How much of it matches have saved.
    saved: u64,
}

impl Payoff {
    /// Begins a part. Returns whether matches should be searched for.
    #[inline(always)]
    pub fn begin(&mut self) -> bool {
        self.parts += 1;
        if self.parts == PERIOD {
            *self = Self::default();
        } else if self.parts == TRIED {
            self.is_over = self.saved * FRACTION < self.literals;
        }
        !self.is_over
    }

    /// Counts what matches `saved` in a part whose bytes would cost `literals` without them.
    #[inline(always)]
    pub fn count(&mut self, literals: u32, saved: u32) {
        self.literals += u64::from(literals);
        self.saved += u64::from(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_that_saves_nothing_stops_and_is_tried_again() {
        let searched = |saved: u32| {
            let mut payoff = Payoff::default();
            let mut part = || {
                let is_searched = payoff.begin();
                payoff.count(1_000, if is_searched { saved } else { 0 });
                is_searched
            };
            (0..10 * PERIOD).filter(|_| part()).count() as u32
        };
        assert_eq!(searched(100), 10 * PERIOD);
        assert!((10 * TRIED - 10..=10 * TRIED).contains(&searched(1)));
    }
}
