//! Replacement: a local file that is written piece by piece, such as the reject file, and takes the place of the old one once it is
//! complete.
//!
//! Two runs may name the same file, above all if one of them ends because the other holds the directory. Readers see the whole file
//! of one of them, and a run that fails leaves the old file as it was.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::draft::Draft;
use super::fs::{Disk, FileSystem, check_is_file_path, check_overwritable, parent, sync_directory};
use crate::common::output::is_stream;
use crate::error::{Error, Result};

/// The new file.
#[derive(Debug)]
pub struct Replacement {
    draft: Draft<'static>,
    /// The path of the old file.
    path: PathBuf,
}

impl Replacement {
    /// Begins to replace the file at `path`, or the one that a link there leads to. The new file has the mode of the old one and,
    /// if permitted, its owner. `None` if only writing in place is possible: to a standard stream, a device or a pipe, or where no
    /// file can be created next to the old one.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if the old file may not be written, or the path is that of a directory.
    pub fn begin(path: &Path) -> Result<Option<Self>> {
        if is_stream(path) {
            return Ok(None);
        }
        let target = Disk.real_path(path).unwrap_or_else(|_| path.to_owned());
        let old = Disk.look(&target).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            return Ok(None);
        }
        check_is_file_path(path)?;
        if old.is_some() {
            check_overwritable(&Disk, &target, path)?;
        }
        let Ok(draft) = Draft::create(&Disk, &target) else { return Ok(None) };
        let is_alike = old.is_none_or(|old| draft.take_after(&old).unwrap_or(false));
        Ok(is_alike.then_some(Self { draft, path: target }))
    }

    /// Whether there is an old file.
    pub fn has_old(&self) -> bool {
        Disk.look(&self.path).is_ok()
    }

    /// Gives the new file, which is complete, the name of the old one.
    ///
    /// # Errors
    /// If it cannot be written. The old file then stays, unless it can neither be replaced nor overwritten.
    pub fn finish(mut self) -> Result<()> {
        let path = &*self.path;
        let failed = |error| Error::io(path, "could not be written", error);
        self.draft.sync().map_err(failed)?;
        match self.draft.rename(path) {
            Ok(()) => sync_directory(&Disk, parent(path)),
            // The name of a mounted file, as in a container, cannot be given to another file.
            Err(_) if path.is_file() => {
                let copied = fs::copy(self.draft.path(), path);
                let synced = copied.and_then(|_| File::options().write(true).open(path)?.sync_all());
                synced.map_err(failed)
            }
            Err(error) => Err(error),
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.draft.write(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// Runs `check` in a new directory.
    fn in_directory(name: &str, check: impl FnOnce(&Path)) {
        let directory = std::env::temp_dir().join(format!("sitemill-{name}-{}", std::process::id()));
        fs::create_dir(&directory).unwrap();
        check(&directory);
        fs::remove_dir_all(&directory).unwrap();
    }

    fn replace(path: &Path, bytes: &[u8]) {
        let mut file = Replacement::begin(path).unwrap().expect("a regular file");
        file.write_all(bytes).unwrap();
        file.finish().unwrap();
    }

    #[test]
    fn a_file_is_replaced_once_it_is_complete() {
        in_directory("replacement", |directory| {
            let path = directory.join("rejects.tsv");
            replace(&path, b"one");
            let [mut first, second] = [(); 2].map(|()| Replacement::begin(&path).unwrap().unwrap());
            first.write_all(b"half").unwrap();
            drop(first);
            assert_eq!(fs::read(&path).unwrap(), b"one");
            second.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"");
            assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "no other file is left");
        });
    }

    #[test]
    fn what_dead_runs_have_left_is_removed_and_what_others_write_stays() {
        in_directory("replacement-left", |directory| {
            let path = directory.join("rejects.tsv");
            fs::write(&path, "old").unwrap();
            let running = Replacement::begin(&path).unwrap().unwrap();
            let left = directory.join(".rejects.tsv.sitemill-0123456789abcdef");
            let theirs = directory.join(".rejects.tsv.sitemill-backup");
            [&left, &theirs].into_iter().for_each(|path| fs::write(path, "half").unwrap());
            replace(&path, b"new");
            assert_eq!([&left, &theirs].map(|path| path.exists()), [false, true]);
            running.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"");
        });
    }

    #[test]
    fn the_new_file_has_the_mode_of_the_old_one_also_behind_a_link() {
        in_directory("replacement-mode", |directory| {
            let (path, link) = (directory.join("rejects.tsv"), directory.join("link"));
            fs::write(&path, "private").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            symlink("rejects.tsv", &link).unwrap();
            replace(&link, b"new");
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert!(link.is_symlink());
        });
    }

    #[test]
    fn what_is_not_a_regular_file_is_written_in_place() {
        for path in ["-", "/dev/null", "/dev/fd/1", "/"] {
            assert!(Replacement::begin(Path::new(path)).unwrap().is_none(), "{path}");
        }
    }
}
