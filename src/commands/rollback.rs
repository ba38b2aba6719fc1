//! Rollback: an earlier set becomes the live one again.

use std::path::PathBuf;
use std::slice;
use std::time::SystemTime;

use crate::common::stop::Stop;
use crate::common::time::w3c_datetime;
use crate::error::{Error, Result, Shown};
use crate::place::{self, LocalFile};
use crate::set::manifest::Manifest;
use crate::set::publish::{OnDamage, Workspace, make_live, status};
use crate::set::robots;

/// Which set is to be live. [`RollbackJob::new`] has every default of the command line.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RollbackJob {
    /// The directory of one set.
    pub out: PathBuf,
    /// The number of a kept set; none for the last one before the live set that was not rolled back itself.
    pub to: Option<u64>,
    /// A robots.txt to name the index files in, between lines of ours.
    pub robots: Option<PathBuf>,
    /// Let `robots` have another name than crawlers ask for.
    pub robots_any_name: bool,
    /// Now.
    pub time: SystemTime,
}

/// What a rollback did.
#[derive(Debug)]
#[non_exhaustive]
pub struct RolledBack {
    /// The set that was live.
    pub from: Manifest,
    /// The set that is.
    pub to: Manifest,
    /// What failed once the set was live: it stays live, and somebody should know.
    pub warnings: Vec<Error>,
}

impl RollbackJob {
    /// A job with the defaults: the set before the live one, the present time.
    pub fn new(out: PathBuf) -> Self {
        Self { out, to: None, robots: None, robots_any_name: false, time: SystemTime::now() }
    }
}

/// Makes the set that `job` names the live one, by the switch that [`build`](crate::build()) publishes with. Its files are
/// read and held against what was published first; nothing is deleted.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if there is no such set or a file of it is missing or damaged; if `stop` is
/// raised before the switch; else as of a build.
pub fn rollback(job: &RollbackJob, stop: &Stop) -> Result<RolledBack> {
    let out = Shown(&job.out);
    if let Some(path) = job.robots.as_ref().filter(|_| !job.robots_any_name) {
        robots::check_name(path)?;
    }
    // Before the workspace is opened: that would make a directory.
    if !place::view(&job.out).has_state() {
        return Err(Error::data(format!("{out}: holds no set that build has published")));
    }
    job.paths().check()?;
    let workspace = Workspace::open(&job.out, OnDamage::Refuse)?;
    let Some(from) = workspace.live().cloned() else {
        // The last run may have left some of the sites as they were: together they would be no state that ever was.
        let way_out = match status::sites(&job.out)?.first() {
            Some(site) => format!("sites lie below it; roll them back one by one, as {}", Shown(site)),
            None => "holds no set that build has published".into(),
        };
        return Err(Error::data(format!("{out}: {way_out}")));
    };
    if let Some(path) = &job.robots {
        robots::check(LocalFile::at(path), &from.base_url)?;
    }
    let mut prepared = workspace.roll_back(job.to, &w3c_datetime(job.time)?, stop)?;
    if let Some(path) = job.robots.as_ref().filter(|_| prepared.set().base_url != from.base_url) {
        robots::check(LocalFile::at(path), &prepared.set().base_url)?;
    }
    let mut warnings = make_live(slice::from_mut(&mut prepared))?;
    let to = prepared.set().clone();
    if let Some(path) = &job.robots {
        let named = robots::name_indexes(LocalFile::at(path), &to.base_url, &to.indexes);
        warnings.extend(named.err());
    }
    Ok(RolledBack { from, to, warnings })
}
