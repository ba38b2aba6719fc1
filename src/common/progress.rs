//! Progress: tells a program how far a run has got.

use std::thread;

use serde::{Deserialize, Serialize};

/// The resources that a build is expected to use. They are estimated from a sample of its rows before any other work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Estimate {
    /// URLs of the input, including duplicates.
    pub urls: u64,
    /// Parts in which URLs are processed, a few at a time: partitions by hash, or ranges of URLs if they are sorted.
    pub partitions: u64,
    /// Memory limit in bytes.
    pub memory_bytes: u64,
    /// Bytes of memory for data that grow with the input.
    pub held_bytes: u64,
    /// Bytes of scratch files, including copies of inputs; 0 if everything fits in memory.
    pub scratch_bytes: u64,
    /// Bytes of all sitemap files.
    pub sitemap_bytes: u64,
    /// Bytes available for scratch files on the disk of the scratch directory, if known.
    pub scratch_free_bytes: Option<u64>,
    /// Free bytes on the disk of the output directory, if known.
    pub out_free_bytes: Option<u64>,
}

/// The parts of a run that take time, and the unit in which each is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Copies pipes and compressed inputs to scratch files, before pass 1. Unit: bytes; the total is unknown.
    Read,
    /// Pass 1: reads the input, cleans URLs and finds duplicates. Unit: bytes of input.
    Survey,
    /// Sorts URLs between the passes, in sorted order only. Unit: entries.
    Sort,
    /// Divides URLs among sites and sections between the passes, if the job has several. It ends early and begins again if another
    /// way to divide them turns out to be needed. Unit: URLs.
    Split,
    /// Pass 2: writes and compresses sitemaps, those of all sites in one phase. It begins again if the report counts URLs by
    /// segment, and there are so many segments that the largest must be counted once more. Unit: URLs.
    Produce,
    /// The only phase of the commands other than build. Unit: lines for `clean`, URLs of sitemaps for the others; the total is
    /// unknown.
    Urls,
}

impl Phase {
    /// All phases: those of a build in their order, then that of the other commands. A build skips those that it does not need.
    pub const ALL: &[Self] = &[Self::Read, Self::Survey, Self::Sort, Self::Split, Self::Produce, Self::Urls];

    /// Returns the name of the phase, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Survey => "survey",
            Self::Sort => "sort",
            Self::Split => "split",
            Self::Produce => "produce",
            Self::Urls => "urls",
        }
    }
}

// `ALL` has every phase as long as `Urls` stays the last one.
const _: () = assert!(Phase::ALL.len() == Phase::Urls as usize + 1);

/// Receives progress. The methods are called from several threads at the same time.
pub trait Progress: Sync {
    /// Called once per build, before pass 1, with the expected use of resources. Does nothing by default.
    fn estimated(&self, estimate: &Estimate) {
        let _ = estimate;
    }

    /// Called when a phase begins, after the one before has ended. `total` is its amount of work in the unit of the phase, or 0 if
    /// unknown. A phase may begin more than once, and end before its total is reached.
    fn begin(&self, phase: Phase, total: u64);

    /// Called when `amount` more units are done.
    fn advance(&self, amount: u64);

    /// Called when the phase has ended, whether it succeeded or failed. Not called if it panicked.
    fn end(&self);
}

impl dyn Progress + '_ {
    /// Begins a phase, which ends when the result is dropped.
    pub(crate) fn phase(&self, phase: Phase, total: u64) -> RunningPhase<'_> {
        self.begin(phase, total);
        RunningPhase(self)
    }

    /// Ends the running phase and begins `phase`, which ends in its place.
    pub(crate) fn begin_again(&self, phase: Phase, total: u64) {
        self.end();
        self.begin(phase, total);
    }
}

/// A phase that has begun, and ends when this is dropped.
#[must_use = "the phase ends when this is dropped"]
pub struct RunningPhase<'p>(&'p dyn Progress);

impl Drop for RunningPhase<'_> {
    fn drop(&mut self) {
        // A second panic would abort the process.
        if !thread::panicking() {
            self.0.end();
        }
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Phase, _: u64) {}

    fn advance(&self, _: u64) {}

    fn end(&self) {}
}
