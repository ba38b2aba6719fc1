//! Kinds of URLs besides those of the shop: ids, headlines, locales, encoded words, names and so on.
//!
//! Each kind is drawn from a seed and a vocabulary of its own. The held-out draw has another seed, other words and other
//! layouts of the same kinds, so that a compressor cannot be tuned to it by accident.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use super::random::SplitMix64;
use super::{Corpus, Order, Recipe};

/// Which URLs of a kind are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// The URLs to tune with.
    Tuning,
    /// URLs with other words and numbers, to judge with.
    HeldOut,
}

/// A kind of URLs.
pub struct Kind {
    /// Its name in the results.
    pub name: &'static str,
    source: Source,
}

enum Source {
    /// The shop of [`Corpus`].
    Shop,
    /// The paths of this machine's files.
    Paths,
    /// Draws one URL, which may have been drawn before.
    Drawn(fn(&mut Dice) -> String),
}

/// All kinds.
pub const KINDS: [Kind; 13] = [
    Kind { name: "shop URLs", source: Source::Shop },
    Kind { name: "file paths", source: Source::Paths },
    Kind { name: "another shop", source: Source::Drawn(another_shop) },
    Kind { name: "random ids", source: Source::Drawn(random_ids) },
    Kind { name: "short ids", source: Source::Drawn(short_ids) },
    Kind { name: "dates and headlines", source: Source::Drawn(headlines) },
    Kind { name: "locales and queries", source: Source::Drawn(locales) },
    Kind { name: "percent-encoded words", source: Source::Drawn(encoded) },
    Kind { name: "package names", source: Source::Drawn(names) },
    Kind { name: "counters", source: Source::Drawn(counters) },
    Kind { name: "long queries", source: Source::Drawn(queries) },
    Kind { name: "threads of a forum", source: Source::Drawn(threads) },
    Kind { name: "two parameters", source: Source::Drawn(parameters) },
];

impl Kind {
    /// `count` distinct URLs in random order, or as many as there are.
    pub fn urls(&self, count: usize, draw: Draw) -> Vec<String> {
        let seed = if draw == Draw::Tuning { 1 } else { 7_777 };
        let mut urls = match self.source {
            Source::Shop => shop(count, seed),
            Source::Paths => paths(count, draw),
            Source::Drawn(next) => distinct(count, &mut Dice::new(draw, seed), next),
        };
        shuffle(&mut urls, &mut SplitMix64::new(seed));
        urls.truncate(count);
        urls
    }
}

fn shuffle(urls: &mut [String], random: &mut SplitMix64) {
    for at in (1..urls.len()).rev() {
        urls.swap(at, random.below(at as u64 + 1) as usize);
    }
}

fn distinct(count: usize, dice: &mut Dice, next: fn(&mut Dice) -> String) -> Vec<String> {
    let mut seen = HashSet::new();
    // A small corpus may have fewer.
    let drawn = std::iter::repeat_with(|| next(dice)).take(4 * count);
    drawn.filter(|url| seen.insert(url.clone())).take(count).collect()
}

/// Shop URLs, drawn from 25 times as many.
fn shop(count: usize, seed: u64) -> Vec<String> {
    let recipe = Recipe { lines: 25 * count as u64, seed, order: Order::Shuffled, ..Recipe::default() };
    let corpus = Corpus::new(&recipe).expect("the recipe is sound");
    let (mut lines, mut text) = (corpus.lines(), Vec::new());
    for _ in 0..count {
        lines.write_next(&mut text).expect("the recipe has as many");
    }
    String::from_utf8(text).expect("URLs are ASCII").lines().map(str::to_owned).collect()
}

/// Paths of files in `/usr`, or held out, in all other directories that hold files of packages and users.
fn paths(count: usize, draw: Draw) -> Vec<String> {
    let roots: &[&str] = match draw {
        Draw::Tuning => &["/usr"],
        Draw::HeldOut => &["/etc", "/home", "/opt", "/root", "/srv", "/var"],
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~+".contains(&byte);
    let (mut found, mut folders) = (Vec::new(), roots.iter().map(PathBuf::from).collect::<Vec<_>>());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type());
            match path.to_str().filter(|path| path.bytes().all(is_plain)) {
                Some(name) if kind.as_ref().is_ok_and(|kind| kind.is_file()) => {
                    found.push(format!("https://files.example.com{name}"));
                }
                Some(_) if kind.is_ok_and(|kind| kind.is_dir()) => folders.push(path),
                _ => (),
            }
        }
    }
    // Without this, the order of the directories' entries would decide which paths are taken.
    found.sort();
    let middle = found.len().saturating_sub(count) / 2;
    found.drain(..middle);
    found.truncate(count);
    found
}

