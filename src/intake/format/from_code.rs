//! Rows from code: an iterator instead of the bytes of an input.

use std::error::Error as StdError;
use std::path::Path;

#[cfg(feature = "arrow")]
use super::arrow::ArrowRows;
use super::columns::Columns;
use super::found::ColumnsFound;
use super::reader::{OnBytes, RowReader, small_units};
use super::row::{CountingSink, Record, kept};
use super::shapes;
use super::spec::Hints;
use crate::clean::Reason;
use crate::error::{Error, Result};
use crate::intake::lines::{CHUNK_BYTES, CHUNK_URLS_MAX};
use crate::sitemap::extensions::{EXTENSIONS, ExtrasBuffer, RawExtras};
use crate::sitemap::tags::TagName;

/// A row from code: a URL and tags. A tag that is not given is empty. Values are bytes, and are cleaned and checked like those of
/// a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceRow {
    /// The URL of the page. A row with neither URL nor tags is blank.
    pub url: Vec<u8>,
    /// The section of the set that it belongs to. It has no effect unless the job has sections by a column.
    pub section: Vec<u8>,
    /// When the page changed, for example `2024-05-01`.
    pub lastmod: Vec<u8>,
    /// How often it changes, for example `daily`.
    pub changefreq: Vec<u8>,
    /// Its priority among the pages of the site, `0.0` to `1.0`.
    pub priority: Vec<u8>,
    /// Encoded values of extensions.
    extras: Vec<u8>,
    /// Names of fields of these values that are not carried over.
    ignored: Vec<String>,
    /// The keys of its values, if they are for the report.
    keys: Option<Box<ColumnsFound>>,
    /// Whether the row has values that are not read.
    has_others: bool,
    /// Whether the row could not be read, and `url` is its text.
    is_bad: bool,
}

impl SourceRow {
    /// Creates a row without tags.
    pub fn new(url: impl Into<Vec<u8>>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// Creates a row that cannot be read, such as text of no charset: it is rejected as `bad-row`, with `text` in the reject file.
    pub fn bad(text: impl Into<Vec<u8>>) -> Self {
        Self { is_bad: true, ..Self::new(text) }
    }

    /// Sets the section.
    pub fn section(self, section: impl Into<Vec<u8>>) -> Self {
        Self { section: section.into(), ..self }
    }

    /// Sets `lastmod`.
    pub fn lastmod(self, lastmod: impl Into<Vec<u8>>) -> Self {
        Self { lastmod: lastmod.into(), ..self }
    }

    /// Sets `changefreq`.
    pub fn changefreq(self, changefreq: impl Into<Vec<u8>>) -> Self {
        Self { changefreq: changefreq.into(), ..self }
    }

    /// Sets `priority`.
    pub fn priority(self, priority: impl Into<Vec<u8>>) -> Self {
        Self { priority: priority.into(), ..self }
    }

    /// Says whether the row has values besides these. Without a URL it is then rejected, and not counted as blank.
    pub fn other_values(self, has_others: bool) -> Self {
        Self { has_others, ..self }
    }

    /// Says for the report which keys the values of this row have: those that are read, each after the name of its part (`url`,
    /// `lastmod` and so on), and those that are not. Only the first row with these keys needs it.
    pub fn keys<'k>(
        self,
        used: impl IntoIterator<Item = (&'k str, &'k [u8])>,
        unused: impl IntoIterator<Item = &'k [u8]>,
    ) -> Self {
        Self { keys: Some(Box::new(ColumnsFound::of_keys(used, unused))), ..self }
    }

    /// Adds a link to the page in another language.
    pub fn alternate(self, hreflang: impl Into<Vec<u8>>, url: impl Into<Vec<u8>>) -> Self {
        self.extra(TagName::Alternates, &[&hreflang.into(), &url.into()])
    }

    /// Adds an image.
    pub fn image(self, url: impl Into<Vec<u8>>) -> Self {
        self.extra(TagName::Images, &[&url.into()])
    }

