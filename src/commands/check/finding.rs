//! What was found: for a person a line, for a program an object; kept only as far as somebody will read it.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::rules::{Counts, Rule};

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, escaped.
    pub file: String,
    /// The entry in it, counted from 1; for `robots-sitemaps.txt` the line. None: the file as a whole.
    pub entry: Option<u64>,
    /// The rule.
    pub rule: Rule,
    /// What is wrong; bytes of the file escaped and cut.
    pub words: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(entry) = self.entry {
            write!(f, "entry {entry}: ")?;
        }
        write!(f, "{}: {} ({})", self.rule.as_str(), self.words, self.rule.clause())
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

/// The findings of one file: all are counted, the first few kept, so that a file of nothing but faults costs no memory.
#[derive(Debug)]
pub(crate) struct Findings {
    file: String,
    kept_max: usize,
    /// The first ones.
    pub kept: Vec<Finding>,
    /// All of them.
    pub counts: Counts,
    /// The first one that makes the rest of the file unreadable.
    pub damage: Option<Finding>,
}

impl Findings {
    /// None yet, in the file that is shown as `file`.
    pub fn new(file: String, kept_max: usize) -> Self {
        Self { file, kept_max, kept: Vec::new(), counts: Counts::default(), damage: None }
    }

    /// Takes one in. `words` are made only if somebody will read them.
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
