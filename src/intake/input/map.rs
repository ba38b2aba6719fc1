//! Maps files into memory as slices. No other module maps memory.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use memmap2::{Advice, Mmap, MmapMut};

use super::changed::cut_short;
use super::lost::WatchedPages;
use crate::error::{Error, ErrorKind, Result, message};
use crate::words::grouped;

/// Bytes per read of a file that cannot be mapped.
const COPY_BYTES: usize = 1 << 20;

/// The bytes of a file, mapped or copied.
#[derive(Debug)]
pub enum Map {
    /// The mapped file. The watch is dropped before the map.
    Pages { _watch: WatchedPages, map: Mmap },
    /// Memory that was filled before.
    Memory(Mmap),
    /// A copy, if the file is empty, its file system does not support maps, or the address space limit is too low.
    Copy(Vec<u8>),
    /// A small file, which was read: its copy counts as held memory.
    Held(Vec<u8>),
    /// A range of the pages of another map.
    Part(Arc<Map>, Range<usize>),
}

impl Map {
    /// Maps all of `file` for reading, or reads it if it cannot be mapped. `name` is for messages.
    ///
    /// # Errors
    /// If it can be neither mapped nor read.
    pub fn of(name: &Path, file: &File) -> Result<Self> {
        match file.metadata().map_err(|error| Error::input(name, error))?.len() {
            0 => Ok(Self::none()),
            bytes => Self::pages(name, file).or_else(|_| Self::read(name, file, bytes).map(Self::Copy)),
        }
    }

    /// Creates a map without bytes, for an input that has none.
    pub fn none() -> Self {
        Self::Copy(Vec::new())
    }

    /// Reads the first `bytes` bytes of `file`.
    ///
    /// # Errors
    /// If there is no memory for them, or if they cannot be read.
    pub fn read(name: &Path, file: &File, bytes: u64) -> Result<Vec<u8>> {
        let mut copy = Vec::new();
        let room = usize::try_from(bytes).ok().and_then(|bytes| copy.try_reserve_exact(bytes).ok());
        room.ok_or_else(|| no_room_for(name, bytes))?;
        // The file may have been read before, to detect its format.
        while copy.len() as u64 != bytes {
            let at = copy.len();
            copy.resize((at + COPY_BYTES).min(bytes as usize), 0);
            file.read_exact_at(&mut copy[at..], at as u64).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => cut_short(name),
                _ => Error::input(name, error),
            })?;
        }
        Ok(copy)
    }

    /// Maps all of `file`, which is not empty.
    ///
    /// # Errors
    /// If its file system does not support maps, or if the system allows no further one.
    pub fn pages(name: &Path, file: &File) -> io::Result<Self> {
        // SAFETY: the map is read as bytes only, and every byte is a valid u8. If the file is written to meanwhile, the second
        // pass may see other bytes than the first. Memory safety does not depend on the bytes staying the same (every index
        // comes from the bytes just read), the second pass compares its results with the layout, and the identity check fails the
        // run. If the file is truncated, it reads as zeros and the run fails (see `lost`). Without the handler of `lost`, SIGBUS
        // ends the process before anything is published.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self::Pages { _watch: WatchedPages::over(name, &map), map })
    }

    /// Hints that `range` will be read soon, so that the system can read ahead. The system may ignore it.
    pub fn prefetch(&self, range: Range<usize>) {
        if let Self::Pages { map, .. } = self {
            let _ = map.advise_range(Advice::WillNeed, range.start, range.len());
        }
    }

    /// Bytes of a small file that was read.
    pub fn held_bytes(&self) -> usize {
        if let Self::Held(bytes) = self { bytes.len() } else { 0 }
    }

    /// All bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Pages { map, .. } | Self::Memory(map) => map,
            Self::Copy(bytes) | Self::Held(bytes) => bytes,
            Self::Part(whole, range) => &whole.bytes()[range.clone()],
        }
    }
}

/// Bytes of a segment whose pages are populated together.
const POPULATED_BYTES: usize = 256 * 1024;

/// Memory that is filled from its start, and then read like a mapped file. It takes no memory beyond the last step of
/// [`POPULATED_BYTES`] that was begun.
#[derive(Debug)]
pub struct Segment {
    map: MmapMut,
    filled: usize,
    /// Bytes whose pages were populated, if the system supports that.
    populated: usize,
}

impl Segment {
    /// Reserves `bytes` bytes of address space.
    pub fn new(bytes: usize) -> io::Result<Self> {
        Ok(Self { map: MmapMut::map_anon(bytes)?, filled: 0, populated: 0 })
    }

    /// Appends `bytes` and returns their offset, or `None` if they do not fit.
    pub fn append(&mut self, bytes: &[u8]) -> Option<usize> {
        let at = self.filled;
        if at + bytes.len() > self.populated {
            self.populate();
        }
        self.map.get_mut(at..at + bytes.len())?.copy_from_slice(bytes);
        self.filled += bytes.len();
        Some(at)
    }

    /// Populates the next pages together, which is faster than a page fault for each. Systems that cannot do that populate each
    /// page when it is first written.
    fn populate(&mut self) {
        let step = POPULATED_BYTES.min(self.map.len() - self.populated);
        #[cfg(target_os = "linux")]
        let _ = self.map.advise_range(Advice::PopulateWrite, self.populated, step);
        self.populated += step;
    }

    /// Ends the filling.
    pub fn into_map(self) -> io::Result<Map> {
        self.map.make_read_only().map(Map::Memory)
    }
}

/// The error for a file that can neither be mapped nor read because the address space is too small for its `bytes`.
fn no_room_for(name: &Path, bytes: u64) -> Error {
    let bytes = grouped(bytes);
    let way = "raise the limit (ulimit -v), or split the input";
    Error::new(ErrorKind::Memory, message!(name, ": not enough address space for its {bytes} bytes; {way}"))
}
