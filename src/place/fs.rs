//! The local file system: a few operations that all changes go through, so that a test can interrupt publishing after any of them.

mod actions;
mod disk;
#[cfg(test)]
pub mod memory;
mod operations;

pub use actions::{
    OWN_STATE, check_is_file_path, check_overwritable, exists, forbidden, group_lost, is_same_file, look_up,
    make_one, make_path, make_private, parent, random, remove, remove_all, rename, sync_directory,
};
pub use disk::Disk;
pub use operations::{FileSystem, Kind, Locked, Meta, NewFile};
