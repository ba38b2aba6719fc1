//! Set: what is published together. Its manifest, the names of its files, its index files, and which earlier sets are kept.

pub mod content;
pub mod manifest;
pub mod name;
pub mod publish;
pub mod robots;
pub mod shelf;
