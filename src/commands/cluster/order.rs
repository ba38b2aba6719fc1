//! Work orders: the instructions of the driver for its workers, and the common parts of all messages.

use std::fmt;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clean::scope::BaseUrl;
use crate::common::secret::Secret;
use crate::error::{Error, ErrorKind, Result, Setting, is_url, message};
use crate::escape;
use crate::job::fingerprint::Fingerprint;
use crate::job::{Job, OnDuplicate, Order};
use crate::place::{PROBE, SetName, staging_of_run};
use crate::set::manifest::Sitemap;
use crate::set::publish::SharedShelf;
use crate::sitemap::divide::Divide;
use crate::sitemap::segments::SegmentRule;

/// The version of the format of all messages and blocks.
pub(super) const FORMAT: u32 = 5;

/// The provenance of a message: the run, and the version and the rules that it was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Provenance {
    format: u32,
    pub(super) version: String,
    pub(super) run: String,
    rules: Fingerprint,
}

impl Provenance {
    pub(super) fn new(job: &Job, run: &str) -> Self {
        let rules = Fingerprint::of(&job.rules, &job.input.format);
        Self { format: FORMAT, version: env!("CARGO_PKG_VERSION").into(), run: run.into(), rules }
    }

    /// Refuses a message that does not belong to the run of `own`. `what` names it.
    pub(super) fn check(&self, what: &str, own: &Self) -> Result<()> {
        let why = match self {
            _ if (self.format, &self.version) != (own.format, &own.version) => {
                return Err(of_version(what, &self.version));
            }
            _ if self.rules != own.rules => "was made with other options; give every process the same",
            _ if self.run != own.run => "belongs to another run; start again with the messages of one run",
            _ => return Ok(()),
        };
        Err(Error::data(format!("{what} {why}")))
    }

    /// Returns a number for blocks of the run, which differs from run to run.
    pub(super) fn stamp(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(format!("{self:?}").as_bytes())
    }
}

fn of_version(what: &str, version: &str) -> Error {
    let (made_by, own) = (escape::shown(version.as_bytes()), env!("CARGO_PKG_VERSION"));
    let way_out = "install one version on all machines";
    Error::data(format!("{what} was made by sitemill {made_by}, and this is {own}; {way_out}"))
}

/// Reads a message. `what` names it in errors. A message of another version is recognised before the rest is parsed.
pub(super) fn read_json<T: DeserializeOwned>(json: &str, what: &str) -> Result<T> {
    #[derive(Deserialize)]
    struct Version {
        format: u32,
        version: String,
    }
    #[derive(Deserialize)]
    struct Envelope {
        provenance: Version,
    }
    let damaged = |error| Error::data(format!("{what} cannot be read: {error}; pass it on unchanged"));
    let Envelope { provenance } = serde_json::from_str(json).map_err(damaged)?;
    if (provenance.format, &*provenance.version) != (FORMAT, env!("CARGO_PKG_VERSION")) {
        return Err(of_version(what, &provenance.version));
    }
    serde_json::from_str(json).map_err(damaged)
}

/// Writes a message.
pub(super) fn to_json(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("numbers and strings are JSON")
}

/// Instructions of a [`Driver`](super::Driver) for its workers. Pass it to every task, together with a [`Job`] that has the same
/// rules. It contains the key by which the set recognises its own files, so only the workers may read it. It has about 400 bytes
/// for each sitemap that is published.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkOrder {
    pub(super) provenance: Provenance,
    /// The time of publication.
    pub(super) time: String,
    /// The output directory, absolute, or the location in a store.
    pub(super) out: PathBuf,
    /// The name of the set there, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<SetName>,
    /// The content of the probe.
    pub(super) probe: String,
    pub(super) secret: String,
    /// The sitemaps of the live set and of the sets that are kept.
    pub(super) sitemaps: Vec<Sitemap>,
    /// If URLs are counted by segment: the segments that are counted even if they are small.
    pub(super) segments: Option<Vec<String>>,
}

