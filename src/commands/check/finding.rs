//! Findings, printed as a line of text for people or as JSON for programs. Each file keeps a bounded number.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::rules::{Counts, Rule};
use crate::error::{Error, message};

/// A violation of one rule at one place in a file. It serialises to a JSON object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The path of the file, escaped.
    pub file: String,
    /// The number of the entry, from 1; for `robots-sitemaps.txt` and `robots.txt`, of the line. `None` for the file as a whole.
    pub entry: Option<u64>,
    /// The rule that is violated.
    pub rule: Rule,
    /// A description of the violation. Bytes of the file are escaped and truncated.
    pub words: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.without_file())
    }
}

impl Finding {
    /// Converts the finding to an error about the file at `path`.
    pub(crate) fn error(&self, path: &Path) -> Error {
        let words = self.without_file();
        Error::data(message!(path, ": {words}"))
    }

    fn without_file(&self) -> String {
        let entry = self.entry.map_or(String::new(), |entry| format!("entry {entry}: "));
        format!("{entry}{}: {} ({})", self.rule.as_str(), self.words, self.rule.clause())
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("finding", 5)?;
        object.serialize_field("file", &self.file)?;
        object.serialize_field("entry", &self.entry)?;
        object.serialize_field("rule", self.rule.as_str())?;
        object.serialize_field("words", &self.words)?;
        object.serialize_field("clause", &self.rule.clause())?;
        object.end()
    }
}

/// The findings of one file. All are counted and the first few are kept, so a file with many violations takes little memory.
#[derive(Debug)]
pub(crate) struct Findings {
    file: String,
    kept_max: usize,
    /// The first findings.
    pub kept: Vec<Finding>,
    /// The number of all findings, by rule.
    pub counts: Counts,
    /// The first finding that makes the rest of the file unreliable.
    pub damage: Option<Finding>,
    /// The first finding because of which a URL of the file may not be read.
    pub loss: Option<Finding>,
    /// The first finding because of which it is unclear what the URL of an entry is, or what is an entry. It is a loss, too.
    pub unclear: Option<Finding>,
}

impl Findings {
    /// Creates an empty list for the file that messages call `file`.
    pub fn new(file: String, kept_max: usize) -> Self {
        let (kept, counts) = (Vec::new(), Counts::default());
        Self { file, kept_max, kept, counts, damage: None, loss: None, unclear: None }
    }

    /// Records a violation. `words` returns its description; it is called only if the finding is kept.
    #[cold]
    pub fn push(&mut self, entry: Option<u64>, rule: Rule, words: impl FnOnce() -> String) {
        self.counts[rule] += 1;
        let is_first_damage = rule.is_damage() && self.damage.is_none();
        if self.kept.len() < self.kept_max || is_first_damage {
            let finding = Finding { file: self.file.clone(), entry, rule, words: words() };
            if is_first_damage {
                self.damage = Some(finding.clone());
            }
            if self.kept.len() < self.kept_max {
                self.kept.push(finding);
            }
        }
    }

    /// Records a violation because of which a URL of the file may not be read.
    #[cold]
    pub fn push_loss(&mut self, entry: Option<u64>, rule: Rule, words: String) {
        if self.loss.is_none() {
            self.loss = Some(Finding { file: self.file.clone(), entry, rule, words: words.clone() });
        }
        self.push(entry, rule, || words);
    }

    /// Records a violation because of which it is unclear what the URL of an entry is, or what is an entry.
    #[cold]
    pub fn push_unclear(&mut self, entry: Option<u64>, rule: Rule, words: String) {
        if self.unclear.is_none() {
            self.unclear = Some(Finding { file: self.file.clone(), entry, rule, words: words.clone() });
        }
        self.push_loss(entry, rule, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_findings_are_counted_and_only_the_first_are_kept() {
        let mut findings = Findings::new("a.xml".into(), 2);
        for entry in 1..=5 {
            findings.push(Some(entry), Rule::Priority, || format!("number {entry}"));
        }
        assert_eq!(findings.counts.iter().collect::<Vec<_>>(), [(Rule::Priority, 5)]);
        assert_eq!(findings.kept.len(), 2);
        let first = "a.xml: entry 1: priority: number 1 (sitemaps.org, XML tag definitions: priority)";
        assert_eq!(findings.kept[0].to_string(), first);
        findings.push(None, Rule::Gzip, || "cut off".into());
        assert_eq!(findings.damage.unwrap().to_string(), "a.xml: gzip: cut off (RFC 1952, 2.2, file format)");
    }
}
