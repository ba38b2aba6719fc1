//! The state of the simulated file system: its names and files, and which of them are durable.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::place::fs::actions::parent;

/// The state of the file system at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// All names, as processes see them.
    pub(super) names: Names,
    /// Contents by inode.
    pub(super) files: BTreeMap<u64, Content>,
    /// Names that are durable whatever happens.
    pub(super) durable: Names,
    /// Changes of names since then, in order. `names` is `durable` with all of them applied.
    pub(super) changes: Vec<Change>,
    /// Whether hard links are refused.
    pub(super) is_linkless: bool,
}

type Names = BTreeMap<PathBuf, Node>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Directory,
    File(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Content {
    pub(super) bytes: Arc<[u8]>,
    pub(super) is_synced: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Change {
    gone: Option<PathBuf>,
    new: Option<(PathBuf, Node)>,
    pub(super) is_synced: bool,
}

impl Change {
    pub(super) fn apply(&self, names: &mut Names) {
        if let Some(path) = &self.gone {
            names.remove(path);
        }
        names.extend(self.new.clone());
    }

    pub(super) fn directory(&self) -> &Path {
        let path = self.new.as_ref().map(|(path, _)| path).or(self.gone.as_ref());
        parent(path.expect("a change is of a name"))
    }
}

impl State {
    /// The states that a power loss may leave, each with a description. The first one has lost everything that was not synced.
    pub fn after_power_loss(&self) -> Vec<(String, State)> {
        let unsynced = self.changes.iter().filter(|change| !change.is_synced).count();
        let mut worlds = vec![
            ("everything unsynced is lost".into(), self.surviving(|_| false)),
            ("all names survive, and no unsynced content".into(), self.surviving(|_| true)),
        ];
        for nth in 0..unsynced {
            worlds.push((
                format!("only unsynced change {nth} of names survives"),
                self.surviving(|at| at == nth),
            ));
            worlds.push((
                format!("only unsynced change {nth} of names is lost"),
                self.surviving(|at| at != nth),
            ));
        }
        worlds
    }

    /// The state after a power loss that the `n`th unsynced change of names survives if `survives(n)`.
    fn surviving(&self, survives: impl Fn(usize) -> bool) -> Self {
        let (mut names, mut unsynced) = (self.durable.clone(), 0..);
        for change in &self.changes {
            if change.is_synced || unsynced.next().is_some_and(&survives) {
                change.apply(&mut names);
            }
        }
        // If a directory is lost, so is everything in it. The order of paths puts a parent before its children.
        let mut reached = Names::new();
        for (path, node) in names {
            if path.parent().is_none_or(|parent| reached.get(parent) == Some(&Node::Directory)) {
                reached.insert(path, node);
            }
        }
        let rest = |content: &Content| Content {
            bytes: if content.is_synced { content.bytes.clone() } else { Arc::default() },
            is_synced: true,
        };
        let inodes = reached.values().filter_map(|node| match node {
            Node::File(inode) => Some(*inode),
            Node::Directory => None,
        });
        let files = inodes.map(|inode| (inode, rest(&self.files[&inode]))).collect();
        let is_linkless = self.is_linkless;
        Self { names: reached.clone(), files, durable: reached, changes: Vec::new(), is_linkless }
    }

    /// Creates or replaces a file, and its directories. Both are durable immediately.
    pub(super) fn put(&mut self, path: &Path, bytes: &[u8]) {
        let inode = self.new_inode();
        self.files.insert(inode, Content { bytes: bytes.into(), is_synced: true });
        let above = path.ancestors().skip(1).map(|above| (above.to_owned(), Node::Directory));
        for (path, node) in above.chain([(path.to_owned(), Node::File(inode))]) {
            self.durable.insert(path.clone(), node);
            self.names.insert(path, node);
        }
    }

    pub(super) fn new_inode(&self) -> u64 {
        self.files.last_key_value().map_or(0, |(last, _)| last + 1)
    }

    pub(super) fn get(&self, path: &Path) -> io::Result<Node> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }

    pub(super) fn change(&mut self, gone: Option<&Path>, new: Option<(&Path, Node)>) -> io::Result<()> {
        if let Some((path, _)) = new
            && self.get(parent(path))? != Node::Directory
        {
            return Err(ErrorKind::NotADirectory.into());
        }
        let new = new.map(|(path, node)| (path.into(), node));
        let change = Change { gone: gone.map(Into::into), new, is_synced: false };
        change.apply(&mut self.names);
        self.changes.push(change);
        Ok(())
    }
}
