//! A place that is only read: a dry run makes every decision of a real run here, and changes nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::foreign::{foreign, no_directory};
use super::fs::{Disk, FileSystem};
use super::interface::{BackupReason, FreeSpace, Place, Published, View};
use super::record::{Record, Version};
use super::switch::{Removal, Removed, Switch, SwitchState};
use super::unsynced::Unsynced;
use crate::error::{Error, ErrorKind, Result, message};

/// A place that need not exist, for a dry run. It takes no lock, so another run may change the place meanwhile. Whatever would
/// change the place does nothing, apart from staging and switching, which are errors because a dry run must not get that far.
#[derive(Debug)]
pub struct Preview {
    view: Arc<dyn View>,
    /// Whether it is a directory, and not in a store.
    is_local: bool,
    scratch: PathBuf,
}

impl Preview {
    /// The place that `view` shows: a directory if it `is_local`. In a store, no local path is in the way. Scratch files go to the
    /// directory for temporary files.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if a real run could not create it, or a directory of its state, because something else has the name.
    pub fn of(view: Arc<dyn View>, is_local: bool) -> Result<Self> {
        let scratch = std::env::temp_dir();
        if !is_local {
            return Ok(Self { view, is_local, scratch });
        }
        let is_there = |path: &&Path| path.symlink_metadata().is_ok();
        if let Some(path) = view.root().ancestors().find(is_there).filter(|path| !path.is_dir()) {
            let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
            return Err(no_directory(path, path.metadata().is_err_and(is_missing)));
        }
        let live = view.record_path(&Record::Live);
        let mut state = live.ancestors().skip(1).take_while(|directory| *directory != view.root());
        match state.find(|directory| is_no_directory(directory)) {
            Some(directory) => Err(foreign(directory)),
            None => Ok(Self { view, is_local, scratch }),
        }
    }

    fn unexpected(&self) -> Error {
        let root = self.view.root();
        Error::new(ErrorKind::Internal, message!(root, ": a dry run reached a step that changes files"))
    }
}

/// Whether something else than a directory has the name `path`. A link is something else: a run follows none there.
fn is_no_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| !meta.is_dir())
}

impl Place for Preview {
    fn open_site(&self, name: &str) -> Result<Box<dyn Place>> {
        let view = self.view.below(name.as_ref());
        match self.is_local && is_no_directory(view.root()) {
            true => Err(foreign(view.root())),
            false => Ok(Box::new(Self::of(view, self.is_local)?)),
        }
    }

    fn release_lock(&mut self) {}

    fn create_staging(&self) -> Result<()> {
        Ok(())
    }

    fn run(&self) -> &str {
        "dry-run"
    }

    fn view(&self) -> &dyn View {
        &*self.view
    }

    /// The space of the nearest directory that exists. That of a store is unlimited.
    fn free_space(&self) -> FreeSpace {
        if !self.is_local {
            return FreeSpace::default();
        }
        let existing = self.view.root().ancestors().find(|path| path.is_dir());
        Disk.free_space(existing.unwrap_or(Path::new(".")))
    }

    fn scratch(&self) -> &Path {
        &self.scratch
    }

    fn switch_state(&self) -> SwitchState {
        SwitchState::Uncommitted
    }

    fn is_staged(&self, _: &str) -> Result<bool> {
        Ok(false)
    }

    fn stage(&self, _: &str, _: Vec<u8>) -> Result<Unsynced> {
        Err(self.unexpected())
    }

    fn staged_bytes(&self, _: &str) -> Result<Option<u64>> {
        Ok(None)
    }

    fn stage_mended(&self, _: &str, _: Vec<u8>) -> Result<Unsynced> {
        Err(self.unexpected())
    }

    fn back_up(&self, _: &str, _: BackupReason) -> Result<()> {
        Ok(())
    }

    fn back_up_record(&self, _: &Record) -> Result<()> {
        Ok(())
    }

    fn replace_live(&self, manifest: &[u8]) -> Result<Version> {
        Ok(Version::of(manifest))
    }

    fn prepare(&mut self, _: Switch) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Err(self.unexpected())
    }

    fn roll_back(&mut self) -> Result<()> {
        Err(self.unexpected())
    }

    fn clean_up(&mut self) -> Result<()> {
        Err(self.unexpected())
    }

    /// The run that publishes will complete the switch, so its set is the one to compare with.
    fn resume(&self, _: &str, _: &[String], _: &[Removal]) -> Result<()> {
        Ok(())
    }

    fn remove(&self, _: &[Removal]) -> Result<Removed> {
        Ok(Removed::default())
    }

    fn remove_record(&self, _: &Record) -> Result<()> {
        Ok(())
    }

    fn remove_dead_runs(&self, _: &Published<'_>) -> Result<()> {
        Ok(())
    }

    fn close<'a>(&self, _: &dyn Fn() -> Published<'a>) -> Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn make_sitemaps_visible(&self, _: &[&str]) -> Result<()> {
        Err(self.unexpected())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::directory::DirectoryView;

    #[test]
    fn a_preview_of_a_place_in_a_store_asks_nothing_of_the_local_disk() {
        let space = |root: &str, is_local| {
            let view = DirectoryView::of(Arc::new(Disk), root.as_ref(), None);
            Preview::of(Arc::new(view), is_local).unwrap().free_space()
        };
        assert!(space("html", true).bytes.is_some());
        assert_eq!(space("s3://bucket/html", false), FreeSpace::default());
    }
}
