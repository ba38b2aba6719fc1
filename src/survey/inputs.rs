//! The reports of inputs.

use super::account::Account;
use super::tally::Tally;
use crate::clean::screen::RuleCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::intake::format::Facts;
use crate::intake::input::Input;
use crate::intake::report::InputReport;
use crate::sitemap::tags::{GivenTags, TagName, TagRules};

/// Facts about a source, found while it was mapped or spooled.
#[derive(Debug)]
pub struct SourceFacts {
    /// Its format, packing and columns.
    pub facts: Facts,
    /// Its bytes, compressed if it is.
    pub bytes: u64,
    /// Rows that were judged before the survey and whose URL has bytes that are not UTF-8.
    pub non_utf8: u64,
    /// The rules that applied to rows that were judged before the survey.
    pub rules: RuleCounts,
}

/// Reports each source. `sources` are the facts about them. The rows of each are in one or more of `inputs`, and `account` has
/// counted them.
///
/// # Errors
/// [`ErrorKind::Internal`] if there is not one group of inputs per source.
pub fn reports(inputs: &[Input], sources: &[SourceFacts], account: &Account) -> Result<Vec<InputReport>> {
    let mut lines = vec![0; inputs.len()];
    account.chunks.iter().for_each(|chunk| lines[chunk.chunk.input] += chunk.tally.lines);
    let of_source: Vec<_> = inputs.iter().zip(lines).collect();
    let of_source: Vec<_> = of_source.chunk_by(|_, (next, _)| next.continues()).collect();
    if sources.len() != of_source.len() {
        let (found, known) = (of_source.len(), sources.len());
        let words = format!("the inputs have {found} sources, but there are facts about {known}");
        return Err(Error::new(ErrorKind::Internal, words));
    }
    let report = |(parts, source): (&[(&Input, u64)], &SourceFacts)| InputReport {
        lines: parts.iter().map(|(_, lines)| lines).sum(),
        bytes: source.bytes,
        ..InputReport::of_facts(parts[0].0.name(), &source.facts)
    };
    Ok(of_source.into_iter().zip(sources).map(report).collect())
}

/// Checks that every tag the readers found was rendered, dropped, or refused with its row.
///
/// # Errors
/// [`ErrorKind::Internal`] if they do not add up.
pub fn check_tags(rules: &TagRules, given: &GivenTags, tally: &Tally) -> Result<()> {
    let entries = tally.entries();
    for name in TagName::ALL {
        let has_default = match name {
            TagName::Changefreq => rules.default_changefreq.is_some(),
            TagName::Priority => rules.default_priority.is_some(),
            _ => false,
        };
        // With a default value, every entry has the tag or has lost it.
        let wanted = if has_default { entries } else { given.of_entries[name] };
        let of_name =
            tally.dropped.iter().filter(|(reason, _)| reason.tag() == name && !reason.is_of_field());
        let dropped: u64 = of_name.map(|(_, count)| count).sum();
        let (rendered, refused) = (tally.rendered[name], tally.refused_tags[name]);
        if rendered + dropped != wanted || refused != given.of_rejected[name] {
            let words = format!(
                "the tags do not add up ({}: {rendered} written and {dropped} dropped of {wanted}, {refused} of {} refused \
                 with their rows)",
                name.as_str(),
                given.of_rejected[name]
            );
            return Err(Error::new(ErrorKind::Internal, words));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::Reason;
    use crate::sitemap::tags::{Changefreq, TagReason};

    #[test]
    fn a_tag_that_is_neither_written_nor_dropped_nor_refused_is_a_bug() {
        for name in TagName::ALL {
            let (mut given, mut tally) = (GivenTags::default(), Tally { lines: 9, ..Tally::default() });
            tally.rejected[Reason::Host] = 2;
            given.of_entries[name] = 5;
            given.of_rejected[name] = 1;
            let check = |tally: &Tally| check_tags(&TagRules::default(), &given, tally);
            tally.rendered[name] = 4;
            tally.refused_tags[name] = 1;
            let lost = check(&tally).unwrap_err();
            assert_eq!(lost.kind(), ErrorKind::Internal);
            assert!(lost.to_string().contains(name.as_str()), "{lost}");
            let reason = TagReason::ALL.into_iter().find(|reason| reason.tag() == name).unwrap();
            tally.dropped[reason] = 1;
            assert!(check(&tally).is_ok());
            tally.refused_tags[name] = 0;
            assert!(check(&tally).is_err());
        }
    }

    #[test]
    fn with_a_default_every_entry_has_the_tag_or_has_lost_it() {
        let rules = TagRules { default_changefreq: Some(Changefreq::Daily), ..TagRules::default() };
        let mut tally = Tally { lines: 9, blank: 1, ..Tally::default() };
        tally.rejected[Reason::Host] = 2;
        tally.dropped[TagReason::Changefreq] = 2;
        tally.rendered[TagName::Changefreq] = 4;
        assert!(check_tags(&rules, &GivenTags::default(), &tally).is_ok());
        tally.rendered[TagName::Changefreq] = 3;
        assert!(check_tags(&rules, &GivenTags::default(), &tally).is_err());
    }
}
