//! Messages about inputs.

use std::collections::{BTreeMap, HashSet};

use serde_json::json;
use sitemill::Report;
use sitemill::escape;
use sitemill::options::UrlRules;
use sitemill::report::{InputReport, Skipped};
use sitemill::words::{and_more, grouped, plural};

use super::table::Table;
use super::{flags, log};

/// Maximum number of names in a message; the rest are counted.
const NAMES_SHOWN: usize = 3;
const COLUMNS_SHOWN: usize = 8;

/// Maximum number of hints in the summary; the rest are counted.
const HINTS_SHOWN: usize = 8;

/// Stands for all names that an input has beyond those that the report keeps.
const OTHERS: &str = "…";

/// Warns about files in input directories that were not read, except markers and sitemaps of earlier sets.
pub fn warn_of_skipped(skipped: &[Skipped]) {
    let skipped: Vec<_> = skipped.iter().filter(|skipped| !skipped.is_usual).collect();
    if !skipped.is_empty() {
        let names = skipped.iter().map(|skipped| format!("{} ({})", skipped.path, skipped.reason));
        let count = plural(skipped.len() as u64, "path", "paths");
        let words = format!("skipped {count} in input directories: {}", first_of(names, NAMES_SHOWN, true));
        log::warning_with(&words, json!({ "skipped": skipped.len() }));
    }
}

/// Warns if news articles are too old to be news.
pub fn warn_of_old_news(articles: u64) {
    if articles > 0 {
        let count = plural(articles, "news article is", "news articles are");
        let words =
            format!("{count} older than two days; news sitemaps are for articles of the last two days");
        log::warning_with(&words, json!({ "old_news": articles }));
    }
}

/// Warns if a robots.txt has no rule for the crawler, or is longer than crawlers read.
pub fn warn_of_robots(rules: &UrlRules) {
    let Some(robots) = &rules.robots else { return };
    let path = escape::shown(robots.source().as_os_str().as_encoded_bytes());
    if robots.is_empty() {
        let why = "has no rules for this crawler, or only an empty Disallow, so it excludes no URLs";
        log::warning(&format!("{path}: {why}"));
    }
    if robots.is_cut() {
        log::warning(&format!("{path}: only the first 500 KiB are read, as crawlers do; shorten the file"));
    }
}

/// Advice about lines that are not UTF-8.
pub fn non_utf8(lines: u64) -> String {
    let whose = if lines == 1 { "its" } else { "their" };
    let lines = plural(lines, "line is", "lines are");
    format!(
        "{lines} not UTF-8: {whose} bytes were percent-encoded as is; --input-encoding NAME converts them"
    )
}

/// Adds the rows of the summary about inputs: their number, and the columns and elements that are not in the set.
pub fn rows(report: &Report, table: &mut Table) {
    let inputs = report.inputs.iter().map(|input| {
        let packing = input.packing.as_ref().map_or_else(String::new, |packing| format!(", {packing}"));
        format!("{} ({}{packing})", input.path, input.format)
    });
    table.row("inputs", grouped(report.inputs.len() as u64), first_of(inputs, NAMES_SHOWN, true));

    let (columns, elements) = not_carried_over(report);
    if !columns.is_empty() {
        let (names, are_all) = kept(columns.iter().map(|&name| (name, name.to_owned())));
        let number = grouped(names.len() as u64) + if are_all { "" } else { "+" };
        let names = first_of(names.into_iter(), COLUMNS_SHOWN, are_all);
        table.row("columns", number, format!("not used: {names}"));
    }
    if !elements.is_empty() {
        let counted = elements.iter().map(|(&name, count)| (name, format!("{} {name}", grouped(*count))));
        let (names, are_all) = kept(counted);
        let number = grouped(elements.values().sum());
        let names = first_of(names.into_iter(), COLUMNS_SHOWN, are_all);
        table.row("elements", number, format!("not carried over: {names}"));
    }
}

/// The words for names that the report keeps, and whether these are all.
fn kept<'a>(words: impl Iterator<Item = (&'a str, String)>) -> (Vec<String>, bool) {
    let mut are_all = true;
    let kept = words.filter(|(name, _)| {
        are_all &= *name != OTHERS;
        *name != OTHERS
    });
    (kept.map(|(_, words)| words).collect(), are_all)
}

/// The first of the different hints of all inputs, and how many others there are. Left out are those whose advice the hint about
/// rejected lines gives.
pub fn hints(report: &Report) -> Vec<String> {
    let mut hints: Vec<String> =
        (report.non_utf8_lines > 0).then(|| non_utf8(report.non_utf8_lines)).into_iter().collect();
    let said = report.hint.as_ref().map(flags::text).unwrap_or_default();
    let is_said =
        |hint: &str| hint.split_once(" are rejected: ").is_some_and(|(_, advice)| said.ends_with(advice));
    let mut known = HashSet::new();
    let of_inputs = report.inputs.iter().flat_map(InputReport::hints).map(|hint| flags::text(&hint));
    hints.extend(of_inputs.filter(|hint| !is_said(hint) && known.insert(hint.clone())));
    let others = hints.split_off(hints.len().min(HINTS_SHOWN)).len() as u64;
    if others > 0 {
        hints.push(format!("and {} about inputs; see --report", plural(others, "more hint", "more hints")));
    }
    hints
}

/// The unused columns of all inputs, and the number of each element that is not carried over.
pub fn not_carried_over(report: &Report) -> (Vec<&str>, BTreeMap<&str, u64>) {
    let (mut columns, mut elements) = (Vec::new(), BTreeMap::new());
    for input in &report.inputs {
        let unused = input.columns.iter().flat_map(|columns| &columns.unused);
        unused.for_each(|name| {
            if !columns.contains(&name.as_str()) {
                columns.push(name)
            }
        });
        let dropped = input.dropped_elements.iter();
        dropped.for_each(|(name, count)| *elements.entry(name.as_str()).or_insert(0) += count);
    }
    (columns, elements)
}

/// The first of `words`, and the number of the others, which is only the least one unless these `are_all`.
fn first_of(words: impl ExactSizeIterator<Item = String>, shown_max: usize, are_all: bool) -> String {
    let more = words.len().saturating_sub(shown_max);
    let more = match are_all {
        true => and_more(more),
        false => format!(" and at least {} more", grouped(more as u64 + 1)),
    };
    words.take(shown_max).collect::<Vec<_>>().join(", ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_report_does_not_keep_are_not_counted_as_one() {
        let shown = |names: &[&str]| {
            let (words, are_all) = kept(names.iter().map(|&name| (name, name.to_owned())));
            first_of(words.into_iter(), 2, are_all)
        };
        for (names, want) in [
            (&["a", "b"][..], "a, b"),
            (&["a", "b", "c"], "a, b and 1 more"),
            (&["a", "b", "c", OTHERS], "a, b and at least 2 more"),
            (&["a", OTHERS], "a and at least 1 more"),
        ] {
            assert_eq!(shown(names), want);
        }
    }
}
