//! A set: which files belong together, and where they are published.

mod copies;
mod foreign;
mod listing;
mod places;
mod robots;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::finding::{Finding, Findings};
use super::manifests::{Manifests, has_index, indexes, scope_of_files, unfinished};
use super::rules::Rule;
use crate::clean::scope::ScopeRule;
use crate::error::{Error, ErrorKind, Result, message};
use crate::escape::shown;
use crate::place::{Listed, PlaceFile, View};
use crate::set::name::{Stem, is_sitemap_file, robots_file};
use copies::{is_same, plain_name};
use listing::{index_stem, is_before, is_unpublished, names};

/// How often, and at which interval, a command that reads a set looks whether a switch is complete. Switches in a directory take
/// milliseconds.
const SWITCH_TRIES: u32 = 20;
const SWITCH_INTERVAL: Duration = Duration::from_millis(100);

/// Why a place is refused whose first run has not published its set.
const UNPUBLISHED: &str =
    "contains no published set; any sitemaps there belong to a run that has not published them yet";

/// Files that are checked together: those of a place, or files that were named individually.
pub(crate) struct Set {
    /// The place, unless files were named individually.
    pub view: Option<Arc<dyn View>>,
    /// The URL of the place, if it is known.
    pub base: Option<String>,
    /// The files to start from, in order: index files, or sitemaps if there are none.
    pub files: Vec<PlaceFile>,
    /// Whether there are robots lines, which name these files.
    pub has_robots: bool,
    /// Findings about the robots lines, or about sitemaps that are links.
    pub findings: Findings,
    /// Its manifests.
    pub manifests: Manifests,
    /// Compressed copies of files, by path, each with the file that is read instead.
    copies: HashMap<PathBuf, (PlaceFile, PlaceFile)>,
    /// XML files and feeds next to the sitemaps that are most likely none, or no part of the set. They are not read.
    pub others: Vec<PlaceFile>,
}

/// Tries to `read` something of a place until no switch is in the way, for a moment. `read` returns `None` if one is.
///
/// # Errors
/// [`ErrorKind::Busy`] if the switch is still not complete; otherwise as `read`.
pub(crate) fn settled<T>(view: &dyn View, read: impl Fn() -> Result<Option<T>>) -> Result<T> {
    for _ in 0..SWITCH_TRIES {
        if let Some(found) = read()? {
            return Ok(found);
        }
        thread::sleep(SWITCH_INTERVAL);
    }
    Err(unfinished(view))
}

impl Set {
    /// Creates a set of single `files`, which are published below `base` if it is known.
    pub fn of_files(files: Vec<PlaceFile>, base: Option<&str>, kept_max: usize) -> Self {
        let findings = Findings::new(String::new(), kept_max);
        let (base, manifests) = (base.map(str::to_owned), Manifests::NONE);
        let (copies, others) = Default::default();
        Self { view: None, base, files, has_robots: false, findings, manifests, copies, others }
    }

    /// Returns the set in a place: the index files that its robots lines name; without robots lines, those that its manifest names
    /// or, in a copy without manifests, all that no other set has; without index files, all its sitemaps.
    ///
    /// # Errors
    /// If it cannot be read, or holds no set.
    pub fn of_place(view: Arc<dyn View>, base: Option<&str>, kept_max: usize) -> Result<Self> {
        loop {
            let set = Self::read(Arc::clone(&view), base, kept_max)?;
            // If a run has switched meanwhile, the files may be those of two sets.
            if set.findings.counts.total() == 0 || !set.manifests.are_outdated(&*view) {
                return Ok(set);
            }
        }
    }

    /// Returns the set in a place, for commands that read it without checking it. Waits a moment for a switch that is not complete.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if it is still not complete: the index files are those of two sets. Also if its journal is damaged;
    /// otherwise as [`of_place`](Self::of_place).
    pub fn to_read(view: &Arc<dyn View>) -> Result<Self> {
        settled(&**view, || {
            let mut set = Self::of_place(Arc::clone(view), None, 1)?;
            Ok(if set.manifests.are_settled()? { Some(set) } else { None })
        })
    }

    /// Returns the set in a place, to be checked. Waits a moment for a switch if this user may not read the journal, which says
    /// what the files of both sets are.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if that switch is still not complete. Otherwise as [`of_place`](Self::of_place).
    pub fn to_check(view: &Arc<dyn View>, base: Option<&str>, kept_max: usize) -> Result<Self> {
        settled(&**view, || {
            let set = Self::of_place(Arc::clone(view), base, kept_max)?;
            Ok(Some(set).filter(|set| !set.manifests.are_hidden()))
        })
    }

