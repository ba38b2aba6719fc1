//! Tables for people: names, right-aligned numbers, and notes.

use console::{measure_text_width, truncate_str};

/// Lines in the order in which they are added. The columns of all rows are aligned.
#[derive(Debug, Default)]
pub struct Table(Vec<Line>);

#[derive(Debug)]
enum Line {
    Row {
        name: String,
        number: String,
        note: String,
        /// Whether the line may be cut to the width of the terminal.
        is_example: bool,
    },
    Text(String),
}

const INDENT: &str = "  ";

impl Table {
    /// Adds a row.
    pub fn row(&mut self, name: &str, number: impl Into<String>, note: impl Into<String>) {
        let (name, number, note) = (name.into(), number.into(), note.into());
        self.0.push(Line::Row { name, number, note, is_example: false });
    }

    /// Adds a row that is part of the row before it, and whose note is an example that may be cut.
    pub fn example(&mut self, name: &str, number: impl Into<String>, note: impl Into<String>) {
        let (name, number, note) = (format!("{INDENT}{name}"), number.into(), note.into());
        self.0.push(Line::Row { name, number, note, is_example: true });
    }

    /// Adds a sentence, which has no columns and is never cut.
    pub fn text(&mut self, words: impl Into<String>) {
        self.0.push(Line::Text(words.into()));
    }

    /// The lines, each with its line end. Examples are cut to `width` columns, if the width is known.
    pub fn lines(&self, width: Option<usize>) -> String {
        let rows = || {
            self.0.iter().filter_map(|line| match line {
                Line::Row { name, number, .. } => Some([name, number].map(|text| measure_text_width(text))),
                Line::Text(_) => None,
            })
        };
        let names = rows().map(|[name, _]| name).max().unwrap_or(0);
        let numbers = rows().map(|[_, number]| number).max().unwrap_or(0);
        let line = |line: &Line| match line {
            Line::Text(words) => format!("{INDENT}{words}\n"),
            Line::Row { name, number, note, is_example } => {
                let row = format!("{INDENT}{name:<names$}  {number:>numbers$}  {note}");
                match width.filter(|_| *is_example) {
                    Some(width) => format!("{}\n", truncate_str(row.trim_end(), width, "…")),
                    None => format!("{}\n", row.trim_end()),
                }
            }
        };
        self.0.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_only_examples_are_cut() {
        let mut table = Table::default();
        table.row("lines", "1,300", "");
        table.row("rejected", "30", "a note that is longer than forty columns");
        table.example("control-character", "4", "urls.txt:159: https://www.example.com/");
        table.text("a sentence that is longer than forty columns");
        let want = "  lines                1,300
  rejected                30  a note that is longer than forty columns
    control-character      4  urls.txt:159: https://www.example.com/
  a sentence that is longer than forty columns
";
        assert_eq!(table.lines(None), want);
        assert_eq!(table.lines(Some(200)), want);
        let cut = want.replace("urls.txt:159: https://www.example.com/", "urls.txt:…");
        assert_eq!(table.lines(Some(40)), cut);
    }
}
