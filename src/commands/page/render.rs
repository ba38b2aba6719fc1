//! The page: a report as one HTML file without scripts or requests, which prints and has a dark mode.
//!
//! The page shows the report and nothing else, so the page of the JSON of a report equals the page of the run. Its size
//! is bounded for any report: lists are truncated, and each part has a budget of bytes. Charts are a few rectangles of inline
//! SVG; crates for SVG would add a text layout engine, which browsers already have. Every number of a chart is also in a table.

mod advice;
mod charts;
mod html;
mod panels;
mod reasons;
mod sections;
mod segments;
mod summary;
mod table;

use crate::commands::build::report::{Failure, Report};
use html::{Html, MESSAGE_CHARS_MAX, TEXT_CHARS_MAX};
pub use html::{SettingNames, field_name};

/// The subject of a page.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// A run whose lines were counted.
    Run(&'a Report),
    /// A run that failed before its lines were counted.
    Failed(&'a Failure),
    /// A published set. Numbers that its manifest lacks are zero in the report.
    Set {
        /// The report, as far as it is known.
        report: &'a Report,
        /// Whether lines were counted.
        has_lines: bool,
        /// Whether the limit of the protocol is assumed, because the manifest records no limit of URLs.
        assumes_limit: bool,
        /// The part that is not shown, and why.
        notes: &'a [String],
    },
}

/// Renders the page. `names` returns the names of settings.
pub fn page(subject: Subject<'_>, names: SettingNames) -> String {
    let mut html = Html::new(names);
    html.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<meta name=\"color-scheme\" content=\"light dark\">\n")
        .raw("<meta name=\"robots\" content=\"noindex\">\n<title>Sitemap report");
    if let Subject::Run(report) | Subject::Set { report, .. } = subject {
        html.raw(": ").cut(&report.title(), TEXT_CHARS_MAX);
    }
    html.raw("</title>\n<style>\n").raw(include_str!("render/style.css")).raw("</style>\n</head>\n<body>\n");
    match subject {
        Subject::Run(report) => of_report(report, &Known::RUN, &mut html),
        Subject::Set { report, has_lines, assumes_limit, notes } => {
            of_report(report, &Known { is_run: false, has_lines, assumes_limit, notes }, &mut html);
        }
        Subject::Failed(failure) => of_failure(failure, &mut html),
    }
    html.raw("</body>\n</html>\n");
    html.into_string()
}

/// Facts that are not in the report.
struct Known<'a> {
    is_run: bool,
    has_lines: bool,
    assumes_limit: bool,
    notes: &'a [String],
}

impl Known<'_> {
    const RUN: Self = Self { is_run: true, has_lines: true, assumes_limit: false, notes: &[] };
}

fn of_report(report: &Report, known: &Known<'_>, html: &mut Html) {
    let &Known { is_run, has_lines, assumes_limit, notes } = known;
    summary::header(report, is_run, html);
    html.raw("<main>\n");
    summary::messages(report, notes, html);
    summary::headline(report, has_lines, html);
    if has_lines {
        summary::lines(report, html);
    }
    if is_run {
        reasons::rejected(report, html);
        reasons::excluded(report, html);
        reasons::dropped(report, html);
    }
    sections::sections(report, html);
    if let Some(details) = &report.details {
        segments::segments(details, report.listed, html);
        panels::changes(details, report.indexes, html);
        panels::fullness(details, assumes_limit, html);
        panels::history(details, html);
    }
    if is_run {
        panels::time(report, html);
    }
    panels::inputs(report, html);
    panels::settings(report, html);
    html.raw("</main>\n<footer><p>Made by sitemill ").cut(&report.version, 40);
    let origin = match is_run {
        true => ". Every number on this page is also in the JSON report of the run.",
        false => " from the published set.",
    };
    html.raw(origin).raw("</p></footer>\n");
}

fn of_failure(failure: &Failure, html: &mut Html) {
    html.raw("<header><p class=\"kind\">Sitemap report</p>\n<h1>The run failed</h1>\n")
        .raw("<p class=\"meta\"><span class=\"badge bad\">Not published</span> exit code ")
        .number(failure.exit_code.into())
        .raw("</p></header>\n<main>\n<div class=\"message bad\" role=\"note\" aria-label=\"Error\"><p>")
        .cut(&failure.error, MESSAGE_CHARS_MAX);
    if let Some(cause) = &failure.cause {
        html.raw(": ").cut(cause, MESSAGE_CHARS_MAX);
    }
    html.raw(
        "</p></div>\n<p>The run ended before all lines were counted, so there is nothing else to report. ",
    )
    .raw("The set that was live is still live.</p>\n</main>\n");
}
