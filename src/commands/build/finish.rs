//! Finish: publishes the batches of all sites, does the work that follows, and completes the report.

use std::time::{Duration, Instant};

use super::follow_up::FollowUp;
use super::outcome::Outcome;
use super::publish::{Published, publish};
use super::report::{Details, Report, Seconds};
use super::reporting;
use super::site::Site;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::set::publish::Prepared;
use crate::survey::memory::Memory;

/// When a build started, and how long its passes took.
pub struct Clock {
    pub started: Instant,
    /// From the start to the end of the survey.
    pub surveyed: Duration,
    /// From the start to the last sitemap.
    pub produced: Duration,
}

/// Publishes `sites` at the time of publication `time`, unless the run is dry, and completes `report`.
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
    report.old_news = sites.iter().flat_map(|site| &site.batches).map(|batch| batch.old_news).sum();
    match publish(job, &report, sites, &follow_up.external, time)? {
        Published::Refused { begun, why } => {
            begun.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            Ok(Outcome::not_published(report, why))
        }
        Published::Previewed { sets, warnings: unlisted } => {
            sets.iter().for_each(|set| reporting::add_preview(&mut report, job, set));
            let warnings = sets.iter().flat_map(|set| warnings_of(set, job)).chain(unlisted).collect();
            Ok(clock.completed(report, warnings))
        }
        Published::Live { sets, warnings } => {
            sets.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            follow_up.warnings.extend(sets.iter().flat_map(|set| warnings_of(set, job)));
            follow_up.warnings.extend(warnings);
            sets.into_iter().for_each(|set| follow_up.is_live(set, memory, &mut report));
            report.published = true;
            let warnings = follow_up.end(&mut report);
            Ok(clock.completed(report, warnings))
        }
    }
}

/// Warnings about files of the live set that `set` replaces, or would in a dry run, and about a robots.txt that still lists them.
fn warnings_of(set: &Prepared, job: &Job) -> impl Iterator<Item = Error> {
    let robots = job.publication.robots.as_deref();
    let gone = set.warning_of_sections().or_else(|| set.warning_of_gone_indexes(robots));
    let edited = set.warning_of_edited(job.publication.dry_run);
    edited.into_iter().chain(gone).chain(set.warning_of_stale_lines(robots))
}

impl Clock {
    /// The outcome of a run that ends now.
    fn completed(&self, mut report: Report, warnings: Vec<Error>) -> Outcome {
        report.details.iter_mut().for_each(Details::finish);
        let &Self { started, surveyed, produced } = self;
        let total = started.elapsed();
        report.seconds = Seconds::of(surveyed, produced - surveyed, total - produced, total);
        Outcome { report, refused: None, warnings }
    }
}
