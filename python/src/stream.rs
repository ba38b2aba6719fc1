//! Results as Arrow streams: a command writes lines on a separate thread, which become record batches, a few ahead of the reader.

use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{mem, process, thread};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use pyo3::exceptions::{PyBaseException, PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use sitemill::cli::embed::caught;
use sitemill::{AppliedSettings, Result, Stop};

use crate::ahead::POLL_INTERVAL;
use crate::ending::{self, Active};
use crate::errors::SIGINT;
use crate::interrupted::interrupt_reader;
use crate::rows::Feed;
use crate::table::{BatchResult, Lines, Table};
use crate::unread::Unread;
use crate::{capsule, errors, gil};

/// Maximum number of batches that wait for the reader.
const BATCHES_AHEAD: usize = 4;

/// A result that any Arrow library can read: `pyarrow.table(…)`, `polars.DataFrame(…)`. It can be read once.
#[pyclass(module = "sitemill")]
pub struct Stream {
    schema: SchemaRef,
    batches: Unread,
    end: Arc<Mutex<End>>,
}

/// How the command has ended.
#[derive(Default)]
struct End {
    report: Option<String>,
    /// The exception after the first batch. A library that reads the stream knows only its message.
    error: Option<PyErr>,
}

#[pymethods]
impl Stream {
    /// The stream, by the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows ignoring it.
        drop(requested_schema);
        let batches = self.batches.take();
        let batches = batches.ok_or_else(|| PyRuntimeError::new_err("the stream was read already"))?;
        capsule::put(py, Box::new(batches))
    }

    /// The columns of the stream, by the same interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::put_schema(py, &self.schema)
    }

    /// The counts of the command as JSON, once all rows are read.
    #[getter]
    fn report_json(&self) -> Option<String> {
        locked(&self.end).report.clone()
    }

    /// The exception that has ended the stream after its first batch.
    #[getter]
    fn error(&self, py: Python<'_>) -> Option<Py<PyBaseException>> {
        locked(&self.end).error.as_ref().map(|error| error.value(py).clone().unbind())
    }
}

impl Stream {
    /// Runs `work`, which writes lines and returns its counts as JSON. `feed` passes it rows of an iterator. It uses the store
    /// settings `applied`, if any. An error before the first batch is raised at once.
    pub fn of(
        py: Python<'_>,
        table: Table,
        feed: Option<Feed>,
        stop: Stop,
        applied: Option<AppliedSettings>,
        work: impl FnOnce(&mut dyn Write, &Stop) -> Result<String> + Send + 'static,
    ) -> PyResult<Self> {
        let schema = table.schema();
        Self::of_batches(py, schema, feed, stop, applied, move |batches, stop| {
            let mut lines = Lines::new(table, batches);
            let counts = work(&mut lines, stop)?;
            lines.end().map(|()| counts)
        })
    }

    /// Runs `work`, which sends batches and returns its counts as JSON, in the same way.
    pub fn of_batches(
        py: Python<'_>,
        schema: SchemaRef,
        feed: Option<Feed>,
        stop: Stop,
        applied: Option<AppliedSettings>,
        work: impl FnOnce(Sender<BatchResult>, &Stop) -> Result<String> + Send + 'static,
    ) -> PyResult<Self> {
        let (batches, received) = bounded::<BatchResult>(BATCHES_AHEAD);
        let end = Arc::<Mutex<End>>::default();
        let (at_end, asked) = (Arc::clone(&end), stop.clone());
        let work = move || match caught(|| work(batches.clone(), &asked)) {
            Ok(counts) => locked(&at_end).report = Some(counts),
            // Without a reader, the result is not needed.
            Err(error) => drop(batches.send(Err(error))),
        };
        thread::Builder::new().name("sitemill-stream".into()).spawn(work)?;
        let _active = Active::new();
        let mut batches = Batches {
            schema: schema.clone(),
            first: None,
            received,
            feed,
            stop,
            applied,
            process: process::id(),
            end: Arc::clone(&end),
        };
        batches.first = batches.receive(py)?.transpose().map_err(|error| errors::exception(py, &error))?;
        Ok(Self { schema, batches: Unread::new(Box::new(batches)), end })
    }
}

fn locked(end: &Mutex<End>) -> MutexGuard<'_, End> {
    end.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The batches that the thread sends. Dropping it stops the thread.
struct Batches {
    schema: SchemaRef,
    first: Option<RecordBatch>,
    received: Receiver<BatchResult>,
    feed: Option<Feed>,
    stop: Stop,
    /// The store settings of the thread, until its result is complete or no longer needed: what it still reads is then discarded.
    applied: Option<AppliedSettings>,
    /// The process of the thread. After a fork, the child has no such thread.
    process: u32,
    end: Arc<Mutex<End>>,
}

impl Batches {
    /// The next batch. Other Python threads run while it waits.
    ///
    /// # Errors
    /// Any exception that a signal handler or the iterator raises; `Interrupted` when the interpreter ends.
    fn receive(&mut self, py: Python<'_>) -> PyResult<Option<BatchResult>> {
        loop {
            let waited = match &mut self.feed {
                // Rows are passed on only while there is no batch.
                Some(_) => self.received.try_recv().map_err(|error| error == TryRecvError::Empty),
                None => {
                    let received = py.detach(|| self.received.recv_timeout(POLL_INTERVAL));
                    received.map_err(|error| error == RecvTimeoutError::Timeout)
                }
            };
            // Also if there is a batch: a library may read all of them without running any code of Python in between.
            py.check_signals()?;
            ending::check(py)?;
            match waited {
                Ok(batch) => {
                    self.applied.take_if(|_| batch.is_err());
                    return Ok(Some(batch));
                }
                Err(false) => {
                    self.applied = None;
                    return Ok(None);
                }
                Err(true) => {}
            }
            if let Some(feed) = &mut self.feed
                && !feed.step(py)?
            {
                self.feed = None;
            }
        }
    }

    /// Stops the thread because of the exception `raised`, which the library that reads the stream cannot raise.
    fn fail(&mut self, py: Python<'_>, raised: PyErr) {
        self.stop.raise(SIGINT);
        (self.feed, self.applied) = (None, None);
        let is_ctrl_c = raised.is_instance_of::<PyKeyboardInterrupt>(py);
        locked(&self.end).error = Some(raised);
        if is_ctrl_c {
            let _ = interrupt_reader(py);
        }
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.stop.raise(SIGINT);
        match self.feed.take() {
            // Its objects belong to Python, which this thread must not enter any more.
            Some(feed) if ending::is_ending() => mem::forget(feed),
            Some(feed) => gil::hold(|| drop(feed)),
            None => {}
        }
    }
}

impl Iterator for Batches {
    type Item = std::result::Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        let failed = |why: String| Some(Err(ArrowError::ExternalError(why.into())));
        let _active = Active::new();
        if ending::is_ending() {
            return failed("the interpreter ends".into());
        }
        if process::id() != self.process {
            return failed(
                "the stream belongs to the process before the fork; create a new one in this process".into(),
            );
        }
        gil::attach(|py| match self.receive(py) {
            Ok(batch) => match batch? {
                Ok(batch) => Some(Ok(batch)),
                Err(error) => {
                    self.fail(py, errors::exception(py, &error));
                    failed(errors::whole_text(&error))
                }
            },
            Err(raised) => {
                let why = raised.to_string();
                self.fail(py, raised);
                failed(why)
            }
        })
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
