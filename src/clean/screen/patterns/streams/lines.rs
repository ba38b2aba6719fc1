//! Streams of several lines: about six of usual lengths fit in the longest stream, so that a step is taken for all of them at once.

use std::array;
use std::ops::Range;

use super::begun::{Beginning, Begun};
use super::bits::{BITS_MAX, Bits, WORDS_MAX};
use super::classes::{CLASSES_MAX, Classes, Found};
use super::finder::Finder;
use super::program::{Program, Programs};
use super::run::{StepStream, Text, run_by, runs, through};
use crate::clean::screen::patterns::Pattern;

/// Most positions in which the known beginning of lines may leave a program. With more, all of its steps are taken.
const BEGUN_MAX: u32 = 2;

/// Stretches of lines that are looked at together, each in a stream of its own.
const WINDOWS: usize = 2;

/// A few patterns that are looked for in lines. Reuses its memory.
#[derive(Debug, Clone)]
pub struct LineStreams {
    finder: Finder,
    /// The classes of the line ends LF and CR.
    line_ends: [usize; 2],
    programs: Vec<(Program, Begun)>,
    /// The most bytes of a line that a program skips, because all lines begin with them.
    skipped: usize,
    /// The classes in each of the windows that were looked at last, and their lengths.
    found: [Found; WINDOWS],
    ends: [usize; WINDOWS],
    /// For each program, the ends of the URLs that it matches in each of them.
    matches: Vec<[Bits<WORDS_MAX>; WINDOWS]>,
}

/// A line that a pattern may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineMatch {
    /// The end of the URL in the line, or a position in a line that is too long.
    pub at: usize,
    /// The index of the pattern, which matches if the line is a URL. `None` if the line is too long to tell.
    pub pattern: Option<usize>,
}

