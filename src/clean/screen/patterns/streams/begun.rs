//! Steps of patterns that are the same for all URLs with one beginning, and are taken only once.

use super::bits::{BITS_MAX, Bits, Stream, WORDS_MAX};
use super::classes::{CLASSES_MAX, Classes, Found};
use super::finder::Finder;
use super::program::{Program, Step};
use super::run::{StepStream, Text};

/// A known beginning of URLs.
pub struct Beginning {
    /// The classes in it: if what follows is in no class, and if it is in all of them.
    classes: [Found; 2],
}

impl Beginning {
    /// The beginning `bytes` of URLs. `None` if it is too long for a stream.
    pub fn of(bytes: &[u8], classes: &Classes) -> Option<Self> {
        if bytes.len() >= BITS_MAX {
            return None;
        }
        let mut known = [[0; WORDS_MAX]; CLASSES_MAX];
        Finder::of(classes, u32::MAX).find::<WORDS_MAX>(bytes, &mut known);
        let rest = !Bits::up_to(bytes.len()) | Bits::one(bytes.len());
        Some(Self { classes: [known, known.map(|class| (Bits(class) | rest).0)] })
    }
}

/// The steps that are the same for all URLs with a known beginning.
#[derive(Debug, Clone, Copy, Default)]
pub struct Begun {
    /// The number of steps.
    pub steps: usize,
    /// The positions that they reach.
    pub at: Bits<WORDS_MAX>,
}

impl Begun {
    /// The steps of `program` that are the same whatever follows `beginning`.
    pub fn of(program: &Program, beginning: &Beginning) -> Self {
        let mut begun = Self { steps: 0, at: Bits::up_to(BITS_MAX - 1) };
        if !matches!(program.steps.first(), Some(Step::Start)) {
            // It can match anywhere, also in what follows.
            return begun;
        }
        let text = |classes| Text { classes, starts: Bits::one(0), ends: Bits::NONE };
        let texts = beginning.classes.each_ref().map(std::slice::from_ref).map(text);
        for step in program.steps.iter().take_while(|step| step.is_monotone()) {
            let step = std::slice::from_ref(step);
            // Whatever follows is between nothing and bytes that are in all classes at once.
            let [least, most] = texts.each_ref().map(|text| Bits::run(step, begun.at, text));
            if least != most {
                break;
            }
            begun = Self { steps: begun.steps + 1, at: least };
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