/// Draws words and numbers.
pub struct Dice {
    random: SplitMix64,
    draw: Draw,
    words: Vec<String>,
}

const SYLLABLES: [&str; 2] = [
    "an ber cor der el fin gar hol in jun kel lo mar nor os pel qui ran sta tor un ver wil yor zen tri ex",
    "a bra chi do e fu gno hya i ju kro lui mbe no o pha ru sce tu va xi ye zo ght ing ster",
];
const LETTERS: [&str; 2] = ["абвгдежзиклмнопрстуфхцчшэюя", "あいうえおかきくけこさしすせそたちつてとなにの"];
pub(super) const HEX: &[u8] = b"0123456789abcdef";
const ALPHANUMERIC: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Dice {
    pub(super) fn new(draw: Draw, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let syllables: Vec<&str> = SYLLABLES[draw as usize].split(' ').collect();
        let mut word = || {
            let count = 1 + random.below(3);
            (0..count).map(|_| syllables[random.below(syllables.len() as u64) as usize]).collect()
        };
        Self { words: (0..4_000).map(|_| word()).collect(), random, draw }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// One of two values: for tuning or held out.
    pub(super) fn of<T>(&self, [tuning, held_out]: [T; 2]) -> T {
        if self.draw == Draw::Tuning { tuning } else { held_out }
    }

    /// One of the first `count` words, all alike.
    fn word(&mut self, count: u64) -> &str {
        let at = self.below(count) as usize;
        &self.words[at]
    }

    /// One of the first `count` words, the first ones more often: the logarithm of the rank is uniform.
    fn usual_word(&mut self, count: u64) -> &str {
        let bits = self.below(u64::from(count.ilog2()) + 1);
        let rank = (1 << bits) - 1 + self.below(1 << bits);
        &self.words[(rank % count) as usize]
    }

    fn some_words(&mut self, count: u64, of: u64) -> String {
        let words: Vec<_> = (0..count).map(|_| self.usual_word(of).to_owned()).collect();
        words.join("-")
    }

    pub(super) fn text(&mut self, letters: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(letters[self.below(letters.len() as u64) as usize])).collect()
    }
}

/// Brand, model and attributes, and an article number at the end.
fn another_shop(dice: &mut Dice) -> String {
    let department = dice.below(40);
    let department = dice.words[1_000 + department as usize].clone();
    let brand = dice.usual_word(200).to_owned();
    let model = dice.some_words(2, 2_000);
    let attribute = dice.word(60).to_owned();
    let article = dice.below(100_000_000);
    let code = dice.text(&ALPHANUMERIC[..26], 2);
    match dice.draw {
        Draw::Tuning => {
            format!("https://shop.example.org/c/{department}/{brand}/{model}-{attribute}-{code}{article:08}")
        }
        Draw::HeldOut => {
            format!("https://www.market.example/{department}-{brand}/{model}/{attribute}/dp/{code}{article}")
        }
    }
}

fn random_ids(dice: &mut Dice) -> String {
    match dice.draw {
        Draw::Tuning => format!("https://api.example.net/v1/objects/{}", dice.text(HEX, 32)),
        Draw::HeldOut => {
            let [a, b, c, d, e] = [8, 4, 4, 4, 12].map(|digits| dice.text(HEX, digits));
            format!("https://cdn.example.io/u/{a}-{b}-{c}-{d}-{e}")
        }
    }
}

fn short_ids(dice: &mut Dice) -> String {
    match dice.draw {
        Draw::Tuning => format!("https://video.example.com/watch?v={}", dice.text(ALPHANUMERIC, 11)),
        Draw::HeldOut => format!("https://s.example.io/{}/", dice.text(&ALPHANUMERIC[..62], 8)),
    }
}

fn headlines(dice: &mut Dice) -> String {
    let (year, month, day) = (2005 + dice.below(20), 1 + dice.below(12), 1 + dice.below(28));
    let count = dice.of([7, 5 + year % 5]);
    let vocabulary = dice.of([150, 400]);
    let words: Vec<_> = (0..count).map(|_| dice.word(vocabulary).to_owned()).collect();
    let words = words.join("-");
    dice.of([
        format!("https://news.example.com/{year}/{month:02}/{day:02}/{words}"),
        format!("https://blog.example.org/archive/{year}-{month:02}-{day:02}-{words}.html"),
    ])
}

