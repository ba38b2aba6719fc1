//! Resolves paths to files, through symbolic links and hard links, whether the file exists or not.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

/// Device and inode, which identify a file whatever its names.
pub(super) type Identity = (u64, u64);

/// Maximum length of a chain of links: path_resolution(7), `MAXSYMLINKS`.
const LINKS_MAX: usize = 40;

/// The file that a path leads to.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    /// The existing file, if there is one.
    pub file: Option<File>,
    /// The directory of the file. If the file does not exist, the deepest existing directory above it.
    pub directory: PathBuf,
    /// The name of the file in `directory`. If the file does not exist, the names from `directory` to it.
    pub rest: PathBuf,
    /// The device and inode of `directory`; `None` if it cannot be read.
    above: Option<Identity>,
}

/// A file that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct File {
    pub identity: Identity,
    pub is_regular: bool,
    /// Whether it has several names (hard links).
    pub is_linked: bool,
}

impl File {
    fn of(meta: &Metadata) -> Self {
        Self { identity: (meta.dev(), meta.ino()), is_regular: meta.is_file(), is_linked: meta.nlink() > 1 }
    }

    /// Returns the file that the path leads to, through links.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::of)
    }

    /// Returns the file that standard input reads.
    pub fn stdin() -> Option<Self> {
        Self::of_stat(&fstat(io::stdin()).ok()?)
    }

    fn of_stat(stat: &rustix::fs::Stat) -> Option<Self> {
        let is_regular = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
        Some(Self { identity: (stat.st_dev, stat.st_ino), is_regular, is_linked: stat.st_nlink > 1 })
    }
}

impl ResolvedPath {
    /// Resolves `path`.
    pub fn of(path: &Path) -> Self {
        let path = last_link(path);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let whole = fs::canonicalize(&path).ok();
        let (directory, rest) = match &whole {
            Some(whole) => {
                let name = whole.file_name().map(PathBuf::from).unwrap_or_default();
                (whole.parent().unwrap_or(whole).to_owned(), name)
            }
            None => {
                let (directory, rest) = deepest(parent);
                (directory, rest.join(path.file_name().unwrap_or_default()))
            }
        };
        let above = File::at(&directory).map(|file| file.identity);
        Self { file: whole.and_then(|_| File::at(&path)), directory, rest, above }
    }

    /// Resolves standard output.
    pub fn stdout() -> Self {
        let named = Self::of(Path::new("/dev/stdout"));
        let file = fstat(io::stdout()).ok().and_then(|stat| File::of_stat(&stat));
        Self { file, ..named }
    }

    /// Returns whether writing destroys nothing, as with a device, a pipe or a socket. (A directory cannot be opened for writing.)
    pub fn is_no_file(&self) -> bool {
        self.file.is_some_and(|file| !file.is_regular)
    }

    /// Returns whether both are the same file, or will be once created.
    pub fn is(&self, other: &Self) -> bool {
        match (self.file, other.file) {
            (Some(one), Some(other)) => one.identity == other.identity,
            (None, None) => self.above.is_some() && self.above == other.above && self.rest == other.rest,
            _ => false,
        }
    }

    /// Returns its name and the path of its directory.
    pub fn parent(&self) -> (PathBuf, OsString) {
        let whole = self.directory.join(&self.rest);
        let name = whole.file_name().unwrap_or_default().to_owned();
        (whole.parent().unwrap_or(&whole).to_owned(), name)
    }

    /// Returns the names that lead to it from `directory`, if it is below that.
    pub fn below(&self, directory: &Path) -> Option<PathBuf> {
        let (whole, of) = (self.directory.join(&self.rest), Self::of(directory));
        if let Some(File { identity, .. }) = of.file {
            let at = self
                .directory
                .ancestors()
                .find(|above| File::at(above).is_some_and(|it| it.identity == identity))?;
            return whole.strip_prefix(at).ok().map(Path::to_owned);
        }
        let is_above = self.above.is_some() && self.above == of.above;
        is_above.then(|| self.rest.strip_prefix(&of.rest).ok().map(Path::to_owned)).flatten()
    }
}

/// Returns the end of a chain of links, whether it exists or not.
fn last_link(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&path) {
            // For a pipe or an unnamed file, the link in `/proc` is not a path; only the kernel can follow it.
            Ok(_) if fs::metadata(&path).is_ok() => break,
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => break,
        }
    }
    path
}

/// Returns the deepest existing directory of `path`, and the remaining names.
fn deepest(path: &Path) -> (PathBuf, PathBuf) {
    let mut rest = Vec::new();
    let mut at = path;
    loop {
        let start = if at.as_os_str().is_empty() { Path::new(".") } else { at };
        if let Ok(there) = fs::canonicalize(start) {
            return (there, rest.iter().rev().collect());
        }
        let Some(parent) = at.parent() else { return (at.to_owned(), rest.iter().rev().collect()) };
        rest.extend(at.components().next_back().map(|name| name.as_os_str().to_owned()));
        at = parent;
    }
}
