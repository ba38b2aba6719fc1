//! Rows from Python: Arrow streams, and iterators of texts and tuples.
//!
//! An iterator runs in the thread that called sitemill, as its objects may belong to that thread, and so that Ctrl-C raises
//! `KeyboardInterrupt` in it. Its rows go to the build through a channel. An Arrow stream is read by a thread of its own:
//! see [`Ahead`].
//!
//! Nothing is read before the build needs its first row. If it fails before that, for example because of an option, or because
//! another run holds the directory, the rows can be given to another build.

use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};
use std::vec;

use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyIterator, PyString, PyTuple};
use sitemill::{Source, SourceRow, Stop};

use crate::ahead::{AHEAD, Ahead, POLL_INTERVAL};
use crate::capsule;

/// Rows that are taken together, so that the interpreter is attached once for all of them.
const ROWS_TOGETHER: usize = 1024;

/// How long rows of a slow iterator are collected before they are passed on.
const TAKING: Duration = Duration::from_millis(50);

/// The source of the rows in `rows`: an object with `__arrow_c_stream__`, or an iterator, which needs its [`Feed`]. A row of an
/// iterator is the text of a URL, perhaps with a line end, or a tuple of URL, lastmod, changefreq, priority, alternates, images,
/// videos, news, section, each of them `str`, `bytes` or `None`; whether the row has other values, `None` if it cannot be read and
/// the URL is its text; and, for the first row with its keys, the names of these. A tag with several values is a tuple of them.
pub fn source(rows: &Bound<'_, PyAny>, stop: &Stop) -> PyResult<(Source<'static>, Option<Feed>)> {
    if rows.hasattr("__arrow_c_stream__")? {
        return Ok((Source::arrow("rows", Ahead::of(capsule::take(rows)?, stop.clone())), None));
    }
    let (to, from) = bounded(AHEAD);
    let (ask, asked) = bounded(1);
    let (rows, waiting) = (rows.try_iter()?.unbind(), VecDeque::new());
    let feed = Feed { rows, asked: Some(asked), waiting, is_done: false, to };
    let fed = Fed { ask: Some(ask), from, taken: Vec::new().into_iter(), is_done: false };
    Ok((Source::try_rows("rows", fed), Some(feed)))
}

/// The items that a feed sends.
enum Portion {
    Rows(Vec<SourceRow>),
    End,
    Failed(PyErr),
}

/// An iterator whose rows are passed on by the thread that owns it.
pub struct Feed {
    rows: Py<PyIterator>,
    /// Receives a message when the build needs the first row. `None` after that.
    asked: Option<Receiver<()>>,
    waiting: VecDeque<Portion>,
    /// Whether the iterator has ended.
    is_done: bool,
    to: Sender<Portion>,
}

impl Feed {
    /// Takes rows and passes them on. Returns whether there may be more. It takes little longer than [`POLL_INTERVAL`], unless the
    /// iterator waits.
    ///
    /// # Errors
    /// An exception that ends the run unchanged: one that is not a subclass of `Exception`, such as `KeyboardInterrupt`, or the
    /// refusal of a row. Any other exception becomes an error of the build.
    pub fn step(&mut self, py: Python<'_>) -> PyResult<bool> {
        if let Some(asked) = &self.asked {
            match py.detach(|| asked.recv_timeout(POLL_INTERVAL)) {
                Ok(()) => self.asked = None,
                Err(RecvTimeoutError::Timeout) => return Ok(true),
                // The run has ended.
                Err(RecvTimeoutError::Disconnected) => return Ok(false),
            }
        }
        if self.waiting.is_empty() && !self.is_done {
            self.take(py)?;
        }
        py.detach(|| {
            while let Some(portion) = self.waiting.pop_front() {
                match self.to.send_timeout(portion, POLL_INTERVAL) {
                    Ok(()) => {}
                    Err(SendTimeoutError::Timeout(portion)) => {
                        self.waiting.push_front(portion);
                        return Ok(true);
                    }
                    // The run has ended.
                    Err(SendTimeoutError::Disconnected(_)) => return Ok(false),
                }
            }
            Ok(!self.is_done)
        })
    }

    fn take(&mut self, py: Python<'_>) -> PyResult<()> {
        let begun = Instant::now();
        let mut taken = Vec::with_capacity(ROWS_TOGETHER);
        let mut rows = self.rows.bind(py).clone();
        let last = loop {
            if taken.len() == ROWS_TOGETHER || begun.elapsed() > TAKING {
                break None;
            }
            match rows.next().map(|given| given.and_then(|given| row(&given))) {
                Some(Ok(row)) => taken.push(row),
                Some(Err(error)) if !error.is_instance_of::<PyException>(py) => return Err(error),
                Some(Err(error)) => match refusal(py, &error) {
                    Some(refusal) => return Err(refusal),
                    None => break Some(Portion::Failed(error)),
                },
                None => break Some(Portion::End),
            }
        };
        self.is_done = last.is_some();
        self.waiting.push_back(Portion::Rows(taken));
        self.waiting.extend(last);
        Ok(())
    }
}

