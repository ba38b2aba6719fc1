//! Keys of sections: the parts that entries belong to, and the names of the sections.

use std::collections::HashSet;

use super::by_copies::PartKey;
use crate::clean::scope::origin_of;
use crate::job::SectionsBy;
use crate::sitemap::entry::Entry;
use crate::sitemap::sections::REST;
use crate::sitemap::sections::by_path::PathSegments;
use crate::sitemap::sections::by_rule::{RuleMatcher, SectionRules};

/// Keys of entries: the origin, if each has a set, and the section.
pub struct EntryKey<'r> {
    pub by_origin: bool,
    pub sections: SectionKey<'r>,
}

impl PartKey for EntryKey<'_> {
    #[inline]
    fn push(&mut self, entry: &Entry<'_>, key: &mut Vec<u8>) {
        let url = entry.url.as_bytes();
        if self.by_origin {
            key.extend_from_slice(origin_of(url));
        }
        match &mut self.sections {
            SectionKey::None => {}
            SectionKey::Column => key.extend(number_key(entry.section.0)),
            SectionKey::Rules { matcher, section_of, counts } => {
                let rule = matcher.rule_of(url);
                rule.into_iter().for_each(|rule| counts[rule] += 1);
                key.extend(number_key(rule.map_or(REST_NUMBER, |rule| section_of[rule])));
            }
            SectionKey::Path { segments, chosen } => {
                let segment = segments.of(url);
                if chosen.is_none_or(|chosen| chosen.contains(segment)) {
                    key.extend_from_slice(segment);
                }
            }
        }
    }

    fn take_counts(&mut self) -> Vec<u64> {
        match &mut self.sections {
            SectionKey::Rules { counts, .. } => {
                let none = vec![0; counts.len()];
                std::mem::replace(counts, none)
            }
            _ => Vec::new(),
        }
    }
}

/// The number of the section of URLs that no rule is for.
pub const REST_NUMBER: u16 = 0;

/// The number of the section of each rule.
pub fn numbers_of(rules: &SectionRules) -> impl Iterator<Item = u16> {
    rules.rules().map(|(section, _)| section as u16 + 1)
}

/// The key of the section with this number.
#[inline]
pub fn number_key(number: u16) -> [u8; 2] {
    number.to_be_bytes()
}

/// How the key of a section is found.
pub enum SectionKey<'r> {
    /// There are no sections.
    None,
    /// The number that the survey gave it.
    Column,
    /// Its place among the sections with rules, from 1; 0 for the rest.
    Rules { matcher: Box<RuleMatcher>, section_of: Vec<u16>, counts: Vec<u64> },
    /// The first segment of the path; empty for the rest.
    Path { segments: &'r PathSegments, chosen: Option<&'r HashSet<Box<[u8]>>> },
}

impl<'r> SectionKey<'r> {
    pub fn of(
        sections: Option<&SectionsBy>,
        segments: &'r PathSegments,
        chosen: Option<&'r HashSet<Box<[u8]>>>,
    ) -> Self {
        match sections {
            None => Self::None,
            Some(SectionsBy::Column { .. }) => Self::Column,
            Some(SectionsBy::Rules(rules)) => Self::of_rules(rules),
            Some(SectionsBy::Path { .. }) => Self::Path { segments, chosen },
        }
    }

    fn of_rules(rules: &SectionRules) -> Self {
        let section_of: Vec<u16> = numbers_of(rules).collect();
        Self::Rules { matcher: Box::new(rules.matcher()), counts: vec![0; section_of.len()], section_of }
    }
}

/// The name of the section with this key.
pub fn section_name(sections: Option<&SectionsBy>, names: &[String], key: &[u8]) -> String {
    // See `number_key`.
    let number = || usize::from(u16::from_be_bytes([key[0], key[1]]));
    match sections {
        None => String::new(),
        Some(SectionsBy::Column { .. }) => names[number()].clone(),
        Some(SectionsBy::Rules(rules)) => {
            number().checked_sub(1).and_then(|at| rules.names().nth(at)).unwrap_or(rules.rest()).to_owned()
        }
        Some(SectionsBy::Path { .. }) if key.is_empty() => REST.to_owned(),
        Some(SectionsBy::Path { .. }) => String::from_utf8_lossy(key).into_owned(),
    }
}
