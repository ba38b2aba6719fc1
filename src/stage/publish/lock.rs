//! One run at a time in an output directory.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result, Shown};
use crate::stage::fs::{FileSystem, Locked};

/// Takes the lock at `path`, at once or not at all, and leaves word of who holds it.
pub fn take(fs: &dyn FileSystem, path: &Path) -> Result<Locked> {
    let word = format!("process {} since {:.0}\n", std::process::id(), jiff::Timestamp::now());
    fs.lock(path, Some(&word))?.ok_or_else(|| {
        let word = fs.read(path).unwrap_or_default();
        let holder = crate::text::shown(word[..word.len().min(200)].trim_ascii());
        Error::new(
            ErrorKind::Busy,
            format!("{}: another run holds it ({holder}); try again when it is done", Shown(path)),
        )
    })
}
