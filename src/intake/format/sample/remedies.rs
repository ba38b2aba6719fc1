//! Remedies: the options that read a text which was not recognised as a table.

use super::rows::{
    are_aligned, column, column_of_dates, fields, has_quoted_value, is_ruler, most_rows, ragged_rows, rows,
    single_blanks,
};
use super::values::{has_url, is_address_or_comment, is_changefreq, is_epoch, is_path};
use super::{LINES_MAX, Sample, begins_as_url, have_all, is_url, without_quotes};
use crate::error::{Message, Setting, message};
use crate::intake::format::columns::{Columns, RowPart, URL_NAMES};
use crate::intake::format::delimiter::Delimiter;
use crate::intake::format::packing::{NEEDS_UNPACKED, Packing};
use crate::sitemap::tags::{LastmodUnit, TagName};

/// How well a delimiter fits: whether there are dates, whether it is no space, whether all rows are equally wide, and how wide.
type Rank = (bool, bool, bool, usize);

impl Sample<'_> {
    /// The remedy for a text that begins with `head` if other lines precede its header, such as the title of a report. The header
    /// is the first line with several names of which `columns` finds those that it needs, and with a URL in the line after it.
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
                && sample.of_first_line(columns, None, have_all).is_some_and(|by| sample.is_parted(by));
            if is_header {
                let way_out = format!("remove the lines before it: tail -n +{number}");
                return Some(message!("line {number} is the header of a table; {way_out}{note}"));
            }
        }
        None
    }

    /// The options that read the text as a table, if its lines look like rows without a known header. Lines that `may_be_urls`
    /// are taken for rows only if they are unlikely to be URLs: the first line has a name for each column, no URL ends like the
    /// lines (see [`has_sign`] and [`has_marks`]), or none of several lines is a URL.
    pub fn options(&self, may_be_urls: bool, packing: Packing) -> Option<Message> {
        let this = self.without_comments();
        let by_rank = [Delimiter::SPACE].into_iter().chain(Delimiter::DETECTED.into_iter().rev());
        let options = by_rank.filter_map(|by| this.options_by(by, may_be_urls, packing));
        options.max_by_key(|&(rank, _)| rank).map(|(_, options)| options)
    }

    /// The options if `by` is the delimiter, and the rank of this delimiter.
    fn options_by(&self, by: Delimiter, may_be_urls: bool, packing: Packing) -> Option<(Rank, Message)> {
        let all = self.rows_by(by);
        let is_ruled = all.len() > 2 && is_ruler(all[1]);
        let (header, lines) = match &all[..] {
            // A count may follow the rows.
            [first, _, rest @ ..] if is_ruled => {
                (Some(*first), &rest[..rest.iter().take_while(|line| has_url(line)).count()])
            }
            [first, rest @ ..] if !rest.is_empty() && !has_url(first) => (Some(*first), rest),
            all => (None, all),
        };
        let exact = rows(lines, self.dialect(by));
        let is_exact = exact.is_some();
        let rows = exact.or_else(|| ragged_rows(lines, self.dialect(by)))?;
        // A blank after each comma or semicolon is no delimiter.
        let ends_with_other = |value: &Vec<u8>| matches!(value.last(), Some(b',' | b';'));
        if by == Delimiter::SPACE && rows.iter().flatten().any(ends_with_other) {
            return None;
        }
        let url = column(&rows, is_url).or_else(|| column(&rows, is_path))?;
        let date = column_of_dates(&rows);
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
        let has_sign = has_sign(&rows, url, by) || is_exact && has_marks(lines, &rows, by);
        if may_be_url_list && !is_ruled && !has_sign {
            return None;
        }
        let options = options_of(by, &columns_option(names.as_deref(), url, date));
        let options = match (are_aligned(&self.lines, by), packing.on_unpacked()) {
            (true, place) => message!(
                "awk '{{$1 = $1}} 1'{place}, which leaves one blank between values, and then ",
                options
            ),
            (false, _) => options,
        };
        Some(((date.is_some(), by != Delimiter::SPACE, is_exact, rows[0].len()), options))
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
            let of_values = self.options_of_times(&lines).or_else(|| this.options_of_dates());
            return of_values.or_else(|| options_of_name(&lines));
        };
        Some(match (are_aligned(&this.lines, by), packing.on_unpacked()) {
            (true, place) => message!("awk '{{print ${url}}}'{place}, which extracts the URLs"),
            (false, _) => options_of(by, &format!("url={url}")),
        })
    }

    /// The options that read `lines` as rows of a URL and a Unix time.
    fn options_of_times(&self, lines: &[&[u8]]) -> Option<Message> {
        [Delimiter::COMMA, Delimiter::SEMICOLON].into_iter().find_map(|by| {
            let rows = rows(lines, self.dialect(by))?;
            (rows.len() > 1 && rows.iter().all(|row| begins_as_url(&row[0]))).then_some(())?;
            let time = column(&rows, is_epoch)?;
            let unit = LastmodUnit::of_number(&rows[0][time])?;
            let options = options_of(by, &columns_option(None, 0, Some(time)));
            Some(message!(options, " ", Setting::LastmodUnit.with(unit)))
        })
    }

    /// The options that read the lines as rows, of which most have a URL and a date.
    fn options_of_dates(&self) -> Option<Message> {
        Delimiter::DETECTED.into_iter().rev().find_map(|by| {
            let rows = most_rows(&self.rows_by(by), self.dialect(by)).filter(|rows| rows.len() > 1)?;
            let (url, date) = (column(&rows, begins_as_url)?, column_of_dates(&rows)?);
            Some(options_of(by, &columns_option(None, url, Some(date))))
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
}

/// The options that read `lines` as a column of paths below its name, or of URLs below a usual name.
fn options_of_name(lines: &[&[u8]]) -> Option<Message> {
    let [name, urls @ ..] = lines else { return None };
    let name = str::from_utf8(without_quotes(name).unwrap_or(name)).ok()?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-'));
    let is_usual = URL_NAMES.iter().any(|usual| name.eq_ignore_ascii_case(usual));
    let are_urls = urls.len() > 1 && urls.iter().all(|line| is_path(line) || is_usual && is_url(line));
    (is_name && are_urls).then(|| {
        let columns = Setting::Columns.with(format!("url={name}"));
        message!(Setting::Format.with("csv"), " ", columns)
    })
}

/// Whether `rows` have values after the URL that no list of URLs has: a date, or in several rows also a word of a `changefreq`, or
/// another URL.
fn has_sign(rows: &[Vec<Vec<u8>>], url: usize, by: Delimiter) -> bool {
    // Names of pages may end with a date, but then all have the same text before it: `/Report 2024-05-01`.
    let are_equal = rows.len() > 1 && rows.iter().all(|row| row[url] == rows[0][url]);
    if by == Delimiter::SPACE && are_equal {
        return false;
    }
    let has_other_url = || (0..rows[0].len()).any(|at| at != url && rows.iter().all(|row| is_url(&row[at])));
    let has_word = || column(rows, is_changefreq).is_some() || has_other_url();
    column_of_dates(rows).is_some() || rows.len() > 1 && has_word()
}

/// Whether several `lines` with these `rows` have a value in quotes, or nothing at the end. Spaces at the end are ignored, and
/// titles have quotes after spaces.
fn has_marks(lines: &[&[u8]], rows: &[Vec<Vec<u8>>], by: Delimiter) -> bool {
    let ends_with_nothing =
        |row: &Vec<Vec<u8>>| row.last().is_some_and(|value| value.trim_ascii().is_empty());
    let has_any =
        || rows.iter().all(ends_with_nothing) || lines.iter().any(|line| has_quoted_value(line, by));
    by != Delimiter::SPACE && rows.len() > 1 && has_any()
}

/// The options that read a table with the delimiter `by` and these `columns`.
fn options_of(by: Delimiter, columns: &str) -> Message {
    let (csv, by) = (Setting::Format.with("csv"), Setting::Delimiter.with(by.word()));
    message!(csv, " ", by, " ", Setting::Columns.with(columns))
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
