//! Stores blocks of entries: in memory as long as there is room, then in scratch.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::common::fallible::reserve_more;
use crate::error::Result;
use crate::intake::input::{Input, Segment};
use crate::intake::scratch::Scratch;
use crate::survey::memory::Memory;

/// Bytes of memory that a thread takes at a time. Larger blocks go to scratch.
pub const SEGMENT_BYTES: usize = 32 << 20;

/// The place of a stored block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAt {
    /// The index of the file in [`Storage::into_files`].
    pub file: usize,
    /// The bytes of the block in the file.
    pub range: Range<usize>,
}

/// The blocks of all threads.
pub struct Storage<'m> {
    memory: &'m Memory,
    /// Bytes of memory that may still be taken.
    left: AtomicUsize,
    /// The number of files that were begun.
    begun: AtomicUsize,
    /// Whether all of them are in memory.
    is_held: AtomicBool,
    /// The files that are complete, each with its index, or the first failure to complete one.
    complete: Mutex<Result<Vec<(usize, Input)>>>,
}

impl<'m> Storage<'m> {
    /// A storage that holds up to `bytes` bytes in memory, and puts the rest where `memory` says.
    pub fn new(bytes: usize, memory: &'m Memory) -> Self {
        let [left, begun] = [bytes, 0].map(AtomicUsize::new);
        let is_held = AtomicBool::new(true);
        Self { memory, left, begun, is_held, complete: Mutex::new(Ok(Vec::new())) }
    }

    /// Bytes of memory that were not taken.
    pub fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// Whether all blocks so far are in memory.
    pub fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Relaxed)
    }

    /// A store for one thread.
    pub fn store(&self) -> EntryStore<'_> {
        EntryStore { storage: self, file: None }
    }

    /// All files, once no store is left.
    ///
    /// # Errors
    /// If a file cannot be mapped for reading.
    pub fn into_files(self) -> Result<Vec<Input>> {
        let mut files = self.complete.into_inner().expect("no thread panics with the lock")?;
        files.sort_unstable_by_key(|&(index, _)| index);
        debug_assert_eq!(files.len(), self.begun.into_inner());
        Ok(files.into_iter().map(|(_, file)| file).collect())
    }

    /// Takes memory for a segment with room for `bytes`. `None` if there is none.
    fn segment(&self, bytes: usize) -> Option<Segment> {
        let take = |left| left_after(left, bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Segment::new(SEGMENT_BYTES).ok()
    }

    /// Begins a file with room for `bytes`.
    fn begin(&self, bytes: usize) -> Result<(usize, File)> {
        let file = match self.segment(bytes) {
            Some(segment) => File::Memory(segment),
            None => {
                self.is_held.store(false, Ordering::Relaxed);
                File::Scratch(Scratch::new(&self.memory.scratch)?)
            }
        };
        Ok((self.begun.fetch_add(1, Ordering::Relaxed), file))
    }

    /// Maps a file that is full.
    fn complete(&self, (index, file): (usize, File)) {
        let input = match file {
            File::Memory(segment) => Input::held(self.memory.scratch.directory(), segment),
            File::Scratch(scratch) => scratch.map_file(),
        };
        let mut complete = self.complete.lock().expect("no thread panics with the lock");
        let added = match (&mut *complete, input) {
            (Ok(files), Ok(input)) => reserve_more(files, 1).map(|()| files.push((index, input))),
            (Err(_), _) => return,
            (_, Err(error)) => Err(error),
        };
        if let Err(error) = added {
            *complete = Err(error);
        }
    }
}

/// The memory that is `left` after a segment with room for `bytes` is taken. `None` if there is no room.
fn left_after(left: usize, bytes: usize) -> Option<usize> {
    left.checked_sub(SEGMENT_BYTES).filter(|_| bytes <= SEGMENT_BYTES)
}

enum File {
    Memory(Segment),
    Scratch(Scratch),
}

/// Stores the blocks of one thread. Two threads that write to one file would wait for each other.
pub struct EntryStore<'s> {
    storage: &'s Storage<'s>,
    /// The file that is being filled, with its index. A scratch file is never full.
    file: Option<(usize, File)>,
}

