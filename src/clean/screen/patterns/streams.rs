//! Patterns that look at all bytes of a URL at once, for those that have too many states for a small automaton.
//!
//! Bit *n* of a stream says something about byte *n* of a URL: whether it is a slash, or whether a pattern has matched what is before
//! it. A step of a pattern, such as one more byte of a class, takes a few instructions for all bytes. A large automaton takes as many
//! for each byte, because every step waits for the one before it. The method is that of Parabix: R. D. Cameron and others, "Bitwise
//! Data Parallelism in Regular Expression Matching", 2014.

mod bits;
mod classes;
mod program;

use super::{Pattern, parsed};
use bits::{Bits, WORDS_MAX};
use classes::{CLASSES_MAX, Classes, Found};
use program::{Program, Step};

/// Bits of the longest stream.
const BITS_MAX: usize = WORDS_MAX * u64::BITS as usize;

/// Most steps and classes. With more, a regular expression would be as quick.
const COST_MAX: usize = 96;

/// A few patterns, each as a program for streams. Reuses its memory.
#[derive(Debug, Clone)]
pub struct Streams {
    classes: Classes,
    programs: Vec<Program>,
    /// For each program, how far it gets in what URLs begin with.
    begun: Vec<Begun>,
    /// The bytes at the start of URLs that no program needs after that.
    skipped: usize,
    /// The classes that the programs need after that, a bit for each.
    needed: u32,
    found: Found,
}

/// The steps that are the same for all URLs with a known beginning.
#[derive(Debug, Clone, Copy, Default)]
struct Begun {
    /// The number of steps.
    steps: usize,
    /// The positions that they reach, after the bytes that are skipped.
    at: Bits<WORDS_MAX>,
}

/// A URL has more bytes than a stream has bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl Streams {
    /// The programs for `patterns`. `None` if they are too long, need something that streams do not have, or the processor lacks the
    /// instructions.
    ///
    /// # Errors
    /// If a pattern cannot be parsed.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Result<Option<Self>, String> {
        let Some(mut classes) = Classes::new() else { return Ok(None) };
        let mut programs = Vec::new();
        for pattern in patterns {
            let Some(program) = Program::of(&parsed(pattern)?, &mut classes) else { return Ok(None) };
            programs.push(program);
        }
        let begun = vec![Begun::default(); programs.len()];
        let found = [[0; WORDS_MAX]; CLASSES_MAX];
        let streams = Self { classes, programs, begun, skipped: 0, needed: u32::MAX, found };
        Ok((1..=COST_MAX).contains(&streams.cost()).then_some(streams))
    }

    /// The number of classes and steps.
    pub fn cost(&self) -> usize {
        self.classes.len() + self.programs.iter().map(Program::cost).sum::<usize>()
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        (self.needed, self.skipped) = (0, beginning.len());
        for (program, begun) in self.programs.iter().zip(&mut self.begun) {
            *begun = match beginning.len() {
                0..BITS_MAX => Begun::of(program, &self.classes, beginning),
                _ => Begun::default(),
            };
            let rest = &program.steps[begun.steps..];
            rest.iter().for_each(|step| self.needed |= step.classes());
            let first = match begun.steps {
                0 => 0,
                // What is before a position is needed to tell whether a class begins or ends there.
                _ => begun.at.first().map_or(usize::MAX, |first| first.saturating_sub(1)),
            };
            self.skipped = self.skipped.min(first);
        }
        self.begun.iter_mut().for_each(|begun| begun.at = begun.at.down(self.skipped));
    }

    /// The index of the first pattern that matches `url`, which has this beginning, if any does. An error if the URL is too long.
    #[inline]
    pub fn first_match(&mut self, url: &[u8]) -> Result<Option<usize>, TooLong> {
        let rest = &url[self.skipped..];
        // There is one position more than bytes.
        match rest.len() {
            0..64 => Ok(self.first::<1>(rest)),
            64..128 => Ok(self.first::<2>(rest)),
            128..256 => Ok(self.first::<4>(rest)),
            256..BITS_MAX => Ok(self.first::<WORDS_MAX>(rest)),
            _ => Err(TooLong),
        }
    }

    fn first<const WORDS: usize>(&mut self, rest: &[u8]) -> Option<usize> {
        self.classes.find::<WORDS>(self.needed, rest, &mut self.found);
        let url = Url { classes: &self.found, bytes: rest.len() };
        self.programs.iter().zip(&self.begun).position(|(program, begun)| {
            let at = if begun.steps > 0 { Bits::of_longer(begun.at) } else { Bits::up_to(rest.len()) };
            run::<WORDS>(&program.steps[begun.steps..], at, url).is_any()
        })
    }
}

