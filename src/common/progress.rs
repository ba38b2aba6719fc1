//! Progress of a run.

use serde::Serialize;

/// The resources that a run will need, estimated from a sample of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Rows of the input.
    pub urls: u64,
    /// Partitions by hash that are deduplicated one or a few at a time, or ranges of URLs in sorted order.
    pub partitions: u64,
    /// Memory limit of the run.
    pub memory_bytes: u64,
    /// Memory for what grows with the input.
    pub held_bytes: u64,
    /// Scratch files, copies of inputs included; none if all is held.
    pub scratch_bytes: u64,
    /// Sitemaps.
    pub sitemap_bytes: u64,
    /// Free space on the disk of scratch files, if known.
    pub scratch_free_bytes: Option<u64>,
    /// Free space on the disk of sitemaps, if known.
    pub out_free_bytes: Option<u64>,
}

/// The parts of a run that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Before pass 1: input from pipes is copied to scratch. Counts bytes; the total is unknown.
    Spool,
    /// Pass 1: reads, cleans and finds duplicates. Counts bytes of input.
    Survey,
    /// Between the passes, if URLs are to be sorted. Counts entries.
    Sort,
    /// Pass 2: renders and compresses. Counts URLs.
    Produce,
    /// Commands that read everything once: `clean` counts lines, others count URLs of sitemaps. The total is unknown.
    Read,
}

/// Receives progress, from several threads at once.
pub trait Progress: Sync {
    /// Receives the needs of the run before it starts to use them.
    fn needs(&self, needs: &Needs) {
        let _ = needs;
    }

    /// A pass begins that will count to `total`, or 0 if that is unknown.
    fn begin(&self, pass: Pass, total: u64);

    /// `amount` more is done.
    fn advance(&self, amount: u64);

    /// The pass is done.
    fn end(&self);
}

/// Ignores progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Pass, _: u64) {}

    fn advance(&self, _: u64) {}

    fn end(&self) {}
}
