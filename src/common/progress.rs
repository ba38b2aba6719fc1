//! How a run tells how far it is.

use serde::Serialize;

/// What a run is going to need, estimated from a sample of its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Rows of the input.
    pub urls: u64,
    /// Parts that URLs are looked at in, one or a few at a time: by their hash, or in sorted order by ranges of URLs.
    pub partitions: u64,
    /// Memory that it may hold.
    pub memory_bytes: u64,
    /// Memory for what grows with the input.
    pub held_bytes: u64,
    /// Scratch files, copies of inputs included; none if all is held.
    pub scratch_bytes: u64,
    /// Sitemaps.
    pub sitemap_bytes: u64,
    /// What the disk of scratch files has left for all of them, if that can be known.
    pub scratch_free_bytes: Option<u64>,
    /// What the disk of sitemaps has left, if that can be known.
    pub out_free_bytes: Option<u64>,
}

/// The parts of a run that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Before pass 1: what comes through a pipe is copied to scratch. Counts bytes; nobody knows the total.
    Spool,
    /// Pass 1: reads, cleans and finds duplicates. Counts bytes of input.
    Survey,
    /// Between the passes, if URLs are to be sorted. Counts entries.
    Sort,
    /// Pass 2: renders and compresses. Counts URLs.
    Produce,
    /// Commands that read everything once: `clean` counts lines, the others URLs of sitemaps; nobody knows the total.
    Read,
}

/// Is told of progress, from several threads at once.
pub trait Progress: Sync {
    /// What the run is going to need, before it needs it.
    fn needs(&self, needs: &Needs) {
        let _ = needs;
    }

    /// A pass begins that will count to `total`; 0 if nobody knows.
    fn begin(&self, pass: Pass, total: u64);

    /// `amount` more is done.
    fn advance(&self, amount: u64);

    /// The pass is done.
    fn end(&self);
}

/// Nobody wants to know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begin(&self, _: Pass, _: u64) {}

    fn advance(&self, _: u64) {}

    fn end(&self) {}
}
