//! A simulated file system in memory. It records every state it was in, and which part of each state was durable.
//!
//! It guarantees no more than POSIX. The bytes of a file are durable once the file is synced. A created, renamed or removed
//! name is durable once its directory is synced (for a rename, the directory of the new name). After a power loss, each
//! unsynced change of a name may or may not have happened, independently of the others. A rename is atomic.

mod state;

use std::ffi::OsString;
use std::io::{self, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::operations::{FileSystem, Kind, Locked, Meta, NewFile};
use crate::error::{Error, Result};
use crate::place::interface::FreeSpace;
pub use state::State;
use state::{Content, Node};

/// A simulated file system. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<History>>);

#[derive(Debug, Default)]
struct History {
    now: State,
    steps: Vec<Step>,
    /// All attempted changes, described in words.
    attempts: Vec<String>,
    /// Indexes into `attempts` of the changes that fail.
    failing: Vec<Range<usize>>,
    /// The number of looks so far.
    looks: usize,
    /// Index of the look that fails.
    failing_look: Option<usize>,
    /// A file that another process creates, and the index in `attempts` of the change before which it does.
    meanwhile: Option<(usize, PathBuf, Vec<u8>)>,
}

/// A successful change, and the state after it.
#[derive(Debug, Clone)]
pub struct Step {
    /// Index of the change among all attempts.
    pub attempt: usize,
    /// The change in words.
    pub what: String,
    /// The state after the change.
    pub state: State,
}

impl Memory {
    /// A file system in `state`, without history.
    pub fn of(state: State) -> Self {
        Self::failing(state, Vec::new())
    }

    /// A file system in `state` that fails the attempted changes with indexes in `failing`, counted from 0.
    pub fn failing(state: State, failing: Vec<Range<usize>>) -> Self {
        Self(Arc::new(Mutex::new(History { now: state, failing, ..History::default() })))
    }

    /// Refuses hard links from now on.
    pub fn forbid_links(&self) {
        self.0.lock().unwrap().now.is_linkless = true;
    }

    /// The number of looks so far.
    pub fn looks(&self) -> usize {
        self.0.lock().unwrap().looks
    }

    /// Fails the look with index `nth`, counted from 0.
    pub fn fail_look(&self, nth: usize) {
        self.0.lock().unwrap().failing_look = Some(nth);
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.0.lock().unwrap().now.clone()
    }

    /// All attempted changes, described in words.
    pub fn attempts(&self) -> Vec<String> {
        self.0.lock().unwrap().attempts.clone()
    }

    /// All successful changes so far.
    pub fn steps(&self) -> Vec<Step> {
        self.0.lock().unwrap().steps.clone()
    }

    /// Creates or replaces a file, and its directories. Both are durable immediately.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        self.0.lock().unwrap().now.put(path, bytes);
    }

    /// Puts a file, as another process may, right before attempt `at` to change something.
    pub fn put_before(&self, at: usize, path: &Path, bytes: &[u8]) {
        self.0.lock().unwrap().meanwhile = Some((at, path.into(), bytes.into()));
    }

    fn step<T>(&self, what: String, change: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let History { now, steps, attempts, failing, meanwhile, .. } = &mut *self.0.lock().unwrap();
        let attempt = attempts.len();
        if let Some((_, path, bytes)) = meanwhile.take_if(|(at, ..)| *at == attempt) {
            now.put(&path, &bytes);
        }
        attempts.push(what.clone());
        if failing.iter().any(|range| range.contains(&attempt)) {
            return Err(io::Error::other(format!("cannot {what}")));
        }
        let done = change(now)?;
        steps.push(Step { attempt, what, state: now.clone() });
        Ok(done)
    }
}

