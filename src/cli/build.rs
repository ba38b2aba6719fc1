//! `sitemill build`: turns options into a job, runs it, and writes report and summary.

mod places;

use std::error::Error as _;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use serde::Serialize;
use serde_json::{Value, json};
use sitemill::escape;
use sitemill::options::{memory_default, threads_within};
use sitemill::process::{
    ResultFile, STDOUT_NAME, StoppableWriter, build_without_then, is_stdout, is_stream, output_name,
    run_then, runs_then,
};
use sitemill::report::{CompletedSwitch, Failure, Metrics};
use sitemill::words::grouped;
use sitemill::{
    Error, ErrorKind, Estimate, Job, Outcome, Page, Phase, Progress, Report, Result, Source, Stop,
};

use super::args::{BuildArgs, ProgressWhen};
use super::early::Early;
use super::report::PageTo;
use super::{clock, failure, flags, inputs, log, progress, signals, streams, summary};
use places::{METRICS, MeasuredRun, ReportFiles};

/// Builds a set, and writes reports and a summary.
pub fn run(args: Box<BuildArgs>, config: Option<&Path>) -> Result<()> {
    let stop = signals::raised_by_signals()?;
    let when = if args.quiet { ProgressWhen::Never } else { args.progress };
    let outcome = built(&args, config, None, &*progress::shown(when), &stop)?;
    warn_of_completed(&outcome.report);
    inputs::warn_of_skipped(&outcome.report.skipped);
    inputs::warn_of_old_news(outcome.report.old_news);
    let warn = match outcome.report.dry_run {
        Some(_) => failure::print_dry_warning,
        None => failure::print_warning,
    };
    outcome.warnings.iter().for_each(warn);
    if !args.quiet {
        summary::print(&outcome.report, &args.out);
    }
    outcome.refused.map_or(Ok(()), Err)
}

/// Warns about switches that dead runs had begun: their sets went live without them, and may have gone live without a report, a
/// diff or a command after publishing.
fn warn_of_completed(report: &Report) {
    for CompletedSwitch { number, base_url, .. } in &report.completed {
        let words = format!(
            "{base_url}: an earlier run died while it switched to set {}; this run has completed the switch",
            grouped(*number)
        );
        log::warning_with(&words, json!({ "completed": number }));
    }
}

/// Builds a set and writes its reports, whether or not the run succeeds. `sources`, if there are any, replace the input files.
pub fn built(
    args: &BuildArgs,
    config: Option<&Path>,
    sources: Option<Vec<Source<'_>>>,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<Outcome> {
    let inputs = match &sources {
        Some(_) => Vec::new(),
        // The default input is standard input.
        None if args.input.is_empty() => vec!["-".into()],
        None => args.input.clone(),
    };
    let (mut reports, ready) = Reports::begin(args, inputs, config);
    let progress = &Estimated { progress, estimate: OnceLock::new() };
    let built = ready.and_then(|()| {
        failure::caught(|| {
            let sources = match sources {
                Some(sources) => sources,
                None => streams::inputs_or_stdin(args.input.clone())?.into_iter().map(Source::from).collect(),
            };
            let job = checked_job(args, stop)?;
            inputs::warn_of_robots(&job.rules.urls);
            let outcome = build_without_then(&job, sources, progress, stop)?;
            Ok(reports.run_then(&job, outcome, stop))
        })
    });
    reports.write(&built, progress.estimate.get(), stop);
    built
}

/// Progress that remembers the estimate of the run, for the report of its failure.
struct Estimated<'p> {
    progress: &'p dyn Progress,
    estimate: OnceLock<Estimate>,
}

impl Progress for Estimated<'_> {
    fn estimated(&self, estimate: &Estimate) {
        let _ = self.estimate.set(*estimate);
        self.progress.estimated(estimate);
    }

    fn begin(&self, phase: Phase, total: u64) {
        self.progress.begin(phase, total);
    }

    fn advance(&self, amount: u64) {
        self.progress.advance(amount);
    }

    fn end(&self) {
        self.progress.end();
    }
}

