//! The parts of URLs: invented words, real words in other scripts, and numbers.

use std::collections::HashSet;
use std::io::Write;

use super::random::SplitMix64;

/// Top-level directories of the shop.
pub const CATEGORIES: usize = 64;
/// Directories in each of them.
pub const SUBCATEGORIES: usize = 16;
/// Words for names.
pub const WORDS: usize = 4096;
/// A fixed seed for words, so that every corpus compresses alike.
const VOCABULARY_SEED: u64 = 0x5eed_0f57_0e3a_11a5;

/// Colours in queries.
pub const COLORS: [&str; 8] = ["black", "white", "red", "navy", "green", "grey", "beige", "orange"];
/// Sizes in queries.
pub const SIZES: [&str; 8] = ["s", "m", "l", "xl", "38", "40", "42", "44"];
/// Words in other scripts, separated by spaces.
pub const FOREIGN: &str = "\
    größe schön für-mädchen été crème façade niños mañana żółty świat товар книга ελλάδα 商品 東京 \
    가격";
const SYLLABLES: &str = "\
    ba be bo ca co da de di fa fi ga go ha ja ka ki la le li lo ma me mi mo na ne no pa pe ra re \
    ri ro sa se si so ta te ti ton ver lin mar sen der pol gra";

/// A short string in a fixed array, with its length in the last byte. The array is copied whole, in one or two
/// instructions, and then truncated.
#[derive(Clone, Copy)]
pub struct Slot<const ROOM: usize>([u8; ROOM]);

impl<const ROOM: usize> Slot<ROOM> {
    fn new(text: &str) -> Self {
        let mut room = [0; ROOM];
        room[..text.len()].copy_from_slice(text.as_bytes());
        assert!(text.len() < ROOM, "the last byte holds the length");
        room[ROOM - 1] = text.len() as u8;
        Slot(room)
    }

    /// Appends the bytes.
    pub fn write(&self, out: &mut Vec<u8>) {
        let end = out.len() + usize::from(self.0[ROOM - 1]);
        out.extend_from_slice(&self.0);
        out.truncate(end);
    }
}

/// `category/subcategory/`, grouped by category, and `word-`.
pub fn vocabulary() -> (Vec<Slot<32>>, Vec<Slot<16>>) {
    let syllables: Vec<&str> = SYLLABLES.split(' ').collect();
    let mut random = SplitMix64::new(VOCABULARY_SEED);
    let mut seen = HashSet::new();
    let mut words = std::iter::repeat_with(|| {
        let count = 2 + random.below(2);
        (0..count).map(|_| syllables[random.below(syllables.len() as u64) as usize]).collect::<String>()
    })
    .filter(|word| seen.insert(word.clone()));
    let mut next = || words.next().expect("there are 110,000 words, and 5,000 are taken");
    let mut directories = Vec::new();
    for _ in 0..CATEGORIES {
        let category = next();
        directories.extend((0..SUBCATEGORIES).map(|_| Slot::new(&format!("{category}/{}/", next()))));
    }
    (directories, (0..WORDS).map(|_| Slot::new(&format!("{}-", next()))).collect())
}

/// `word` raw, and percent-encoded in upper and lower case.
pub fn spellings(word: &str) -> [Vec<u8>; 3] {
    let (mut capitals, mut small) = (Vec::new(), Vec::new());
    for byte in word.bytes() {
        if byte.is_ascii() {
            capitals.push(byte);
            small.push(byte);
        } else {
            write!(capitals, "%{byte:02X}").expect("memory takes every write");
            write!(small, "%{byte:02x}").expect("memory takes every write");
        }
    }
    [word.as_bytes().to_vec(), capitals, small]
}

/// Appends `number` in decimal.
pub fn write_number(number: u64, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let mut begin = digits.len();
    let mut rest = number;
    loop {
        begin -= 1;
        digits[begin] += (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[begin..]);
}
