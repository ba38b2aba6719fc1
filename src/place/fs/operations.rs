//! The operations of a file system that a directory place uses.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{
    fmt,
    io::{self, Read},
};

use crate::error::Result;
use crate::place::interface::FreeSpace;

/// The operations that a directory place needs. Operations that change something do not follow a link in the last part of a
/// path, nor does [`look`](FileSystem::look). [`read`](FileSystem::read), [`open`](FileSystem::open),
/// [`list`](FileSystem::list) and [`sync_directory`](FileSystem::sync_directory) do.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// The absolute path of what `path` leads to, with every link followed.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;

    /// The metadata of the file or directory `path`. A link is not followed.
    fn look(&self, path: &Path) -> io::Result<Meta>;

    /// The bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it is not a regular file: opening a pipe would wait for a writer.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// The names in a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<(OsString, Kind)>>;

    /// Locks the file at `path` without waiting; `None` if another process holds the lock. Given a `word`, the file is created if
    /// it does not exist, and the word is written to it. Otherwise it stays as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Permission`](crate::ErrorKind::Permission) if this user may not open the file,
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be opened otherwise, or is a link; else if it cannot be locked
    /// or written.
    fn lock(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>>;

    /// Takes a shared lock on the file at `path` without waiting; `None` if another process holds an exclusive lock. The `word`, if
    /// any, is written to the file if it is writable.
    ///
    /// # Errors
    /// Same as [`lock`](FileSystem::lock).
    fn lock_shared(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>>;

    /// Creates a directory with `mode`, less the umask of the process.
    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Gives a directory the permissions `mode`.
    fn set_mode(&self, directory: &Path, mode: u32) -> io::Result<()>;

    /// Adds the permissions `mode` to those of a regular file that has no other name: that one could be any file of the user.
    /// Without permissions, nothing is done.
    fn permit(&self, _file: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Gives a new file the owner of `old` or, as only root may do that, its group. False if the group cannot be kept, although it
    /// may read `old` and others may not. Without permissions, nothing is done.
    fn keep_owner(&self, _file: &Path, _old: &Meta) -> io::Result<bool> {
        Ok(true)
    }

    /// Checks that this user may create and rename files in a directory, without trying it. Without permissions, everybody may.
    fn check_writable(&self, _directory: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Checks that this user may write to a file, if there is one, and changes nothing: whoever protects a file from being written
    /// does not want it to be replaced either. Without permissions, everybody may.
    fn check_overwritable(&self, _file: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Whether something is mounted at this path, so that nothing else can be renamed to it. False where that is unknown.
    fn is_mount_point(&self, _path: &Path) -> bool {
        false
    }

    /// Creates an empty file; nothing may have its name.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file a second name, which nothing may have yet.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file, and replaces the one at `to` atomically.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name of a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    fn remove_tree(&self, directory: &Path) -> io::Result<()>;

    /// The space that is free in the file system of `path`.
    fn free_space(&self, path: &Path) -> FreeSpace;

    /// Waits until the names in a directory are durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// A file that was just created.
pub trait NewFile: fmt::Debug + Send {
    /// Gives it the mode of `old` and, if permitted, its owner or at least its group. False, and nothing is changed, if the group
    /// cannot be kept, although it may read `old` and others may not.
    fn take_after(&self, old: &Meta) -> io::Result<bool>;

    /// Takes the exclusive lock on it without waiting, until it is closed. False if another process holds a lock.
    fn try_to_lock(&self) -> io::Result<bool>;

    /// Appends all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until its bytes are durable, and returns their number.
    fn sync(&self) -> io::Result<u64>;
}

/// The metadata of a file. Equal metadata mean the same, unchanged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Its kind.
    pub kind: Kind,
    /// Its size in bytes.
    pub bytes: u64,
    /// Device and inode: which file it is, whatever its names.
    pub identity: (u64, u64),
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, i64),
    /// User and group.
    pub owner: (u32, u32),
    /// Its permissions.
    pub mode: u32,
}

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe, a socket.
    Other,
}

impl Meta {
    /// Whether it is an ordinary file.
    pub fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Whether everybody may read it.
    pub fn is_world_readable(&self) -> bool {
        self.mode & 0o004 != 0
    }
}

/// A lock on a file. It is released when this is dropped, and by the operating system when the process dies.
#[derive(Debug)]
pub struct Locked {
    /// The metadata of the file.
    pub meta: Meta,
    file: Option<File>,
    /// The process that took the lock.
    process: u32,
}

impl Locked {
    /// A lock on the open `file`; `None` if the file system is simulated.
    pub(super) fn new(meta: Meta, file: Option<File>) -> Self {
        Self { meta, file, process: std::process::id() }
    }
}

impl Drop for Locked {
    /// Closing the file is not enough: a child process that another thread starts has it open, too, until it runs its program. The
    /// lock is not that of such a child, which must not release it.
    fn drop(&mut self) {
        if self.process == std::process::id() {
            let _ = self.file.as_ref().map(File::unlock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Disk;
    use super::*;

    #[test]
    fn a_lock_is_free_once_it_is_dropped_even_if_a_child_process_has_the_file_open() {
        let path = std::env::temp_dir().join(format!("sitemill-lock-{}", std::process::id()));
        let lock = || Disk.lock(&path, Some("word")).unwrap();
        let held = lock().unwrap();
        assert!(lock().is_none());
        // A child has such a copy from its start until it runs its program.
        let of_child = held.file.as_ref().unwrap().try_clone().unwrap();
        drop(held);
        assert!(lock().is_some());
        drop(of_child);
        std::fs::remove_file(path).unwrap();
    }
}
