//! Commands: what users call. Each is composed of the layers below.

pub mod build;
pub mod check;
pub mod clean;
pub mod cluster;
pub mod diff;
pub mod metrics;
pub mod page;
pub mod paths;
pub mod rollback;
pub mod sources;
pub mod status;
pub mod target;
mod unpublished;
pub mod urls;
