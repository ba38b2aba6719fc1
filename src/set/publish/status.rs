//! Status: the sets in an output directory, according to its manifests. Changes nothing and takes no lock.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::occupant::is_there;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, message};
use crate::escape::shown;
use crate::place::{self, Record, View};
use crate::set::manifest::{Manifest, Role};

/// The sets of an output directory. Serialises to a line of `sitemill status --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Path of the directory, with control characters escaped.
    pub directory: String,
    /// The live set.
    pub live: SetStatus,
    /// Earlier sets that can be restored, the last one first.
    pub earlier: Vec<SetStatus>,
    /// Errors in manifests of earlier sets, which cannot be restored, and in the journal of a switch. Control characters are
    /// escaped.
    pub damaged: Vec<String>,
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
    /// When it was replaced, as W3C Datetime. None for the live set.
    pub replaced: Option<String>,
    /// Whether it was rolled back.
    pub withdrawn: bool,
    /// Number of URLs.
    pub urls: u64,
    /// Number of sitemaps.
    pub sitemaps: u64,
    /// Number of sitemaps that sitemill did not write, and that its index files list. Their files are not looked at.
    pub also: u64,
    /// Number of index files.
    pub indexes: u64,
    /// Bytes of its sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of its sitemap files.
    pub gzip_bytes: u64,
    /// Number of sitemaps whose files are missing or have the wrong size. Such a set cannot be restored.
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
    /// Whether a process with this id exists. A run on another machine or in another container looks dead from here.
    pub is_alive: bool,
}

/// Describes the sets in `out`, or in each site directory below it, sorted by name. Reads manifests and takes no lock.
/// `progress` counts the URLs of the sets.
///
/// # Errors
/// [`ErrorKind::Input`] if a directory cannot be read, [`ErrorKind::Data`] if there is no set or the manifest of a live set is
/// damaged; also if `stop` is raised.
pub fn status(out: &Path, progress: &dyn Progress, stop: &Stop) -> Result<Vec<Status>> {
    progress.begin(Phase::Read, 0);
    let all = of_directories(out, progress, stop)?;
    progress.end();
    Ok(all)
}

fn of_directories(out: &Path, progress: &dyn Progress, stop: &Stop) -> Result<Vec<Status>> {
    if let Some(status) = of_directory(out, progress, stop)? {
        return Ok(vec![status]);
    }
    let sites = sites(out)?;
    let each = sites.iter().filter_map(|site| of_directory(site, progress, stop).transpose());
    let all: Vec<Status> = each.collect::<Result<_>>()?;
    match all.is_empty() {
        false => Ok(all),
        true => Err(Error::data(message!(out, ": contains no published set"))),
    }
}

/// The directories below `out` that contain sets, sorted by name.
///
/// # Errors
/// If `out` cannot be read.
pub fn sites(out: &Path) -> Result<Vec<PathBuf>> {
    let parent = place::view(out);
    let names = parent.list()?.into_iter().filter(|listed| !listed.is_file).map(|listed| listed.name);
    let views = names.map(|name| parent.below(&name));
    let sites = views.filter(|site| site.has_record(&Record::Live)).map(|site| site.root().to_owned());
    let mut sites: Vec<_> = sites.collect();
    sites.sort();
    Ok(sites)
}

fn of_directory(out: &Path, progress: &dyn Progress, stop: &Stop) -> Result<Option<Status>> {
    stop.check()?;
    let view = &*place::view(out);
    let Some(manifest) = Manifest::read_as(Role::Live, view, &Record::Live)? else {
        return Ok(None);
    };
    let mut damaged = Vec::new();
    let mut usable = |role, record: &Record| match Manifest::read_as(role, view, record) {
        Err(error) if error.kind() == ErrorKind::Data => {
            damaged.push(error.to_string());
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
        earlier.push(SetStatus { replaced, withdrawn, ..of_set(view, &set) });
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
    Ok(Some(Status {
        directory: shown(out.as_os_str().as_encoded_bytes()),
        live: of_set(view, &manifest),
        earlier,
        damaged,
        superseded,
        runs: runs(view),
        is_switching,
    }))
}

fn of_set(view: &dyn View, set: &Manifest) -> SetStatus {
    SetStatus {
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
        gzip_bytes: set.sitemaps.iter().map(|sitemap| sitemap.gzip_bytes).sum(),
        missing: set.sitemaps.iter().filter(|sitemap| !is_there(view, sitemap)).count() as u64,
    }
}

/// Runs, found by their staging directories. Only the owner of these can list them; other users see no runs.
fn runs(view: &dyn View) -> Vec<RunStatus> {
    let staging = view.runs();
    let process = |name: &str| name.rsplit_once('-')?.1.parse().ok();
    let processes = staging.iter().filter_map(|name| process(name.to_str()?));
    let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    processes.map(|process| RunStatus { process, is_alive: is_alive(process) }).collect()
}
