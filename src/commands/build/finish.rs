//! Finish: publishes the batches of all sites, does the work that follows, and completes the report.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::follow_up::FollowUp;
use super::outcome::Outcome;
use super::publish::{Published, publish};
use super::report::{Details, Report, Seconds};
use super::reporting;
use super::site::Site;
use crate::error::{Error, Result, Setting, message};
use crate::job::Job;
use crate::place;
use crate::set::publish::{Prepared, RobotsTxt, other_sites};
use crate::survey::memory::Memory;
use crate::words::and_more;

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
    report.kept_sites = kept_sites(job, &sites)?;
    let of_kept = warning_of_kept(&report.kept_sites).filter(|_| !job.guards.allow_missing_sites);
    match publish(job, &report, sites, &follow_up.external, time)? {
        Published::Refused { begun, why } => {
            begun.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            Ok(Outcome::not_published(report, why))
        }
        Published::Previewed { sets, warnings: unlisted } => {
            sets.iter().for_each(|set| reporting::add_preview(&mut report, job, set));
            let of_sets = sets.iter().flat_map(|set| warnings_of(set, job));
            let warnings = of_sets.chain(unlisted).chain(of_kept).collect();
            Ok(clock.completed(report, warnings))
        }
        Published::Live { sets, warnings } => {
            sets.iter().for_each(|set| reporting::add_set(&mut report, job, set));
            follow_up.warnings.extend(sets.iter().flat_map(|set| warnings_of(set, job)));
            follow_up.warnings.extend(of_kept.into_iter().chain(warnings));
            sets.into_iter().for_each(|set| follow_up.is_live(set, memory, &mut report));
            report.published = true;
            let warnings = follow_up.end(&mut report);
            Ok(clock.completed(report, warnings))
        }
    }
}

/// Warnings about files of the live set that `set` replaces, or would in a dry run, and about a robots.txt that still lists them or
/// those of another program.
fn warnings_of(set: &Prepared, job: &Job) -> impl Iterator<Item = Error> {
    let robots = match job.rules.only_site() {
        Some(_) => RobotsTxt::of_one_site(job.publication.robots.as_deref()),
        None => RobotsTxt::OfEachSite,
    };
    let gone = set.warning_of_sections().or_else(|| set.warning_of_gone_indexes(robots));
    let edited = set.warning_of_edited(job.publication.dry_run);
    edited.into_iter().chain(gone).chain(set.warnings_of_robots_txt(robots))
}

/// With a base for each origin, the base URLs of the live sites without URLs in the inputs, unlike those of `sites`.
fn kept_sites(job: &Job, sites: &[Site]) -> Result<Vec<String>> {
    if job.rules.only_site().is_some() {
        return Ok(Vec::new());
    }
    let directories = sites.iter().map(|site| site.place.directory());
    let published: HashSet<&str> =
        directories.filter_map(|directory| directory.file_name()?.to_str()).collect();
    let parent = place::view_of_set(&job.publication.out, job.publication.name.as_ref())?;
    Ok(other_sites(&*parent, &published))
}

/// The warning about `kept` sites, if there are any: an export that is cut off loses whole sites, too.
fn warning_of_kept(kept: &[String]) -> Option<Error> {
    let (first, others) = kept.split_first()?;
    let others = and_more(others.len());
    Some(Error::data(message!(
        "{first}{others}: live sites without URLs in the inputs are kept; remove the directory of a site that is gone, or \
         use ",
        Setting::AllowMissingSites,
        " if the inputs have only some of the sites"
    )))
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
