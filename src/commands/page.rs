//! Page: a report as HTML, made from a finished run, from the JSON of its report, or from a published directory.

mod directory;
mod render;

use std::collections::HashMap;
use std::io::Read;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use crate::commands::build::report::{Failure, Report};
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::common::whole_file;
use crate::error::{Error, Result, Shown, is_url};
use crate::job::{check_threads, threads_default};
use crate::place::{self, LocalFile, PlaceOrFile, SetName};
pub use render::SettingNames;
use render::{Subject, field_name, page};

/// An HTML page: one file without scripts or requests, at most 300 kB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page(String);

/// The subject of a page. [`PageJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PageJob {
    /// The JSON of a report, a directory or location with a published set, or the parent of the directories of several sites.
    pub path: PathBuf,
    /// Show only the sets of this name in a directory. If not set, all sets.
    pub name: Option<SetName>,
    /// Number of worker threads, at most [`THREADS_MAX`](crate::options::THREADS_MAX).
    pub threads: NonZero<usize>,
    /// Returns the name of a setting on the page, with its value if there is one. By default, this is the name of the field:
    /// `scope: host`.
    pub setting_names: SettingNames,
}

impl PageJob {
    /// Creates a job with the defaults: all cores.
    pub fn new(path: PathBuf) -> Self {
        Self { path, name: None, threads: threads_default(), setting_names: field_name }
    }
}

/// Makes the page of `job`. `progress` counts URLs if sitemaps must be read.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if the path is neither a report nor a published set, or a sitemap is damaged;
/// otherwise if something cannot be read, or if `stop` is raised.
pub fn report_page(job: &PageJob, progress: &dyn Progress, stop: &Stop) -> Result<Page> {
    check_threads(job.threads)?;
    place::check_name(job.name.as_ref(), &[&job.path])?;
    let json = match place::resolve(&job.path)? {
        PlaceOrFile::Place(_) => {
            let PageJob { path, name, threads, setting_names } = job;
            let page =
                directory::page_of_directory(path, name.as_ref(), *threads, *setting_names, progress, stop);
            return page.map(Page);
        }
        PlaceOrFile::File(file) if is_url(&job.path) => {
            let mut json = Vec::new();
            let read = file.open()?.read_to_end(&mut json);
            read.map(|_| json).map_err(|error| Error::input(&job.path, error))?
        }
        // It may be a stream, such as /dev/stdin.
        PlaceOrFile::File(_) => whole_file::read(&job.path, u64::MAX, stop)?,
    };
    Page::of_json_with(&json, job.setting_names)
        .map_err(|why| Error::data(format!("{}: {why}", Shown(&job.path))))
}

impl Page {
    /// Makes the page of a run whose lines were counted.
    pub fn of_report(report: &Report) -> Self {
        Self::of_report_with(report, field_name)
    }

    /// Makes the page of a run whose lines were counted. `names` returns the names of settings, for front ends that use other
    /// names.
    pub fn of_report_with(report: &Report, names: SettingNames) -> Self {
        Self(page(Subject::Run(report), names))
    }

    /// Makes the page of a run that failed before its lines were counted.
    pub fn of_failure(failure: &Failure) -> Self {
        Self(page(Subject::Failed(failure), field_name))
    }

    /// Makes the page of a report in JSON. It equals the page that [`Page::of_report`] makes of the report.
    ///
    /// # Errors
    /// If the JSON is not a report. The error is the reason in words.
    pub fn of_json(json: &[u8]) -> Result<Self, String> {
        Self::of_json_with(json, field_name)
    }

    fn of_json_with(json: &[u8], names: SettingNames) -> Result<Self, String> {
        let no_report = |error: serde_json::Error| format!("is not the JSON report of a build ({error})");
        let fields: HashMap<String, Option<IgnoredAny>> = serde_json::from_slice(json).map_err(no_report)?;
        let has = |field: &str| fields.get(field).is_some_and(Option::is_some);
        if has("format") && has("run") {
            return Err("is the manifest of a set and not the JSON report of a build; for a page about the set, give its \
                        directory"
                .into());
        }
        // The report of a refused run has the fields of both.
        match has("error") && !has("lines") {
            true => serde_json::from_slice(json).map(|failure| Self::of_failure(&failure)),
            false => serde_json::from_slice(json).map(|report| Self::of_report_with(&report, names)),
        }
        .map_err(no_report)
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks that a page can be written to the file `path`, to fail before any work.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if not, or if it is a link.
    pub fn check(path: &Path) -> Result<()> {
        LocalFile::at(path).check_writable()
    }

    /// Atomically replaces the file `path` with the page.
    ///
    /// # Errors
    /// If the file cannot be written. The old file then stays.
    pub fn write(&self, path: &Path) -> Result<()> {
        LocalFile::at(path).replace(self.0.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Message, Setting, message};

    #[test]
    fn json_that_is_no_report_is_named_in_the_words_of_users() {
        let manifest = br#"{ "format": 1, "run": "1-2", "published": "2026-11-29T12:00:00Z" }"#;
        for (json, what) in [
            (
                &b"[1]"[..],
                "is not the JSON report of a build (invalid type: sequence, expected a map at line 1",
            ),
            (
                manifest,
                "is the manifest of a set and not the JSON report of a build; for a page about the set, give its",
            ),
        ] {
            let said = Page::of_json(json).unwrap_err();
            assert!(said.starts_with(what), "{said}");
        }
    }

    #[test]
    fn the_page_of_the_json_of_a_refused_run_equals_that_of_its_report() {
        let path = Path::new("out\n`a`");
        let long = "a long word ".repeat(90);
        for refused in [
            message!("too many: ", Setting::MaxRejects.with("5%"), " or ", Setting::AllowEmpty),
            message!(path, ": another base URL; use ", Setting::ReplaceSet),
            message!("{long}", Setting::ReplaceSet),
            Message::from("an odd ` backtick"),
        ] {
            let hint = message!("use ", Setting::Scope.with("host"));
            let tag_hints = vec![message!("use ", Setting::LastmodZone)];
            let report = Report { refused: Some(refused), hint: Some(hint), tag_hints, ..Report::default() };
            let page = Page::of_report(&report);
            assert!(page.as_str().contains("use <code>scope: host</code>"), "{}", page.as_str());
            assert_eq!(Page::of_json(report.to_json().as_bytes()), Ok(page));
        }
    }
}
