//! Small files, which are read instead of mapped. A map takes whole pages, and systems limit the number of maps.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};
use crate::intake::input::Map;
use crate::intake::scratch::Pack;
use crate::survey::memory::Memory;

/// Bytes of a file that is always read.
const SMALL_BYTES: u64 = 64 << 10;

/// Bytes of a file that is read once there are [`MAPS_MAX`] maps.
const MEDIUM_BYTES: u64 = 8 << 20;

/// Half of the maps that Linux allows a process by default: threads and memory need some, too.
const MAPS_MAX: usize = 32_768;

/// Bytes of a scratch file that many files share.
const PACK_BYTES: u64 = 64 << 20;

/// Small files may take this fraction (an eighth) of the memory for data that grows with the input.
const HELD_SHARE: usize = 8;

/// Maps files. Small ones are held in memory, and in shared scratch files once they have taken their share of it.
pub struct FileMaps<'m> {
    memory: &'m Memory,
    /// The number of mapped files so far, and that after which larger files are read, too.
    maps: AtomicUsize,
    maps_max: usize,
    read: Mutex<ReadFiles>,
}

/// The place for the next small file.
struct ReadFiles {
    /// Bytes of memory that are left.
    room: usize,
    pack: Option<Pack>,
}

impl<'m> FileMaps<'m> {
    pub fn new(memory: &'m Memory) -> Self {
        let read = Mutex::new(ReadFiles { room: memory.hold / HELD_SHARE, pack: None });
        Self { memory, maps: AtomicUsize::new(0), maps_max: MAPS_MAX, read }
    }

    /// Maps or reads all of `file`. `name` is for messages.
    ///
    /// # Errors
    /// If it can be neither mapped nor read, or if scratch space runs out.
    pub fn map(&self, name: &Path, file: &File) -> Result<Map> {
        let bytes = file.metadata().map_err(|error| Error::input(name, error))?.len();
        let are_few = self.maps.load(Ordering::Relaxed) < self.maps_max;
        if bytes > if are_few { SMALL_BYTES } else { MEDIUM_BYTES } {
            self.maps.fetch_add(1, Ordering::Relaxed);
            return Map::of(name, file);
        }
        // A write to the file after this is noticed when its identity is checked.
        let text = Map::read(name, file, bytes)?;
        self.read.lock().unwrap_or_else(PoisonError::into_inner).take(text, self.memory)
    }
}

impl ReadFiles {
    fn take(&mut self, text: Vec<u8>, memory: &Memory) -> Result<Map> {
        if let Some(room) = self.room.checked_sub(text.len()) {
            self.room = room;
            return Ok(Map::Held(text));
        }
        if self.pack.as_ref().is_none_or(|pack| !pack.has_room(text.len())) {
            self.pack = Pack::new(&memory.scratch, PACK_BYTES)?;
        }
        match &mut self.pack {
            Some(pack) => pack.append(&text),
            // Without maps, everything is held.
            None => Ok(Map::Held(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::intake::scratch::ScratchSpace;

    #[test]
    fn files_are_held_then_packed_and_only_large_ones_are_mapped() {
        let directory = std::env::temp_dir().join(format!("sitemill-small-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let memory = Memory { budget: 0, hold: 800, scratch: ScratchSpace::of(&directory) };
        let maps = FileMaps { maps_max: 1, ..FileMaps::new(&memory) };
        let small = SMALL_BYTES as usize;
        let mut all = Vec::new();
        for (number, (bytes, want)) in (1..).zip([
            (0, "held"),
            (60, "held"),
            (50, "packed"),
            (40, "held"),
            (1, "packed"),
            (small + 1, "mapped"),
            (small + 1, "packed"),
            (MEDIUM_BYTES as usize, "packed"),
            (MEDIUM_BYTES as usize + 1, "mapped"),
        ]) {
            let path = directory.join("file");
            // A map that was made before keeps its own file.
            let _ = fs::remove_file(&path);
            fs::write(&path, vec![number; bytes]).unwrap();
            let map = maps.map(&path, &File::open(&path).unwrap()).unwrap();
            let found = match map {
                Map::Held(_) => "held",
                Map::Part(..) => "packed",
                _ => "mapped",
            };
            assert_eq!(found, want, "file {number} of {bytes} bytes");
            assert_eq!(map.held_bytes(), if want == "held" { bytes } else { 0 });
            all.push((number, bytes, map));
        }
        for (number, bytes, map) in &all {
            assert!(map.bytes() == vec![*number; *bytes], "file {number}");
        }
        let packed = all.iter().filter(|(.., map)| matches!(map, Map::Part(..)));
        assert_eq!(memory.scratch.written(), packed.map(|(_, bytes, _)| *bytes as u64).sum::<u64>());
        fs::remove_dir_all(&directory).unwrap();
    }
}
