//! The switch to another set: conditional uploads that can be repeated because the journal records the switch.
//!
//! Every file is read before it is replaced, and replaced only if it has not changed since. Therefore a run that was presumed dead
//! during its switch cannot overwrite what another run has published after completing the switch.

use std::collections::HashSet;
use std::path::Path;

use bytes::Bytes;

use super::headers::{FileKind, headers};
use super::objects::remove;
use super::staging::Staging;
use super::view::BucketView;
use crate::error::{Error, Result};
use crate::place::foreign::changed;
use crate::place::interface::View;
use crate::place::record::{Record, Version};
use crate::place::set_paths::MANIFEST;
use crate::place::switch::{Removal, Switch};
use crate::store::{Condition, FailureKind, Object, Put};

/// The changes that a switch makes.
#[derive(Debug, Default)]
pub struct Steps {
    /// Index files, then the robots lines.
    pub files: Vec<Step>,
    /// The sitemaps of the set.
    pub sitemaps: HashSet<String>,
    /// Files to remove after the switch.
    pub removals: Vec<Removal>,
    /// The version of the live manifest that the switch replaces.
    pub expected: Option<Version>,
    /// The next manifest.
    pub manifest: Bytes,
}

/// A file that the switch uploads.
#[derive(Debug)]
pub struct Step {
    file: String,
    new: Bytes,
    /// The previous content and object, if the file existed.
    old: Option<(Bytes, Object)>,
}

fn kind(at: usize, files: usize) -> FileKind {
    // The robots lines come last, after the index files that they name.
    if at + 1 == files { FileKind::Robots } else { FileKind::Index }
}

/// Stages everything that another run needs to complete the switch, and reads the files that it will replace.
pub fn prepare(view: &BucketView, staging: &Staging<'_>, switch: Switch) -> Result<Steps> {
    let mut steps = Steps {
        sitemaps: switch.sitemaps.into_iter().collect(),
        removals: switch.removals,
        expected: switch.expected,
        ..Steps::default()
    };
    for (file, bytes) in switch.indexes.into_iter().chain([switch.robots]) {
        staging.put(&file, &bytes)?;
        let old = read(view, &file)?;
        steps.files.push(Step { file, new: bytes.into(), old });
    }
    staging.put(MANIFEST, &switch.manifest)?;
    steps.manifest = switch.manifest.into();
    if let Some((run, manifest)) = switch.replaced {
        view.object(&view.paths().record(&Record::kept(&run))).put(manifest, Condition::None)?;
    }
    Ok(steps)
}

/// The condition for replacing the live manifest.
///
/// # Errors
/// The error that `changed` makes for its path if it is not the one that the publisher has read.
pub fn check_expected(
    view: &BucketView,
    expected: Option<&Version>,
    changed: fn(&Path) -> Error,
) -> Result<Condition> {
    let manifest = view.live_manifest();
    let live = manifest.read()?;
    match live.as_ref().map(|(bytes, _)| Version::of(bytes)).as_ref() == expected {
        true => Ok(Condition::still(live.as_ref().map(|(_, object)| object))),
        false => Err(changed(&manifest.path)),
    }
}

/// Uploads the files that crawlers read.
pub fn make_visible(view: &BucketView, steps: &Steps) -> Result<()> {
    let files = steps.files.len();
    for (at, step) in steps.files.iter().enumerate() {
        let condition = Condition::still(step.old.as_ref().map(|(_, object)| object));
        put(view, &step.file, step.new.clone(), condition, kind(at, files))?;
    }
    Ok(())
}

/// Restores the files that [`make_visible`] replaced, the robots lines first.
pub fn put_back(view: &BucketView, steps: &Steps) -> Result<()> {
    let files = steps.files.len();
    for (at, step) in steps.files.iter().enumerate().rev() {
        // An upload that failed may still have replaced the file.
        let Some((there, object)) = read(view, &step.file)?.filter(|(there, _)| *there == step.new) else {
            continue;
        };
        match &step.old {
            Some((old, _)) if *old == there => {}
            Some((old, _)) => {
                put(view, &step.file, old.clone(), Condition::still(Some(&object)), kind(at, files))?;
            }
            None => remove(view, std::slice::from_ref(&step.file))?,
        }
    }
    Ok(())
}

/// Completes the switch that a dead run decided: uploads its `files` from `staging`, the robots lines last. Returns its manifest.
pub fn complete(view: &BucketView, staging: &Staging<'_>, files: &[String]) -> Result<Bytes> {
    for (at, file) in files.iter().enumerate() {
        let new = staging.read(file)?;
        let there = read(view, file)?;
        if there.as_ref().is_none_or(|(bytes, _)| *bytes != new) {
            let condition = Condition::still(there.as_ref().map(|(_, object)| object));
            put(view, file, new, condition, kind(at, files.len()))?;
        }
    }
    staging.read(MANIFEST)
}

/// Removes the files that the new set no longer needs, and makes its manifest the live one.
pub fn clean_up(
    view: &BucketView,
    removals: &[Removal],
    manifest: Bytes,
    condition: Condition,
) -> Result<()> {
    // No index file refers to them any more. One that cannot be read must not keep this run and all later ones from their end.
    let matching = removals.iter().filter(|removal| view.still_matches(removal).unwrap_or(false));
    let files: Vec<String> = matching.map(|removal| removal.file.clone()).collect();
    remove(view, &files)?;
    view.live_manifest().put(manifest, condition)
}

fn put(view: &BucketView, file: &str, bytes: Bytes, condition: Condition, kind: FileKind) -> Result<()> {
    let size = bytes.len() as u64;
    let put = Put { headers: headers(kind), ..Put::new(view.key(file), bytes, condition) };
    let path = view.path(file.as_ref());
    match view.bucket().put(put) {
        Ok(meta) => {
            view.note_put(file, size, meta);
            Ok(())
        }
        Err(failure) if failure.kind == FailureKind::Condition => Err(changed(&path)),
        Err(failure) => Err(failure.into_error(&path, "could not be written")),
    }
}

fn read(view: &BucketView, file: &str) -> Result<Option<(Bytes, Object)>> {
    let read = view.bucket().read(&view.key(file));
    read.map_err(|failure| failure.into_error(&view.path(file.as_ref()), "could not be read"))
}
