//! The files that a run has read, so that nothing is read twice, however it is named.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::place::{PlaceFile, SetName, View};

/// Sets and files that were read, by their real paths: a directory may be spelt in several ways.
#[derive(Default)]
pub(crate) struct Checked {
    /// The real path of each directory that was looked up.
    directories: HashMap<PathBuf, PathBuf>,
    sets: HashSet<(PathBuf, Option<SetName>)>,
    files: HashSet<PathBuf>,
}

impl Checked {
    /// Adds a set. Returns true if it is new.
    pub fn add_set(&mut self, set: &dyn View) -> bool {
        let root = self.real(set.root()).to_owned();
        self.sets.insert((root, set.name().cloned()))
    }

    /// Adds a file. Returns true if it is new.
    pub fn add_file(&mut self, file: &PlaceFile) -> bool {
        let path = self.path_beside(file, file.name().as_ref());
        self.files.insert(path)
    }

    /// Whether the file was checked.
    pub fn has_file(&mut self, file: &PlaceFile) -> bool {
        let path = self.path_beside(file, file.name().as_ref());
        self.files.contains(&path)
    }

    /// The number of files with these real paths that were not checked. Each unknown path is that of another file.
    pub fn count_others(&self, paths: &[Option<PathBuf>]) -> u64 {
        let known: HashSet<&PathBuf> = paths.iter().flatten().collect();
        let others = known.iter().filter(|path| !self.files.contains(**path)).count();
        (others + paths.iter().filter(|path| path.is_none()).count()) as u64
    }

    /// The real path of `path`, which is relative to the directory of `file`.
    pub fn path_beside(&mut self, file: &PlaceFile, path: &Path) -> PathBuf {
        self.real(file.view().root()).join(path)
    }

    fn real(&mut self, directory: &Path) -> &Path {
        self.directories.entry(directory.into()).or_insert_with(|| {
            let named = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
            // Locations in stores have one spelling.
            named.canonicalize().unwrap_or_else(|_| directory.into())
        })
    }
}
