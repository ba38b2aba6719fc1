//! The pipeline: the only place where threads and stages meet.

mod after;
mod build;
mod filter;
mod guards;
mod inputs;
mod judge;
mod keys;
mod memory;
mod needs;
pub(crate) mod ordered;
mod plan;
mod positions;
mod produce;
mod refused;
pub(crate) mod scratch;
mod sites;
mod sizes;
mod sorted;
mod sources;
mod spool;
mod stable;
mod survey;
mod syncing;

pub use build::{Outcome, build};
pub use filter::{FilterJob, FilterReport, Target, filter};
pub use memory::memory_default;

use crate::job::Job;
use crate::progress::Progress;
use crate::stop::Stop;

#[cfg(test)]
mod tests;

/// What both passes need to know of the run that they are part of.
#[derive(Clone, Copy)]
struct Run<'a> {
    job: &'a Job,
    rules: &'a judge::Rules,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}
