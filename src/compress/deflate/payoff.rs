//! Decides whether searching for matches pays off: among random letters, it saves next to nothing.

/// The fraction of most parsers: they search unless matches save next to nothing.
pub const NEXT_TO_NOTHING: u64 = 128;

/// Number of stretches at the start of a period in which matches are always searched for. What they save is counted in the second
/// half, when the positions of the first can be found.
const TRIED: u32 = 256;
const COUNTED_FROM: u32 = TRIED / 2;

/// The bits that the search has saved in a period of `PERIOD` stretches. It goes on if it saves at least one in `FRACTION` bits.
#[derive(Debug, Default)]
pub struct Payoff<const FRACTION: u64, const PERIOD: u32 = 2048> {
    /// Number of stretches in this period so far.
    stretches: u32,
    is_over: bool,
    /// The cost of all bytes as literals.
    literals: u64,
    /// How much of it matches have saved.
    saved: u64,
}

impl<const FRACTION: u64, const PERIOD: u32> Payoff<FRACTION, PERIOD> {
    /// Begins a stretch. Returns whether matches should be searched for.
    #[inline(always)]
    pub fn begin(&mut self) -> bool {
        self.stretches += 1;
        match self.stretches {
            COUNTED_FROM => (self.literals, self.saved) = (0, 0),
            TRIED => self.is_over = self.saved * FRACTION < self.literals,
            stretches if stretches == PERIOD => *self = Self::default(),
            _ => (),
        }
        !self.is_over
    }

    /// Whether what is counted now decides for the rest of the period. Nothing else needs to be counted.
    pub fn decides(&self) -> bool {
        (COUNTED_FROM..TRIED).contains(&self.stretches)
    }

    /// Counts what matches `saved` in a stretch whose bytes would cost `literals` without them.
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
        const PERIOD: u32 = 2048;
        let searched = |saved: u32| {
            let mut payoff = Payoff::<NEXT_TO_NOTHING, PERIOD>::default();
            let mut stretch = || {
                let is_searched = payoff.begin();
                payoff.count(1_000, if is_searched { saved } else { 0 });
                is_searched
            };
            (0..10 * PERIOD).filter(|_| stretch()).count() as u32
        };
        assert_eq!(searched(100), 10 * PERIOD);
        assert!((10 * TRIED - 10..=10 * TRIED).contains(&searched(1)));
    }
}
