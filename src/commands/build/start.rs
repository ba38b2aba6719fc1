//! Start: opens everything before a line is read, so that a run fails at once and not after an hour.

use super::follow_up::FollowUp;
use super::site;
use crate::commands::sources::{self, Sources};
use crate::common::output::Outlet;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::input::UnreadInput;
use crate::intake::source::Source;
use crate::job::Job;
use crate::place::ResultFile;
use crate::set::publish::{Completed, Workspace};

/// Everything that a build has opened.
pub struct Start<'s> {
    pub sources: Sources<'s>,
    /// The reject file, if the job has one.
    pub rejects: Option<ResultFile<Outlet>>,
    pub follow_up: FollowUp,
    /// The output directory, or the parent directory of all origins.
    pub workspace: Workspace,
}

impl<'s> Start<'s> {
    /// Opens `sources`, the outputs of `job` and its directory. Also returns the switches that
    /// opening the directory has completed.
    ///
    /// # Errors
    /// If an input cannot be opened, a path is used twice, an output cannot be written, or another run holds the directory.
    pub fn of(job: &Job, sources: Vec<Source<'s>>, stop: &Stop) -> Result<(Self, Completed)> {
        let out = sources::out_directory(job, &sources)?;
        let sources =
            sources::open_all(sources, job.input.require_success_marker, &job.input.format, out.as_ref())?;
        let mut paths = job.paths();
        sources.open.iter().filter_map(UnreadInput::path).for_each(|path| paths.read("input", path));
        paths.check()?;
        match job.publication.dry_run {
            true => paths.check_directories()?,
            false => paths.make_out()?,
        }
        let rejects = job
            .publication
            .rejects
            .as_deref()
            .map(|path| ResultFile::create(path, || Outlet::create(path, stop)))
            .transpose()?;
        let follow_up = FollowUp::prepare(job, stop)?;
        let (workspace, completed) = site::open(job, stop)?;
        // An interrupted switch of the set is complete now.
        sources.check_own_files(job, out.as_ref()).map_err(|error| completed.explain(error))?;
        Ok((Self { sources, rejects, follow_up, workspace }, completed))
    }
}
