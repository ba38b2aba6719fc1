//! Intake: input files in all their formats, read as rows.

pub mod blocks;
pub mod format;
pub mod input;
pub mod lines;
pub mod read_at;
pub mod reject_row;
pub mod remote;
pub mod report;
pub mod scratch;
#[cfg(test)]
mod slow;
pub mod source;
pub mod spool_format;
pub mod urls;
