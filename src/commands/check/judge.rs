//! Judges the entries of sitemaps and index files, once they are read.

use std::cmp::Ordering;

use super::address;
use super::entry::{Entry, Link, Tag};
use super::finding::Findings;
use super::rules::Rule;
use super::values;
use crate::escape::shown;
use crate::limits::{IMAGES_PER_URL_MAX, Protocol};

/// Judges the values of a `url`, or of a `sitemap`, which has fewer. `below` is what its `loc` must start with.
#[inline]
pub(crate) fn judge(entry: &Entry, protocol: Protocol, below: Option<&str>, findings: &mut Findings) {
    let mut found = |rule, words: &str, value: &[u8]| {
        findings.push(Some(entry.number()), rule, || match value {
            b"" => words.to_owned(),
            value => format!("{words}: {}", shown(value)),
        });
    };
    if let Some(loc) = entry.loc() {
        judge_loc(loc, below, &mut found);
    }
    if let Some(value) = entry.value(Tag::Lastmod)
        && let Err(wrong) = values::check_lastmod(value, protocol)
    {
        found(Rule::Lastmod, wrong, value);
    }
    if let Some(value) = entry.value(Tag::Changefreq)
        && !values::is_changefreq(value)
    {
        found(Rule::Changefreq, "none of the seven words", value);
    }
    if let Some(value) = entry.value(Tag::Priority)
        && !values::is_priority(value)
    {
        found(Rule::Priority, "no decimal from 0.0 to 1.0", value);
    }
    for link in entry.links() {
        judge_link(link, &mut found);
    }
    // An image may lie on another host: Google, "Image sitemaps".
    for loc in entry.images().flatten() {
        judge_loc(loc, None, &mut found);
    }
    if entry.images_count() > IMAGES_PER_URL_MAX.into() {
        found(Rule::TooManyImages, "images", entry.images_count().to_string().as_bytes());
    }
}

/// The length first: of a value that was cut, nothing else can be told.
#[inline]
fn judge_loc(loc: &[u8], below: Option<&str>, found: &mut impl FnMut(Rule, &str, &[u8])) {
    if address::check_length(loc) == Ordering::Greater {
        return found(Rule::LocTooLong, "longer than 2,047 characters", loc);
    }
    if let Err(wrong) = address::check_grammar(loc) {
        return found(Rule::LocGrammar, wrong, loc);
    }
    if address::check_length(loc) == Ordering::Less {
        found(Rule::LocTooShort, "shorter than 12 characters", loc);
    }
    if let Some(below) = below
        && !address::is_below(loc, below.as_bytes())
    {
        found(Rule::OutOfScope, &format!("not below {}", shown(below.as_bytes())), loc);
    }
}

fn judge_link(link: Link<'_>, found: &mut impl FnMut(Rule, &str, &[u8])) {
    let rel = link.rel.unwrap_or_default();
    // Other links have another meaning, which nobody has written down for sitemaps.
    if !rel.eq_ignore_ascii_case(b"alternate") {
        return found(Rule::Alternate, "rel is not alternate", rel);
    }
    match link.hreflang {
        Some(language) if values::is_language(language) => {}
        Some(language) => found(Rule::Alternate, "hreflang is no language", language),
        None => found(Rule::Alternate, "no hreflang", b""),
    }
    match link.href {
        Some(href) => {
            if let Err(wrong) = address::check_grammar(href) {
                found(Rule::Alternate, wrong, href);
            } else if address::check_length(href) == Ordering::Greater {
                found(Rule::Alternate, "longer than 2,047 characters", href);
            }
        }
        None => found(Rule::Alternate, "no href", b""),
    }
}
