//! Samples: tells from the first lines of a text whether it is a table, and which delimiter it uses.

mod rows;
mod values;

use super::columns::{Columns, RowPart};
use super::delimiter::Delimiter;
use super::dialect::{Dialect, QuoteEscape};
use super::packing::{NEEDS_UNPACKED, Packing};
use crate::error::{Message, Setting, message};
use crate::intake::lines::BYTE_ORDER_MARK;
use crate::limits::LINE_BYTES_MAX;
use crate::sitemap::tags::{LastmodUnit, TagName};
use rows::{are_aligned, column, fields, has_quoted_value, is_ruler, rows, single_blanks};
use values::{has_url, is_address_or_comment, is_changefreq, is_date, is_epoch, is_path};

pub use values::{begins_as_url, has_entities, is_address, is_url, unquoted, without_quotes};

/// Number of lines in a sample: enough to distinguish a table from URLs that happen to contain a delimiter.
const LINES_MAX: usize = 16;

/// The first lines of a text that are not empty.
pub struct Sample<'h> {
    lines: Vec<&'h [u8]>,
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
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let lines = head.split(|byte| matches!(byte, b'\n' | b'\r'));
        let mut lines: Vec<_> = lines.filter(|line| !line.is_empty()).take(LINES_MAX + 1).collect();
        // The last line may be cut at the end of the head.
        let is_whole = head.len() < LINE_BYTES_MAX || lines.len() < 2;
        lines.truncate(if is_whole { LINES_MAX } else { lines.len() - 1 });
        let separator = lines.first().and_then(|line| separator(line));
        lines.drain(..usize::from(separator.is_some()));
        let delimiter = separator.and_then(|word| str::from_utf8(word).ok()?.parse().ok());
        Self { lines, delimiter, escape: None }
    }

    /// This sample, with `escape` before quotes within quotes.
    pub fn with_escape(self, escape: Option<QuoteEscape>) -> Self {
        Self { escape, ..self }
    }

    /// How the rows are written if `by` divides them.
    fn dialect(&self, by: Delimiter) -> Dialect {
        Dialect { by, escape: self.escape }
    }

    /// The sample without the comments at its start.
    fn without_comments(&self) -> Self {
        let comments = self.lines.iter().take_while(|line| is_comment(line)).count();
        Self { lines: self.lines[comments..].to_vec(), ..*self }
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
            let Some(rows) = rows(&this.lines, self.dialect(*by)) else { return false };
            // The first line may be a header.
            let are_urls = |rows: &[Vec<Vec<u8>>]| rows.iter().all(|row| begins_as_url(&row[url]));
            url < rows[0].len() && (are_urls(&rows) || rows.len() > 1 && are_urls(&rows[1..]))
        };
        let mut fitting = Delimiter::DETECTED.into_iter().filter(fits);
        match (fitting.next(), fitting.next()) {
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
        let lines = this.lines.get(1..).unwrap_or_default();
        self.delimiter.is_none()
            && !Delimiter::DETECTED.into_iter().any(|by| this.is_parted(by))
            && rows(lines, self.dialect(Delimiter::COMMA)).is_none()
            && !lines.iter().any(|line| line.starts_with(b"\""))
    }

    /// The values of the lines below the first one with the text `row`.
    pub fn rows_below(&self, row: &[u8], by: Delimiter) -> Vec<Vec<Vec<u8>>> {
        let others = self.lines.iter().skip_while(|line| line.trim_ascii_end() != row);
        others.skip(1).map(|line| fields(line, self.dialect(by))).collect()
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
    pub fn options(&self, may_be_urls: bool, packing: Packing) -> Option<Message> {
        let this = self.without_comments();
        let is_ruled = this.lines.len() > 2 && is_ruler(this.lines[1]);
        let (header, lines) = match &this.lines[..] {
            // A count may follow the rows.
            [first, _, rest @ ..] if is_ruled => {
                (Some(*first), &rest[..rest.iter().take_while(|line| has_url(line)).count()])
            }
            [first, rest @ ..] if !rest.is_empty() && !has_url(first) => (Some(*first), rest),
            all => (None, all),
        };
        let options = |by: Delimiter| {
            let rows = rows(lines, self.dialect(by))?;
            // A blank after each comma or semicolon is no delimiter.
            let ends_with_other = |value: &Vec<u8>| matches!(value.last(), Some(b',' | b';'));
            if by == Delimiter::SPACE && rows.iter().flatten().any(ends_with_other) {
                return None;
            }
            let url = column(&rows, is_url).or_else(|| column(&rows, is_path))?;
            let date = column(&rows, is_date);
            let names = header.map(|header| fields(&single_blanks(header, by), self.dialect(by)));
            let names = names.filter(|names| {
                names.len() == rows[0].len() && !names.iter().any(|name| is_address_or_comment(name))
            });
            // Tabs around a URL are ignored.
            let is_only_url = |row: &Vec<Vec<u8>>| {
                row.iter().enumerate().all(|(at, value)| at == url || value.trim_ascii().is_empty())
            };
            if by == Delimiter::TAB && names.is_none() && rows.iter().all(is_only_url) {
                return None;
            }
            let is_plain = names.is_none() && (rows.len() == 1 || url == 0 && !by.is_control());
            let may_be_url_list = by == Delimiter::SPACE || may_be_urls && is_plain;
            if may_be_url_list && !is_ruled && !has_sign(lines, &rows, url, by) {
                return None;
            }
            let columns = Setting::Columns.with(columns_option(names.as_deref(), url, date));
            let (csv, by_word) = (Setting::Format.with("csv"), Setting::Delimiter.with(by.word()));
            let options = message!(csv, " ", by_word, " ", columns);
            let options = match (are_aligned(&this.lines, by), packing.on_unpacked()) {
                (true, place) => message!(
                    "awk '{{$1 = $1}} 1'{place}, which leaves one blank between values, and then ",
                    options
                ),
                (false, _) => options,
            };
            Some(((date.is_some(), by != Delimiter::SPACE, rows[0].len()), options))
        };
        let by_rank = [Delimiter::SPACE].into_iter().chain(Delimiter::DETECTED.into_iter().rev());
        by_rank.filter_map(options).max_by_key(|&(rank, _)| rank).map(|(_, options)| options)
    }

    /// How to read the text if its lines are rows, as is likely: a character that no URL has divides each of several lines into a
    /// URL and the same number of other values, or a comma or a semicolon divides them and one value is a Unix time; or the first
    /// line is a name, and all others are paths.
    pub fn likely_options(&self, packing: Packing) -> Option<Message> {
        let this = self.without_comments();
        // Spaces around a URL are ignored.
        let lines: Vec<&[u8]> = this.lines.iter().map(|line| line.trim_ascii()).collect();
        let divided = |by: Delimiter| {
            let rows = rows(&lines, self.dialect(by)).filter(|rows| rows.len() > 1)?;
            let is_first = rows.iter().all(|row| is_url(&row[0]));
            // Absolute URLs after other values are no lines that could be URLs.
            let url = if is_first { 0 } else { column(&rows, is_path)? };
            Some((by, url + 1))
        };
        let Some((by, url)) = [Delimiter::BAR, Delimiter::SPACE].into_iter().find_map(divided) else {
            return self.options_of_times(&lines).or_else(|| options_of_name(&lines));
        };
        let (csv, by_word) = (Setting::Format.with("csv"), Setting::Delimiter.with(by.word()));
        Some(match (are_aligned(&this.lines, by), packing.on_unpacked()) {
            (true, place) => message!("awk '{{print ${url}}}'{place}, which extracts the URLs"),
            (false, _) => message!(csv, " ", by_word, " ", Setting::Columns.with(format!("url={url}"))),
        })
    }

    /// The options that read `lines` as rows of a URL and a Unix time.
    fn options_of_times(&self, lines: &[&[u8]]) -> Option<Message> {
        [Delimiter::COMMA, Delimiter::SEMICOLON].into_iter().find_map(|by| {
            let rows = rows(lines, self.dialect(by))?;
            (rows.len() > 1 && rows.iter().all(|row| begins_as_url(&row[0]))).then_some(())?;
            let time = column(&rows, is_epoch)?;
            let unit = LastmodUnit::of_number(&rows[0][time])?;
            let columns = Setting::Columns.with(columns_option(None, 0, Some(time)));
            let (csv, by) = (Setting::Format.with("csv"), Setting::Delimiter.with(by.word()));
            Some(message!(csv, " ", by, " ", columns, " ", Setting::LastmodUnit.with(unit)))
        })
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
            let names = fields(header, self.dialect(*by));
            let are_known = names.len() > 1 && names.iter().all(|name| columns.part_of(name).is_some());
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            are_known
                && columns.places(&names).is_ok()
                && rows.iter().all(|row| has_url(row) && fields(row, self.dialect(*by)).len() >= names.len())
        };
        let by = header.iter().filter_map(|&byte| Delimiter::undetected(byte)).find(joins)?;
        Some(message!(Setting::Format.with("csv"), " ", Setting::Delimiter.with(by.word())))
    }

    /// The values of the first line.
    fn first(&self, by: Delimiter) -> Vec<Vec<u8>> {
        self.lines.first().map_or(Vec::new(), |line| fields(line, self.dialect(by)))
    }

    /// Of these delimiters, the one that divides the first line into the most values; a comma if none does.
    fn widest(&self, delimiters: impl DoubleEndedIterator<Item = Delimiter>) -> Option<Delimiter> {
        let widest = delimiters.rev().max_by_key(|&by| self.first(by).len());
        widest.map(|by| if self.is_parted(by) { by } else { Delimiter::COMMA })
    }
}

