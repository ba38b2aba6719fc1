//! The pipeline: the only place where threads and stages meet.

mod after;
mod build;
mod filter;
mod guards;
mod judge;
pub(crate) mod ordered;
mod plan;
mod produce;
mod refused;
mod sites;
mod spool;
mod survey;

pub use build::{Outcome, build};
pub use filter::{FilterJob, FilterReport, Target, filter};

use crate::job::Job;
use crate::progress::Progress;
use crate::stop::Stop;

/// What both passes need to know of the run that they are part of.
#[derive(Clone, Copy)]
struct Run<'a> {
    job: &'a Job,
    rules: &'a judge::Rules,
    progress: &'a dyn Progress,
    stop: &'a Stop,
}
