//! The gate: whether a URL contains any of the words that patterns require. Sixteen bytes or more are looked at at a time, so it
//! takes a fraction of the time that the patterns take.

use aho_corasick::packed::Searcher;

/// Bit that differs between the cases of a letter.
const CASE: u8 = b'a' ^ b'A';

/// Most single bytes: `memchr` finds up to three at once.
const BYTES_MAX: usize = 3;

/// Finds out quickly that none of many words is in a URL.
#[derive(Debug, Clone)]
pub struct Gate {
    /// Words of more than one byte.
    words: Option<Searcher>,
    /// Words of one byte, repeated up to three.
    bytes: Option<[u8; BYTES_MAX]>,
    /// The URL with the letter case of the words, if they have one. Otherwise `None`.
    folded: Option<Vec<u8>>,
}

impl Gate {
    /// A gate for words that are not empty. `None` if there are none or too many, or the processor lacks the instructions.
    pub fn of(words: &[Vec<u8>]) -> Option<Self> {
        let distinct = |fold: u8| {
            let mut words: Vec<Vec<u8>> = words.to_vec();
            words.iter_mut().flatten().for_each(|byte| *byte |= fold);
            words.sort();
            words.dedup();
            words
        };
        let (plain, folded) = (distinct(0), distinct(CASE));
        // Both cases of a letter are one word then.
        let is_folded = folded.len() < plain.len();
        let words = if is_folded { folded } else { plain };
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
        Some(Self { words, bytes, folded: is_folded.then(Vec::new) })
    }

    /// Whether `url` may contain a word. False is always right; true is wrong if only the letter case differs.
    #[inline]
    pub fn admits(&mut self, url: &[u8]) -> bool {
        let url = match &mut self.folded {
            None => url,
            Some(folded) => {
                folded.clear();
                folded.extend_from_slice(url);
                folded.iter_mut().for_each(|byte| *byte |= CASE);
                folded
            }
        };
        self.words.as_ref().is_some_and(|words| words.find(url).is_some())
            || self.bytes.is_some_and(|[one, two, three]| memchr::memchr3(one, two, three, url).is_some())
    }
}
