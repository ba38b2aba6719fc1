//! The run that a phase is part of.

use super::judge::Rules;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::job::Job;

/// What every phase needs to know of the run that it is part of.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub job: &'a Job,
    pub rules: &'a Rules,
    pub progress: &'a dyn Progress,
    pub stop: &'a Stop,
}
