//! Streams of several lines: about six of usual lengths fit in the longest stream, so that a step is taken for all of them at once.

use super::begun::Begun;
use super::bits::{BITS_MAX, Bits, WORDS_MAX};
use super::classes::{CLASSES_MAX, Classes, Found};
use super::program::{Program, Programs};
use super::run::{Run, Text, runs, through};
use crate::clean::screen::patterns::Pattern;

/// Most positions in which the known beginning of lines may leave a program. With more, all of its steps are taken.
const BEGUN_MAX: u32 = 2;

/// A few patterns that are looked for in lines. Reuses its memory.
#[derive(Debug, Clone)]
pub struct LineStreams {
    classes: Classes,
    /// The classes of the line ends LF and CR.
    line_ends: [usize; 2],
    programs: Vec<(Program, Begun)>,
    /// The most bytes of a line that a program skips, because all lines begin with them.
    skipped: usize,
    /// The classes that are needed, a bit for each.
    needed: u32,
    found: Found,
    /// For each program, the ends of the URLs that it matches, in the lines that were looked at last.
    matches: Vec<Bits<WORDS_MAX>>,
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
    /// The programs for `patterns`, in lines that begin with `beginning`. `None` if they are too long, need something that streams do
    /// not have, or the processor lacks the instructions.
    ///
    /// # Errors
    /// If a pattern cannot be parsed.
    pub fn of<'p>(
        patterns: impl IntoIterator<Item = &'p Pattern>,
        beginning: &[u8],
    ) -> Result<Option<Self>, String> {
        let Some(mut classes) = Classes::new() else { return Ok(None) };
        let Some(line_ends) = classes.of_line_ends() else { return Ok(None) };
        let Some(Programs { classes, all }) = Programs::of(patterns, classes)? else { return Ok(None) };
        let begin = |program: Program| match Begun::of(&program, &classes, beginning) {
            begun if beginning.len() < BITS_MAX && begun.at.count() <= BEGUN_MAX => (program, begun),
            _ => (program, Begun::default()),
        };
        let programs: Vec<_> = all.into_iter().map(begin).collect();
        let has_begun = programs.iter().map(|(_, begun)| begun).filter(|begun| begun.steps > 0);
        let skipped = has_begun.filter_map(|begun| begun.at.last()).max().unwrap_or(0);
        let steps = programs.iter().flat_map(|(program, begun)| &program.steps[begun.steps..]);
        let needed = classes.needed(steps.fold(0, |all, step| all | step.classes()));
        let matches = vec![Bits::NONE; programs.len()];
        let found = [[0; WORDS_MAX]; CLASSES_MAX];
        Ok(Some(Self { classes, line_ends, programs, skipped, needed, found, matches }))
    }

    /// Calls `act` for each pattern and each line of `text` that it matches, in any order, and for each line that is too long to tell.
    /// Every line ends in `text`, or with it.
    pub fn find(&mut self, text: &[u8], mut act: impl FnMut(LineMatch)) {
        let mut from = 0;
        while from < text.len() {
            let rest = &text[from..];
            // There is one position more than bytes.
            let window = &rest[..rest.len().min(BITS_MAX - 1)];
            self.classes.find::<WORDS_MAX>(self.needed, window, &mut self.found);
            let lf = Bits(self.found[self.line_ends[0]]);
            let end = match lf.last() {
                _ if window.len() == rest.len() => window.len(),
                Some(last) => last + 1,
                None => {
                    // The line is too long for a stream.
                    act(LineMatch { at: from, pattern: None });
                    from += memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
                    continue;
                }
            };
            if self.look_for_matches(window) {
                // What is after the last line is in the next window.
                let last = if window[..end].ends_with(b"\n") { end - 1 } else { end };
                for (pattern, &matches) in self.matches.iter().enumerate() {
                    let act = |at| act(LineMatch { at: from + at, pattern: Some(pattern) });
                    (matches & Bits::up_to(last)).for_each(act);
                }
            }
            from += end;
        }
    }

    /// Looks which lines of `window` programs match. Its classes are known. A match in a line that goes on after it means nothing.
    /// Returns whether there are matches.
    #[cfg(target_arch = "x86_64")]
    fn look_for_matches(&mut self, window: &[u8]) -> bool {
        use super::wide::Wide;
        use super::wider::Wider;
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2(lines: &mut LineStreams, window: &[u8]) -> bool {
            lines.look_by::<Wide>(window)
        }
        #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2")]
        fn with_avx512(lines: &mut LineStreams, window: &[u8]) -> bool {
            lines.look_by::<Wider>(window)
        }
        #[expect(unsafe_code)]
        // SAFETY: the processor has these instructions, see `Classes::new`.
        unsafe {
            match self.classes.are_vectors_long() {
                true => with_avx512(self, window),
                false => with_avx2(self, window),
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn look_for_matches(&mut self, window: &[u8]) -> bool {
        self.look_by::<Bits<WORDS_MAX>>(window)
    }

    #[inline(always)]
    fn look_by<S: Run>(&mut self, window: &[u8]) -> bool {
        let [lf, cr]: [S; 2] = [0, 1].map(|at| S::of_longer(&self.found[self.line_ends[at]]));
        let none = lf & !lf;
        let last = match window.ends_with(b"\n") {
            true => none,
            // A line that ends with the text, or one that goes on, of which nothing is asked.
            false => S::of_longer(&Bits::one(window.len()).0),
        };
        let after_lines = lf | last;
        // A CR before a LF is not a part of the line.
        let crlf = cr & lf.down(1);
        let after_urls = after_lines & !crlf.up(1) | crlf;
        let text = Text {
            classes: &self.found,
            starts: lf.up(1) | S::of_longer(&Bits::one(0).0),
            ends: after_lines | crlf,
        };
        let mut all = none;
        // A shorter line would lead into the one after it.
        let long = if self.skipped > 0 { text.starts & runs(!lf, self.skipped) } else { text.starts };
        // A closure would not have the instructions of the function that this is inlined into.
        for ((program, begun), matches) in self.programs.iter().zip(&mut self.matches) {
            let at = if begun.steps > 0 { begun.after(long) } else { !none };
            let mut own = S::run(&program.steps[begun.steps..], at, &text);
            if own.is_any() {
                own = through(own, !lf) & after_urls;
                all = all | own;
            }
            *matches = Bits(own.words());
        }
        all.is_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;

    #[test]
    fn short_vectors_find_what_long_ones_find() {
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
            let pattern = |random: &mut Random| -> String {
                (0..1 + random.below(5)).map(|_| parts[random.below(parts.len())]).collect()
            };
            let patterns: Vec<Pattern> =
                (0..1 + random.below(3)).filter_map(|_| pattern(&mut random).parse().ok()).collect();
            let Ok(Some(mut streams)) = LineStreams::of(&patterns, b"https://h/") else { continue };
            let mut short = streams.clone();
            short.classes = short.classes.with_short_vectors();
            let mut text = Vec::new();
            while text.len() < 2_000 {
                text.extend_from_slice(b"https://h/");
                text.extend((0..random.below(90)).map(|_| b"aaabbbB/-~"[random.below(10)]));
                text.extend_from_slice([&b"\n"[..], b"\r\n"][random.below(2)]);
            }
            let find = |streams: &mut LineStreams| {
                let mut all = Vec::new();
                streams.find(&text, |found| all.push(found));
                all
            };
            let all = find(&mut streams);
            assert_eq!(find(&mut short), all, "{patterns:?}");
            compared += 1;
            found += all.len();
        }
        // On processors without the instructions, there is nothing to compare.
        assert!(compared == 0 || compared > 800 && found > 10_000, "{compared}, {found}");
    }
}
