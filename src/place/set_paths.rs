//! Paths in an output directory: that of every file, including everything below `.sitemill`.
//!
//! ```text
//! OUT/                        published files: sitemaps, index files, robots lines
//! OUT/.sitemill-switch        exists during a switch: other users cannot see the journal. That of the set NAME ends in -NAME
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
//!                             (in both, `part` is a copy that is not whole yet)
//!     names/NAME/             the state of the set NAME, with everything above
//! ```
//!
//! The set without a name and each named set have locks, manifests and staging of their own. They share OUT, where the names of
//! their files differ.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::place::interface::BackupReason;
use crate::place::record::Record;
use crate::place::set_name::SetName;

/// The directory with the state of the set. No other file may have its name.
pub const STATE: &str = ".sitemill";

const LOCK: &str = "lock";
const SITES_LOCK: &str = "sites.lock";
const JOURNAL: &str = "manifest.next.json";
const SETS: &str = "sets";
const STAGING: &str = "staging";
const NAMES: &str = "names";

/// The manifest of the live set, and in staging that of the next one.
pub const MANIFEST: &str = "manifest.json";
/// In staging: the manifest of the replaced set, on its way to `sets`.
pub const REPLACED: &str = "replaced.json";
/// In staging: the manifest that takes the place of a lost one.
pub const STAND_IN: &str = "stand-in.json";
/// In staging: random bytes that show a worker that it shares the place.
pub const PROBE: &str = "probe";
/// In staging: the list of sitemaps that are renamed into place.
pub const RENAMED: &str = "renamed";

/// Whether `file` is the name of a manifest in staging.
pub fn is_staged_manifest(file: &str) -> bool {
    [MANIFEST, REPLACED, STAND_IN].contains(&file)
}

/// The paths of the files of one set in an output directory.
#[derive(Debug, Clone)]
pub struct SetPaths {
    out: PathBuf,
    name: Option<SetName>,
    state: PathBuf,
}

impl SetPaths {
    /// The paths of the set `name` in the output directory `out`, or of the set without a name.
    pub fn of(out: &Path, name: Option<&SetName>) -> Self {
        let state = match name {
            Some(name) => names(out).join(name.as_str()),
            None => out.join(STATE),
        };
        Self { out: out.into(), name: name.cloned(), state }
    }

    /// The name of the set.
    pub fn name(&self) -> Option<&SetName> {
        self.name.as_ref()
    }

    /// The directory with the states of all named sets.
    pub fn names(&self) -> PathBuf {
        names(&self.out)
    }

    /// The directories that contain the state of the set, outermost first, and the state itself.
    pub fn state_path(&self) -> Vec<PathBuf> {
        let mut path: Vec<_> =
            self.state.ancestors().take_while(|&above| above != self.out).map(Path::to_owned).collect();
        path.reverse();
        path
    }

    /// The output directory.
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// The directory with the state of the set.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The file that exists during a switch.
    pub fn switch_file(&self) -> PathBuf {
        self.file(switch_file(self.name()))
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
            Record::Staged(run) => self.all_staging().join(run).join(MANIFEST),
        }
    }

    /// The directory of the manifests of earlier sets.
    pub fn sets(&self) -> PathBuf {
        self.state.join(SETS)
    }

    /// The directory of the staging directories of all runs.
    pub fn all_staging(&self) -> PathBuf {
        self.state.join(STAGING)
    }

    /// The staging directory of `run`.
    pub fn staging(&self, run: &str) -> PathBuf {
        self.all_staging().join(run)
    }

    /// The directory of the copies that are kept for `reason`.
    pub fn backups(&self, reason: BackupReason) -> PathBuf {
        self.state.join(match reason {
            BackupReason::Damaged => "damaged",
            BackupReason::TakenOver => "taken-over",
        })
    }
}

/// The file that exists while a switch of the set without a name is not complete.
const SWITCH_FILE: &str = ".sitemill-switch";

