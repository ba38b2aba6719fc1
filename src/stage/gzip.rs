//! Gzip: one member a file, the same bytes for the same content.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};

/// Effort of the compressor: 0 stores, 1 is quick, 9 is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level(u8);

impl Level {
    /// The effort, if it is 0 to 9.
    pub fn new(level: u8) -> Option<Self> {
        (level <= 9).then_some(Self(level))
    }
}

impl Default for Level {
    /// 6, gzip's own.
    fn default() -> Self {
        Self(6)
    }
}

/// A gzip member that grows in memory.
#[derive(Debug)]
pub struct Member(GzEncoder<Vec<u8>>);

impl Member {
    /// Begins a member. RFC 1952 header with time 0 and no file name: equal content gives equal bytes.
    pub fn begin(level: Level, capacity: usize) -> Self {
        let to = Vec::with_capacity(capacity);
        Self(GzBuilder::new().mtime(0).write(to, Compression::new(level.0.into())))
    }

    /// Compresses `bytes`.
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("writing to memory cannot fail");
    }

    /// Ends the member and gives its bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0.finish().expect("writing to memory cannot fail")
    }
}
