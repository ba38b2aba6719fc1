//! Stores without conditional uploads.

use std::path::Path;

use super::state_object::StateObject;
use crate::error::{Error, ErrorKind, Result, Setting, message};
use crate::store::{Condition, Put};

/// Whether the store accepts an upload without conditions. `probe` is removed again.
pub fn is_uploaded(probe: &StateObject) -> bool {
    let uploaded = probe.put("{}", Condition::None);
    let _ = probe.remove();
    uploaded.is_ok()
}

/// Whether the store enforces the conditions of uploads. `probe` is uploaded to find out, and removed again.
///
/// # Errors
/// If a request fails for another reason.
pub fn has_conditions(probe: &StateObject) -> Result<bool> {
    let StateObject { bucket, key, path } = probe;
    let bytes = b"{}";
    let uploaded = bucket.put(Put::new(&**key, &bytes[..], Condition::None));
    let honoured = uploaded.and_then(|_| bucket.honours_conditions(key, bytes));
    // It is small, and the next run uploads and removes it again.
    let _ = probe.remove();
    honoured.map_err(|failure| failure.into_error_of_output(path, "could not be written"))
}

/// The error for a store that `ignores` the conditions of uploads, or rejects them.
pub fn unsafe_store(path: &Path, ignores: &str) -> Error {
    let words = "so two runs at once could mix their sets; use another store, or ";
    let way_out = Setting::AllowUnsafeStore;
    let words = message!(path, ": the store {ignores}, {words}", way_out, " if runs never overlap");
    Error::new(ErrorKind::Output, words)
}
