//! Links: staged sitemaps are added to the published ones.
//!
//! A sitemap is hard-linked, so that it stays in staging until the end of the run. Where there are no hard links it is renamed
//! instead. Before that, a list of the sitemaps is written to staging: each line has a name, a space, and the hash of the
//! file. If the run dies, a sitemap on that list is removed only if it has the content that was staged.

use std::io;
use std::path::Path;

use super::staging::Staging;
use crate::common::digest::hex_digest;
use crate::error::{Error, Result};
use crate::place::foreign::removed_before_commit;
use crate::place::fs::{Meta, exists, group_lost, rename};
use crate::place::record::Record;
use crate::place::set_paths::{MANIFEST, RENAMED, mended};

/// Adds those of `sitemaps` that are staged to the output directory. Only damaged files are overwritten.
pub fn place(staging: &Staging<'_>, sitemaps: &[&str]) -> Result<()> {
    for (at, sitemap) in sitemaps.iter().enumerate() {
        if !link(staging, sitemap)? {
            return rename_all(staging, &sitemaps[at..]);
        }
    }
    Ok(())
}

/// Permits all users who may read new files to read published `sitemaps`, too. The umask of an earlier run may have been stricter.
pub fn permit(staging: &Staging<'_>, sitemaps: &[&str]) {
    let Ok(new) = staging.fs.look(&staging.path(MANIFEST)) else { return };
    for sitemap in sitemaps {
        permit_file(staging, &staging.paths.file(sitemap), new.mode & 0o444);
    }
}

/// Permits all users who may read the files that the staged `replacing` and the manifest replace to read these, too, and the staged
/// `sitemaps`. The umask of this run may be stricter than that of the earlier one, and its group another one. Returns the metadata
/// of the live manifest.
///
/// # Errors
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if a group could read what is replaced, and could not read the new file.
pub fn keep_readers(staging: &Staging<'_>, replacing: &[String], sitemaps: &[&str]) -> Result<Option<Meta>> {
    let look = |path: &Path| staging.fs.look(path).ok().filter(Meta::is_file);
    let mut are_stricter = false;
    let mut replaced: Option<Meta> = None;
    for file in replacing {
        let Some(old) = look(&staging.paths.file(file)) else { continue };
        are_stricter |= admit_readers(staging, file, &old)?;
        replaced.get_or_insert(old).mode |= old.mode;
    }
    if let Some(old) = replaced.filter(|_| are_stricter) {
        for sitemap in sitemaps {
            admit_readers(staging, sitemap, &old)?;
            admit_readers(staging, &mended(sitemap), &old)?;
        }
    }
    let manifest = look(&staging.paths.record(&Record::Live));
    if let Some(old) = &manifest {
        // No crawler reads it.
        let _ = admit_readers(staging, MANIFEST, old);
    }
    Ok(manifest)
}

/// Permits all users who may read `old` to read a staged file, if there is one. Returns whether some of them could not.
///
/// # Errors
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if that takes a group that this user may not set.
pub fn admit_readers(staging: &Staging<'_>, file: &str, old: &Meta) -> Result<bool> {
    let path = staging.path(file);
    let Ok(new) = staging.fs.look(&path) else { return Ok(false) };
    let has_others = new.owner != old.owner && !old.is_world_readable();
    if has_others {
        let kept = staging.fs.keep_owner(&path, old);
        let is_kept = kept.map_err(|error| Error::io(&path, "its group could not be set", error))?;
        if !is_kept {
            return Err(group_lost(&staging.paths.file(file)));
        }
    }
    Ok(permit_file(staging, &path, old.mode & 0o444) || has_others)
}

fn permit_file(staging: &Staging<'_>, path: &Path, readers: u32) -> bool {
    let lacks = staging.fs.look(path).is_ok_and(|file| file.is_file() && readers & !file.mode != 0);
    if lacks {
        // A failure is ignored: the file may belong to another user.
        let _ = staging.fs.permit(path, readers);
    }
    lacks
}

/// Links a sitemap into the output directory; false if there are no hard links.
fn link(staging: &Staging<'_>, file: &str) -> Result<bool> {
    let (from, to) = (staging.path(file), staging.paths.file(file));
    if mend(staging, file)? {
        return Ok(true);
    }
    if !exists(staging.fs, &from)? {
        return check_published(staging, &to).map(|()| true);
    }
    let is_free = || matches!(exists(staging.fs, &to), Ok(false));
    match staging.fs.link(&from, &to) {
        // Some file systems have no hard links. No other run creates such names while the lock is held.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && is_free() => Ok(false),
        other => {
            let linked = other.map(|()| true);
            linked.map_err(|error| Error::io(&to, "could not be linked into place", error))
        }
    }
}

/// Checks that a sitemap which is not staged is published already, so that index files list only files that exist.
fn check_published(staging: &Staging<'_>, path: &Path) -> Result<()> {
    match exists(staging.fs, path)? {
        true => Ok(()),
        false => Err(removed_before_commit(path)),
    }
}

/// Renames sitemaps into the output directory.
fn rename_all(staging: &Staging<'_>, sitemaps: &[&str]) -> Result<()> {
    let mut files = Vec::new();
    for &file in sitemaps {
        match staging.has(file)? {
            true => files.push(file),
            false if staging.has(&mended(file))? => {}
            false => check_published(staging, &staging.paths.file(file))?,
        }
    }
    let mut list = String::new();
    for file in &files {
        let path = staging.path(file);
        let bytes = staging.fs.read(&path).map_err(|error| Error::io(&path, "could not be read", error))?;
        list += &format!("{file} {}\n", hex_digest(&bytes));
    }
    staging.write(RENAMED, list.as_bytes())?.sync()?;
    staging.sync()?;
    for file in files {
        let to = staging.paths.file(file);
        if exists(staging.fs, &to)? {
            let there = io::ErrorKind::AlreadyExists.into();
            return Err(Error::io(&to, "could not be renamed into place", there));
        }
        rename(staging.fs, &staging.path(file), &to)?;
    }
    sitemaps.iter().try_for_each(|file| mend(staging, file).map(drop))
}

/// Replaces a damaged sitemap with an intact one; false if it was not damaged.
fn mend(staging: &Staging<'_>, file: &str) -> Result<bool> {
    let is_damaged = staging.has(&mended(file))?;
    if is_damaged {
        rename(staging.fs, &staging.path(mended(file)), &staging.paths.file(file))?;
    }
    Ok(is_damaged)
}