fn locales(dice: &mut Dice) -> String {
    let locales = ["en-us", "en-gb", "de-de", "fr-fr", "es-es", "it-it", "pt-br", "ja-jp", "nl-nl", "pl-pl"];
    let locale = locales[dice.below(locales.len() as u64) as usize];
    let (one, two, three) = (dice.below(100_000), dice.below(10_000_000), dice.below(8));
    match dice.draw {
        Draw::Tuning => {
            let view = ["list", "grid", "map", "all"][three as usize % 4];
            format!("https://www.example.com/{locale}/catalog/{one}/item/{two}?view={view}&amp;ref=home")
        }
        Draw::HeldOut => {
            let language = &locale[..2];
            format!(
                "https://travel.example.eu/{language}/hotel/{two}/room-{one}.html?adults={three}&amp;lang={language}"
            )
        }
    }
}

fn encoded(dice: &mut Dice) -> String {
    let letters: Vec<char> = dice.of(LETTERS).chars().collect();
    let mut word = |at: u64| {
        // A word is a function of its number, so that words occur again.
        let mut random = SplitMix64::new(at);
        let count = 3 + random.below(6);
        let mut out = String::new();
        for _ in 0..count {
            let letter = letters[random.below(letters.len() as u64) as usize];
            letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| {
                write!(out, "%{byte:02X}").expect("memory takes every write");
            });
        }
        out
    };
    let [first, second, third] = [dice.below(300), dice.below(300), dice.below(300)].map(&mut word);
    let number = dice.below(50_000);
    dice.of([
        format!("https://ru.example.org/wiki/{first}_{second}_{third}"),
        format!("https://example.jp/{first}/{second}-{third}?p={number}"),
    ])
}

fn names(dice: &mut Dice) -> String {
    let count = 1 + dice.below(3);
    let name = dice.some_words(count, 4_000);
    let digits = if dice.below(4) == 0 { dice.below(1_000).to_string() } else { String::new() };
    match dice.draw {
        Draw::Tuning => format!("https://packages.example.org/package/{name}{digits}"),
        Draw::HeldOut => {
            let scope = dice.usual_word(4_000).to_owned();
            format!("https://registry.example.dev/@{scope}/{name}{digits}")
        }
    }
}

fn counters(dice: &mut Dice) -> String {
    let number = dice.below(3_000_000);
    dice.of([
        format!("https://www.example.com/item/{number}"),
        format!("https://id.example.net/record/{:09}.json", 400_000_000 + 7 * number),
    ])
}

fn queries(dice: &mut Dice) -> String {
    let (query, category, page) = (dice.some_words(2, 1_000), dice.below(500), 1 + dice.below(30));
    let sort = ["price", "name", "rating", "newest"][dice.below(4) as usize];
    let (low, high) = (10 * dice.below(20), 200 + 10 * dice.below(40));
    match dice.draw {
        Draw::Tuning => format!(
            "https://search.example.com/find?q={query}&amp;cat={category}&amp;sort={sort}&amp;price_min={low}\
             &amp;price_max={high}&amp;page={page}&amp;utm_source=sitemap&amp;utm_medium=organic"
        ),
        Draw::HeldOut => {
            let session = dice.text(HEX, 8);
            format!(
                "https://maps.example.net/index.php?option=com_{sort}&amp;view=category&amp;id={category}:{query}\
                 &amp;Itemid={high}&amp;limitstart={page}&amp;sid={session}"
            )
        }
    }
}

fn threads(dice: &mut Dice) -> String {
    let forum = dice.below(60);
    let forum = dice.words[500 + forum as usize].clone();
    let count = 2 + dice.below(5);
    let (title, number, page) = (dice.some_words(count, 3_000), dice.below(2_000_000), dice.below(12));
    let page = if page < 4 { format!("page-{}", page + 2) } else { String::new() };
    dice.of([
        format!("https://forum.example.com/{forum}/{title}.{number}/{page}"),
        format!("https://community.example.org/t/{title}/{number}?c={forum}&amp;{page}"),
    ])
}

fn parameters(dice: &mut Dice) -> String {
    let (number, category) = (dice.below(1_000_000), dice.below(50));
    dice.of([
        format!("https://www.example.com/product.php?id={number}&amp;cat={category}"),
        format!("https://store.example.net/index.php?route=product/view&amp;path=20_{category}&amp;product_id={number}"),
    ])
}