/// Writes the report and metrics of a run that cannot begin because of `error` in its options.
pub fn refuse(early: &Early<'_>, error: Error) {
    let mut files = ReportFiles::of_words(early);
    files.among(places::paths_of_words(early));
    let (reports, ready) = Reports::prepare(files);
    let _ = ready.inspect_err(failure::print_error);
    reports.write(&Err(error), None, &Stop::default());
}

/// Refuses a closed standard output if the run writes rows to it.
fn check_stdout(args: &BuildArgs) -> Result<()> {
    let is_wanted =
        [&args.reports.rejects, &args.reports.diff].into_iter().flatten().any(|path| is_stdout(path));
    if is_wanted { streams::Stdout::new().map(drop) } else { Ok(()) }
}

/// Open outputs for programs, written whether or not the run succeeds.
pub struct Reports {
    started: Instant,
    /// Without a file if the report was replaced before the command ran. It is then replaced again.
    report: Option<(PathBuf, Option<ResultFile<File>>)>,
    html: Option<PageTo>,
    json: bool,
    metrics: Option<PathBuf>,
    run: MeasuredRun,
}

impl Reports {
    /// Begins a run: checks its paths, creates the output directory, and opens the outputs for programs. The result has the first
    /// error, which is reported to the outputs that could be opened.
    pub fn begin(args: &BuildArgs, inputs: Vec<PathBuf>, config: Option<&Path>) -> (Self, Result<()>) {
        let mut files = ReportFiles::of(args);
        let (paths, conflicts) = files.among(places::paths(args, inputs, config));
        let make_out = || if args.publishing.dry_run { Ok(()) } else { paths.make_out() };
        let checked = conflicts.into_result().and_then(|()| make_out()).and_then(|()| check_stdout(args));
        let (reports, ready) = Self::prepare(files);
        (reports, checked.and(ready))
    }

    /// Opens the outputs before any work, so that a wrong path fails at once. The result has the first error, which is reported
    /// to the outputs that could be opened.
    fn prepare(files: ReportFiles) -> (Self, Result<()>) {
        let started = Instant::now();
        let ReportFiles { report, html, json, metrics, run } = files;
        let mut first = Ok(());
        let report = kept(report.map(|path| create(&path).map(|file| (path, Some(file)))), &mut first);
        let metrics = kept(metrics.map(|path| check_metrics(&path).map(|()| path)), &mut first);
        let html = kept(html.map(PageTo::prepare), &mut first);
        (Self { started, report, html, json, metrics, run }, first)
    }

    /// Runs the command of `job` if the sets of `outcome` are live. First replaces the report and the page, so that the command
    /// does not find those of an earlier run; [`write`](Self::write) replaces them again, with its exit code. What can only be
    /// written in place is written once, at the end. So are the metrics, because alerts on the exit code would end while the
    /// command runs.
    pub fn run_then(&mut self, job: &Job, outcome: Outcome, stop: &Stop) -> Outcome {
        let mut outcome = flags::in_outcome(outcome);
        if !runs_then(job, &outcome) {
            return outcome;
        }
        if let Some(to @ PageTo::File(_)) = &self.html {
            to.write(&page_of(&outcome), stop).unwrap_or_else(warn);
        }
        if let Some((path, file)) = &mut self.report {
            let replaced = file.take_if(|file| matches!(file, ResultFile::Replaced(_)));
            let written = replaced.map_or(Ok(()), |file| write_report(file, path, &json_of(&outcome), stop));
            written.unwrap_or_else(warn);
        }
        run_then(job, &mut outcome, stop);
        flags::in_outcome(outcome)
    }

