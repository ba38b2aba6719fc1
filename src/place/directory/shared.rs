//! The staging of a run as other processes see it: workers on several machines add files to it.
//!
//! This uses only what every shared file system offers: a file is created under a name that nobody else chooses, synced, and
//! renamed. Locks and links are not needed. Failed attempts leave files behind, which are removed with the staging.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::staging::write;
use super::view::DirectoryView;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::foreign::foreign;
use crate::place::fs::{Disk, exists, look_up, random, remove, rename};
use crate::place::interface::View;
use crate::place::set_name::SetName;
use crate::place::set_paths::{attempt, mended};
use crate::place::shared_staging::SharedStaging;
use crate::place::unsynced::Unsynced;

/// The staging of a run of another process.
#[derive(Debug)]
pub struct DirectoryStaging {
    view: DirectoryView,
    directory: PathBuf,
}

impl DirectoryStaging {
    /// The staging of `run` for the set `name` in the output directory `out`. Nothing is opened or created.
    pub fn of(out: &Path, name: Option<&SetName>, run: &str) -> Self {
        let view = DirectoryView::of(Arc::new(Disk), out, name);
        let directory = view.paths().staging(run);
        Self { view, directory }
    }

    /// Stages `bytes` under `name`, and replaces any file of that name.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<Unsynced> {
        let random = random(&self.directory)?;
        let (part, path) = (self.directory.join(attempt(name, random)), self.directory.join(name));
        let (view, directory) = (self.view.clone(), self.directory.clone());
        let written = write(view.fs(), &part, bytes).map_err(|error| has_ended(&view, &directory, error))?;
        Ok(Unsynced::new(move || {
            let renamed = written.sync().and_then(|()| rename(view.fs(), &part, &path));
            renamed.map_err(|error| {
                let _ = remove(view.fs(), &part);
                has_ended(&view, &directory, error)
            })
        }))
    }
}

impl SharedStaging for DirectoryStaging {
    fn view(&self) -> &dyn View {
        &self.view
    }

    fn staged(&self, file: &str) -> Result<Option<Vec<u8>>> {
        let (fs, path) = (self.view.fs(), self.directory.join(file));
        match look_up(fs, &path)? {
            Some(meta) if meta.is_file() => {
                fs.read(&path).map(Some).map_err(|error| Error::io(&path, "could not be read", error))
            }
            Some(_) => Err(foreign(&path)),
            None => Ok(None),
        }
    }

    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        self.put(file, &bytes)
    }

    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        self.put(&mended(file), &bytes)
    }
}

/// `error`, unless the reason for it is that the run has ended and its staging is gone.
fn has_ended(view: &DirectoryView, staging: &Path, error: Error) -> Error {
    if !matches!(exists(view.fs(), staging), Ok(false)) {
        return error;
    }
    let why = "is gone, because the run of this task has ended; start the run again";
    Error::new(ErrorKind::Output, message!(staging, ": {why}"))
}
