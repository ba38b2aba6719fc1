//! The run that a phase is part of.

use super::judge::Rules;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::job::Job;

/// What every phase needs to know of the run that it is part of.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What the run is asked to do.
    pub job: &'a Job,
    /// What rows are judged by; those of the job.
    pub rules: &'a Rules,
    /// Told how far the run is.
    pub progress: &'a dyn Progress,
    /// Raised when the run is to end.
    pub stop: &'a Stop,
}
