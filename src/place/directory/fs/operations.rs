//! The operations of a file system that publishing uses.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{
    fmt,
    io::{self, Read},
};

use crate::error::Result;
use crate::place::interface::FreeSpace;

/// What publishing asks of a file system. No operation follows a link in the last part of a path but
/// [`read`](FileSystem::read), [`open`](FileSystem::open), [`list`](FileSystem::list) and [`sync_directory`](FileSystem::sync_directory), which change
/// nothing.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// The absolute path of what `path` leads to, with every link followed.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf>;

    /// Looks at what has the name `path`.
    fn look(&self, path: &Path) -> io::Result<Meta>;

    /// The bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it is no regular file: opening a pipe would wait for a writer.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;

    /// The names in a directory, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<(OsString, Kind)>>;

    /// Locks the file at `path`, at once or not at all: none if somebody else holds it. Given a `word`, the file is made if
    /// need be and says it from then on; else it stays as it is.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the file cannot be opened, or is a link; else if it cannot be locked or written.
    fn lock(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>>;

    /// Locks the file at `path`, at once or not at all, beside any number of others that do the same: none if somebody holds it
    /// alone. If the file may be written to, it says `word` from then on.
    ///
    /// # Errors
    /// As [`lock`](FileSystem::lock).
    fn lock_shared(&self, path: &Path, word: &str) -> Result<Option<Locked>>;

    /// Makes a directory with `mode`, less what the process forbids.
    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()>;

    /// Gives a directory the permissions `mode`.
    fn set_mode(&self, directory: &Path, mode: u32) -> io::Result<()>;

    /// Makes an empty file where nothing is.
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Gives a file a second name, which nothing may have.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file another name; what had it before is gone, and at no time nobody has it.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Takes a name from a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory with everything in it.
    fn remove_tree(&self, directory: &Path) -> io::Result<()>;

    /// The space that is free in the file system of `path`.
    fn free_space(&self, path: &Path) -> FreeSpace;

    /// Waits until the names in a directory are on disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// A file that was made just now.
pub trait NewFile: fmt::Debug + Send {
    /// Gives it the mode of `old` and, if we may, its owner, or at least its group. False if it stays as it is: the group
    /// cannot be kept, and others may not read `old`.
    fn take_after(&self, old: &Meta) -> io::Result<bool>;

    /// Appends all of `bytes`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Waits until its bytes are on disk; how many there are.
    fn sync(&self) -> io::Result<u64>;
}

/// What is known of a file without reading it. Two that are equal are of one and the same file, unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub bytes: u64,
    /// Device and inode: which file it is, whatever its names.
    pub identity: (u64, u64),
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, i64),
    /// User and group.
    pub owner: (u32, u32),
    /// Who may do what.
    pub mode: u32,
}

/// What may have a name.
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
}

/// A lock on a file, as long as it lives; the operating system takes it back from a dead process.
#[derive(Debug)]
pub struct Locked {
    /// Which file it is.
    pub meta: Meta,
    _file: Option<File>,
}

impl Locked {
    /// A lock on the open `file`; a file system without processes has none to keep open.
    pub(super) fn new(meta: Meta, file: Option<File>) -> Self {
        Self { meta, _file: file }
    }
}
