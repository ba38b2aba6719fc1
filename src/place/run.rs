//! The names of runs.

/// The process ID in the name of a run.
pub fn process_of(run: &str) -> Option<u32> {
    run.rsplit_once('-')?.1.parse().ok()
}

/// A name for a run: when it began, and the number of its process.
pub fn new_run() -> String {
    format!("{}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id())
}
