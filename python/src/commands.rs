//! The functions that Python calls. Options of `build` and `clean` are arguments, as on the command line.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Once;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sitemill::cli::embed::{Clean, Rows, Size};
use sitemill::diff::DiffFormat;
use sitemill::options::{BaseUrl, Columns, ScopeRule, SetName};
use sitemill::urls::UrlsFormat;
use sitemill::{
    AppliedSettings, CheckJob, DiffJob, Error, ErrorKind, ObjectHeader, Outcome, Page, Progress, Report,
    RollbackJob, Silent, StatusJob, Stop, StoreSettings, Target, UrlsJob,
};

use crate::stream::Stream;
use crate::table::Table;
use crate::{errors, rows, run};

/// Store options of the functions that take no command-line arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Store {
    endpoint: Option<String>,
    state: Option<PathBuf>,
    sitemap_header: Vec<String>,
    index_header: Vec<String>,
    allow_unsafe_store: bool,
}

impl Store {
    /// Makes them the settings of the process for a call with these `paths`. Drop the result when it has ended.
    fn apply(self, py: Python<'_>, paths: &[&Path], publishes: bool) -> PyResult<AppliedSettings> {
        let headers = |option, words: Vec<String>| {
            words.iter().map(|word| parse(py, option, word)).collect::<PyResult<Vec<ObjectHeader>>>()
        };
        let mut settings = StoreSettings::default();
        settings.endpoint = self.endpoint;
        settings.state = self.state;
        settings.sitemap_headers = headers("sitemap_header", self.sitemap_header)?;
        settings.index_headers = headers("index_header", self.index_header)?;
        settings.allow_unsafe_store = self.allow_unsafe_store;
        let applied = py.detach(|| settings.apply(paths, &[], publishes));
        applied.map_err(|error| errors::exception(py, &error))
    }
}

/// Runs the program `sitemill` and returns its exit code.
#[pyfunction]
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    // `ExitCode` cannot be read, and the interpreter ends the process itself.
    py.detach(|| sitemill::cli::exit_code(arguments))
}

/// Makes a lost page of a mapped input an error, which would otherwise kill the interpreter.
fn handle_lost_pages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = sitemill::process::handle_sigbus();
    });
}

/// The result of `build`: the report as JSON, the exception if nothing was published, warnings, and an exception that was raised
/// once the set was live.
pub type Built = (String, Option<Py<PyAny>>, Vec<String>, Option<PyErr>);

