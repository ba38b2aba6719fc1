//! Samples: tells from the first lines of a text whether it is a table, and which delimiter it uses.

use std::ops::RangeInclusive;

use super::columns::{Columns, RowPart};
use super::delimiter::Delimiter;
use crate::error::{Message, Setting, message};
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::limits::LINE_BYTES_MAX;
use crate::sitemap::tags::{TagName, changefreq};

/// Number of lines in a sample: enough to distinguish a table from URLs that happen to contain a delimiter.
const LINES_MAX: usize = 16;

/// The first lines of a text that are not empty.
pub struct Sample<'h> {
    lines: Vec<&'h [u8]>,
    /// The delimiter in a line `sep=;` before them, which Excel writes and reads.
    delimiter: Option<Delimiter>,
}

/// Two delimiters that fit equally well.
#[derive(Debug, PartialEq, Eq)]
pub struct Ambiguous(pub Delimiter, pub Delimiter);

impl<'h> Sample<'h> {
    /// The sample of a text that begins with `head`.
    pub fn of(head: &'h [u8]) -> Self {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let lines = head.split(|byte| matches!(byte, b'\n' | b'\r'));
        let mut lines: Vec<_> = lines.filter(|line| !line.is_empty()).take(LINES_MAX + 1).collect();
        // The last line may be cut at the end of the head.
        let is_whole = head.len() < LINE_BYTES_MAX || lines.len() < 2;
        lines.truncate(if is_whole { LINES_MAX } else { lines.len() - 1 });
        let separator = lines.first().and_then(|line| separator(line));
        lines.drain(..usize::from(separator.is_some()));
        let delimiter = separator.and_then(|word| str::from_utf8(word).ok()?.parse().ok());
        Self { lines, delimiter }
    }

    /// The sample without the comments at its start.
    fn without_comments(&self) -> Self {
        let comments = self.lines.iter().take_while(|line| is_comment(line)).count();
        Self { lines: self.lines[comments..].to_vec(), delimiter: self.delimiter }
    }

    /// The delimiter that makes the first line, or the first one that is no comment, a header: it has several names, none looks
    /// like a URL, and `columns` finds those that it needs. A header of one name is recognised by paths after it.
    pub fn of_header(&self, columns: &Columns, said: Option<Delimiter>) -> Option<Delimiter> {
        let said = said.or(self.delimiter);
        let of_first_line = self.of_first_line(columns, said);
        of_first_line.or_else(|| self.without_comments().of_first_line(columns, said))
    }

    fn of_first_line(&self, columns: &Columns, said: Option<Delimiter>) -> Option<Delimiter> {
        if self.is_list_of_paths(columns) {
            // Paths rarely have tabs.
            return said.or(Some(Delimiter::TAB));
        }
        let is_header = |by: &Delimiter| {
            let names = self.first(*by);
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            // A single quoted name is a header too, because a plain list has no quotes.
            let is_table = names.len() > 1 || self.first_line().starts_with(b"\"");
            is_table
                && !names.iter().any(|name| is_address_or_comment(name))
                && columns.places(&names).is_ok()
        };
        self.widest(candidates(said).filter(is_header))
    }

    /// Whether the first line is the name of the column of the URL, and all others are paths.
    fn is_list_of_paths(&self, columns: &Columns) -> bool {
        let [name, paths @ ..] = &self.lines[..] else { return false };
        columns.places(&[name]).is_ok() && !paths.is_empty() && paths.iter().all(|line| is_path(line))
    }

    /// The delimiter of a table without a header, whose URL is at position `url` from 0. `None` if no line has one.
    ///
    /// # Errors
    /// If two delimiters fit.
    pub fn of_rows(&self, url: usize, said: Option<Delimiter>) -> Result<Option<Delimiter>, Ambiguous> {
        let this = self.without_comments();
        if let Some(said) = said.or(self.delimiter) {
            return Ok(Some(said).filter(|&said| this.is_parted(said)));
        }
        let fits = |by: &Delimiter| {
            let Some(rows) = rows(&this.lines, *by) else { return false };
            // The first line may be a header.
            let are_urls = |rows: &[Vec<Vec<u8>>]| rows.iter().all(|row| begins_as_url(&row[url]));
            url < rows[0].len() && (are_urls(&rows) || rows.len() > 1 && are_urls(&rows[1..]))
        };
        let mut fitting = Delimiter::DETECTED.into_iter().filter(fits);
        match (fitting.next(), fitting.next()) {
            (Some(one), Some(other)) => Err(Ambiguous(one, other)),
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
        let lines = this.lines.get(1..).unwrap_or_default();
        self.delimiter.is_none()
            && !Delimiter::DETECTED.into_iter().any(|by| this.is_parted(by))
            && rows(lines, Delimiter::COMMA).is_none()
            && !lines.iter().any(|line| line.starts_with(b"\""))
    }

    /// The values of the lines below the first one with the text `row`.
    pub fn rows_below(&self, row: &[u8], by: Delimiter) -> Vec<Vec<Vec<u8>>> {
        let others = self.lines.iter().skip_while(|line| line.trim_ascii_end() != row);
        others.skip(1).map(|line| fields(line, by)).collect()
    }

    /// The first line that is not empty.
    pub fn first_line(&self) -> &'h [u8] {
        self.lines.first().copied().unwrap_or_default()
    }

