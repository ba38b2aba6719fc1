//! A view of a bucket: reads, changes nothing and claims nothing.
//!
//! Published files are listed once, on first use, because one request for each of thousands of sitemaps would be slow. The list is
//! updated when this process uploads or removes a file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::area::Area;
use super::claim::{ClaimedJournal, is_active};
use super::journal::{Journal, State};
use super::ledger::Ledger;
use super::state_object::{StateObject, state_at};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, message};
use crate::place::interface::{Found, Listed, View};
use crate::place::record::{Record, Stored, Version};
use crate::place::set_name::SetName;
use crate::place::set_paths::SetPaths;
use crate::store::{Bucket, Failure, Level, Location, Meta, Object, store_settings};

/// The journal: claims and decided switches.
const JOURNAL: &str = "journal.json";
/// The ledger: the ETags of sitemaps.
const LEDGER: &str = "ledger.json";
/// An object for trying conditional uploads in the bucket of the files.
const CONDITION_PROBE: &str = "probe.json";

/// A read-only view of a set in a bucket. Clones are cheap and share the list of published files.
#[derive(Debug, Clone)]
pub struct BucketView {
    root: PathBuf,
    files: Area,
    state: Area,
    paths: SetPaths,
    listing: Arc<Mutex<Option<Listing>>>,
    ledger: Arc<OnceLock<Option<Arc<Ledger>>>>,
    /// Whether published files are listed. Otherwise, each is looked up with its own request.
    lists: bool,
    /// The journal, if this run has claimed the place.
    claimed: Option<ClaimedJournal>,
}

/// The published files, and the names of the places below.
#[derive(Debug)]
struct Listing {
    objects: BTreeMap<String, Object>,
    prefixes: Vec<String>,
}

impl BucketView {
    /// The set `name`, or the unnamed set, at `location`.
    ///
    /// # Errors
    /// If there are no credentials, or the settings of the process are invalid.
    pub fn of(location: Location, name: Option<&SetName>) -> Result<Self> {
        let state = match store_settings().state {
            None => location.clone(),
            Some(path) => state_at(&path)?,
        };
        let (files, state) = (Area::at(location)?, Area::at(state)?);
        Ok(Self::new(files, state, name))
    }

    pub(super) fn new(files: Area, state: Area, name: Option<&SetName>) -> Self {
        let (root, paths) = (files.location.path(), SetPaths::of(&state.location.path(), name));
        Self {
            root,
            files,
            state,
            paths,
            listing: Arc::default(),
            ledger: Arc::default(),
            lists: true,
            claimed: None,
        }
    }

    /// Returns the same view, but without the list: each file is looked up with its own request.
    pub fn without_list(self) -> Self {
        Self { lists: false, ..self }
    }

    /// Turns this into the view of the run that has claimed the place.
    pub(super) fn claimed(self, journal: ClaimedJournal) -> Self {
        // Read before the run makes another manifest live: with the time of that one, it would vouch for every change so far.
        let _ = self.ledger();
        Self { claimed: Some(journal), ..self }
    }

    /// Returns the same view for a run: its requests are abandoned a few seconds after `stop` is raised.
    pub fn for_run(mut self, stop: &Stop) -> Self {
        for area in [&mut self.files, &mut self.state] {
            area.bucket = area.bucket.for_run(stop);
        }
        self
    }

    /// The view of a site below this place, with the set of the same name.
    pub fn site(&self, site: &str) -> Self {
        Self {
            lists: self.lists,
            ..Self::new(self.files.below(site), self.state.below(site), self.paths.name())
        }
    }

    /// The bucket of the published files.
    pub(super) fn bucket(&self) -> &Bucket {
        &self.files.bucket
    }

    /// The key of a published file.
    pub(super) fn key(&self, file: &str) -> String {
        self.files.below(file).location.key
    }

    /// The paths of the state.
    pub(super) fn paths(&self) -> &SetPaths {
        &self.paths
    }

    /// An object of the state.
    pub(super) fn object(&self, path: &Path) -> StateObject {
        StateObject { bucket: self.state.bucket.clone(), key: self.state.key(path), path: path.into() }
    }

    /// The journal.
    pub(super) fn journal(&self) -> StateObject {
        self.object(&self.paths.state().join(JOURNAL))
    }

    /// The journal of all sites in the parent, if this place may be one of them.
    pub(super) fn journal_of_sites(&self) -> Option<StateObject> {
        let parent = self.state.location.path();
        let parent = parent.parent().filter(|_| !self.state.location.key.is_empty())?;
        Some(self.object(&SetPaths::of(parent, self.paths.name()).state().join(JOURNAL)))
    }

    /// An object for trying uploads in the bucket of the files; `None` if the state is in the same bucket. Its name is always the
    /// same, so that a run that is killed leaves no second one.
    pub(super) fn probe_of_files(&self) -> Option<StateObject> {
        let path = SetPaths::of(&self.root, self.paths.name()).state().join(CONDITION_PROBE);
        let key = self.files.key(&path);
        let is_apart = self.files.location.root != self.state.location.root;
        is_apart.then(|| StateObject { bucket: self.files.bucket.clone(), key, path })
    }

