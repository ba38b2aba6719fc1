//! Realistic shop URLs, or short ones, in any number. A recipe gives the same bytes on every machine.
//!
//! A URL is a pure function of its number and the seed, and it contains the number. So different numbers give
//! different URLs, and the counts of a corpus are known before it is written. A repeated line is written again from
//! its number, so memory does not grow with the file.
//!
//! Floating point is used only to turn a share into a whole number, so no machine rounds differently.
#![allow(
    dead_code,
    unused_imports,
    reason = "each program that includes this module uses a part of it, and some have no tests"
)]

mod bad;
mod kinds;
mod lines;
mod random;
mod recipe;
mod short;
mod tagged;
mod words;

pub use bad::REASONS;
pub use kinds::{Draw, KINDS, Kind};
pub use lines::Lines;
pub use random::SplitMix64;
pub use recipe::{Counts, Order, Recipe, Style};
pub use tagged::TAGGED;

use random::{Permutation, ZIPF_SLOTS, splitmix_at, zipf};
use recipe::Base;
use words::{CATEGORIES, COLORS, FOREIGN, SIZES, SUBCATEGORIES, Slot, WORDS, write_number};

/// The first number in a URL; numbers have seven or eight digits, as in real shops.
const NUMBER_FIRST: u64 = 1_000_000;
/// The number of consecutive URLs that are variants of one product, with the same first two words.
const VARIANTS_BITS: u32 = 2;
/// The number of consecutive URLs that share a subcategory or a month of the blog.
const SUBCATEGORY_BITS: u32 = 6;
/// The number of consecutive URLs that share a category.
const CATEGORY_BITS: u32 = 10;

/// The number of articles and listing pages in 256 runs of URLs; the others are products.
const ARTICLES_OF_256: u8 = 24;
const LISTINGS_OF_256: u8 = 14;
/// The number of products with a query in 256.
const QUERIES_OF_256: u8 = 32;

/// A checked recipe, and the tables that URLs are made from.
pub struct Corpus {
    counts: Counts,
    base: Base,
    style: Style,
    /// As a fraction of 2^32.
    non_ascii_share: u64,
    permutation: Option<Permutation>,
    /// An independent splitmix64 sequence for each purpose.
    category_key: u64,
    subcategory_key: u64,
    product_key: u64,
    own_key: u64,
    lines_key: u64,
    /// `category/subcategory/`, grouped by category.
    directories: Vec<Slot<32>>,
    /// `word-`, by descending frequency.
    words: Vec<Slot<16>>,
    zipf_words: Box<[u16; ZIPF_SLOTS]>,
    zipf_categories: Box<[u16; ZIPF_SLOTS]>,
    /// Raw, and percent-encoded in upper and lower case.
    foreign: Vec<[Vec<u8>; 3]>,
}

impl Corpus {
    /// Checks the recipe. The error says what is wrong.
    pub fn new(recipe: &Recipe) -> Result<Corpus, String> {
        let counts = recipe::count(recipe)?;
        let base = Base::parse(&recipe.base_url)?;
        let mut keys = SplitMix64::new(recipe.seed);
        let permutation_key = keys.next();
        let (directories, words) = words::vocabulary();
        Ok(Corpus {
            base,
            style: recipe::style(recipe)?,
            non_ascii_share: (recipe::share("non-ascii", recipe.non_ascii)? * (1u64 << 32) as f64) as u64,
            permutation: (recipe.order == Order::Shuffled)
                .then(|| Permutation::new(counts.distinct, permutation_key)),
            category_key: keys.next(),
            subcategory_key: keys.next(),
            product_key: keys.next(),
            own_key: keys.next(),
            lines_key: keys.next(),
            directories,
            words,
            zipf_words: zipf(WORDS),
            zipf_categories: zipf(CATEGORIES),
            foreign: FOREIGN.split(' ').map(words::spellings).collect(),
            counts,
        })
    }

