//! A file of a place. Reading it does not depend on the kind of place.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::interface::View;
use crate::error::Result;

/// A file of a place, by its name. It need not exist.
#[derive(Debug, Clone)]
pub struct PlaceFile {
    view: Arc<dyn View>,
    name: OsString,
    path: PathBuf,
}

impl PlaceFile {
    /// The file `name` in the place that `view` shows.
    pub fn new(view: Arc<dyn View>, name: impl Into<OsString>) -> Self {
        let name = name.into();
        let path = view.path(&name);
        Self { view, name, path }
    }

    /// The file `name` in the same place.
    pub fn beside(&self, name: impl Into<OsString>) -> Self {
        Self::new(Arc::clone(&self.view), name)
    }

    /// The place that it is in.
    pub fn view(&self) -> &dyn View {
        &*self.view
    }

    /// Its name in the place.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Its path, which identifies it in messages and among other files.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it exists and is a regular file. Links are not regular files.
    pub fn is_file(&self) -> bool {
        self.view.is_file(&self.name)
    }

    /// The reason why it is not a regular file, for messages.
    pub fn why_not_regular(&self) -> &'static str {
        match self.view.look_up(&self.name) {
            Ok(None) => "there is no such file",
            Err(error) if error.is_denied() => "no permission to look whether it is there",
            _ => "it is not a regular file, and links are not followed",
        }
    }

    /// Opens it for reading.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it is missing, unreadable or no regular file.
    pub fn open(&self) -> Result<Box<dyn Read + Send>> {
        self.view.open(&self.name)
    }
}