impl Begun {
    fn of(program: &Program, classes: &Classes, beginning: &[u8]) -> Self {
        let mut begun = Self { steps: 0, at: Bits::up_to(BITS_MAX - 1) };
        if !matches!(program.steps.first(), Some(Step::Start)) {
            // It can match anywhere, also in what follows.
            return begun;
        }
        let mut known = [[0; WORDS_MAX]; CLASSES_MAX];
        classes.find::<WORDS_MAX>(u32::MAX, beginning, &mut known);
        // Whatever follows is between nothing and bytes that are in all classes at once.
        let rest = !Bits::up_to(beginning.len()) | Bits::one(beginning.len());
        let any = known.map(|class| (Bits(class) | rest).0);
        let [known, any] = [&known, &any].map(|classes| Url { classes, bytes: usize::MAX });
        for step in program.steps.iter().take_while(|step| step.is_monotone()) {
            let step = std::slice::from_ref(step);
            let [with_none, with_any] = [known, any].map(|url| run::<WORDS_MAX>(step, begun.at, url));
            if with_none != with_any {
                break;
            }
            begun = Self { steps: begun.steps + 1, at: with_none };
        }
        begun
    }
}

/// The streams of a URL.
#[derive(Clone, Copy)]
struct Url<'f> {
    classes: &'f Found,
    bytes: usize,
}

impl Url<'_> {
    #[inline(always)]
    fn class<const WORDS: usize>(self, at: usize) -> Bits<WORDS> {
        Bits::of_longer(Bits(self.classes[at]))
    }
}

/// Where `steps` lead from the positions `at`.
fn run<const WORDS: usize>(steps: &[Step], mut at: Bits<WORDS>, url: Url<'_>) -> Bits<WORDS> {
    for step in steps {
        if !at.is_any() {
            break;
        }
        at = match *step {
            Step::Start => at & Bits::one(0),
            Step::End => at & Bits::one(url.bytes),
            Step::One(class) => (at & url.class(class)).up(1),
            Step::Any(class) => {
                let class = url.class::<WORDS>(class);
                // The sum carries each position through the run of the class that begins there.
                ((at & class).plus(class) ^ class) | at
            }
            Step::Run(class, count) => {
                let (mut runs, mut bytes) = (url.class(class), 1);
                while bytes < count {
                    let more = bytes.min(count - bytes);
                    runs = runs & runs.down(more);
                    bytes += more;
                }
                (at & runs).up(count)
            }
            Step::Edge { class, is_wanted } => {
                let class = url.class::<WORDS>(class);
                let edges = class ^ class.up(1);
                at & if is_wanted { edges } else { !edges }
            }
            Step::Optional(ref steps) => at | run(steps, at, url),
            Step::Either(ref branches) => {
                branches.iter().fold(Bits::NONE, |all, steps| all | run(steps, at, url))
            }
            Step::Loop(ref steps) => {
                let mut new = at;
                while new.is_any() {
                    new = run(steps, new, url) & !at;
                    at = at | new;
                }
                at
            }
        };
    }
    at
}

#[cfg(test)]
mod tests;