    /// Adds values of an extension. `tag` is the name of its column in a table, such as `images`, and `cell` has the form of a
    /// value in that column: JSON, or a URL.
    ///
    /// # Errors
    /// If no extension has this tag. The message lists all tags.
    pub fn extension(mut self, tag: &str, cell: impl AsRef<[u8]>) -> Result<Self, String> {
        let known = EXTENSIONS.into_iter().find(|extension| extension.tag.as_str() == tag);
        let extension = known.ok_or_else(|| {
            let tags = EXTENSIONS.map(|extension| extension.tag.as_str()).join(", ");
            let (others, last) = tags.rsplit_once(", ").unwrap_or_default();
            format!("{tag} is not the tag of an extension; there are {others} and {last}")
        })?;
        let mut buffer = ExtrasBuffer::default();
        shapes::add_cell(extension, cell.as_ref(), &mut buffer);
        self.extras.extend_from_slice(buffer.values().0);
        self.ignored.append(&mut buffer.take_ignored());
        Ok(self)
    }

    /// Adds a value of the extension with this tag, from the texts of its fields.
    fn extra(mut self, tag: TagName, texts: &[&[u8]]) -> Self {
        if let Some(extension) = tag.extension() {
            let mut buffer = ExtrasBuffer::default();
            buffer.push(extension, texts.iter().copied().enumerate());
            self.extras.extend_from_slice(buffer.values().0);
        }
        self
    }

    /// Bytes of its values.
    fn bytes(&self) -> usize {
        let tags = self.section.len() + self.lastmod.len() + self.changefreq.len() + self.priority.len();
        self.url.len() + tags + RawExtras(&self.extras).text_bytes()
    }
}

impl From<String> for SourceRow {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}

impl From<&str> for SourceRow {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

impl From<Vec<u8>> for SourceRow {
    fn from(url: Vec<u8>) -> Self {
        Self::new(url)
    }
}

impl From<&[u8]> for SourceRow {
    fn from(url: &[u8]) -> Self {
        Self::new(url)
    }
}

/// Rows that were read together, and the number of rows before them.
struct Unit {
    rows_before: u64,
    rows: Vec<SourceRow>,
}

/// The error of an iterator.
type Cause = Box<dyn StdError + Send + Sync>;

/// Takes rows until the unit is full, the iterator ends, or `watch` stops the reading.
trait NextUnit {
    fn next_unit(&mut self, watch: &mut OnBytes<'_>) -> Option<Result<Unit, (u64, Cause)>>;
}

/// The rows of a source.
pub struct SourceRows<'a> {
    rows: Rows<'a>,
    watch: Box<OnBytes<'a>>,
}

/// The source of the rows.
enum Rows<'a> {
    Iterator(Box<dyn NextUnit + Send + 'a>),
    #[cfg(feature = "arrow")]
    Arrow(ArrowRows<'a>),
}

impl<'a> SourceRows<'a> {
    /// Returns the rows of an iterator that may fail.
    pub fn new(rows: impl Iterator<Item = Result<SourceRow, Cause>> + Send + 'a) -> Self {
        // No unit says that it is the last one. Called again after its end, an iterator may wait for ever, or begin again.
        let rows = Rows::Iterator(Box::new(Units { rows: rows.fuse(), taken: 0, error: None }));
        Self { rows, watch: Box::new(|_| true) }
    }

    /// The rows of record batches.
    #[cfg(feature = "arrow")]
    pub fn of_arrow(rows: ArrowRows<'a>) -> Self {
        Self { rows: Rows::Arrow(rows), watch: Box::new(|_| true) }
    }

    /// Calls `watch` with the number of bytes of each row, or of several. It returns false to stop the reading.
    pub fn watched(self, watch: impl FnMut(u64) -> bool + Send + 'a) -> Self {
        Self { watch: Box::new(watch), ..self }
    }

    /// Reads them as the input `name`. `hints` name the columns of record batches, and keys that rows should have.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if a column of record batches is missing or cannot be used.
    pub fn open<'n>(self, name: &'n Path, hints: Hints<'n>) -> Result<RowReader<'n>>
    where
        'a: 'n,
    {
        match self.rows {
            Rows::Iterator(rows) => Ok(open_units(name, rows, hints.columns, self.watch)),
            #[cfg(feature = "arrow")]
            Rows::Arrow(rows) => rows.open(name, hints.columns, self.watch),
        }
    }
}

/// Reads the units of `rows` as the input `name`. If the rows have keys, the user may name some of them in `columns`.
fn open_units<'n, 'a: 'n>(
    name: &'n Path,
    mut rows: Box<dyn NextUnit + Send + 'a>,
    columns: &'n Columns,
    mut watch: Box<OnBytes<'a>>,
) -> RowReader<'n> {
    let units =
        std::iter::from_fn(move || {
            let unit = rows.next_unit(&mut *watch)?;
            Some(unit.map_err(|(row, cause)| {
                Error::of_caller(name, &format!("row {row} could not be read"), cause)
            }))
        });
    let wanted = columns.said();
    let read = move |unit: &Unit, rows: &mut CountingSink<'_>| read(unit, &wanted, rows);
    RowReader { units: small_units(units, read), columns: None }
}

