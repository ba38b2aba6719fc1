//! Arrived: the rows of the regions of a task, in memory as long as there is room, then in scratch.

use std::ops::Range;

use crate::error::{Result, reserve_more};
use crate::intake::input::{Input, Segment};
use crate::intake::scratch::Scratch;
use crate::survey::memory::Memory;

/// Bytes of memory that are taken at a time. Larger blocks go to scratch.
const SEGMENT_BYTES: usize = 32 << 20;

/// The blocks of a task.
#[derive(Debug)]
pub(super) struct Arrived {
    memory: Memory,
    /// Bytes of memory that may still be taken.
    left: usize,
    /// The last one is being filled.
    segments: Vec<Segment>,
    scratch: Option<Scratch>,
}

/// Where a block is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArrivedAt {
    /// The index of its file in [`Arrived::into_files`].
    pub file: usize,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// The index of the file in scratch. Segments of memory have the numbers after it.
const SCRATCH: usize = 0;

impl Arrived {
    /// No blocks yet. Up to `hold` bytes of them will be in memory, and the rest where `memory` says.
    pub fn new(memory: &Memory, hold: usize) -> Self {
        Self { memory: memory.clone(), left: hold, segments: Vec::new(), scratch: None }
    }

    /// Adds a block.
    ///
    /// # Errors
    /// If scratch space is needed and runs out.
    pub fn push(&mut self, block: &[u8]) -> Result<ArrivedAt> {
        let at = |file: usize, start: usize| ArrivedAt { file, range: start..start + block.len() };
        loop {
            if let Some(start) = self.segments.last_mut().and_then(|segment| segment.append(block)) {
                return Ok(at(SCRATCH + self.segments.len(), start));
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
                    return Ok(at(SCRATCH, scratch.append(block)?));
                }
            }
        }
    }

    /// Takes memory for a segment with room for `bytes`. `None` if there is none.
    fn segment(&mut self, bytes: usize) -> Option<Segment> {
        let left = self.left.checked_sub(SEGMENT_BYTES).filter(|_| bytes <= SEGMENT_BYTES)?;
        let segment = Segment::new(SEGMENT_BYTES).ok()?;
        self.left = left;
        Some(segment)
    }

    /// All files, and the limit for what else is held while they are.
    ///
    /// # Errors
    /// If a file cannot be mapped for reading.
    pub fn into_files(self) -> Result<(Vec<Input>, Memory)> {
        let Self { memory, segments, scratch, .. } = self;
        let left = memory.besides(segments.len() * SEGMENT_BYTES);
        let directory = memory.scratch.directory();
        let scratch = scratch.map_or_else(|| Ok(Input::none(directory)), |scratch| scratch.map_file());
        let held = segments.into_iter().map(|segment| Input::held(directory, segment));
        Ok((std::iter::once(scratch).chain(held).collect::<Result<_>>()?, left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::scratch::Space;

    #[test]
    fn blocks_are_in_memory_as_long_as_there_is_room_and_come_back() {
        const BLOCK_BYTES: usize = SEGMENT_BYTES / 4;
        let memory = Memory { budget: 0, hold: 4 * SEGMENT_BYTES, scratch: Space::of(&std::env::temp_dir()) };
        // Segments of memory, blocks, blocks in scratch.
        for (segments, blocks, spilled) in [(0, 0, 0_usize), (0, 2, 2), (1, 4, 0), (1, 5, 1), (2, 9, 1)] {
            let before = memory.scratch.written();
            let mut arrived = Arrived::new(&memory, segments * SEGMENT_BYTES + SEGMENT_BYTES / 2);
            let places: Vec<_> =
                (0..blocks).map(|n| arrived.push(&vec![n as u8; BLOCK_BYTES]).unwrap()).collect();
            let (files, left) = arrived.into_files().unwrap();
            let held = (blocks - spilled).div_ceil(4) * SEGMENT_BYTES;
            assert_eq!(left.hold, memory.hold - held);
            assert_eq!(memory.scratch.written() - before, (spilled * BLOCK_BYTES) as u64);
            for (n, ArrivedAt { file, range }) in places.into_iter().enumerate() {
                let block = &files[file].bytes()[range];
                assert!(block.len() == BLOCK_BYTES && block.iter().all(|&byte| byte == n as u8));
            }
        }
    }

    #[test]
    fn a_block_larger_than_a_segment_goes_to_scratch() {
        let memory = Memory { budget: 0, hold: 0, scratch: Space::of(&std::env::temp_dir()) };
        let mut arrived = Arrived::new(&memory, 4 * SEGMENT_BYTES);
        let block = vec![7; SEGMENT_BYTES + 1];
        let ArrivedAt { file, range } = arrived.push(&block).unwrap();
        assert!(arrived.into_files().unwrap().0[file].bytes()[range] == block);
        assert_eq!(memory.scratch.written(), block.len() as u64);
    }
}
