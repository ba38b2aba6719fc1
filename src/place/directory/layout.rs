//! The layout of an output directory: the path of every file, including everything below `.sitemill`.
//!
//! ```text
//! OUT/                        published files: sitemaps, index files, robots lines
//! OUT/.sitemill/              the state of the set
//!     lock                    held by the run that changes OUT
//!     sites.lock              held by a run for all sites below OUT, shared by runs for one of them
//!     manifest.json           describes the live set
//!     manifest.next.json      the journal of a switch: the manifest of the set that is to be live
//!     sets/RUN.json           manifests of earlier sets that are kept
//!     staging/RUN/            files of a run that crawlers cannot see yet
//!         FILE                  to be published under this name
//!         FILE.mended           to replace a damaged sitemap
//!         FILE.replaced         second name of the file that FILE replaces
//!         FILE.replaced.part    a copy of it that is not whole yet, where there are no links
//!         renamed               the sitemaps that are renamed into place, where there are no links
//!         manifest.json         the next journal
//!         replaced.json         the live manifest, on its way to `sets`
//!         stand-in.json         a new live manifest in place of a lost one
//!         FILE.RANDOM.attempt   written by a worker of the run, and not yet FILE
//!         probe                 random bytes by which a worker sees that it shares the directory
//!     damaged/HASH-NAME       copies of files that could not be used
//!     taken-over/HASH-NAME    copies of files that sitemill did not write and replaced
//! ```

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::place::interface::BackupReason;
use crate::place::record::Record;

/// The directory with the state of the set.
pub const STATE: &str = ".sitemill";

const LOCK: &str = "lock";
const SITES_LOCK: &str = "sites.lock";
const JOURNAL: &str = "manifest.next.json";
const SETS: &str = "sets";
const STAGING: &str = "staging";

/// The manifest of the live set, and in staging that of the next one.
pub const MANIFEST: &str = "manifest.json";
/// In staging: the manifest of the replaced set, on its way to `sets`.
pub const REPLACED: &str = "replaced.json";
/// In staging: the manifest that takes the place of a lost one.
pub const STAND_IN: &str = "stand-in.json";
/// In staging: random bytes by which a worker sees that it shares the directory.
pub const PROBE: &str = "probe";
/// In staging: the list of sitemaps that are renamed into place.
pub const RENAMED: &str = "renamed";

/// The paths of the files of one output directory.
#[derive(Debug, Clone)]
pub struct Layout {
    out: PathBuf,
    state: PathBuf,
}

impl Layout {
    /// The layout of the output directory `out`.
    pub fn of(out: &Path) -> Self {
        Self { out: out.into(), state: out.join(STATE) }
    }

    /// The output directory.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The directory with the state of the set.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// A published file.
    pub fn file(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.out.join(name.as_ref())
    }

    /// The lock of the directory.
    pub fn lock(&self) -> PathBuf {
        self.state.join(LOCK)
    }

    /// The lock of all sites below the directory.
    pub fn sites_lock(&self) -> PathBuf {
        self.state.join(SITES_LOCK)
    }

    /// A manifest.
    pub fn record(&self, record: &Record) -> PathBuf {
        match record {
            Record::Live => self.state.join(MANIFEST),
            Record::Journal => self.state.join(JOURNAL),
            Record::Kept(name) => self.sets().join(name),
        }
    }

    /// The directory of the manifests of earlier sets.
    pub fn sets(&self) -> PathBuf {
        self.state.join(SETS)
    }

    /// The directory of the staging directories of all runs.
    pub fn nursery(&self) -> PathBuf {
        self.state.join(STAGING)
    }

    /// The staging directory of `run`.
    pub fn staging(&self, run: &str) -> PathBuf {
        self.nursery().join(run)
    }

    /// The directory of the copies that are kept for `reason`.
    pub fn backups(&self, reason: BackupReason) -> PathBuf {
        self.state.join(match reason {
            BackupReason::Damaged => "damaged",
            BackupReason::TakenOver => "taken-over",
        })
    }
}

/// In staging: the file that replaces the damaged sitemap `file`.
pub fn mended(file: &str) -> String {
    format!("{file}.mended")
}

/// In staging: the second name of the file that `file` replaces.
pub fn replaced(file: &str) -> String {
    format!("{file}.replaced")
}

/// In staging: what will be `file`, until it is whole. Each attempt has its own `random` number.
pub fn attempt(file: &str, random: u64) -> String {
    format!("{file}.{random:016x}.attempt")
}

/// The name of a copy until it is complete and gets the name `path`.
pub fn part(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

/// Whether the directory `state` has the state of a set in it, and not only the name.
pub fn is_state_of_set(state: &Path) -> bool {
    [MANIFEST, JOURNAL, LOCK].iter().any(|name| state.join(name).exists())
}

/// The output directory of a manifest. A manifest elsewhere belongs to the directory that contains it.
pub fn directory_of(manifest: &Path) -> &Path {
    let up = |levels: usize| manifest.ancestors().nth(levels).unwrap_or(Path::new(""));
    let directory = match up(1).file_name().and_then(|name| name.to_str()) {
        Some(SETS) => up(3),
        Some(STATE) => up(2),
        _ => up(1),
    };
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_manifest_leads_to_its_set() {
        for (manifest, directory) in [
            ("out/.sitemill/manifest.json", "out"),
            ("out/.sitemill/sets/123-4.json", "out"),
            (".sitemill/manifest.json", "."),
            (".sitemill/sets/123-4.json", "."),
            ("copies/manifest.json", "copies"),
            ("manifest.json", "."),
            ("/srv/a.example/.sitemill/manifest.json", "/srv/a.example"),
        ] {
            assert_eq!(directory_of(Path::new(manifest)), Path::new(directory), "{manifest}");
        }
    }
}