impl fmt::Debug for WorkOrder {
    /// Leaves the secret out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { provenance, time, out, sitemaps, .. } = self;
        let sitemaps = &sitemaps.len();
        f.debug_struct("WorkOrder")
            .field("provenance", provenance)
            .field("time", time)
            .field("out", out)
            .field("sitemaps", sitemaps)
            .finish_non_exhaustive()
    }
}

impl WorkOrder {
    /// Writes the order as JSON, to be passed to other processes.
    pub fn to_json(&self) -> String {
        to_json(self)
    }

    /// Reads the JSON that [`WorkOrder::to_json`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if it is damaged, or written by another version of sitemill.
    pub fn from_json(json: &str) -> Result<Self> {
        read_json(json, "the work order")
    }

    /// Checks that this process shares the output directory, or the store, with the driver. [`Regions`](super::Regions) does this
    /// too; an engine that does it earlier fails before any row is read.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if the directory is not shared, or if the run of the driver has ended.
    pub fn check_reachable(&self) -> Result<()> {
        let staging = staging_of_run(&self.out, self.name.as_ref(), &self.provenance.run)?;
        let read = staging.staged(PROBE);
        match &read {
            Ok(Some(probe)) if *probe == self.probe.as_bytes() => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Permission || is_url(&self.out) => {
                return read.map(drop);
            }
            _ => {}
        }
        let why = match is_url(&self.out) {
            true => {
                "this worker reaches another store than the driver, or the run has ended; give all machines the same endpoint"
            }
            false => {
                "the directory is not shared with this worker, or the run has ended; publish to one that all machines reach by \
                 the same path"
            }
        };
        Err(Error::new(ErrorKind::Output, message!(&*self.out, ": {why}")))
    }

    /// Checks that this process has the same version and rules as the driver.
    pub(super) fn check(&self, job: &Job) -> Result<()> {
        check_job(job)?;
        self.provenance.check("the work order", &Provenance::new(job, &self.provenance.run))
    }

    /// Creates the shelf of a worker. The list of published sitemaps may be long, so it is moved and not copied.
    pub(super) fn take_shelf(&mut self) -> Result<SharedShelf> {
        let damaged =
            || Error::data("the work order cannot be read: its key is damaged; pass it on unchanged");
        let secret = Secret::from_hex(&self.secret).ok_or_else(damaged)?;
        let sitemaps = std::mem::take(&mut self.sitemaps);
        SharedShelf::new(&self.out, self.name.as_ref(), &self.provenance.run, &secret, sitemaps)
    }

    /// Returns the rule by which URLs are counted by segment.
    pub(super) fn segment_rule(&self, job: &Job) -> Result<Option<SegmentRule>> {
        let url = only_site(job)?;
        let rule = |wanted: &Vec<String>| SegmentRule::new(url, job.rules.scope, wanted.clone());
        Ok(self.segments.as_ref().map(rule))
    }
}

/// Refuses rules for which a cluster could not write the same set as a single machine.
pub(super) fn check_job(job: &Job) -> Result<()> {
    job.check()?;
    only_site(job)?;
    if job.publication.dry_run {
        let why = "a cluster has no dry run; try some of the rows on one machine";
        return Err(Error::usage(message!(Setting::DryRun, ": {why}")));
    }
    if job.rules.sections.is_some() {
        return Err(Error::usage("a cluster builds sets without sections; build these on one machine"));
    }
    if job.rules.order != Order::Sorted {
        let sorted = Setting::Order.with("sorted");
        return Err(Error::usage(message!("a cluster builds in sorted order only; set ", sorted)));
    }
    if job.rules.divide != Divide::Stable {
        let stable = Setting::Divide.with("stable");
        return Err(Error::usage(message!("a cluster divides sitemaps by their URLs; set ", stable)));
    }
    if job.rules.on_duplicate != OnDuplicate::Newest {
        let newest = Setting::OnDuplicate.with("newest");
        return Err(Error::usage(message!(
            "on a cluster, rows come in any order, so none of them is the first; set ",
            newest
        )));
    }
    Ok(())
}

fn only_site(job: &Job) -> Result<&BaseUrl> {
    job.rules.only_site().ok_or_else(|| {
        let why = "a cluster publishes one site; run it once per site, or build all of them on one machine";
        Error::usage(message!(Setting::BaseUrl, ": {why}"))
    })
}
