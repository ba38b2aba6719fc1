//! Rejected lines and dropped tags: for each reason, their number, how to fix it, and the first examples.

use super::advice::advice;
use super::charts::bar_cell;
use super::html::{Html, MESSAGE_CHARS_MAX, TEXT_CHARS_MAX};
use super::table;
use super::table::Column::{Bar, Number, Text};
use crate::commands::build::report::{Report, WordCounts, most_frequent};
use crate::survey::rejects::Example;

/// Maximum number of reasons that are shown.
const REASONS_MAX: usize = 50;

/// Maximum number of bytes of the table of reasons.
const TABLE_BYTES_MAX: usize = 14 * 1024;

/// Maximum number of bytes of each table of rules.
const RULES_BYTES_MAX: usize = 6 * 1024;

/// Maximum number of bytes of the examples of rejected lines, and of those of dropped tags.
const LINES_BYTES_MAX: usize = 64 * 1024;
const TAGS_BYTES_MAX: usize = 16 * 1024;

/// Maximum number of bytes of the examples of excluded lines.
const EXCLUDED_BYTES_MAX: usize = 16 * 1024;

/// Maximum number of characters of a reason.
const WORD_CHARS_MAX: usize = 40;

/// Number of examples that are always visible; the others are collapsed.
const EXAMPLES_OPEN: usize = 3;

/// Rejected lines.
pub fn rejected(report: &Report, html: &mut Html) {
    if report.rejected.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"rejected\">\n<h2 id=\"rejected\">Rejected lines</h2>\n");
    by_reason("Rejected lines by reason", "Lines", "rejected", &report.rejected, html);
    all_examples(&report.rejected, report, LINES_BYTES_MAX, html);
    if !report.out_of_scope.is_empty() {
        html.raw("<p class=\"note\">Out of scope by origin: ")
            .cut(&report.out_of_scope_words(), MESSAGE_CHARS_MAX);
        html.raw("</p>\n");
    }
    html.raw("</section>\n");
}

/// Lines that rules leave out, and how often rules included and rewrote URLs.
pub fn excluded(report: &Report, html: &mut Html) {
    if report.excluded_total() > 0 {
        html.raw("<section aria-labelledby=\"excluded\">\n<h2 id=\"excluded\">Excluded lines</h2>\n");
        html.raw("<p class=\"note\">The filters of this run leave out these URLs. The most frequent rules are shown; the JSON ")
            .raw("report has all of them, and the reject file has every line.</p>\n");
        by_rule("Excluded lines by rule", "excluded", &report.excluded, html);
        examples_of_rules(report, html);
        html.raw("</section>\n");
    }
    if !report.included.is_empty() {
        html.raw("<section aria-labelledby=\"included\">\n<h2 id=\"included\">Included lines</h2>\n");
        by_rule("Accepted lines by the first pattern that includes them", "listed", &report.included, html);
        html.raw("</section>\n");
    }
    if !report.rewritten.is_empty() {
        html.raw("<section aria-labelledby=\"rewritten\">\n<h2 id=\"rewritten\">Rewritten lines</h2>\n");
        by_rule("Accepted lines by the rule that has rewritten their URL", "listed", &report.rewritten, html);
        html.raw("</section>\n");
    }
}

/// Dropped tags.
pub fn dropped(report: &Report, html: &mut Html) {
    if report.dropped_tags.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"dropped\">\n<h2 id=\"dropped\">Dropped tags</h2>\n")
        .raw("<p class=\"note\">The URLs of these tags are listed without them.</p>\n");
    by_reason("Dropped tags by reason", "Tags", "duplicates", &report.dropped_tags, html);
    all_examples(&report.dropped_tags, report, TAGS_BYTES_MAX, html);
    html.raw("</section>\n");
}

/// The reasons, the most frequent first.
fn sorted(counts: &WordCounts) -> Vec<(&str, u64)> {
    let mut reasons = most_frequent(counts);
    reasons.truncate(REASONS_MAX);
    reasons
}

/// A table of the reasons.
fn by_reason(
    name: &'static str,
    unit: &'static str,
    class: &'static str,
    counts: &WordCounts,
    html: &mut Html,
) {
    by_word(name, ["Reason", unit, class], counts, [TABLE_BYTES_MAX, WORD_CHARS_MAX], html);
}

