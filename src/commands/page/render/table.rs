//! Tables: a frame that scrolls in narrow windows, and the column headers.

use super::html::Html;

/// A column, with its header.
#[derive(Debug, Clone, Copy)]
pub enum Column {
    /// Text, such as names.
    Text(&'static str),
    /// Numbers, which are aligned to the right.
    Number(&'static str),
    /// Numbers, hidden in narrow windows.
    Extra(&'static str),
    /// Explanations, hidden in narrow windows.
    Wide(&'static str),
    /// Bars, which show a number of their row.
    Bar,
}

/// Begins a table with the accessible name `name`; its rows follow.
pub fn begin(name: &'static str, class: &'static str, columns: &[Column], html: &mut Html) {
    // The frame needs a name too, because it can be focused to scroll it with the arrow keys.
    html.raw("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"").raw(name);
    html.raw("\"><table class=\"").raw(class).raw("\" aria-label=\"").raw(name).raw("\">\n<thead><tr>");
    for &column in columns {
        let (class, name) = match column {
            Column::Text(name) => ("text", name),
            Column::Number(name) => ("number", name),
            Column::Extra(name) => ("number extra", name),
            Column::Wide(name) => ("wide", name),
            Column::Bar => {
                html.raw("<td class=\"bar\" aria-hidden=\"true\"></td>");
                continue;
            }
        };
        html.raw("<th scope=\"col\" class=\"").raw(class).raw("\">").raw(name).raw("</th>");
    }
    html.raw("</tr></thead>\n<tbody>\n");
}

/// Ends a table.
pub fn end(html: &mut Html) {
    html.raw("</tbody></table></div>\n");
}