    /// The manifest of the live set.
    pub(super) fn live_manifest(&self) -> StateObject {
        self.object(&self.paths.record(&Record::Live))
    }

    /// The object with the ledger.
    pub(super) fn ledger_object(&self) -> StateObject {
        self.object(&self.paths.state().join(LEDGER))
    }

    /// The time by the clock of the store of the state, in nanoseconds since 1970.
    pub(super) fn now(&self) -> i64 {
        self.state.bucket.now()
    }

    /// The ledger, read on first use; `None` if it cannot be read.
    pub(super) fn ledger(&self) -> Option<Arc<Ledger>> {
        let read = || {
            let live = self.live_manifest();
            // Listings have more precise times than responses about one object.
            let (state, file) = live.key.rsplit_once('/').unwrap_or(("", &live.key));
            let listed = live.bucket.list_level(state).ok()?.objects;
            let live_since = listed.iter().find(|(name, _)| name == file)?.1.modified;
            let ledger = self.ledger_object().read().ok()?;
            Some(Arc::new(Ledger::from_json(ledger.as_ref().map(|(bytes, _)| &**bytes), live_since)))
        };
        self.ledger.get_or_init(read).clone()
    }

    /// The published files and places below, listed on first use.
    fn listing(&self) -> Result<MutexGuard<'_, Option<Listing>>> {
        let mut listing = self.lock();
        if listing.is_none() {
            let level = self.files.bucket.list_level(&self.files.location.key);
            let Level { objects, prefixes } = level.map_err(|failure| match self.claimed {
                Some(_) => failure.into_error_of_output(&self.root, "could not be listed"),
                None => failure.into_error(&self.root, "could not be listed"),
            })?;
            *listing = Some(Listing { objects: objects.into_iter().collect(), prefixes });
        }
        Ok(listing)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Listing>> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the list after `file` was uploaded as `object`, or removed.
    pub(super) fn note(&self, file: &str, object: Option<Object>) {
        if let Some(listing) = &mut *self.lock() {
            match object {
                Some(object) => _ = listing.objects.insert(file.into(), object),
                None => _ = listing.objects.remove(file),
            }
        }
    }

    /// Adds a file of `bytes` bytes that this process has uploaded. Its time is unknown, so it proves nothing about the content.
    pub(super) fn note_put(&self, file: &str, bytes: u64, Meta { tag, version }: Meta) {
        self.note(file, Some(Object { bytes, tag, version, modified: i64::MAX }));
    }

    /// Discards the list, because other processes may have uploaded files.
    pub(super) fn forget(&self) {
        *self.lock() = None;
    }

    /// The published object `file`.
    pub(super) fn published(&self, file: &str) -> Result<Option<Object>> {
        if self.lists {
            return Ok(self.listing()?.as_ref().and_then(|listing| listing.objects.get(file).cloned()));
        }
        self.files.bucket.head(&self.key(file)).map_err(|failure| self.unreadable(file, failure))
    }

    /// All published objects.
    pub(super) fn all_published(&self) -> Result<BTreeMap<String, Object>> {
        Ok(self.listing()?.as_ref().map(|listing| listing.objects.clone()).unwrap_or_default())
    }

    /// The path of `record`. The record of the journal is the staged manifest of a decided switch; `None` if no switch is decided.
    fn record(&self, record: &Record) -> Result<Option<PathBuf>> {
        if *record != Record::Journal {
            return Ok(Some(self.paths.record(record)));
        }
        let journal = match self.claimed.as_ref().and_then(ClaimedJournal::get) {
            Some(journal) => Some(journal),
            None => {
                let read = self.journal().read()?;
                read.and_then(|(bytes, _)| Journal::from_json(&bytes))
            }
        };
        let decided = journal.filter(|journal| journal.state == State::Decided);
        Ok(decided.map(|journal| self.paths.record(&Record::Staged(journal.run.into()))))
    }

    /// The staging of all runs.
    pub(super) fn all_staging(&self) -> Result<Level> {
        self.level_of_state(&self.paths.all_staging())
    }

    fn unreadable(&self, file: &str, failure: Failure) -> Error {
        failure.into_error(&self.path(file.as_ref()), "could not be read")
    }

    /// The error of this `kind` for an object `file` that does not exist.
    fn gone(&self, kind: ErrorKind, file: &str) -> Error {
        let is_listed = self.lock().as_ref().is_some_and(|listing| listing.objects.contains_key(file));
        let removed = "was removed while it was being read; run again";
        let words = if is_listed { removed } else { "there is no such object" };
        Error::new(kind, message!(&*self.path(file.as_ref()), ": {words}"))
    }

    fn level_of_state(&self, path: &Path) -> Result<Level> {
        let object = self.object(path);
        let level = object.bucket.list_level(&object.key);
        level.map_err(|failure| failure.into_error(path, "could not be listed"))
    }

