//! Set: what is published together. Its manifest, the names of its files, its index files, and which earlier sets are kept.
//!
//! This is policy: it does not depend on the kind of [place](crate::place).

pub mod content;
pub mod manifest;
pub mod name;
pub mod publish;
pub mod robots;
pub mod shelf;
pub mod site_directory;
