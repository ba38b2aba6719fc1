//! Samples: tells from the first rows of a text whether it is a table, and which delimiter it uses.

mod remedies;
mod rows;
mod values;

use std::borrow::Cow;

use super::columns::{Columns, RowPart};
use super::delimiter::Delimiter;
use super::dialect::{Dialect, QuoteEscape};
use super::row_ends::whole_row;
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::limits::LINE_BYTES_MAX;
use rows::{Rows, fields, ragged_rows, rows};
use values::{is_address_or_comment, is_path};

pub use values::{begins_as_url, has_entities, is_address, is_url, unquoted, without_quotes};

/// Number of lines in a sample: enough to distinguish a table from URLs that happen to contain a delimiter.
const LINES_MAX: usize = 16;

/// The first lines of a text that are not blank.
#[derive(Clone)]
pub struct Sample<'h> {
    /// The text from the first line on, up to the end of its head.
    text: &'h [u8],
    /// Whether that is the end of the text, too.
    is_whole: bool,
    lines: Vec<&'h [u8]>,
    /// Whether comments among the lines are left out.
    is_without_comments: bool,
    /// The delimiter in a line `sep=;` before them, which Excel writes and reads.
    delimiter: Option<Delimiter>,
    /// The character before a quote within quotes, if an option sets it.
    escape: Option<QuoteEscape>,
}

/// Two delimiters that fit equally well.
#[derive(Debug, PartialEq, Eq)]
pub struct Ambiguous(pub Delimiter, pub Delimiter);

impl<'h> Sample<'h> {
    /// The sample of a text that begins with `head`.
    pub fn of(head: &'h [u8]) -> Self {
        let is_whole = head.len() < LINE_BYTES_MAX;
        let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let mut sample =
            Self { text, is_whole, lines: vec![], is_without_comments: false, delimiter: None, escape: None };
        sample.lines = sample.cut(None);
        if let Some(first) = sample.lines.first()
            && let Some(word) = separator(first)
        {
            sample.delimiter = str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let blank = text.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
            sample.text = &text[blank + first.len()..];
            sample.lines = sample.cut(None);
        }
        sample
    }

    /// The lines of the text or, if there is a dialect, its rows: a quoted value may have several lines.
    fn cut(&self, dialect: Option<Dialect>) -> Vec<&'h [u8]> {
        let (mut lines, mut rest) = (Vec::new(), self.text);
        while lines.len() <= LINES_MAX && !rest.is_empty() {
            let line = &rest[..memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
            let is_left_out = is_blank(line) || self.is_without_comments && is_comment(line);
            let of_row = dialect.filter(|_| !is_left_out && memchr::memchr(b'"', line).is_some());
            let row = of_row.and_then(|dialect| whole_row(rest, dialect)).unwrap_or(line);
            rest = rest.get(row.len() + 1..).unwrap_or_default();
            lines.extend((!is_left_out).then_some(row));
        }
        // The last line may be cut at the end of the head.
        let is_whole = self.is_whole || lines.len() < 2;
        lines.truncate(if is_whole { LINES_MAX } else { lines.len() - 1 });
        lines
    }

