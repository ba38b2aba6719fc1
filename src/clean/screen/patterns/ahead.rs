//! The look ahead: which lines of a text a pattern may match, before any of them is cleaned.
//!
//! Most lines are clean already. Searching a whole text at once takes a fraction of the time of searching URL by URL. Lines that
//! cleaning changes are looked at again, and so are those with a word that is only a part of a pattern.

use std::ops::Range;

use super::gate::{Gate, PATTERNS_MAX, Required};
use super::literals::{self, ANY, Edge, Shape};
use super::streams::{LineMatch, LineStreams};
use super::words::{Matching, RARE_MIN, Words};
use super::{Pattern, parsed};
use crate::clean::scope::origin_bytes;
use crate::common::simd;

/// Bytes that are looked at at a time. They stay in the first-level cache.
const STRETCH_BYTES: usize = 16 << 10;

/// Places in a text that tell what most of its lines are like.
const SAMPLES: usize = 8;

/// Maximum bytes of a common beginning; a longer one is not used.
const BEGINNING_BYTES_MAX: usize = 255;

/// Most beginnings of lines that a search is prepared for.
const BEGINNINGS_MAX: usize = 4;

/// A word is frequent if it occurs more than once per this many bytes, about once in four lines.
const FREQUENT_BYTES: usize = 1 << 8;

/// Looks ahead for patterns.
#[derive(Debug, Clone)]
pub struct LookAhead {
    patterns: Vec<Sought>,
    /// One for each beginning of lines so far.
    searches: Vec<Search>,
    /// The index of the one that is in use, and the beginning of the lines that it is for. Empty if it is for any line.
    search: usize,
    beginning: Vec<u8>,
    /// The addresses of the lines searched last, starting with the one last queried.
    looked: Range<usize>,
    /// The addresses at the start of these in which nothing was found.
    clear: Range<usize>,
    /// The matches that were found in these lines, in ascending order of addresses.
    suspects: Vec<Suspect>,
    /// The first of it that is not before these lines.
    next: usize,
    /// Whether the search in use finds every line that a pattern matches. Otherwise nothing is known of the lines that follow.
    is_complete: bool,
}

/// The result of the search in a line, before it is cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreseen {
    /// Nothing.
    Unknown,
    /// No pattern matches it.
    NoMatch,
    /// The pattern with this index is the first that matches it, if the line as it stands is a URL.
    First(usize),
}

/// A line that a pattern may match.
#[derive(Debug, Clone, Copy)]
struct Suspect {
    /// The address of a byte in it. The end of a line belongs to it.
    at: usize,
    /// The index of the pattern.
    pattern: usize,
    /// Whether it does match.
    is_certain: bool,
}

/// A pattern that is looked for.
#[derive(Debug, Clone)]
struct Sought {
    pattern: Pattern,
    shape: Shape,
    /// Whether its words are frequent.
    is_frequent: bool,
}

/// A search for patterns in lines with a known beginning.
#[derive(Debug, Clone, Default)]
struct Search {
    beginning: Vec<u8>,
    /// Whether it finds every line that a pattern matches.
    is_complete: bool,
    /// Whether it finds those with another beginning, too.
    is_for_any: bool,
    /// For patterns that require words, which are those with these indices.
    words: Option<Words>,
    of_words: Vec<usize>,
    /// For the others that can match such lines, which are those with these indices.
    streams: Option<LineStreams>,
    of_streams: Vec<usize>,
}

impl LookAhead {
    /// Looks for `patterns`, unless they are too many.
    pub fn new(patterns: Vec<Pattern>) -> Self {
        let are_few = patterns.len() <= PATTERNS_MAX;
        let sought =
            |pattern: Pattern| Sought { shape: Shape::of(&parsed(&pattern)), pattern, is_frequent: false };
        Self {
            patterns: patterns.into_iter().filter(|_| are_few).map(sought).collect(),
            searches: Vec::new(),
            search: 0,
            beginning: Vec::new(),
            looked: 0..0,
            clear: 0..0,
            suspects: Vec::new(),
            next: 0,
            is_complete: false,
        }
    }

    /// Prepares to search `text`, which consists of whole lines. They are searched when they are queried.
    pub fn begin(&mut self, text: &[u8]) {
        if self.patterns.is_empty() {
            return;
        }
        let is_known =
            |beginning: &[u8]| self.searches.iter().position(|search| search.beginning == beginning);
        let mut beginning = beginning(text);
        if is_known(beginning).is_none() && self.searches.len() >= BEGINNINGS_MAX {
            // To prepare the search again and again would take longer than it saves.
            beginning = &[];
        }
        self.search = is_known(beginning).unwrap_or(self.searches.len());
        if self.search == self.searches.len() {
            self.searches.push(Search::of(&self.patterns, beginning, &sample(text)));
        }
        let start = text.as_ptr().addr();
        self.looked = start..start;
        self.clear = start..start;
        self.begin_search();
    }

