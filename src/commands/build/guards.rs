//! The guards of the live set: data that nobody can have meant to publish are refused.

mod hint;
mod shape;
mod tags;

pub use hint::hint;
pub use tags::hints as tag_hints;

use crate::clean::scope::{Base, BaseUrl};
use crate::commands::report::Report;
use crate::error::{Error, Result};
use crate::escape::grouped;
use crate::job::{Job, MaxShrink};
use crate::set::manifest::{Manifest, Sitemap};
use crate::set::publish::Workspace;

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
    match &job.base_url {
        Base::Directory(url) if listed > 0 => check_shrink(job, url, live, listed),
        _ => Ok(()),
    }
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
    let way_out = match job.base_url {
        Base::Directory(_) => "; --allow-empty publishes an empty set",
        Base::EachOrigin(_) => "",
    };
    format!("nothing was published: {found}{way_out}")
}

/// Looks at the set of each site, before any of them is live. A site that the input does not name keeps its set.
///
/// # Errors
/// As [`check`].
pub fn check_sites(job: &Job, sites: &[(Workspace, BaseUrl, Vec<Sitemap>)]) -> Result<()> {
    let check_site = |(workspace, base_url, sitemaps): &(Workspace, BaseUrl, Vec<Sitemap>)| {
        let listed = sitemaps.iter().map(|sitemap| u64::from(sitemap.urls)).sum();
        check_shrink(job, base_url, workspace.live(), listed)
    };
    match job.base_url {
        Base::Directory(_) => Ok(()), // was looked at before
        Base::EachOrigin(_) => sites.iter().try_for_each(check_site),
    }
}

fn check_shrink(job: &Job, base_url: &BaseUrl, live: Option<&Manifest>, listed: u64) -> Result<()> {
    let live = live.map_or(0, Manifest::urls);
    if !job.max_shrink.is_passed(live, listed) {
        return Ok(());
    }
    let (max, needed) = (job.max_shrink, MaxShrink::needed(live, listed));
    Err(Error::data(format!(
        "{base_url}: {listed} URLs would take the place of {live}, and --max-shrink is {max}; nothing was \
         published; if the set is meant to shrink, run again with --max-shrink {needed}"
    )))
}
