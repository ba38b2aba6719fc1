//! The manifest lists the files of a published set for the run that replaces it.

mod file;
mod model;
mod rows;
mod succession;

pub use file::Role;
pub use model::{
    Earlier, ExternalEntry, Manifest, RunCounts, SetSection, Sitemap, Superseded, SupersededIndex,
};
pub use rows::{SealedRange, SealedRows};