    /// All lines.
    pub fn lines(&self) -> impl Iterator<Item = &'h [u8]> {
        self.lines.iter().copied()
    }

    /// Whether `by` divides the first line.
    pub fn is_parted(&self, by: Delimiter) -> bool {
        self.first(by).len() > 1
    }

    /// The options that read the text as a table, if its lines look like rows without a known header. Lines that `may_be_urls`
    /// are taken for rows only if they are unlikely to be URLs: the first line has a name for each column, no URL ends like the
    /// lines (see [`has_sign`]), or none of several lines is a URL.
    pub fn options(&self, may_be_urls: bool) -> Option<Message> {
        let this = self.without_comments();
        let (header, lines) = match &this.lines[..] {
            [first, rest @ ..] if !rest.is_empty() && !has_url(first) => (Some(*first), rest),
            all => (None, all),
        };
        let options = |by: Delimiter| {
            let rows = rows(lines, by)?;
            let url = column(&rows, is_url).or_else(|| column(&rows, is_path))?;
            let date = column(&rows, is_date);
            let names = header.map(|header| fields(header, by)).filter(|names| {
                names.len() == rows[0].len() && !names.iter().any(|name| is_address_or_comment(name))
            });
            // Tabs around a URL are ignored.
            let is_only_url = |row: &Vec<Vec<u8>>| {
                row.iter().enumerate().all(|(at, value)| at == url || value.trim_ascii().is_empty())
            };
            if by == Delimiter::TAB && names.is_none() && rows.iter().all(is_only_url) {
                return None;
            }
            let is_plain = names.is_none() && (rows.len() == 1 || url == 0 && by != Delimiter::TAB);
            let may_be_url_list = by == Delimiter::SPACE || may_be_urls && is_plain;
            if may_be_url_list && !has_sign(lines, &rows, url, by) {
                return None;
            }
            let columns = Setting::Columns.with(columns_option(names.as_deref(), url, date));
            let options =
                message!(Setting::Format.with("csv"), " ", Setting::Delimiter.with(by.word()), " ", columns);
            Some(((date.is_some(), by != Delimiter::SPACE, rows[0].len()), options))
        };
        let by_rank = [Delimiter::SPACE].into_iter().chain(Delimiter::DETECTED.into_iter().rev());
        by_rank.filter_map(options).max_by_key(|&(rank, _)| rank).map(|(_, options)| options)
    }

    /// A character that no URL has, and that divides each of several lines into a URL and the same number of other values.
    pub fn likely_delimiter(&self) -> Option<Delimiter> {
        let this = self.without_comments();
        // Spaces around a URL are ignored.
        let lines: Vec<&[u8]> = this.lines.iter().map(|line| line.trim_ascii()).collect();
        let divides = |by: &Delimiter| {
            rows(&lines, *by).is_some_and(|rows| rows.len() > 1 && rows.iter().all(|row| is_url(&row[0])))
        };
        [Delimiter::BAR, Delimiter::SPACE].into_iter().find(divides)
    }

    /// The options that read the text as a table, if its header shows a delimiter that is not detected: the first line is known
    /// names joined by one character. Every other line has a URL and is divided by this character, because a list of URLs may
    /// begin with the page `url-news`.
    pub fn options_of_header(&self, columns: &Columns) -> Option<Message> {
        let this = self.without_comments();
        let [header, rows @ ..] = &this.lines[..] else { return None };
        if rows.is_empty() || columns.positions().is_some() {
            return None;
        }
        let joins = |by: &Delimiter| {
            let names = fields(header, *by);
            let are_known = names.len() > 1 && names.iter().all(|name| columns.part_of(name).is_some());
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            are_known
                && columns.places(&names).is_ok()
                && rows.iter().all(|row| has_url(row) && fields(row, *by).len() >= names.len())
        };
        let by = header.iter().filter_map(|&byte| Delimiter::undetected(byte)).find(joins)?;
        Some(message!(Setting::Format.with("csv"), " ", Setting::Delimiter.with(by.word())))
    }

    /// The values of the first line.
    fn first(&self, by: Delimiter) -> Vec<Vec<u8>> {
        self.lines.first().map_or(Vec::new(), |line| fields(line, by))
    }

    /// Of these delimiters, the one that divides the first line into the most values; a comma if none does.
    fn widest(&self, delimiters: impl DoubleEndedIterator<Item = Delimiter>) -> Option<Delimiter> {
        let widest = delimiters.rev().max_by_key(|&by| self.first(by).len());
        widest.map(|by| if self.is_parted(by) { by } else { Delimiter::COMMA })
    }
}

