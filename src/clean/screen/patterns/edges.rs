//! Edges: words that URLs begin or end with.

use super::literals::{self, ANY, Edge};

/// Bytes of a word that are compared at once.
const HELD: usize = size_of::<u64>();

/// Words at the start or at the end of URLs, each with the index of its pattern.
#[derive(Debug, Clone, Default)]
pub struct Edges {
    /// Words at the start, and words that are whole URLs.
    starts: Vec<Word>,
    /// Whether URLs with the known beginning can begin with a word.
    can_start: bool,
    /// Words at the end.
    ends: Vec<Word>,
    /// How far the last eight bytes of a URL are shifted, so that as many remain as every word at the end has.
    end_shift: u32,
    /// A bit for each hash of such bytes: whether a word has them.
    end_bits: [u64; HASHES / u64::BITS as usize],
}

/// The number of hashes.
const HASHES: usize = 256;

/// URLs of one site begin alike, and words have different lengths. So the last bytes of a word are compared first.
#[derive(Debug, Clone)]
struct Word {
    /// The position of its last bytes in a URL that begins with it.
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
        // Missing bytes count as any byte, too.
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

    /// Prepares the search after the last word was added.
    pub fn finish(&mut self) {
        // With any byte in them, words have no hash.
        let fixed = |word: &Word| word.bytes.iter().rev().take(HELD).take_while(|byte| **byte != ANY).count();
        let bytes = self.ends.iter().map(fixed).min().unwrap_or(0);
        self.end_shift = 8 * (HELD - bytes) as u32;
        self.can_start = !self.starts.is_empty();
        self.end_bits = Default::default();
        for word in &self.ends {
            let hash = hash(word.last, self.end_shift);
            self.end_bits[hash / 64] |= 1 << (hash % 64);
        }
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        self.can_start = self.starts.iter().any(|word| word.fits(beginning));
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
        let hash = hash(end, self.end_shift);
        let can_end = self.end_bits[hash / 64] >> (hash % 64) & 1 == 1;
        let start = if self.can_start { self.starts.iter().find(is_start) } else { None };
        self.first(start, if can_end { self.ends.iter().find(is_end) } else { None })
    }

    /// Like [`Edges::first_match`], for a URL shorter than eight bytes. Clean URLs are longer.
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

/// A hash of the last bytes of a URL, of which `shift` bits are ignored.
#[inline]
fn hash(end: u64, shift: u32) -> usize {
    let bytes = end.checked_shr(shift).unwrap_or(0);
    (bytes.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - HASHES.ilog2())) as usize
}

impl Word {
    /// Whether a URL with this beginning can begin with it.
    fn fits(&self, beginning: &[u8]) -> bool {
        literals::fits(&self.bytes, beginning)
    }

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

    /// Whether the word matches `bytes`, which has the same length.
    fn is(&self, bytes: &[u8]) -> bool {
        match self.has_any {
            false => *self.bytes == *bytes,
            true => literals::fits(&self.bytes, bytes),
        }
    }
}