/// The file that exists while a switch of the set `name` is not complete, for users who may not read its journal.
pub fn switch_file(name: Option<&SetName>) -> String {
    match name {
        Some(name) => format!("{SWITCH_FILE}-{name}"),
        None => SWITCH_FILE.into(),
    }
}

/// Whether the [`switch_file`] of any set has the name `file`.
pub fn is_switch_file(file: &str) -> bool {
    file.strip_prefix(SWITCH_FILE).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// In staging: the file that replaces the damaged sitemap `file`.
pub fn mended(file: &str) -> String {
    format!("{file}.mended")
}

/// In staging: the second name of the file that `file` replaces.
pub fn replaced(file: &str) -> String {
    format!("{file}.replaced")
}

/// In staging: the temporary name of `file` until it is complete. Each attempt has its own `random` number.
pub fn attempt(file: &str, random: u64) -> String {
    format!("{file}.{random:016x}.attempt")
}

/// The name of a copy until it is complete and gets the name `path`.
pub fn part(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

fn names(out: &Path) -> PathBuf {
    out.join(STATE).join(NAMES)
}

/// Whether the directory `state` has the state of a set in it, or those of named sets, and not only the name.
pub fn is_state_of_set(state: &Path) -> bool {
    [MANIFEST, JOURNAL, LOCK, NAMES].iter().any(|name| state.join(name).exists())
}

/// The output directory of a manifest, and the name of its set. A manifest elsewhere belongs to the directory that contains it.
pub fn set_of(manifest: &Path) -> (&Path, Option<SetName>) {
    let up = |levels: usize| manifest.ancestors().nth(levels).unwrap_or(Path::new(""));
    let is_called = |levels: usize, name: &str| up(levels).file_name().is_some_and(|there| there == name);
    // The set whose state is this many levels up.
    let at = |state: usize| {
        if is_called(state, STATE) {
            return Some((up(state + 1), None));
        }
        let name = up(state).file_name()?.to_str()?.parse().ok()?;
        (is_called(state + 1, NAMES) && is_called(state + 2, STATE)).then(|| (up(state + 3), Some(name)))
    };
    let elsewhere = if is_called(1, SETS) { up(3) } else { up(1) };
    let kept = || if is_called(1, SETS) { at(2) } else { None };
    let (directory, name) = at(1).or_else(kept).unwrap_or((elsewhere, None));
    (if directory.as_os_str().is_empty() { Path::new(".") } else { directory }, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_manifest_leads_to_its_set() {
        for (manifest, directory, name) in [
            ("out/.sitemill/manifest.json", "out", None),
            ("out/.sitemill/sets/123-4.json", "out", None),
            (".sitemill/manifest.json", ".", None),
            (".sitemill/sets/123-4.json", ".", None),
            ("copies/manifest.json", "copies", None),
            ("manifest.json", ".", None),
            ("/srv/a.example/.sitemill/manifest.json", "/srv/a.example", None),
            ("out/.sitemill/names/blog/manifest.json", "out", Some("blog")),
            ("out/.sitemill/names/blog/sets/123-4.json", "out", Some("blog")),
            (".sitemill/names/sets/manifest.json", ".", Some("sets")),
            (".sitemill/names/sets/sets/123-4.json", ".", Some("sets")),
            ("names/blog/manifest.json", "names/blog", None),
        ] {
            let name = name.map(|name| name.parse().unwrap());
            assert_eq!(set_of(Path::new(manifest)), (Path::new(directory), name), "{manifest}");
        }
    }

    #[test]
    fn the_state_of_a_named_set_is_below_that_of_the_directory() {
        let blog: SetName = "blog".parse().unwrap();
        for out in ["out", ".", "/"] {
            let below = |path: &str| Path::new(out).join(path);
            assert_eq!(SetPaths::of(out.as_ref(), None).state_path(), [below(".sitemill")]);
            let named = SetPaths::of(out.as_ref(), Some(&blog));
            let path = [".sitemill", ".sitemill/names", ".sitemill/names/blog"];
            assert_eq!(named.state_path(), path.map(below));
            assert_eq!(named.file("a"), below("a"));
        }
    }
}