    /// Checks that no run has switched to another set since this one was found.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] if one has: index files that were read meanwhile may be those of two sets.
    pub fn check_current(&self) -> Result<()> {
        match self.view.as_ref().filter(|view| self.manifests.are_outdated(&***view)) {
            Some(view) => {
                let words = "another set was published while this one was read; try again";
                Err(Error::new(ErrorKind::Busy, message!(view.root(), ": {words}")))
            }
            None => Ok(()),
        }
    }

    fn read(view: Arc<dyn View>, base: Option<&str>, kept_max: usize) -> Result<Self> {
        let manifests = Manifests::read(&*view);
        let old = manifests.old_indexes();
        let is_old = |name: &str| old.as_ref().is_some_and(|old| old.contains(name));
        let mut names = names(&*view)?;
        names.retain(|listed| !listed.name.to_str().is_some_and(is_old));
        let mut set = Self::empty(&view, base, manifests, kept_max);
        if set.take_robots(&view)? {
            set.take_indexes_beside(&view, &names)?;
            return Ok(set);
        }
        set.findings = Findings::new(shown(view.root().as_os_str().as_encoded_bytes()), kept_max);
        if set.manifests.has_live() {
            let robots = PlaceFile::new(Arc::clone(&view), robots_file(view.name()));
            let words = || format!("{}: {}", robots.why_not_regular(), robots_file(view.name()));
            set.findings.push(None, Rule::Robots, words);
        }
        if set.take_indexes_of_manifests(&view, &names) {
            set.take_indexes_beside(&view, &names)?;
            return Ok(set);
        }
        let is_unpublished = is_unpublished(&*view, &set.manifests, &names);
        if is_unpublished {
            // These sitemaps are only a part of the set until a run publishes it.
            names.retain(|listed| !listed.name.to_str().is_some_and(is_sitemap_file));
        }
        set.take_by_names(&view, &names)?;
        match set.files.is_empty() && set.findings.loss.is_none() {
            false => Ok(set),
            true => {
                let what = match view.name() {
                    Some(name) => format!("contains no set {name}"),
                    None if is_unpublished => UNPUBLISHED.into(),
                    None => set.nothing(&*view),
                };
                Err(Error::data(message!(view.root(), ": {what}")))
            }
        }
    }

    /// Checks that a run has published what is in the place of `view`, in which no robots lines are.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if only runs were there that have not published a set; also if the place cannot be listed.
    pub fn check_published(view: &dyn View) -> Result<()> {
        match is_unpublished(view, &Manifests::read(view), &names(view)?) {
            true => Err(Error::data(message!(view.root(), ": {UNPUBLISHED}"))),
            false => Ok(()),
        }
    }

    /// Reports index files that belong to the set by their names and are not among its files, although no other set has them.
    fn take_indexes_beside(&mut self, view: &Arc<dyn View>, names: &[Listed]) -> Result<()> {
        let named: HashSet<&OsStr> = self.files.iter().map(PlaceFile::name).collect();
        let stem = Stem::of_set(view.name()).to_string();
        // Of a set with sections, each section has a stem of its own.
        let stems: HashSet<&str> = named.iter().filter_map(|name| index_stem(name)).chain([&*stem]).collect();
        let files = names.iter().filter(|listed| listed.is_file).map(|listed| &*listed.name);
        let own = files.filter(|name| index_stem(name).is_some_and(|stem| stems.contains(stem)));
        let mut unnamed: Vec<&OsStr> =
            own.filter(|index| !named.contains(index) && !self.manifests.is_in_switch(index)).collect();
        if !self.manifests.has_live() {
            // Those after the last named one may be old. The others are not: a set numbers its index files from 1.
            unnamed.retain(|index| named.iter().any(|named| is_before(index, named)));
        }
        // Servers send a compressed copy instead of the file.
        let file = |name: &OsStr| PlaceFile::new(Arc::clone(view), name);
        unnamed.retain(|index| {
            let plain = plain_name(index).map(OsStr::new).filter(|plain| named.contains(plain));
            !plain.is_some_and(|plain| is_same(&file(plain), &file(index)))
        });
        if !unnamed.is_empty() {
            let others = Self::others(&**view)?;
            unnamed.retain(|index| !others.iter().any(|other| other.has_index(index)));
        }
        self.take_unnamed(view, &unnamed);
        Ok(())
    }

