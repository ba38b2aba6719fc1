//! Actions composed of the operations of a file system, with errors that name the path.

use std::io;
use std::path::Path;

use super::operations::{FileSystem, Meta};
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::foreign::{foreign, no_directory};

/// Creates a directory and its missing parents, and makes their names durable: if a directory is lost, so is everything in
/// it.
///
/// # Errors
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if it exists and this user may not enter it,
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created.
pub fn make_path(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    let parent = parent(path);
    let is_made = match fs.make_directory(path, 0o777) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && parent != path => {
            make_path(fs, parent)?;
            fs.make_directory(path, 0o777)
        }
        other => other,
    };
    match is_made {
        Ok(()) => sync_directory(fs, parent),
        Err(error) => match (error.kind(), fs.look(&path.join("."))) {
            // A link to a directory will do.
            (_, Ok(_)) => Ok(()),
            (io::ErrorKind::AlreadyExists, Err(why)) if why.kind() == io::ErrorKind::NotADirectory => {
                Err(no_directory(path, false))
            }
            (io::ErrorKind::AlreadyExists, Err(why)) if why.kind() == io::ErrorKind::NotFound => {
                Err(no_directory(path, true))
            }
            (io::ErrorKind::AlreadyExists, Err(why)) if why.kind() == io::ErrorKind::PermissionDenied => {
                Err(forbidden(path, "may not be entered", why))
            }
            _ => Err(Error::output(path, error)),
        },
    }
}

/// The way out if this user may not do something with the state of a set. Another user owns it, or has built once.
pub const OWN_STATE: &str =
    "run this as the user who runs the builds, who must own .sitemill and everything in it";

/// The error for a directory with which this user may not do what `doing` says.
pub fn forbidden(directory: &Path, doing: &str, error: io::Error) -> Error {
    let way_out = "change its permissions, or run this as a user who may";
    Error::io(directory, format!("{doing}; {way_out}"), error)
}

/// The error for a new file that cannot have the group of the file at `path`, which it replaces.
pub fn group_lost(path: &Path) -> Error {
    let words = message!(
        path,
        ": its group cannot be preserved, and it is not readable by all users; run as a member of the group, or change its \
         group or mode"
    );
    Error::new(ErrorKind::Permission, words)
}

/// Creates a directory that is private to its owner, unless it exists. A link is refused, because it would redirect writes.
///
/// # Errors
/// Same as [`make_one`].
pub fn make_private(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    make_one(fs, path, 0o700)
}

/// Creates a directory with `mode`, unless it exists. Its parent must exist. A link is refused.
///
/// # Errors
/// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if this user may not create it,
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created otherwise, or something else has its name.
pub fn make_one(fs: &dyn FileSystem, path: &Path, mode: u32) -> Result<()> {
    match fs.make_directory(path, mode) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs.look(path) {
            Ok(meta) if meta.is_directory() => Ok(()),
            Ok(_) => Err(foreign(path)),
            Err(error) => Err(Error::io(path, "could not be accessed", error)),
        },
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Error::io(path, format!("cannot be created; {OWN_STATE}"), error))
        }
        Err(error) => Err(Error::output(path, error)),
        Ok(()) => sync_directory(fs, parent(path)),
    }
}

/// Checks that this user may write to the file `target`, if there is one: it would be replaced. `path` is its name in messages.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if not.
pub fn check_overwritable(fs: &dyn FileSystem, target: &Path, path: &Path) -> Result<()> {
    fs.check_overwritable(target).map_err(|error| match (exists(fs, target), error.kind()) {
        (Ok(true), io::ErrorKind::PermissionDenied) => {
            let words = "cannot be replaced, because this user may not write to it; change its owner or mode";
            Error::uncreated(message!(path, ": {words}"), error)
        }
        (Ok(true), _) => Error::uncreated(message!(path, ": cannot be replaced"), error),
        _ => Error::output(path, error),
    })
}

