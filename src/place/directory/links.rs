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
use crate::place::fs::{Meta, exists, rename};
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
/// `sitemaps`. The umask of this run may be stricter than that of the earlier one. Returns the mode bits of those who may read the
/// manifest.
pub fn keep_readers(staging: &Staging<'_>, replacing: &[String], sitemaps: &[&str]) -> u32 {
    let look = |path: &Path| staging.fs.look(path).ok().filter(Meta::is_file);
    let readers = |path: &Path| look(path).map_or(0, |file| file.mode & 0o444);
    let mut is_stricter = false;
    let mut of_files = 0;
    for file in replacing {
        let of_file = readers(&staging.paths.file(file));
        is_stricter |= permit_staged(staging, file, of_file);
        of_files |= of_file;
    }
    for sitemap in sitemaps.iter().filter(|_| is_stricter) {
        permit_staged(staging, sitemap, of_files);
    }
    let of_manifest = readers(&staging.paths.record(&Record::Live));
    permit_staged(staging, MANIFEST, of_manifest);
    of_manifest
}

/// Permits `readers` to read a staged file. Returns whether they could not.
pub fn permit_staged(staging: &Staging<'_>, file: &str, readers: u32) -> bool {
    permit_file(staging, &staging.path(file), readers)
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
