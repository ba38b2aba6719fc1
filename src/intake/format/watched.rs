//! Reading that ends early if the run does, and whose progress is known.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::RawInput;
use crate::common::pipe::{FirstFailure, PipeReader};
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::read_at::ReadControl;

impl<'a> RawInput<'a> {
    /// Returns the bytes of an input. Reads of anything but a local file fail once `stop` is raised or an input has `failed`, even
    /// while they wait for a silent pipe or another machine. `bytes` counts the bytes that were read from a pipe, rows or a remote
    /// file.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if a pipe needs a thread, which cannot be started.
    pub fn watched(self, stop: &Stop, failed: &FirstFailure, bytes: &Arc<AtomicU64>) -> Result<Self>
    where
        Self: 'a,
    {
        Ok(match self {
            Self::File(file) => Self::File(file),
            Self::Stream(pipe) => Self::Stream(Box::new(PipeReader::new(pipe, stop, failed, bytes)?)),
            Self::Remote(file) => {
                let (stop, failed) = (stop.clone(), failed.clone());
                let is_cancelled = Arc::new(move || stop.is_raised() || failed.is_any());
                Self::Remote(file.watched(ReadControl { is_cancelled, bytes: Arc::clone(bytes) }))
            }
            Self::Rows(rows) => {
                let (stop, failed, bytes) = (stop.clone(), failed.clone(), Arc::clone(bytes));
                Self::Rows(rows.watched(move |row_bytes| {
                    bytes.fetch_add(row_bytes, Ordering::Relaxed);
                    !stop.is_raised() && !failed.is_any()
                }))
            }
        })
    }

    /// The size of a file on another machine, if that says it.
    pub fn remote_bytes(&self) -> Option<u64> {
        match self {
            Self::Remote(file) => file.len().ok(),
            Self::File(_) | Self::Stream(_) | Self::Rows(_) => None,
        }
    }
}
