//! URLs by first path segment, or by origin.

use super::charts::bar_cell;
use super::html::{Html, TEXT_CHARS_MAX};
use super::summary::change;
use super::table;
use super::table::Column::{Bar, Extra, Number, Text};
use crate::commands::build::report::details::{Details, SectionKind, SectionReport};

/// Maximum number of segments or origins that are shown.
const SECTIONS_MAX: usize = 30;

/// A table of the segments or origins with the most URLs.
pub fn sections(details: &Details, listed: u64, html: &mut Html) {
    let Some(sections) = details.sections.as_ref().filter(|sections| !sections.named.is_empty()) else {
        if details.sections.is_none() && listed > 0 {
            html.raw("<section aria-labelledby=\"sections\">\n<h2 id=\"sections\">URLs by first path segment</h2>\n");
            html.raw("<p class=\"note\">Not counted in this run: only builds that write this page count them.</p>\n")
                .raw("</section>\n");
        }
        return;
    };
    let (shown, hidden) = sections.named.split_at(sections.named.len().min(SECTIONS_MAX));
    let others = sections.others + hidden.iter().map(|section| section.urls).sum::<u64>();
    let hidden_sections = hidden.iter().filter(|section| section.urls > 0).count() as u64;
    let other_sections = sections.other_sections.map(|others| others + hidden_sections);
    // No section has a previous number if the previous set was not counted.
    let has_previous =
        details.previous.is_some() && sections.named.iter().any(|section| section.previous.is_some());
    html.raw("<section aria-labelledby=\"sections\">\n<h2 id=\"sections\">URLs by ");
    let (by, note, column, name) = match sections.by {
        SectionKind::Path => (
            "first path segment",
            "URLs whose paths begin with the same segment are counted together.",
            "Segment",
            "Listed URLs by first path segment",
        ),
        SectionKind::Origin => ("origin", "Each row is a set.", "Origin", "Listed URLs of each origin"),
    };
    html.raw(by).raw("</h2>\n<p class=\"note\">").raw(note);
    if details.previous.is_some() && !has_previous {
        html.raw(" No changes are shown, because the URLs of the previous set were not counted.");
    }
    html.raw("</p>\n");
    let columns = [Text(column), Number("URLs"), Number("Share"), Bar, Extra("Before"), Number("Change")];
    table::begin(name, "", if has_previous { &columns } else { &columns[..4] }, html);
    let largest = shown.iter().map(|section| section.urls).max().unwrap_or(0).max(1);
    for section in shown {
        html.raw("<tr><th scope=\"row\"><code>").cut(&section.name, TEXT_CHARS_MAX / 2).raw("</code></th>");
        html.raw("<td class=\"number\">").number(section.urls).raw("</td><td class=\"number\">");
        html.percent(section.urls, listed).raw("</td>");
        bar_cell("listed", section.urls, largest, html);
        if has_previous {
            before(section, html);
        }
        html.raw("</tr>\n");
    }
    if others > 0 {
        html.raw("<tr><th scope=\"row\">");
        match other_sections {
            Some(sections) => _ = html.number(sections).raw(" others"),
            None => _ = html.raw("Others"),
        }
        html.raw("</th><td class=\"number\">").number(others).raw("</td><td class=\"number\">");
        html.percent(others, listed).raw("</td>");
        bar_cell("blank", others.min(largest), largest, html);
        html.raw(if has_previous { "<td class=\"extra\"></td><td></td></tr>\n" } else { "</tr>\n" });
    }
    table::end(html);
    html.raw("</section>\n");
}

fn before(section: &SectionReport, html: &mut Html) {
    let Some(before) = section.previous else {
        html.raw("<td class=\"number extra\"></td><td class=\"number\">not known</td>");
        return;
    };
    html.raw("<td class=\"number extra\">").number(before).raw("</td><td class=\"number\">");
    match (section.urls, before) {
        (0, 1..) => html.raw("<span class=\"tag\">gone</span> "),
        (1.., 0) => html.raw("<span class=\"tag\">new</span> "),
        _ => html,
    };
    change(section.urls, before, html);
    html.raw("</td>");
}
