//! The stages, in the order of the data. Each is plain functions over slices and numbers: it returns its result and its
//! tally, and neither spawns threads, logs, draws nor knows the [`Job`](crate::Job).

pub(crate) mod cache;
pub mod fs;
#[cfg(test)]
mod random;
mod wide;

pub mod counter;

pub mod input;
pub mod lines;
pub mod rows;

pub mod form;

pub mod clean;
pub mod tags;

pub mod extras;

pub mod entry;

pub mod scope;

pub mod dedup;
pub mod sort;

pub mod divide;

pub mod xml;

pub mod gzip;

mod deflate;

pub mod manifest;
pub mod publish;

pub mod rejects;
