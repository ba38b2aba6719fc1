//! Streams that can be given again unless they were read: some libraries take one only for its schema, and a build that fails
//! early has not read its rows.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};

type Reader = Box<dyn RecordBatchReader + Send>;

/// Holds a stream until it is read.
pub struct Unread(Arc<Mutex<Option<Reader>>>);

impl Unread {
    pub fn new(reader: Reader) -> Self {
        Self(Arc::new(Mutex::new(Some(reader))))
    }

    /// Takes the stream, unless it was read or somebody else has it. It comes back if it is dropped before it is read.
    pub fn take(&self) -> Option<Taken> {
        let reader = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        reader.map(|reader| Taken {
            schema: reader.schema(),
            reader: Some(reader),
            back: Some(Arc::downgrade(&self.0)),
        })
    }
}

/// A stream that has been taken.
pub struct Taken {
    schema: SchemaRef,
    /// `None` only while it is dropped.
    reader: Option<Reader>,
    /// Where it comes from. `None` once it is being read.
    back: Option<Weak<Mutex<Option<Reader>>>>,
}

impl Iterator for Taken {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.back = None;
        self.reader.as_mut()?.next()
    }
}

impl RecordBatchReader for Taken {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(back) = self.back.take().and_then(|back| back.upgrade()) {
            *back.lock().unwrap_or_else(PoisonError::into_inner) = self.reader.take();
        }
    }
}
