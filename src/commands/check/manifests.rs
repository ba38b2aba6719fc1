//! The manifests that `build` has written for a set. They tell which files belong together, also while a run switches to other
//! ones.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::mem;
use std::path::Path;

use crate::clean::scope::ScopeRule;
use crate::error::{Error, ErrorKind, Result, message};
use crate::limits::Protocol;
use crate::place::{self, PlaceFile, Record, View, switch_file};
use crate::set::manifest::{Manifest, Role};
use crate::set::name::robots_file;
use crate::set::publish::check_is_current;

/// Maximum bytes of a manifest: about 300 bytes per sitemap, for a million sitemaps. It may be hostile like any other file.
const MANIFEST_BYTES_MAX: u64 = 300_000_000;

/// The manifests of a set.
pub(crate) struct Manifests {
    /// That of the live set; `None` if there is none.
    pub live: Result<Option<Manifest>>,
    /// The journal, if a switch has begun and is not complete: the manifest of the set that is to be live. [`ErrorKind::Busy`] if
    /// there is one that may not be read.
    next: Result<Option<Manifest>>,
    /// The identity of the lines for robots.txt, which every switch that changes index files replaces last, if the manifests may
    /// not be read.
    lines: Option<String>,
}

impl Manifests {
    /// The manifests of files that were given individually.
    pub const NONE: Self = Self { live: Ok(None), next: Ok(None), lines: None };

    /// Reads the manifests of the set that `view` shows.
    pub fn read(view: &dyn View) -> Self {
        // The journal first, because it becomes the live manifest.
        let next = match read(view, Role::Journal, &Record::Journal) {
            // Other users see only that it exists.
            Err(error) if error.kind() == ErrorKind::Permission => {
                let mark = view.look_up(switch_file(view.name()).as_ref());
                if mark.is_ok_and(|found| found.is_some()) { Err(unfinished(view)) } else { Ok(None) }
            }
            read => read,
        };
        let live = read_manifest(view);
        let is_private = live.as_ref().is_err_and(|error| error.kind() == ErrorKind::Permission);
        let lines = is_private.then(|| view.identity(robots_file(view.name()).as_ref())).flatten();
        Self { live, next, lines }
    }

    /// The journal, if there is one that can be read.
    pub fn next(&self) -> Option<&Manifest> {
        self.next.as_ref().ok()?.as_ref()
    }

    /// The manifests that can be read.
    pub fn all(&self) -> impl Iterator<Item = &Manifest> {
        self.live.iter().flatten().chain(self.next())
    }