impl LineStreams {
    /// The programs for `patterns`, in lines that begin with `beginning`. `None` if they are too long, need something that streams
    /// do not have, or the processor lacks the instructions.
    pub fn of<'p>(patterns: impl IntoIterator<Item = &'p Pattern>, beginning: &[u8]) -> Option<Self> {
        if !Finder::is_available() {
            return None;
        }
        let mut classes = Classes::default();
        let line_ends = classes.add_line_ends()?;
        let Programs { classes, all } = Programs::of(patterns, classes)?;
        let beginning = Beginning::of(beginning, &classes);
        let begin = |program: Program| {
            let begun = beginning.as_ref().map(|beginning| Begun::of(&program, beginning));
            (program, begun.filter(|begun| begun.at.count() <= BEGUN_MAX).unwrap_or_default())
        };
        let programs: Vec<_> = all.into_iter().map(begin).collect();
        let has_begun = programs.iter().map(|(_, begun)| begun).filter(|begun| begun.steps > 0);
        let skipped = has_begun.filter_map(|begun| begun.at.last()).max().unwrap_or(0);
        let steps = programs.iter().flat_map(|(program, begun)| &program.steps[begun.steps..]);
        let finder = Finder::of(&classes, steps.fold(0, |all, step| all | step.classes()));
        let matches = vec![[Bits::NONE; WINDOWS]; programs.len()];
        let found = [[[0; WORDS_MAX]; CLASSES_MAX]; WINDOWS];
        Some(Self { finder, line_ends, programs, skipped, found, ends: [0; WINDOWS], matches })
    }

    /// Calls `act` for each pattern and each line of `text` that it matches, in any order, and for each line that is too long to
    /// tell. Every line ends in `text`, or with it.
    pub fn find(&mut self, text: &[u8], mut act: impl FnMut(LineMatch)) {
        let mut from = 0;
        while from < text.len() {
            let windows: [_; WINDOWS] = array::from_fn(|at| self.begin_window(at, text, &mut from, &mut act));
            if !self.look_for_matches() {
                continue;
            }
            for (pattern, matches) in self.matches.iter().enumerate() {
                for (Range { start, end }, &matches) in windows.iter().zip(matches) {
                    // The rest of the text after the last line is in the next window.
                    let Some(last) = last_of(&text[*start..*end]) else { continue };
                    let act = |at| act(LineMatch { at: start + at, pattern: Some(pattern) });
                    (matches & Bits::up_to(last)).for_each(act);
                }
            }
        }
    }

    /// Finds the classes of the window with this index: the lines of `text` from the position `from` on that fit in a stream. They
    /// are returned, and `from` is moved past them. Calls `act` for lines that are too long.
    fn begin_window(
        &mut self,
        at: usize,
        text: &[u8],
        from: &mut usize,
        mut act: impl FnMut(LineMatch),
    ) -> Range<usize> {
        loop {
            let rest = &text[*from..];
            // There is one position more than bytes.
            let window = &rest[..rest.len().min(BITS_MAX - 1)];
            let found = &mut self.found[at];
            self.finder.find::<WORDS_MAX>(window, found);
            let end = match Bits(found[self.line_ends[0]]).last() {
                _ if window.len() == rest.len() => window.len(),
                Some(last) => last + 1,
                None => {
                    act(LineMatch { at: *from, pattern: None });
                    *from += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                    continue;
                }
            };
            self.ends[at] = window.len();
            *from += end;
            return *from - end..*from;
        }
    }

    /// Looks which lines of the windows programs match. Their classes are known. A match in a line that goes on after a window
    /// means nothing. Returns whether there are matches.
    #[cfg(target_arch = "x86_64")]
    fn look_for_matches(&mut self) -> bool {
        use super::{both::Both, wide::Wide, wider::Wider};
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2(lines: &mut LineStreams) -> bool {
            lines.look_by::<Both<Wide>>()
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2")]
        fn with_avx512(lines: &mut LineStreams) -> bool {
            lines.look_by::<Both<Wider>>()
        }
        #[expect(unsafe_code)]
        // SAFETY: the processor has these instructions, see `Finder::of`.
        unsafe {
            match self.finder.are_vectors_long() {
                true => with_avx512(self),
                false => with_avx2(self),
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn look_for_matches(&mut self) -> bool {
        self.look_by::<super::both::Both<Bits<WORDS_MAX>>>()
    }

    #[inline(always)]
    fn look_by<S: StepStream>(&mut self) -> bool {
        let [lf, cr] = self.line_ends;
        let (lf, cr) = (S::of_texts(|text| &self.found[text][lf]), S::of_texts(|text| &self.found[text][cr]));
        // A line that ends with the text, or one that goes on, of which nothing is asked.
        let lf = lf | S::at(&self.ends);
        let none = lf & !lf;
        // A CR before a LF is not a part of the line.
        let crlf = cr & lf.down(1);
        let after_urls = lf & !crlf.up(1) | crlf;
        let text = Text { classes: &self.found, starts: lf.up(1) | S::at(&[0; WINDOWS]), ends: lf | crlf };
        let mut all = none;
        // A shorter line would lead into the one after it.
        let long = if self.skipped > 0 { text.starts & runs(!lf, self.skipped) } else { text.starts };
        // A closure would not have the instructions of the function that this is inlined into.
        for ((program, begun), matches) in self.programs.iter().zip(&mut self.matches) {
            let at = if begun.steps > 0 { begun.after(long) } else { !none };
            let mut own =
                run_by(&program.steps[begun.steps..], at, &text, |steps, at| S::run(steps, at, &text));
            if own.is_any() {
                own = through(own, !lf) & after_urls;
                all = all | own;
            }
            own.put(matches);
        }
        all.is_any()
    }
}

/// The position after the last line of a window, or in front of its line end. `None` if there are no lines.
fn last_of(lines: &[u8]) -> Option<usize> {
    lines.last().map(|&byte| lines.len() - usize::from(byte == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::super::both::Both;
    use super::*;
    use crate::clean::screen::patterns::vectors;
    use crate::common::random::Random;

    /// The matches that `streams` find in `text`. In each window, the vectors must find what words without vectors do.
    fn found_as_by_words(streams: &mut LineStreams, text: &[u8]) -> Vec<LineMatch> {
        let mut from = 0;
        while from < text.len() {
            for at in 0..WINDOWS {
                streams.begin_window(at, text, &mut from, |_| ());
            }
            let is_any = streams.look_for_matches();
            let by_vectors = streams.matches.clone();
            assert_eq!(streams.look_by::<Both<Bits<WORDS_MAX>>>(), is_any);
            assert_eq!(streams.matches, by_vectors);
        }
        let mut all = Vec::new();
        streams.find(text, |found| all.push(found));
        all
    }

    #[test]
    fn long_and_short_vectors_and_words_find_the_same_lines() {
        if !vectors::tests::are_available() {
            return;
        }
        let mut random = Random::new(47);
        let parts = [
            "/",
            "[ab]",
            "^https://[^/]+/",
            "[^a]",
            "a+",
            ".*",
            "[^/]{9,}",
            "$",
            r"\b",
            "|",
            "(?:a|bb)*",
            "x{0}",
        ];
        let (mut compared, mut found) = (0, 0);
        for _ in 0..1_000 {
            let patterns: Vec<Pattern> = (0..1 + random.below(3))
                .filter_map(|_| Pattern::well_formed(&random.joined(&parts, 1..6)).ok())
                .collect();
            let Some(mut streams) = LineStreams::of(&patterns, b"https://h/") else { continue };
            let mut text = Vec::new();
            while text.len() < 2_000 {
                text.extend_from_slice(b"https://h/");
                text.extend((0..random.below(90)).map(|_| b"aaabbbB/-~"[random.below(10)]));
                text.extend_from_slice([&b"\n"[..], b"\r\n"][random.below(2)]);
            }
            let all = found_as_by_words(&mut streams, &text);
            #[cfg(target_arch = "x86_64")]
            {
                streams.finder = streams.finder.with_short_vectors();
                assert_eq!(found_as_by_words(&mut streams, &text), all, "{patterns:?}");
            }
            compared += 1;
            found += all.len();
        }
        assert!(compared > 800 && found > 10_000, "{compared}, {found}");
    }
}
