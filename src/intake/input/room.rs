//! Memory that is filled with lines and then read as an input.

use memmap2::{MmapMut, MmapOptions};

/// Bytes of a page. Pages of a larger size would be cheaper on most machines, but guests that return free memory to their host get
/// them back slowly.
const PAGE_BYTES: usize = 4096;

/// Memory that a process gets only as far as it is written to.
#[derive(Debug)]
pub struct Room(MmapMut);

impl Room {
    /// Room for `bytes` bytes. `None` if there is none.
    pub fn of(bytes: usize) -> Option<Self> {
        let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon();
        map.ok().filter(|map| !map.is_empty()).map(Self)
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// All of it, to be filled from its start.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Bytes of memory that are held once the first `filled` are written to.
    pub fn held_bytes(&self, filled: usize) -> usize {
        filled.next_multiple_of(PAGE_BYTES).min(self.0.len())
    }
}
