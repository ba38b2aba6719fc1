//! Words: the names of sections in file names.
//!
//! A name that consists of lower-case ASCII letters, digits and single hyphens between them, 40 bytes at most, is its own word. Any
//! other name becomes one: other characters become hyphens, and `-x` and eight digits of a hash of the name follow. So `Shoes`
//! becomes `shoes-x` and a hash, and never shares a file with `shoes`, on any file system.

use xxhash_rust::xxh3::xxh3_64;

/// Maximum bytes of a word.
pub const WORD_BYTES_MAX: usize = 40;

/// The prefix of the hash of a name that is not its own word.
const MARK: &str = "-x";

/// Digits of the hash.
const DIGITS: usize = 8;

/// The word for the section `name`, which is not empty.
pub fn word_of(name: &str) -> String {
    if is_plain_word(name) && name.len() <= WORD_BYTES_MAX && !is_marked(name) {
        return name.to_owned();
    }
    let mut word = String::new();
    for c in name.chars().take(WORD_BYTES_MAX - MARK.len() - DIGITS) {
        match c.to_ascii_lowercase() {
            c @ ('a'..='z' | '0'..='9') => word.push(c),
            _ if word.ends_with('-') || word.is_empty() => {}
            _ => word.push('-'),
        }
    }
    let word = word.trim_end_matches('-');
    let hash = format!("{:016x}", xxh3_64(name.as_bytes()));
    // The mark begins with a hyphen, which must not be the first character.
    format!("{word}{MARK}{}", &hash[..DIGITS]).trim_start_matches('-').to_owned()
}

/// Whether `word` can be a word of a file name: lower-case ASCII letters, digits, and single hyphens between them.
pub fn is_plain_word(word: &str) -> bool {
    word.split('-')
        .all(|part| !part.is_empty() && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9')))
}

/// Whether `word` ends as the words of other names do.
fn is_marked(word: &str) -> bool {
    let (start, digits) = word.split_at(word.len().saturating_sub(DIGITS));
    start.ends_with('x')
        && (start.len() == 1 || start.ends_with(MARK))
        && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn plain_names_are_their_own_words_and_others_become_words_that_nothing_else_has() {
        for plain in ["shoes", "shoes-2026", "7", "rest", "index", "x", &"a".repeat(WORD_BYTES_MAX)] {
            assert_eq!(word_of(plain), plain);
        }
        let others = [
            "Shoes",
            "SHOES",
            "shoes ",
            "shoes_2026",
            "../x",
            "/etc/passwd",
            "é",
            "鞋",
            "-",
            "a--b",
            "-a",
            "a-",
            "\0",
            "%C3%BC",
            &"a".repeat(WORD_BYTES_MAX + 1),
            &"a".repeat(200),
            &"b".repeat(200),
            "shoes.xml.gz",
        ];
        let mut words = HashSet::from(["shoes".to_owned()]);
        for name in others {
            let word = word_of(name);
            assert!(
                is_plain_word(&word) && word.len() <= WORD_BYTES_MAX && is_marked(&word),
                "{name}: {word}"
            );
            assert!(words.insert(word), "{name} meets another");
        }
        assert!(word_of("Shoes").starts_with("shoes-x"), "{}", word_of("Shoes"));
        // A name that is the word of another name is not its own word.
        for name in ["Shoes", "é"] {
            assert_ne!(word_of(&word_of(name)), word_of(name));
        }
    }
}
