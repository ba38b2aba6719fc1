//! The memory limit of a run, and the share of it for data that grows with the input.

use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Message, Result, Setting, message};
use crate::intake::format::FormatOptions;
use crate::intake::scratch::ScratchSpace;
use crate::job::{BASE_BYTES, HOLD_BYTES_MIN, Resources, THREAD_BYTES, memory_default, memory_min};
use crate::words::plural;

/// Minimum memory of a thread for Parquet pages: a dictionary of 8 MiB, and pages of 1 MiB in each column.
const PAGE_BYTES_MIN: u64 = 24 << 20;

/// Returns `options` with a limit on the memory that each of `threads` threads uses for Parquet pages, if they have none: an equal
/// share of `memory`, or of half of the machine's memory by default, minus what the run needs for other purposes.
pub fn with_page_memory(options: &FormatOptions, memory: Option<u64>, threads: usize) -> FormatOptions {
    let threads = threads.max(1) as u64;
    let budget = memory.unwrap_or_else(memory_default);
    let share = budget.saturating_sub(BASE_BYTES + threads * THREAD_BYTES) / threads;
    let page_memory = options.page_memory.or(Some(share.max(PAGE_BYTES_MIN)));
    FormatOptions { page_memory, ..options.clone() }
}

/// The memory limit of a run.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes in total, without mapped files, which the kernel may evict at any time.
    pub budget: u64,
    /// Bytes for data that grows with the input. The rest goes to scratch.
    pub hold: usize,
    /// The directory of scratch files.
    pub scratch: Arc<ScratchSpace>,
}

impl Memory {
    /// The limit in `resources`, or the [default](memory_default).
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if that is too little for the number of threads.
    pub fn of(resources: &Resources, scratch: &Path) -> Result<Self> {
        let threads = resources.threads.get() as u64;
        let budget = resources.memory.unwrap_or_else(memory_default);
        let min = memory_min(threads);
        if budget < min {
            let mib = budget >> 20;
            let given = match resources.memory {
                None => message!("the default memory limit of this machine is {mib} MiB"),
                Some(bytes) if bytes.is_multiple_of(1 << 20) => message!(Setting::Memory, " is {mib} MiB"),
                // A number without a unit.
                Some(bytes) => {
                    let given = plural(bytes, "byte", "bytes");
                    message!(Setting::Memory, " is {given}")
                }
            };
            let (need, mib) = (plural(threads, "thread needs", "threads need"), min.div_ceil(1 << 20));
            let fewer = match threads {
                1 => Message::default(),
                _ => message!(", or fewer ", Setting::Threads),
            };
            let enough = Setting::Memory.with(mib << 20);
            return Err(Error::usage(message!(given, ": {need} {mib} MiB; use ", enough, fewer)));
        }
        let hold = usize::try_from(budget - min + HOLD_BYTES_MIN).unwrap_or(usize::MAX);
        let scratch = ScratchSpace::of(resources.scratch.as_deref().unwrap_or(scratch));
        Ok(Self { budget, hold, scratch })
    }

    /// The limit for other data while `bytes` bytes are held.
    pub fn after_holding(&self, bytes: usize) -> Self {
        Self { hold: self.hold.saturating_sub(bytes), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_too_low_is_named_as_it_was_given() {
        for (memory, given) in [(1, "1 byte"), (1_000_001, "1,000,001 bytes"), (1 << 20, "1 MiB")] {
            let resources = Resources { memory: Some(memory), ..Resources::default() };
            let error = Memory::of(&resources, Path::new(".")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`memory` is {given}: ")), "{error}");
        }
    }
}
