//! Place: where sets are kept, and what can be done with files there.

pub mod directory;
mod foreign;
mod hash;
mod interface;
mod local_file;
mod open;
pub mod switch;
mod unsynced;

pub use foreign::foreign;
pub use hash::file_hash;
pub use interface::{Copies, Place, Published, Record, View};
pub use local_file::LocalFile;
pub use open::{open, open_for_sites, view};
pub use unsynced::Unsynced;