    /// The whole text, for benchmarks and tests.
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::new();
        let mut lines = self.lines();
        while lines.write_next(&mut text).is_some() {}
        text
    }

    /// The exact counts of the lines.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// A writer that starts at the first line.
    pub fn lines(&self) -> Lines<'_> {
        Lines::new(self, SplitMix64::new(self.lines_key))
    }

    /// Appends the `nth` fresh URL of this corpus.
    fn write_nth(&self, nth: u64, out: &mut Vec<u8>) {
        let number = self.permutation.as_ref().map_or(nth, |permutation| permutation.apply(nth));
        self.write_url(number, out);
    }

    /// Appends URL number `number`, without a line end.
    pub fn write_url(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.url);
        match self.style {
            Style::Shop => self.write_shop_page(number, out),
            Style::Short => short::write_base_36(number, out),
        }
    }

    /// Appends the part of shop URL number `number` that follows the base URL.
    fn write_shop_page(&self, number: u64, out: &mut Vec<u8>) {
        let subcategory = splitmix_at(self.subcategory_key, number >> SUBCATEGORY_BITS);
        let product = splitmix_at(self.product_key, number >> VARIANTS_BITS);
        let own = splitmix_at(self.own_key, number);
        // Each random number is split into bit fields, and each field is used once.
        let kind_of_256 = subcategory as u8;

        if kind_of_256 < ARTICLES_OF_256 {
            let (year, month) = (2015 + (subcategory >> 8) % 12, 1 + (subcategory >> 16) % 12);
            out.extend_from_slice(b"blog/");
            write_number(year, out);
            out.extend_from_slice(&[b'/', b'0' + (month / 10) as u8, b'0' + (month % 10) as u8, b'/']);
            self.write_words(product, own, out);
            write_number(NUMBER_FIRST + number, out);
            return;
        }
        let category = splitmix_at(self.category_key, number >> CATEGORY_BITS);
        let category = usize::from(self.zipf_categories[usize::from(category as u16)]);
        let subcategory = category * SUBCATEGORIES + (subcategory >> 8) as usize % SUBCATEGORIES;
        self.directories[subcategory].write(out);
        if kind_of_256 < ARTICLES_OF_256 + LISTINGS_OF_256 {
            self.words[usize::from(self.zipf_words[usize::from(own as u16)])].write(out);
            out.push(b'c');
            write_number(NUMBER_FIRST + number, out);
            out.extend_from_slice(b"/?page=");
            write_number(1 + (own >> 16) % 20, out);
            return;
        }
        self.write_words(product, own, out);
        out.push(b'p');
        write_number(NUMBER_FIRST + number, out);
        out.extend_from_slice(b".html");
        if ((own >> 16) as u8) < QUERIES_OF_256 {
            out.extend_from_slice(b"?color=");
            out.extend_from_slice(COLORS[(own >> 24) as usize % COLORS.len()].as_bytes());
            out.extend_from_slice(b"&size=");
            out.extend_from_slice(SIZES[(own >> 27) as usize % SIZES.len()].as_bytes());
        }
    }

    /// Appends three words, each followed by a hyphen. The first may be in another script.
    fn write_words(&self, product: u64, own: u64, out: &mut Vec<u8>) {
        if own >> 32 < self.non_ascii_share {
            let spelling = [0, 0, 1, 2][(own >> 30) as usize % 4];
            out.extend_from_slice(&self.foreign[(product >> 32) as usize % self.foreign.len()][spelling]);
            out.push(b'-');
        } else {
            self.words[usize::from(self.zipf_words[usize::from(product as u16)])].write(out);
        }
        self.words[usize::from(self.zipf_words[usize::from((product >> 16) as u16)])].write(out);
        self.words[usize::from(self.zipf_words[usize::from(own as u16)])].write(out);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::lines::Kind;
    use super::*;

    fn corpus(recipe: Recipe) -> Corpus {
        Corpus::new(&recipe).expect("the recipe is valid")
    }

    /// FNV-1a, 64 bits.
    fn hash(text: &[u8]) -> u64 {
        text.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }

    #[test]
    fn every_number_gives_another_url() {
        for non_ascii in [0.0, 0.5, 1.0] {
            let text = corpus(Recipe { lines: 100_000, non_ascii, ..Recipe::default() }).text();
            let urls: HashSet<_> =
                text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
            assert_eq!(urls.len(), 100_000);
        }
    }

    #[test]
    fn the_same_recipe_gives_the_same_bytes_everywhere() {
        let thousand = |seed| {
            let recipe =
                Recipe { lines: 1000, seed, duplicates: 0.1, non_ascii: 0.1, bad: 0.1, ..Recipe::default() };
            hash(&corpus(recipe).text())
        };
        assert_eq!(thousand(1), thousand(1));
        assert_ne!(thousand(1), thousand(2));
        assert_eq!(
            thousand(1),
            0x655a_2805_c09e_23e9,
            "the bytes of seed 1 have changed: old measurements do not compare with new ones"
        );
    }

    #[test]
    fn shares_are_met_exactly_and_spread_over_the_file() {
        let lines = 100_000;
        let corpus =
            corpus(Recipe { lines, duplicates: 0.2, non_ascii: 0.25, bad: 0.1, ..Recipe::default() });
        let (mut text, mut seen) = (Vec::new(), HashSet::new());
        let (mut duplicates, mut rejected, mut foreign) = ([0u64; 2], [0u64; REASONS.len()], 0u64);
        let mut writer = corpus.lines();
        for line in 0..lines {
            text.clear();
            match writer.write_next(&mut text).expect("a line is left") {
                Kind::Fresh => {
                    assert!(seen.insert(text.clone()));
                    foreign += u64::from(!text.is_ascii() || text.contains(&b'%'));
                }
                Kind::Duplicate => {
                    assert!(seen.contains(&text));
                    duplicates[usize::from(line >= lines / 2)] += 1;
                }
                Kind::Bad(reason) => {
                    rejected[REASONS.iter().position(|&known| known == reason).expect("a known reason")] += 1;
                }
            }
        }
        assert_eq!(writer.write_next(&mut text), None);
        let counts = corpus.counts();
        assert_eq!((counts.distinct, counts.duplicates, counts.bad), (70_000, 20_000, 10_000));
        assert_eq!((seen.len() as u64, duplicates.iter().sum(), rejected), (70_000, 20_000, counts.rejected));
        assert!(duplicates.iter().all(|&half| half > 9_000), "{duplicates:?}");
        // Slightly less than a quarter, because listing pages have no such word.
        assert!((15_500..17_500).contains(&foreign), "{foreign}");
    }

    #[test]
    fn urls_have_the_length_and_the_letters_of_a_shop() {
        for order in [Order::Shuffled, Order::Sorted] {
            let text = corpus(Recipe { lines: 100_000, order, ..Recipe::default() }).text();
            let bytes_mean = text.len() as f64 / 100_000.0 - 1.0;
            assert!((69.0..73.0).contains(&bytes_mean), "{bytes_mean}");
            assert!(text.iter().all(|&c| c == b'\n' || c.is_ascii_alphanumeric() || b":/.-?=&".contains(&c)));
        }
    }

    #[test]
    fn short_urls_are_distinct_and_have_few_bytes() {
        let recipe = Recipe { lines: 100_000, duplicates: 0.1, style: Style::Short, ..Recipe::default() };
        let text = String::from_utf8(corpus(recipe).text()).expect("short URLs are ASCII");
        let urls: HashSet<_> = text.lines().collect();
        assert_eq!((text.lines().count(), urls.len()), (100_000, 90_000));
        assert!(urls.contains("https://www.example.com/zzz") && urls.contains("https://www.example.com/0"));
        assert!(urls.iter().all(|url| url.len() <= "https://www.example.com/1xfz".len()));
    }

    #[test]
    fn a_recipe_that_cannot_be_met_is_refused() {
        for (lines, duplicates, bad) in
            [(10, 1.0, 0.0), (10, 0.6, 0.6), (10, -0.1, 0.0), (10, 0.0, f64::NAN), (u64::MAX, 0.0, 0.0)]
        {
            assert!(Corpus::new(&Recipe { lines, duplicates, bad, ..Recipe::default() }).is_err());
        }
        for base_url in [
            "www.example.com",
            "ftp://a.example/",
            "https://u@a.example/",
            "https://127.0.0.1/",
            "https://A.example/",
        ] {
            assert!(Corpus::new(&Recipe { base_url: base_url.to_string(), ..Recipe::default() }).is_err());
        }
        let foreign_and_short = Recipe { non_ascii: 0.1, style: Style::Short, ..Recipe::default() };
        assert!(Corpus::new(&foreign_and_short).is_err());
        assert!(Corpus::new(&Recipe { lines: 10, bad: 1.0, ..Recipe::default() }).is_ok());
        assert_eq!(corpus(Recipe::default()).text(), b"");
    }
}