fn candidates(said: Option<Delimiter>) -> impl DoubleEndedIterator<Item = Delimiter> {
    let is_candidate = move |by: &Delimiter| said.is_none_or(|said| said == *by);
    let other = said.filter(|said| !Delimiter::DETECTED.contains(said));
    Delimiter::DETECTED.into_iter().filter(is_candidate).chain(other)
}

/// The values of `lines`, if all lines have the same number of values, at least two.
fn rows(lines: &[&[u8]], by: Delimiter) -> Option<Vec<Vec<Vec<u8>>>> {
    // Most lines are plain URLs.
    memchr::memchr(by.as_byte(), lines.first()?)?;
    let rows: Vec<_> = lines.iter().map(|line| fields(line, by)).collect();
    let width = rows.first()?.len();
    (width > 1 && rows.iter().all(|row| row.len() == width)).then_some(rows)
}

/// The first column whose values in all `rows` pass the test `is`.
fn column(rows: &[Vec<Vec<u8>>], is: fn(&[u8]) -> bool) -> Option<usize> {
    (0..rows[0].len()).find(|&at| rows.iter().all(|row| is(&row[at])))
}

/// Whether `lines` have values after the URL that no list of URLs has: a date, or in several lines also a word of a `changefreq`,
/// another URL, a value in quotes, or nothing at the end.
fn has_sign(lines: &[&[u8]], rows: &[Vec<Vec<u8>>], url: usize, by: Delimiter) -> bool {
    let is_space = by == Delimiter::SPACE;
    // Names of pages may end with a date, but then all have the same text before it: `/Report 2024-05-01`.
    let are_equal = rows.len() > 1 && rows.iter().all(|row| row[url] == rows[0][url]);
    if is_space && are_equal {
        return false;
    }
    let has = |is: fn(&[u8]) -> bool| column(rows, is).is_some();
    let has_other_url = || (0..rows[0].len()).any(|at| at != url && rows.iter().all(|row| is_url(&row[at])));
    // Spaces at the end are ignored, and titles have quotes after spaces.
    let of_marks = || {
        rows.iter().all(|row| row.last().is_some_and(|value| value.trim_ascii().is_empty()))
            || lines.iter().any(|line| has_quoted_value(line, by))
    };
    has(is_date) || rows.len() > 1 && (has(is_changefreq) || has_other_url() || !is_space && of_marks())
}

/// Whether a value of `line` after the first one is in quotes.
fn has_quoted_value(line: &[u8], by: Delimiter) -> bool {
    let by = by.as_byte();
    let Some(start) = memchr::memmem::find(line, &[by, b'"']) else { return false };
    let rest = line[start + 2..].trim_ascii_end();
    rest.ends_with(b"\"") || memchr::memmem::find(rest, &[b'"', by]).is_some()
}

/// The value of the option that names the columns `url` and `date`, by their names in the header or, if there is none or its names
/// cannot be given, by their positions.
fn columns_option(names: Option<&[Vec<u8>]>, url: usize, date: Option<usize>) -> String {
    let option = |name: &dyn Fn(usize) -> String| {
        let lastmod = date.map(|at| format!(",lastmod={}", name(at))).unwrap_or_default();
        format!("url={}{lastmod}", name(url))
    };
    let by_name = names.and_then(|names| {
        let option = option(&|at| crate::escape::shown(&names[at]));
        let columns: Columns = option.parse().ok()?;
        let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
        let places = columns.places(&names).ok()?;
        let place = |part: RowPart| places[part.number()];
        let are_found = place(RowPart::Url) == Some(url)
            && (date.is_none() || place(RowPart::Tag(TagName::Lastmod)) == date)
            && columns.positions().is_none()
            && columns.check_unique(&names, &places).is_ok();
        are_found.then_some(option)
    });
    by_name.unwrap_or_else(|| option(&|at| (at + 1).to_string()))
}

