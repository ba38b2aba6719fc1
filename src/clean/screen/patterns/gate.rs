//! The gate: whether a URL contains any of the words that patterns require. Sixteen bytes or more are looked at at a time, so it
//! takes a fraction of the time that the patterns take.

use aho_corasick::packed::Searcher;

use super::automaton::Automaton;
use crate::common::simd;

/// Most single bytes: `memchr` finds up to three at once.
const BYTES_MAX: usize = 3;

/// How many of the first bytes of each word an automaton looks for: as many as it has states for, but not so few that most URLs
/// have them.
const FIRST_BYTES: [usize; 3] = [5, 4, 3];

/// Finds out quickly that none of many words is in a URL.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Words of more than one byte.
    words: Option<Searcher>,
    /// Words of one byte, repeated up to three.
    bytes: Option<[u8; BYTES_MAX]>,
    /// Space for text in lower case, if the words stand for words in any letter case.
    lower: Option<Vec<u8>>,
    /// The bytes at the start of URLs that no word reaches into.
    skipped: usize,
    /// The bytes of the longest word.
    longest: usize,
}

impl Gate {
    /// A gate for words that are not empty. `None` if there are none or too many, or the processor lacks the instructions.
    pub fn of(words: &[Vec<u8>]) -> Option<Self> {
        let distinct = |mut words: Vec<Vec<u8>>| {
            words.sort();
            words.dedup();
            words
        };
        let plain = distinct(words.to_vec());
        let folded = distinct(words.iter().map(|word| word.to_ascii_lowercase()).collect());
        // Both cases of a letter are one word then.
        let is_folded = folded.len() < plain.len();
        let words = if is_folded { folded } else { plain };
        let longest = words.iter().map(Vec::len).max()?;
        let (bytes, words): (Vec<_>, Vec<_>) = words.into_iter().partition(|word| word.len() == 1);
        if bytes.len() > BYTES_MAX {
            return None;
        }
        let bytes = bytes.concat();
        let bytes = bytes.first().map(|&first| std::array::from_fn(|at| *bytes.get(at).unwrap_or(&first)));
        let words = match words.is_empty() {
            true if bytes.is_none() => return None,
            true => None,
            false => Some(Searcher::new(words)?),
        };
        let lower = is_folded.then(Vec::new);
        Some(Self { words, bytes, lower, skipped: 0, longest })
    }

    /// From now on, URLs begin with `beginning`.
    pub fn begin(&mut self, beginning: &[u8]) {
        self.skipped = match self.has_word(beginning) {
            true => 0,
            false => (beginning.len() + 1).saturating_sub(self.longest),
        };
    }

    /// Whether `url`, which has this beginning, may contain a word. False is always right; true is wrong if only the letter case
    /// differs.
    #[inline]
    pub fn admits(&mut self, url: &[u8]) -> bool {
        self.has_word(&url[self.skipped..])
    }

    #[inline]
    fn has_word(&mut self, text: &[u8]) -> bool {
        let text = match &mut self.lower {
            Some(lower) if simd::contain_upper_case(text) => {
                lower.clear();
                lower.extend_from_slice(text);
                lower.make_ascii_lowercase();
                lower
            }
            _ => text,
        };
        self.words.as_ref().is_some_and(|words| words.find(text).is_some())
            || self.bytes.is_some_and(|[one, two, three]| memchr::memchr3(one, two, three, text).is_some())
    }
}

/// An automaton for the first bytes of all `words`. `None` if they have too many states.
pub fn starts_of(words: &[Vec<u8>]) -> Option<Automaton> {
    let start = |word: &[u8], bytes: usize| {
        std::str::from_utf8(&word[..bytes.min(word.len())]).ok().map(regex_syntax::escape)
    };
    FIRST_BYTES.iter().find_map(|&bytes| {
        let starts: Vec<String> = words.iter().map(|word| start(word, bytes)).collect::<Option<_>>()?;
        Automaton::of(&starts.iter().map(String::as_str).collect::<Vec<_>>())
    })
}
