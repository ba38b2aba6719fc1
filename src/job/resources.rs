//! The threads, memory and scratch directory of a build.

use std::fs;
use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result, Setting, is_url, message};
use crate::words::grouped;

/// The machine resources that a build may use. They do not change the output.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Resources {
    /// Maximum bytes of memory, not counting mapped input files; [`memory_default`] if not set.
    /// Data that does not fit goes to scratch files.
    pub memory: Option<u64>,
    /// Directory for scratch files; the output directory if not set.
    pub scratch: Option<PathBuf>,
    /// Number of worker threads, at most [`THREADS_MAX`]. All of them must [fit](threads_within) in the memory.
    pub threads: NonZero<usize>,
}

impl Default for Resources {
    /// The default amount of memory, scratch files in the output directory, and the [threads](threads_within) that fit in that
    /// memory.
    fn default() -> Self {
        Self { memory: None, scratch: None, threads: threads_within(memory_default()) }
    }
}

/// Bytes that each thread needs for any input: a compressor with its tables, buffers of XML, and sitemaps that wait for the disk.
/// Measured with 1 to 8 threads and rounded up.
pub(crate) const THREAD_BYTES: u64 = 12 << 20;

/// Bytes of the program itself and of data that all threads share.
pub(crate) const BASE_BYTES: u64 = 24 << 20;

/// Minimum memory for data that grows with the input: with less, runs need more scratch files than the memory is worth.
pub(crate) const HOLD_BYTES_MIN: u64 = 32 << 20;

/// The least memory for a number of threads.
pub(crate) fn memory_min(threads: u64) -> u64 {
    BASE_BYTES + threads * THREAD_BYTES + HOLD_BYTES_MIN
}

impl Resources {
    /// Checks the number of threads. The amount of memory is checked when the build begins.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the limit.
    pub fn check(&self) -> Result<()> {
        check_threads(self.threads)
    }
}

/// Checks that the `directory` for scratch files exists, if one is set: a run that needs no scratch files would not notice.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it does not exist or is no directory.
pub(crate) fn check_scratch(directory: Option<&Path>) -> Result<()> {
    let Some(directory) = directory else { return Ok(()) };
    let Err(error) = directory.join(".").metadata() else { return Ok(()) };
    let words = match error.kind() {
        _ if is_url(directory) => return Err(Error::output(directory, error)),
        io::ErrorKind::NotFound => "there is no such directory; create it",
        io::ErrorKind::NotADirectory => "is not a directory; give one",
        _ => return Err(Error::output(directory, error)),
    };
    Err(Error::new(ErrorKind::Output, message!(Setting::Scratch, " ", directory, ": {words}")))
}

/// Maximum number of threads of a run: more than a run can use, and few enough to start and stop quickly.
pub const THREADS_MAX: usize = 1024;

/// Refuses more threads than [`THREADS_MAX`].
///
/// # Errors
/// [`ErrorKind::Usage`](crate::ErrorKind::Usage), with the limit.
pub(crate) fn check_threads(threads: NonZero<usize>) -> Result<()> {
    match threads.get() {
        ..=THREADS_MAX => Ok(()),
        more => {
            let most = grouped(THREADS_MAX as u64);
            let words = message!(": at most {most} threads are useful; leave it out for one per core");
            Err(Error::usage(message!(Setting::Threads.with(more), words)))
        }
    }
}

/// The number of threads that the machine, or the CPU share of the container, can run at the same time, but at most
/// [`THREADS_MAX`].
pub fn threads_default() -> NonZero<usize> {
    const MOST: NonZero<usize> = NonZero::new(THREADS_MAX).unwrap();
    std::thread::available_parallelism().map_or(NonZero::<usize>::MIN, |threads| threads.min(MOST))
}

/// As many of [`threads_default`] as fit in `memory` bytes, but at least one: a container may have all cores of a large machine and
/// only a little of its memory.
pub fn threads_within(memory: u64) -> NonZero<usize> {
    let fitting = memory.saturating_sub(memory_min(0)) / THREAD_BYTES;
    let fitting = usize::try_from(fitting).ok().and_then(NonZero::new);
    fitting.unwrap_or(NonZero::<usize>::MIN).min(threads_default())
}

/// Half of the machine's memory, or of the limit of the control group if that is lower: the other half is for the page cache of
/// the input, and for other programs. On a small machine it is more than half, so that one thread can run.
pub fn memory_default() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of_group(Path::new("/sys/fs/cgroup"), line));
    limits.chain(machine).min().map_or(1 << 30, memory_of)
}

/// The default on a machine, or in a group, that has this number of `bytes`.
fn memory_of(bytes: u64) -> u64 {
    let needed = memory_min(1);
    if bytes < needed { bytes / 2 } else { needed.max(bytes / 2) }
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
    fn no_more_threads_are_started_than_fit_in_the_memory() {
        assert_eq!(threads_within(0).get(), 1);
        assert_eq!(threads_within(memory_min(2) - 1).get(), 1);
        assert_eq!(threads_within(memory_min(THREADS_MAX as u64)), threads_default());
        assert!(memory_min(threads_within(1 << 30).get() as u64) <= 1 << 30);
    }

    #[test]
    fn the_default_is_half_of_the_memory_or_what_one_thread_needs() {
        let needed = memory_min(1);
        for (bytes, default) in
            [(8 << 30, 4 << 30), (128 << 20, needed), (needed, needed), (needed - 2, needed / 2 - 1)]
        {
            assert_eq!(memory_of(bytes), default, "{bytes}");
        }
    }

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
}
