//! The outcome of a build.

use std::error::Error as _;

use super::report::Report;
use crate::error::{Error, message};

/// The outcome of a build whose lines were all counted: a report, and whether the set is live.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// All counts, sizes and times.
    pub report: Report,
    /// Why the set was not published: the data was refused, or the switch of one of several sites failed and the switch of
    /// others could not be undone. In the latter case the report lists those sites, and the next run completes them.
    pub refused: Option<Error>,
    /// Warnings: failures after the set went live, which stays live; sitemaps of
    /// [`also`](crate::options::Publication::also) that no set of the run lists; files of the replaced set that something else
    /// had changed; and index files of sections that the new set no longer has. A dry run has only the last two.
    pub warnings: Vec<Error>,
}

impl Outcome {
    /// Creates the outcome of a build that is refused.
    pub(in crate::commands) fn not_published(mut report: Report, why: Error) -> Self {
        let cause = why.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        report.refused = Some(message!(why.message(), "{cause}"));
        Self { report, refused: Some(why), warnings: Vec::new() }
    }
}
