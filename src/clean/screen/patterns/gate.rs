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
    /// The origin of the last URL that had another one, if there is no word in it. Most URLs begin like the one before.
    origin: Vec<u8>,
    /// The bytes of the origin that no word reaches into.
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
        Some(Self { words, bytes, lower, origin: Vec::new(), skipped: 0, longest })
    }

    /// Whether `url` may contain a word. False is always right; true is wrong if only the letter case differs.
    #[inline]
    pub fn admits(&mut self, url: &[u8]) -> bool {
        if self.origin.is_empty() || !simd::starts_with(url, &self.origin) {
            self.learn(url);
        }
        self.has_word(&url[self.skipped..])
    }

    /// Learns the origin of `url`.
    #[cold]
    fn learn(&mut self, url: &[u8]) {
        self.origin.clear();
        self.skipped = 0;
        // It ends with the third slash.
        let slash = memchr::memchr_iter(b'/', url).nth(2);
        if let Some(origin) = slash.map(|slash| &url[..=slash])
            && !self.has_word(origin)
        {
            self.origin.extend_from_slice(origin);
            self.skipped = (origin.len() + 1).saturating_sub(self.longest);
        }
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