/// The values of a line without their quotes. The end of the line closes an open quote.
fn fields(line: &[u8], by: Delimiter) -> Vec<Vec<u8>> {
    // To build a CSV reader takes much longer than to read a small file, and only quotes need one.
    if memchr::memchr(b'"', line).is_none() && !line.is_empty() {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        return line.split(|&byte| byte == by.as_byte()).map(<[u8]>::to_vec).collect();
    }
    let mut core = csv_core::ReaderBuilder::new().delimiter(by.as_byte()).build();
    let mut out = vec![0; line.len() + 1];
    let mut ends = vec![0; memchr::memchr_iter(by.as_byte(), line).count() + 2];
    let (_, _, written, ended) = core.read_record(line, &mut out, &mut ends);
    // The end of the input ends the record.
    let (_, _, _, last) = core.read_record(&[], &mut out[written..], &mut ends[ended..]);
    let ends = &ends[..ended + last];
    let starts = [0].iter().chain(ends);
    starts.zip(ends).map(|(&start, &end)| out[start..end].to_vec()).collect()
}

/// The delimiter that a line `sep=;` names; empty if it was trimmed from the line. `None` for any other line.
pub fn separator(line: &[u8]) -> Option<&[u8]> {
    let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    bare.strip_prefix(b"sep=").filter(|word| word.len() <= 1)
}

/// Whether `line` is a comment rather than a header whose first name begins with `#`.
pub fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'#'] | [b'#', b' ' | b'#' | b'!', ..])
}

/// Whether `value` is a relative URL from the root of a site on.
fn is_path(value: &[u8]) -> bool {
    value.trim_ascii_start().starts_with(b"/")
}

/// Whether `line` contains an absolute URL, or is a path.
fn has_url(line: &[u8]) -> bool {
    is_path(line) || memchr::memmem::find(line, b"://").is_some()
}

/// Whether `value` is an absolute URL of a page, or a path.
pub fn begins_as_url(value: &[u8]) -> bool {
    is_url(value) || is_path(value)
}

/// Whether `value` is an absolute URL of a page.
fn is_url(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let begins =
        |scheme: &[u8]| value.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins(b"http://") || begins(b"https://")
}

/// Whether `name` is part of a URL or a comment rather than the name of a column.
fn is_address_or_comment(name: &[u8]) -> bool {
    is_address(name) || name.trim_ascii_start().starts_with(b"#")
}

/// Whether `name` is part of a URL rather than the name of a column.
pub fn is_address(name: &[u8]) -> bool {
    let name = name.trim_ascii_start();
    let begins_as_one = [&b"/"[..], b"www."].iter().any(|start| name.starts_with(start));
    begins_as_one || memchr::memmem::find(name, b"://").is_some()
}

/// Whether `value` is a day such as `2025-11-21`, `21.11.2025` or `5/1/2025`, with or without a time.
fn is_date(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    let day = value.split(|byte| matches!(byte, b'T' | b' ')).next().unwrap_or_default();
    let is = |by: u8, widths: [RangeInclusive<usize>; 3]| {
        let parts: Vec<&[u8]> = day.split(|&byte| byte == by).collect();
        let fits = |(part, width): (&&[u8], &RangeInclusive<usize>)| {
            width.contains(&part.len()) && part.iter().all(u8::is_ascii_digit)
        };
        parts.len() == widths.len() && parts.iter().zip(&widths).all(fits)
    };
    is(b'-', [4..=4, 2..=2, 2..=2]) || b"./".iter().any(|&by| is(by, [1..=2, 1..=2, 4..=4]))
}

/// Whether `value` is a word of a `changefreq`.
fn is_changefreq(value: &[u8]) -> bool {
    matches!(changefreq(value), Ok(Some(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_quotes_have_the_fields_that_the_csv_reader_finds() {
        for line in [
            &b"a"[..],
            b"a,b",
            b"a;b,c",
            b",",
            b"a,,b,",
            b"\xEF\xBB\xBFa,b",
            b"\xEF\xBB\xBF",
            b"a,\xEF\xBB\xBFb",
            b" a , b ",
            b"a'b,c\\,d",
        ] {
            // A last field in quotes needs the CSV reader, which finds the others like this.
            let quoted = [line, b",\"q\""].concat();
            let mut want = fields(&quoted, Delimiter::COMMA);
            assert_eq!(want.pop().unwrap(), b"q");
            assert_eq!(fields(line, Delimiter::COMMA), want, "{}", crate::escape::shown(line));
        }
        assert!(fields(b"", Delimiter::COMMA).is_empty());
    }
}
