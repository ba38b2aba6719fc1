//! Plans how many ranges there are, and what is held in memory.

use super::range::SORTED_ROW_BYTES;
use super::store::SEGMENT_BYTES;
use crate::survey::memory::Memory;
use crate::survey::splitters::RANGES_MAX;

/// How a sorted survey uses its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Maximum number of ranges.
    pub ranges: usize,
    /// Bytes of rows of one range that a thread collects and stores together.
    pub block_bytes: usize,
    /// Bytes of entries that are held in memory, in whole segments. The others go to scratch.
    pub entries_bytes: usize,
    /// Maximum number of rows that a thread sorts at once.
    pub sorted_rows: usize,
}

/// Bytes of a range if all entries are in memory: its rows and what sorts them fit in the second-level cache.
const HELD_RANGE_BYTES: usize = 1024 * 1024;

/// Bytes of a block if all entries are in memory.
const HELD_BLOCK_BYTES: usize = 4 * 1024;

/// Maximum bytes of a range if entries are read from scratch: larger blocks need fewer reads.
const RANGE_BYTES: usize = 4 << 20;

/// Bytes of a block if entries are written to scratch: larger writes are cheaper.
pub const BLOCK_BYTES: usize = 16 * 1024;

/// A buffer has room for this much more, because its last row may exceed its size.
const ROW_ROOM_BYTES: usize = 1024;

/// A range may have this many times the planned bytes before it is sorted in runs.
const EXCESS: usize = 4;

/// Bytes of a short row. Ranges of shorter rows may be sorted in runs.
const SHORT_ROW_BYTES: usize = 16;

impl Plan {
    /// The plan for `threads` threads and inputs of `input_bytes` bytes in total.
    pub fn of(memory: &Memory, threads: usize, input_bytes: u64) -> Self {
        // A row has a few bytes more than its line.
        let entries_bytes = input_bytes.saturating_add(input_bytes / 4);
        let held = Self::of_ranges(memory, threads, input_bytes, HELD_RANGE_BYTES, HELD_BLOCK_BYTES);
        match held.entries_bytes as u64 >= entries_bytes {
            true => held,
            false => Self::of_ranges(memory, threads, input_bytes, RANGE_BYTES, BLOCK_BYTES),
        }
    }

    fn of_ranges(
        memory: &Memory,
        threads: usize,
        input_bytes: u64,
        range_bytes: usize,
        block_bytes: usize,
    ) -> Self {
        let input_bytes = usize::try_from(input_bytes).unwrap_or(usize::MAX);
        let range_bytes = range_bytes.min(memory.hold / (EXCESS * threads)).max(1);
        // A thread has a buffer for each range while entries are distributed, and then sorts one range after another.
        let buffers_bytes = threads * (block_bytes + ROW_ROOM_BYTES);
        let ranges_max = (memory.hold / 2 / buffers_bytes).clamp(1, RANGES_MAX);
        let ranges = (input_bytes / range_bytes + 1).min(ranges_max);
        let rows_max = memory.hold / 2 / threads / SORTED_ROW_BYTES;
        let sorted_rows = (EXCESS * (input_bytes / ranges).max(range_bytes) / SHORT_ROW_BYTES).min(rows_max);
        let needed = (ranges * buffers_bytes).max(threads * sorted_rows * SORTED_ROW_BYTES);
        let entries_bytes = memory.hold.saturating_sub(needed) / SEGMENT_BYTES * SEGMENT_BYTES;
        Self { ranges, block_bytes, entries_bytes, sorted_rows }
    }

    /// The plan with another number of ranges. If there are more, their buffers take memory that entries would have.
    pub fn with_ranges(self, ranges: usize, threads: usize) -> Self {
        let more = ranges.saturating_sub(self.ranges) * threads * self.buffer_room_bytes();
        let segments = more.div_ceil(SEGMENT_BYTES);
        Self { ranges, entries_bytes: self.entries_bytes.saturating_sub(segments * SEGMENT_BYTES), ..self }
    }

    /// Bytes of a new buffer.
    pub fn buffer_room_bytes(&self) -> usize {
        self.block_bytes + ROW_ROOM_BYTES
    }
}
