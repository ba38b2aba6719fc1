//! The run that a phase is part of.

use super::judge::Rules;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::job::Job;

/// The context of a run, which every phase needs.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The job of the run.
    pub job: &'a Job,
    /// The rules of the job by which rows are judged.
    pub rules: &'a Rules,
    /// Receives the progress of the run.
    pub progress: &'a dyn Progress,
    /// Raised when the run is to end.
    pub stop: &'a Stop,
}