/// A table of rules, and of the number of lines that each applied to.
fn by_rule(name: &'static str, class: &'static str, counts: &WordCounts, html: &mut Html) {
    by_word(name, ["Rule", "Lines", class], counts, [RULES_BYTES_MAX, TEXT_CHARS_MAX], html);
}

/// A table of words with their counts, the most frequent first, of about `bytes_max` bytes. Words are cut after `chars_max`
/// characters.
fn by_word(
    name: &'static str,
    [what, unit, class]: [&'static str; 3],
    counts: &WordCounts,
    [bytes_max, chars_max]: [usize; 2],
    html: &mut Html,
) {
    let all = counts.values().sum();
    let end = html.len() + bytes_max;
    table::begin(name, "", &[Text(what), Number(unit), Number("Share"), Bar], html);
    for (word, count) in sorted(counts) {
        if html.len() > end {
            break;
        }
        html.raw("<tr><th scope=\"row\"><code>")
            .cut(word, chars_max)
            .raw("</code></th><td class=\"number\">");
        html.number(count).raw("</td><td class=\"number\">").percent(count, all).raw("</td>");
        bar_cell(class, count, all, html);
        html.raw("</tr>\n");
    }
    table::end(html);
}

/// Adds, for each reason, how to fix it and its first examples: at most about `bytes_max` bytes.
fn all_examples(counts: &WordCounts, report: &Report, bytes_max: usize, html: &mut Html) {
    let end = html.len() + bytes_max;
    let reasons = sorted(counts);
    for (at, &(word, count)) in reasons.iter().enumerate() {
        if html.len() > end {
            break;
        }
        // Long examples of one reason leave room for those of the others.
        let end = html.len() + (end - html.len()) / (reasons.len() - at);
        html.raw("<h3><code>").cut(word, WORD_CHARS_MAX).raw("</code></h3>\n<p class=\"advice\">");
        let unknown = || "This version of sitemill does not know this reason.".into();
        html.message(&advice(word).unwrap_or_else(unknown), MESSAGE_CHARS_MAX).raw("</p>\n");
        examples_of(&examples_with(word, report), count, end, html);
    }
}

/// Adds the first examples of each rule that excludes lines, if there are any.
fn examples_of_rules(report: &Report, html: &mut Html) {
    let end = html.len() + EXCLUDED_BYTES_MAX;
    let rules = sorted(&report.excluded);
    let mut with_examples: Vec<_> =
        rules.into_iter().map(|(rule, count)| (rule, count, examples_with(rule, report))).collect();
    with_examples.retain(|(.., examples)| !examples.is_empty());
    let rules = with_examples.len();
    for (at, (rule, count, examples)) in with_examples.into_iter().enumerate() {
        if html.len() > end {
            break;
        }
        let end = html.len() + (end - html.len()) / (rules - at);
        html.raw("<h3><code>").cut(rule, TEXT_CHARS_MAX).raw("</code></h3>\n");
        examples_of(&examples, count, end, html);
    }
}

/// The examples of a reason or of a rule.
fn examples_with<'r>(word: &str, report: &'r Report) -> Vec<&'r Example> {
    let details = report.details.as_ref().map(|details| &details.examples);
    let all = details.filter(|all| !all.is_empty()).unwrap_or(&report.examples);
    all.iter().filter(|example| example.reason == word).collect()
}

/// Adds examples of `count` lines. The first ones are always visible.
fn examples_of(all: &[&Example], count: u64, end: usize, html: &mut Html) {
    if all.is_empty() {
        return;
    }
    let (open, folded) = all.split_at(all.len().min(EXAMPLES_OPEN));
    list(open, end, html);
    if !folded.is_empty() && html.len() < end {
        html.raw("<details><summary>").number(folded.len() as u64).raw(" more of ").number(count);
        html.raw("</summary>\n");
        list(folded, end, html);
        html.raw("</details>\n");
    }
}

fn list(examples: &[&Example], end: usize, html: &mut Html) {
    html.raw("<ul class=\"examples\">\n");
    for example in examples {
        if html.len() > end {
            break;
        }
        html.raw("<li><code>").cut(&example.text, TEXT_CHARS_MAX).raw("</code> <span class=\"place\">");
        html.cut(&example.input, TEXT_CHARS_MAX / 2)
            .raw(":")
            .text(&example.line.to_string())
            .raw("</span></li>\n");
    }
    html.raw("</ul>\n");
}
