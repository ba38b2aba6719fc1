//! The switch to another set: renames that a journal makes repeatable.
//!
//! The switch can be rolled back until the robots lines are renamed and durable, because the files that index files and robots
//! lines replace have a second name in staging. A rollback first gives the new files their names in staging again, and then
//! restores the old files. So as long as the journal exists, the next run can complete the switch, wherever this one dies.
//!
//! A live file that has the bytes of the new one stays, with its modification time, so that crawlers need not fetch it again.

use std::io;
use std::path::Path;

use super::links;
use super::staging::{Staging, write};
use super::view::DirectoryView;
use crate::common::stop::Stop;
use crate::error::{Error, Result};
use crate::place::foreign::{changed_before_commit, foreign};
use crate::place::fs::{FileSystem, exists, is_same_file, remove, rename, sync_directory};
use crate::place::interface::View;
use crate::place::record::{Record, Version};
use crate::place::set_paths::{MANIFEST, REPLACED, SetPaths, part, replaced};
use crate::place::switch::{Removal, Switch, SwitchState};
use crate::place::syncing::syncing;

/// The files that a switch renames and removes.
#[derive(Debug, Default)]
pub struct Steps {
    /// Files to rename from staging, in this order. The robots lines come after the index files that they name.
    pub files: Vec<String>,
    /// The files among these that replace another file.
    pub replacing: Vec<String>,
    /// Files to remove in the end.
    pub removals: Vec<Removal>,
    /// The version of the live manifest that it replaces.
    pub expected: Option<Version>,
}

/// Makes a set durable, gives every file that the switch replaces a second name, and adds the new sitemaps to the output
/// directory, where no index file lists them yet.
pub fn prepare(staging: &Staging<'_>, switch: Switch) -> Result<Steps> {
    let Staging { fs, paths, .. } = *staging;
    let mut steps = Steps { removals: switch.removals, expected: switch.expected, ..Steps::default() };
    // With many sections there are hundreds of index files.
    syncing(&Stop::default(), |sync| {
        for (file, bytes) in switch.indexes.into_iter().chain([switch.robots]) {
            sync(staging.write(&file, &bytes)?)?;
            steps.files.push(file);
        }
        sync(staging.write(MANIFEST, &switch.manifest)?)
    })?;
    for file in &steps.files {
        if name_again(fs, &paths.file(file), &staging.path(replaced(file)))? {
            steps.replacing.push(file.clone());
        }
    }
    let sitemaps: Vec<&str> = switch.sitemaps.iter().map(String::as_str).collect();
    let live = links::keep_readers(staging, &steps.replacing, &sitemaps)?;
    staging.sync()?;
    if let Some((run, manifest)) = &switch.replaced {
        staging.write(REPLACED, manifest)?.sync()?;
        if let Some(live) = &live {
            let _ = links::admit_readers(staging, REPLACED, live);
        }
        rename(fs, &staging.path(REPLACED), &paths.record(&Record::kept(run)))?;
        sync_directory(fs, &paths.sets())?;
    }
    links::place(staging, &sitemaps)?;
    links::permit(staging, &sitemaps);
    sync_directory(fs, paths.out())?;
    Ok(steps)
}

/// Checks that the live manifest is the one that the publisher has read. The lock excludes other runs, but not where a network
/// file system does not share locks between machines, and not a person who restores a backup.
///
/// # Errors
/// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if it is another one.
pub fn check_expected(view: &DirectoryView, expected: Option<&Version>) -> Result<()> {
    let live = view.read_record(&Record::Live)?.map(|stored| stored.version);
    if live.as_ref() == expected {
        return Ok(());
    }
    Err(changed_before_commit(&view.record_path(&Record::Live)))
}

/// Records the decision for the set: from here on, if this run dies, the next one completes the switch.
pub fn decide(staging: &Staging<'_>) -> Result<()> {
    mark(staging.fs, staging.paths)?;
    rename(staging.fs, &staging.path(MANIFEST), &staging.paths.record(&Record::Journal))
}

/// Shows users who may not read the journal that a switch has begun. The mark is not synced: they may read a mixture of two sets if
/// the power is lost during the switch and their file system keeps a later rename in the same directory but not the mark.
pub fn mark(fs: &dyn FileSystem, paths: &SetPaths) -> Result<()> {
    let path = paths.switch_file();
    match fs.create(&path) {
        // A dead run has left it, perhaps in the switch that this one completes.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop).map_err(|error| Error::io(&path, "could not be created", error)),
    }
}

/// Removes the mark of a switch, once there is no journal. If it stays, other users wait for the next run, which removes it.
pub fn unmark(fs: &dyn FileSystem, paths: &SetPaths) {
    let _ = remove(fs, &paths.switch_file());
}

