//! Loading: turns inputs into mapped bytes that both passes can read.

use std::sync::Arc;
use std::thread::{Builder, scope};

use crate::commands::sources::Sources;
use crate::common::progress::Estimate;
use crate::error::Result;
use crate::intake::input::Input;
use crate::intake::report::Skipped;
use crate::set::publish::Workspace;
use crate::sitemap::tags::GivenTags;
use crate::survey::context::Context;
use crate::survey::estimate;
use crate::survey::inputs::SourceFacts;
use crate::survey::memory::Memory;
use crate::survey::spool::mapped_all;

/// The inputs, ready for both passes.
pub struct LoadedInputs {
    pub inputs: Arc<[Input]>,
    /// Properties of each input, for the report.
    pub sources: Vec<SourceFacts>,
    /// Files of input directories that are not read.
    pub skipped: Vec<Skipped>,
    /// The estimated needs of the run.
    pub estimate: Estimate,
    /// The memory limit of the later phases.
    pub memory: Memory,
}

impl LoadedInputs {
    /// Maps or reads all inputs, and estimates what the run needs. `out` is where it publishes.
    ///
    /// # Errors
    /// If an input cannot be read, if a disk has less space than the minimum that the run needs, or if `stop` is raised.
    pub fn of(run: Context<'_>, sources: Sources<'_>, memory: &Memory, out: &Workspace) -> Result<Self> {
        let Sources { open, skipped, .. } = sources;
        let (inputs, sources) = mapped_all(run, open, memory)?;
        let memory = memory.after_holding(inputs.iter().map(Input::held_bytes).sum());
        let demand = estimate::estimate(run, &inputs, &memory, out.free_space())?;
        let estimate = demand.estimate;
        memory.scratch.expect(estimate.scratch_bytes);
        run.progress.estimated(&estimate);
        let is_for_sites = run.job.rules.only_site().is_none();
        demand.check(run.job, memory.scratch.directory(), || out.reusable(is_for_sites))?;
        Ok(Self { inputs: inputs.into(), sources, skipped, estimate, memory })
    }

    /// Returns the counts of tags in all rows.
    pub fn given_tags(&self) -> GivenTags {
        self.inputs.iter().fold(GivenTags::default(), |sum, input| sum + input.given_tags())
    }

    /// Refuses inputs that have changed since they were opened.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data), with the name of the first that changed.
    pub fn check_unchanged(&self) -> Result<()> {
        self.inputs.iter().try_for_each(Input::check_unchanged)
    }
}

/// Does `work` while another thread unmaps the `inputs`: unmapping gigabytes takes time, and publishing mostly waits for the disk
/// or the store.
pub fn drop_during<T>(inputs: Arc<[Input]>, work: impl FnOnce() -> T) -> T {
    scope(|scope| {
        // If the thread cannot be started, they are unmapped first.
        let _ = Builder::new().spawn_scoped(scope, move || drop(inputs));
        work()
    })
}
