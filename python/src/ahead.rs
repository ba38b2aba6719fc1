//! Arrow streams from Python, each read by a separate thread, so that a run can be stopped while its stream waits for rows.
//!
//! A stream may run Python code, and a thread in such code aborts the process if it continues while the interpreter ends. So the
//! interpreter waits for these threads first.

use std::mem;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use pyo3::prelude::*;
use sitemill::Stop;

/// How often a waiting thread checks whether it should stop.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of items that wait for the build.
pub const AHEAD: usize = 4;

/// How long the interpreter waits for streams that are being read. Ctrl-C ends the wait.
const EXIT_WAIT_MAX: Duration = Duration::from_secs(10);

/// The threads that read streams, each with its process: after a fork, the child knows them but does not have them.
static THREADS: Mutex<Vec<(u32, JoinHandle<()>)>> = Mutex::new(Vec::new());

/// Whether the interpreter waits for the threads.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// An item of a stream; `None` is the end.
type Item = Option<Result<RecordBatch, ArrowError>>;

/// The batches of a stream.
pub struct Ahead {
    schema: SchemaRef,
    /// The stream until its first batch is needed. A run that fails before leaves the stream as it is.
    unread: Option<(RecordBatchStreamReader, Sender<Item>)>,
    batches: Receiver<Item>,
    stop: Stop,
}

impl Ahead {
    pub fn of(reader: RecordBatchStreamReader, stop: Stop) -> Self {
        let (to, batches) = bounded(AHEAD);
        Self { schema: reader.schema(), unread: Some((reader, to)), batches, stop }
    }
}

impl Iterator for Ahead {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some((reader, to)) = self.unread.take()
            && let Err(error) = start(reader, to)
        {
            return Some(Err(error.into()));
        }
        let failed = |why: &str| Some(Err(ArrowError::ExternalError(why.into())));
        loop {
            match self.batches.recv_timeout(POLL_INTERVAL) {
                Ok(batch) => return batch,
                Err(RecvTimeoutError::Timeout) if self.stop.is_raised() => {
                    return failed("the run was stopped");
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return failed("the stream broke off"),
            }
        }
    }
}

impl RecordBatchReader for Ahead {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// Starts a thread that reads the stream. It ends when the stream, the run or the interpreter does. The run does not wait for it,
/// because the stream may wait for anything.
fn start(mut reader: RecordBatchStreamReader, to: Sender<Item>) -> std::io::Result<()> {
    let read = move || {
        while !IS_ENDING.load(Ordering::Relaxed) {
            let batch = reader.next();
            let is_last = !matches!(batch, Some(Ok(_)));
            if !send(&to, batch) || is_last {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name("sitemill-rows".into()).spawn(read)?;
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    threads.retain(|(_, thread)| !thread.is_finished());
    threads.push((process::id(), thread));
    Ok(())
}

/// Returns false if nobody needs the item.
fn send(to: &Sender<Item>, mut item: Item) -> bool {
    loop {
        match to.send_timeout(item, POLL_INTERVAL) {
            Ok(()) => return true,
            Err(SendTimeoutError::Timeout(back)) if !IS_ENDING.load(Ordering::Relaxed) => item = back,
            Err(_) => return false,
        }
    }
}

/// Waits for the threads that read streams, before the interpreter ends. A stream that waits for long is left behind: most likely,
/// the process has ended before it continues.
#[pyfunction]
pub fn end_streams(py: Python<'_>) -> PyResult<()> {
    IS_ENDING.store(true, Ordering::Relaxed);
    let threads = mem::take(&mut *THREADS.lock().unwrap_or_else(PoisonError::into_inner));
    let begun = Instant::now();
    let is_running = |(of, thread): &(u32, JoinHandle<()>)| *of == process::id() && !thread.is_finished();
    while threads.iter().any(is_running) && begun.elapsed() < EXIT_WAIT_MAX {
        py.detach(|| thread::sleep(Duration::from_millis(10)));
        py.check_signals()?;
    }
    Ok(())
}