impl EntryStore<'_> {
    /// Stores `block`.
    ///
    /// # Errors
    /// If scratch space is needed and runs out.
    pub fn append(&mut self, block: &[u8]) -> Result<StoredAt> {
        loop {
            let at = match &mut self.file {
                Some((index, File::Memory(segment))) => segment.append(block).map(|at| (*index, at)),
                Some((index, File::Scratch(scratch))) => Some((*index, scratch.append(block)?)),
                None => None,
            };
            if let Some((file, at)) = at {
                return Ok(StoredAt { file, range: at..at + block.len() });
            }
            self.complete();
            self.file = Some(self.storage.begin(block.len())?);
        }
    }

    fn complete(&mut self) {
        if let Some(file) = self.file.take() {
            self.storage.complete(file);
        }
    }
}

impl Drop for EntryStore<'_> {
    fn drop(&mut self) {
        self.complete();
    }
}

/// The share of the memory for rows, a half, and of what is left for those of ranges that are split.
const ROWS_SHARE: usize = 2;

/// Stores blocks of rows: in memory as long as there is room, then in scratch.
#[derive(Debug)]
pub struct RowStore {
    pub memory: Memory,
    /// Bytes of memory that may still be taken.
    left: usize,
    /// The last one is being filled.
    segments: Vec<Segment>,
    scratch: Option<Scratch>,
    /// The index of its first file, which is the one in scratch. Segments of memory have the numbers after it.
    first_file: usize,
}

impl RowStore {
    /// No blocks yet. A share of `memory` is for them, and the rest will be in scratch. There are `first_file` other files before
    /// its own.
    pub fn new(memory: &Memory, first_file: usize) -> Self {
        let left = memory.hold / ROWS_SHARE;
        Self { memory: memory.clone(), left, segments: Vec::new(), scratch: None, first_file }
    }

    /// Stores `block`.
    ///
    /// # Errors
    /// If scratch space is needed and runs out.
    pub fn append(&mut self, block: &[u8]) -> Result<StoredAt> {
        let at = |file: usize, start: usize| StoredAt { file, range: start..start + block.len() };
        loop {
            if let Some(start) = self.segments.last_mut().and_then(|segment| segment.append(block)) {
                return Ok(at(self.first_file + self.segments.len(), start));
            }
            match self.segment(block.len()) {
                Some(segment) => {
                    reserve_more(&mut self.segments, 1)?;
                    self.segments.push(segment);
                }
                None => {
                    let scratch = match &mut self.scratch {
                        Some(scratch) => scratch,
                        none => none.insert(Scratch::new(&self.memory.scratch)?),
                    };
                    return Ok(at(self.first_file, scratch.append(block)?));
                }
            }
        }
    }

    /// Takes memory for a segment with room for `bytes`. `None` if there is none.
    fn segment(&mut self, bytes: usize) -> Option<Segment> {
        let left = left_after(self.left, bytes)?;
        let segment = Segment::new(SEGMENT_BYTES).ok()?;
        self.left = left;
        Some(segment)
    }

    /// Whether all blocks so far are in memory.
    pub fn is_held(&self) -> bool {
        self.scratch.is_none()
    }

