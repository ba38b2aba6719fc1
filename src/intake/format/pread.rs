//! A file read at offsets: who shares one with other threads, or with somebody who will read it from its start, must not move
//! the place that it stands at.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A file from a place on.
pub struct Pread {
    file: Arc<File>,
    at: u64,
}

impl Pread {
    pub fn new(file: Arc<File>, at: u64) -> Self {
        Self { file, at }
    }
}

impl Read for Pread {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read_at(out, self.at)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}