/// Builds a set from the files that `arguments` name, or from `rows`, in which parts are in the columns with these `names`.
#[pyfunction]
#[pyo3(signature = (arguments, rows = None, names = Vec::new(), callback = None))]
pub fn build(
    py: Python<'_>,
    arguments: Vec<OsString>,
    rows: Option<Bound<'_, PyAny>>,
    names: Vec<(String, String)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Built> {
    handle_lost_pages();
    let stop = Stop::default();
    let (rows, feed) = given(py, rows, &names, &stop)?;
    let work =
        |progress: &dyn Progress, stop: &Stop| sitemill::cli::embed::build(arguments, rows, progress, stop);
    let (outcome, raised) = run::publish(py, callback.as_ref(), feed, &stop, is_live, work)?;
    Ok(built(py, outcome, raised))
}

/// Whether the set of a build is live.
pub fn is_live(outcome: &Outcome) -> bool {
    outcome.report.published
}

/// The outcome of a build for Python, with an exception that was raised once the set was live.
pub fn built(py: Python<'_>, outcome: Outcome, raised: Option<PyErr>) -> Built {
    let report = sitemill::cli::embed::report_json(&outcome);
    let refused = outcome.refused.map(|why| errors::exception(py, &why).into_value(py).into_any());
    let warnings = outcome.warnings.iter().map(errors::whole_text).collect();
    (report, refused, warnings, raised)
}

/// Cleans the URLs of the files that `arguments` name, or of `rows`, as [`build`] reads them.
#[pyfunction]
#[pyo3(signature = (arguments, rows = None, names = Vec::new()))]
pub fn clean(
    py: Python<'_>,
    arguments: Vec<OsString>,
    rows: Option<Bound<'_, PyAny>>,
    names: Vec<(String, String)>,
) -> PyResult<Stream> {
    handle_lost_pages();
    let begun = py.detach(|| Clean::begin(arguments));
    let (clean, applied) = begun.map_err(|error| errors::exception(py, &error))?;
    let stop = Stop::default();
    let (rows, feed) = given(py, rows, &names, &stop)?;
    Stream::of(py, Table::new(&["url"]), feed, stop, Some(applied), move |to, stop| {
        let target = Target { name: Path::new("rows"), to };
        clean.run(rows, stop, target).map(|report| to_json(&report))
    })
}

/// Returns `rows`, if there are any, with the `names` of their columns, and the feed if they are an iterator.
fn given(
    py: Python<'_>,
    rows: Option<Bound<'_, PyAny>>,
    names: &[(String, String)],
    stop: &Stop,
) -> PyResult<(Option<Rows<'static>>, Option<rows::Feed>)> {
    let Some(rows) = rows else { return Ok((None, None)) };
    let columns = Columns::of_names(names.iter().map(|(part, name)| (&**part, &**name)))
        .map_err(|why| errors::exception(py, &Error::new(ErrorKind::Usage, why)))?;
    let (source, feed) = rows::source(&rows, stop)?;
    Ok((Some(Rows { source, columns }), feed))
}

/// Validates published files. Returns the findings and the counts, each as JSON.
#[pyfunction]
#[pyo3(signature = (paths, name, base_url, scope, limit_findings, threads, store, callback))]
#[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
pub fn check(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: Option<&str>,
    base_url: Option<&str>,
    scope: Option<&str>,
    limit_findings: u64,
    threads: Option<NonZero<usize>>,
    store: Store,
    callback: Option<Py<PyAny>>,
) -> PyResult<(Vec<String>, String)> {
    let _applied = store.apply(py, &all(&paths), false)?;
    let mut job = CheckJob::new(paths);
    job.name = set_name(py, name)?;
    job.base_url = base_url.map(|word| parse::<BaseUrl>(py, "base_url", word)).transpose()?;
    job.scope = scope.map(|word| parse::<ScopeRule>(py, "scope", word)).transpose()?;
    job.findings_max = limit_findings;
    job.threads = threads.unwrap_or(job.threads);
    run::run(py, callback.as_ref(), None, &Stop::default(), |progress, stop| {
        let mut findings = Vec::new();
        let report = sitemill::check(&job, progress, stop, &mut |finding| {
            findings.push(to_json(finding));
            Ok(())
        })?;
        Ok((findings, to_json(&report)))
    })
}

/// Extracts the URLs of published files.
#[pyfunction]
pub fn urls(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    name: Option<&str>,
    threads: Option<NonZero<usize>>,
    store: Store,
) -> PyResult<Stream> {
    let applied = store.apply(py, &all(&paths), false)?;
    let mut job = UrlsJob::new(paths);
    job.name = set_name(py, name)?;
    job.format = UrlsFormat::Json;
    job.threads = threads.unwrap_or(job.threads);
    let columns = Table::new(&["loc", "lastmod", "changefreq", "priority"]).with_extensions();
    Stream::of(py, columns, None, Stop::default(), Some(applied), move |to, stop| {
        let target = Target { name: Path::new("rows"), to };
        sitemill::urls(&job, &Silent, stop, target).map(|report| to_json(&report))
    })
}

/// Compares two sets.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
pub fn diff(
    py: Python<'_>,
    old: PathBuf,
    new: PathBuf,
    name: Option<&str>,
    memory: Option<&str>,
    scratch: Option<PathBuf>,
    threads: Option<NonZero<usize>>,
    store: Store,
) -> PyResult<Stream> {
    let applied = store.apply(py, &[&old, &new], false)?;
    let mut job = DiffJob::new(old, new);
    job.name = set_name(py, name)?;
    job.format = DiffFormat::Json;
    if let Some(word) = memory {
        job.resources.memory = parse::<Size>(py, "memory", word)?.0;
    }
    job.resources.scratch = scratch;
    job.resources.threads = threads.unwrap_or(job.resources.threads);
    let columns = Table::new(&["change", "loc", "old_lastmod", "new_lastmod"]);
    Stream::of(py, columns, None, Stop::default(), Some(applied), move |to, stop| {
        let target = Target { name: Path::new("rows"), to };
        sitemill::diff(&job, &Silent, stop, target).map(|report| to_json(&report))
    })
}

/// The sets of a directory, or of the directories of several sites below it: JSON of each.
#[pyfunction]
pub fn status(py: Python<'_>, directory: PathBuf, name: Option<&str>, store: Store) -> PyResult<Vec<String>> {
    let _applied = store.apply(py, &[&directory], false)?;
    let mut job = StatusJob::new(directory);
    job.name = set_name(py, name)?;
    let found =
        run::run(py, None, None, &Stop::default(), |progress, stop| sitemill::status(&job, progress, stop))?;
    Ok(found.iter().map(to_json).collect())
}

/// The result of `rollback`: the number of the set that was live, the number and the URLs of the one that is now, warnings, and an
/// exception that was raised once that was live.
type RolledBack = (u64, u64, u64, Vec<String>, Option<PyErr>);

/// Restores an earlier set.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are those of the Python function")]
pub fn rollback(
    py: Python<'_>,
    directory: PathBuf,
    name: Option<&str>,
    to: Option<u64>,
    robots: Option<PathBuf>,
    robots_any_name: bool,
    store: Store,
    callback: Option<Py<PyAny>>,
) -> PyResult<RolledBack> {
    let _applied = store.apply(py, &[&directory], true)?;
    let mut job = RollbackJob::new(directory);
    job.name = set_name(py, name)?;
    job.to = to;
    job.robots = robots;
    job.robots_any_name = robots_any_name;
    let stop = Stop::default();
    let work = |progress: &dyn Progress, stop: &Stop| sitemill::rollback(&job, progress, stop);
    let (done, raised) = run::publish(py, callback.as_ref(), None, &stop, |_| true, work)?;
    let warnings = done.warnings.iter().map(errors::whole_text).collect();
    Ok((done.from.number, done.to.number, done.to.urls, warnings, raised))
}

/// The HTML page of a report.
#[pyfunction]
pub fn report_html(report: &str) -> PyResult<String> {
    let report: Report =
        serde_json::from_str(report).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Page::of_report(&report).as_str().to_owned())
}

pub fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("numbers and strings are JSON")
}

fn parse<T: std::str::FromStr<Err = String>>(py: Python<'_>, option: &str, word: &str) -> PyResult<T> {
    let wrong = |why| errors::exception(py, &Error::usage(format!("{option}={word:?}: {why}")));
    word.parse().map_err(wrong)
}

fn all(paths: &[PathBuf]) -> Vec<&Path> {
    paths.iter().map(PathBuf::as_path).collect()
}

fn set_name(py: Python<'_>, word: Option<&str>) -> PyResult<Option<SetName>> {
    word.map(|word| parse(py, "name", word)).transpose()
}
