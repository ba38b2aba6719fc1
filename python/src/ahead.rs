//! Arrow streams from Python, each read by a separate thread, so that a run can be stopped while its stream waits for rows.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use crossbeam_channel::{Receiver, RecvTimeoutError, SendTimeoutError, Sender, bounded};
use sitemill::Stop;

use crate::ending::{self, Active};
use crate::errors::SIGINT;
use crate::frame::Frame;

/// How often a waiting thread checks whether it should stop.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum number of items that wait for the build.
pub const AHEAD: usize = 4;

/// An item of a stream; `None` is the end.
type Item = Option<Result<RecordBatch, ArrowError>>;

/// The batches of a stream.
pub struct Ahead {
    schema: SchemaRef,
    /// The stream until its first batch is needed. A run that fails before leaves the stream as it is.
    unread: Option<(Frame, Sender<Item>)>,
    batches: Receiver<Item>,
    stop: Stop,
}

impl Ahead {
    pub fn of(reader: Frame, stop: Stop) -> Self {
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
                Err(RecvTimeoutError::Disconnected) if ending::is_ending() => {
                    // The thread that reads the stream may notice this before the one that called sitemill.
                    self.stop.raise(SIGINT);
                    return failed("the interpreter ends");
                }
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
fn start(reader: Frame, to: Sender<Item>) -> std::io::Result<()> {
    let active = Active::new();
    let read = move || {
        // The stream, which may run Python code to its end, is dropped first.
        let (_active, mut reader) = (active, reader);
        while !ending::is_ending() {
            let batch = next(&mut reader);
            let is_last = !matches!(batch, Some(Ok(_)));
            if !send(&to, batch) || is_last {
                return;
            }
        }
    };
    thread::Builder::new().name("sitemill-rows".into()).spawn(read).map(drop)
}

/// The next item. Batches come without a schema of their own, so Arrow panics if one lacks a column or a buffer that the stream
/// should have.
fn next(reader: &mut Frame) -> Item {
    catch_unwind(AssertUnwindSafe(|| reader.next())).unwrap_or_else(|_| {
        let why = "a batch does not have the columns of the stream; cast all batches to one schema";
        Some(Err(ArrowError::SchemaError(why.into())))
    })
}

/// Returns false if nobody needs the item.
fn send(to: &Sender<Item>, mut item: Item) -> bool {
    loop {
        match to.send_timeout(item, POLL_INTERVAL) {
            Ok(()) => return true,
            Err(SendTimeoutError::Timeout(back)) if !ending::is_ending() => item = back,
            Err(_) => return false,
        }
    }
}
