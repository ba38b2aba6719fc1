//! Rows from Python: Arrow streams, and iterators of tuples.

use std::error::Error;
use std::vec;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyIterator, PyString};
use sitemill::{Source, SourceRow};

use crate::capsule;

/// Rows that are taken together, so that the interpreter is attached once for all of them.
const ROWS_TOGETHER: usize = 1024;

/// The source of the rows in `rows`: an object with `__arrow_c_stream__`, or an iterator of tuples of URL, lastmod, changefreq,
/// priority, alternates and images, each of them `str`, `bytes` or `None`.
pub fn source(rows: &Bound<'_, PyAny>) -> PyResult<Source<'static>> {
    match rows.hasattr("__arrow_c_stream__")? {
        true => Ok(Source::arrow("rows", capsule::take(rows)?)),
        false => {
            let rows = rows.try_iter()?.unbind();
            Ok(Source::try_rows("rows", Tuples { rows, taken: Vec::new().into_iter(), error: None }))
        }
    }
}

/// Rows of an iterator, taken a few at a time.
struct Tuples {
    rows: Py<PyIterator>,
    taken: vec::IntoIter<SourceRow>,
    error: Option<PyErr>,
}

impl Tuples {
    fn take(&mut self) {
        let mut taken = Vec::with_capacity(ROWS_TOGETHER);
        let error = Python::attach(|py| -> PyResult<()> {
            let mut rows = self.rows.bind(py).clone();
            while taken.len() < ROWS_TOGETHER {
                let Some(tuple) = rows.next() else { break };
                taken.push(row(&tuple?)?);
            }
            Ok(())
        });
        self.error = error.err();
        self.taken = taken.into_iter();
    }
}

impl Iterator for Tuples {
    type Item = Result<SourceRow, Box<dyn Error + Send + Sync>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.taken.as_slice().is_empty() && self.error.is_none() {
            self.take();
        }
        self.taken.next().map(Ok).or_else(|| self.error.take().map(|error| Err(Box::new(error) as _)))
    }
}

fn row(tuple: &Bound<'_, PyAny>) -> PyResult<SourceRow> {
    let [url, lastmod, changefreq, priority, alternates, images]: [Option<Bound<'_, PyAny>>; 6] =
        tuple.extract()?;
    let mut row = SourceRow::new(bytes(url)?)
        .lastmod(bytes(lastmod)?)
        .changefreq(bytes(changefreq)?)
        .priority(bytes(priority)?);
    for (tag, cell) in [("alternates", alternates), ("images", images)] {
        if let Some(cell) = cell {
            row = row.extension(tag, bytes(Some(cell))?).map_err(PyTypeError::new_err)?;
        }
    }
    Ok(row)
}

/// The bytes of a `str` or `bytes`; empty for `None`. Surrogates of a `str` are kept as the bytes that they stand for.
fn bytes(value: Option<Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    if let Ok(text) = value.cast::<PyString>() {
        return match text.to_str() {
            Ok(text) => Ok(text.as_bytes().to_vec()),
            Err(_) => {
                let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
                Ok(encoded.extract::<PyBackedBytes>()?.to_vec())
            }
        };
    }
    match value.extract::<PyBackedBytes>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(_) => {
            let type_name = value.get_type().name()?.to_string();
            Err(PyTypeError::new_err(format!("a URL is a str or bytes, not {type_name}")))
        }
    }
}
