//! Set: what is published together. Its manifest, the names of its files, its index files, and which earlier sets are kept.

pub mod manifest;
pub mod publish;
pub mod robots;