/// The metadata of what has the name `path`; `None` if nothing has it.
///
/// # Errors
/// If that cannot be determined. A disk or a network file system that fails to answer has not said that nothing is there.
pub fn look_up(fs: &dyn FileSystem, path: &Path) -> Result<Option<Meta>> {
    match fs.look(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, "could not be accessed", error)),
    }
}

/// Checks that `path` can be that of a file. One that ends in a slash or in `/.` is that of a directory, although
/// [`Path::file_name`] and the temporary name of a new file leave that out.
///
/// # Errors
/// [`ErrorKind::Output`](crate::ErrorKind::Output) if not.
pub fn check_is_file_path(path: &Path) -> Result<()> {
    let bytes = path.as_os_str().as_encoded_bytes();
    match bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
        true => Err(Error::output(path, io::ErrorKind::IsADirectory.into())),
        false => Ok(()),
    }
}

/// Whether anything has the name `path`.
///
/// # Errors
/// Same as [`look_up`].
pub fn exists(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    Ok(look_up(fs, path)?.is_some())
}

/// Whether both paths name the same file.
///
/// # Errors
/// Same as [`look_up`].
pub fn is_same_file(fs: &dyn FileSystem, one: &Path, other: &Path) -> Result<bool> {
    let Some(one) = look_up(fs, one)? else { return Ok(false) };
    Ok(look_up(fs, other)?.is_some_and(|other| other.identity == one.identity))
}

/// The directory that contains `path`.
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a random number, for the name of a file next to `path` that nothing else chooses.
///
/// # Errors
/// If the system has none.
pub fn random(path: &Path) -> Result<u64> {
    let failed = |error: getrandom::Error| {
        Error::io(path, "no random bytes available", io::Error::other(error.to_string()))
    };
    getrandom::u64().map_err(failed)
}

/// Renames `from` to `to`, and replaces what had that name.
///
/// # Errors
/// If that cannot be done.
pub fn rename(fs: &dyn FileSystem, from: &Path, to: &Path) -> Result<()> {
    fs.rename(from, to).map_err(|error| Error::io(to, "could not be renamed into place", error))
}

/// Removes a file; false if it does not exist.
///
/// # Errors
/// If it cannot be removed.
pub fn remove(fs: &dyn FileSystem, path: &Path) -> Result<bool> {
    match fs.remove(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io(path, "could not be removed", error)),
    }
}

/// Removes the file at `path`, or the directory with everything in it. A directory that another process writes into meanwhile may
/// stay, with new files.
///
/// # Errors
/// If something cannot be removed.
pub fn remove_all(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    let removed = fs.look(path).and_then(|meta| match meta.is_directory() {
        // Tasks of a run on a cluster may write longer than its driver lives. The next run removes what they leave.
        true => match fs.remove_tree(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        },
        false => fs.remove(path),
    });
    removed.map_err(|error| Error::io(path, "could not be removed", error))
}

/// Waits until the names in a directory are durable.
///
/// # Errors
/// If they cannot be synced.
pub fn sync_directory(fs: &dyn FileSystem, path: &Path) -> Result<()> {
    fs.sync_directory(path).map_err(|error| Error::io(path, "could not be synced", error))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::super::Disk;
    use super::*;

    #[test]
    fn a_directory_that_is_filled_while_it_is_removed_is_no_error() {
        let directory = std::env::temp_dir().join(format!("sitemill-filled-{}", std::process::id()));
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0.. {
                    if is_done.load(Ordering::Relaxed) {
                        break;
                    }
                    // There is no directory now and then.
                    let _ = fs::write(directory.join((number % 100).to_string()), "");
                }
            });
            let removed: Vec<_> = (0..1000)
                .map(|_| {
                    fs::create_dir_all(&directory).unwrap();
                    remove_all(&Disk, &directory)
                })
                .collect();
            is_done.store(true, Ordering::Relaxed);
            removed.into_iter().collect::<Result<()>>().unwrap();
        });
        let _ = fs::remove_dir_all(&directory);
    }
}
