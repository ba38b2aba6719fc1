//! Status: what lies in an output directory, by its manifests. Reads only, and takes no lock.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::occupant::is_there;
use crate::common::progress::{Phase, Progress};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result, Shown};
use crate::escape::shown;
use crate::place::{self, Record, View};
use crate::set::manifest::{Manifest, Role};

/// An output directory. Serialises to a line of `sitemill status --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// Its path; escaped.
    pub directory: String,
    /// The live set.
    pub live: SetStatus,
    /// Earlier sets that can come back, the last one first.
    pub earlier: Vec<SetStatus>,
    /// What is wrong with manifests of earlier sets, which cannot be restored, and with the journal of a switch; escaped.
    pub damaged: Vec<String>,
    /// Sitemaps that lie there and that the live set does not list.
    pub superseded: FilesStatus,
    /// Runs that have begun and not come to an end.
    pub runs: Vec<RunStatus>,
    /// A switch to another set was begun; the next run finishes it.
    pub is_switching: bool,
}

/// A set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SetStatus {
    /// Which of the directory's sets it is.
    pub number: u64,
    /// The directory of its files, as a URL.
    pub base_url: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// When it became live, the last time.
    pub published: String,
    /// When it was replaced.
    pub replaced: Option<String>,
    /// It was rolled back.
    pub withdrawn: bool,
    /// URLs.
    pub urls: u64,
    /// Sitemaps.
    pub sitemaps: u64,
    /// Index files.
    pub indexes: u64,
    /// Bytes of its sitemaps before compression.
    pub xml_bytes: u64,
    /// Bytes of its sitemap files.
    pub gzip_bytes: u64,
    /// Sitemaps whose files are missing or damaged: such a set cannot be restored.
    pub missing: u64,
}

/// Files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FilesStatus {
    /// How many.
    pub files: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunStatus {
    /// The number of its process.
    pub process: u32,
    /// A process of this number is there. A run of another machine, or another container, looks dead from here.
    pub is_alive: bool,
}

/// Describes the sets in `out`, or in each directory of a site below it, by name. Reads manifests and takes no lock. `progress`
/// counts the URLs of the sets.
///
/// # Errors
/// [`ErrorKind::Input`] if it cannot be read, [`ErrorKind::Data`] if there is no set or the manifest of a live one is damaged;
/// if `stop` is raised.
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
        true => Err(Error::data(format!("{}: holds no set that build has published", Shown(out)))),
    }
}

/// The directories below `out` that hold sets, by name.
///
/// # Errors
/// If it cannot be read.
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
        // A set without its manifest cannot be restored, and there is nothing to say about it.
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
        indexes: set.indexes.len() as u64,
        xml_bytes: set.sitemaps.iter().map(|sitemap| sitemap.xml_bytes).sum(),
        gzip_bytes: set.sitemaps.iter().map(|sitemap| sitemap.gzip_bytes).sum(),
        missing: set.sitemaps.iter().filter(|sitemap| !is_there(view, sitemap)).count() as u64,
    }
}

/// Runs by their staging directories, which only their owner may look into: another user sees none.
fn runs(view: &dyn View) -> Vec<RunStatus> {
    let staging = view.runs();
    let process = |name: &str| name.rsplit_once('-')?.1.parse().ok();
    let processes = staging.iter().filter_map(|name| process(name.to_str()?));
    let is_alive = |process: u32| Path::new("/proc").join(process.to_string()).exists();
    processes.map(|process| RunStatus { process, is_alive: is_alive(process) }).collect()
}
