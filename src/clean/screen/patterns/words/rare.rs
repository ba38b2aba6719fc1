//! Rare bytes: which bytes of words are looked for, and which words share a bucket.

use std::cmp::Reverse;

/// The number of buckets that words are divided among.
pub const BUCKETS: usize = 8;

/// The bytes of URLs, common ones first. Others are rarer.
const COMMON: &[u8] = b"eatoirnsl-/dcupmhg0123456789.byfkvwxzjq%=_&?";

/// The halves that a byte may have: a bit for each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Halves {
    low: u16,
    high: u16,
}

impl Halves {
    fn of(byte: u8) -> Self {
        Self { low: 1 << (byte % 16), high: 1 << (byte / 16) }
    }

    fn or(self, other: Self) -> Self {
        Self { low: self.low | other.low, high: self.high | other.high }
    }

    /// Whether this is one of the low halves.
    pub fn low(self, half: usize) -> bool {
        self.low >> half & 1 == 1
    }

    /// Whether this is one of the high halves.
    pub fn high(self, half: usize) -> bool {
        self.high >> half & 1 == 1
    }

    fn has(self, byte: u8) -> bool {
        self.low((byte % 16).into()) && self.high((byte / 16).into())
    }
}

/// Words that share a bucket.
pub struct Pack {
    /// Their indices.
    pub words: Vec<usize>,
    /// For each of the rare bytes, the halves that it has in one of the words.
    pub halves: Vec<Halves>,
    /// How often bytes of a URL have such halves, about.
    frequency: f64,
}

/// Statistics of the texts in which words are looked for.
pub struct Texts<'t> {
    /// A sample of them, in lower case if letters stand for both cases. Empty if there is none.
    sample: &'t [u8],
    /// How often each byte occurs, about.
    frequencies: [f64; 256],
}

impl<'t> Texts<'t> {
    /// Texts like this `sample`. If it is empty, texts like most URLs.
    pub fn like(sample: &'t [u8]) -> Self {
        let frequencies = match sample {
            [] => std::array::from_fn(|byte| 1.0 / (2 + rank(byte as u8)) as f64),
            _ => {
                // A byte that is not in the sample may be in the text.
                let mut counts = [0.5; 256];
                sample.iter().for_each(|&byte| counts[usize::from(byte)] += 1.0);
                counts.map(|count| count / sample.len() as f64)
            }
        };
        Self { sample, frequencies }
    }

    /// Returns the index in `word` of the `bytes` consecutive bytes that are probably rarest.
    pub fn rarest(&self, word: &[u8], bytes: usize) -> usize {
        // Most URLs of an input share the host.
        let slash = word.iter().position(|&byte| byte == b'/').unwrap_or(0);
        let has_host = word[..slash].contains(&b'.') && word.len() - slash >= bytes;
        let from = if has_host { slash } else { 0 };
        let rarity = |bytes: &[u8]| {
            let times = memchr::memmem::find_iter(self.sample, bytes).count();
            (Reverse(times), bytes.iter().map(|&byte| rank(byte)).sum::<usize>())
        };
        let places = (from..).zip(word[from..].windows(bytes));
        places.max_by_key(|(_, bytes)| rarity(bytes)).map_or(0, |(at, _)| at)
    }
}

/// Divides words, of which these bytes are looked for in `texts`, among the buckets. Two words share one if it is rare that bytes
/// have the low half of one word and the high half of the other. If the search `is_folded`, letters stand for both cases.
pub fn packs(words: &[&[u8]], is_folded: bool, texts: &Texts<'_>) -> Vec<Pack> {
    let frequency = |halves: &[Halves]| -> f64 {
        let of_byte = |halves: &Halves| -> f64 {
            (0..128).filter(|&byte| halves.has(byte)).map(|byte| texts.frequencies[usize::from(byte)]).sum()
        };
        halves.iter().map(of_byte).product()
    };
    let pack = |words, halves: Vec<Halves>| Pack { words, frequency: frequency(&halves), halves };
    let alone = |(at, word): (usize, &&[u8])| {
        let halves = |&byte: &u8| match is_folded {
            true => Halves::of(byte).or(Halves::of(byte.to_ascii_uppercase())),
            false => Halves::of(byte),
        };
        pack(vec![at], word.iter().map(halves).collect())
    };
    let both = |one: &Pack, other: &Pack| -> Vec<Halves> {
        one.halves.iter().zip(&other.halves).map(|(one, &other)| one.or(other)).collect()
    };
    let mut packs: Vec<_> = words.iter().enumerate().map(alone).collect();
    while packs.len() > BUCKETS {
        let pairs = (1..packs.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let price = |(one, other): (usize, usize)| {
            let (one, other) = (&packs[one], &packs[other]);
            frequency(&both(one, other)) - one.frequency - other.frequency
        };
        let priced = pairs.map(|pair| (price(pair), pair));
        let cheapest = priced.min_by(|(one, _), (other, _)| one.total_cmp(other));
        let (_, (one, other)) = cheapest.expect("there are several");
        let other = packs.swap_remove(other);
        packs[one] = pack([&*packs[one].words, &other.words].concat(), both(&packs[one], &other));
    }
    packs
}

/// How many bytes are more common in URLs.
fn rank(byte: u8) -> usize {
    COMMON.iter().position(|common| *common == byte).unwrap_or(COMMON.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_that_are_looked_for_are_rare() {
        for (word, rare) in [
            ("/private/", "riv"),
            ("/wp-admin/", "/wp"),
            ("utm_source=", "m_s"),
            (".example.com/search", "rch"),
        ] {
            let at = Texts::like(&[]).rarest(word.as_bytes(), rare.len());
            assert_eq!(&word[at..at + rare.len()], rare);
        }
    }

    #[test]
    fn bytes_that_are_rare_in_a_sample_are_looked_for() {
        let texts = Texts::like(b"https://h.example/archive/private-parts/1");
        for (word, rare) in [("/private/", "ate/"), (".example.com/search", "earc")] {
            let at = texts.rarest(word.as_bytes(), 4);
            assert_eq!(&word[at..at + 4], rare);
        }
    }

    #[test]
    fn words_share_a_bucket_if_no_common_bytes_are_between_them() {
        // With the halves of both, `priv` and `tag/` would also be found in `tri/`, which is common.
        let words: Vec<&[u8]> =
            [&b"priv"[..], b"tag/", b"prin", b"/car", b"ckou", b"/log", b"?sor", b"utm_", b"/wp-"].into();
        let packs = packs(&words, false, &Texts::like(&[]));
        assert_eq!(packs.len(), BUCKETS);
        let mut all: Vec<_> = packs.iter().flat_map(|pack| pack.words.clone()).collect();
        let pair = packs.iter().find(|pack| pack.words.len() == 2).unwrap();
        assert!(pair.words.contains(&0) && pair.words.contains(&2), "{:?}", pair.words);
        all.sort_unstable();
        assert!(all.into_iter().eq(0..words.len()));
        let has = |text: &[u8]| pair.halves.iter().zip(text).all(|(halves, &byte)| halves.has(byte));
        assert!(has(b"priv") && has(b"prin") && !has(b"tag/"));
    }
}