    /// The first rows if `by` divides them.
    fn rows_by(&self, by: Delimiter) -> Cow<'_, [&'h [u8]]> {
        match self.lines.iter().any(|line| memchr::memchr(b'"', line).is_some()) {
            true => self.cut(Some(self.dialect(by))).into(),
            false => (&self.lines).into(),
        }
    }

    /// This sample, with `escape` before quotes within quotes.
    pub fn with_escape(self, escape: Option<QuoteEscape>) -> Self {
        Self { escape, ..self }
    }

    /// How the rows are written if `by` divides them.
    fn dialect(&self, by: Delimiter) -> Dialect {
        Dialect { by, escape: self.escape }
    }

    /// The sample without comments.
    fn without_comments(&self) -> Self {
        let mut this = self.clone();
        if self.lines.iter().any(|line| is_comment(line)) {
            this.is_without_comments = true;
            this.lines = this.cut(None);
        }
        this
    }

    /// The delimiter that makes the first line, or the first one that is no comment, a header: it has several names, none looks
    /// like a URL, and `columns` finds those that it needs, or at least that of the URL. A header of one name is recognised by
    /// paths after it.
    pub fn of_header(&self, columns: &Columns, said: Option<Delimiter>) -> Option<Delimiter> {
        let said = said.or(self.delimiter);
        let bare = self.without_comments();
        let by = |are_right: AreRight| {
            let of_first_line = self.of_first_line(columns, said, are_right);
            of_first_line.or_else(|| bare.of_first_line(columns, said, are_right))
        };
        by(have_all).or_else(|| by(have_url))
    }

    fn of_first_line(
        &self,
        columns: &Columns,
        said: Option<Delimiter>,
        are_right: AreRight,
    ) -> Option<Delimiter> {
        if self.is_list_of_paths(columns) {
            // Paths rarely have tabs.
            return said.or(Some(Delimiter::TAB));
        }
        let is_header = |by: &Delimiter| {
            let names = self.first(*by);
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            // A single quoted name is a header too, because a plain list has no quotes.
            let is_table = names.len() > 1 || self.first_line().starts_with(b"\"");
            is_table && !names.iter().any(|name| is_address_or_comment(name)) && are_right(columns, &names)
        };
        self.widest(candidates(said).filter(is_header))
    }

    /// Whether the first line is the name of the column of the URL, and all others are paths, or paths and absolute URLs.
    fn is_list_of_paths(&self, columns: &Columns) -> bool {
        let [name, rows @ ..] = &self.lines[..] else { return false };
        columns.places(&[name]).is_ok()
            && rows.iter().all(|line| begins_as_url(line))
            && rows.iter().any(|line| is_path(line))
    }

    /// The delimiter of a table without a header, whose URL is at position `url` from 0. `None` if no line has one. Rows may have
    /// different numbers of values if no delimiter divides all into the same number.
    ///
    /// # Errors
    /// If two delimiters fit.
    pub fn of_rows(&self, url: usize, said: Option<Delimiter>) -> Result<Option<Delimiter>, Ambiguous> {
        let this = self.without_comments();
        if let Some(said) = said.or(self.delimiter) {
            return Ok(Some(said).filter(|&said| this.is_parted(said)));
        }
        let fits = |rows: Rows| {
            // The first line may be a header.
            let are_urls = |rows: &[Vec<Vec<u8>>]| rows.iter().all(|row| begins_as_url(&row[url]));
            url < rows[0].len() && (are_urls(&rows) || rows.len() > 1 && are_urls(&rows[1..]))
        };
        let fitting = |rows: fn(&[&[u8]], Dialect) -> Option<Rows>| {
            let fits = |by: &Delimiter| rows(&this.rows_by(*by), self.dialect(*by)).is_some_and(fits);
            let mut fitting = Delimiter::DETECTED.into_iter().filter(fits);
            (fitting.next(), fitting.next())
        };
        let exactly = fitting(rows);
        match if exactly.0.is_some() { exactly } else { fitting(ragged_rows) } {
            (Some(one), Some(other)) if !one.is_control() => Err(Ambiguous(one, other)),
            (found, _) => Ok(found),
        }
    }

    /// The delimiter that the text names, or the one that divides the first line into the most values; a comma if none does.
    pub fn widest_delimiter(&self) -> Delimiter {
        let widest = || self.without_comments().widest(Delimiter::DETECTED.into_iter());
        self.delimiter.or_else(widest).unwrap_or(Delimiter::COMMA)
    }

    /// Whether the text most likely has one column whose values may contain commas, as URLs do: nothing divides the first line. A
    /// table whose header is incomplete has several values in every line, and one that was written as CSV has quotes.
    pub fn has_one_column(&self) -> bool {
        let this = self.without_comments();
        let of_commas = this.rows_by(Delimiter::COMMA);
        let lines = of_commas.get(1..).unwrap_or_default();
        self.delimiter.is_none()
            && !Delimiter::DETECTED.into_iter().any(|by| this.is_parted(by))
            && rows(lines, self.dialect(Delimiter::COMMA)).is_none()
            && !lines.iter().any(|line| line.starts_with(b"\""))
    }

    /// The values of the rows below the first one with the text `row`, or of all rows if `row` is blank.
    pub fn rows_below(&self, row: &[u8], by: Delimiter) -> Rows {
        let this = self.without_comments();
        let rows = this.rows_by(by);
        let is_row = |line: &&[u8]| line.trim_ascii_end() == row;
        let above =
            if is_blank(row) { 0 } else { rows.iter().position(is_row).map_or(rows.len(), |at| at + 1) };
        rows[above..].iter().map(|line| fields(line, self.dialect(by))).collect()
    }

    /// The first line that is not blank.
    pub fn first_line(&self) -> &'h [u8] {
        self.lines.first().copied().unwrap_or_default()
    }

    /// All lines except comments.
    pub fn lines(&self) -> impl Iterator<Item = &'h [u8]> {
        self.without_comments().lines.into_iter()
    }

    /// Whether `by` divides the first line.
    pub fn is_parted(&self, by: Delimiter) -> bool {
        self.first(by).len() > 1
    }

    /// The values of the first line.
    fn first(&self, by: Delimiter) -> Vec<Vec<u8>> {
        self.rows_by(by).first().map_or(Vec::new(), |line| fields(line, self.dialect(by)))
    }

    /// Of these delimiters, the one that divides the first line into the most values; a comma if none does.
    fn widest(&self, delimiters: impl DoubleEndedIterator<Item = Delimiter>) -> Option<Delimiter> {
        let widest = delimiters.rev().max_by_key(|&by| self.first(by).len());
        widest.map(|by| if self.is_parted(by) { by } else { Delimiter::COMMA })
    }
}

