//! Build: from inputs to a live set.

mod external;
pub(super) mod finish;
pub(super) mod follow_up;
mod full_disk;
pub(super) mod guards;
mod load;
mod lost_pages;
pub(super) mod outcome;
mod publish;
pub mod report;
pub(super) mod reporting;
mod sealed;
pub(super) mod site;
mod start;
mod then;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::commands::build::report::Seconds;
use crate::commands::paths::Paths;
use crate::commands::unpublished::unpublished;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::input::{Lost, cut_short};
use crate::intake::source::Source;
use crate::job::{Job, check_given};
use crate::survey::Surveyed;
use crate::survey::context::Context;
use crate::survey::judge::Rules;
use crate::survey::memory::Memory;
use crate::survey::sections::{self, SiteLayouts};
use finish::{Clock, finish};
use load::{LoadedInputs, drop_during};
pub use outcome::Outcome;
use start::Start;
pub use then::{run_then, runs_then};

/// Builds the set that `job` describes and makes it the live one.
///
/// # Errors
/// See [`ErrorKind`](crate::ErrorKind); a job without inputs is wrong usage. The live set stays unchanged, or is restored if the
/// switch fails. If restoring it fails too, the message says so, and the next run completes the switch. Data that the guards refuse
/// ([`Outcome::refused`]) is not an error of this call.
pub fn build(job: &Job, progress: &dyn Progress, stop: &Stop) -> Result<Outcome> {
    build_from(job, job.input.paths.iter().cloned().map(Source::from).collect(), progress, stop)
}

/// Builds the set that `job` describes from `sources`, which replace [`InputOptions::paths`](crate::options::InputOptions::paths)
/// and can be rows from code. Rows from code are counted, rejected and recorded like rows of a file, with the number of the row
/// and the name of the source.
///
/// # Errors
/// Same as [`build`]; also [`ErrorKind::Io`](crate::ErrorKind::Io) if the iterator of a source fails.
///
/// # Panics
/// If an iterator or `progress` panics, with the same payload. The live set stays unchanged if that is before the switch.
pub fn build_from(
    job: &Job,
    sources: Vec<Source<'_>>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let mut outcome = build_without_then(job, sources, progress, stop)?;
    run_then(job, &mut outcome, stop);
    Ok(outcome)
}

/// Builds like [`build_from`], but leaves the command of [`Publication::then`](crate::options::Publication::then) to a call of
/// [`run_then`], so that the caller can write files first that the command may read.
///
/// # Errors
/// Same as [`build_from`].
///
/// # Panics
/// Same as [`build_from`].
pub fn build_without_then(
    job: &Job,
    sources: Vec<Source<'_>>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let mut job = job.clone();
    job.publication.begin();
    job.input.paths = sources.iter().filter_map(Source::path).map(Path::to_owned).collect();
    job.check()?;
    check_given(&sources)?;
    if let Some(sections) = &job.rules.sections {
        sections.add_column(&mut job.input.format)?;
    }
    let job = &job;
    let out = &job.publication.out;
    let built = lost_pages::as_error(out, |lost| build_set(job, sources, progress, stop, lost));
    let mut outcome = built.map_err(unpublished)?;
    outcome.report_warnings();
    Ok(outcome)
}

/// Runs all phases of a build. Pages of an input that are `lost` read as zeros.
fn build_set(
    job: &Job,
    sources: Vec<Source<'_>>,
    progress: &dyn Progress,
    stop: &Stop,
    lost: &Lost,
) -> Result<Outcome> {
    let started = Instant::now();
    let (start, completed) = Start::of(job, sources, stop)?;
    Outcome::with_completed(completed, build_started(job, start, started, progress, stop, lost))
}

/// Runs the phases of a build after its [`Start`].
fn build_started(
    job: &Job,
    start: Start<'_>,
    started: Instant,
    progress: &dyn Progress,
    stop: &Stop,
    lost: &Lost,
) -> Result<Outcome> {
    let Start { sources, rejects, follow_up, workspace } = start;
    let run = Context { job, rules: &Rules::of(job), progress, stop };
    check_scratch(job)?;
    let memory = Memory::of(&job.resources, workspace.scratch())?;
    let loaded = LoadedInputs::of(run, sources, &memory, &workspace)?;
    let memory = &loaded.memory;

    let Surveyed { account, layout } = sealed::survey(run, &loaded.inputs, memory, &workspace)?;
    if let (Some(path), Some(file)) = (&job.publication.rejects, rejects) {
        reporting::write_rejects(run, &account, &loaded, path, file)?;
    }
    let mut report = reporting::of_survey(run, &loaded, &account)?;
    let surveyed = started.elapsed();
    report.seconds = Seconds::of(surveyed, Duration::ZERO, Duration::ZERO, surveyed);
    if let Err(refused) = guards::check(job, &report) {
        loaded.check_unchanged()?;
        return Ok(Outcome::not_published(report, refused));
    }

    let time = job.publication.w3c_time()?;
    let SiteLayouts { sites, urls_by_rule, left_out } = sections::of_sites(run, layout, memory)?;
    // The parent keeps its lock until the end.
    let (sites, parent) = site::of_layouts(run, sites, workspace)?;
    let hint = report.hint.take().or_else(|| guards::site_hint(&sites));
    let hint = hint.or_else(|| guards::section_hint(job, &sites));
    report.hint = hint.or_else(|| guards::csv_hint(job, &report));
    report.section_rules = reporting::section_rules(job, &urls_by_rule);
    if let Err(refused) = guards::check_sets(job, &sites, &left_out) {
        loaded.check_unchanged()?;
        reporting::add_planned_sections(&mut report, job, &sites);
        return Ok(Outcome::not_published(report, refused));
    }
    let sites = site::produce_all(run, sites, &time, &loaded.estimate)?;
    let produced = started.elapsed();
    loaded.check_unchanged()?;
    if lost.is_some() {
        return Err(cut_short(memory.scratch.directory()));
    }
    stop.check()?;

    let clock = Clock { started, surveyed, produced };
    let mut outcome =
        drop_during(loaded.inputs, || finish(job, report, sites, &time, follow_up, memory, &clock))?;
    let parent = parent.filter(|_| outcome.report.published);
    outcome.warnings.extend(parent.and_then(|parent| parent.end().err()));
    Ok(outcome)
}

/// Checks the scratch directory. That of a dry run may be the output directory, which only a real run has created by now.
fn check_scratch(job: &Job) -> Result<()> {
    let is_output = |scratch: &PathBuf| Paths::are_same(scratch, &job.publication.out);
    match job.publication.dry_run && job.resources.scratch.as_ref().is_some_and(is_output) {
        true => Ok(()),
        false => crate::job::check_scratch(job.resources.scratch.as_deref()),
    }
}
