//! Staging: the objects that let a later run complete this run or clean up after it, and the removal of what dead runs leave.
//!
//! New sitemaps are not staged but uploaded under their final names, because nothing lists them yet. Their metadata names the run.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::objects;
use super::state_object::StateObject;
use super::view::BucketView;
use crate::common::digest::hex_digest;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::interface::{Published, View};
use crate::place::owner::Owner;
use crate::store::{Condition, spawn};

/// The marker, which names the process of the run.
const MARKER: &str = "run.json";

/// The suffix of the object that records that workers upload sitemaps for a run. It stays when the run ends, because a worker that
/// is no longer awaited may upload a sitemap later.
const WORKERS: &str = ".workers";

/// Maximum number of concurrent requests for the runs of unknown sitemaps.
const ASKED_AT_ONCE: usize = 16;

/// The time after which a run has no uploads in flight, even if it may be alive.
const OVER_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// The staging of a run.
#[derive(Debug, Clone, Copy)]
pub struct Staging<'a> {
    /// The place.
    pub view: &'a BucketView,
    /// The run.
    pub run: &'a str,
}

/// The content of the marker.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    owner: Owner,
}

impl Staging<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.view.paths().staging(self.run).join(name)
    }

    /// The object `name` in the staging.
    pub fn object(&self, name: &str) -> StateObject {
        self.view.object(&self.path(name))
    }

    /// Creates the staging.
    pub fn create(&self) -> Result<()> {
        self.put(
            MARKER,
            &serde_json::to_vec(&Marker { owner: Owner::this() }).expect("it has only strings and numbers"),
        )
    }

    /// Uploads an object to the staging.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.object(name).put(Bytes::copy_from_slice(bytes), Condition::None)
    }

    /// Reads an object in the staging; `None` if it does not exist.
    pub fn look(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.object(name).read()?.map(|(bytes, _)| bytes.into()))
    }

    /// Reads an object in the staging, which must exist.
    pub fn read(&self, name: &str) -> Result<Bytes> {
        let missing = || {
            Error::new(
                ErrorKind::Io,
                message!(&*self.path(name), ": is missing; the switch cannot be completed without it"),
            )
        };
        self.look(name)?.map(Bytes::from).ok_or_else(missing)
    }

    /// Removes the staging.
    pub fn remove(&self) -> Result<()> {
        let all = self.view.object(&self.view.paths().staging(self.run));
        let listed = all.bucket.list(&all.key);
        let listed = listed.map_err(|failure| failure.into_error(&all.path, "could not be listed"))?;
        let keys: Vec<String> = listed.into_iter().map(|(key, _)| key).collect();
        all.bucket.remove(&keys).map_err(|failure| failure.into_error(&all.path, "could not be removed"))
    }

    /// Whether no uploads of the run can be in flight any more.
    fn is_over(&self) -> Result<bool> {
        let Some((bytes, object)) = self.object(MARKER).read()? else { return Ok(true) };
        let is_dead = serde_json::from_slice(&bytes).is_ok_and(|marker: Marker| marker.owner.is_dead());
        Ok(is_dead || object.age(self.view.now()) > OVER_AFTER)
    }
}

/// Removes the staging of all runs except `own`, and the sitemaps that they uploaded but did not publish. No other run is active,
/// because the caller holds the claim.
pub fn remove_dead_runs(view: &BucketView, own: &str, published: &Published<'_>) -> Result<()> {
    let level = view.all_staging()?;
    let runs = level.prefixes.iter().map(String::as_str);
    let dead: Vec<&str> = runs.filter(|run| *run != own).collect();
    let marks = level.objects.iter();
    let with_workers: Vec<(&str, bool)> = marks
        .filter_map(|(name, mark)| Some((name.strip_suffix(WORKERS)?, mark.age(view.now()) > OVER_AFTER)))
        .collect();
    let all: Vec<&str> = dead.iter().copied().chain(with_workers.iter().map(|(run, _)| *run)).collect();
    if all.is_empty() {
        return Ok(());
    }
    remove_of_runs(view, &all, published)?;
    for run in dead {
        let staging = Staging { view, run };
        if staging.is_over()? {
            staging.remove()?;
        }
    }
    for (run, _) in with_workers.iter().filter(|(_, is_over)| *is_over) {
        workers_mark(view, run).remove()?;
    }
    Ok(())
}

/// Records that other processes upload sitemaps for `run`.
pub fn mark_workers(view: &BucketView, run: &str) -> Result<()> {
    workers_mark(view, run).put("{}", Condition::None)
}

fn workers_mark(view: &BucketView, run: &str) -> StateObject {
    view.object(&view.paths().all_staging().join(format!("{run}{WORKERS}")))
}

/// Removes the sitemaps that `runs` uploaded but did not publish.
pub fn remove_of_runs(view: &BucketView, runs: &[&str], published: &Published<'_>) -> Result<()> {
    let listed = view.all_published()?;
    let unknown =
        listed.keys().filter(|file| (published.is_sitemap)(file) && !published.files.contains(&***file));
    let unknown: Vec<String> = unknown.cloned().collect();
    let mut left = Vec::new();
    for files in unknown.chunks(ASKED_AT_ONCE) {
        let asked = files.iter().map(|file| {
            let (bucket, key) = (view.bucket().clone(), view.key(file));
            spawn(async move { bucket.run_of(&key).await })
        });
        // All requests are sent before the first is awaited.
        let asked: Vec<_> = asked.collect();
        for (file, run) in files.iter().zip(asked) {
            let failed = |failure: crate::store::Failure| {
                failure.into_error(&view.path(file.as_ref()), "could not be accessed")
            };
            if run.wait().map_err(failed)?.is_some_and(|run| runs.contains(&&*run)) {
                left.push(file.clone());
            }
        }
    }
    objects::remove(view, &left)
}

/// Uploads a copy of a file to the state, under a name that contains its hash.
pub fn back_up(view: &BucketView, directory: &std::path::Path, name: &str, bytes: Vec<u8>) -> Result<()> {
    view.object(&directory.join(format!("{}-{name}", hex_digest(&bytes)))).put(bytes, Condition::None)
}
