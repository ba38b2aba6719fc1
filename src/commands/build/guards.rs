//! Guards: refuse data that is very likely not meant to be published.

mod hint;
mod shape;
mod shrink;
mod tags;

pub use hint::hint;
pub use shrink::check_set;
pub use tags::hints as tag_hints;

use std::collections::HashSet;

use super::report::Report;
use crate::commands::build::site::Planned;
use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::shown;
use crate::intake::report::InputReport;
use crate::job::{Job, SectionsBy};
use crate::sitemap::sections::REST;
use crate::survey::sections::{LeftOut, rest_of};
use crate::words::{grouped, plural};

/// Checks the counts of the survey, before anything is rendered.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the option that lets them pass.
pub fn check(job: &Job, report: &Report) -> Result<()> {
    let (lines, listed, rejected) = (report.lines, report.listed, report.rejected_total());
    if let Some(expected) = job.guards.expect_lines.filter(|expected| !expected.is_met(lines)) {
        let (way_out, lines) = (Setting::ExpectLines.with(lines), plural(lines, "line", "lines"));
        return Err(Error::data(message!(
            "the inputs have {lines}, but ",
            Setting::ExpectLines,
            " is {expected}; nothing was published; if this is intended, run again with ",
            way_out
        )));
    }
    if listed == 0 && !job.guards.allow_empty {
        return Err(Error::data(nothing_listed(job, report)));
    }
    check_keys(report)?;
    if let Some(max) = job.guards.max_rejects.filter(|max| max.is_exceeded(rejected, lines)) {
        let way_out = Setting::MaxRejects.with(max.needed(rejected, lines));
        let was = if rejected == 1 { "was" } else { "were" };
        let (rejected, lines) = (grouped(rejected), plural(lines, "line", "lines"));
        return Err(Error::data(message!(
            "{rejected} of {lines} {was} rejected, but ",
            Setting::MaxRejects,
            " is {max}; nothing was published; if this is intended, run again with ",
            way_out
        )));
    }
    tags::check(&job.guards, report)
}

/// Refuses rows that have keys if none of any input has one that an option names, as a table without the column is refused. Single
/// rows may lack it, and so may an input beside others.
fn check_keys(report: &Report) -> Result<()> {
    let missing = |input: &InputReport| {
        let (part, name) =
            input.missing().find(|(part, _)| !report.inputs.iter().any(|other| other.uses(part)))?;
        let (word, all) = (input.column_word(), input.all_columns());
        let columns = Setting::Columns.with(format_args!("{part}={name}"));
        Some(message!(
            "no row has the {word} {name}; the inputs have: {all}; nothing was published; correct ",
            columns
        ))
    };
    report.inputs.iter().find_map(missing).map_or(Ok(()), |missing| Err(Error::data(missing)))
}

/// Says why there is nothing to publish. Proposes an empty set only if the input contains no URL at all.
fn nothing_listed(job: &Job, report: &Report) -> Message {
    if let Some(hint) = &report.hint {
        // A filter may be meant to leave out everything.
        let is_filtered = report.excluded_total() == report.lines - report.blank;
        return match job.rules.only_site().filter(|_| is_filtered) {
            Some(_) => {
                message!(
                    "nothing was published: ",
                    hint,
                    "; ",
                    Setting::AllowEmpty,
                    " publishes an empty set"
                )
            }
            None => message!("nothing was published: ", hint),
        };
    }
    let is_stdin = report.inputs.len() == 1 && report.inputs[0].path == "-";
    let found = match report.lines {
        // Most likely, a job without a terminal was given no input.
        0 if is_stdin => "standard input, the only input, is empty; if you meant files, name them".to_owned(),
        0 => "the inputs are empty".to_owned(),
        lines => format!("the inputs have only blank lines ({})", grouped(lines)),
    };
    // With a set per origin, no set could be the empty one.
    match job.rules.only_site() {
        None => message!("nothing was published: {found}"),
        Some(_) => {
            message!("nothing was published: {found}; ", Setting::AllowEmpty, " publishes an empty set")
        }
    }
}

/// Checks the sets of `sites` before anything is rendered: that no section of a rules file is empty, and how much smaller the sets
/// and their sections are than the live ones. A site that the input does not mention keeps its set.
///
/// # Errors
/// Same as [`check`].
pub fn check_sets(job: &Job, sites: &[Planned], left_out: &LeftOut) -> Result<()> {
    check_sections_of_rules(job, sites)?;
    shrink::check(job, sites, left_out, nothing_but_rest(job, sites))
}

