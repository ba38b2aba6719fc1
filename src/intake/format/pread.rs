//! A file that is read at offsets. It may be shared with other threads, or read from its start later, so its file position must
//! not move.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Reads a file from an offset on.
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