    /// Writes the outputs. A failure is a warning, because it does not change the outcome of the run. The metrics come first: the
    /// report may block on a slow reader. The report of a run that has failed has its `estimate`, if that is known.
    pub fn write(self, built: &Result<Outcome>, estimate: Option<&Estimate>, stop: &Stop) {
        let took = self.started.elapsed();
        let exit_code = match built {
            Ok(outcome) => outcome.refused.as_ref().map_or(0, |why| why.kind().exit_code()),
            Err(error) => error.kind().exit_code(),
        };
        let report = match built {
            Ok(outcome) => json_of(outcome),
            Err(error) => {
                let estimate = estimate.copied();
                to_json(&Failure { estimate, ..failure_of(error, exit_code) })
            }
        };
        if let Some(path) = &self.metrics {
            let report = built.as_ref().ok().map(|outcome| &outcome.report);
            let MeasuredRun { base_url, name, is_dry_run } = &self.run;
            let (name, is_dry_run, ended) = (name.as_deref(), *is_dry_run, SystemTime::now());
            let metrics = Metrics { base_url, name, is_dry_run, exit_code, ended, took, report };
            metrics.warning_of_other_set(path).into_iter().for_each(warn);
            metrics.write(path).unwrap_or_else(warn);
        }
        if let Some(to) = &self.html {
            let page = match built {
                Ok(outcome) => page_of(outcome),
                Err(error) => Page::of_failure(&failure_of(error, exit_code)),
            };
            to.write(&page, stop).unwrap_or_else(warn);
        }
        if let Some((path, file)) = self.report {
            let file = file.map_or_else(|| create(&path), Ok);
            let written = file.and_then(|file| write_report(file, &path, &report, stop));
            written.unwrap_or_else(warn);
        }
        if self.json {
            let stdout = streams::stdout();
            let line = format!("{report}\n");
            let written =
                stdout.and_then(|file| StoppableWriter::new(&file, stop).write_all(line.as_bytes()));
            written.unwrap_or_else(|error| warn(unwritten(Path::new(STDOUT_NAME), error)));
        }
    }
}

fn warn(error: Error) {
    log::warning(&failure::with_cause(&error));
}

fn unwritten(path: &Path, error: io::Error) -> Error {
    Error::io(path, "the report could not be written", error)
}

/// Writes `report` to the `file` at `path`.
fn write_report(file: ResultFile<File>, path: &Path, report: &Value, stop: &Stop) -> Result<()> {
    let text = format!("{report:#}\n");
    let failed = |error| unwritten(output_name(path), error);
    match file {
        ResultFile::InPlace(file) => {
            StoppableWriter::new(&file, stop).write_all(text.as_bytes()).map_err(failed)
        }
        ResultFile::Replaced(mut file) => {
            file.write_all(text.as_bytes()).map_err(failed).and_then(|()| file.finish())
        }
    }
}

/// Returns the page of the report of `outcome`.
fn page_of(outcome: &Outcome) -> Page {
    Page::of_report_with(&outcome.report, flags::name)
}

/// Returns an output that could be opened. An error is kept in `first`, unless there is one already.
fn kept<T>(opened: Option<Result<T>>, first: &mut Result<()>) -> Option<T> {
    match opened? {
        Ok(output) => Some(output),
        Err(error) => {
            if first.is_ok() {
                *first = Err(error);
            }
            None
        }
    }
}

/// Returns the JSON report of `outcome`. If the set was refused, it has the fields of a failure, too.
pub fn json_of(outcome: &Outcome) -> Value {
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        report: &'a Report,
        #[serde(flatten)]
        failure: Option<Failure>,
    }
    let failure = outcome.refused.as_ref().map(|error| failure_of(error, error.kind().exit_code()));
    to_json(&Whole { report: &outcome.report, failure })
}

fn to_json(report: &impl Serialize) -> Value {
    serde_json::to_value(report).expect("numbers and strings are JSON")
}

fn failure_of(error: &Error, exit_code: u8) -> Failure {
    let cause = error.source().map(ToString::to_string);
    // Without the command that reads a URL, which may contain a signature.
    Failure::new(flags::text(error.message()), cause, exit_code)
}

