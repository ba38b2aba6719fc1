//! Stable division: listed entries are read once more, for what their URLs say of boundaries. Nothing that grows with the
//! input is kept of it, and a run that fills its sitemaps does without.

use super::Run;
use super::judge::{Judge, try_for_each_listed};
use super::ordered::ordered;
use super::plan::{Chunk, Place};
use crate::error::{Error, Result};
use crate::stage::divide::Part;
use crate::stage::divide::stable::{Mark, StableDivider, Weighed};
use crate::stage::input::Input;
use crate::stage::xml::Frame;

/// Divides the listed entries of `chunks`, which are of `inputs`.
///
/// # Errors
/// If the run is stopped.
pub fn divide(run: Run<'_>, chunks: &[Chunk], inputs: &[Input]) -> Result<Vec<Part<Place>>> {
    let mut divider = StableDivider::new(run.job.sitemap_limits(), &Frame::sitemap(run.job.protocol));
    let judge = || Judge::new(run.rules);
    let work = |judge: &mut Judge<'_>, at: usize| weighed(at, &chunks[at], inputs, judge);
    ordered(run.job.threads.get(), 0..chunks.len(), judge, work, |entries| {
        run.stop.check()?;
        entries?.into_iter().for_each(|entry| divider.push(entry));
        Ok::<_, Error>(())
    })?;
    Ok(divider.finish())
}

/// The listed entries of `chunk`, which is the `at`th.
fn weighed(at: usize, chunk: &Chunk, inputs: &[Input], judge: &mut Judge<'_>) -> Result<Vec<Weighed<Place>>> {
    let mut entries = Vec::with_capacity(chunk.tally.listed as usize);
    try_for_each_listed(chunk, inputs, judge, |ordinal, entry| {
        entries.push(Weighed {
            at: Place { chunk: at, ordinal },
            bytes: entry.bytes() as u64,
            uses: entry.extras.uses,
            mark: Mark::of(entry.url),
        });
        Ok(())
    })?;
    Ok(entries)
}
