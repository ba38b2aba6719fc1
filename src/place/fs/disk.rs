//! The real file system, through the operating system.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, DirEntry, File, FileType, Metadata, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, accessat};
use rustix::io::Errno;

use super::actions::OWN_STATE;
use super::operations::{FileSystem, Kind, Locked, Meta, NewFile};
use crate::common::disk::{free_bytes, free_files};
use crate::error::{Error, Result};
use crate::place::foreign::foreign;
use crate::place::interface::FreeSpace;

/// The real file system of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Disk;

impl FileSystem for Disk {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn look(&self, path: &Path) -> io::Result<Meta> {
        fs::symlink_metadata(path).map(Meta::from)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        match fs::metadata(path)?.is_file() {
            true => Ok(Box::new(File::open(path)?)),
            false => {
                let words =
                    "not a regular file; if it is a pipe, save its output to a file and give that file";
                Err(io::Error::other(words))
            }
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<(OsString, Kind)>> {
        let listed = |entry: DirEntry| {
            // The file may have been removed in the meantime.
            let kind = entry.file_type().map_or(Kind::Other, Kind::from);
            (entry.file_name(), kind)
        };
        fs::read_dir(directory)?.map(|entry| entry.map(listed)).collect()
    }

    fn lock(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>> {
        let mut options = File::options();
        // A link could redirect the write to any file.
        options.read(true).custom_flags(libc::O_NOFOLLOW);
        if word.is_some() {
            // The file names the holder of the lock, so it is truncated only once the lock is taken.
            options.write(true).create(true).truncate(false);
        }
        let mut file = options.open(path).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => foreign(path),
            _ if error.kind() == io::ErrorKind::PermissionDenied => {
                Error::io(path, format!("cannot be opened; {OWN_STATE}"), error)
            }
            _ => Error::output(path, error),
        })?;
        if !is_locked(path, file.try_lock())? {
            return Ok(None);
        }
        if let Some(word) = word {
            let written =
                file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(word.as_bytes()));
            written.map_err(|error| Error::io(path, "could not be written", error))?;
        }
        locked(path, file).map(Some)
    }

    fn lock_shared(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>> {
        // Opened for reading, because the file may be on a read-only mount. `O_NONBLOCK`: a FIFO would wait for a writer.
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(path).map_err(|error| match error.raw_os_error() {
            Some(libc::ELOOP) => foreign(path),
            _ => Error::io(path, "could not be opened, so it is unknown whether another run holds it", error),
        })?;
        if !is_locked(path, file.try_lock_shared())? {
            return Ok(None);
        }
        if let Some(word) = word {
            let mut options = File::options();
            options.write(true).truncate(true).custom_flags(libc::O_NOFOLLOW);
            // Best effort: the word only tells runs that are refused who holds the lock.
            let _ = options.open(path).and_then(|mut file| file.write_all(word.as_bytes()));
        }
        locked(path, file).map(Some)
    }

    fn set_mode(&self, directory: &Path, mode: u32) -> io::Result<()> {
        fs::set_permissions(directory, Permissions::from_mode(mode))
    }

    fn permit(&self, file: &Path, mode: u32) -> io::Result<()> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(file)?;
        let meta = file.metadata()?;
        match meta.is_file() && meta.nlink() == 1 {
            true => file.set_permissions(Permissions::from_mode(meta.mode() | mode)),
            false => Ok(()),
        }
    }

    fn keep_owner(&self, file: &Path, old: &Meta) -> io::Result<bool> {
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        keep_owner(&options.open(file)?, old)
    }

    fn check_writable(&self, directory: &Path) -> io::Result<()> {
        let needed = Access::WRITE_OK | Access::EXEC_OK;
        let checked = match accessat(CWD, directory, needed, AtFlags::EACCESS) {
            // Old container runtimes answer so to system calls that they do not know, such as `faccessat2`.
            Err(Errno::PERM) => accessat(CWD, directory, needed, AtFlags::empty()),
            checked => checked,
        };
        checked.map_err(io::Error::from)
    }

    fn check_overwritable(&self, file: &Path) -> io::Result<()> {
        match File::options().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            opened => opened.map(drop),
        }
    }

    /// Linux tells since 5.8.
    #[cfg(target_os = "linux")]
    fn is_mount_point(&self, path: &Path) -> bool {
        use rustix::fs::{StatxAttributes, StatxFlags, statx};
        statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())
            .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        File::create_new(path).map(|file| Box::new(file) as _)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::hard_link(from, to)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_tree(&self, directory: &Path) -> io::Result<()> {
        fs::remove_dir_all(directory)
    }

    fn free_space(&self, path: &Path) -> FreeSpace {
        FreeSpace { bytes: free_bytes(path), files: free_files(path) }
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }
}

fn is_locked(path: &Path, tried: Result<(), TryLockError>) -> Result<bool> {
    is_taken(tried).map_err(|error| Error::io(path, "the file system does not support locks", error))
}

/// Whether a lock was taken. False if another process holds it.
fn is_taken(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn locked(path: &Path, file: File) -> Result<Locked> {
    let meta = file.metadata().map_err(|error| Error::io(path, "could not be accessed", error))?;
    Ok(Locked::new(meta.into(), Some(file)))
}

/// Gives a new file the owner of `old`, as [`FileSystem::keep_owner`] does.
fn keep_owner(new: &File, old: &Meta) -> io::Result<bool> {
    let (user, group) = old.owner;
    let owner = Meta::from(new.metadata()?).owner;
    if owner == old.owner {
        return Ok(true);
    }
    // Only root may change the owner. Members of the group may keep the group.
    let given = fchown(new, Some(user), Some(group)).or_else(|_| fchown(new, None, Some(group)));
    let is_needed = old.mode & 0o040 != 0 && !old.is_world_readable();
    Ok(given.is_ok() || owner.1 == group || !is_needed)
}

impl NewFile for File {
    fn take_after(&self, old: &Meta) -> io::Result<bool> {
        match keep_owner(self, old)? {
            true => self.set_permissions(Permissions::from_mode(old.mode)).map(|()| true),
            false => Ok(false),
        }
    }

    fn try_to_lock(&self) -> io::Result<bool> {
        is_taken(self.try_lock())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn sync(&self) -> io::Result<u64> {
        self.sync_all()?;
        Ok(self.metadata()?.len())
    }
}

impl From<Metadata> for Meta {
    fn from(meta: Metadata) -> Self {
        Self {
            kind: meta.file_type().into(),
            bytes: meta.len(),
            identity: (meta.dev(), meta.ino()),
            modified: (meta.mtime(), meta.mtime_nsec()),
            owner: (meta.uid(), meta.gid()),
            mode: meta.mode(),
        }
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            _ if kind.is_file() => Self::File,
            _ if kind.is_dir() => Self::Directory,
            _ if kind.is_symlink() => Self::Link,
            _ => Self::Other,
        }
    }
}
