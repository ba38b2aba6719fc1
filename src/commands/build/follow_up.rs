//! Follow-up: work that follows the switch, such as robots.txt and the diff. The set is live, so a failure is a warning.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::external::ExternalSitemaps;
use super::report::Report;
use crate::commands::diff::{Comparison, DIFF_MEMORY_DEFAULT, DiffFormat, DiffReport, DiffResources, Side};
use crate::commands::target::Target;
use crate::common::output::{Outlet, output_name};
use crate::common::progress::Silent;
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, Setting, message};
use crate::job::Job;
use crate::place::{LocalFile, ResultFile};
use crate::set::manifest::Manifest;
use crate::set::publish::{Prepared, Workspace};
use crate::set::robots::{self, Owner};
use crate::survey::memory::Memory;

/// Work to be done once a set is live.
#[derive(Debug)]
pub struct FollowUp {
    job: Job,
    stop: Stop,
    diff: Option<ResultFile<Outlet>>,
    /// Sitemaps from elsewhere that the sets list.
    pub external: ExternalSitemaps,
    /// Failures so far.
    pub warnings: Vec<Error>,
}

impl FollowUp {
    /// Checks before any other work that the follow-up is possible. Nothing follows a dry run, so it opens no file.
    ///
    /// # Errors
    /// If a file named by the job cannot be written, or if `stop` is raised while waiting for the reader of a FIFO.
    pub fn prepare(job: &Job, stop: &Stop) -> Result<Self> {
        let is_dry = job.publication.dry_run;
        let external = ExternalSitemaps::of(job)?;
        if let Some(path) = &job.publication.robots {
            let check = if is_dry { robots::check_text } else { robots::check };
            let base_url = &job.rules.base_url.to_string();
            check(LocalFile::at(path), Owner { base_url, name: job.publication.name.as_ref() })?;
        }
        let diff = job.publication.diff.as_deref().filter(|_| !is_dry);
        let diff = diff.map(|path| ResultFile::create(path, || Outlet::create(path, stop))).transpose()?;
        Ok(Self { job: job.clone(), stop: stop.clone(), diff, external, warnings: Vec::new() })
    }

    /// Does the work for `site`, which is live. Even a panic is only a warning: the standard library panics if a directory cannot
    /// be closed, and there may be bugs.
    pub fn is_live(&mut self, site: Prepared, memory: &Memory, report: &mut Report) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.follow(site.workspace(), site.set(), memory, report);
            self.warnings.extend(site.end().err());
        }));
        if done.is_err() {
            let words = "a step after publishing failed; see the messages above";
            self.warnings.push(Error::new(ErrorKind::Internal, words));
        }
    }

    /// Completes the diff of all sites, and returns the warnings.
    pub fn end(mut self, report: &mut Report) -> Vec<Error> {
        if let Some(Err(error)) = self.diff.take().map(ResultFile::finish) {
            report.diff = None;
            self.warnings.push(error);
        }
        self.warnings
    }

    fn follow(&mut self, workspace: &Workspace, set: &Manifest, memory: &Memory, report: &mut Report) {
        if let Some(path) = &self.job.publication.robots {
            let owner = Owner { base_url: &set.base_url, name: workspace.name() };
            let listed = robots::list_indexes(LocalFile::at(path), owner, &set.indexes, &self.stop);
            self.warnings.extend(listed.err());
            let old = workspace.live().map(|old| Owner { base_url: &old.base_url, ..owner });
            self.warnings.extend(old.and_then(|old| robots::old_block(LocalFile::at(path), old, owner)));
        }
        match self.diff(workspace, set, memory) {
            Ok(Some(diff)) => report.diff.get_or_insert_default().add(&diff),
            Ok(None) => {}
            Err(error) => {
                // Part of a diff would look like a whole one.
                (self.diff, report.diff) = (None, None);
                self.warnings.push(error);
            }
        }
        // Last, because the diff reads the old sitemaps.
        match workspace.expire(set, self.job.publication.keep) {
            Ok(expired) => report.expired += expired.files,
            Err(error) => self.warnings.push(error),
        }
        report.gone_index_urls.extend(workspace.gone_index_urls(set));
    }

    fn diff(&mut self, workspace: &Workspace, set: &Manifest, memory: &Memory) -> Result<Option<DiffReport>> {
        let (Some(path), Some(file)) = (&self.job.publication.diff, &mut self.diff) else { return Ok(None) };
        let view = workspace.view();
        let old = workspace.live().map(|live| Side::of_set(&view, live)).unwrap_or_default();
        let hold = DIFF_MEMORY_DEFAULT.min(memory.hold as u64);
        let scratch = Some(memory.scratch.directory().to_owned());
        let resources = DiffResources { memory: hold, scratch, threads: self.job.resources.threads };
        let to = Target { name: output_name(path), to: file };
        let new = Side::of_set(&view, set);
        let (format, stop) = (DiffFormat::Tsv, &self.stop);
        let comparison = Comparison { format, resources: &resources, progress: &Silent, stop };
        comparison.compare(old, new, to).map(Some).map_err(|error| {
            let why = match self.stop.check() {
                Ok(()) => error,
                Err(stopped) if matches!(stopped.kind(), ErrorKind::Signal(_)) => {
                    Error::new(error.kind(), "interrupted by a signal")
                }
                Err(stopped) => stopped,
            };
            let left = file.if_dropped();
            why.within(message!(Setting::Diff, " ", path.as_path(), " {left}"))
        })
    }
}
