//! Survey, the first pass: reads all rows and decides which URLs are listed, and in which sitemap each of them is.

pub mod account;
pub mod chunk;
pub mod context;
pub mod dedup;
pub mod entries;
pub mod estimate;
mod front_coded;
mod in_place;
mod input_order;
pub mod inputs;
pub mod judge;
pub mod keys;
pub mod layout;
pub mod memory;
pub mod notes;
mod position;
pub mod rejects;
pub mod sections;
pub mod sizes;
pub mod sort;
mod sorted;
pub mod splitters;
pub mod spool;
pub mod stable;
pub mod tail;
pub mod tally;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::intake::input::Input;
use crate::job::Order;
use crate::sitemap::divide::borders;
use account::Account;
use context::Context;
use layout::Layout;
use memory::Memory;
pub use sorted::{Arriving, Live, RegionRows, Sealing};
use tally::Tally;

/// The outcome of the first pass.
#[derive(Debug)]
pub struct Surveyed {
    /// The outcome of every row: for reports, reject files and guards.
    pub account: Account,
    /// The entries to list and their sitemaps: for the second pass.
    pub layout: Layout,
}

/// Surveys `inputs` in the order that the job wants, within the limit of `memory`.
///
/// # Errors
/// If memory or scratch space runs out, or `stop` is raised. [`ErrorKind::Internal`] if the rows do not add up.
pub fn survey(run: Context<'_>, inputs: &Arc<[Input]>, memory: &Memory) -> Result<Surveyed> {
    survey_with(run, inputs, memory, borders::count, None)
}

/// Surveys `inputs` like [`survey`]. If the order is [`Order::Sorted`], it also seals the rows and reuses the sitemaps of the
/// live set that have not changed.
///
/// # Errors
/// Same as [`survey`].
pub fn survey_sealed(
    run: Context<'_>,
    inputs: &Arc<[Input]>,
    memory: &Memory,
    sealing: Sealing<'_>,
) -> Result<Surveyed> {
    survey_with(run, inputs, memory, borders::count, Some(sealing))
}

/// Sorts and divides the rows of one region of a set, which has no borders inside, however many rows it has. Other processes have
/// judged them, and `tally` has their counts. The sitemaps are those that the region has in a survey of the whole set in
/// [`Order::Sorted`].
///
/// # Errors
/// Same as [`survey`].
pub fn survey_region(run: Context<'_>, rows: RegionRows, tally: Tally) -> Result<Layout> {
    let layout = sorted::survey_region(run, rows, tally)?;
    check(&layout.tally, &layout)?;
    Ok(layout)
}

/// Surveys `inputs`. In sorted order, `border_count` gives the number of borders for a number of accepted rows. It is
/// [`borders::count`] except in tests.
fn survey_with(
    run: Context<'_>,
    inputs: &Arc<[Input]>,
    memory: &Memory,
    border_count: fn(u64) -> usize,
    sealing: Option<Sealing<'_>>,
) -> Result<Surveyed> {
    let (account, layout) = match run.job.rules.order {
        Order::Input => input_order::survey(run, inputs, memory)?,
        Order::Sorted => sorted::survey(run, inputs, memory, border_count, sealing)?,
    };
    check(&account.tally, &layout)?;
    Ok(Surveyed { account, layout })
}

/// Checks that `tally` accounts for every row, and that `layout` has all that are listed.
fn check(tally: &Tally, layout: &Layout) -> Result<()> {
    let planned = layout.planned();
    // Entries that will be picked are divided later, when they are picked.
    let is_divided = layout.recorded.is_none();
    if !tally.is_balanced() || is_divided && planned != tally.listed {
        let words = format!("the lines do not add up ({tally:?}, {planned} planned)");
        return Err(Error::new(ErrorKind::Internal, words));
    }
    Ok(())
}
