//! The guards of the live set: data that nobody can have meant to publish are refused.

mod hint;
mod shape;
mod tags;

pub use hint::hint;
pub use tags::hints as tag_hints;

use crate::clean::scope::BaseUrl;
use crate::commands::build::site::Site;
use crate::commands::report::Report;
use crate::error::{Error, Result};
use crate::escape::grouped;
use crate::job::{Job, MaxShrink};
use crate::set::manifest::Manifest;

/// Looks at what was counted, when nothing is rendered yet; `live` is the set that would be replaced.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the option that lets them pass.
pub fn check(job: &Job, report: &Report, live: Option<&Manifest>) -> Result<()> {
    let (lines, listed, rejected) = (report.lines, report.listed, report.rejected_total());
    if let Some(expected) = job.expect_lines.filter(|expected| !expected.is_met(lines)) {
        return Err(Error::data(format!(
            "the inputs have {lines} lines, and --expect-lines is {expected}; nothing was published; if that is \
             meant, run again with --expect-lines {lines}"
        )));
    }
    if listed == 0 && !job.allow_empty {
        return Err(Error::data(nothing_listed(job, report)));
    }
    if let Some(max) = job.max_rejects.filter(|max| max.is_passed(rejected, lines)) {
        let needed = max.needed(rejected, lines);
        return Err(Error::data(format!(
            "{rejected} of {lines} lines were rejected, and --max-rejects is {max}; nothing was published; if that \
             is meant, run again with --max-rejects {needed}"
        )));
    }
    tags::check(job, report)?;
    // The sites of several origins are not known yet.
    job.only_site().map_or(Ok(()), |url| check_shrink(job, url, live, listed))
}

/// Why there is nothing to publish. Only of an input without URLs can an empty set be meant.
fn nothing_listed(job: &Job, report: &Report) -> String {
    if let Some(hint) = &report.hint {
        return format!("nothing was published: {hint}");
    }
    let found = match report.lines {
        0 => "the inputs are empty".to_owned(),
        lines => format!("the inputs hold nothing but blank lines ({})", grouped(lines)),
    };
    // With a set for each origin there is none to be empty.
    let way_out = if job.only_site().is_some() { "; --allow-empty publishes an empty set" } else { "" };
    format!("nothing was published: {found}{way_out}")
}

/// Looks at the batches of each site, before any of them is live. A site that the input does not name keeps its set.
///
/// # Errors
/// As [`check`].
pub fn check_sites(job: &Job, sites: &[Site]) -> Result<()> {
    sites.iter().try_for_each(|site| check_shrink(job, &site.base_url, site.place.live(), site.listed()))
}

/// An empty set may take the place of any: it was allowed already.
fn check_shrink(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    let live = live.map_or(0, Manifest::urls);
    if listed == 0 || !job.max_shrink.is_passed(live, listed) {
        return Ok(());
    }
    let (max, needed) = (job.max_shrink, MaxShrink::needed(live, listed));
    Err(Error::data(format!(
        "{base_url}: {listed} URLs would take the place of {live}, and --max-shrink is {max}; nothing was \
         published; if the set is meant to shrink, run again with --max-shrink {needed}"
    )))
}
