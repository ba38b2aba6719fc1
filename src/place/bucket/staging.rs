//! Staging: what a run keeps for the one that completes it or cleans up after it, and the removal of what dead runs have left.
//!
//! New sitemaps are not staged but put where crawlers could find them, because nothing lists them yet. Each names the run that put it.

use std::path::PathBuf;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::claim::StateObject;
use super::objects;
use super::owner::Owner;
use super::view::BucketView;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::interface::{Published, View};
use crate::store::{Condition, Object, Put, spawn};

/// The next manifest.
pub const MANIFEST: &str = "manifest.json";
/// Says that there is a run, and which process it is.
const MARKER: &str = "run.json";

/// The end of the name of the object that says that workers put sitemaps for a run. It stays when the run ends, because a worker
/// that nobody waits for may put one later.
const WORKERS: &str = ".workers";

/// Requests for the runs of unknown sitemaps on their way at the same time.
const ASKED_AT_ONCE: usize = 16;

/// After this time nothing of a run is on its way any more, even if nobody knows whether it is dead: nanoseconds.
const OVER_AFTER: i64 = 24 * 3_600 * 1_000_000_000;

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
        self.view.layout().staging(self.run).join(name)
    }

    /// The object `name` in it.
    pub fn object(&self, name: &str) -> StateObject {
        self.view.object(&self.path(name))
    }

    /// Creates it.
    pub fn create(&self) -> Result<()> {
        self.put(
            MARKER,
            &serde_json::to_vec(&Marker { owner: Owner::this() }).expect("it has only strings and numbers"),
        )
    }

    /// Puts an object into it.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        objects::put_state(self.view, &self.path(name), Bytes::copy_from_slice(bytes), Condition::None)
    }

    /// Reads an object in it; none if it does not exist.
    pub fn look(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.view.read_state(&self.path(name))?.map(|(bytes, _)| bytes))
    }

    /// Reads an object in it.
    pub fn read(&self, name: &str) -> Result<Bytes> {
        let missing = || {
            Error::new(
                ErrorKind::Io,
                message!(&*self.path(name), ": is missing; the switch cannot be completed without it"),
            )
        };
        self.look(name)?.map(Bytes::from).ok_or_else(missing)
    }

    /// Removes it.
    pub fn remove(&self) -> Result<()> {
        let all = self.view.object(&self.view.layout().staging(self.run));
        let listed = all.bucket.list(&all.key);
        let listed = listed.map_err(|failure| failure.into_error(&all.path, "could not be listed"))?;
        let keys: Vec<String> = listed.into_iter().map(|(key, _)| key).collect();
        all.bucket.remove(&keys).map_err(|failure| failure.into_error(&all.path, "could not be removed"))
    }

    /// Whether nothing of the run can be on its way to the store any more.
    fn is_over(&self) -> Result<bool> {
        let Some((bytes, object)) = self.view.read_state(&self.path(MARKER))? else { return Ok(true) };
        let is_dead = serde_json::from_slice(&bytes).is_ok_and(|marker: Marker| marker.owner.is_dead());
        Ok(is_dead || is_over_since(&object))
    }
}

/// Removes the staging of all runs except `own`, and the sitemaps that they put and did not publish. No other run is at work, because
/// the caller holds the claim.
pub fn remove_dead_runs(view: &BucketView, own: &str, published: &Published<'_>) -> Result<()> {
    let level = view.nursery()?;
    let runs = level.prefixes.iter().map(String::as_str);
    let dead: Vec<&str> = runs.filter(|run| *run != own).collect();
    let marks = level.objects.iter();
    let with_workers: Vec<(&str, bool)> = marks
        .filter_map(|(name, object)| Some((name.strip_suffix(WORKERS)?, is_over_since(object))))
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
        let object = workers_mark(view, run);
        let removed = object.bucket.remove(&[object.key]);
        removed.map_err(|failure| failure.into_error(&object.path, "could not be removed"))?;
    }
    Ok(())
}

/// Notes that other processes put sitemaps for `run`.
pub fn mark_workers(view: &BucketView, run: &str) -> Result<()> {
    objects::put_state(view, &workers_mark(view, run).path, Bytes::from_static(b"{}"), Condition::None)
}

fn workers_mark(view: &BucketView, run: &str) -> StateObject {
    view.object(&view.layout().nursery().join(format!("{run}{WORKERS}")))
}

fn is_over_since(object: &Object) -> bool {
    let now = jiff::Timestamp::now().as_nanosecond();
    now - i128::from(object.modified) > i128::from(OVER_AFTER)
}

/// Removes the sitemaps that `runs` put and did not publish.
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
        // All are on their way before the first is waited for.
        let asked: Vec<_> = asked.collect();
        for (file, run) in files.iter().zip(asked) {
            let failed = |failure: crate::store::Failure| {
                failure.into_error(&view.path(file.as_ref()), "could not be looked at")
            };
            if run.wait().map_err(failed)?.is_some_and(|run| runs.contains(&&*run)) {
                left.push(file.clone());
            }
        }
    }
    objects::remove(view, &left)
}

/// Puts a copy of a file into the state, under a name with its hash.
pub fn back_up(view: &BucketView, directory: &std::path::Path, name: &str, bytes: Vec<u8>) -> Result<()> {
    let aside = directory.join(format!("{}-{name}", crate::place::hash::file_hash(&bytes)));
    let object = view.object(&aside);
    let put = object.bucket.put(Put::new(object.key, bytes, Condition::None));
    put.map(drop).map_err(|failure| failure.into_error(&aside, "could not be written"))
}
