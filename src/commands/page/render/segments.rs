//! URLs by first path segment, or by origin.

use super::charts::bar_cell;
use super::html::{Html, TEXT_CHARS_MAX};
use super::summary::change;
use super::table;
use super::table::Column::{Bar, Extra, Number, Text};
use crate::commands::build::report::details::{Details, SegmentKind, SegmentReport};

/// Maximum number of segments or origins that are shown.
const SEGMENTS_MAX: usize = 30;

/// A table of the segments or origins with the most URLs.
pub fn segments(details: &Details, listed: u64, html: &mut Html) {
    let Some(segments) = details.segments.as_ref().filter(|segments| !segments.named.is_empty()) else {
        if details.segments.is_none() && listed > 0 {
            html.raw("<section aria-labelledby=\"segments\">\n<h2 id=\"segments\">URLs by first path segment</h2>\n");
            html.raw("<p class=\"note\">Not counted in this run: only builds that write this page count them.</p>\n")
                .raw("</section>\n");
        }
        return;
    };
    let (shown, hidden) = segments.named.split_at(segments.named.len().min(SEGMENTS_MAX));
    let others = segments.others + hidden.iter().map(|segment| segment.urls).sum::<u64>();
    let hidden_segments = hidden.iter().filter(|segment| segment.urls > 0).count() as u64;
    let other_segments = segments.other_segments.map(|others| others + hidden_segments);
    // No segment has a previous number if the previous set was not counted.
    let has_previous =
        details.previous.is_some() && segments.named.iter().any(|segment| segment.previous.is_some());
    html.raw("<section aria-labelledby=\"segments\">\n<h2 id=\"segments\">URLs by ");
    let (by, note, column, name) = match segments.by {
        SegmentKind::Path => (
            "first path segment",
            "URLs whose paths begin with the same segment are counted together.",
            "Segment",
            "Listed URLs by first path segment",
        ),
        SegmentKind::Origin => ("origin", "Each row is a set.", "Origin", "Listed URLs of each origin"),
    };
    html.raw(by).raw("</h2>\n<p class=\"note\">").raw(note);
    if details.previous.is_some() && !has_previous {
        html.raw(" No changes are shown, because the URLs of the previous set were not counted.");
    }
    html.raw("</p>\n");
    let columns = [Text(column), Number("URLs"), Number("Share"), Bar, Extra("Before"), Number("Change")];
    table::begin(name, "", if has_previous { &columns } else { &columns[..4] }, html);
    let largest = shown.iter().map(|segment| segment.urls).max().unwrap_or(0).max(1);
    for segment in shown {
        html.raw("<tr><th scope=\"row\"><code>").cut(&segment.name, TEXT_CHARS_MAX / 2).raw("</code></th>");
        html.raw("<td class=\"number\">").number(segment.urls).raw("</td><td class=\"number\">");
        html.percent(segment.urls, listed).raw("</td>");
        bar_cell("listed", segment.urls, largest, html);
        if has_previous {
            before(segment, html);
        }
        html.raw("</tr>\n");
    }
    if others > 0 {
        html.raw("<tr><th scope=\"row\">");
        match other_segments {
            Some(segments) => _ = html.number(segments).raw(" others"),
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

fn before(segment: &SegmentReport, html: &mut Html) {
    let Some(before) = segment.previous else {
        html.raw("<td class=\"number extra\"></td><td class=\"number\">not known</td>");
        return;
    };
    html.raw("<td class=\"number extra\">").number(before).raw("</td><td class=\"number\">");
    match (segment.urls, before) {
        (0, 1..) => html.raw("<span class=\"tag\">gone</span> "),
        (1.., 0) => html.raw("<span class=\"tag\">new</span> "),
        _ => html,
    };
    change(segment.urls, before, html);
    html.raw("</td>");
}
