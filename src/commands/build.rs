//! The main job, from inputs to a live set.

mod by_origin;
mod follow_up;
mod guards;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::io::{self, BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::{Duration, Instant};

use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use super::sources::{self, Sources};
use crate::clean::scope::{Base, BaseUrl};
use crate::commands::report::{Report, Seconds, SetReport};
use crate::common::fifo::Outlet;
use crate::common::progress::Needs;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::common::time::w3c_datetime;
use crate::error::{Error, ErrorKind, Result};
use crate::intake::input::{Input, Lost, cut_short};
use crate::job::{Job, Order};
use crate::produce::produce;
use crate::set::manifest::Sitemap;
use crate::set::publish::{Prepared, SetInfo, Workspace, make_live};
use crate::sitemap::tags::GivenTags;
use crate::survey::Run;
use crate::survey::estimate;
use crate::survey::input_order::survey;
use crate::survey::inputs;
use crate::survey::judge::Rules;
use crate::survey::memory::Memory;
use crate::survey::plan::Plan;
use crate::survey::rejects;
use crate::survey::sorted;
use crate::survey::spool::mapped_all;
use follow_up::After;

/// What came of a build: a report in any case in which all lines were counted, and whether the set is live.
#[derive(Debug)]
pub struct Outcome {
    /// What was found and done.
    pub report: Report,
    /// Why it was not published: the data were refused. Or of sets for each origin, which are switched all or none, some could
    /// not be taken back when another one failed: the report has those, and the next run finishes their switch.
    pub refused: Option<Error>,
    /// What failed once the set was live: it stays live, and somebody should know.
    pub warnings: Vec<Error>,
}

impl Outcome {
    fn not_published(mut report: Report, why: Error) -> Self {
        let cause = why.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        report.refused = Some(format!("{why}{cause}"));
        Self { report, refused: Some(why), warnings: Vec::new() }
    }
}

/// Builds the set that `job` describes and makes it the live one.
///
/// # Errors
/// See [`ErrorKind`]. What was published before stays as it was, and is put back if the switch fails. If that fails too, the
/// message says so, and the next run finishes the switch. Data that are refused as a whole ([`Outcome::refused`]) are no
/// error of this call.
pub fn build(job: &Job, progress: &dyn Progress, stop: &Stop) -> Result<Outcome> {
    job.check()?;
    let lost = Lost::none_yet();
    let built = catch_unwind(AssertUnwindSafe(|| build_of_whole_pages(job, progress, stop, &lost)));
    match built {
        Ok(Ok(Outcome { refused: None, .. })) => {}
        // Whatever came of zeros in the place of the input, be it a refusal, an error or a panic.
        _ if lost.is_some() => return Err(cut_short(&Lost::name().unwrap_or_else(|| job.out.clone()))),
        _ => {}
    }
    built.unwrap_or_else(|panic| resume_unwind(panic))
}

fn build_of_whole_pages(job: &Job, progress: &dyn Progress, stop: &Stop, lost: &Lost) -> Result<Outcome> {
    let started = Instant::now();
    let out = sources::out_directory(job)?;
    let Sources { open: sources, skipped } =
        sources::open_all(&job.inputs, job.require_success, &job.form, out.as_ref())?;
    let mut paths = job.paths();
    sources.iter().for_each(|source| paths.read("input", source.name()));
    paths.check()?;
    paths.make_out()?;
    let rejects = job.rejects.as_deref().map(|path| Outlet::create(path, stop)).transpose()?;
    let mut after = After::prepare(job, stop)?;
    let workspace = open(job)?;
    let rules = &Rules::of(job);
    let run = Run { job, rules, progress, stop };

    let memory = &Memory::of(job, workspace.scratch())?;
    let (inputs, known) = mapped_all(run, sources, &memory.scratch)?;
    let estimate = estimate::estimate(run, &inputs, memory)?;
    let needs = estimate.needs;
    memory.scratch.expect(needs.scratch_bytes);
    progress.needs(&needs);
    estimate.check(job, memory.scratch.directory())?;
    let (plan, sorted) = match job.order {
        Order::Input => (pool(run, &inputs)?.install(|| survey(run, &inputs, memory))?, None),
        Order::Sorted => sorted::survey(run, &inputs, memory).map(|(plan, sorted)| (plan, Some(sorted)))?,
    };
    if let (Some(path), Some(file)) = (&job.rejects, rejects) {
        let mut file = BufWriter::new(file);
        let written = rejects::write(run, &plan, &inputs, path, &mut file)
            .and_then(|()| file.flush().map_err(|error| Error::io(path, "could not be written", error)));
        // A write that was called off is no failure of its own.
        stop.check().and(written)?;
    }
    let given = inputs.iter().fold(GivenTags::default(), |sum, input| sum + input.given_tags());
    inputs::check_tags(&job.tags, &given, &plan.tally)?;
    let surveyed = started.elapsed();
    let mut report = report(job, rules, &inputs, &plan, needs);
    report.non_utf8_lines = plan.tally.non_utf8 + known.iter().map(|known| known.non_utf8).sum::<u64>();
    report.skipped = skipped;
    report.inputs = inputs::reports(&inputs, &known, &plan)?;
    report.hint = guards::hint(job, &report, |reason| rejects::samples(rules, &plan, &inputs, reason));
    report.tag_hints = guards::tag_hints(&report);
    report.seconds = Seconds::of(surveyed, Duration::ZERO, Duration::ZERO, surveyed);
    if let Err(refused) = guards::check(job, &report, workspace.live()) {
        inputs.iter().try_for_each(Input::check_unchanged)?;
        return Ok(Outcome::not_published(report, refused));
    }

    let time = w3c_datetime(job.time)?;
    // What is listed, as the second pass reads it.
    let (listed, listed_plan) = match &sorted {
        None => (&inputs[..], &plan),
        Some(sorted) => (&sorted.inputs[..], &sorted.plan),
    };
    let sites = match &job.base_url {
        Base::Directory(url) => {
            let set = produce(run, listed, listed_plan, &workspace, &time)?;
            vec![(workspace, url.clone(), set)]
        }
        Base::EachOrigin(path) => {
            let sites = by_origin::distribute(run, listed_plan, listed, path, memory)?;
            // Whatever is wrong with one of them is told before the work.
            let workspaces = by_origin::open_all(run, &sites, &workspace)?;
            by_origin::produce_all(run, &sites, workspaces, &time)?
        }
    };
    let produced = started.elapsed();
    if let Err(refused) = guards::check_sites(job, &sites) {
        return Ok(Outcome::not_published(report, refused));
    }

    inputs.iter().try_for_each(Input::check_unchanged)?;
    if lost.is_some() {
        return Err(cut_short(memory.scratch.directory()));
    }
    stop.check()?;
    let prepare = |(workspace, base_url, sitemaps): (Workspace, BaseUrl, Vec<Sitemap>)| {
        let (protocol, index_limits) = (job.protocol, job.index_limits());
        let info = SetInfo { base_url: &base_url, protocol, index_limits, scope: job.scope, time: &time };
        workspace.prepare(sitemaps, &info, job.keep)
    };
    let mut sites: Vec<_> = sites.into_iter().map(prepare).collect::<Result<_>>()?;
    let switched = make_live(&mut sites);
    for site in sites.iter().filter(|site| switched.is_ok() || site.is_begun()) {
        add_set(&mut report, job, site);
    }
    match switched {
        Ok(warnings) => after.warnings.extend(warnings),
        Err(why) if report.sets.is_empty() => return Err(why),
        Err(why) => return Ok(Outcome::not_published(report, why)),
    }
    for site in sites {
        after.is_live(site, memory, &mut report);
    }
    let total = started.elapsed();
    report.published = true;
    report.seconds = Seconds::of(surveyed, produced - surveyed, total - produced, total);
    Ok(Outcome { report, refused: None, warnings: after.warnings })
}

/// Origins out of scope that the report names.
const OUT_OF_SCOPE_ORIGINS: usize = 10;

/// The threads of the survey: no more of them than there are stretches of input, and none once a signal has come.
fn pool(run: Run<'_>, inputs: &[Input]) -> Result<ThreadPool> {
    let threads = run.job.threads.get();
    let stretches = inputs.iter().flat_map(Input::extents).take(threads).count();
    let start = |thread: ThreadBuilder| {
        run.stop.check().map_err(io::Error::other)?;
        thread::Builder::new().name(format!("survey-{}", thread.index())).spawn(|| thread.run()).map(drop)
    };
    let pool = ThreadPoolBuilder::new().num_threads(stretches.max(1)).spawn_handler(start).build();
    pool.map_err(|error| match run.stop.check() {
        Err(stopped) => stopped,
        Ok(()) => Error::new(ErrorKind::Memory, format!("cannot start threads: {error}")),
    })
}

/// Opens the directory, or the parent of those of all origins, and looks whether the set may be published there.
fn open(job: &Job) -> Result<Workspace> {
    match &job.base_url {
        Base::Directory(url) => {
            let mut workspace = Workspace::open(&job.out, job.on_damage())?;
            workspace.admit(url, job.protocol, job.consent())?;
            Ok(workspace)
        }
        Base::EachOrigin(_) => Workspace::open_for_sites(&job.out, job.on_damage()),
    }
}

/// What is known when all lines are counted.
fn report(job: &Job, rules: &Rules, inputs: &[Input], plan: &Plan, needs: Needs) -> Report {
    let tally = &plan.tally;
    let given = inputs.iter().fold(GivenTags::default(), |sum, input| sum + input.given_tags());
    let (out_of_scope, out_of_scope_others) = plan.out_of_scope.largest(OUT_OF_SCOPE_ORIGINS);
    Report {
        version: env!("CARGO_PKG_VERSION"),
        published: false,
        refused: None,
        protocol: job.protocol.to_string(),
        base_url: job.base_url.to_string(),
        inputs: Vec::new(),
        skipped: Vec::new(),
        non_utf8_lines: 0,
        lines: tally.lines,
        blank: tally.blank,
        listed: tally.listed,
        duplicates: tally.duplicates,
        rejected: tally.rejected.by_word(),
        given_tags: given.of_entries.by_word(),
        refused_tags: tally.refused_tags.by_word(),
        dropped_tags: tally.dropped.by_word(),
        out_of_scope: out_of_scope.into_iter().map(|(origin, urls)| (origin.to_owned(), urls)).collect(),
        out_of_scope_others,
        hint: None,
        tag_hints: Vec::new(),
        examples: rejects::examples(rules, plan, inputs),
        sitemaps: 0,
        indexes: 0,
        index_urls: Vec::new(),
        sets: Vec::new(),
        xml_bytes: 0,
        gzip_bytes: 0,
        expired: 0,
        diff: None,
        seconds: Seconds::default(),
        threads: job.threads.get() as u64,
        needs,
    }
}

/// What is known when a set is live.
fn add_set(report: &mut Report, job: &Job, site: &Prepared) {
    let set = site.set();
    let this = SetReport {
        base_url: set.base_url.clone(),
        directory: site.workspace().directory().file_name().unwrap_or_default().to_string_lossy().into(),
        listed: set.sitemaps.iter().map(|sitemap| u64::from(sitemap.urls)).sum(),
        sitemaps: set.sitemaps.len() as u64,
        index_urls: set.indexes.iter().map(|file| format!("{}{file}", set.base_url)).collect(),
        xml_bytes: set.sitemaps.iter().map(|sitemap| sitemap.xml_bytes).sum(),
        gzip_bytes: set.sitemaps.iter().map(|sitemap| sitemap.gzip_bytes).sum(),
    };
    report.sitemaps += this.sitemaps;
    report.indexes += this.index_urls.len() as u64;
    report.index_urls.extend_from_slice(&this.index_urls);
    report.xml_bytes += this.xml_bytes;
    report.gzip_bytes += this.gzip_bytes;
    if matches!(job.base_url, Base::EachOrigin(_)) {
        report.sets.push(this);
    }
}
