//! A file as a slice: the one place that maps memory.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memmap2::{Advice, Mmap};

use super::lost::Watch;

/// Read at once where a file cannot be mapped.
const COPY_BYTES: usize = 1 << 20;

/// The bytes of a file, as its pages.
#[derive(Debug)]
pub enum Map {
    /// The file itself; the watch ends before the map does.
    Pages { _watch: Watch, map: Mmap },
    /// A copy: of an empty file, or of one whose file system or whose limit of address space allows no map.
    Copy(Vec<u8>),
}

impl Map {
    /// Maps all of `file` for reading, or reads it if it cannot be mapped. `name` is for messages.
    pub fn of(name: &Path, file: &File) -> io::Result<Self> {
        match file.metadata()?.len() {
            0 => Ok(Self::Copy(Vec::new())),
            bytes => Self::pages(name, file).or_else(|_| Self::copy(file, bytes)),
        }
    }

    /// The bytes of an input that has none.
    pub fn none() -> Self {
        Self::Copy(Vec::new())
    }

    fn copy(file: &File, bytes: u64) -> io::Result<Self> {
        let mut copy = Vec::new();
        let room = usize::try_from(bytes).ok().and_then(|bytes| copy.try_reserve_exact(bytes).ok());
        room.ok_or(io::ErrorKind::OutOfMemory)?;
        // The file may have been read before, to see what it is.
        while copy.len() as u64 != bytes {
            let at = copy.len();
            copy.resize((at + COPY_BYTES).min(bytes as usize), 0);
            file.read_exact_at(&mut copy[at..], at as u64)?;
        }
        Ok(Self::Copy(copy))
    }

    fn pages(name: &Path, file: &File) -> io::Result<Self> {
        // SAFETY: the map is read as bytes only, and every byte is a valid u8. A file that somebody writes to meanwhile
        // may show other bytes in the second pass than in the first; nothing here relies on their staying the same
        // for memory safety (every index comes from the bytes at hand), the second pass compares what it finds with
        // the plan, and the identity check refuses the run. One that is cut short is read as zeros, and the run refused
        // (see `lost`), or ends the process with SIGBUS before anything is published if nobody asked for that.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self::Pages { _watch: Watch::over(name, &map), map })
    }

    /// Says that `range` will be read soon, so that the disk can begin. It is a hint, and may come to nothing.
    pub fn will_need(&self, range: Range<usize>) {
        if let Self::Pages { map, .. } = self {
            let _ = map.advise_range(Advice::WillNeed, range.start, range.len());
        }
    }

    /// All of them.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Pages { map, .. } => map,
            Self::Copy(bytes) => bytes,
        }
    }
}
