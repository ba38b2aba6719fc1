//! The memory limit of a run, and the share of it for data that grows with the input.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Message, Result, Setting, message};
use crate::escape::plural;
use crate::intake::format::FormatOptions;
use crate::intake::scratch::ScratchSpace;
use crate::job::Resources;

/// Bytes that each thread needs for any input: a compressor with its tables, buffers of XML, and sitemaps that wait for the disk.
/// Measured with 1 to 8 threads and rounded up.
const THREAD_BYTES: u64 = 12 << 20;

/// Bytes of the program itself and of data that all threads share.
const BASE_BYTES: u64 = 24 << 20;

/// Minimum memory for data that grows with the input: with less, runs need more scratch files than the memory is worth.
const HOLD_BYTES_MIN: u64 = 32 << 20;

/// Minimum memory of a thread for Parquet pages: a dictionary of 8 MiB, and pages of 1 MiB in each column.
const PAGE_BYTES_MIN: u64 = 24 << 20;

/// `options`, with its share of `memory` for the pages that each of `threads` threads holds; by default, of half of the machine's
/// memory.
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
    /// Where scratch files are made.
    pub scratch: Arc<ScratchSpace>,
}

impl Memory {
    /// The limit in `resources`, or half of the memory of the machine or the control group.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] if that is too little for the number of threads.
    pub fn of(resources: &Resources, scratch: &Path) -> Result<Self> {
        let threads = resources.threads.get() as u64;
        let budget = resources.memory.unwrap_or_else(memory_default);
        let min = Self::budget_min(threads);
        if budget < min {
            let mib = budget >> 20;
            let given = match resources.memory {
                None => message!("the memory limit (half of what this machine allows) is {mib} MiB"),
                Some(bytes) if bytes.is_multiple_of(1 << 20) => message!(Setting::Memory, " is {mib} MiB"),
                // A number without a unit.
                Some(bytes) => {
                    let given = plural(bytes, "byte", "bytes");
                    message!(Setting::Memory, " is {given}")
                }
            };
            let (need, min) = (plural(threads, "thread needs", "threads need"), min.div_ceil(1 << 20));
            let fewer = match threads {
                1 => Message::default(),
                _ => message!(", or use fewer ", Setting::Threads),
            };
            return Err(Error::usage(message!(given, ": {need} {min} MiB; raise it", fewer)));
        }
        let hold = usize::try_from(budget - min + HOLD_BYTES_MIN).unwrap_or(usize::MAX);
        let scratch = ScratchSpace::of(resources.scratch.as_deref().unwrap_or(scratch));
        Ok(Self { budget, hold, scratch })
    }

    /// The smallest budget for a number of threads.
    pub fn budget_min(threads: u64) -> u64 {
        BASE_BYTES + threads * THREAD_BYTES + HOLD_BYTES_MIN
    }

    /// The limit for other data while `bytes` bytes are held.
    pub fn after_holding(&self, bytes: usize) -> Self {
        Self { hold: self.hold.saturating_sub(bytes), ..self.clone() }
    }
}

/// Half of the machine's memory, or of the limit of the control group if that is lower: the other half is for the page cache of
/// the input, and for other programs.
pub fn memory_default() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of_group(Path::new("/sys/fs/cgroup"), line));
    limits.chain(machine).min().map_or(1 << 30, |bytes| bytes / 2)
}

/// `MemTotal:       16314408 kB`
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the group that `line` of `/proc/self/cgroup` names and of those above it: `0::/PATH` in version 2,
/// `7:memory:/PATH` in version 1.
fn limit_of_group(root: &Path, line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, file) = match controllers {
        "" => (root.to_owned(), "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => {
            (root.join("memory"), "memory.limit_in_bytes")
        }
        _ => return None,
    };
    let group = root.join(path.trim_start_matches('/'));
    // In a container, the group's path is that of the host, and its own files are at the root.
    let groups = group.ancestors().take_while(|group| group.starts_with(&root));
    groups.filter_map(|group| fs::read_to_string(group.join(file)).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_limit_up_to_the_root_applies() {
        assert_eq!(of_machine("MemFree: 3 kB\nMemTotal:       16314408 kB\n"), Some(16_314_408 << 10));
        assert_eq!(of_machine("MemTotal: many kB"), None);
        let root = std::env::temp_dir().join(format!("sitemill-cgroup-{}", std::process::id()));
        let write = |file: &str, text: &str| {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        write("a/b/memory.max", "max\n");
        write("a/memory.max", "5000\n");
        write("memory/c/memory.limit_in_bytes", "7000\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(limit_of_group(&root, "0::/a/b"), Some(5000));
        assert_eq!(limit_of_group(&root, "0::/elsewhere"), None);
        assert_eq!(limit_of_group(&root, "7:cpu,memory:/c"), Some(7000));
        assert_eq!(limit_of_group(&root, "7:memory:/of/the/host"), Some(9_223_372_036_854_771_712));
        assert_eq!(limit_of_group(&root, "7:cpu:/c"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_as_it_was_given() {
        for (memory, given) in [(1, "1 byte"), (1_000_001, "1,000,001 bytes"), (1 << 20, "1 MiB")] {
            let resources = Resources { memory: Some(memory), ..Resources::default() };
            let error = Memory::of(&resources, Path::new(".")).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`memory` is {given}: ")), "{error}");
        }
    }
}
