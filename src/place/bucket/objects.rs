//! Changes to published objects.

use std::path::Path;

use super::headers::{FileKind, headers};
use super::view::BucketView;
use crate::error::{Error, Result};
use crate::place::foreign::foreign;
use crate::place::interface::View;
use crate::store::{Condition, Failure, FailureKind, Put};

/// An upload of a sitemap for `run`.
pub fn sitemap(view: &BucketView, run: &str, file: &str, bytes: Vec<u8>, condition: Condition) -> Put {
    Put {
        headers: headers(FileKind::Sitemap),
        run: Some(run.into()),
        ..Put::new(view.key(file), bytes, condition)
    }
}

/// The error for a sitemap that could not be uploaded.
pub fn no_sitemap(path: &Path, failure: Failure) -> Error {
    match failure.kind {
        FailureKind::Condition => foreign(path),
        _ => failure.into_error(path, "could not be written"),
    }
}

/// Removes published files.
pub fn remove(view: &BucketView, files: &[String]) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    let keys: Vec<String> = files.iter().map(|file| view.key(file)).collect();
    let removed = view.bucket().remove(&keys);
    removed.map_err(|failure| failure.into_error(&view.path(first.as_ref()), "could not be removed"))?;
    files.iter().for_each(|file| view.note(file, None));
    Ok(())
}
