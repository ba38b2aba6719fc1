//! Locks: at most one run changes an output directory, and no run changes a single site while another run changes all sites.
//!
//! A run for all sites may have thousands of them, too many to hold the lock of each. It takes `sites.lock` of their parent
//! exclusively before it checks the lock of any site. A run for one site takes `sites.lock` of the parent as a shared lock, if
//! the file exists, and then its own lock. The file may not exist yet, so the run for one site checks for it again once it
//! holds its own lock. Hence either it finds `sites.lock`, or the run for all sites, which creates that file later, finds the
//! lock of the site.
//!
//! `sites.lock` and `lock` are separate files because the parent may have a set itself: a run for that set does not exclude a
//! run for a directory below it. Each named set has locks of its own, so that runs for different names do not exclude each other.
//!
//! The first line of a lock file says in words which process held the lock last. The second one of a `lock` names the run and its
//! process exactly, for readers: to try the lock would be to take it for a moment, and a run that begins then would be refused.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result, Shown, message};
use crate::escape::shown;
use crate::place::foreign::foreign;
use crate::place::fs::{FileSystem, Locked, forbidden, make_path, make_private};
use crate::place::owner::Owner;
use crate::place::set_paths::SetPaths;

/// Permits other users to access files by name: a run for one of the sites looks for `sites.lock`.
const MODE_TO_LOOK: u32 = 0o011;

/// Creates the directory and its state, and takes its lock for `run` and, if it may be one of several sites, the shared lock of its
/// parent.
pub fn take_all(fs: &dyn FileSystem, paths: &SetPaths, run: &str) -> Result<Vec<Locked>> {
    make_path(fs, paths.out())?;
    let of_parent = share_parent(fs, paths)?;
    let own = take_own(fs, paths, run)?;
    let of_parent = match of_parent {
        None => share_parent(fs, paths)?,
        shared => shared,
    };
    Ok(of_parent.into_iter().chain([own]).collect())
}

/// Creates the state of a directory and takes its lock for `run`.
pub fn take_own(fs: &dyn FileSystem, paths: &SetPaths, run: &str) -> Result<Locked> {
    for directory in paths.state_path().into_iter().chain([paths.all_staging(), paths.sets()]) {
        make_private(fs, &directory).or_else(|error| {
            // In the first run, the user is the first one, too, and needs only permission.
            let is_first = directory.parent() == Some(paths.out());
            if is_first { check_permission(fs, paths.out()).and(Err(error)) } else { Err(error) }
        })?;
    }
    take(fs, &paths.lock(), run)
}

/// Checks that files can be renamed into a directory and its state, which exist, and from one to the other: otherwise a run would
/// fail after all its work.
///
/// # Errors
/// [`ErrorKind::Permission`] if this user may not write there, [`ErrorKind::Output`] if the state is mounted in the directory.
pub fn check_writable(fs: &dyn FileSystem, paths: &SetPaths) -> Result<()> {
    [paths.out(), paths.state()].into_iter().try_for_each(|directory| check_permission(fs, directory))?;
    let mut below = paths.state_path().into_iter().chain([paths.all_staging()]);
    match below.find(|directory| fs.is_mount_point(directory)) {
        None => Ok(()),
        Some(mounted) => {
            let out = paths.out();
            let words = message!(
                &*mounted,
                ": is a mount point, and files cannot be moved from there to ",
                out,
                "; mount only ",
                out,
                " or a directory above it"
            );
            Err(Error::new(ErrorKind::Output, words))
        }
    }
}

/// Checks that this user may create and rename files in a directory.
fn check_permission(fs: &dyn FileSystem, directory: &Path) -> Result<()> {
    match fs.check_writable(directory) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(forbidden(directory, "may not be written to", error))
        }
        // Any other error is reported by the operation that fails because of it.
        _ => Ok(()),
    }
}

/// The second line of a lock file.
#[derive(Serialize, Deserialize)]
struct Holder {
    run: String,
    owner: Owner,
}