    /// Takes the index files that the manifests of a set without robots lines name, in their order. Returns whether any is there:
    /// otherwise, what is left of the set are sitemaps.
    fn take_indexes_of_manifests(&mut self, view: &Arc<dyn View>, names: &[Listed]) -> bool {
        let there: HashMap<&OsStr, &Listed> = names.iter().map(|listed| (&*listed.name, listed)).collect();
        let mut seen = HashSet::new();
        let indexes = self.manifests.all().flat_map(|set| &set.indexes).filter(|file| seen.insert(*file));
        let indexes: Vec<String> = indexes.cloned().collect();
        let find = |file: &String| there.get(OsStr::new(file)).copied();
        if !indexes.iter().any(|file| find(file).is_some()) {
            return false;
        }
        for file in &indexes {
            match find(file) {
                Some(listed) => self.take(view, listed),
                // It adds and removes index files.
                None if self.manifests.next().is_some() => {}
                None => {
                    let words = format!("there is no such file: {}", shown(file.as_bytes()));
                    self.findings.push_loss(None, Rule::MissingFile, words);
                }
            }
        }
        true
    }

    /// Returns the files to start from, for commands that read the set without checking it.
    ///
    /// # Errors
    /// If a robots line is missing or invalid, because the file that it should name would be missed, or a sitemap is a link.
    pub fn files_to_read(&self) -> Result<&[PlaceFile]> {
        let Findings { kept, loss, .. } = &self.findings;
        let is_loss = |finding: &&Finding| finding.entry.is_some() || self.files.is_empty();
        match loss.as_ref().or_else(|| kept.first().filter(is_loss)) {
            Some(finding) => Err(Error::data(finding.to_string())),
            None => Ok(&self.files),
        }
    }

    /// Takes a sitemap or an index file of a place without robots lines, unless it is a link.
    fn take(&mut self, view: &Arc<dyn View>, listed: &Listed) {
        let file = PlaceFile::new(Arc::clone(view), &listed.name);
        if listed.is_file {
            self.files.push(file);
        } else {
            let words = format!("{}: {}", file.why_not_regular(), shown(listed.name.as_encoded_bytes()));
            self.findings.push_loss(None, Rule::MissingFile, words);
        }
    }

    /// A set in a place, without its files.
    fn empty(view: &Arc<dyn View>, base: Option<&str>, manifests: Manifests, kept_max: usize) -> Self {
        let robots = view.path(robots_file(view.name()).as_ref());
        let findings = Findings::new(shown(robots.as_os_str().as_encoded_bytes()), kept_max);
        let base = base.map(str::to_owned);
        let view = Some(Arc::clone(view));
        let (files, copies, others) = Default::default();
        Self { view, base, files, has_robots: false, findings, manifests, copies, others }
    }

    /// Which URLs it may list, if its directory is known: as its manifest says or, of files that were named individually, those of
    /// their sets. `None` if a manifest cannot be read.
    pub fn scope(&self) -> Option<ScopeRule> {
        match (&self.base, &self.view) {
            (None, _) => Some(self.manifests.scope()),
            (Some(_), Some(_)) => self.manifests.live.is_ok().then(|| self.manifests.scope()),
            (Some(_), None) => scope_of_files(&self.files),
        }
    }

    /// Whether the files to start from are index files that the manifest of the live set names.
    pub fn has_only_live_indexes(&self) -> bool {
        self.files.iter().all(|file| self.manifests.has_live_index(file.name()))
    }

    /// Whether robots lines or manifests name `index`.
    fn has_index(&self, index: &OsStr) -> bool {
        self.files.iter().any(|file| file.name() == index)
            || self.manifests.all().any(|set| has_index(set, index))
    }

    /// Whether robots lines or manifests name index files with `stem`, or it is that of the name of the set.
    fn has_stem(&self, wanted: &Stem) -> bool {
        let of_name = self.view.as_ref().map(|view| Stem::of_set(view.name()));
        let named = self.files.iter().map(PlaceFile::name);
        let known = self.manifests.all().flat_map(indexes).map(OsStr::new);
        named.chain(known).filter_map(stem).chain(of_name).any(|stem| stem == *wanted)
    }
}

/// Returns the stem of a sitemap or index file that `build` names, or of a compressed copy of an index file.
fn stem(name: &OsStr) -> Option<Stem> {
    let name = name.to_str()?;
    Stem::of_file(name).or_else(|| Stem::of_file(name.strip_suffix(".gz")?))
}