    /// Begins to use the search with the index that is in use.
    fn begin_search(&mut self) {
        let search = &self.searches[self.search];
        self.beginning.clear();
        self.beginning.extend_from_slice(if search.is_for_any { &[] } else { &search.beginning });
        self.is_complete = search.is_complete;
    }

    /// Whether no pattern matches `line`, as far as [`LookAhead::foresee`] knows. Quick for one line after the other.
    #[inline]
    pub fn has_cleared(&mut self, line: &[u8], text: &[u8]) -> bool {
        let start = line.as_ptr().addr();
        if self.clear.start <= start && start + line.len() < self.clear.end && self.begins_as_usual(line) {
            return true;
        }
        self.foresee(line, text) == Foreseen::NoMatch
    }

    /// Returns the result of the search in `line`. Nothing is known if it is before the line last queried, or if it does not begin
    /// as most lines of `text` do. The text is that of [`LookAhead::begin`].
    #[inline(never)]
    pub fn foresee(&mut self, line: &[u8], text: &[u8]) -> Foreseen {
        let start = line.as_ptr().addr();
        let end = start + line.len();
        let is_looked_at = start >= self.looked.start && end <= self.looked.end
            || self.is_complete && self.look_at(start, text);
        if !is_looked_at || !self.begins_as_usual(line) {
            return Foreseen::Unknown;
        }
        self.looked.start = start;
        while self.suspects.get(self.next).is_some_and(|suspect| suspect.at < start) {
            self.next += 1;
        }
        let suspects = &self.suspects[self.next..];
        self.clear = start..suspects.first().map_or(self.looked.end, |suspect| suspect.at);
        let own = suspects.iter().take_while(|suspect| suspect.at <= end);
        match own.min_by_key(|suspect| (suspect.pattern, !suspect.is_certain)) {
            None => Foreseen::NoMatch,
            Some(&Suspect { pattern, is_certain: true, .. }) => Foreseen::First(pattern),
            Some(_) => Foreseen::Unknown,
        }
    }

    /// Whether `line` begins as the lines do that are looked at.
    #[inline]
    fn begins_as_usual(&self, line: &[u8]) -> bool {
        self.beginning.is_empty() || simd::starts_with(line, &self.beginning)
    }

    /// Looks at more lines of `text`, until that at the address `line` is among them. False if it is before them, or in another
    /// text.
    #[cold]
    fn look_at(&mut self, line: usize, text: &[u8]) -> bool {
        let start = text.as_ptr().addr();
        if line < self.looked.end || line >= start + text.len() {
            return false;
        }
        while line >= self.looked.end {
            if !self.is_complete {
                return false;
            }
            let rest = &text[self.looked.end - start..];
            let stretch = &rest[..stretch_bytes(rest)];
            self.looked = self.looked.end..self.looked.end + stretch.len();
            self.find(stretch);
        }
        true
    }

    /// Finds the suspects in a few lines.
    fn find(&mut self, lines: &[u8]) {
        let Self { patterns, searches, suspects, next, .. } = self;
        let search = &mut searches[self.search];
        suspects.clear();
        *next = 0;
        let start = lines.as_ptr().addr();
        let mut found = [0; PATTERNS_MAX + 1];
        if let Some(words) = &search.words {
            words.find(lines, |at, Matching { may, does }| {
                for (bit, &pattern) in
                    search.of_words.iter().enumerate().filter(|(bit, _)| may >> bit & 1 == 1)
                {
                    found[bit] += 1;
                    suspects.push(Suspect { at: start + at, pattern, is_certain: does >> bit & 1 == 1 });
                }
            });
        }
        if let Some(streams) = &mut search.streams {
            streams.find(lines, |LineMatch { at, pattern }| {
                let pattern = pattern.map(|at| search.of_streams[at]);
                let (is_certain, pattern) = (pattern.is_some(), pattern.unwrap_or(0));
                suspects.push(Suspect { at: start + at, pattern, is_certain });
            });
        }
        if suspects.is_empty() {
            return;
        }
        if !suspects.is_sorted_by_key(|suspect| suspect.at) {
            suspects.sort_unstable_by_key(|suspect| suspect.at);
        }
        let most = lines.len().max(STRETCH_BYTES);
        let is_frequent = |(_, found): &(&usize, u64)| *found as usize * FREQUENT_BYTES > most;
        let mut frequent = search.of_words.iter().zip(found).filter(is_frequent).peekable();
        if frequent.peek().is_some() {
            frequent.for_each(|(&pattern, _)| patterns[pattern].is_frequent = true);
            *search = Search::of(patterns, &std::mem::take(&mut search.beginning), lines);
            self.begin_search();
        }
    }
}

