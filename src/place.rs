//! Place: where sets are kept, and what can be done with files there.

pub mod atomic_file;
pub mod directory;
pub mod fs;
pub mod switch;
