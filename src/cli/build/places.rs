//! The files that the options of a build name: those of its reports, and all others that it reads or writes.

use std::path::{Path, PathBuf};

use sitemill::Job;
use sitemill::options::{Base, SetName, UrlEncoding};
use sitemill::process::{Conflicts, Paths};
use sitemill::report::Metrics;

use crate::cli::args::{BuildArgs, RESPECT_ROBOTS};
use crate::cli::early::Early;

/// The outputs for programs.
pub struct ReportFiles {
    pub report: Option<PathBuf>,
    pub html: Option<PathBuf>,
    pub json: bool,
    pub metrics: Option<PathBuf>,
    pub run: MeasuredRun,
}

/// The facts about a run that the metrics have, whatever its outcome is.
pub struct MeasuredRun {
    pub base_url: String,
    pub name: Option<String>,
    pub is_dry_run: bool,
}

const REPORT: &str = "--report";
const HTML: &str = "--html";
pub const METRICS: &str = "--metrics";
const JSON: &str = "--json";

impl ReportFiles {
    /// The outputs of a run with these options.
    pub fn of(args: &BuildArgs) -> Self {
        let (report, html, metrics) =
            (args.reports.report.clone(), args.reports.html.clone(), args.reports.metrics.clone());
        // If it cannot be encoded, that is the error that is reported.
        let base_url = args
            .base_url
            .encoded(args.format.url_encoding)
            .unwrap_or_else(|_| args.base_url.clone())
            .to_string();
        let name = args.name.as_ref().map(ToString::to_string);
        let run = MeasuredRun { base_url, name, is_dry_run: args.publishing.dry_run };
        Self { report, html, json: args.reports.json, metrics, run }
    }

    /// The outputs of a run whose options are wrong.
    pub fn of_words(early: &Early<'_>) -> Self {
        let [report, html, metrics] = ["report", "html", "metrics"].map(|option| path(early, option));
        let (base_url, name) = labels(early, metrics.as_deref());
        let [json, is_dry_run] = ["json", "dry-run"].map(|option| early.is_set(option));
        Self { report, html, json, metrics, run: MeasuredRun { base_url, name, is_dry_run } }
    }

    /// Adds these outputs to the other paths of the run, and drops those that would overwrite another file.
    pub fn among(&mut self, mut paths: Paths) -> (Paths, Conflicts) {
        self.report.iter().for_each(|path| paths.write(REPORT, path));
        self.html.iter().for_each(|path| paths.write(HTML, path));
        self.metrics.iter().for_each(|path| paths.write(METRICS, path));
        if self.json {
            paths.write_to_stdout(JSON);
        }
        let conflicts = paths.conflicts();
        self.report = self.report.take().filter(|_| !conflicts.are_of(REPORT));
        self.html = self.html.take().filter(|_| !conflicts.are_of(HTML));
        self.metrics = self.metrics.take().filter(|_| !conflicts.are_of(METRICS));
        self.json &= !conflicts.are_of(JSON);
        (paths, conflicts)
    }
}

/// The path that an option names. If it is empty, that is the error that is reported.
fn path(early: &Early<'_>, option: &str) -> Option<PathBuf> {
    early.value(option).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The base URL and the name of the set, as in the metrics of a run that begins. If the options do not tell them, they are those of
/// the run that wrote the file `metrics` before, so that the file keeps the time of the last success.
fn labels(early: &Early<'_>, metrics: Option<&Path>) -> (String, Option<String>) {
    let text = |option| early.value(option).map(|value| value.to_string_lossy().into_owned());
    let encoding = text("url-encoding").unwrap_or_default();
    let encoding = if encoding.is_empty() { Ok(UrlEncoding::default()) } else { encoding.parse() };
    let (base_url, name) = (text("base-url").unwrap_or_default(), text("name"));
    let base = base_url.parse().ok().zip(encoding.ok());
    let base =
        base.and_then(|(base, encoding): (Base, _)| base.encoded(encoding).ok()).map(|base| base.to_string());
    let is_name_known = match &name {
        Some(name) => name.parse::<SetName>().is_ok(),
        None => !early.is_given("name"),
    };
    let is_known = base.is_some() && is_name_known && !early.is_incomplete;
    let earlier = metrics.filter(|_| !is_known).and_then(Metrics::set_in);
    let earlier = earlier.filter(|(of_earlier, _)| base.as_ref().is_none_or(|base| base == of_earlier));
    earlier.unwrap_or((base.unwrap_or(base_url), name))
}

/// The paths that the run reads, including `inputs`, and those that it writes, except its reports.
pub fn paths(args: &BuildArgs, inputs: Vec<PathBuf>, config: Option<&Path>) -> Paths {
    let mut job = Job::new(inputs, args.base_url.clone(), args.out.clone());
    job.publication.rejects.clone_from(&args.reports.rejects);
    job.publication.diff.clone_from(&args.reports.diff);
    job.publication.robots.clone_from(&args.robots);
    job.publication.then.clone_from(&args.publishing.then);
    // A URL that cannot be encoded is reported later.
    job.publication.also = args.publishing.also(args.format.url_encoding).unwrap_or_default();
    let rules = args.urls.files().map(|(option, path)| (option, path.as_path()));
    let sections = args.sections.sections.iter().map(|path| ("--sections", path.as_path()));
    let config = config.into_iter().map(|path| ("--config", path));
    paths_of(&job, rules.chain(sections).chain(config))
}

/// The paths of a run whose options are wrong.
pub fn paths_of_words(early: &Early<'_>) -> Paths {
    let base = early.value("base-url").and_then(|base| base.to_str()?.parse().ok());
    // With the sets of several sites, more files are those of a set.
    let base = base.unwrap_or_else(|| "{origin}/".parse().expect("it is the base of all sites"));
    let mut job = Job::new(early.inputs.clone(), base, path(early, "out").unwrap_or_else(|| ".".into()));
    job.publication.rejects = path(early, "rejects");
    job.publication.diff = path(early, "diff");
    job.publication.robots = path(early, "robots");
    job.publication.then = early.value("then").and_then(|then| then.to_str()?.parse().ok());
    let also = early.values("also");
    job.publication.also = also.iter().filter_map(|also| also.to_str()?.parse().ok()).collect();
    let options = ["--include-file", "--exclude-file", "--sections", RESPECT_ROBOTS, "--config"];
    let read = options.map(|option| early.values(&option[2..]).into_iter().map(move |path| (option, path)));
    let read: Vec<_> = read.into_iter().flatten().collect();
    paths_of(&job, read.iter().map(|(option, path)| (*option, Path::new(path))))
}

/// The paths of `job`, and the files that other options `read`.
fn paths_of<'p>(job: &Job, read: impl Iterator<Item = (&'static str, &'p Path)>) -> Paths {
    let mut paths = job.paths();
    // The robots.txt may also be the one that lists the index files, which is written when the set is live.
    let robots = job.publication.robots.as_deref();
    let is_listing = |path: &Path| robots.is_some_and(|robots| Paths::are_same(robots, path));
    read.filter(|(option, path)| *option != RESPECT_ROBOTS || !is_listing(path))
        .for_each(|(option, path)| paths.read(option, path));
    paths
}
