//! Lost pages: if an input is truncated or its disk fails, its pages read as zeros. No set is made from them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use super::outcome::Outcome;
use crate::error::Result;
use crate::intake::input::{Lost, cut_short};

/// Calls `build`. If pages were lost, a refusal, an error or a panic of `build` becomes an error that names the input, or
/// `out` if the input is unknown. A set that is live by then was made from complete inputs.
///
/// # Errors
/// The error of `build`, or [`ErrorKind::Io`](crate::ErrorKind::Io) if pages were lost.
pub fn as_error(out: &Path, build: impl FnOnce(&Lost) -> Result<Outcome>) -> Result<Outcome> {
    let lost = Lost::none_yet();
    let built = catch_unwind(AssertUnwindSafe(|| build(&lost)));
    let is_live = matches!(&built, Ok(Ok(Outcome { report, .. })) if report.published);
    if !is_live && lost.is_some() {
        return Err(cut_short(&Lost::name().unwrap_or_else(|| out.to_owned())));
    }
    built.unwrap_or_else(|panic| resume_unwind(panic))
}
