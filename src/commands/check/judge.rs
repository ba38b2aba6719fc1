//! Checks the values of an entry of a sitemap or an index file.

use super::entry::Entry;
use super::extensions::EXTENSIONS;
use super::finding::Findings;
use super::rules::Rule;
use super::tag::Tag;
use super::{loc, values};
use crate::escape::shown;
use crate::limits::Protocol;

/// Checks the values of a `url`, or of a `sitemap`, which has fewer. Its `loc`, whose normal form is `url`, must be below `below`.
#[inline]
pub(crate) fn judge(
    entry: &Entry,
    url: Option<&[u8]>,
    protocol: Protocol,
    below: Option<&str>,
    findings: &mut Findings,
) {
    let mut found = |rule, words: &str, value: &[u8]| {
        findings.push(Some(entry.number()), rule, || match value {
            b"" => words.to_owned(),
            value => format!("{words}: {}", shown(value)),
        });
    };
    if let (Some(loc), Some(url)) = (entry.loc(), url) {
        loc::judge(loc, url, below, &mut found);
    }
    if let Some(value) = entry.value(Tag::Lastmod)
        && let Err(wrong) = values::check_lastmod(value, protocol)
    {
        found(Rule::Lastmod, wrong, value);
    }
    if let Some(value) = entry.value(Tag::Changefreq)
        && !values::is_changefreq(value)
    {
        found(Rule::Changefreq, "not one of always, hourly, daily, weekly, monthly, yearly, never", value);
    }
    if let Some(value) = entry.value(Tag::Priority)
        && !values::is_priority(value)
    {
        found(Rule::Priority, "not a decimal from 0.0 to 1.0", value);
    }
    for (number, extension) in EXTENSIONS.iter().enumerate() {
        let elements = entry.elements(number);
        if elements.count > 0 {
            (extension.judge)(elements, &mut found);
        }
    }
}
