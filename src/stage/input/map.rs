//! A file as a slice: the one place that maps memory.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of a file, as its pages; none for an empty one, which cannot be mapped.
#[derive(Debug)]
pub struct Map(Option<Mmap>);

impl Map {
    /// Maps all of `file` for reading.
    pub fn of(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self(None));
        }
        // SAFETY: the map is read as bytes only, and every byte is a valid u8. A file that somebody writes to meanwhile
        // may show other bytes in the second pass than in the first; nothing here relies on their staying the same
        // for memory safety (every index comes from the bytes at hand), the second pass compares what it finds with
        // the plan, and the identity check refuses the run. One that is cut short ends the process with SIGBUS
        // before anything is published.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self(Some(map)))
    }

    /// All of them.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}