fn check_sections_of_rules(job: &Job, sites: &[Planned]) -> Result<()> {
    let Some(SectionsBy::Rules(rules)) = &job.rules.sections else { return Ok(()) };
    if job.rules.only_site().is_none() || job.guards.allow_empty {
        return Ok(());
    }
    let sections = sites.iter().flat_map(|(_, layout)| &layout.sections);
    let filled: HashSet<&str> =
        sections.filter(|section| section.listed > 0).map(|section| &*section.name).collect();
    let Some(empty) = rules.names().find(|name| !filled.contains(name)) else { return Ok(()) };
    let name = shown(empty.as_bytes());
    Err(Error::data(message!(
        "section {name} has no URLs; nothing was published; ",
        Setting::AllowEmpty,
        " publishes the set without it"
    )))
}

/// A hint if the job has an option about CSV and no input is CSV, or names columns and no input has any. A table may be read
/// together with plain lists.
pub fn csv_hint(job: &Job, report: &Report) -> Option<Message> {
    let format = &job.input.format;
    let has_none = report.lines > 0 && !report.inputs.iter().any(InputReport::has_delimiter);
    let has_columns = report.inputs.iter().any(InputReport::has_named_columns);
    let given = [
        (Setting::Delimiter, format.delimiter.is_some()),
        (Setting::Escape, format.escape.is_some()),
        (Setting::Columns, format.columns.are_given() && !has_columns),
    ];
    let given: Vec<Setting> =
        given.into_iter().filter(|(_, is_given)| *is_given && has_none).map(|(setting, _)| setting).collect();
    let csv = Setting::Format.with("csv");
    let formats = if given.contains(&Setting::Columns) { "CSV, JSON lines or Parquet" } else { "CSV" };
    let settings = match *given {
        [] => return None,
        [one] => message!(one, " has no effect; leave it out"),
        [one, other] => message!(one, " and ", other, " have no effect; leave them out"),
        [one, other, third, ..] => {
            message!(one, ", ", other, " and ", third, " have no effect; leave them out")
        }
    };
    Some(message!("no input is {formats}, so ", settings, ", or use ", csv))
}

/// A hint if a site with a set of its own comes from URLs with two schemes, such as `https://https://h.example/`.
pub fn site_hint(sites: &[Planned]) -> Option<Message> {
    sites.iter().find_map(|(site, _)| {
        let scheme = hint::doubled_scheme(site.base_url.origin())?;
        let (base_url, host) = (&site.base_url, "www.example.com");
        let from = format!("{}/{host}/", base_url.origin());
        let rewrite = Setting::Rewrite.with(format_args!("{from}={scheme}://{host}/"));
        Some(message!(
            "the URLs of {base_url} have two schemes; remove one with a rule such as ",
            rewrite,
            ", with their own host; then delete the set of {base_url}, which later runs do not update"
        ))
    })
}

/// Returns a hint about sections that no guard refuses.
pub fn section_hint(job: &Job, sites: &[Planned]) -> Option<Message> {
    nothing_but_rest(job, sites).or_else(|| lost_rest(job, sites))
}

/// A hint if a site loses URLs, and with them the section of all that have no other.
fn lost_rest(job: &Job, sites: &[Planned]) -> Option<Message> {
    let rest = rest_of(Some(job.rules.sections.as_ref()?));
    sites.iter().find_map(|(site, layout)| {
        let live = site.place.live().filter(|live| live.urls() > layout.tally.listed)?;
        let lost = live.sections.iter().find(|section| section.is_rest)?;
        let sitemaps = live.sitemaps_by_stem().remove(&site.place.stem().with(&lost.word))?;
        let urls = grouped(sitemaps.iter().map(|sitemap| u64::from(sitemap.urls)).sum());
        let is_there = layout.sections.iter().any(|section| section.name == rest && section.listed > 0);
        let name = shown(lost.name.as_bytes());
        let base_url = &site.base_url;
        (!is_there).then(|| message!("{base_url}: section {name} has no URLs now, instead of {urls}"))
    })
}

/// A hint if no row names a section in the column of sections, whose name may be mistyped: not all formats have a list of their
/// columns.
fn nothing_but_rest(job: &Job, sites: &[Planned]) -> Option<Message> {
    let Some(SectionsBy::Column { column, .. }) = &job.rules.sections else { return None };
    let mut sections = sites.iter().flat_map(|(_, layout)| &layout.sections).peekable();
    sections.peek()?;
    sections.all(|section| section.name == REST).then(|| {
        let column = Setting::SectionColumn.with(column);
        message!("all URLs are in the section {REST}: no row has another section in ", column)
    })
}
