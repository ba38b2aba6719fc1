//! The outcome of a build.

use std::error::Error as _;

use crate::commands::report::Report;
use crate::error::Error;

/// What came of a build: a report in any case in which all lines were counted, and whether the set is live.
#[derive(Debug)]
pub struct Outcome {
    /// What was found and done.
    pub report: Report,
    /// Why it was not published: the data were refused. Or one of several sites, which are switched all or none, failed, and
    /// others could not be taken back: the report has those, and the next run finishes their switch.
    pub refused: Option<Error>,
    /// What failed after the set was live. It stays live.
    pub warnings: Vec<Error>,
}

impl Outcome {
    /// The outcome of a build that is refused.
    pub(super) fn not_published(mut report: Report, why: Error) -> Self {
        let cause = why.source().map(|cause| format!(": {cause}")).unwrap_or_default();
        report.refused = Some(format!("{why}{cause}"));
        Self { report, refused: Some(why), warnings: Vec::new() }
    }
}
