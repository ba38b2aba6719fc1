//! Charts: a few rectangles of inline SVG. Every chart has an accessible name, except the decorative bars next to numbers.

use super::html::Html;

/// A part of a divided bar.
pub struct Share {
    /// The label of the share.
    pub name: &'static str,
    /// The CSS class that colours it.
    pub class: &'static str,
    /// Its size.
    pub amount: f64,
}

/// Minimum width of a share above zero in per cent, so that it is visible.
const WIDTH_MIN: f64 = 0.4;

/// Adds a bar as wide as the page, divided into shares. `name` is its accessible name.
pub fn divided(name: &'static str, shares: &[Share], html: &mut Html) {
    let all: f64 = shares.iter().map(|share| share.amount).sum();
    let width = |share: &Share| match share.amount > 0.0 {
        true => (share.amount * 100.0 / all).max(WIDTH_MIN),
        false => 0.0,
    };
    let widths: f64 = shares.iter().map(width).sum();
    html.raw("<svg class=\"divided\" role=\"img\" width=\"100%\" height=\"28\" aria-label=\"")
        .raw(name)
        .raw("\">");
    let mut x = 0.0;
    for share in shares.iter().filter(|share| share.amount > 0.0) {
        let width = width(share) * 100.0 / widths;
        html.raw("<rect class=\"")
            .raw(share.class)
            .raw("\" height=\"28\" x=\"")
            .coordinate(x)
            .raw("%\" width=\"");
        html.coordinate(width).raw("%\"><title>").raw(share.name).raw("</title></rect>");
        x += width;
    }
    html.raw("</svg>\n");
}

/// Adds a table cell with a bar for `part` of `whole`. The number is in another cell.
pub fn bar_cell(class: &'static str, part: u64, whole: u64, html: &mut Html) {
    html.raw("<td class=\"bar\" aria-hidden=\"true\"><svg width=\"100%\" height=\"10\" focusable=\"false\"><rect class=\"track\" ")
        .raw("width=\"100%\" height=\"10\" rx=\"2\"/><rect class=\"")
        .raw(class)
        .raw("\" height=\"10\" rx=\"2\" width=\"");
    let percent =
        if part == 0 { 0.0 } else { (part as f64 * 100.0 / whole.max(1) as f64).clamp(WIDTH_MIN, 100.0) };
    html.coordinate(percent).raw("%\"/></svg></td>");
}

/// Width and height of a column chart in SVG user units.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 150.0;

/// Adds a chart with a column for each of `columns`: its height and its tooltip. `name` is the accessible name of the chart.
pub fn columns(name: &'static str, columns: &[(u64, String)], html: &mut Html) {
    let highest = columns.iter().map(|&(height, _)| height).max().unwrap_or(0).max(1);
    let step = WIDTH / columns.len().max(1) as f64;
    let width = (step * 0.78).min(64.0);
    html.raw("<svg class=\"columns\" role=\"img\" viewBox=\"0 0 640 151\" preserveAspectRatio=\"none\" aria-label=\"")
        .raw(name)
        .raw("\"><rect class=\"axis\" y=\"150\" width=\"640\" height=\"1\"/>");
    for (at, (amount, title)) in columns.iter().enumerate() {
        let least = if *amount > 0 { 2.0 } else { 0.0 };
        let height = (*amount as f64 * HEIGHT / highest as f64).max(least);
        let x = step * at as f64 + (step - width) / 2.0;
        html.raw("<rect class=\"listed\" x=\"").coordinate(x).raw("\" y=\"").coordinate(HEIGHT - height);
        html.raw("\" width=\"").coordinate(width).raw("\" height=\"").coordinate(height);
        html.raw("\"><title>").text(title).raw("</title></rect>");
    }
    html.raw("</svg>\n");
}
