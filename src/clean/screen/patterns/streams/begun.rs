//! What is known of all URLs with the same beginning.

use super::bits::{BITS_MAX, Bits, Stream, WORDS_MAX};
use super::classes::{CLASSES_MAX, Classes};
use super::finder::Finder;
use super::program::{Program, Step};
use super::run::{Run, Text};

/// The steps that are the same for all URLs with a known beginning.
#[derive(Debug, Clone, Copy, Default)]
pub struct Begun {
    /// The number of steps.
    pub steps: usize,
    /// The positions that they reach.
    pub at: Bits<WORDS_MAX>,
}

impl Begun {
    /// The steps of `program` that are the same whatever follows `beginning`, which is shorter than the longest stream.
    pub fn of(program: &Program, classes: &Classes, beginning: &[u8]) -> Self {
        let mut begun = Self { steps: 0, at: Bits::up_to(BITS_MAX - 1) };
        if !matches!(program.steps.first(), Some(Step::Start)) {
            // It can match anywhere, also in what follows.
            return begun;
        }
        let mut known = [[0; WORDS_MAX]; CLASSES_MAX];
        Finder::of(classes, u32::MAX).find::<WORDS_MAX>(beginning, &mut known);
        // Whatever follows is between nothing and bytes that are in all classes at once.
        let rest = !Bits::up_to(beginning.len()) | Bits::one(beginning.len());
        let texts = [known, known.map(|class| (Bits(class) | rest).0)];
        let text = |classes| Text { classes, starts: Bits::one(0), ends: Bits::NONE };
        for step in program.steps.iter().take_while(|step| step.is_monotone()) {
            let step = std::slice::from_ref(step);
            let [with_none, with_any] =
                [&texts[..1], &texts[1..]].map(|classes| Bits::run(step, begun.at, &text(classes)));
            if with_none != with_any {
                break;
            }
            begun = Self { steps: begun.steps + 1, at: with_none };
        }
        begun
    }

    /// The positions that the steps reach in lines that start at `starts`.
    #[inline(always)]
    pub fn after<S: Stream>(&self, starts: S) -> S {
        let mut left = self.at;
        let mut at = starts & !starts;
        while let Some(first) = left.first() {
            at = at | starts.up(first);
            left = left & !Bits::one(first);
        }
        at
    }
}
