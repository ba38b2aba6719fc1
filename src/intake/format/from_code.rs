//! Rows from code: an iterator in place of the bytes of an input.

use std::error::Error as StdError;
use std::io;
use std::path::Path;

use super::found::ColumnsFound;
use super::reader::{RowReader, small_units};
use super::row::{Record, Rows};
use super::shapes;
use crate::error::{Error, Result};
use crate::limits::{LINE_BYTES_MAX, LINE_BYTES_MIN};
use crate::sitemap::extensions::{EXTENSIONS, ExtrasBuffer, RawExtras};
use crate::sitemap::tags::TagName;

/// Bytes and rows that are read together: about as many as of a text.
const BATCH_BYTES: usize = 256 * 1024;
const BATCH_ROWS: usize = BATCH_BYTES / LINE_BYTES_MIN;

/// Bytes of a value that are kept: one more than a line can have, so that a value that is too long is still refused.
const VALUE_BYTES_KEPT: usize = LINE_BYTES_MAX + 1;

/// A row from code: a URL, and tags that are empty if they are not given. Values are bytes, and are cleaned and checked as those
/// of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceRow {
    /// The URL of the page. A row without a URL and tags is blank.
    pub url: Vec<u8>,
    /// When the page changed, for example `2024-05-01`.
    pub lastmod: Vec<u8>,
    /// How often it changes, for example `daily`.
    pub changefreq: Vec<u8>,
    /// Its rank among the pages of the site, `0.0` to `1.0`.
    pub priority: Vec<u8>,
    /// Encoded values of extensions.
    extras: Vec<u8>,
}

impl SourceRow {
    /// A row without tags.
    pub fn new(url: impl Into<Vec<u8>>) -> Self {
        Self { url: url.into(), ..Self::default() }
    }

    /// The same row with a `lastmod`.
    pub fn lastmod(self, lastmod: impl Into<Vec<u8>>) -> Self {
        Self { lastmod: lastmod.into(), ..self }
    }

    /// The same row with a `changefreq`.
    pub fn changefreq(self, changefreq: impl Into<Vec<u8>>) -> Self {
        Self { changefreq: changefreq.into(), ..self }
    }

    /// The same row with a `priority`.
    pub fn priority(self, priority: impl Into<Vec<u8>>) -> Self {
        Self { priority: priority.into(), ..self }
    }

    /// The same row with one more link to the page in another language.
    pub fn alternate(self, hreflang: impl Into<Vec<u8>>, url: impl Into<Vec<u8>>) -> Self {
        self.extra(TagName::Alternates, &[&hreflang.into(), &url.into()])
    }

    /// The same row with one more image.
    pub fn image(self, url: impl Into<Vec<u8>>) -> Self {
        self.extra(TagName::Images, &[&url.into()])
    }

    /// The same row with the values of an extension. `tag` is the name that its column has in a table, such as `images`, and
    /// `cell` holds what the column would: JSON, or a URL.
    ///
    /// # Errors
    /// If no extension has this tag: a sentence that lists those that there are.
    pub fn extension(mut self, tag: &str, cell: impl AsRef<[u8]>) -> Result<Self, String> {
        let known = EXTENSIONS.into_iter().find(|extension| extension.tag.as_str() == tag);
        let extension = known.ok_or_else(|| {
            let tags = EXTENSIONS.map(|extension| extension.tag.as_str()).join(" and ");
            format!("{tag} is not the tag of an extension; there are {tags}")
        })?;
        let mut buffer = ExtrasBuffer::default();
        shapes::add_cell(extension, cell.as_ref(), &mut buffer);
        self.extras.extend_from_slice(buffer.values().0);
        Ok(self)
    }

    /// The same row with one more value of an extension, which has the texts of its fields.
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
        let tags = self.lastmod.len() + self.changefreq.len() + self.priority.len();
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

/// Rows that were read together, and how many came before.
struct Batch {
    rows_before: u64,
    rows: Vec<SourceRow>,
}

/// Why an iterator gave no row.
type Cause = Box<dyn StdError + Send + Sync>;

/// Takes rows until a batch is full, there are no more, or the watcher calls it off; it is told the bytes of each row.
trait NextBatch {
    fn next_batch(&mut self, watch: &mut Watch<'_>) -> Option<Result<Batch, (u64, Cause)>>;
}

/// Is told the bytes of each row; false calls the reading off.
type Watch<'w> = dyn FnMut(u64) -> bool + Send + 'w;

/// The rows of a source.
pub struct SourceRows<'a> {
    rows: Box<dyn NextBatch + Send + 'a>,
    watch: Box<Watch<'a>>,
}

impl<'a> SourceRows<'a> {
    /// Those of an iterator that may fail.
    pub fn new(rows: impl Iterator<Item = Result<SourceRow, Cause>> + Send + 'a) -> Self {
        Self { rows: Box::new(Batches { rows, taken: 0, error: None }), watch: Box::new(|_| true) }
    }

    /// The same rows. `watch` is told the bytes of each row, and calls the reading off with false.
    pub fn watched(self, watch: impl FnMut(u64) -> bool + Send + 'a) -> Self {
        Self { watch: Box::new(watch), ..self }
    }

    /// Reads them as the input `name`.
    pub fn open<'n>(self, name: &'n Path) -> RowReader<'n>
    where
        'a: 'n,
    {
        let Self { mut rows, mut watch } = self;
        let batches = std::iter::from_fn(move || {
            let batch = rows.next_batch(&mut *watch)?;
            Some(batch.map_err(|(row, cause)| {
                Error::io(name, format!("row {row} could not be read"), io::Error::other(cause))
            }))
        });
        RowReader { units: small_units(batches, read), columns: None::<ColumnsFound> }
    }
}

/// An iterator, read in batches.
struct Batches<I> {
    rows: I,
    /// Rows that were taken.
    taken: u64,
    /// The error that came behind a batch, with its row.
    error: Option<(u64, Cause)>,
}

impl<I: Iterator<Item = Result<SourceRow, Cause>>> NextBatch for Batches<I> {
    fn next_batch(&mut self, watch: &mut Watch<'_>) -> Option<Result<Batch, (u64, Cause)>> {
        if let Some(error) = self.error.take() {
            return Some(Err(error));
        }
        let (mut batch, mut bytes) = (Batch { rows_before: self.taken, rows: Vec::new() }, 0);
        while bytes < BATCH_BYTES && batch.rows.len() < BATCH_ROWS {
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
                self.error = Some((self.taken + 1, "called off".into()));
                break;
            }
            bytes += row_bytes;
            self.taken += 1;
            batch.rows.push(row);
        }
        match batch.rows.is_empty() {
            true => self.error.take().map(Err),
            false => Some(Ok(batch)),
        }
    }
}

fn read(batch: &Batch, rows: &mut Rows<'_>) -> Result<()> {
    let cut = |value: &Vec<u8>| value.len().min(VALUE_BYTES_KEPT);
    let mut buffer = ExtrasBuffer::default();
    for (row, line) in batch.rows.iter().zip(batch.rows_before + 1..) {
        let SourceRow { url, lastmod, changefreq, priority, extras } = row;
        buffer.clear();
        buffer.push_all(RawExtras(extras));
        rows.record(&Record {
            line,
            offset: line - 1,
            url: &url[..cut(url)],
            lastmod: &lastmod[..cut(lastmod)],
            changefreq: &changefreq[..cut(changefreq)],
            priority: &priority[..cut(priority)],
            extras: buffer.values(),
        })?;
    }
    Ok(())
}
