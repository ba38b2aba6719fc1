//! The staging of a run as other processes see it: workers on several machines upload sitemaps for it.

use super::objects;
use super::staging::Staging;
use super::view::BucketView;
use crate::error::Result;
use crate::place::interface::View;
use crate::place::set_name::SetName;
use crate::place::set_paths::PROBE;
use crate::place::shared_staging::SharedStaging;
use crate::place::unsynced::Unsynced;
use crate::store::{Condition, Location, spawn};

/// The staging of another process's run.
#[derive(Debug)]
pub struct BucketStaging {
    view: BucketView,
    run: String,
}

impl BucketStaging {
    /// The staging of `run` for the set `name` at `location`. Nothing is uploaded.
    ///
    /// # Errors
    /// If there are no credentials, or the settings of the process are invalid.
    pub fn of(location: Location, name: Option<&SetName>, run: &str) -> Result<Self> {
        Ok(Self { view: BucketView::of(location, name)?.without_list(), run: run.into() })
    }

    fn put(&self, file: &str, bytes: Vec<u8>, condition: Condition) -> Unsynced {
        let put = objects::sitemap(&self.view, &self.run, file, bytes, condition);
        let (bucket, path) = (self.view.bucket().clone(), self.view.path(file.as_ref()));
        let task = spawn(async move { bucket.put_async(put).await });
        Unsynced::new(move || task.wait().map(drop).map_err(|failure| objects::no_sitemap(&path, failure)))
    }
}

impl SharedStaging for BucketStaging {
    fn view(&self) -> &dyn View {
        &self.view
    }

    /// Sitemaps are uploaded under their final names, so only other files are staged.
    fn staged(&self, file: &str) -> Result<Option<Vec<u8>>> {
        match file == PROBE {
            true => Staging { view: &self.view, run: &self.run }.look(file),
            false => Ok(None),
        }
    }

    fn stage(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        Ok(self.put(file, bytes, Condition::Absent))
    }

    fn stage_mended(&self, file: &str, bytes: Vec<u8>) -> Result<Unsynced> {
        Ok(self.put(file, bytes, Condition::None))
    }
}
