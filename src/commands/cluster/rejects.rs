//! Rejects: the rows of a partition that are not listed, and the tags that are dropped.

use super::order::check_job;
use super::pack::row_of;
use super::reading::read;
use crate::clean::Reason;
use crate::common::stop::Stop;
use crate::error::Result;
use crate::intake::format::{Record, Sink};
use crate::intake::source::Source;
use crate::intake::spool_format::{Content, InputRow};
use crate::job::Job;
use crate::survey::judge::{Judge, Rules};
use crate::survey::rejects::{Reject, rejects_of};

/// A row that was rejected or excluded, or a tag that was dropped from a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RejectedRow<'a> {
    /// The number of the row in its source, from 1.
    pub row: u64,
    /// The reason, as a word of the [report](crate::Report::rejected): `scheme`, or `tag-lastmod` for a tag. For an excluded row,
    /// the rule as in [`Report::excluded`](crate::Report::excluded).
    pub reason: &'a str,
    /// The row's URL as it was in the source, or the text of a row without a URL.
    pub text: &'a [u8],
    /// The value of the tag, if only a tag was dropped. The URL is listed without it.
    pub tag: Option<&'a [u8]>,
}

/// Reads all rows of `source`, one partition of the input, and calls `emit` with each row that is rejected or excluded and each
/// tag that is dropped. It does nothing else with the rows, so an engine can collect rejects with or without a run.
///
/// # Errors
/// If the source cannot be read, `emit` fails, or `stop` is raised.
pub fn rejects(
    job: &Job,
    source: Source<'_>,
    emit: &mut dyn FnMut(RejectedRow<'_>) -> Result<()>,
    stop: &Stop,
) -> Result<()> {
    check_job(job)?;
    let rules = Rules::of(job);
    read(job, source, stop, &mut Teller { judge: Judge::new(&rules), emit }).map(drop)
}

/// Reports rejected rows.
struct Teller<'r, 'e> {
    judge: Judge<'r>,
    emit: &'e mut dyn FnMut(RejectedRow<'_>) -> Result<()>,
}

impl Teller<'_, '_> {
    fn row(&mut self, row: InputRow<'_>) -> Result<()> {
        let (Content::Url(text, _) | Content::Bad(text, _)) = row.content else { return Ok(()) };
        rejects_of(row, &mut self.judge).into_iter().try_for_each(
            |Reject { line, reason, text: of, .. }| {
                // The text of a rejected row is the row itself; that of a dropped tag is its value.
                let tag = reason.starts_with("tag-").then_some(&*of);
                (self.emit)(RejectedRow { row: line, reason, text, tag })
            },
        )
    }
}

impl Sink for Teller<'_, '_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        self.row(row_of(record))
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.row(InputRow { line, offset, content: Content::Bad(text, reason) })
    }
}
