//! What [`by_copies`](super::by_copies) and [`by_places`](super::by_places) share: how a division into parts ends, and the layout
//! of a part.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::intake::input::Input;
use crate::job::SetRules;
use crate::sitemap::divide::{Divide, Divider, EntrySize};
use crate::sitemap::xml::Frame;
use crate::survey::context::Context;
use crate::survey::layout::{EntryAt, Layout, ListedChunk};
use crate::survey::stable;
use crate::survey::tally::Tally;

/// Why a division into parts ended early.
pub enum Ended {
    /// There are too many parts, or they would take too much memory.
    TooLarge,
    Failed(Error),
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns whether all is `done`, or false if it was too large.
///
/// # Errors
/// The failure.
pub fn finished(done: Result<(), Ended>) -> Result<bool> {
    match done {
        Ok(()) => Ok(true),
        Err(Ended::TooLarge) => Ok(false),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// Divides the entries of a part to fill sitemaps.
pub fn divider(rules: &SetRules) -> Divider<EntryAt> {
    Divider::new(rules.sitemap_limits(), &Frame::sitemap(rules.protocol))
}

/// The layout of a part that lists `listed` entries: `chunks` of `inputs`, whose entries have these `sizes` and were passed to
/// `divider`.
///
/// # Errors
/// If an input has changed, or the run is stopped.
pub fn layout(
    run: Context<'_>,
    divider: Divider<EntryAt>,
    chunks: Vec<ListedChunk>,
    sizes: &[EntrySize],
    inputs: &Arc<[Input]>,
    listed: u64,
) -> Result<Layout> {
    let sitemaps = match run.job.rules.divide {
        Divide::Fill => divider.finish(),
        Divide::Stable => stable::divide(run, &chunks, sizes, inputs, &[])?,
    };
    Ok(Layout::new(Arc::clone(inputs), chunks, sitemaps, Tally::of_listed(listed)))
}
