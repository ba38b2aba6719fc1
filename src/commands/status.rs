//! Status: the sets in an output directory, according to its manifests. Changes nothing and takes no lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::commands::check::gone_external;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{ErrorKind, Message, Result};
use crate::escape::shown;
use crate::place::{self, Record, SetName, View, process_of};
use crate::set::manifest::{Manifest, Role};
use crate::set::name::robots_file;
use crate::set::publish::live_sets::{is_here, live_sets, may_be_here, missing};
use crate::set::publish::{check_is_current, is_there, lost};

/// The sets to describe. [`StatusJob::new`] sets every field but the directory to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StatusJob {
    /// Directory that the sets were published to, or the parent of the directories of several sites.
    pub out: PathBuf,
    /// Describe only the set of this name in each directory. If not set, all sets.
    pub name: Option<SetName>,
}

impl StatusJob {
    /// A job that describes all sets in `out`.
    pub fn new(out: PathBuf) -> Self {
        Self { out, name: None }
    }
}

/// The sets of an output directory. Serialises to a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Path of the directory, with control characters escaped.
    pub directory: String,
    /// The name of the set, if it has one: several sets may share a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<SetName>,
    /// The live set.
    pub live: SetStatus,
    /// Earlier sets that can be restored, the last one first.
    pub earlier: Vec<SetStatus>,
    /// Errors in manifests of earlier sets, which cannot be restored, and in the journal of a switch.
    pub damaged: Vec<Message>,
    /// Sitemaps of earlier sets that still exist and that the live set does not list.
    pub superseded: FilesStatus,
    /// Runs that have begun and not ended.
    pub runs: Vec<RunStatus>,
    /// Whether a switch to another set has begun. The next run completes it.
    pub is_switching: bool,
}

/// A published set: the live one or an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetStatus {
    /// Number of the set in its directory, counted from 1.
    pub number: u64,
    /// URL of the directory that its files are published in.
    pub base_url: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// When it last became live, as W3C Datetime.
    pub published: String,
    /// When it was replaced, as W3C Datetime. `None` for the live set.
    pub replaced: Option<String>,
    /// Whether it was rolled back.
    pub withdrawn: bool,
    /// Number of URLs.
    pub urls: u64,
    /// Number of sitemaps.
    pub sitemaps: u64,
    /// Number of sitemaps that sitemill did not write, and that its index files list.
    pub also: u64,
    /// Number of index files.
    pub indexes: u64,
    /// Bytes of its sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of its sitemap files.
    pub gzip_bytes: u64,
    /// Number of sitemaps whose files are missing or have the wrong size; a set that lacks one cannot be restored. Of the live set,
    /// the index files and the file with the lines for robots.txt count, too, if they are missing or empty, and so do files that
    /// sitemill did not write but that its index files list, if they are missing.
    pub missing: u64,
}

/// Number and size of a group of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FilesStatus {
    /// Number of files.
    pub files: u64,
    /// Total bytes of the files.
    pub bytes: u64,
}

/// A run that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// Process id.
    pub process: u32,
    /// Whether it is active. In a directory, a run on another machine or in another container looks dead from here.
    pub is_alive: bool,
}

/// A run for a set that is not published yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstRun {
    /// The name of the set, if it has one.
    pub name: Option<SetName>,
    /// The run.
    pub run: RunStatus,
    /// Whether the switch to the set has begun. The next run completes it.
    pub is_switching: bool,
}

/// Describes all sets in the directory or location of `job`, or in each site directory below it, sorted by directory and name.
/// Reads manifests and takes no lock. `progress` counts the URLs of the sets.
///
/// # Errors
/// [`ErrorKind::Input`] if a directory cannot be read, [`ErrorKind::Data`] if there is no set or the manifest of a live set is
/// damaged, missing or that of an earlier set; [`ErrorKind::Busy`] if the switch to the first set is not complete; also if `stop`
/// is raised.
pub fn status(job: &StatusJob, progress: &dyn Progress, stop: &Stop) -> Result<Vec<Status>> {
    let phase = progress.phase(Phase::Urls, 0);
    let (out, name) = (&*job.out, job.name.as_ref());
    let sets = live_sets(out, name)?;
    let all: Vec<Status> = sets.iter().map(|set| of_set(&**set, progress, stop)).collect::<Result<_>>()?;
    drop(phase);
    match all.is_empty() {
        false => Ok(all),
        true => Err(missing(out, name)?),
    }
}

/// The runs for sets of `job` that are not published yet: [`status`] leaves them out. If its directory is the parent of several
/// sites, those of all sites.
///
/// # Errors
/// If the directory cannot be read.
pub fn first_runs(job: &StatusJob) -> Result<Vec<FirstRun>> {
    let mut sets = place::sets_in(&*place::view(&job.out)?, job.name.as_ref())?;
    sets.retain(|set| !may_be_here(&**set));
    let of_set = |set: &Arc<dyn View>| -> Vec<_> {
        let first =
            |run| FirstRun { name: set.name().cloned(), run, is_switching: set.has_record(&Record::Journal) };
        runs(&**set).into_iter().map(first).collect()
    };
    Ok(sets.iter().flat_map(of_set).collect())
}

