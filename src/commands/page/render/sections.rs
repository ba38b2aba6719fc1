//! The sections of a set: what each lists, and in how many files.

use super::charts::bar_cell;
use super::html::{Html, TEXT_CHARS_MAX};
use super::table;
use super::table::Column::{Bar, Extra, Number, Text};
use crate::commands::build::report::{Report, SectionSummary};

/// Maximum number of sections that are shown.
const SECTIONS_MAX: usize = 30;

/// Maximum number of bytes of the table.
const TABLE_BYTES_MAX: usize = 8 * 1024;

/// A table of the sections in the order in which they are listed.
pub fn sections(report: &Report, html: &mut Html) {
    if report.sections.is_empty() {
        return;
    }
    html.raw("<section aria-labelledby=\"sections\">\n<h2 id=\"sections\">Sections</h2>\n")
        .raw("<p class=\"note\">Each section has sitemaps and index files of its own.</p>\n");
    let columns =
        [Text("Section"), Number("URLs"), Number("Share"), Bar, Number("Sitemaps"), Extra("Compressed")];
    table::begin("Sections of the set", "", &columns, html);
    let end = html.len() + TABLE_BYTES_MAX;
    let largest = report.sections.iter().map(|section| section.listed).max().unwrap_or(0).max(1);
    let mut shown = 0;
    for section in report.sections.iter().take(SECTIONS_MAX) {
        if html.len() > end {
            break;
        }
        row(section, report.listed, largest, html);
        shown += 1;
    }
    table::end(html);
    let hidden = &report.sections[shown..];
    if !hidden.is_empty() {
        let urls = hidden.iter().map(|section| section.listed).sum();
        html.raw("<p class=\"note\">And ").count(hidden.len() as u64, " more section", " more sections");
        html.raw(" with ").count(urls, " URL", " URLs").raw(".</p>\n");
    }
    html.raw("</section>\n");
}

fn row(section: &SectionSummary, listed: u64, largest: u64, html: &mut Html) {
    html.raw("<tr><th scope=\"row\"><code>").cut(&section.name, TEXT_CHARS_MAX / 2);
    html.raw("</code></th><td class=\"number\">").number(section.listed).raw("</td><td class=\"number\">");
    html.percent(section.listed, listed).raw("</td>");
    bar_cell("listed", section.listed, largest, html);
    html.raw("<td class=\"number\">").number(section.sitemaps).raw("</td><td class=\"number extra\">");
    html.bytes(section.gzip_bytes).raw("</td></tr>\n");
}
