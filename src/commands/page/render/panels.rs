//! The panels of the page below the segments: files, fullness, trend, time, inputs and settings.

use super::charts::{Share, bar_cell, columns, divided};
use super::html::{Html, TEXT_CHARS_MAX};
use super::summary::change;
use super::table;
use super::table::Column::{self, Bar, Extra, Number, Text, Wide};
use crate::commands::build::report::Report;
use crate::commands::build::report::details::{Details, HISTORY_MAX, PastSet};
use crate::commands::build::report::settings::setting_of;
use crate::error::Setting;
use crate::intake::report::InputReport;
use crate::set::name::robots_file;
use crate::words::{grouped, plural};

/// Maximum number of bytes of the inputs, and of the settings.
const LIST_BYTES_MAX: usize = 20 * 1024;

/// Number of sets in the table of the trend.
const SETS_MAX: usize = 20;

/// The columns of the table of fullness.
const TENTHS: [Column; 11] = [
    Text("Up to %"),
    Number("10"),
    Number("20"),
    Number("30"),
    Number("40"),
    Number("50"),
    Number("60"),
    Number("70"),
    Number("80"),
    Number("90"),
    Number("100"),
];

/// The sitemaps that crawlers must fetch.
pub fn changes(details: &Details, indexes: u64, html: &mut Html) {
    let Some(changes) = &details.changes else { return };
    let all = changes.new_sitemaps + changes.kept_sitemaps;
    html.raw("<section aria-labelledby=\"files\">\n<h2 id=\"files\">What crawlers must fetch</h2>\n<p class=\"note\">");
    if details.is_previous_unknown {
        html.raw(
            "The previous set is no longer kept, or its manifest is lost or damaged, so it is not known which sitemaps are new.",
        )
        .raw("</p>\n</section>\n");
        return;
    }
    match (changes.new_sitemaps, details.previous.is_some()) {
        _ if all + indexes == 0 => {
            _ = html.raw("The set is empty: there are no sitemaps and no index files.")
        }
        (0, true) => _ = html.raw("No sitemap is new; crawlers fetch only the index files."),
        (new, true) => {
            html.number(new)
                .raw(" of ")
                .number(all)
                .raw(if new == 1 { " sitemaps is new: " } else { " sitemaps are new: " })
                .bytes(changes.new_bytes)
                .raw(" of ");
            html.bytes(changes.new_bytes + changes.kept_bytes).raw(" compressed.");
        }
        (_, false) => _ = html.raw("There is no previous set, so all sitemaps are new."),
    }
    html.raw("</p>\n");
    let columns = [Text("Sitemaps"), Number("Count"), Number("Compressed"), Bar];
    table::begin("New, kept and removed sitemaps", "", &columns, html);
    let most = all.max(changes.removed_sitemaps);
    for (name, class, count, bytes) in [
        ("New", "new", changes.new_sitemaps, Some(changes.new_bytes)),
        ("Kept", "listed", changes.kept_sitemaps, Some(changes.kept_bytes)),
        ("Removed", "blank", changes.removed_sitemaps, None),
    ] {
        html.raw("<tr><th scope=\"row\"><span class=\"key ").raw(class).raw("\"></span>").raw(name);
        html.raw("</th><td class=\"number\">").number(count).raw("</td><td class=\"number\">");
        bytes.into_iter().for_each(|bytes| _ = html.bytes(bytes));
        html.raw("</td>");
        bar_cell(class, count, most, html);
        html.raw("</tr>\n");
    }
    table::end(html);
    html.raw("</section>\n");
}

