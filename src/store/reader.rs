//! A reader of an object that prefetches a little.

use std::io::{self, Read};
use std::path::PathBuf;

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
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
    pieces: mpsc::Receiver<Result<Bytes, Failure>>,
    piece: Bytes,
}

impl ObjectReader {
    /// Reads the body of the response `got` for the object at `path`. `credentials` describes where the credentials come from.
    pub fn new(got: GetResult, path: PathBuf, credentials: String) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES_AHEAD);
        // The task ends with the object, or when the reader is dropped.
        drop(spawn(async move {
            let mut stream = got.into_stream();
            while let Some(piece) = stream.next().await {
                let piece = piece.map_err(|error| Failure::of(&error, &credentials));
                let is_last = piece.is_err();
                if sender.send(piece).await.is_err() || is_last {
                    return;
                }
            }
        }));
        Self { path, pieces, piece: Bytes::new() }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !out.is_empty() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(Ok(piece)) => self.piece = piece,
                // Decoders return it unchanged, so that it is not taken for damaged data.
                Some(Err(failure)) => {
                    return Err(failure.into_error(&self.path, "could not be read").into());
                }
            }
        }
        let bytes = out.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut out[..bytes]);
        Ok(bytes)
    }
}
