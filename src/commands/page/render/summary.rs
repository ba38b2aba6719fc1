//! The top of the page: title and state of the run, its four main numbers, and the outcome of its lines.

use super::charts::{Share, bar_cell, divided};
use super::html::{Html, MESSAGE_CHARS_MAX, TEXT_CHARS_MAX};
use super::table;
use super::table::Column::{Bar, Number, Text, Wide};
use crate::commands::build::report::Report;
use crate::commands::build::report::details::SegmentKind;
use crate::error::Setting;

/// Maximum number of notes that are shown.
const NOTES_MAX: usize = 6;

/// Title, state and time.
pub fn header(report: &Report, is_run: bool, html: &mut Html) {
    html.raw("<header><p class=\"kind\">Sitemap report</p>\n<h1>").cut(&report.title(), TEXT_CHARS_MAX);
    html.raw("</h1>\n<p class=\"meta\">");
    let badge = match report.published {
        _ if report.dry_run.is_some() => "<span class=\"badge\">Dry run</span>",
        true if is_run => "<span class=\"badge good\">Published</span>",
        true => "<span class=\"badge good\">Live</span>",
        false => "<span class=\"badge bad\">Not published</span>",
    };
    html.raw(badge);
    if let Some(details) = &report.details {
        html.raw(" ").time(&details.time);
    }
    if report.sitemaps > 0 {
        html.raw(" · ").count(report.sitemaps, " sitemap", " sitemaps").raw(" in ");
        html.count(report.indexes, " index file", " index files");
        if report.also > 0 {
            html.raw(" · ").count(report.also, " sitemap", " sitemaps").raw(" from elsewhere");
        }
        html.raw(" · ").bytes(report.gzip_bytes).raw(" (").bytes(report.xml_bytes).raw(" of XML)");
    }
    html.raw(" · protocol ").cut(&report.protocol, 20).raw("</p></header>\n");
}

/// Maximum number of hints. A build gives fewer, but a report may come from elsewhere.
const HINTS_MAX: usize = 6;

/// Maximum number of warnings that are shown.
const WARNINGS_MAX: usize = 6;

/// Why nothing was published, how to fix it, warnings, and what is not shown.
pub fn messages(report: &Report, notes: &[String], html: &mut Html) {
    if let Some(refused) = &report.refused {
        html.raw("<div class=\"message bad\" role=\"note\" aria-label=\"Why nothing was published\"><p>");
        html.message(refused, MESSAGE_CHARS_MAX).raw("</p></div>\n");
    }
    for hint in report.unsaid_hints().take(HINTS_MAX) {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Hint\"><p><b>Hint.</b> ");
        html.message(hint, MESSAGE_CHARS_MAX / 2).raw("</p></div>\n");
    }
    if report.dry_run.is_some() {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Note\"><p>")
            .raw("This was a dry run: nothing was published. The page shows what the run would have published. Compressed ")
            .raw("bytes are estimates.</p></div>\n");
    }
    if let Some(then) = &report.then {
        let class = if then.exit_code == Some(0) { "message" } else { "message bad" };
        html.raw("<div class=\"")
            .raw(class)
            .raw("\" role=\"note\" aria-label=\"Command after publishing\"><p>");
        html.setting(Setting::Then)
            .raw(": <code>")
            .cut(&then.command.join(" "), MESSAGE_CHARS_MAX / 2)
            .raw("</code> ");
        match then.exit_code {
            Some(code) => _ = html.raw("ended with exit code ").cut(&code.to_string(), 20).raw("."),
            None => _ = html.raw("could not be started."),
        }
        html.raw("</p></div>\n");
    }
    // A command that fails has a message of its own.
    let is_told = report.then.as_ref().is_some_and(|then| then.exit_code != Some(0));
    let warnings = report.warnings.len().saturating_sub(usize::from(is_told));
    for warning in report.warnings.iter().take(warnings.min(WARNINGS_MAX)) {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Warning\"><p><b>Warning.</b> ");
        html.message(warning, MESSAGE_CHARS_MAX / 2).raw("</p></div>\n");
    }
    if let more @ 1.. = warnings.saturating_sub(WARNINGS_MAX) {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Note\"><p>And ")
            .count(more as u64, " more warning", " more warnings")
            .raw("; the JSON report of the run has all of them.</p></div>\n");
    }
    for note in notes.iter().take(NOTES_MAX) {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Note\"><p>");
        html.cut(note, MESSAGE_CHARS_MAX / 2).raw("</p></div>\n");
    }
    if let more @ 1.. = notes.len().saturating_sub(NOTES_MAX) {
        html.raw("<div class=\"message\" role=\"note\" aria-label=\"Note\"><p>And ")
            .count(more as u64, " more note", " more notes")
            .raw("; see <code>sitemill status</code>.</p></div>\n");
    }
}

