//! The live set: which one it is, and which files belong to it.

use std::collections::HashSet;
use std::convert::Infallible;

use super::found_indexes::{FoundIndexes, first_unknown};
use super::resume::resume;
use crate::common::ordered::ordered;
use crate::error::{Error, Message, Result, Setting, is_url, message};
use crate::place::{Place, Published, Record, Version, View};
use crate::set::manifest::{Earlier, Manifest, Role, SupersededIndex};
use crate::set::name::is_sitemap_file;

/// The live set and the version of its manifest.
#[derive(Debug, Default)]
pub struct ReadLive {
    /// The set; `None` if there is none, or if its manifest cannot be used.
    pub set: Option<Manifest>,
    /// The version of its manifest; `None` if there is none.
    pub version: Option<Version>,
    /// Whether this run has completed the switch to it, which a dead run had begun.
    pub has_resumed_switch: bool,
}

impl ReadLive {
    /// The live set whose manifest was `read`.
    pub fn of(read: Option<(Manifest, Version)>) -> Self {
        let (set, version) = read.unzip();
        Self { set, version, has_resumed_switch: false }
    }
}

/// Completes the switch that a dead run has committed, if there is one, and reads the live set of a place from its manifest.
///
/// # Errors
/// If the manifest is damaged, or missing although earlier sets exist; if it cannot be read, or the switch cannot be completed.
pub fn resume_and_read(place: &dyn Place) -> Result<ReadLive> {
    let view = place.view();
    // First, because the journal becomes the live manifest. A dry run takes no lock, so another run may switch meanwhile.
    let next = Manifest::read_stored(view, &Record::Journal).map_err(|error| Role::Journal.explain(error));
    let live = Manifest::read_stored(view, &Record::Live).map_err(|error| Role::Live.explain(error))?;
    let live = ReadLive::of(live);
    let Some((next, version)) = next? else {
        // A set is only kept when another one has replaced it.
        match &live.set {
            None if !view.kept()?.is_empty() => return Err(lost(view)),
            None => {}
            Some(set) => check_is_last(view, set)?,
        }
        return Ok(live);
    };
    resume(place, live.set.as_ref(), &next)?;
    Ok(ReadLive { set: Some(next), version: Some(version), has_resumed_switch: true })
}

/// Checks that the manifest `live` is not one that a run would refuse because a later set is live. During a switch, that is
/// unknown.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if it is; also if a file cannot be read.
pub fn check_is_current(view: &dyn View, live: &Manifest) -> Result<()> {
    match view.look_up_record(&Record::Journal)? {
        Some(_) => Ok(()),
        None => check_is_last(view, live),
    }
}

/// Checks that nobody has restored the manifest `live` of an earlier run while a later set is live: the run would take files of
/// that set for those of somebody else, or never remove them.
///
/// A set has a manifest among those of earlier sets from the time when another run has prepared to replace it. That run may have
/// died before its switch, so this is no proof; an index file that lists a sitemap of another set is.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if a later set is certainly live; also if a file cannot be read.
fn check_is_last(view: &dyn View, live: &Manifest) -> Result<()> {
    if view.look_up_record(&Record::kept(&live.run))?.is_none() {
        return Ok(());
    }
    let superseded = live.superseded.iter().map(|old| &*old.file);
    let known: HashSet<&str> = live.sitemaps.iter().map(|sitemap| &*sitemap.file).chain(superseded).collect();
    let Some((index, sitemap)) = first_unknown(view, &known)? else { return Ok(()) };
    // A dry run takes no lock, so another run may have switched to that set meanwhile.
    if newest(view)?.is_none_or(|newest| newest.run != live.run) {
        return Ok(());
    }
    Err(Error::data(message!(
        &*view.record_path(&Record::Live),
        ": is that of an earlier set, although a later one is live: ",
        &*view.path(index.as_ref()),
        " lists {sitemap}; restore the manifest of the last run, or run build with ",
        Setting::IgnoreManifest,
        " to rebuild all sitemaps"
    )))
}

/// The set that is live, or will be once a switch that has begun is complete. `None` if there is none, or if its manifest cannot be
/// used. Completes nothing.
///
/// # Errors
/// If a file cannot be read.
pub fn newest(view: &dyn View) -> Result<Option<Manifest>> {
    // In the order in which a manifest moves, so that it is not missed.
    match Manifest::read_usable(view, &Record::Journal)? {
        None => Manifest::read_usable(view, &Record::Live),
        next => Ok(next),
    }
}

