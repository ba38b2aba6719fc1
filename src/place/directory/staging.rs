//! Staging: a run's directory for files that crawlers cannot see yet, and the removal of what dead runs have left.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::view::DirectoryView;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::fs::{FileSystem, exists, is_same_file, remove, remove_all, sync_directory};
use crate::place::interface::{Published, View};
use crate::place::set_paths::{RENAMED, SetPaths};
use crate::place::unsynced::Unsynced;
use crate::words::grouped;

/// Writes a new file.
pub fn write(fs: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<Unsynced> {
    let written = fs.create(path).and_then(|mut file| file.write(bytes).map(|()| file));
    let file = written.map_err(|error| Error::io(path, "could not be written", error))?;
    let (path, bytes) = (path.to_owned(), bytes.len() as u64);
    Ok(Unsynced::new(move || {
        let on_disk = file.sync().map_err(|error| Error::io(&path, "could not be synced", error))?;
        if on_disk == bytes {
            return Ok(());
        }
        let [bytes, on_disk] = [bytes, on_disk].map(grouped);
        let words = message!(&*path, ": {bytes} bytes were written, but {on_disk} are there");
        Err(Error::new(ErrorKind::Io, words))
    }))
}

/// The staging of a run.
#[derive(Debug, Clone, Copy)]
pub struct Staging<'a> {
    /// The file system.
    pub fs: &'a dyn FileSystem,
    /// The paths of the output directory.
    pub paths: &'a SetPaths,
    /// Its directory.
    pub directory: &'a Path,
}

impl Staging<'_> {
    /// The path of a staged file.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether a file is staged.
    ///
    /// # Errors
    /// If that cannot be determined.
    pub fn has(&self, name: &str) -> Result<bool> {
        exists(self.fs, &self.path(name))
    }

    /// Writes a new file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<Unsynced> {
        write(self.fs, &self.path(name), bytes)
    }

    /// Makes the names in it durable.
    pub fn sync(&self) -> Result<()> {
        sync_directory(self.fs, self.directory)
    }
}

/// Removes the staging of all runs except `own`, and the sitemaps that they made visible but did not publish. All other runs
/// are dead, because the caller holds the lock of the directory.
///
/// # Errors
/// The first one. What one run left does not keep that of the others.
pub fn remove_dead_runs(view: &DirectoryView, own: &str, published: &Published<'_>) -> Result<()> {
    let (fs, paths) = (view.fs(), view.paths());
    let all_staging = paths.all_staging();
    let names = fs.list(&all_staging).map_err(|error| Error::io(&all_staging, "could not be read", error))?;
    let is_dead = |name: &OsString| name != own;
    let dead: Vec<_> =
        names.into_iter().map(|(name, _)| name).filter(is_dead).map(|name| all_staging.join(name)).collect();
    if !dead.is_empty() {
        // A journal that was withdrawn or has become the manifest must not reappear without its staging.
        sync_directory(fs, paths.state())?;
    }
    let remove = |directory: &PathBuf| {
        remove_placed(view, &Staging { fs, paths, directory }, published)?;
        remove_all(fs, directory)
    };
    let explain = |error: Error| error.and("left by a run that died; remove it, or the next run tries again");
    dead.iter().map(remove).fold(Ok(()), Result::and).map_err(explain)
}

/// Removes sitemaps that a run made visible and that never became part of a set: those that are the same file as in its
/// staging or were renamed from there, and are not published. (A live index file is also in staging if the run died while it
/// rolled its switch back.)
pub fn remove_placed(view: &DirectoryView, staging: &Staging<'_>, published: &Published<'_>) -> Result<()> {
    let (fs, known) = (staging.fs, &published.files);
    let staged = match fs.list(staging.directory) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        staged => staged.map_err(|error| Error::io(staging.directory, "could not be read", error))?,
    };
    let is_listed = staged.iter().any(|(name, _)| name == RENAMED);
    let mut is_removed = false;
    for (name, _) in staged {
        let is_known = name.to_str().is_none_or(|name| known.contains(name));
        let path = staging.paths.file(&name);
        if !is_known && is_same_file(fs, &staging.path(&name), &path)? {
            is_removed |= remove(fs, &path)?;
        }
    }
    let list = staging.path(RENAMED);
    let renamed = match is_listed {
        true => fs.read(&list).map_err(|error| Error::io(&list, "could not be read", error))?,
        false => Vec::new(),
    };
    // An incomplete line can be ignored: nothing was renamed before the whole list was durable.
    let lines = str::from_utf8(&renamed).unwrap_or_default().lines();
    for (file, hash) in lines.filter_map(|line| line.split_once(' ')) {
        if !known.contains(file) && (published.is_sitemap)(file) && !staging.has(file)? {
            is_removed |= view.has_content(file.as_ref(), hash)? && remove(fs, &staging.paths.file(file))?;
        }
    }
    // Only staging knows of them, so they must be gone first.
    if is_removed { sync_directory(fs, staging.paths.out()) } else { Ok(()) }
}