/// How full the sitemaps are.
pub fn fullness(details: &Details, assumes_limit: bool, html: &mut Html) {
    let Some(fullness) = &details.fullness else { return };
    html.raw("<section aria-labelledby=\"fullness\">\n<h2 id=\"fullness\">How full the sitemaps are</h2>\n")
        .raw("<p class=\"note\">Sitemaps by the share of each limit that they use: at most ");
    html.number(fullness.urls_max).raw(" URLs and ").bytes(fullness.bytes_max).raw(" of XML.");
    if assumes_limit {
        html.raw(
            " The set does not record the limit of URLs of its build, so the limit of the protocol is shown.",
        );
    }
    html.raw("</p>\n<div class=\"pair\">\n");
    let titled = |counts: &[u64; 10]| -> Vec<(u64, String)> {
        let title = |(at, &count): (usize, &u64)| {
            (count, format!("{} to {} %: {}", at * 10, at * 10 + 10, grouped(count)))
        };
        counts.iter().enumerate().map(title).collect()
    };
    for (id, caption, name, counts) in [
        ("by-urls", "Share of the URL limit", "Sitemaps by share of the URL limit", &fullness.urls),
        ("by-bytes", "Share of the byte limit", "Sitemaps by share of the byte limit", &fullness.bytes),
    ] {
        html.raw("<figure aria-labelledby=\"").raw(id).raw("\">\n");
        columns(name, &titled(counts), html);
        html.raw("<div class=\"scale\" aria-hidden=\"true\"><span>0</span><span>50\u{202f}%</span><span>100\u{202f}%</span></div>")
            .raw("<figcaption id=\"").raw(id).raw("\">")
            .raw(caption)
            .raw("; the tallest column is ");
        let most = counts.iter().copied().max().unwrap_or(0);
        html.count(most, " sitemap", " sitemaps").raw("</figcaption></figure>\n");
    }
    html.raw("</div>\n");
    table::begin("Sitemaps by fullness", "dense", &TENTHS, html);
    for (name, counts) in [("URLs", &fullness.urls), ("Bytes", &fullness.bytes)] {
        html.raw("<tr><th scope=\"row\">").raw(name).raw("</th>");
        counts.iter().for_each(|&count| _ = html.raw("<td class=\"number\">").number(count).raw("</td>"));
        html.raw("</tr>\n");
    }
    table::end(html);
    html.raw("</section>\n");
}

/// The trend over the kept sets.
pub fn history(details: &Details, html: &mut Html) {
    let sets = &details.history[details.history.len().saturating_sub(HISTORY_MAX)..];
    if sets.len() < 2 {
        return;
    }
    html.raw("<section aria-labelledby=\"trend\">\n<h2 id=\"trend\">Trend</h2>\n<p class=\"note\">URLs of the sets that are kept, ")
        .raw("the oldest first. ");
    html.setting(Setting::Keep).raw(" and ").setting(Setting::KeepSets);
    html.raw(" decide how many there are.</p>\n<figure class=\"trend\" aria-labelledby=\"by-set\">\n");
    let time = |set: &PastSet| set.published.chars().take(40).collect::<String>();
    let title = |set: &PastSet| (set.listed, format!("{}: {}", time(set), plural(set.listed, "URL", "URLs")));
    let all: Vec<_> = sets.iter().map(title).collect();
    columns("URLs of each kept set, the oldest first", &all, html);
    let [first, last] = [&sets[0], &sets[sets.len() - 1]];
    html.raw("<div class=\"scale\" aria-hidden=\"true\"><span>").time(&first.published).raw("</span><span>");
    html.time(&last.published).raw("</span></div><figcaption id=\"by-set\">");
    let most = sets.iter().map(|set| set.listed).max().unwrap_or(0);
    html.raw("URLs of each set; the tallest column is ").number(most).raw("</figcaption></figure>\n");
    let columns =
        [Text("Published"), Number("URLs"), Number("Change"), Extra("Sitemaps"), Extra("Compressed")];
    table::begin("Kept sets, the latest first", "", &columns, html);
    for (at, set) in sets.iter().enumerate().rev().take(SETS_MAX) {
        html.raw("<tr><th scope=\"row\">").time(&set.published).raw("</th><td class=\"number\">");
        html.number(set.listed).raw("</td><td class=\"number\">");
        if let Some(before) = at.checked_sub(1).map(|before| &sets[before]) {
            change(set.listed, before.listed, html);
        }
        html.raw("</td><td class=\"number extra\">")
            .number(set.sitemaps)
            .raw("</td><td class=\"number extra\">");
        html.bytes(set.gzip_bytes).raw("</td></tr>\n");
    }
    table::end(html);
    html.raw("</section>\n");
}

/// Time by phase.
pub fn time(report: &Report, html: &mut Html) {
    let seconds = report.seconds;
    let phases = [
        ("Survey", "survey", seconds.survey, "reads and judges every line, finds duplicates"),
        ("Produce", "produce", seconds.produce, "renders and compresses the sitemaps"),
        ("Publish", "publish", seconds.publish, "index files, and the switch to the new set"),
    ];
    html.raw("<section aria-labelledby=\"time\">\n<h2 id=\"time\">Time</h2>\n<p class=\"note\">");
    html.seconds(seconds.total).raw(" on ").count(report.threads, " thread", " threads").raw(": ");
    html.number((report.lines as f64 / seconds.total.max(1e-3)) as u64).raw(" lines per second.</p>\n");
    let shares = phases.map(|(name, class, amount, _)| Share { name, class, amount: amount.max(0.0) });
    if shares.iter().any(|share| share.amount > 0.0) {
        divided("Time of survey, produce and publish", &shares, html);
    }
    let columns = [Text("Phase"), Number("Time"), Number("Share"), Wide("Work")];
    table::begin("Time by phase", "", &columns, html);
    let millis = |seconds: f64| (seconds.max(0.0) * 1e3) as u64;
    for (name, class, time, work) in phases {
        html.raw("<tr><th scope=\"row\"><span class=\"key ").raw(class).raw("\"></span>").raw(name);
        html.raw("</th><td class=\"number\">").seconds(time).raw("</td><td class=\"number\">");
        html.percent(millis(time), millis(seconds.total))
            .raw("</td><td class=\"wide\">")
            .raw(work)
            .raw("</td></tr>\n");
    }
    table::end(html);
    html.raw("</section>\n");
}

