//! Sealed rows: the record that lets the next run reuse sitemaps without sorting their URLs again.

use std::sync::Arc;

use crate::error::Result;
use crate::intake::input::Input;
use crate::job::fingerprint::Fingerprint;
use crate::job::{Job, Order};
use crate::produce::batch::Batch;
use crate::set::manifest::SealedRows;
use crate::set::publish::Workspace;
use crate::survey::context::Context;
use crate::survey::layout::Sealed;
use crate::survey::memory::Memory;
use crate::survey::{Live, Sealing, Surveyed, survey_sealed};

/// Surveys `inputs`. If the rows of the set are sealed, sitemaps that have not changed since the live set of `workspace` are
/// reused.
///
/// # Errors
/// Same as [`survey`](crate::survey::survey).
pub fn survey(
    run: Context<'_>,
    inputs: &Arc<[Input]>,
    memory: &Memory,
    workspace: &Workspace,
) -> Result<Surveyed> {
    let Some(rules) = rules(run.job) else { return crate::survey::survey(run, inputs, memory) };
    let live = workspace.live().and_then(|live| Live::of(live, &rules));
    survey_sealed(run, inputs, memory, Sealing { shelf: &workspace.shelf(), live })
}

/// The conditions under which the rows of a set give the same sitemaps again. `None` if the rows of the set are not sealed: its
/// URLs are not sorted, are divided among sites or sections, or are all counted by section.
fn rules(job: &Job) -> Option<String> {
    let is_sealed =
        job.rules.order == Order::Sorted && !job.rules.is_split() && !job.publication.count_segments;
    let rules = Fingerprint::of(&job.rules, &job.input.format);
    is_sealed.then(|| format!("{} {}", env!("CARGO_PKG_VERSION"), rules.as_str()))
}

/// The record of the `sealed` rows, which `batch` is made from.
pub fn record(job: &Job, sealed: Option<Sealed>, batch: &Batch) -> Option<SealedRows> {
    let Sealed { ranges, candidates } = sealed?;
    let first_urls = batch.sitemaps.iter().map(|made| made.first_url.clone()).collect();
    Some(SealedRows { rules: rules(job)?, ranges, candidates, first_urls })
}
