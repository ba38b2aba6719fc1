//! Finish: publishes the batches of all sites, does the work that follows, and completes the report.

use std::time::{Duration, Instant};

use super::follow_up::FollowUp;
use super::outcome::Outcome;
use super::publish::{Published, publish};
use super::reporting;
use super::site::Site;
use crate::commands::report::{Details, Report, Seconds};
use crate::error::Result;
use crate::job::Job;
use crate::survey::memory::Memory;

/// When a build started, and how long its passes took.
pub struct Clock {
    pub started: Instant,
    /// From the start to the end of the survey.
    pub surveyed: Duration,
    /// From the start to the last sitemap.
    pub produced: Duration,
}

/// Publishes `sites` at the time of publication `time`, and completes `report`.
///
/// # Errors
/// See [`publish`].
pub fn finish(
    job: &Job,
    mut report: Report,
    sites: Vec<Site>,
    time: &str,
    mut follow_up: FollowUp,
    memory: &Memory,
    clock: &Clock,
) -> Result<Outcome> {
    match publish(job, &report, sites, time)? {
        Published::Refused { begun, why } => {
            begun.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            Ok(Outcome::not_published(report, why))
        }
        Published::Live { sets, warnings } => {
            sets.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            report.details.iter_mut().for_each(Details::finish);
            follow_up.warnings.extend(warnings);
            sets.into_iter().for_each(|set| follow_up.is_live(set, memory, &mut report));
            let &Clock { started, surveyed, produced } = clock;
            let total = started.elapsed();
            report.published = true;
            report.seconds = Seconds::of(surveyed, produced - surveyed, total - produced, total);
            Ok(Outcome { report, refused: None, warnings: follow_up.warnings })
        }
    }
}
