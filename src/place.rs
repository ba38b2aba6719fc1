//! Place: where sets are kept, and what can be done with files there.

#[cfg(feature = "cloud")]
mod bucket;
mod directory;
mod draft;
mod file;
mod foreign;
pub mod fs;
mod interface;
mod local_file;
mod open;
mod owner;
mod preview;
mod record;
mod replacement;
mod result_file;
mod run;
mod set_name;
mod set_paths;
mod sets;
mod shared_staging;
pub mod switch;
mod syncing;
mod unsynced;

#[cfg(test)]
pub use directory::{DirectoryPlace, DirectoryView};
pub use file::PlaceFile;
pub use foreign::in_the_way;
pub use interface::{BackupReason, FreeSpace, Listed, Place, Published, View};
pub use local_file::LocalFile;
pub use open::{
    PROBE, PlaceOrFile, STATE, absolute, check, check_state, create, file, has_unknown_state, holds_set,
    is_in_state, is_state, of_manifest, open, open_for_sites, preview, resolve, staging_of_run, view,
    view_of_set,
};
pub use record::{Record, Stored, Version};
pub use result_file::ResultFile;
pub use run::process_of;
pub use set_name::SetName;
pub use set_paths::{is_staged_manifest, is_switch_file, set_of, switch_file};
pub use sets::{
    LOST_AND_FOUND, check_name, distinct_places_below, has_sets, may_be_site, places_below, sets_in,
};
pub use shared_staging::SharedStaging;
pub use syncing::syncing;
pub use unsynced::Unsynced;
