//! Local files outside any place, such as robots.txt, that are replaced as a whole.
//!
//! Readers see the old bytes or the new ones, whatever happens: the new file is written next to the old one and then renamed.

use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::draft::Draft;
use super::fs::{
    Disk, FileSystem, Kind, Locked, Meta, check_is_file_path, check_overwritable, exists, group_lost,
    look_up, parent, sync_directory,
};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, message};

/// Attempts to change a file that another process is changing.
const TRIES: usize = 200;

/// Time between two attempts to lock a file.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// How long another process may hold the lock. It takes a few milliseconds to change a file, but many may be waiting.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(30);

/// A file that is replaced as a whole. It need not exist yet.
#[derive(Debug, Clone, Copy)]
pub struct LocalFile<'a> {
    fs: &'a dyn FileSystem,
    path: &'a Path,
}

/// The content of a file at one time.
struct Snapshot {
    /// Empty if there is no file.
    bytes: Vec<u8>,
    /// Identifies the file and its state; `None` if there is no file.
    meta: Option<Meta>,
}

impl<'a> LocalFile<'a> {
    /// The file at `path` on this machine.
    pub fn at(path: &'a Path) -> Self {
        Self::of(&Disk, path)
    }

    /// The file at `path` in any file system.
    pub fn of(fs: &'a dyn FileSystem, path: &'a Path) -> Self {
        Self { fs, path }
    }