/// Lines, listed, duplicates and rejected, each with its change.
pub fn headline(report: &Report, has_lines: bool, html: &mut Html) {
    let details = report.details.as_ref();
    let previous = details.and_then(|details| details.previous.as_ref());
    let is_previous_unknown = details.is_some_and(|details| details.is_previous_unknown);
    html.raw("<section aria-label=\"Headline\">\n<dl class=\"cards\">\n");
    let mut card = |name: &'static str, now: u64, before: Option<u64>| {
        html.raw("<div><dt>")
            .raw(name)
            .raw("</dt><dd class=\"figure\">")
            .number(now)
            .raw("</dd><dd class=\"change\">");
        match (before, previous) {
            (Some(before), _) => change(now, before, html),
            (None, Some(_)) => _ = html.raw("previous set not counted"),
            (None, None) if is_previous_unknown => _ = html.raw("previous set not known"),
            (None, None) => _ = html.raw("no previous set"),
        }
        html.raw("</dd></div>\n");
    };
    if has_lines {
        card("Lines", report.lines, previous.and_then(|set| set.lines));
    }
    card("Listed", report.listed, previous.map(|set| set.listed));
    if has_lines {
        card("Duplicates", report.duplicates, previous.and_then(|set| set.duplicates));
        card("Rejected", report.rejected_total(), previous.and_then(|set| set.rejected));
    } else {
        card("Sitemaps", report.sitemaps, previous.map(|set| set.sitemaps));
        card("Compressed bytes", report.gzip_bytes, previous.map(|set| set.gzip_bytes));
    }
    html.raw("</dl>\n");
    if let Some(previous) = previous {
        html.raw("<p class=\"note\">Compared with the set of ").time(&previous.published).raw(".");
        if has_lines && previous.lines.is_none() {
            let segments = details.and_then(|details| details.segments.as_ref());
            html.raw(match segments.is_some_and(|segments| segments.by == SegmentKind::Origin) {
                true => " Lines, duplicates and rejected lines are not recorded for runs of several sites.",
                false => {
                    " Its lines, duplicates and rejected lines are not shown, because only builds with an HTML report record them."
                }
            });
        }
        html.raw("</p>\n");
    }
    html.raw("</section>\n");
}

/// Adds the change from `before` to `now`: `+12 (+1.5 %)`.
pub fn change(now: u64, before: u64, html: &mut Html) {
    if now == before {
        html.raw("unchanged");
        return;
    }
    let sign = if now > before { "+" } else { "\u{2212}" };
    html.raw(sign).number(now.abs_diff(before));
    if before > 0 && now > 0 {
        html.raw(" (").raw(sign).growth(now.abs_diff(before), before);
        html.raw(")");
    }
}

/// Adds the outcome of the lines: a divided bar and a table.
pub fn lines(report: &Report, html: &mut Html) {
    let mut rows = vec![
        ("Listed", "listed", report.listed, "in a sitemap"),
        ("Duplicates", "duplicates", report.duplicates, "the URL is listed from another line"),
        ("Rejected", "rejected", report.rejected_total(), "not a URL that may be listed"),
    ];
    if !report.excluded.is_empty() {
        rows.push(("Excluded", "excluded", report.excluded_total(), "left out by a filter or robots.txt"));
    }
    rows.push(("Blank", "blank", report.blank, "only spaces and tabs"));
    html.raw("<section aria-labelledby=\"lines\">\n<h2 id=\"lines\">Where each line went</h2>\n");
    let share = |&(name, class, count, _): &(_, _, u64, _)| Share { name, class, amount: count as f64 };
    let shares: Vec<_> = rows.iter().map(share).collect();
    divided("Lines by outcome", &shares, html);
    let columns = [Text("Lines"), Number("Count"), Number("Share"), Bar, Wide("Meaning")];
    table::begin("Lines by outcome", "", &columns, html);
    for (name, class, count, meaning) in rows {
        html.raw("<tr><th scope=\"row\"><span class=\"key ").raw(class).raw("\"></span>").raw(name);
        html.raw("</th><td class=\"number\">").number(count).raw("</td><td class=\"number\">");
        html.percent(count, report.lines).raw("</td>");
        bar_cell(class, count, report.lines, html);
        html.raw("<td class=\"wide\">").raw(meaning).raw("</td></tr>\n");
    }
    table::end(html);
    html.raw("</section>\n");
}
