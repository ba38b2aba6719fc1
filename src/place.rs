//! Place: where sets are kept, and what can be done with files there.

pub mod atomic_file;
pub mod directory;
pub mod fs;
mod hash;
mod interface;
pub mod switch;
mod unsynced;

pub use hash::file_hash;
pub use interface::{Copies, Place, Published, Record, View};
pub use unsynced::Unsynced;
