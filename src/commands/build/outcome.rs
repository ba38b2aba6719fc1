//! The outcome of a build.

use std::error::Error as _;

use super::report::Report;
use crate::error::{Error, Message, Result, message};
use crate::set::publish::Completed;

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
    /// had changed; index files that the new set no longer has, and a robots.txt that lists such files; live sites without
    /// URLs in the inputs. A dry run lacks the first kind.
    pub warnings: Vec<Error>,
}

impl Outcome {
    /// Creates the outcome of a build that is refused.
    pub(in crate::commands) fn not_published(mut report: Report, why: Error) -> Self {
        report.refused = Some(with_cause(&why));
        Self { report, refused: Some(why), warnings: Vec::new() }
    }

    /// Adds the `completed` switches to the report, or to the error if the build failed.
    pub(in crate::commands) fn with_completed(completed: Completed, built: Result<Self>) -> Result<Self> {
        match built {
            Ok(mut outcome) => {
                outcome.report.completed = completed.0;
                Ok(outcome)
            }
            Err(error) => Err(completed.explain(error)),
        }
    }

    /// Copies the messages of the warnings to the report.
    pub(in crate::commands) fn report_warnings(&mut self) {
        self.report.warnings = self.warnings.iter().map(with_cause).collect();
    }
}

/// The message of `error`, followed by its cause.
fn with_cause(error: &Error) -> Message {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    message!(error.message(), "{cause}")
}
