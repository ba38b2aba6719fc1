//! The sources that `build` and `clean` read: files, standard input, or rows from code.

use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "arrow")]
use super::format::arrow::ArrowRows;
use super::format::{SourceRow, SourceRows};

/// An input of [`build_from`](crate::build_from) or [`clean_from`](crate::clean_from): a path, `-` for standard input, or rows from
/// an iterator.
///
/// ```no_run
/// use sitemill::{Job, Silent, Source, SourceRow, Stop, build_from};
///
/// let pages = (1..=1_000_000).map(|n| SourceRow::new(format!("https://www.example.com/{n}")).lastmod("2024-05-01"));
/// let sources = vec![Source::from("urls.txt"), Source::rows("pages", pages)];
/// let job = Job::new(Vec::new(), "https://www.example.com/".parse()?, "out".into());
/// let outcome = build_from(&job, sources, &Silent, &Stop::default())?;
/// println!("{} URLs in {} sitemaps", outcome.report.listed, outcome.report.sitemaps);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Source<'a>(pub(crate) SourceKind<'a>);

/// The kinds of sources.
pub(crate) enum SourceKind<'a> {
    Path(PathBuf),
    Rows { name: PathBuf, rows: SourceRows<'a> },
}

impl<'a> Source<'a> {
    /// Creates a source of rows from an iterator. `name` stands for the input in reports, messages and the reject file.
    ///
    /// The iterator runs once, on another thread, and is dropped at its end. Rows go to scratch files in batches, so that memory
    /// does not grow with their number. A row counts as a line: line 1 is the first row. While the iterator waits for a row, the
    /// build cannot be stopped.
    ///
    /// A build reads at most [`Resources::threads`](crate::options::Resources::threads) sources at the same time, and
    /// [`clean_from`](crate::clean_from) one, in their order. If the rows of several sources come from one producer that waits
    /// until they are taken, as with bounded channels, a build with fewer threads than sources waits for ever.
    pub fn rows<R: Into<SourceRow>>(
        name: impl Into<String>,
        rows: impl IntoIterator<Item = R, IntoIter: Send + 'a>,
    ) -> Self {
        let rows = rows.into_iter().map(|row| Ok(row.into()));
        Self(SourceKind::Rows { name: name.into().into(), rows: SourceRows::new(rows) })
    }

    /// Creates a source of rows from an iterator that can fail, as [`Source::rows`]. Its first error ends the build with
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), and the live set stays as it is.
    pub fn try_rows<R: Into<SourceRow>, E: Into<Box<dyn StdError + Send + Sync>>>(
        name: impl Into<String>,
        rows: impl IntoIterator<Item = Result<R, E>, IntoIter: Send + 'a>,
    ) -> Self {
        let rows = rows.into_iter().map(|row| row.map(Into::into).map_err(Into::into));
        Self(SourceKind::Rows { name: name.into().into(), rows: SourceRows::new(rows) })
    }

    /// Creates a source of Arrow record batches: of a data frame, a database or a query engine. `name` stands for the input in
    /// reports, messages and the reject file.
    ///
    /// Values are read in place. Batches with only the URL to read are held, up to a quarter of the memory limit; rows of other
    /// batches go to scratch files. The columns have the names that tables have, or those of
    /// [`FormatOptions::columns`](crate::options::FormatOptions::columns). The URL is a string or binary data in any layout. A tag
    /// may have any type: times become W3C Datetime, in UTC if they have a zone. Alternates and images are JSON in a string, or
    /// lists of strings or structs. Batches are read on a thread of the build, once; while it waits for a batch, the build cannot
    /// be stopped. A column that is missing or cannot be a URL ends the build with [`ErrorKind::Data`](crate::ErrorKind::Data),
    /// an error of the reader with [`ErrorKind::Io`](crate::ErrorKind::Io).
    #[cfg(feature = "arrow")]
    pub fn arrow(name: impl Into<String>, reader: impl arrow_array::RecordBatchReader + Send + 'a) -> Self {
        let rows = SourceRows::of_arrow(ArrowRows::new(reader));
        Self(SourceKind::Rows { name: name.into().into(), rows })
    }

    /// The name of the input: its path, or the name of rows from code.
    pub(crate) fn name(&self) -> &Path {
        match &self.0 {
            SourceKind::Path(name) | SourceKind::Rows { name, .. } => name,
        }
    }

    /// Its path. Rows from code have none.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.0 {
            SourceKind::Path(path) => Some(path),
            SourceKind::Rows { .. } => None,
        }
    }
}

impl From<PathBuf> for Source<'_> {
    fn from(path: PathBuf) -> Self {
        Self(SourceKind::Path(path))
    }
}

impl From<&Path> for Source<'_> {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

impl From<&str> for Source<'_> {
    fn from(path: &str) -> Self {
        PathBuf::from(path).into()
    }
}

impl fmt::Debug for SourceKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => f.debug_tuple("Path").field(path).finish(),
            Self::Rows { name, .. } => f.debug_struct("Rows").field("name", name).finish_non_exhaustive(),
        }
    }
}
