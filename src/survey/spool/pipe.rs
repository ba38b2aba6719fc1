//! Pipes: their writers may be silent for ever, and then a run must end all the same.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use crate::common::stop::Stop;

/// Read from a pipe at once: what Linux holds in one, and a little more.
const PIPE_BYTES: usize = 128 << 10;

/// How long a raised `stop`, or the failure of an input, may go unseen while the writer of a pipe is silent.
const PATIENCE: Duration = Duration::from_millis(100);

/// Which input was the first to fail, and which one asks. Then nobody needs what the pipes may say, and they may be silent for
/// ever.
#[derive(Debug, Clone)]
pub struct Failed {
    first: Arc<AtomicUsize>,
    own: usize,
}

impl Default for Failed {
    fn default() -> Self {
        Self { first: Arc::new(AtomicUsize::new(Self::NONE)), own: Self::NONE }
    }
}

impl Failed {
    const NONE: usize = usize::MAX;

    /// The one of the input with this number.
    pub fn of(&self, number: usize) -> Self {
        Self { first: Arc::clone(&self.first), own: number }
    }

    /// This one has failed.
    pub fn set(&self) {
        let _ = self.first.compare_exchange(Self::NONE, self.own, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether one has.
    pub fn is_any(&self) -> bool {
        self.first.load(Ordering::Relaxed) != Self::NONE
    }

    /// Whether another one was the first.
    pub fn is_another(&self) -> bool {
        self.is_any() && self.first.load(Ordering::Relaxed) != self.own
    }
}

/// A pipe, read by a thread of its own: a read that waits for a silent writer cannot be called off, and neither a raised
/// `stop` nor the failure of an input must wait for it.
pub struct Patient {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    stop: Stop,
    failed: Failed,
    /// All bytes that came through the pipe.
    bytes: Arc<AtomicU64>,
}

impl Patient {
    pub fn new(mut pipe: Box<dyn Read + Send>, stop: &Stop, failed: &Failed, bytes: &Arc<AtomicU64>) -> Self {
        let (pieces, incoming) = bounded(4);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIPE_BYTES];
                let read = match pipe.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(1..));
                let piece = read.map(|bytes| {
                    piece.truncate(bytes);
                    piece
                });
                if pieces.send(piece).is_err() || ended {
                    return;
                }
            }
        });
        let (stop, failed, bytes) = (stop.clone(), failed.clone(), Arc::clone(bytes));
        Self { pieces: incoming, piece: Vec::new(), at: 0, stop, failed, bytes }
    }
}

impl Read for Patient {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            if self.stop.is_raised() || self.failed.is_any() {
                return Err(io::Error::other("called off"));
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => (self.piece, self.at) = (piece?, 0),
                // It has sent all there was.
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) => continue,
            }
            if self.piece.is_empty() {
                return Ok(0);
            }
            self.bytes.fetch_add(self.piece.len() as u64, Ordering::Relaxed);
        }
        let bytes = to.len().min(self.piece.len() - self.at);
        to[..bytes].copy_from_slice(&self.piece[self.at..][..bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}