    /// Whether no switch is under way: there is no journal.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub fn are_settled(&mut self) -> Result<bool> {
        self.take_damage(|set| &mut set.next)?;
        Ok(matches!(self.next, Ok(None)))
    }

    /// Whether a switch is under way whose journal may not be read, so that it is unknown which files belong together.
    pub fn are_hidden(&self) -> bool {
        self.next.as_ref().is_err_and(|error| error.kind() == ErrorKind::Busy)
    }

    /// Checks that no manifest is damaged, and that of the live set in the place of `view` is not that of an earlier set. Those
    /// that may not be read are not.
    ///
    /// # Errors
    /// If one is.
    pub fn check_intact(&mut self, view: Option<&dyn View>) -> Result<()> {
        self.take_damage(|set| &mut set.live)?;
        self.take_damage(|set| &mut set.next)?;
        let (Some(view), Ok(Some(live))) = (view, &self.live) else { return Ok(()) };
        match check_is_current(view, live) {
            Err(error) if error.kind() == ErrorKind::Permission => Ok(()),
            checked => checked,
        }
    }

    fn take_damage(&mut self, of: fn(&mut Self) -> &mut Result<Option<Manifest>>) -> Result<()> {
        let read = of(self);
        match read {
            Err(error) if !matches!(error.kind(), ErrorKind::Permission | ErrorKind::Busy) => {
                mem::replace(read, Ok(None)).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Whether the manifest of the live set is there. A copy may lack it.
    pub fn has_live(&self) -> bool {
        matches!(self.live, Ok(Some(_)))
    }

    /// Whether runs were in the place of `view`, and none has published a set. Perhaps the first one is active.
    pub fn are_awaited(&self, view: &dyn View) -> bool {
        let has_none = matches!((&self.live, &self.next), (Ok(None), Ok(None)));
        // With earlier sets, the manifest of the live one is lost.
        has_none && view.has_state().unwrap_or(false) && view.kept().is_ok_and(|kept| kept.is_empty())
    }

    /// The index files of earlier sets that still exist; `None` if that is unknown, as for a copy without its manifest.
    pub fn old_indexes(&self) -> Option<HashSet<String>> {
        let live = self.live.as_ref().ok()?.as_ref()?;
        Some(live.superseded_indexes.iter().map(|old| old.file.clone()).collect())
    }

    /// Whether `index` is an index file of the live set.
    pub fn has_live_index(&self, index: &OsStr) -> bool {
        self.live.iter().flatten().any(|set| set.indexes.iter().any(|file| index == file.as_str()))
    }

    /// Whether a switch that is not complete adds, replaces or removes `index`. The robots lines may name it or not.
    pub fn is_in_switch(&self, index: &OsStr) -> bool {
        self.next().is_some() && self.all().any(|set| has_index(set, index))
    }

    /// The sitemaps that a switch which is not complete replaces or removes: their URLs may be in other sitemaps of the next set.
    pub fn replaced(&self) -> impl Iterator<Item = &str> {
        self.of_switch(|set| set.sitemaps.iter().map(|sitemap| &*sitemap.file), false)
    }

    /// The sitemaps that a switch which is not complete keeps: an index file of the live set and one of the next set may list them.
    pub fn kept(&self) -> impl Iterator<Item = &str> {
        self.of_switch(|set| set.sitemaps.iter().map(|sitemap| &*sitemap.file), true)
    }

    /// The URLs of the sitemaps from elsewhere that such a switch keeps.
    pub fn kept_external(&self) -> impl Iterator<Item = &str> {
        self.of_switch(|set| set.also.iter().map(|also| &*also.loc), true)
    }

    /// The files of the live set that the next one has, too, or has not; nothing unless a switch is not complete.
    fn of_switch<'s, I: Iterator<Item = &'s str>>(
        &'s self,
        of: impl Fn(&'s Manifest) -> I,
        is_kept: bool,
    ) -> impl Iterator<Item = &'s str> {
        let live = self.live.iter().flatten().filter(|_| self.next().is_some());
        let next: HashSet<&str> = self.next().into_iter().flat_map(&of).collect();
        live.flat_map(of).filter(move |one| next.contains(one) == is_kept)
    }

    /// Which URLs the set may list. While a switch is not complete, these are the URLs that the live set or the next one may list.
    pub fn scope(&self) -> ScopeRule {
        self.all().map(|set| set.scope.parse().unwrap_or_default()).max().unwrap_or_default()
    }

    /// The protocol of the sets that list `index` as an index file, if none of them is of `protocol`.
    pub fn other_protocol(&self, index: &OsStr, protocol: Protocol) -> Option<&str> {
        let is_of = |set: &&Manifest| set.indexes.iter().any(|file| index == file.as_str());
        let mut protocols = self.all().filter(is_of).map(|set| &*set.protocol);
        let (first, protocol) = (protocols.next()?, protocol.to_string());
        (first != protocol && protocols.all(|other| other != protocol)).then_some(first)
    }

    /// Whether a run has begun or completed a switch since the manifests were read.
    pub fn are_outdated(&self, view: &dyn View) -> bool {
        let now = Self::read(view);
        let is_same_to_others = self.are_hidden() == now.are_hidden() && self.lines == now.lines;
        self.runs() != now.runs() || !is_same_to_others
    }

    fn runs(&self) -> [Option<&str>; 2] {
        let live = self.live.as_ref().ok().and_then(Option::as_ref);
        [live, self.next()].map(|set| set.map(|set| &*set.run))
    }
}

/// The error for a switch of the set of `view` that is not complete.
pub(super) fn unfinished(view: &dyn View) -> Error {
    let words = "a switch to another set has begun and is not complete; try again, or if no run is active, complete it with the next build or rollback";
    Error::new(ErrorKind::Busy, message!(view.root(), ": {words}"))
}

/// Which URLs the sets that `files` belong to may list, as their manifests say; `None` if that is unknown, because a manifest
/// cannot be read.
pub fn scope_of_files(files: &[PlaceFile]) -> Option<ScopeRule> {
    let mut places: BTreeMap<&Path, (&dyn View, HashSet<&OsStr>)> = BTreeMap::new();
    for file in files {
        let (_, names) = places.entry(file.view().root()).or_insert_with(|| (file.view(), HashSet::new()));
        names.insert(file.name());
    }
    let mut scope = ScopeRule::default();
    for (view, names) in places.into_values() {
        for set in place::sets_in(view, None).ok()? {
            let manifests = Manifests::read(&*set);
            manifests.live.as_ref().ok()?;
            let is_named = |file: &String| names.contains(OsStr::new(file));
            let sitemaps = |set: &Manifest| set.sitemaps.iter().any(|sitemap| is_named(&sitemap.file));
            if manifests.all().any(|set| indexes(set).any(is_named) || sitemaps(set)) {
                scope = scope.max(manifests.scope());
            }
        }
    }
    Some(scope)
}

/// Whether `index` is one of the [`indexes`] of `set`.
pub(super) fn has_index(set: &Manifest, index: &OsStr) -> bool {
    indexes(set).any(|file| index == file.as_str())
}

/// The index files of `set`, and of earlier sets that it remembers.
pub(super) fn indexes(set: &Manifest) -> impl Iterator<Item = &String> {
    set.indexes.iter().chain(set.superseded_indexes.iter().map(|old| &old.file))
}

/// Reads the manifest of the live set, or returns `None` if there is none.
///
/// # Errors
/// If it is damaged, or cannot be read; [`ErrorKind::Permission`] if we may not know whether there is one.
pub(super) fn read_manifest(view: &dyn View) -> Result<Option<Manifest>> {
    read(view, Role::Live, &Record::Live)
}

fn read(view: &dyn View, role: Role, record: &Record) -> Result<Option<Manifest>> {
    match view.look_up_record(record) {
        Ok(Some(found)) if found.is_file && found.bytes <= MANIFEST_BYTES_MAX => {
            Manifest::read_as(role, view, record)
        }
        Ok(Some(_)) => Err(Error::data(message!(&*view.record_path(record), ": is not a manifest"))),
        Err(error) if error.kind() == ErrorKind::Permission => Err(error),
        Ok(None) | Err(_) => Ok(None),
    }
}
