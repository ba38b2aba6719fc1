//! Survey, the first pass: reads all rows and decides which URLs are listed, and in which sitemap each of them is.

pub mod dedup;
pub mod estimate;
pub mod input_order;
pub mod inputs;
pub mod judge;
pub mod keys;
pub mod memory;
pub mod plan;
pub mod positions;
pub mod rejects;
pub mod sizes;
pub mod sort;
pub mod sorted;
pub mod spool;
pub mod stable;

use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::job::Job;

/// What both passes need to know of the run that they are part of.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    pub job: &'a Job,
    pub rules: &'a judge::Rules,
    pub progress: &'a dyn Progress,
    pub stop: &'a Stop,
}