/// Makes the index files and robots lines of the journal visible.
pub fn make_visible(staging: &Staging<'_>, files: &[String]) -> Result<()> {
    let Staging { fs, paths, .. } = *staging;
    // The run that wrote the journal may have died before it was durable.
    sync_directory(fs, paths.state())?;
    let put = |file: &String, is_kept: bool| match rename_or_keep(staging, file, is_kept) {
        // Renamed or kept before the interruption.
        Err(_) if !staging.has(file)? && exists(fs, &paths.file(file))? => Ok(()),
        other => other,
    };
    let Some((robots, indexes)) = files.split_last() else { return Ok(()) };
    // Compared before the first rename: crawlers should not see a mixture of both sets for longer than necessary.
    let kept: Vec<bool> = indexes.iter().map(|file| is_live(staging, file)).collect();
    let are_all_kept = kept.iter().all(|&is_kept| is_kept) && is_live(staging, robots);
    indexes.iter().zip(kept).try_for_each(|(file, is_kept)| put(file, is_kept))?;
    sync_directory(fs, paths.out())?;
    // After the index files that it names exist, and before those that it no longer names are removed. Other users recognise a
    // switch by its identity, so it only stays if all index files do.
    put(robots, are_all_kept)?;
    sync_directory(fs, paths.out())
}

/// Whether the live file has the bytes of the staged `file`, and all users who may read new files may read it, too. False if that
/// cannot be determined.
fn is_live(staging: &Staging<'_>, file: &str) -> bool {
    let paths = [staging.path(file), staging.paths.file(file)];
    let [Ok(new), Ok(live)] = paths.each_ref().map(|path| staging.fs.look(path)) else { return false };
    let is_readable = new.mode & 0o444 & !live.mode == 0;
    if !live.is_file() || live.bytes != new.bytes || !is_readable {
        return false;
    }
    let [new, live] = paths.map(|path| staging.fs.read(&path).ok());
    new.is_some() && new == live
}

/// Renames the staged `file` to the live one. If that one is kept, the staged one is removed: another run that completes this
/// switch must not replace what somebody may have made of the live one since.
fn rename_or_keep(staging: &Staging<'_>, file: &str, is_kept: bool) -> Result<()> {
    match is_kept {
        true => remove(staging.fs, &staging.path(file)).map(drop),
        false => rename(staging.fs, &staging.path(file), &staging.paths.file(file)),
    }
}

/// Makes the previous set visible again, and withdraws the decision.
pub fn roll_back(staging: &Staging<'_>, steps: &Steps) -> Result<SwitchState> {
    let Staging { fs, paths, .. } = *staging;
    let mut shown = Vec::new();
    for file in &steps.files {
        // One that was kept still has the second name of the file before the switch. It must not be named in staging: a file with
        // names in both directories counts as added by this run, and is removed if no manifest lists it.
        if !staging.has(file)? && !is_same_file(fs, &paths.file(file), &staging.path(replaced(file)))? {
            shown.push(file);
        }
    }
    if !shown.is_empty() {
        for file in &shown {
            name_again(fs, &paths.file(file), &staging.path(file))?;
        }
        staging.sync()?;
        let (old, new): (Vec<&String>, Vec<&String>) =
            shown.iter().partition(|&&file| steps.replacing.contains(file));
        for file in old {
            rename(fs, &staging.path(replaced(file)), &paths.file(file))?;
        }
        sync_directory(fs, paths.out())?;
        // The robots lines, if they are new, before the files that they name.
        for file in new.iter().rev() {
            remove(fs, &paths.file(file))?;
            sync_directory(fs, paths.out())?;
        }
    }
    let journal = paths.record(&Record::Journal);
    // The journal may not have been written.
    if !fs.look(&journal).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        remove(fs, &journal)?;
    }
    let is_on_disk = sync_directory(fs, paths.state()).is_ok();
    if !is_on_disk {
        // The journal may reappear, so the mark stays for the next run.
        return Ok(SwitchState::RolledBack);
    }
    unmark(fs, paths);
    Ok(SwitchState::Uncommitted)
}

/// Removes the files that the visible set has replaced, and turns the journal into the live manifest.
pub fn clean_up(view: &DirectoryView, removals: &[Removal]) -> Result<()> {
    let (fs, paths) = (view.fs(), view.paths());
    for removal in removals {
        // No index file refers to it any more. One that cannot be read must not keep this run and all later ones from their end.
        if view.still_matches(removal).unwrap_or(false) {
            remove(fs, &paths.file(&removal.file))?;
        }
    }
    sync_directory(fs, paths.out())?;
    rename(fs, &paths.record(&Record::Journal), &paths.record(&Record::Live))?;
    sync_directory(fs, paths.state())?;
    unmark(fs, paths);
    Ok(())
}

/// Gives the file at `path` a second name; false if the file does not exist. It is copied where there are no hard links.
fn name_again(fs: &dyn FileSystem, path: &Path, second: &Path) -> Result<bool> {
    if fs.link(path, second).is_ok() {
        return Ok(true);
    }
    match fs.look(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // Only a regular file can be copied.
        Ok(meta) if !meta.is_file() => Err(foreign(path)),
        _ => {
            let bytes = fs.read(path).map_err(|error| Error::io(path, "could not be read", error))?;
            // The next run relies on the name, so the file must be complete before it gets the name.
            let part = part(second);
            write(fs, &part, &bytes)?.sync()?;
            rename(fs, &part, second).map(|()| true)
        }
    }
}