    fn names_below(&self, path: &Path, prefixes: bool) -> Result<Vec<String>> {
        let level = self.level_of_state(path)?;
        Ok(if prefixes { level.prefixes } else { level.objects.into_iter().map(|(name, _)| name).collect() })
    }
}

impl View for BucketView {
    fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, file: &OsStr) -> PathBuf {
        self.files.location.path().join(file)
    }

    fn record_path(&self, record: &Record) -> PathBuf {
        match record {
            Record::Journal => self.journal().path,
            _ => self.paths.record(record),
        }
    }

    /// A prefix exists as long as anything is below it.
    fn exists(&self) -> Result<bool> {
        let is_published = |listing: &Listing| !listing.objects.is_empty() || !listing.prefixes.is_empty();
        Ok(self.has_state()? || self.listing()?.as_ref().is_some_and(is_published))
    }

    fn share(&self) -> Arc<dyn View> {
        Arc::new(self.clone())
    }

    fn below(&self, name: &OsStr) -> Arc<dyn View> {
        Arc::new(self.site(&name.to_string_lossy()))
    }

    fn name(&self) -> Option<&SetName> {
        self.paths.name()
    }

    fn named(&self, name: Option<&SetName>) -> Arc<dyn View> {
        let paths = SetPaths::of(self.paths.out(), name);
        Arc::new(Self { paths, ledger: Arc::default(), claimed: None, ..self.clone() })
    }

    fn names(&self) -> Result<Vec<SetName>> {
        let names = self.names_below(&self.paths.names(), true)?;
        let mut names: Vec<SetName> = names.iter().filter_map(|name| name.parse().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn has_state(&self) -> Result<bool> {
        Ok(self.live_manifest().read()?.is_some() || self.journal().read()?.is_some())
    }

    fn look_up_record(&self, record: &Record) -> Result<Option<Found>> {
        let Some(path) = self.record(record)? else { return Ok(None) };
        let found = self.object(&path).look_up()?;
        Ok(found.map(|found| Found { is_file: true, bytes: found.bytes }))
    }

    fn read_record(&self, record: &Record) -> Result<Option<Stored>> {
        let Some(path) = self.record(record)? else { return Ok(None) };
        let read = self.object(&path).read()?;
        Ok(read.map(|(bytes, _)| Stored { version: Version::of(&bytes), bytes: bytes.into() }))
    }

    fn kept(&self) -> Result<Vec<Record>> {
        let names = self.names_below(&self.paths.sets(), false)?;
        Ok(names.into_iter().map(|name| Record::Kept(name.into())).collect())
    }

    fn runs(&self) -> Vec<OsString> {
        // Users who may read a set may not be permitted to list the runs.
        self.all_staging().unwrap_or_default().prefixes.into_iter().map(OsString::from).collect()
    }

    fn is_active(&self, run: &str) -> bool {
        is_active(self.journal(), run).unwrap_or(false)
    }

    fn list(&self) -> Result<Vec<Listed>> {
        let listing = self.listing()?;
        let Some(listing) = &*listing else { return Ok(Vec::new()) };
        let files = listing.objects.keys().map(|name| (name, true));
        let places = listing.prefixes.iter().map(|name| (name, false));
        let listed =
            |(name, is_file): (&String, bool)| Listed { name: name.into(), is_file, is_directory: !is_file };
        Ok(files.chain(places).map(listed).collect())
    }

    fn look_up(&self, file: &OsStr) -> Result<Option<Found>> {
        let found = self.published(&file.to_string_lossy())?;
        Ok(found.map(|object| Found { is_file: true, bytes: object.bytes }))
    }

    fn identity(&self, file: &OsStr) -> Option<String> {
        let object = self.published(&file.to_string_lossy()).ok()??;
        Some(format!("{:?} {:?} {}", object.tag, object.version, object.modified))
    }

    fn open(&self, file: &OsStr) -> Result<Box<dyn Read + Send>> {
        let name = file.to_string_lossy();
        let opened =
            self.files.bucket.open(&self.key(&name)).map_err(|failure| self.unreadable(&name, failure))?;
        opened.ok_or_else(|| self.gone(ErrorKind::Input, &name))
    }

    fn read(&self, file: &OsStr) -> Result<Vec<u8>> {
        let name = file.to_string_lossy();
        let read =
            self.files.bucket.read(&self.key(&name)).map_err(|failure| self.unreadable(&name, failure))?;
        Ok(read.ok_or_else(|| self.gone(ErrorKind::Io, &name))?.0.into())
    }

    fn is_as_published(&self, file: &OsStr, bytes: u64) -> Option<bool> {
        if !self.lists {
            return None;
        }
        let object = self.published(&file.to_string_lossy()).ok()?;
        let Some(object) = object.filter(|object| object.bytes == bytes) else { return Some(false) };
        self.ledger()?.vouches_for(&file.to_string_lossy(), &object).then_some(true)
    }
}
