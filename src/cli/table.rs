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

/// Notes with fewer columns than this are not wrapped, because the terminal's own line breaks are easier to read.
const NOTE_COLUMNS_MIN: usize = 20;

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

    /// The lines, each with its line end. If the width of the terminal is known, examples are cut, and notes and sentences are
    /// broken at spaces, below where they begin.
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
            // A quote is part of a command. It is not wrapped, so that it can be copied.
            Line::Text(words) if words.contains('\'') => format!("{INDENT}{words}\n"),
            Line::Text(words) => format!("{INDENT}{}\n", broken(words, INDENT.len(), width)),
            Line::Row { name, number, note, is_example } => {
                let row = format!("{INDENT}{name:<names$}  {number:>numbers$}  ");
                match width.filter(|_| *is_example) {
                    Some(width) => format!("{}\n", truncate_str((row + note).trim_end(), width, "…")),
                    None => {
                        let begin = measure_text_width(&row);
                        format!("{}\n", (row + &broken(note, begin, width)).trim_end())
                    }
                }
            }
        };
        self.0.iter().map(line).collect()
    }
}

/// `text`, which begins in column `begin`, broken at spaces so that each line ends within `width` and begins there as well. A
/// word that is longer than a line stays whole, and so does a number with its unit.
pub fn broken(text: &str, begin: usize, width: Option<usize>) -> String {
    let Some(room) =
        width.and_then(|width| width.checked_sub(begin)).filter(|&room| room >= NOTE_COLUMNS_MIN)
    else {
        return text.into();
    };
    let (mut lines, mut used) = (String::new(), 0);
    let mut rest = text;
    while !rest.is_empty() {
        let word;
        (word, rest) = split_word(rest);
        let columns = measure_text_width(word);
        if used > 0 && used + 1 + columns > room {
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', begin));
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += columns;
    }
    lines
}

/// The first word, together with the next one if it is a number, and what follows.
fn split_word(text: &str) -> (&str, &str) {
    let end = text.find(' ').unwrap_or(text.len());
    let is_number = text[..end].bytes().all(|byte| byte.is_ascii_digit() || byte == b',' || byte == b'.');
    let end = match is_number && end < text.len() {
        true => text[end + 1..].find(' ').map_or(text.len(), |next| end + 1 + next),
        false => end,
    };
    (&text[..end], text.get(end + 1..).unwrap_or_default())
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
        let cut = want
            .replace("urls.txt:159: https://www.example.com/", "urls.txt:…")
            .replace("forty columns\n", "forty\n  columns\n")
            // Too little room for a note.
            .replace("longer than forty\n  columns\n    control", "longer than forty columns\n    control");
        assert_eq!(table.lines(Some(40)), cut);
    }

    #[test]
    fn notes_and_sentences_are_broken_at_spaces_below_where_they_begin() {
        let mut table = Table::default();
        table.row("sitemaps", "1", "284.65 KiB of XML, 9.85 KiB compressed, 1.8 bytes per URL");
        table.row("", "", format!("117 https://{}.example/, 3 others", "long".repeat(9)));
        table.text("live in out; out/robots-sitemaps.txt has the lines for robots.txt");
        table.text("extract the URLs with awk '{print $2}' and a pipe that is long");
        let want = "  sitemaps  1  284.65 KiB of XML,
               9.85 KiB compressed,
               1.8 bytes per URL
               117 https://longlonglonglonglonglonglonglonglong.example/,
               3 others
  live in out; out/robots-sitemaps.txt
  has the lines for robots.txt
  extract the URLs with awk '{print $2}' and a pipe that is long
";
        assert_eq!(table.lines(Some(40)), want);
        for width in 0..200 {
            let lines = table.lines(Some(width));
            assert!(lines.lines().all(|line| line == line.trim_end()), "{lines}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&lines), words(&table.lines(None)));
        }
    }
}