/// The options that read `lines` as a column of paths below its name.
fn options_of_name(lines: &[&[u8]]) -> Option<Message> {
    let [name, paths @ ..] = lines else { return None };
    let name = str::from_utf8(without_quotes(name).unwrap_or(name)).ok()?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
    let are_paths = paths.len() > 1 && paths.iter().all(|line| is_path(line));
    (is_name && are_paths).then(|| {
        let columns = Setting::Columns.with(format!("url={name}"));
        message!(Setting::Format.with("csv"), " ", columns)
    })
}

/// The remedy for a text that begins with `head` if other lines precede its header, such as the title of a report. The header is
/// the first line with several names of which `columns` finds those that it needs, and with a URL in the line after it.
pub fn header_below(head: &[u8], columns: &Columns, packing: Packing) -> Option<Message> {
    let note = if packing == Packing::None { "" } else { NEEDS_UNPACKED };
    let mut rest = head;
    for number in 2..=LINES_MAX {
        let (line, next) = rest.split_at_checked(memchr::memchr(b'\n', rest)? + 1)?;
        rest = next;
        if has_url(line) {
            return None;
        }
        let sample = Sample::of(rest);
        let is_header = rest.trim_ascii_start().len() == rest.len()
            && sample.lines.get(1).is_some_and(|row| has_url(row))
            && sample.of_first_line(columns, None).is_some_and(|by| sample.is_parted(by));
        if is_header {
            let way_out = format!("remove the lines before it: tail -n +{number}");
            return Some(message!("line {number} is the header of a table; {way_out}{note}"));
        }
    }
    None
}

fn candidates(said: Option<Delimiter>) -> impl DoubleEndedIterator<Item = Delimiter> {
    let is_candidate = move |by: &Delimiter| said.is_none_or(|said| said == *by);
    let other = said.filter(|said| !Delimiter::DETECTED.contains(said));
    Delimiter::DETECTED.into_iter().filter(is_candidate).chain(other)
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
