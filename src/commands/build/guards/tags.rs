//! Dropped tags: the limit for their number, and options that would keep them.

use serde_json::Value;

use crate::commands::build::report::{Report, WordCounts};
use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::unescape;
use crate::job::{Guards, Job};
use crate::sitemap::tags::{LastmodUnit, TagName, TagReason, is_compact_date, is_zone_name};
use crate::words::{grouped, plural};

/// Returns a hint for each reason that an option would resolve: what is wrong with the first such value, how many tags were dropped
/// for this reason, and the option. Other values may have other faults.
pub fn hints(job: &Job, report: &Report) -> Vec<Message> {
    let has_unit = job.rules.tags.lastmod.unit != LastmodUnit::Text;
    let hint = |reason: TagReason| {
        let dropped = *report.dropped_tags.get(reason.as_str())?;
        let given = count(&report.given_tags, TagName::Lastmod.as_str());
        let first = &*report.examples.iter().find(|example| example.reason == reason.as_str())?.text;
        let (what, way_out) = match reason {
            TagReason::LastmodZone => of_zone(job, first),
            // Another unit would drop the tags that are read in this one.
            TagReason::LastmodEpoch if has_unit && dropped * 2 <= given => return None,
            TagReason::LastmodEpoch => {
                let unit = LastmodUnit::of_number(first.as_bytes())?.as_str();
                (format!("looks like epoch {unit}"), message!(Setting::LastmodUnit.with(unit)))
            }
            TagReason::Lastmod => of_no_date(report, first)?,
            _ => return None,
        };
        let ([dropped, given], reason) = ([dropped, given].map(grouped), reason.as_str());
        Some(message!("lastmod {first} {what} ({dropped} of {given} dropped as {reason}); use ", way_out))
    };
    TagReason::ALL.into_iter().filter_map(hint).collect()
}

/// What is wrong with the time `text` without a known zone, and what to use.
fn of_zone(job: &Job, text: &str) -> (String, Message) {
    let name = text.rsplit(' ').next().filter(|name| is_zone_name(name.as_bytes()));
    let Some(name) = name else {
        return ("has no time zone".into(), message!(Setting::LastmodZone.with("UTC")));
    };
    match &job.rules.tags.lastmod.zone {
        None => (
            format!("has the name of a zone, {name}, and not its offset from UTC"),
            message!(Setting::LastmodZone, " with the zone, such as Europe/Moscow for MSK"),
        ),
        Some(zone) => (
            format!("has the name of a zone, {name}, which is not in use in {zone} at that time"),
            message!(Setting::LastmodZone, " with the zone that has this name then, or write the offset"),
        ),
    }
}

/// What is wrong with `text`, which is no date, and what to use, if it is known.
fn of_no_date(report: &Report, text: &str) -> Option<(String, Message)> {
    Some(match text {
        // Digits may have been cut off, so the number is not read.
        text if has_exponent(text) => ("has an exponent".into(), message!("CAST(lastmod AS BIGINT)")),
        text if is_compact_date(text.as_bytes()) => ("looks like YYYYMMDD".into(), message!("YYYY-MM-DD")),
        text if is_null(text) => ("is a missing value".into(), message!("COALESCE(lastmod, '')")),
        text => {
            let below = only_path(text)?;
            let setting = report.inputs.iter().find_map(|input| input.setting_below("lastmod", &below))?;
            ("is a JSON object".into(), message!(setting))
        }
    })
}

/// Whether `text` is a number such as `1.7145504E9`, as Java writes floating point numbers from ten million on.
fn has_exponent(text: &str) -> bool {
    text.contains(['e', 'E']) && text.trim().parse().is_ok_and(f64::is_finite)
}

/// Whether `text` is how the clients of databases show a missing value in tab-separated rows.
fn is_null(text: &str) -> bool {
    text.trim() == "NULL"
}

/// The dotted path to the only value in the JSON object `text`, such as `$date` in `{"$date":"2024-05-01"}`; `None` if `text` is
/// anything else.
fn only_path(text: &str) -> Option<String> {
    let mut value: Value = serde_json::from_slice(&unescape(text.as_bytes())).ok()?;
    let mut keys = Vec::new();
    while let Value::Object(object) = value {
        let mut members = object.into_iter();
        let (Some((key, inner)), None) = (members.next(), members.next()) else { return None };
        keys.push(key);
        value = inner;
    }
    (!keys.is_empty()).then(|| keys.join("."))
}

/// Compares the dropped tags with `max_dropped_tags`.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data), with the numbers and the options that let them pass.
pub fn check(guards: &Guards, report: &Report) -> Result<()> {
    let (dropped, given) = (tags_with_losses(report), report.given_tags.values().sum());
    let Some(max) = guards.max_dropped_tags.filter(|max| max.is_exceeded(dropped, given)) else {
        return Ok(());
    };
    let way_out = Setting::MaxDroppedTags.with(max.needed(dropped, given));
    let (dropped, given) = (grouped(dropped), plural(given, "tag was", "tags were"));
    let of_field =
        |reason: &TagReason| reason.is_of_field() && count(&report.dropped_tags, reason.as_str()) > 0;
    let happened = if TagReason::ALL.iter().any(of_field) { "dropped or lost fields" } else { "dropped" };
    let mut why = message!(
        "{dropped} of {given} {happened}, but ",
        Setting::MaxDroppedTags,
        " is {max}; nothing was published; "
    );
    for hint in &report.tag_hints {
        why = message!(why, hint, "; ");
    }
    Err(Error::data(message!(why, "to drop the tags, run again with ", way_out)))
}

/// The number of tags that were dropped, or written without some of their fields. A value that lost several fields is one tag, so
/// there are no more than were given.
fn tags_with_losses(report: &Report) -> u64 {
    let of_tag = |name: TagName| {
        let reasons = TagReason::ALL.into_iter().filter(|reason| reason.tag() == name);
        let losses: u64 = reasons.map(|reason| count(&report.dropped_tags, reason.as_str())).sum();
        losses.min(count(&report.given_tags, name.as_str()))
    };
    TagName::ALL.into_iter().map(of_tag).sum()
}

fn count(counts: &WordCounts, word: &str) -> u64 {
    counts.get(word).copied().unwrap_or(0)
}
