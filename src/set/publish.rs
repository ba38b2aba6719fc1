//! Publish: a new set takes the place of the live one, and no crawler ever sees a torn one.
//!
//! This is the policy: what a set replaces, which files it consists of and how they are called, what stays and for how long.
//! How a directory does that is in [`directory`](crate::place::directory). `tests` breaks both off after every change of the
//! file system, with and without a loss of power.
//!
//! | step | action | a crash here leaves |
//! |---|---|---|
//! | [`Workspace::open`] | lock; finish a switch that was begun; remove staging of dead runs | the old set |
//! | [`Shelf::put`](crate::set::shelf::Shelf::put), [`Unsynced::sync`] | each sitemap into staging, synced | the old set |
//! | [`Workspace::prepare`] | index files, robots lines and manifest into staging, synced | the old set |
//! | | link new sitemaps into the output directory, sync it | the old set, and files nobody lists |
//! | [`make_live`] | rename the manifest to the journal: the decision | the new set, once the next run is through `open` |
//! | | the switch: rename index files into place, then the robots lines, sync them | the same |
//! | | rename the manifest | the same |
//! | [`Workspace::expire`] | remove index files and sitemaps of sets that are neither live nor kept | the new set |
//!
//! A failure, unlike a crash, before the robots lines are in place is taken back, and the old set stays. After that the new
//! set is live, and the next run does what failed.

mod consent;
mod foreign;
mod index;
mod info;
mod live;
mod occupant;
mod prepare;
mod resume;
pub mod retention;
mod rollback;
mod salvage;
mod shelf;
mod stand_in;
pub mod status;
mod switch;
#[cfg(test)]
mod tests;
mod unchanged;
mod workspace;

pub use consent::{Consent, OnDamage};
pub use index::index_bytes_min;
pub use info::SetInfo;
pub use switch::{Prepared, make_live};
pub use workspace::Workspace;

pub use crate::place::Unsynced;