    /// All files, and the limit for what else is held while they are.
    ///
    /// # Errors
    /// If a file cannot be mapped for reading.
    pub fn into_files(self) -> Result<(Vec<Input>, Memory)> {
        let Self { memory, segments, scratch, .. } = self;
        let left = memory.after_holding(segments.len() * SEGMENT_BYTES);
        let directory = memory.scratch.directory();
        let scratch = scratch.map_or_else(|| Ok(Input::none(directory)), |scratch| scratch.map_file());
        let held = segments.into_iter().map(|segment| Input::held(directory, segment));
        Ok((std::iter::once(scratch).chain(held).collect::<Result<_>>()?, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::scratch::ScratchSpace;

    #[test]
    fn blocks_that_do_not_fit_in_memory_are_in_scratch_and_come_back() {
        const BLOCK_BYTES: usize = SEGMENT_BYTES / 4;
        let memory = Memory { budget: 0, hold: 0, scratch: ScratchSpace::of(&std::env::temp_dir()) };
        // Segments of memory, blocks of each of two threads, bytes in scratch.
        for (segments, blocks, spilled) in [(0, 1, 2), (1, 4, 4), (2, 4, 0), (2, 5, 2), (3, 6, 2)] {
            let storage = Storage::new(segments * SEGMENT_BYTES + SEGMENT_BYTES / 2, &memory);
            let before = memory.scratch.written();
            let mut stores = [storage.store(), storage.store()];
            let mut stored = Vec::new();
            for n in 0..2 * blocks {
                let block = vec![n as u8; BLOCK_BYTES];
                stored.push(stores[n % 2].append(&block).unwrap());
            }
            drop(stores);
            assert_eq!(storage.is_held(), spilled == 0);
            let files = storage.into_files().unwrap();
            assert_eq!(
                memory.scratch.written() - before,
                (spilled * BLOCK_BYTES) as u64,
                "{segments} {blocks}"
            );
            for (n, StoredAt { file, range }) in stored.into_iter().enumerate() {
                let block = &files[file].bytes()[range];
                assert!(block.len() == BLOCK_BYTES && block.iter().all(|&byte| byte == n as u8));
            }
        }
    }

    #[test]
    fn a_block_larger_than_a_segment_goes_to_scratch() {
        let memory = Memory { budget: 0, hold: 0, scratch: ScratchSpace::of(&std::env::temp_dir()) };
        let storage = Storage::new(4 * SEGMENT_BYTES, &memory);
        let block = vec![7; SEGMENT_BYTES + 1];
        let StoredAt { file, range } = storage.store().append(&block).unwrap();
        assert!(memory.scratch.written() == block.len() as u64);
        assert!(storage.into_files().unwrap()[file].bytes()[range] == block);
    }

    #[test]
    fn blocks_of_one_thread_are_in_memory_as_long_as_there_is_room_and_come_back() {
        const BLOCK_BYTES: usize = SEGMENT_BYTES / 4;
        let scratch = ScratchSpace::of(&std::env::temp_dir());
        // Segments of memory, blocks, blocks in scratch.
        for (segments, blocks, spilled) in [(0, 0, 0_usize), (0, 2, 2), (1, 4, 0), (1, 5, 1), (2, 9, 1)] {
            let hold = ROWS_SHARE * (segments * SEGMENT_BYTES + SEGMENT_BYTES / 2);
            let memory = Memory { budget: 0, hold, scratch: scratch.clone() };
            let before = memory.scratch.written();
            let mut store = RowStore::new(&memory, 0);
            let places: Vec<_> =
                (0..blocks).map(|n| store.append(&vec![n as u8; BLOCK_BYTES]).unwrap()).collect();
            let (files, left) = store.into_files().unwrap();
            let held = (blocks - spilled).div_ceil(4) * SEGMENT_BYTES;
            assert_eq!(left.hold, memory.hold - held);
            assert_eq!(memory.scratch.written() - before, (spilled * BLOCK_BYTES) as u64);
            for (n, StoredAt { file, range }) in places.into_iter().enumerate() {
                let block = &files[file].bytes()[range];
                assert!(block.len() == BLOCK_BYTES && block.iter().all(|&byte| byte == n as u8));
            }
        }
    }

    #[test]
    fn a_block_of_one_thread_that_is_larger_than_a_segment_goes_to_scratch() {
        let hold = 4 * ROWS_SHARE * SEGMENT_BYTES;
        let memory = Memory { budget: 0, hold, scratch: ScratchSpace::of(&std::env::temp_dir()) };
        let mut store = RowStore::new(&memory, 0);
        let block = vec![7; SEGMENT_BYTES + 1];
        let StoredAt { file, range } = store.append(&block).unwrap();
        assert!(store.into_files().unwrap().0[file].bytes()[range] == block);
        assert_eq!(memory.scratch.written(), block.len() as u64);
    }
}
