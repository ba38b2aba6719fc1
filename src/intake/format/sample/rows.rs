//! Rows: lines divided into values.

use std::borrow::Cow;

use super::values::{is_date, unquoted};
use crate::intake::format::delimiter::Delimiter;
use crate::intake::format::dialect::Dialect;
use crate::intake::lines::BYTE_ORDER_MARK;

/// The values of each row.
pub type Rows = Vec<Vec<Vec<u8>>>;

/// The values of `lines`, if all lines have the same number of values, at least two. Blanks may align them.
pub fn rows(lines: &[&[u8]], dialect: Dialect) -> Option<Rows> {
    // Most lines are plain URLs.
    memchr::memchr(dialect.delimiter(), lines.first()?)?;
    let rows = all_rows(lines, dialect);
    let width = rows.first()?.len();
    (width > 1 && rows.iter().all(|row| row.len() == width)).then_some(rows)
}

/// The values of those `lines` that have the most frequent number of values, if every line has at least two, as few lists of URLs
/// with commas have. No blanks separate them, because texts have any number of these.
pub fn ragged_rows(lines: &[&[u8]], dialect: Dialect) -> Option<Rows> {
    let is_divided = |line: &&[u8]| memchr::memchr(dialect.delimiter(), line).is_some();
    let are_divided = dialect.by != Delimiter::SPACE && lines.iter().all(is_divided);
    most_rows(lines, dialect).filter(|_| are_divided)
}

/// The values of those `lines` that have the most frequent number of values, if these are at least two, and more than half of all
/// lines.
pub fn most_rows(lines: &[&[u8]], dialect: Dialect) -> Option<Rows> {
    let mut rows = all_rows(lines, dialect);
    let count = |width: usize| rows.iter().filter(|row| row.len() == width).count();
    let width = rows.iter().map(Vec::len).find(|&width| width > 1 && 2 * count(width) > lines.len())?;
    rows.retain(|row| row.len() == width);
    Some(rows)
}

fn all_rows(lines: &[&[u8]], dialect: Dialect) -> Rows {
    lines.iter().map(|line| fields(&single_blanks(line, dialect.by), dialect)).collect()
}

/// `line` with one blank between two values, if blanks separate them.
pub fn single_blanks(line: &[u8], by: Delimiter) -> Cow<'_, [u8]> {
    if by != Delimiter::SPACE || !has_extra_blanks(line) {
        return line.into();
    }
    let values: Vec<&[u8]> = line.split(|&byte| byte == b' ').filter(|value| !value.is_empty()).collect();
    values.join(&b' ').into()
}

/// Whether blanks align the columns of `lines`.
pub fn are_aligned(lines: &[&[u8]], by: Delimiter) -> bool {
    by == Delimiter::SPACE && lines.iter().any(|line| has_extra_blanks(line))
}

fn has_extra_blanks(line: &[u8]) -> bool {
    line.starts_with(b" ") || line.ends_with(b" ") || memchr::memmem::find(line, b"  ").is_some()
}

/// Whether `line` separates a header from rows: `---  ----`.
pub fn is_ruler(line: &[u8]) -> bool {
    line.starts_with(b"-") && line.iter().all(|byte| matches!(byte, b'-' | b' '))
}

/// The first column that holds dates in more than half of `rows`, and nothing in the others.
pub fn column_of_dates(rows: &[Vec<Vec<u8>>]) -> Option<usize> {
    (0..rows[0].len()).find(|&at| {
        let others = rows.iter().filter(|row| !is_date(&row[at]));
        2 * others.clone().count() < rows.len() && others.clone().all(|row| row[at].trim_ascii().is_empty())
    })
}

/// The first column whose values in all `rows` pass the test `is`.
pub fn column(rows: &[Vec<Vec<u8>>], is: fn(&[u8]) -> bool) -> Option<usize> {
    (0..rows[0].len()).find(|&at| rows.iter().all(|row| is(&row[at])))
}

/// Whether a value of `line` after the first one is in quotes.
pub fn has_quoted_value(line: &[u8], by: Delimiter) -> bool {
    let by = by.as_byte();
    let find = |open: &[u8]| memchr::memmem::find(line, open).map(|at| &line[at + open.len()..]);
    let Some(rest) = find(&[by, b'"']).or_else(|| find(&[by, b' ', b'"'])) else { return false };
    let rest = rest.trim_ascii_end();
    rest.ends_with(b"\"") || memchr::memmem::find(rest, &[b'"', by]).is_some()
}

/// The values of a line without their quotes. The end of the line closes an open quote.
pub fn fields(line: &[u8], dialect: Dialect) -> Vec<Vec<u8>> {
    let by = dialect.delimiter();
    // To build a CSV reader takes much longer than to read a small file, and only quotes need one.
    if memchr::memchr(b'"', line).is_none() && !line.is_empty() {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        return line.split(|&byte| byte == by).map(<[u8]>::to_vec).collect();
    }
    let mut core = dialect.reader();
    let mut out = vec![0; line.len() + 1];
    let mut ends = vec![0; memchr::memchr_iter(by, line).count() + 2];
    let (_, _, written, ended) = core.read_record(line, &mut out, &mut ends);
    // The end of the input ends the record.
    let (_, _, _, last) = core.read_record(&[], &mut out[written..], &mut ends[ended..]);
    let ends = &ends[..ended + last];
    let starts = [0].iter().chain(ends);
    starts.zip(ends).map(|(&start, &end)| unquoted(&out[start..end]).to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_quotes_have_the_fields_that_the_csv_reader_finds() {
        let commas = Dialect { by: Delimiter::COMMA, escape: None };
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
            let mut want = fields(&quoted, commas);
            assert_eq!(want.pop().unwrap(), b"q");
            assert_eq!(fields(line, commas), want, "{}", crate::escape::shown(line));
        }
        assert!(fields(b"", commas).is_empty());
    }
}
