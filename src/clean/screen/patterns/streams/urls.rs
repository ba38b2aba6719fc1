//! Streams of one URL.

use super::begun::{Beginning, Begun};
use super::bits::{BITS_MAX, Bits, Stream, WORDS_MAX};
use super::classes::{CLASSES_MAX, Classes, Found};
use super::finder::Finder;
use super::program::Programs;
use super::run::{StepStream, Text};
use crate::clean::screen::patterns::Pattern;

/// A few patterns, each as a program for streams. Reuses its memory.
#[derive(Debug, Clone)]
pub struct Streams {
    programs: Programs,
    /// For each program, how far it gets in what URLs begin with. Positions are after the bytes that are skipped.
    begun: Vec<Begun>,
    /// The bytes at the start of URLs that no program needs after that.
    skipped: usize,
    /// Finds the classes that the programs need after that.
    finder: Finder,
    found: [Found; 1],
}

/// A URL has more bytes than a stream has bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl Streams {
    /// The programs for `patterns`. `None` if they are too long, need something that streams do not have, or the processor lacks
    /// the instructions.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p Pattern>) -> Option<Self> {
        if !Finder::is_available() {
            return None;
        }
        let programs = Programs::of(patterns, Classes::default())?;
        let begun = vec![Begun::default(); programs.all.len()];
        let finder = Finder::of(&programs.classes, u32::MAX);
        Some(Self { programs, begun, skipped: 0, finder, found: [[[0; WORDS_MAX]; CLASSES_MAX]] })
    }

    /// The number of classes and steps.
    pub fn cost(&self) -> usize {
        self.programs.cost()
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        let Programs { classes, all } = &self.programs;
        self.skipped = beginning.len();
        let known = Beginning::of(beginning, classes);
        let mut needed = 0;
        for (program, begun) in all.iter().zip(&mut self.begun) {
            *begun = known.as_ref().map(|known| Begun::of(program, known)).unwrap_or_default();
            let rest = &program.steps[begun.steps..];
            rest.iter().for_each(|step| needed |= step.classes());
            let first = match begun.steps {
                0 => 0,
                // The byte before a position is needed to tell whether a class begins or ends there.
                _ => begun.at.first().map_or(usize::MAX, |first| first.saturating_sub(1)),
            };
            self.skipped = self.skipped.min(first);
        }
        self.finder = Finder::of(classes, needed);
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
        self.finder.find::<WORDS>(rest, &mut self.found[0]);
        let (starts, ends) = (Bits::<WORDS>::one(0), Bits::one(rest.len()));
        let url = Text { classes: &self.found, starts, ends };
        self.programs.all.iter().zip(&self.begun).position(|(program, begun)| {
            let at = if begun.steps > 0 { Bits::of_longer(&begun.at.0) } else { Bits::up_to(rest.len()) };
            Bits::run(&program.steps[begun.steps..], at, &url).is_any()
        })
    }
}

#[cfg(test)]
mod tests;
