//! Lost pages: when an input is cut short or its disk fails, zeros take the place of its bytes. Nothing is made of those.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use super::outcome::Outcome;
use crate::error::Result;
use crate::intake::input::{Lost, cut_short};

/// Calls `build`. Whatever comes of lost pages, be it a refusal, an error or a panic, is an error that names the input, or
/// else `out`. A set that is live by then was made of whole inputs.
///
/// # Errors
/// That of `build`, or [`ErrorKind::Data`](crate::ErrorKind::Data) if pages were lost.
pub fn as_error(out: &Path, build: impl FnOnce(&Lost) -> Result<Outcome>) -> Result<Outcome> {
    let lost = Lost::none_yet();
    let built = catch_unwind(AssertUnwindSafe(|| build(&lost)));
    let is_live = matches!(built, Ok(Ok(Outcome { refused: None, .. })));
    if !is_live && lost.is_some() {
        return Err(cut_short(&Lost::name().unwrap_or_else(|| out.to_owned())));
    }
    built.unwrap_or_else(|panic| resume_unwind(panic))
}
