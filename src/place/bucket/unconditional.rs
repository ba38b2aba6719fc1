//! Stores without conditional uploads.

use std::path::Path;

use super::state_object::StateObject;
use crate::error::{Error, ErrorKind, Setting, message};
use crate::store::{Condition, Put};

/// Whether the store accepts an upload without conditions. `probe` is removed again.
pub fn is_uploaded(probe: &StateObject) -> bool {
    let uploaded = probe.bucket.put(Put::new(&*probe.key, "{}", Condition::None));
    let _ = probe.bucket.remove(std::slice::from_ref(&probe.key));
    uploaded.is_ok()
}

/// The error for a store that `ignores` the conditions of uploads, or rejects them.
pub fn unsafe_store(path: &Path, ignores: &str) -> Error {
    let words = "so two runs at once could mix their sets; use another store, or ";
    let way_out = Setting::AllowUnsafeStore;
    let words = message!(path, ": the store {ignores}, {words}", way_out, " if runs never overlap");
    Error::new(ErrorKind::Output, words)
}