/// Inputs with their format, lines and columns.
pub fn inputs(report: &Report, html: &mut Html) {
    if report.inputs.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"inputs\">\n<h2 id=\"inputs\">Inputs</h2>\n");
    let columns = [Text("Input"), Text("Format"), Number("Lines"), Number("Size"), Wide("Columns")];
    table::begin("Inputs with format, lines, size and columns", "", &columns, html);
    let end = html.len() + LIST_BYTES_MAX;
    let mut left = report.inputs.len() as u64;
    for input in &report.inputs {
        if html.len() > end {
            break;
        }
        row_of_input(input, html);
        left -= 1;
    }
    table::end(html);
    if left > 0 {
        html.raw("<p class=\"note\">And ").count(left, " more input", " more inputs").raw(".</p>\n");
    }
    if !report.skipped.is_empty() {
        html.raw("<p class=\"note\">").count(
            report.skipped.len() as u64,
            " file of input directories was not read: <code>",
            " files of input directories were not read, such as <code>",
        );
        html.cut(&report.skipped[0].path, TEXT_CHARS_MAX)
            .raw("</code> (")
            .cut(&report.skipped[0].reason, 60)
            .raw(").</p>\n");
    }
    html.raw("</section>\n");
}

fn row_of_input(input: &InputReport, html: &mut Html) {
    html.raw("<tr><th scope=\"row\"><code>")
        .cut(&input.path, TEXT_CHARS_MAX)
        .raw("</code></th><td>")
        .cut(&input.format, 20);
    if let Some(packing) = &input.packing {
        html.raw(", ").cut(packing, 20);
    }
    html.raw("</td><td class=\"number\">")
        .number(input.lines)
        .raw("</td><td class=\"number\">")
        .bytes(input.bytes);
    html.raw("</td><td class=\"wide\">");
    if let Some(columns) = &input.columns {
        let used: Vec<_> = columns.used.iter().map(|(part, name)| format!("{part} = {name}")).collect();
        html.cut(&used.join(", "), TEXT_CHARS_MAX * 2);
        if !columns.unused.is_empty() {
            html.raw("; not used: ").cut(&columns.unused.join(", "), TEXT_CHARS_MAX);
        }
    }
    if !input.dropped_elements.is_empty() {
        let names: Vec<_> = input.dropped_elements.keys().map(String::as_str).collect();
        html.raw(" elements not carried over: ").cut(&names.join(", "), TEXT_CHARS_MAX);
    }
    html.raw("</td></tr>\n");
}

/// Options, and the index files for robots.txt.
pub fn settings(report: &Report, html: &mut Html) {
    let end = html.len() + LIST_BYTES_MAX;
    if let Some(details) = report.details.as_ref().filter(|details| !details.settings.is_empty()) {
        html.raw("<section aria-labelledby=\"settings\">\n<h2 id=\"settings\">Settings</h2>\n<dl class=\"settings\">\n");
        for (option, value) in &details.settings {
            if html.len() > end {
                break;
            }
            html.raw("<div><dt>");
            match setting_of(option) {
                Some(setting) => html.setting(setting),
                None => html.raw("<code>").cut(option, 60).raw("</code>"),
            };
            html.raw("</dt><dd>").cut(value, TEXT_CHARS_MAX).raw("</dd></div>\n");
        }
        html.raw("</dl>\n</section>\n");
    }
    if report.index_urls.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"robots\">\n<h2 id=\"robots\">For robots.txt</h2>\n<pre tabindex=\"0\" aria-label=\"Lines for robots.txt\">");
    for url in report.index_urls.iter().take(10) {
        html.raw("Sitemap: ").cut(url, TEXT_CHARS_MAX).raw("\n");
    }
    html.raw("</pre>\n");
    if let more @ 1.. = report.index_urls.len().saturating_sub(10) {
        html.raw("<p class=\"note\">And ")
            .number(more as u64)
            .raw(" more; see <code>")
            .text(&robots_file(report.name.as_ref()))
            .raw("</code>.</p>\n");
    }
    html.raw("</section>\n");
}
