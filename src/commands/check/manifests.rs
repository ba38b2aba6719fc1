//! The manifests that `build` has written for a set. They tell which files belong together, also while a run switches to other
//! ones.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use crate::clean::scope::ScopeRule;
use crate::error::{Error, ErrorKind, Result, message};
use crate::limits::Protocol;
use crate::place::{self, PlaceFile, Record, View};
use crate::set::manifest::{Manifest, Role};

/// Maximum bytes of a manifest: about 300 bytes per sitemap, for a million sitemaps. It may be hostile like any other file.
const MANIFEST_BYTES_MAX: u64 = 300_000_000;

/// The manifests of a set.
pub(crate) struct Manifests {
    /// That of the live set; `None` if there is none.
    pub live: Result<Option<Manifest>>,
    /// The journal, if a switch has begun and is not complete: the manifest of the set that is to be live.
    pub next: Option<Manifest>,
}

impl Manifests {
    /// Those of files that were named individually.
    pub const NONE: Self = Self { live: Ok(None), next: None };

    /// Reads the manifests of the set that `view` shows.
    pub fn read(view: &dyn View) -> Self {
        // The journal first, because it becomes the live manifest. If it is damaged, `status` says so.
        let next = read(view, Role::Journal, &Record::Journal).unwrap_or(None);
        Self { live: read_manifest(view), next }
    }

    /// Those that can be read.
    pub fn all(&self) -> impl Iterator<Item = &Manifest> {
        self.live.iter().flatten().chain(&self.next)
    }

    /// Whether the manifest of the live set is there. A copy may lack it.
    pub fn has_live(&self) -> bool {
        matches!(self.live, Ok(Some(_)))
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
        self.next.is_some() && self.all().any(|set| has_index(set, index))
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

    /// What the live set has and the next one has, too, or has not; nothing unless a switch is not complete.
    fn of_switch<'s, I: Iterator<Item = &'s str>>(
        &'s self,
        of: impl Fn(&'s Manifest) -> I,
        is_kept: bool,
    ) -> impl Iterator<Item = &'s str> {
        let live = self.live.iter().flatten().filter(|_| self.next.is_some());
        let next: HashSet<&str> = self.next.iter().flat_map(&of).collect();
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
        self.runs() != Self::read(view).runs()
    }

    fn runs(&self) -> [Option<&str>; 2] {
        let live = self.live.as_ref().ok().and_then(Option::as_ref);
        [live, self.next.as_ref()].map(|set| set.map(|set| &*set.run))
    }
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
