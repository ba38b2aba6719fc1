//! A reader of an object that prefetches a little.

use std::io::{self, Read};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;

use bytes::{Buf, Bytes};
use futures_util::{FutureExt, StreamExt};
use object_store::GetResult;
use tokio::sync::mpsc;

use super::failure::Failure;
use super::runtime::spawn;

/// Maximum number of pieces that wait for the reader, each of a few kilobytes.
const PIECES_AHEAD: usize = 64;

/// Reads the bytes of an object in order.
pub struct ObjectReader {
    /// Its URL, for messages.
    path: PathBuf,
    /// `None` comes after the last piece. So a task that has died is not taken for the end of the object.
    pieces: mpsc::Receiver<Result<Option<Bytes>, Failure>>,
    piece: Bytes,
    is_at_end: bool,
}

impl ObjectReader {
    /// Reads the body of the response `got` for the object at `path`. `credentials` describes where the credentials come from.
    pub fn new(got: GetResult, path: PathBuf, credentials: String) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES_AHEAD);
        // The task ends with the object, or when the reader is dropped.
        drop(spawn(async move {
            let mut stream = got.into_stream();
            loop {
                let piece = match AssertUnwindSafe(stream.next()).catch_unwind().await {
                    Ok(piece) => piece.transpose().map_err(|error| Failure::of(&error, &credentials)),
                    Err(_) => Err(Failure::panicked()),
                };
                let is_last = !matches!(piece, Ok(Some(_)));
                if sender.send(piece).await.is_err() || is_last {
                    return;
                }
            }
        }));
        Self { path, pieces, piece: Bytes::new(), is_at_end: false }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !out.is_empty() && !self.is_at_end {
            match self.pieces.blocking_recv().unwrap_or_else(|| Err(Failure::panicked())) {
                Ok(None) => self.is_at_end = true,
                Ok(Some(piece)) => self.piece = piece,
                // Decoders return it unchanged, so that it is not taken for damaged data.
                Err(failure) => {
                    return Err(failure.into_error(&self.path, "could not be read").into());
                }
            }
        }
        let bytes = out.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut out[..bytes]);
        Ok(bytes)
    }
}