    /// Its path.
    pub fn path(&self) -> &'a Path {
        self.path
    }

    /// Reads it; empty if there is no file.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it is a link or no regular file, else if it cannot be read. A link is not followed: whoever
    /// may write to the directory could point it at any file of the machine.
    pub fn read(&self) -> Result<Vec<u8>> {
        self.snapshot().map(|snapshot| snapshot.bytes)
    }

    /// Checks that a new file can be created next to it, and can take its place.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if not, if this user may not write to it, or if it is a link or no regular file;
    /// [`ErrorKind::Permission`] if its group cannot be kept.
    pub fn check_writable(&self) -> Result<()> {
        let old = self.meta()?;
        self.draft(old.as_ref())?.discard()
    }

    /// Replaces it by a file with `bytes`. The new file has the mode of the old one and, if permitted, its owner.
    ///
    /// # Errors
    /// If the new file cannot be written, or it is a link or no regular file; the old one stays.
    pub fn replace(&self, bytes: &[u8]) -> Result<()> {
        let old = self.meta()?;
        self.rename(self.write(bytes, old.as_ref())?)
    }

    /// Replaces its bytes by what `edit` makes of them, unless `edit` returns `None`. The new file has the mode of the old one
    /// and, if permitted, its owner. Concurrent edits wait for each other; `edit` is called again if another program has
    /// changed the file in the meantime. `edit` is told whether the file exists.
    ///
    /// # Errors
    /// Same as [`LocalFile::read`]; also if `edit` fails, if the new file cannot be written, or if another program keeps changing
    /// the file or holds its lock for half a minute, or until `stop` is raised. The file is then left unchanged.
    pub fn edit(&self, stop: &Stop, edit: impl Fn(&[u8], bool) -> Result<Option<Vec<u8>>>) -> Result<()> {
        for _ in 0..TRIES {
            let is_there = exists(self.fs, self.path)?;
            let _lock = if is_there { self.lock(stop)? } else { None };
            let old = self.snapshot()?;
            if old.meta.is_some() != is_there {
                continue; // The lock may be missing, or that of a file that is gone.
            }
            let Some(new) = edit(&old.bytes, old.meta.is_some())? else { return Ok(()) };
            if self.replace_unchanged(&old, &new)? {
                return Ok(());
            }
        }
        Err(Error::data(message!(self.path, ": another program keeps changing it; it was left unchanged")))
    }

    /// Its metadata; `None` if there is no file. A link would be replaced by a file, and its target would stay as it is.
    fn meta(&self) -> Result<Option<Meta>> {
        check_is_file_path(self.path)?;
        let unfit = |why: &str| Error::new(ErrorKind::Output, message!(self.path, ": {why}"));
        match look_up(self.fs, self.path)? {
            None => Ok(None),
            Some(meta) if meta.kind == Kind::Link => {
                Err(unfit("is a symbolic link, and links are not followed; give its target"))
            }
            Some(meta) if !meta.is_file() => {
                Err(unfit("is not a regular file; give one, or a file that does not exist yet"))
            }
            // As in a container. Copying to it would leave half a file if the run died.
            Some(_) if self.fs.is_mount_point(self.path) => Err(unfit(
                "is a mount point of its own, so no new file can take its place; mount its directory instead",
            )),
            meta => Ok(meta),
        }
    }

    fn snapshot(&self) -> Result<Snapshot> {
        let meta = self.meta()?;
        let unreadable = |error| Error::io(self.path, "could not be read", error);
        let bytes = match &meta {
            None => Vec::new(),
            Some(_) => self.fs.read(self.path).map_err(unreadable)?,
        };
        Ok(Snapshot { bytes, meta })
    }

    /// Returns false, and changes nothing, if the file is no longer as in `old`.
    fn replace_unchanged(&self, old: &Snapshot, bytes: &[u8]) -> Result<bool> {
        let draft = self.write(bytes, old.meta.as_ref())?;
        match &old.meta {
            None => self.link(draft),
            Some(meta) if self.fs.look(self.path).is_ok_and(|now| now == *meta) => {
                self.rename(draft).map(|()| true)
            }
            Some(_) => Ok(false),
        }
    }

    /// Gives the new file its name if nothing has it yet; else returns false. While there is no file, there is no lock, so a
    /// rename could replace what another run has just created.
    fn link(&self, draft: Draft<'_>) -> Result<bool> {
        match self.fs.link(draft.path(), self.path) {
            Ok(()) => {
                let _ = draft.discard(); // or the next run does it
                sync_directory(self.fs, parent(self.path)).map(|()| true)
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // Some file systems have no hard links. An empty file can be locked, and means the same to crawlers as none.
            Err(_) => match self.fs.create(self.path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    Err(Error::io(self.path, "could not be created", error))
                }
                _ => Ok(false),
            },
        }
    }

    /// Writes the new file next to the old one and syncs it. It gets mode and owner of the file `like`.
    fn write(&self, bytes: &[u8], like: Option<&Meta>) -> Result<Draft<'a>> {
        let mut draft = self.draft(like)?;
        let written = draft.write(bytes).and_then(|()| draft.sync());
        written.map_err(|error| self.unwritten(error))?;
        Ok(draft)
    }

    fn unwritten(&self, error: io::Error) -> Error {
        Error::io(self.path, "could not be written", error)
    }

    /// Creates an empty file next to the old one, with mode and owner of the file `like`, which is the old one if there is one.
    fn draft(&self, like: Option<&Meta>) -> Result<Draft<'a>> {
        check_overwritable(self.fs, self.path, self.path)?;
        let draft = Draft::create(self.fs, self.path)?;
        if let Some(like) = like
            && !draft.take_after(like).map_err(|error| self.unwritten(error))?
        {
            return Err(group_lost(self.path));
        }
        Ok(draft)
    }

    /// Gives the new file the name of the old one. Both its name and its bytes are on disk then.
    fn rename(&self, mut draft: Draft<'_>) -> Result<()> {
        draft.rename(self.path)?;
        sync_directory(self.fs, parent(self.path))
    }

    /// Locks the file, once no other run holds its lock; `None` if the file is gone or the file system has no locks. A lock is
    /// on a file and not on a name, so it counts only if the file has not been replaced in the meantime.
    fn lock(&self, stop: &Stop) -> Result<Option<Locked>> {
        let started = Instant::now();
        while started.elapsed() < LOCK_WAIT_MAX {
            let Ok(tried) = self.fs.lock(self.path, None) else { return Ok(None) };
            match tried {
                None if stop.is_raised() => {
                    return Err(Error::data(message!(
                        self.path,
                        ": the wait for another process that holds its lock was interrupted; it was left unchanged"
                    )));
                }
                None => sleep(LOCK_PAUSE),
                Some(locked)
                    if self.fs.look(self.path).is_ok_and(|now| now.identity == locked.meta.identity) =>
                {
                    return Ok(Some(locked));
                }
                Some(_) => {}
            }
        }
        let seconds = LOCK_WAIT_MAX.as_secs();
        Err(Error::data(message!(
            self.path,
            ": another process has held its lock for {seconds} seconds; it was left unchanged"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fs::memory::Memory;
    use super::*;

    /// Appends a line to the file at `path` if it lacks it.
    fn append(fs: &dyn FileSystem, path: &Path, line: &[u8]) -> Result<()> {
        LocalFile::of(fs, path).edit(&Stop::default(), |old, _| match old.ends_with(line) {
            true => Ok(None),
            false => Ok(Some([old, line].concat())),
        })
    }

    #[test]
    fn a_file_that_another_run_creates_first_is_kept() {
        let path = Path::new("/robots.txt");
        let is_creation =
            |attempt: &String| ["link /robots.txt", "create /robots.txt"].contains(&attempt.as_str());
        for is_linkless in [false, true] {
            let world = || {
                let fs = Memory::default();
                fs.put(Path::new("/other"), b"");
                if is_linkless {
                    fs.forbid_links();
                }
                fs
            };
            let alone = world();
            append(&alone, path, b"ours\n").unwrap();
            assert_eq!(alone.read(path).unwrap(), b"ours\n");
            let last = alone.attempts().iter().rposition(is_creation).unwrap();
            for at in 0..=last {
                let fs = world();
                fs.put_before(at, path, b"theirs\n");
                append(&fs, path, b"ours\n").unwrap();
                let text = fs.read(path).unwrap();
                assert_eq!(text, b"theirs\nours\n", "{is_linkless}, {at}: {:?}", fs.attempts());
                assert_eq!(fs.list(Path::new("/")).unwrap().len(), 2, "nothing else is left");
            }
        }
    }
}