/// Whether the manifest of the live set is missing, and no journal replaces it, although runs were here and have left earlier sets
/// or index files. If that cannot be determined, it is not.
pub fn is_lost(view: &dyn View) -> bool {
    let is_missing = |record| matches!(view.look_up_record(&record), Ok(None));
    // A copy of the published files has no state.
    let has_set = || has_kept(view) || view.has_state().unwrap_or(false) && has_index_files(view);
    is_missing(Record::Live) && is_missing(Record::Journal) && has_set()
}

fn has_kept(view: &dyn View) -> bool {
    view.kept().is_ok_and(|kept| !kept.is_empty())
}

/// Whether there are index files like those of the set.
pub fn has_index_files(view: &dyn View) -> bool {
    FoundIndexes::read(view).is_ok_and(|found| !found.names.is_empty())
}

/// The advice for index files of a set without its manifest, if they are in a store: its state may be kept elsewhere.
pub fn if_state_is_elsewhere(view: &dyn View) -> Message {
    match is_url(view.root()) {
        true => message!(", give ", Setting::State, " if .sitemill of the set there is elsewhere"),
        false => Message::default(),
    }
}

/// The error for a set whose manifest is missing.
pub fn lost(view: &dyn View) -> Error {
    let (remains, other_state) = match has_kept(view) {
        true => ("earlier sets", Message::default()),
        false => ("index files of a set", if_state_is_elsewhere(view)),
    };
    Error::data(message!(
        &*view.record_path(&Record::Live),
        ": is missing, although there are {remains}; restore it",
        other_state,
        ", or run build with ",
        Setting::IgnoreManifest,
        " to rebuild all sitemaps"
    ))
}

/// The kept sets before `live`, as far as their manifests can be read.
pub fn kept(view: &dyn View, live: &Manifest) -> Vec<Manifest> {
    read_kept(view, live).into_iter().filter_map(|(_, read)| read.ok().flatten()).collect()
}

/// Manifests that are read at a time. A job that runs every hour has hundreds of kept sets, and a store takes a while to answer.
const READ_AT_ONCE: usize = 16;
/// Number of manifests that are not worth threads.
const FEW: usize = 3;

/// Reads the manifests of the kept sets before `live`, in their order. `None` for one that does not exist.
pub fn read_kept<'l>(view: &dyn View, live: &'l Manifest) -> Vec<(&'l Earlier, Result<Option<Manifest>>)> {
    let read = |earlier: &'l Earlier| (earlier, Manifest::read(view, &Record::kept(&earlier.run)));
    if live.earlier.len() <= FEW {
        return live.earlier.iter().map(read).collect();
    }
    let mut all = Vec::with_capacity(live.earlier.len());
    let done = ordered(
        READ_AT_ONCE,
        live.earlier.iter(),
        || (),
        |(), earlier| read(earlier),
        |one| {
            all.push(one);
            Ok::<(), Infallible>(())
        },
    );
    let Ok(()) = done;
    all
}

/// The files of the live set and of earlier sets. `robots_file` has their lines for robots.txt.
pub fn published<'a>(live: Option<&'a Manifest>, robots_file: &'a str) -> Published<'a> {
    let sitemaps = live.into_iter().flat_map(|live| live.sitemaps.iter().map(|sitemap| &sitemap.file));
    let superseded = live.into_iter().flat_map(|live| live.superseded.iter().map(|old| &old.file));
    let indexes = live.into_iter().flat_map(|live| &live.indexes);
    let old_indexes = live.into_iter().flat_map(|live| live.superseded_indexes.iter().map(|old| &old.file));
    let files = sitemaps.chain(superseded).chain(indexes).chain(old_indexes).map(String::as_str);
    let files = files.chain([robots_file]);
    Published { files: files.collect::<HashSet<_>>(), is_sitemap: is_sitemap_file }
}

/// Whether an old index file still exists with the content that its set gave it.
///
/// # Errors
/// If that cannot be determined.
pub fn is_unchanged(place: &dyn Place, old: &SupersededIndex) -> Result<bool> {
    place.view().has_content(old.file.as_ref(), &old.content)
}
