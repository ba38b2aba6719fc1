//! Publish: a new set replaces the live one, and no crawler ever sees half of it.
//!
//! This is the policy: what a set replaces, the names of its files, which files are kept and for how long. The
//! [place](crate::place) carries it out. The table shows the steps in a directory. `tests` interrupts them after every change
//! of the file system, with and without power loss.
//!
//! | step | action | a crash here leaves |
//! |---|---|---|
//! | [`Workspace::open`] | lock; complete a switch that a dead run committed; remove the staging of dead runs | the old set |
//! | [`Shelf::put`], [`Unsynced::sync`] | write each sitemap to staging, sync it | the old set |
//! | [`Workspace::prepare`] | write index files, robots lines and manifest to staging, sync them | the old set |
//! | | link new sitemaps into the output directory, sync it | the old set, and unlisted files |
//! | [`make_live`] | rename the manifest to the journal: the decision | the new set, once the next run is through `open` |
//! | | the switch: rename index files into place, then the robots lines, sync them | the same |
//! | | rename the manifest | the same |
//! | [`Workspace::expire`] | remove index files and sitemaps of sets that are neither live nor kept | the new set |
//!
//! An error (unlike a crash) before the robots lines are renamed rolls the switch back, and the old set stays. After that, the
//! new set is live, and the next run completes what failed.
//!
//! [`Shelf::put`]: crate::set::shelf::Shelf::put
//! [`Unsynced::sync`]: crate::place::Unsynced::sync

mod completed;
mod consent;
mod foreign;
mod found_indexes;
mod gone_indexes;
mod index;
mod info;
mod live;
pub mod live_sets;
mod neighbours;
mod occupant;
mod prepare;
mod resume;
pub mod retention;
mod rollback;
mod salvage;
mod shared_shelf;
mod shelf;
mod sites_below;
mod stage;
mod stand_in;
mod switch;
#[cfg(test)]
mod tests;
mod unchanged;
mod workspace;

pub use completed::{Completed, CompletedSwitch};
pub use consent::{Consent, OnDamage};
pub use gone_indexes::RobotsTxt;
pub use index::{external_bytes, index_bytes_min};
pub use info::SetInfo;
pub use live::{check_is_current, kept, lost, newest};
pub use occupant::is_there;
pub use shared_shelf::SharedShelf;
pub use sites_below::other_sites;
pub use switch::{Prepared, make_live};
pub use workspace::{Reusable, Workspace};