/// The origin that most lines of `text` begin with, with the slash after it. Empty if there seems to be none.
fn beginning(text: &[u8]) -> &[u8] {
    let places = spread(text);
    let samples: [&[u8]; SAMPLES] = std::array::from_fn(|at| {
        let start = if at == 0 { Some(0) } else { memchr::memchr(b'\n', places[at]).map(|end| end + 1) };
        start.map_or(&[][..], |start| &places[at][start..])
    });
    let is_usual =
        |origin: &&[u8]| samples.iter().filter(|sample| sample.starts_with(origin)).count() + 1 >= SAMPLES;
    samples[..2].iter().map(|sample| origin(sample)).find(is_usual).unwrap_or_default()
}

/// A sample of `text`: a few stretches of it, spread evenly.
fn sample(text: &[u8]) -> Vec<u8> {
    let stretches = spread(text).map(|rest| &rest[..rest.len().min(STRETCH_BYTES / SAMPLES)]);
    stretches.concat()
}

/// The rests of `text` after a few places that are spread evenly. The first rest is all of it.
fn spread(text: &[u8]) -> [&[u8]; SAMPLES] {
    std::array::from_fn(|at| &text[text.len() / SAMPLES * at..])
}

/// The origin at the start of `lines`, with the slash after it. Empty if the first line has none.
fn origin(lines: &[u8]) -> &[u8] {
    let head = &lines[..lines.len().min(BEGINNING_BYTES_MAX)];
    let origin = &head[..origin_bytes(head)];
    if origin.contains(&b'\n') { &[] } else { origin }
}

/// The bytes of the first lines of `text`, as many as belong to a stretch.
fn stretch_bytes(text: &[u8]) -> usize {
    let Some(stretch) = text.get(..STRETCH_BYTES) else { return text.len() };
    let end = memchr::memrchr(b'\n', stretch).or_else(|| memchr::memchr(b'\n', text));
    end.map_or(text.len(), |end| end + 1)
}

impl Search {
    /// A search for `patterns` in lines with this `beginning`, in texts like `sample`.
    fn of(patterns: &[Sought], beginning: &[u8], sample: &[u8]) -> Self {
        let (mut of_words, mut required, mut of_streams) = (Vec::new(), Vec::new(), Vec::new());
        for (at, Sought { shape, is_frequent, .. }) in patterns.iter().enumerate() {
            match rare_words(shape, beginning).filter(|_| !is_frequent) {
                Some(words) if words.is_empty() => (),
                Some(words) => {
                    of_words.push(at);
                    let is_exact = matches!(shape, Shape::Containing { is_exact: true, .. });
                    required.push(Required { words, is_exact });
                }
                None => of_streams.push(at),
            }
        }
        let words = Gate::of(&required, sample).and_then(Gate::into_words);
        if words.is_none() {
            of_streams.append(&mut of_words);
        }
        let has_streams = !of_streams.is_empty();
        let of_pattern = |&at: &usize| &patterns[at].pattern;
        let make_streams = || LineStreams::of(of_streams.iter().map(of_pattern), beginning);
        let streams = if has_streams { make_streams() } else { None };
        let is_at_start = |sought: &Sought| matches!(sought.shape, Shape::Edge(Edge::Start | Edge::Whole, _));
        Self {
            beginning: beginning.to_vec(),
            is_complete: streams.is_some() || !has_streams,
            is_for_any: !has_streams && !patterns.iter().any(is_at_start),
            words,
            of_words,
            streams,
            of_streams,
        }
    }
}

/// Words of which a pattern of this shape requires one, none of which is in what URLs begin with. `None` if there are no such
/// words, or if one is short.
fn rare_words(shape: &Shape, beginning: &[u8]) -> Option<Vec<Vec<u8>>> {
    let words: Vec<&[u8]> = match shape {
        Shape::Any => return None,
        Shape::Containing { words, .. } => words.iter().map(|word| &word[..]).collect(),
        Shape::Edge(Edge::End, words) => words.iter().map(|word| longest_part(word)).collect(),
        Shape::Edge(Edge::Start | Edge::Whole, words) => {
            let fits = |word: &&Vec<u8>| literals::fits(word, beginning);
            let rest = |word| longest_part(<[u8]>::get(word, beginning.len()..).unwrap_or_default());
            words.iter().filter(fits).map(|word| rest(word)).collect()
        }
    };
    let lower = beginning.to_ascii_lowercase();
    let is_rare = |word: &&[u8]| {
        word.len() >= RARE_MIN && memchr::memmem::find(&lower, &word.to_ascii_lowercase()).is_none()
    };
    words.iter().all(is_rare).then(|| words.iter().map(|word| word.to_vec()).collect())
}

/// The longest part of a word that has fixed bytes.
fn longest_part(word: &[u8]) -> &[u8] {
    word.split(|&byte| byte == ANY).max_by_key(|part| part.len()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
