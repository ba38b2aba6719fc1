//! A reader of an object, which is fetched a little ahead of it.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use futures_util::StreamExt;
use object_store::GetResult;
use tokio::sync::mpsc;

use super::failure::Failure;
use super::runtime::spawn;

/// Pieces of the object that wait for the reader, of a few kilobytes each.
const PIECES_AHEAD: usize = 64;

/// The bytes of an object, in order.
pub struct ObjectReader {
    pieces: mpsc::Receiver<Result<Bytes, Failure>>,
    piece: Bytes,
}

impl ObjectReader {
    /// Reads the answer `got`.
    pub fn new(got: GetResult, credentials: String) -> Self {
        let (sender, pieces) = mpsc::channel(PIECES_AHEAD);
        // Ends when the object does, or the reader.
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
        Self { pieces, piece: Bytes::new() }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !out.is_empty() {
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(Ok(piece)) => self.piece = piece,
                Some(Err(failure)) => return Err(io::Error::other(failure.to_string())),
            }
        }
        let bytes = out.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut out[..bytes]);
        Ok(bytes)
    }
}
