//! Rollback: restores an earlier set.

use std::path::PathBuf;
use std::slice;
use std::time::SystemTime;

use crate::commands::check::gone_external;
use crate::commands::unpublished::unpublished;
use crate::common::progress::Progress;
use crate::common::stop::Stop;
use crate::common::time::w3c_datetime;
use crate::error::{Error, Result, message};
use crate::place::{self, LocalFile, SetName, View};
use crate::set::manifest::Manifest;
use crate::set::publish::live_sets::missing;
use crate::set::publish::{OnDamage, RobotsTxt, Workspace, make_live};
use crate::set::robots::{self, Owner};
use crate::words::and_more;

/// Which set to make live again. [`RollbackJob::new`] sets every other field to its command-line default.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RollbackJob {
    /// Directory or location in a store that the set was published to. With a base for each origin, the directory of one site.
    pub out: PathBuf,
    /// The set in that directory, if several share it; `None` for the set without a name.
    pub name: Option<SetName>,
    /// Number of a kept set, as returned by [`status()`](crate::status()). If not set, the last set before the live one that was
    /// not itself rolled back and has other files.
    pub to: Option<u64>,
    /// A robots.txt in which to list the index files, between two marker lines. Other lines are left unchanged.
    pub robots: Option<PathBuf>,
    /// Accept a `robots` file whose name is `robots.txt` in another letter case, which crawlers do not request.
    pub robots_any_name: bool,
    /// Time of the rollback, if it is not the present time when it begins; recorded in the manifest.
    pub time: Option<SystemTime>,
}

/// The result of a rollback.
#[derive(Debug)]
#[non_exhaustive]
pub struct RolledBack {
    /// The set that was live.
    pub from: SetSummary,
    /// The set that is live now.
    pub to: SetSummary,
    /// Warnings: failures after the set went live, which stays live; and files that something else had changed or removed.
    pub warnings: Vec<Error>,
}

/// A set that a rollback replaced or restored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetSummary {
    /// Its number among the sets of the directory.
    pub number: u64,
    /// URL of the directory of its files.
    pub base_url: String,
    /// Protocol version: `0.9` or `0.84`.
    pub protocol: String,
    /// Number of URLs.
    pub urls: u64,
    /// Number of sitemaps.
    pub sitemaps: u64,
}

impl SetSummary {
    fn of(set: &Manifest) -> Self {
        Self {
            number: set.number,
            base_url: set.base_url.clone(),
            protocol: set.protocol.clone(),
            urls: set.urls(),
            sitemaps: set.sitemaps.len() as u64,
        }
    }
}

impl RollbackJob {
    /// Creates a job that rolls back the set in `out`, with the defaults: to the set before the live one.
    pub fn new(out: PathBuf) -> Self {
        Self { out, name: None, to: None, robots: None, robots_any_name: false, time: None }
    }
}

/// Restores the set that `job` names, with the same switch as [`build`](crate::build()). First, its files are read and compared
/// with the hashes in its manifest. Nothing is deleted. `progress` counts the URLs in the files read.
///
/// # Errors
/// [`ErrorKind::Input`](crate::ErrorKind::Input) if the directory does not exist; [`ErrorKind::Data`](crate::ErrorKind::Data) if
/// there is no such set, or if one of its files is missing or damaged; if `stop` is raised before the switch; otherwise as
/// [`build`](crate::build()).
pub fn rollback(job: &RollbackJob, progress: &dyn Progress, stop: &Stop) -> Result<RolledBack> {
    restore(job, progress, stop).map_err(unpublished)
}

fn restore(job: &RollbackJob, progress: &dyn Progress, stop: &Stop) -> Result<RolledBack> {
    let (name, time) = (job.name.as_ref(), w3c_datetime(job.time.unwrap_or_else(SystemTime::now))?);
    if let Some(path) = job.robots.as_ref().filter(|_| !job.robots_any_name) {
        robots::check_name(path)?;
    }
    // Checked before opening the workspace, which would create the directory.
    if !place::view_of_set(&job.out, name)?.has_state()? {
        return Err(missing(&job.out, name)?);
    }
    job.paths().check()?;
    let workspace = Workspace::open(&job.out, name, OnDamage::Refuse, stop)?;
    let completed = workspace.completed();
    restore_in(workspace, job, &time, progress, stop).map_err(|error| completed.explain(error))
}

fn restore_in(
    workspace: Workspace,
    job: &RollbackJob,
    time: &str,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<RolledBack> {
    let name = job.name.as_ref();
    let Some(from) = workspace.live().cloned() else {
        return Err(missing(&job.out, name)?);
    };
    if let Some(path) = &job.robots {
        robots::check(LocalFile::at(path), Owner { base_url: &from.base_url, name })?;
    }
    let mut prepared = workspace.roll_back(job.to, time, progress, stop)?;
    if let Some(path) = job.robots.as_ref().filter(|_| prepared.set().base_url != from.base_url) {
        robots::check(LocalFile::at(path), Owner { base_url: &prepared.set().base_url, name })?;
    }
    let mut warnings = make_live(slice::from_mut(&mut prepared))?;
    warnings.extend(prepared.warning_of_edited(false));
    let robots = RobotsTxt::of_one_site(job.robots.as_deref());
    warnings.extend(
        prepared.warning_of_gone_indexes(robots).into_iter().chain(prepared.warnings_of_robots_txt(robots)),
    );
    let to = prepared.set();
    let summary = SetSummary::of(to);
    warnings.extend(warning_of_gone(&*prepared.workspace().view(), to));
    if let Some(path) = &job.robots {
        let [old, new] = [&from, to].map(|set| Owner { base_url: &set.base_url, name });
        warnings.extend(robots::list_indexes(LocalFile::at(path), new, &to.indexes, stop).err());
        warnings.extend(robots::old_block(LocalFile::at(path), old, new));
    }
    warnings.extend(prepared.end().err());
    Ok(RolledBack { from: SetSummary::of(&from), to: summary, warnings })
}

/// The warning that `set` lists sitemaps whose files are gone and that sitemill did not write.
fn warning_of_gone(view: &dyn View, set: &Manifest) -> Option<Error> {
    let gone = gone_external(view, set);
    let ((_, first), others) = gone.split_first()?;
    let (path, others) = (view.path(first.as_os_str()), and_more(others.len()));
    let words = "gone, although the restored set lists it; publish it again, or build a set without it";
    Some(Error::data(message!(&*path, "{others}: {words}")))
}