/// A test of the names in a header.
type AreRight = fn(&Columns, &[&[u8]]) -> bool;

/// Whether `names` are those of all columns that are needed.
fn have_all(columns: &Columns, names: &[&[u8]]) -> bool {
    columns.places(names).is_ok()
}

/// Whether `names` are several, and one is that of the column of the URL.
fn have_url(columns: &Columns, names: &[&[u8]]) -> bool {
    names.len() > 1 && names.iter().any(|name| matches!(columns.part_of(name), Some((RowPart::Url, _))))
}

/// Whether `line` is blank, or only has the character that ends files of DOS.
fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), [] | [0x1A])
}

fn candidates(said: Option<Delimiter>) -> impl DoubleEndedIterator<Item = Delimiter> {
    let is_candidate = move |by: &Delimiter| said.is_none_or(|said| said == *by);
    let other = said.filter(|said| !Delimiter::DETECTED.contains(said));
    Delimiter::DETECTED.into_iter().filter(is_candidate).chain(other)
}

/// The delimiter that a line `sep=;` names; empty if it was trimmed from the line. `None` for any other line.
pub fn separator(line: &[u8]) -> Option<&[u8]> {
    let bare = without_quotes(line).unwrap_or(line);
    bare.strip_prefix(b"sep=").filter(|word| word.len() <= 1)
}

/// Whether `line` is a comment rather than a header whose first name begins with `#`. The logs of IIS and CloudFront begin with
/// `#Version: 1.0`.
pub fn is_comment(line: &[u8]) -> bool {
    let is_directive = |rest: &[u8]| {
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-').count();
        word > 0 && rest[word..].starts_with(b": ")
    };
    match line {
        [b'#'] | [b'#', b' ' | b'#' | b'!', ..] => true,
        [b'#', rest @ ..] => is_directive(rest),
        _ => false,
    }
}
