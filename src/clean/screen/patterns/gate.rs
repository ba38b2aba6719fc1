//! The gate: which patterns can match a URL, because it contains a word that they require. Sixteen bytes or more are looked at at a
//! time, so it takes a fraction of the time that the patterns take.

use std::collections::BTreeMap;

use aho_corasick::packed::Searcher;

use super::words::{Bits, Matching, Word, Words};
use crate::common::simd;

/// Most single bytes: `memchr` finds up to three at once.
const BYTES_MAX: usize = 3;

/// Most patterns that have a bit of their own.
pub const PATTERNS_MAX: usize = Bits::BITS as usize - 1;

/// Finds out quickly that none of many words is in a URL.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Words of more than one byte.
    words: Search,
    /// Words of one byte, repeated up to three.
    bytes: Option<[u8; BYTES_MAX]>,
    /// The patterns that require one of the single bytes.
    of_bytes: Bits,
    /// The bytes at the start of URLs that no word reaches into.
    skipped: usize,
    /// The patterns that the words in the beginning of URLs point to.
    begun: Matching,
    /// The bytes of the longest word.
    longest: usize,
}

/// The words of a pattern.
#[derive(Debug, Clone, Default)]
pub struct Required {
    /// The words of which it requires one. None is empty.
    pub words: Vec<Vec<u8>>,
    /// Whether it matches every URL that has one.
    pub is_exact: bool,
}

/// How to look for words.
#[derive(Debug, Clone)]
enum Search {
    /// There are none.
    None,
    /// The quick way.
    Words(Words),
    /// With the library, if they are many or short. With space for text in lower case, if the words stand for words in any letter
    /// case.
    Library(Searcher, Option<Vec<u8>>),
}

impl Gate {
    /// A gate for patterns, for texts like `sample`, or for any if that is empty. `None` if there are none, or too many words, or
    /// the processor lacks the instructions.
    pub fn of(patterns: &[Required], sample: &[u8]) -> Option<Self> {
        let plain = distinct(patterns, |word| word.to_vec());
        let folded = distinct(patterns, <[u8]>::to_ascii_lowercase);
        // Both cases of a letter are one word then.
        let is_folded = folded.len() < plain.len();
        let words = if is_folded { folded } else { plain };
        let longest = words.iter().map(|word| word.bytes.len()).max()?;
        let (bytes, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.bytes.len() == 1);
        if bytes.len() > BYTES_MAX {
            return None;
        }
        let of_bytes = bytes.iter().fold(0, |all, word| all | word.any_case.may);
        let bytes: Vec<_> = bytes.iter().map(|word| word.bytes[0]).collect();
        let bytes = bytes.first().map(|&first| std::array::from_fn(|at| *bytes.get(at).unwrap_or(&first)));
        let words = match Words::of(&words, is_folded, sample) {
            _ if words.is_empty() => Search::None,
            Some(words) => Search::Words(words),
            None => {
                let words = words.iter().map(|word| &word.bytes);
                Search::Library(Searcher::new(words)?, is_folded.then(Vec::new))
            }
        };
        Some(Self { words, bytes, of_bytes, skipped: 0, begun: Matching::default(), longest })
    }

    /// Whether it tells which patterns require a word, and not only that one of them does.
    pub fn tells_patterns(&self) -> bool {
        !matches!(self.words, Search::Library(..))
    }

    /// The search for all words, if that is the quick way.
    pub fn into_words(self) -> Option<Words> {
        match self.words {
            Search::Words(words) if self.bytes.is_none() => Some(words),
            _ => None,
        }
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        self.begun = self.in_text(beginning);
        self.skipped = (beginning.len() + 1).saturating_sub(self.longest);
    }

    /// Which patterns may match `url`, which has this beginning. A bit that is not set is always right. The patterns from
    /// [`PATTERNS_MAX`] on share the last one.
    #[inline]
    pub fn admitted(&mut self, url: &[u8]) -> Matching {
        self.begun | self.in_text(&url[self.skipped..])
    }

    #[inline]
    fn in_text(&mut self, text: &[u8]) -> Matching {
        let is_any = |any| Matching { may: if any { Bits::MAX } else { 0 }, does: 0 };
        let mut found = match &mut self.words {
            Search::None => Matching::default(),
            Search::Words(words) => words.in_text(text),
            Search::Library(words, Some(lower)) if simd::contain_upper_case(text) => {
                lower.clear();
                lower.extend_from_slice(text);
                lower.make_ascii_lowercase();
                is_any(words.find(&*lower).is_some())
            }
            Search::Library(words, _) => is_any(words.find(text).is_some()),
        };
        if self.bytes.is_some_and(|[one, two, three]| memchr::memchr3(one, two, three, text).is_some()) {
            found.may |= self.of_bytes;
        }
        found
    }
}

/// All words of patterns in the form that `form` gives them.
fn distinct(patterns: &[Required], form: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Word> {
    let mut words: BTreeMap<Vec<u8>, Word> = BTreeMap::new();
    for (at, Required { words: of_pattern, is_exact }) in patterns.iter().enumerate() {
        let bit = 1 << at.min(PATTERNS_MAX);
        for word in of_pattern {
            let bytes = form(word);
            let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count() as u32;
            let forms = of_pattern.iter().filter(|other| form(other) == bytes).count();
            let has_all_cases = Some(forms) == 2_usize.checked_pow(letters);
            let new = Word { bytes: bytes.clone(), any_case: Matching::default(), same_case: 0 };
            let known = words.entry(bytes).or_insert(new);
            known.any_case.may |= bit;
            if *is_exact && has_all_cases {
                known.any_case.does |= bit;
            }
            if *is_exact && *word == known.bytes {
                known.same_case |= bit;
            }
        }
    }
    words.into_values().collect()
}