/// Refuses a path that metrics cannot be written to. Standard output is refused here, where the name of the option is known.
fn check_metrics(path: &Path) -> Result<()> {
    match is_stdout(path) {
        true => {
            let path = path.display();
            Err(Error::usage(format!("{METRICS} {path}: metrics replace a whole file; give a file")))
        }
        false => Metrics::check(path),
    }
}

/// Creates the file for the report. A FIFO is refused: opening one without a reader blocks, and no signal would end the wait.
fn create(path: &Path) -> Result<ResultFile<File>> {
    if !is_stream(path) && path.metadata().is_ok_and(|meta| !meta.is_file()) {
        let shown = escape::shown(path.as_os_str().as_encoded_bytes());
        let words = format!("{shown}: is not a regular file; give one, or a new file");
        return Err(Error::new(ErrorKind::Output, words));
    }
    ResultFile::create(path, || streams::create(path))
}

/// The job that the options describe, without its inputs, once it is certain that they do not contradict each other. Reads the
/// files of rules that they name, until `stop` is raised.
pub fn checked_job(args: &BuildArgs, stop: &Stop) -> Result<Job> {
    let job = job(args, stop)?;
    job.check()?;
    Ok(job)
}

fn job(args: &BuildArgs, stop: &Stop) -> Result<Job> {
    let base_url = args.base_url.encoded(args.format.url_encoding)?;
    let mut job = Job::new(Vec::new(), base_url, args.out.clone());
    job.input.format = args.format.options();
    job.input.require_success_marker = args.format.require_success_marker;
    let rules = &mut job.rules;
    rules.protocol = args.protocol;
    rules.urls_per_sitemap = args.sitemaps.urls_per_sitemap;
    rules.bytes_per_sitemap = args.sitemaps.bytes_per_sitemap.0;
    rules.sitemaps_per_index = args.sitemaps.sitemaps_per_index;
    rules.urls = args.urls.rules(stop)?;
    rules.sections = args.sections.sections_by(stop)?;
    rules.scope = args.scope;
    rules.url_encoding = args.format.url_encoding;
    rules.tags = args.tags.rules();
    rules.on_duplicate = args.tags.on_duplicate;
    rules.order = args.sitemaps.order;
    rules.divide = args.sitemaps.divide;
    rules.level = args.sitemaps.level;
    rules.gzip_engine = args.sitemaps.gzip_engine;
    let resources = &mut job.resources;
    resources.memory = args.resources.memory.map(|size| size.0);
    resources.scratch.clone_from(&args.resources.scratch);
    let memory = resources.memory.unwrap_or_else(memory_default);
    resources.threads = args.resources.threads.unwrap_or_else(|| threads_within(memory));
    let guards = &mut job.guards;
    guards.expect_lines = args.guards.expect_lines;
    guards.max_rejects = args.guards.max_rejects;
    guards.max_dropped_tags = args.guards.max_dropped_tags;
    guards.max_shrink = args.guards.max_shrink;
    guards.allow_empty = args.guards.allow_empty;
    guards.allow_missing_sites = args.guards.allow_missing_sites;
    let publication = &mut job.publication;
    publication.name.clone_from(&args.name);
    publication.rejects.clone_from(&args.reports.rejects);
    publication.robots.clone_from(&args.robots);
    publication.robots_any_name = args.robots_any_name;
    publication.diff.clone_from(&args.reports.diff);
    publication.keep.time = args.earlier.keep;
    publication.keep.sets = args.earlier.keep_sets;
    publication.ignore_manifest = args.earlier.ignore_manifest;
    publication.take_over = args.earlier.take_over;
    publication.replace_set = args.earlier.replace_set;
    publication.dry_run = args.publishing.dry_run;
    publication.also = args.publishing.also(args.format.url_encoding)?;
    publication.then.clone_from(&args.publishing.then);
    publication.details = args.reports.report.is_some() || args.reports.html.is_some() || args.reports.json;
    publication.count_segments = args.reports.html.is_some();
    publication.time = clock::time()?;
    Ok(job)
}