/// An iterator, read in units.
struct Units<I> {
    rows: I,
    /// The number of rows taken so far.
    taken: u64,
    /// The error after the last unit, with its row.
    error: Option<(u64, Cause)>,
}

impl<I: Iterator<Item = Result<SourceRow, Cause>>> NextUnit for Units<I> {
    fn next_unit(&mut self, watch: &mut OnBytes<'_>) -> Option<Result<Unit, (u64, Cause)>> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let (mut unit, mut bytes) = (Unit { rows_before: self.taken, rows: Vec::new() }, 0);
        // As many as in a block of text.
        while bytes < CHUNK_BYTES && unit.rows.len() < CHUNK_URLS_MAX {
            let row = match self.rows.next() {
                None => break,
                Some(Ok(row)) => row,
                Some(Err(cause)) => {
                    self.error = Some((self.taken + 1, cause));
                    break;
                }
            };
            let row_bytes = row.bytes();
            if !watch(row_bytes as u64) {
                self.error = Some((self.taken + 1, "cancelled".into()));
                break;
            }
            bytes += row_bytes;
            self.taken += 1;
            unit.rows.push(row);
        }
        match unit.rows.is_empty() {
            true => self.error.take().map(Err),
            false => Some(Ok(unit)),
        }
    }
}

/// Reads the rows of a unit. Keys that are `wanted` are missing if no row has them.
fn read(unit: &Unit, wanted: &[(&'static str, Vec<u8>)], rows: &mut CountingSink<'_>) -> Result<()> {
    let mut buffer = ExtrasBuffer::default();
    for (row, line) in unit.rows.iter().zip(unit.rows_before + 1..) {
        let SourceRow {
            url,
            section,
            lastmod,
            changefreq,
            priority,
            extras,
            ignored,
            keys,
            has_others,
            is_bad,
        } = row;
        if let Some(keys) = keys {
            let new = || ColumnsFound::of_wanted(wanted.to_vec());
            rows.facts().keys.get_or_insert_with(new).merge(keys);
        }
        if *is_bad {
            rows.bad(line, line - 1, Reason::BadRow, kept(url))?;
            continue;
        }
        ignored.iter().for_each(|name| rows.facts().dropped_elements.add(name.as_bytes(), 1));
        buffer.clear();
        buffer.push_all(RawExtras(extras));
        let parts = [url, section, lastmod, changefreq, priority].map(Vec::as_slice);
        rows.record_of(&Record::of_parts(line, line - 1, parts, buffer.values()), *has_others)?;
    }
    Ok(())
}