/// The directories directly below `directory` that have sets, if it has sets itself: [`status`], [`check`](crate::check()) and
/// [`urls`](crate::urls()) of it leave them out. Only sets of this `name` count, if one is given. Empty if the directory is in a
/// store.
///
/// # Errors
/// If the directory cannot be read.
pub fn sets_below(directory: &Path, name: Option<&SetName>) -> Result<Vec<PathBuf>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    // The robots lines are those of a copy without manifests.
    let is_set = |set: &Arc<dyn View>| is_here(&**set) || set.is_file(robots_file(set.name()).as_ref());
    let has_sets = |place: &dyn View| place::sets_in(place, name).is_ok_and(|sets| sets.iter().any(is_set));
    let parent = place::view(directory)?;
    if !has_sets(&*parent) {
        return Ok(Vec::new());
    }
    let below = place::distinct_places_below(&*parent)?.filter(|below| has_sets(&**below));
    let mut below: Vec<_> = below.map(|below| below.root().to_owned()).collect();
    below.sort_unstable();
    Ok(below)
}

fn of_set(view: &dyn View, progress: &dyn Progress, stop: &Stop) -> Result<Status> {
    stop.check()?;
    let manifest = Manifest::read_as(Role::Live, view, &Record::Live)?.ok_or_else(|| lost(view))?;
    check_is_current(view, &manifest)?;
    let mut damaged = Vec::new();
    let mut usable = |role, record: &Record| match Manifest::read_as(role, view, record) {
        Err(error) if error.kind() == ErrorKind::Data => {
            damaged.push(error.message().clone());
            Ok(None)
        }
        read => read,
    };
    let mut earlier = Vec::new();
    for kept in &manifest.earlier {
        stop.check()?;
        // A set without its manifest cannot be restored, so it is left out.
        let record = Record::kept(&kept.run);
        let Some(set) = usable(Role::Kept(kept.number), &record)? else { continue };
        let (replaced, withdrawn) = (Some(kept.since.clone()), kept.withdrawn);
        earlier.push(SetStatus { replaced, withdrawn, ..figures(view, &set)? });
        progress.advance(set.urls());
    }
    let is_switching = usable(Role::Journal, &Record::Journal)?.is_some();
    let mut superseded = FilesStatus::default();
    for old in &manifest.superseded {
        if let Ok(Some(found)) = view.look_up(old.file.as_ref()) {
            superseded.files += 1;
            superseded.bytes += found.bytes;
        }
    }
    Ok(Status {
        directory: shown(view.root().as_os_str().as_encoded_bytes()),
        name: view.name().cloned(),
        live: live_figures(view, &manifest)?,
        earlier,
        damaged,
        superseded,
        runs: runs(view),
        is_switching,
    })
}

fn live_figures(view: &dyn View, set: &Manifest) -> Result<SetStatus> {
    let figures = figures(view, set)?;
    let robots_file = robots_file(view.name());
    let has_bytes = |file: &str| matches!(view.look_up(file.as_ref()), Ok(Some(found)) if found.is_file && found.bytes > 0);
    // Those of earlier sets are written anew when a set is restored.
    let files = set.indexes.iter().chain([&robots_file]).filter(|file| !has_bytes(file));
    let missing = files.count() + gone_external(view, set).len();
    Ok(SetStatus { missing: figures.missing + missing as u64, ..figures })
}

fn figures(view: &dyn View, set: &Manifest) -> Result<SetStatus> {
    let there = set.sitemaps.iter().map(|sitemap| is_there(view, sitemap)).collect::<Result<Vec<_>>>()?;
    Ok(SetStatus {
        number: set.number,
        base_url: set.base_url.clone(),
        protocol: set.protocol.clone(),
        published: set.published.clone(),
        replaced: None,
        withdrawn: false,
        urls: set.urls(),
        sitemaps: set.sitemaps.len() as u64,
        also: set.also.len() as u64,
        indexes: set.indexes.len() as u64,
        xml_bytes: set.sitemaps.iter().map(|sitemap| sitemap.xml_bytes).sum(),
        gzip_bytes: set.gzip_bytes(),
        missing: there.into_iter().filter(|is_there| !is_there).count() as u64,
    })
}

/// Runs, found by their staging directories. Only the owner of these can list them; other users see no runs.
fn runs(view: &dyn View) -> Vec<RunStatus> {
    let staging = view.runs();
    let status = |run: &str| Some(RunStatus { process: process_of(run)?, is_alive: view.is_active(run) });
    staging.iter().filter_map(|run| status(run.to_str()?)).collect()
}