/// The exception with which the package refuses a row. Exceptions of the caller's iterator are none, even if another run has raised
/// them.
fn refusal(py: Python<'_>, error: &PyErr) -> Option<PyErr> {
    let class = py.import("sitemill._rows").and_then(|rows| rows.getattr("Refusal")).ok()?;
    let refusal = error.value(py);
    let is_refusal = refusal.get_type().is(&class);
    is_refusal.then(|| refusal.getattr("error").ok()).flatten().map(PyErr::from_value)
}

/// The rows of a feed.
struct Fed {
    /// Asks for the first row. `None` after that.
    ask: Option<Sender<()>>,
    from: Receiver<Portion>,
    taken: vec::IntoIter<SourceRow>,
    is_done: bool,
}

impl Iterator for Fed {
    type Item = Result<SourceRow, Box<dyn Error + Send + Sync>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.taken.next() {
                return Some(Ok(row));
            }
            if self.is_done {
                return None;
            }
            if let Some(ask) = self.ask.take() {
                // If the feed is gone, there is nothing to receive either.
                let _ = ask.send(());
            }
            let portion = self.from.recv();
            self.is_done = !matches!(portion, Ok(Portion::Rows(_)));
            match portion {
                Ok(Portion::Rows(rows)) => self.taken = rows.into_iter(),
                Ok(Portion::End) => return None,
                Ok(Portion::Failed(error)) => return Some(Err(Box::new(error))),
                Err(_) => return Some(Err("the run was stopped".into())),
            }
        }
    }
}

fn row(given: &Bound<'_, PyAny>) -> PyResult<SourceRow> {
    if !given.is_instance_of::<PyTuple>() {
        let (mut url, is_exact) = bytes(Some(given.clone()))?;
        if url.pop_if(|last| *last == b'\n').is_some() {
            url.pop_if(|last| *last == b'\r');
        }
        return Ok(if is_exact { SourceRow::new(url) } else { SourceRow::bad(url) });
    }
    let (url, lastmod, changefreq, priority, alternates, images, videos, news, section, has_others, keys): Values<'_> =
        given.extract()?;
    let ((url, is_exact_url), (section, is_exact_section)) = (bytes(url)?, bytes(section)?);
    let mut row = match has_others.filter(|_| is_exact_url && is_exact_section) {
        None => SourceRow::bad(url),
        Some(has_others) => SourceRow::new(url)
            .lastmod(several(lastmod)?.join(AND))
            .changefreq(several(changefreq)?.join(AND))
            .priority(several(priority)?.join(AND))
            .section(section)
            .other_values(has_others),
    };
    for (tag, cells) in [("alternates", alternates), ("images", images), ("videos", videos), ("news", news)] {
        for cell in several(cells)? {
            row = row.extension(tag, cell).map_err(PyTypeError::new_err)?;
        }
    }
    match keys {
        Some(keys) => with_keys(row, keys),
        None => Ok(row),
    }
}

/// The items of a tuple that is a row.
type Values<'py> = (
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Value<'py>,
    Option<bool>,
    Option<Keys<'py>>,
);
type Value<'py> = Option<Bound<'py, PyAny>>;

/// The keys of a row that are read, each after the name of its part, and the others.
type Keys<'py> = (Vec<(String, Bound<'py, PyAny>)>, Vec<Bound<'py, PyAny>>);

fn with_keys(row: SourceRow, (used, unused): Keys<'_>) -> PyResult<SourceRow> {
    let name = |key| bytes(Some(key)).map(|(name, _)| name);
    let used = used.into_iter().map(|(part, key)| Ok((part, name(key)?))).collect::<PyResult<Vec<_>>>()?;
    let unused = unused.into_iter().map(name).collect::<PyResult<Vec<_>>>()?;
    Ok(row.keys(used.iter().map(|(part, key)| (&**part, &**key)), unused.iter().map(Vec::as_slice)))
}

/// Separates several values of a tag that may have only one, so that it is dropped, as for JSON lines.
const AND: &[u8] = b" | ";

/// The values of a tag: none for `None`, those of a tuple, or a single one.
fn several(value: Option<Bound<'_, PyAny>>) -> PyResult<Vec<Vec<u8>>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    match value.cast::<PyTuple>() {
        Ok(values) => values.iter().map(|value| Ok(bytes(Some(value))?.0)).collect(),
        Err(_) => Ok(vec![bytes(Some(value))?.0]),
    }
}

/// The bytes of a `str` or `bytes`; empty for `None`. Surrogates by which `os.fsdecode` escapes bytes become these bytes. False if
/// there are other surrogates, which stand for nothing.
fn bytes(value: Option<Bound<'_, PyAny>>) -> PyResult<(Vec<u8>, bool)> {
    let Some(value) = value else { return Ok((Vec::new(), true)) };
    let Ok(text) = value.cast::<PyString>() else {
        return Ok((value.extract::<PyBackedBytes>()?.to_vec(), true));
    };
    if let Ok(text) = text.to_str() {
        return Ok((text.as_bytes().to_vec(), true));
    }
    let encoded = |how| text.call_method1("encode", ("utf-8", how));
    let exact = encoded("surrogateescape");
    let is_exact = exact.is_ok();
    let encoded = exact.or_else(|_| encoded("surrogatepass"))?;
    Ok((encoded.extract::<PyBackedBytes>()?.to_vec(), is_exact))
}
