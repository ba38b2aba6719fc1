//! The names that tell several sets in one place apart.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::sitemap::sections::word::{WORD_BYTES_MAX, is_plain_word};

/// The name of one of several sets in a directory, at most 40 bytes: lower-case ASCII letters and digits, and single hyphens
/// between them. It is part of the names of all files of the set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SetName(String);

impl SetName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SetName {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        if is_plain_word(word) && word.len() <= WORD_BYTES_MAX {
            return Ok(Self(word.into()));
        }
        let rule = format!(
            "a name has at most {WORD_BYTES_MAX} bytes: lower-case ASCII letters and digits, and single hyphens between them"
        );
        Err(match similar(word) {
            Some(similar) => format!("{rule}, such as {similar}"),
            None => format!("{rule}, such as blog or shop-2"),
        })
    }
}

impl TryFrom<String> for SetName {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        word.parse()
    }
}

impl From<SetName> for String {
    fn from(name: SetName) -> Self {
        name.0
    }
}

/// The name that is most similar to `word`, if the word has a letter or digit.
fn similar(word: &str) -> Option<String> {
    let is_legal = |c: char| c.is_ascii_alphanumeric();
    let parts: Vec<&str> = word.split(|c| !is_legal(c)).filter(|part| !part.is_empty()).collect();
    let mut similar = parts.join("-").to_ascii_lowercase();
    similar.truncate(WORD_BYTES_MAX);
    let similar = similar.trim_end_matches('-');
    (!similar.is_empty()).then(|| similar.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_word() {
        let longest = "a".repeat(WORD_BYTES_MAX);
        for name in ["blog", "0", "blog-en-2", "index", "00001", &longest] {
            assert_eq!(name.parse::<SetName>().unwrap().as_str(), name);
        }
    }

    #[test]
    fn any_other_word_is_refused_with_the_rule_and_a_similar_name() {
        let (long, longest) = ("a".repeat(WORD_BYTES_MAX + 1), "a".repeat(WORD_BYTES_MAX));
        for (word, similar) in [
            ("", "blog or shop-2"),
            ("Blog", "blog"),
            ("blog_en", "blog-en"),
            ("-blog--en-", "blog-en"),
            ("../x", "x"),
            ("a/b\0c", "a-b-c"),
            ("größe", "gr-e"),
            ("é", "blog or shop-2"),
            (&long, &longest),
            (&format!("{}-b", &longest[1..]), &longest[1..]),
        ] {
            let why = word.parse::<SetName>().unwrap_err();
            assert!(
                why.contains("at most 40 bytes") && why.ends_with(&format!("such as {similar}")),
                "{why}"
            );
            let valid = similar.split(' ').next().unwrap();
            assert!(valid.parse::<SetName>().is_ok(), "{valid}");
        }
    }

    #[test]
    fn a_message_with_an_invalid_name_is_refused() {
        assert_eq!(serde_json::from_str::<SetName>("\"blog\"").unwrap().as_str(), "blog");
        assert!(serde_json::from_str::<SetName>("\"../blog\"").is_err());
    }
}
