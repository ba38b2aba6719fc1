//! Dropped tags: the limit for their number, and options that would keep them.

use crate::commands::report::Report;
use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::{grouped, plural};
use crate::job::Guards;
use crate::sitemap::tags::{LastmodUnit, TagName, TagReason};

/// Returns a hint for each reason that an option would resolve: what is wrong, how many tags were dropped, and the option.
pub fn hints(report: &Report) -> Vec<Message> {
    let hint = |reason: TagReason| {
        let dropped = *report.dropped_tags.get(reason.as_str())?;
        let given = report.given_tags.get(TagName::Lastmod.as_str()).copied().unwrap_or(0);
        let example = report.examples.iter().find(|example| example.reason == reason.as_str());
        let (what, option): (String, _) = match reason {
            TagReason::LastmodZone => ("has no time zone".into(), Setting::LastmodZone.with("UTC")),
            TagReason::LastmodEpoch => {
                let unit = LastmodUnit::of_number(example?.text.as_bytes())?.as_str();
                (format!("looks like epoch {unit}"), Setting::LastmodUnit.with(unit))
            }
            _ => return None,
        };
        let [dropped, given] = [dropped, given].map(grouped);
        Some(message!("lastmod {what} ({dropped} of {given} dropped); use ", option))
    };
    TagReason::ALL.into_iter().filter_map(hint).collect()
}

/// Compares the dropped tags with `max_dropped_tags`.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the options that let them pass.
pub fn check(guards: &Guards, report: &Report) -> Result<()> {
    let [dropped, given] =
        [&report.dropped_tags, &report.given_tags].map(|counts| counts.values().sum::<u64>());
    let Some(max) = guards.max_dropped_tags.filter(|max| max.is_exceeded(dropped, given)) else {
        return Ok(());
    };
    let way_out = Setting::MaxDroppedTags.with(max.needed(dropped, given));
    let (dropped, given) = (grouped(dropped), plural(given, "tag was", "tags were"));
    let mut why = message!(
        "{dropped} of {given} dropped, but ",
        Setting::MaxDroppedTags,
        " is {max}; nothing was published; "
    );
    for hint in &report.tag_hints {
        why = message!(why, hint, "; ");
    }
    Err(Error::data(message!(why, "to drop the tags, run again with ", way_out)))
}
