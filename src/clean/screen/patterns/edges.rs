//! Edges: words that URLs begin or end with.

use super::literals::{ANY, Edge};

/// Bytes of a word that are compared at once.
const HELD: usize = size_of::<u64>();

/// Words at the start or at the end of URLs, each with the index of its pattern.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    /// Words at the start, and words that are whole URLs.
    starts: Vec<Word>,
    /// Words at the end.
    ends: Vec<Word>,
}

/// URLs of one site begin alike, and words have different lengths. So the last bytes of a word are compared first.
#[derive(Debug, Clone)]
struct Word {
    /// Where its last bytes are in a URL that it is at the start of.
    at: usize,
    /// Its last bytes as a number, and the bits of this number that they are.
    last: u64,
    mask: u64,
    /// Whether [`ANY`] is among its bytes.
    has_any: bool,
    is_whole: bool,
    bytes: Box<[u8]>,
    /// The pattern that has this word.
    pattern: usize,
}

impl Edges {
    /// Adds a word of the pattern with the index `pattern`, which is not less than those of all earlier words.
    pub fn push(&mut self, pattern: usize, edge: Edge, bytes: &[u8]) {
        let is_end = edge == Edge::End;
        let missing = HELD.saturating_sub(bytes.len());
        let mut last = [0; HELD];
        let held = &bytes[bytes.len().saturating_sub(HELD)..];
        // A short word is at that end of the number where the URL has it.
        let from = if is_end { missing } else { 0 };
        last[from..from + held.len()].copy_from_slice(held);
        // What is missing is any byte, too.
        let mask = last.map(|byte| if byte == ANY { 0 } else { u8::MAX });
        let word = Word {
            at: bytes.len().saturating_sub(HELD),
            last: u64::from_le_bytes(last),
            mask: u64::from_le_bytes(mask),
            has_any: bytes.contains(&ANY),
            is_whole: edge == Edge::Whole,
            bytes: bytes.into(),
            pattern,
        };
        if is_end { self.ends.push(word) } else { self.starts.push(word) }
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.starts.len() + self.ends.len()
    }

    /// The index of the first pattern that has a word of `url`.
    #[inline]
    pub fn first_match(&self, url: &[u8]) -> Option<usize> {
        let Some(end) = url.last_chunk::<HELD>() else { return self.first_of_short(url) };
        let end = u64::from_le_bytes(*end);
        let is_start = |word: &&Word| {
            let held = url.get(word.at..).and_then(|rest| rest.first_chunk::<HELD>());
            held.is_some_and(|held| (u64::from_le_bytes(*held) ^ word.last) & word.mask == 0)
                && word.is_start(url)
        };
        let is_end = |word: &&Word| (end ^ word.last) & word.mask == 0 && word.is_end(url);
        self.first(self.starts.iter().find(is_start), self.ends.iter().find(is_end))
    }

    /// The same for a URL that is shorter than what is compared at once. Clean URLs are longer.
    #[cold]
    fn first_of_short(&self, url: &[u8]) -> Option<usize> {
        let start = self.starts.iter().find(|word| word.is_start(url));
        self.first(start, self.ends.iter().find(|word| word.is_end(url)))
    }

    #[inline]
    fn first(&self, start: Option<&Word>, end: Option<&Word>) -> Option<usize> {
        start.into_iter().chain(end).map(|word| word.pattern).min()
    }
}

impl Word {
    /// Whether `url` begins with it, or is it.
    fn is_start(&self, url: &[u8]) -> bool {
        let start = url.get(..self.bytes.len());
        start.is_some_and(|start| self.is(start)) && (!self.is_whole || url.len() == self.bytes.len())
    }

    /// Whether `url` ends with it.
    fn is_end(&self, url: &[u8]) -> bool {
        let from = url.len().checked_sub(self.bytes.len());
        from.is_some_and(|from| self.is(&url[from..]))
    }

    /// Whether it is these bytes, of which there are as many.
    fn is(&self, bytes: &[u8]) -> bool {
        match self.has_any {
            false => *self.bytes == *bytes,
            true => self.bytes.iter().zip(bytes).all(|(&own, &byte)| own == byte || own == ANY),
        }
    }
}
