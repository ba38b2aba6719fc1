//! The file system, as publishing sees it: a few operations and no way around them, so that a test can stop after any of them
//! and look at what is left.

mod actions;
mod disk;
#[cfg(test)]
pub mod memory;
mod operations;

pub use actions::{
    exists, is_same_file, make_one, make_path, make_private, parent, remove, remove_all, rename,
    sync_directory,
};
pub use disk::Disk;
pub use operations::{FileSystem, Kind, Locked, Meta, NewFile};