/// Takes the lock at `path` for `run` without waiting, and writes its holder into the file.
fn take(fs: &dyn FileSystem, path: &Path, run: &str) -> Result<Locked> {
    let holder = Holder { run: run.into(), owner: Owner::this() };
    let holder = serde_json::to_string(&holder).expect("it has only strings and numbers");
    fs.lock(path, Some(&format!("{}\n{holder}\n", word())))?.ok_or_else(|| busy(fs, path))
}

/// Whether `run` was the last to take the lock of a directory, and its process still runs on this machine.
pub fn is_held(fs: &dyn FileSystem, paths: &SetPaths, run: &str) -> bool {
    let lines = fs.read(&paths.lock()).unwrap_or_default();
    let holder = lines.split(|&byte| byte == b'\n').nth(1);
    let holder = holder.and_then(|line| serde_json::from_slice::<Holder>(line).ok());
    holder.is_some_and(|holder| holder.run == run && holder.owner.is_alive())
}

/// Takes the lock of all sites below a directory, whose state exists, for `run`.
pub fn take_sites(fs: &dyn FileSystem, paths: &SetPaths, run: &str) -> Result<Locked> {
    // Before the lock is taken: a run that may not look into the directories assumes that the lock is free.
    for state in paths.state_path() {
        let meta = fs.look(&state).map_err(|error| Error::io(&state, "could not be accessed", error))?;
        if meta.mode & MODE_TO_LOOK != MODE_TO_LOOK {
            let changed = fs.set_mode(&state, meta.mode & 0o777 | MODE_TO_LOOK);
            changed.map_err(|error| Error::io(&state, "its permissions could not be changed", error))?;
        }
    }
    take(fs, &paths.sites_lock(), run)
}

/// Takes the shared lock of all sites below the parent of the directory, for sets of the same name; `None` if no run for all
/// sites was ever there.
fn share_parent(fs: &dyn FileSystem, paths: &SetPaths) -> Result<Option<Locked>> {
    let out = fs.real_path(paths.out()).map_err(|error| Error::output(paths.out(), error))?;
    let Some(parent) = out.parent().map(|parent| SetPaths::of(parent, paths.name())) else { return Ok(None) };
    for state in parent.state_path() {
        match fs.look(&state) {
            Ok(meta) if meta.is_directory() => {}
            // A run for all sites does not follow a link there.
            Ok(_) => return Ok(None),
            Err(error) if is_out_of_reach(&error) => return Ok(None),
            Err(error) => return Err(Error::io(&state, "could not be accessed", error)),
        }
    }
    let path = parent.sites_lock();
    match fs.look(&path) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => return Err(foreign(&path)),
        Err(error) if is_out_of_reach(&error) => return Ok(None),
        Err(error) => return Err(Error::io(&path, "could not be accessed", error)),
    }
    let word = format!("{} in {}\n", word(), Shown(&out));
    fs.lock_shared(&path, Some(&word))?.map(Some).ok_or_else(|| busy(fs, &path))
}

/// Whether nothing is there, or the directory of another user. A run for all sites grants access before it takes the lock.
fn is_out_of_reach(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn word() -> String {
    format!("process {} since {:.0}", std::process::id(), jiff::Timestamp::now())
}

fn busy(fs: &dyn FileSystem, path: &Path) -> Error {
    let lines = fs.read(path).unwrap_or_default();
    let word = lines.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let holder = match word[..word.len().min(200)].trim_ascii() {
        // The run has not written its line yet.
        b"" => String::new(),
        holder => format!(" ({})", shown(holder)),
    };
    Error::new(ErrorKind::Busy, message!(path, ": another run holds it{holder}; try again when it is done"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::fs::memory::Memory;

    #[test]
    fn the_error_names_the_holder_of_a_lock_once_it_is_known() {
        let (fs, path) = (Memory::default(), Path::new("/out/.sitemill/lock"));
        for (lines, holder) in [("", ""), ("process 7\n{}\n", " (process 7)")] {
            fs.put(path, lines.as_bytes());
            let words =
                format!("/out/.sitemill/lock: another run holds it{holder}; try again when it is done");
            assert_eq!(busy(&fs, path).to_string(), words);
        }
    }
}
