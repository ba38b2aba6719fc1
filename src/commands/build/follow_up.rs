//! Follow-up: what is done when a set is live. What goes wrong there is a warning; the run does not fail any more.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::commands::diff::{DIFF_MEMORY_DEFAULT, DiffForm, DiffReport, DiffRoom, Side, compare};
use crate::commands::report::Report;
use crate::commands::target::Target;
use crate::common::fifo::Outlet;
use crate::common::progress::Silent;
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::place::fs::Disk;
use crate::set::manifest::Manifest;
use crate::set::publish::{Prepared, Workspace};
use crate::set::robots::{RobotsFile, name_indexes};
use crate::survey::memory::Memory;

/// What is left to do.
pub struct FollowUp<'a> {
    job: &'a Job,
    stop: &'a Stop,
    diff: Option<Outlet>,
    /// What failed.
    pub warnings: Vec<Error>,
}

impl<'a> FollowUp<'a> {
    /// Looks whether it can be done, before any work.
    ///
    /// # Errors
    /// If a file that the user named cannot be written, or if `stop` is raised while its reader is waited for.
    pub fn prepare(job: &'a Job, stop: &'a Stop) -> Result<Self> {
        if let Some(path) = &job.robots {
            RobotsFile::read(&Disk, path)?.check(&job.base_url.to_string())?;
        }
        let diff = job.diff.as_deref().map(|path| Outlet::create(path, stop)).transpose()?;
        Ok(Self { job, stop, diff, warnings: Vec::new() })
    }

    /// The set of `site` is live now. Even a panic is no more than a warning: the standard library's at a directory that
    /// cannot be closed, or a bug of ours.
    pub fn is_live(&mut self, site: Prepared, memory: &Memory, report: &mut Report) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.follow(site.workspace(), site.set(), memory, report);
            // It clears up behind itself.
            drop(site);
        }));
        if done.is_err() {
            let words = "not everything was done that follows publishing, for the reason in the lines above";
            self.warnings.push(Error::new(ErrorKind::Internal, words));
        }
    }

    fn follow(&mut self, workspace: &Workspace, set: &Manifest, memory: &Memory, report: &mut Report) {
        if let Some(path) = &self.job.robots {
            let named = name_indexes(&Disk, path, &set.base_url, &set.indexes);
            self.warnings.extend(named.err());
        }
        match self.diff(workspace, set, memory) {
            Ok(Some(diff)) => report.diff.get_or_insert_default().add(&diff),
            Ok(None) => {}
            Err(error) => self.warnings.push(error),
        }
        // At last: until here the old sitemaps were needed.
        match workspace.expire(set, self.job.keep) {
            Ok(expired) => report.expired += expired.files,
            Err(error) => self.warnings.push(error),
        }
    }

    fn diff(&mut self, workspace: &Workspace, set: &Manifest, memory: &Memory) -> Result<Option<DiffReport>> {
        let (Some(path), Some(file)) = (&self.job.diff, &mut self.diff) else { return Ok(None) };
        let directory = workspace.directory();
        let old = workspace.live().map(|live| Side::of_set(directory, live)).unwrap_or_default();
        let (hold, scratch) =
            (DIFF_MEMORY_DEFAULT.min(memory.hold as u64), memory.scratch.directory().to_owned());
        let room = DiffRoom { memory: hold, scratch, threads: self.job.threads };
        let to = Target { name: path, to: file };
        let new = Side::of_set(directory, set);
        let diff = compare(old, new, DiffForm::Tsv, &room, &Silent, self.stop, to);
        diff.map(Some).map_err(|error| match self.stop.is_raised() {
            true => Error::new(error.kind(), "--diff was broken off by a signal"),
            false => error,
        })
    }
}
