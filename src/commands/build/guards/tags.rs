//! Dropped tags: the limit for their number, and options that would keep them.

use crate::commands::report::Report;
use crate::error::{Error, Result};
use crate::escape::grouped;
use crate::job::Guards;
use crate::sitemap::tags::{LastmodUnit, TagName, TagReason};

/// Returns a hint for each reason that an option would resolve: what is wrong, how many tags were dropped, and the option.
pub fn hints(report: &Report) -> Vec<String> {
    let hint = |reason: TagReason| {
        let dropped = *report.dropped_tags.get(reason.as_str())?;
        let given = report.given_tags.get(TagName::Lastmod.as_str()).copied().unwrap_or(0);
        let example = report.examples.iter().find(|example| example.reason == reason.as_str());
        let (what, option) = match reason {
            TagReason::LastmodZone => ("has no time zone".into(), "--lastmod-zone UTC".into()),
            TagReason::LastmodEpoch => {
                let unit = LastmodUnit::of_number(example?.text.as_bytes())?.as_str();
                (format!("looks like epoch {unit}"), format!("--lastmod-unit {unit}"))
            }
            _ => return None,
        };
        Some(format!("lastmod {what} ({} of {} dropped); use {option}", grouped(dropped), grouped(given)))
    };
    TagReason::ALL.into_iter().filter_map(hint).collect()
}

/// Holds the dropped tags against `--max-dropped-tags`.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the options that let them pass.
pub fn check(guards: &Guards, report: &Report) -> Result<()> {
    let [dropped, given] =
        [&report.dropped_tags, &report.given_tags].map(|counts| counts.values().sum::<u64>());
    let Some(max) = guards.max_dropped_tags.filter(|max| max.is_passed(dropped, given)) else {
        return Ok(());
    };
    let needed = max.needed(dropped, given);
    let hints: String = report.tag_hints.iter().map(|hint| format!("{hint}; ")).collect();
    Err(Error::data(format!(
        "{dropped} of {given} tags were dropped, and --max-dropped-tags is {max}; nothing was published; {hints}if \
         that is meant, run again with --max-dropped-tags {needed}"
    )))
}
