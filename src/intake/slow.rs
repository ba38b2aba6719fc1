//! A reader that gives few bytes at a time, for tests of what happens where a read ends.

use std::io::{self, Read};

/// Gives at most this many bytes of a reader at a time.
pub struct Slow<R>(pub R, pub usize);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = out.len().min(self.1);
        self.0.read(&mut out[..bytes])
    }
}