impl FileSystem for Memory {
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.into())
    }

    fn look(&self, path: &Path) -> io::Result<Meta> {
        if path.file_name().is_some_and(|name| name.len() > 255) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        let History { now, looks, failing_look, .. } = &mut *self.0.lock().unwrap();
        let nth = *looks;
        *looks += 1;
        if *failing_look == Some(nth) {
            return Err(io::Error::other(format!("cannot look at {}", path.display())));
        }
        let (kind, bytes, identity) = match now.get(path)? {
            Node::Directory => (Kind::Directory, 0, (0, 0)),
            Node::File(inode) => (Kind::File, now.files[&inode].bytes.len() as u64, (1, inode)),
        };
        Ok(Meta { kind, bytes, identity, modified: (0, 0), owner: (0, 0), mode: 0o644 })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let now = &self.0.lock().unwrap().now;
        match now.get(path)? {
            Node::Directory => Err(ErrorKind::IsADirectory.into()),
            Node::File(inode) => Ok(now.files[&inode].bytes.to_vec()),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        self.read(path).map(|bytes| Box::new(Cursor::new(bytes)) as _)
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<(OsString, Kind)>> {
        let now = &self.0.lock().unwrap().now;
        match now.get(directory)? {
            Node::File(_) => Err(ErrorKind::NotADirectory.into()),
            Node::Directory => {
                let inside = now.names.iter().filter(|(path, _)| path.parent() == Some(directory));
                let kind = |node: &Node| match node {
                    Node::Directory => Kind::Directory,
                    Node::File(_) => Kind::File,
                };
                Ok(inside.filter_map(|(path, node)| Some((path.file_name()?.into(), kind(node)))).collect())
            }
        }
    }

    fn lock(&self, path: &Path, word: Option<&str>) -> Result<Option<Locked>> {
        if word.is_some() && self.look(path).is_err() {
            self.create(path).map_err(|error| Error::output(path, error))?;
        }
        let meta = self.look(path).map_err(|error| Error::output(path, error))?;
        Ok(Some(Locked::new(meta, None)))
    }

    fn lock_shared(&self, path: &Path, _word: Option<&str>) -> Result<Option<Locked>> {
        self.lock(path, None)
    }

    fn set_mode(&self, _directory: &Path, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    fn make_directory(&self, path: &Path, _mode: u32) -> io::Result<()> {
        self.step(format!("make directory {}", path.display()), |now| match now.get(path) {
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => now.change(None, Some((path, Node::Directory))),
        })
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let inode = self.step(format!("create {}", path.display()), |now| {
            let inode = now.new_inode();
            if now.get(path).is_ok() {
                return Err(ErrorKind::AlreadyExists.into());
            }
            now.files.insert(inode, Content { bytes: Arc::default(), is_synced: false });
            now.change(None, Some((path, Node::File(inode)))).map(|()| inode)
        })?;
        Ok(Box::new(MemoryFile { memory: self.clone(), path: path.into(), inode }))
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(format!("link {}", to.display()), |now| match now.get(to) {
            _ if now.is_linkless => Err(ErrorKind::Unsupported.into()),
            Ok(_) => Err(ErrorKind::AlreadyExists.into()),
            Err(_) => now.change(None, Some((to, now.get(from)?))),
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(format!("rename {} to {}", from.display(), to.display()), |now| match now.get(from)? {
            // POSIX: if both names belong to the same file, `rename` does nothing.
            node @ Node::File(_) if now.get(to).is_ok_and(|there| there == node) => Ok(()),
            node => now.change(Some(from), Some((to, node))),
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(format!("remove {}", path.display()), |now| match now.get(path)? {
            Node::Directory => Err(ErrorKind::IsADirectory.into()),
            Node::File(_) => now.change(Some(path), None),
        })
    }

    fn remove_tree(&self, directory: &Path) -> io::Result<()> {
        let names = self.state().names;
        // In reverse order, because children follow their parent.
        for path in names.into_keys().rev().filter(|path| path.starts_with(directory)) {
            self.step(format!("remove {}", path.display()), |now| now.change(Some(&path), None))?;
        }
        Ok(())
    }

    fn free_space(&self, _path: &Path) -> FreeSpace {
        FreeSpace::default()
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        self.step(format!("sync {}", directory.display()), |now| {
            now.get(directory)?;
            let here = now.changes.iter_mut().filter(|change| change.directory() == directory);
            here.for_each(|change| change.is_synced = true);
            // Synced changes become part of `durable` once all changes before them are synced.
            let settled = now.changes.iter().take_while(|change| change.is_synced).count();
            now.changes.drain(..settled).for_each(|change| change.apply(&mut now.durable));
            Ok(())
        })
    }
}

#[derive(Debug)]
struct MemoryFile {
    memory: Memory,
    path: PathBuf,
    inode: u64,
}

impl MemoryFile {
    fn step<T>(&self, what: &str, change: impl FnOnce(&mut Content) -> T) -> io::Result<T> {
        let what = format!("{what} {}", self.path.display());
        self.memory.step(what, |now| {
            Ok(change(now.files.get_mut(&self.inode).expect("an inode stays with its state")))
        })
    }
}

impl NewFile for MemoryFile {
    fn take_after(&self, _old: &Meta) -> io::Result<bool> {
        Ok(true)
    }

    fn try_to_lock(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.step("write", |content| {
            *content = Content { bytes: [&content.bytes, bytes].concat().into(), is_synced: false };
        })
    }

    fn sync(&self) -> io::Result<u64> {
        self.step("sync", |content| {
            content.is_synced = true;
            content.bytes.len() as u64
        })
    }
}
