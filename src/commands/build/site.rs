//! Sites: the places that a build publishes to, one or one for each origin.

use super::by_origin;
use crate::clean::scope::{Base, BaseUrl};
use crate::error::{Result, try_list};
use crate::job::Job;
use crate::produce::batch::Batch;
use crate::produce::produce;
use crate::set::name::site_directory;
use crate::set::publish::Workspace;
use crate::survey::context::Context;
use crate::survey::layout::Layout;
use crate::survey::memory::Memory;

/// A place, and what is to be published there.
#[derive(Debug)]
pub struct Site {
    /// The directory of the files, as a URL.
    pub base_url: BaseUrl,
    /// Where the files are kept.
    pub place: Workspace,
    /// What was produced for it, in the order in which it is listed.
    pub batches: Vec<Batch>,
}

/// A site, and what is to be listed there.
pub type Planned = (Site, Layout);

impl Site {
    fn new(base_url: BaseUrl, place: Workspace) -> Self {
        Self { base_url, place, batches: Vec::new() }
    }

    /// URLs in all batches.
    pub fn listed(&self) -> u64 {
        self.batches.iter().map(|batch| batch.tally.listed).sum()
    }
}

/// Opens the directory of `job`, or the parent of those of all origins, and checks whether the set may be published there.
///
/// # Errors
/// See [`Workspace::open`] and [`Workspace::admit`].
pub fn open(job: &Job) -> Result<Workspace> {
    let Some(url) = job.only_site() else { return Workspace::open_for_sites(&job.out, job.on_damage()) };
    let mut workspace = Workspace::open(&job.out, job.on_damage())?;
    workspace.admit(url, job.protocol, job.consent())?;
    Ok(workspace)
}

/// The sites of the job, each with the layout of its URLs. What is wrong with one of many sites is found before the second
/// pass begins. `opened` is what [`open`] returned; the parent of many sites is returned again, because it holds the lock of
/// all of them as long as it lives.
///
/// # Errors
/// If scratch cannot be written to, an origin can have no site, its directory cannot be opened, or `stop` is raised.
pub fn of_layout(
    run: Context<'_>,
    layout: Layout,
    opened: Workspace,
    memory: &Memory,
) -> Result<(Vec<Planned>, Option<Workspace>)> {
    let path = match &run.job.base_url {
        Base::Directory(url) => return Ok((vec![(Site::new(url.clone(), opened), layout)], None)),
        Base::EachOrigin(path) => path,
    };
    let open_one = |(base_url, layout): (BaseUrl, Layout)| {
        run.stop.check()?;
        let mut workspace = opened.open_site(&site_directory(&base_url), run.job.on_damage())?;
        workspace.admit(&base_url, run.job.protocol, run.job.consent())?;
        Ok((Site::new(base_url, workspace), layout))
    };
    let sites = try_list(by_origin::distribute(run, &layout, path, memory)?.into_iter().map(open_one))?;
    Ok((sites, Some(opened)))
}

/// Runs the second pass for each of `sites`: each gets a batch. `time` is the time of new sitemaps.
///
/// # Errors
/// See [`produce`].
pub fn produce_all(run: Context<'_>, sites: Vec<Planned>, time: &str) -> Result<Vec<Site>> {
    let produce_one = |(mut site, layout): Planned| {
        site.batches.push(produce(run, &layout, &site.place.shelf(), time)?);
        Ok(site)
    };
    try_list(sites.into_iter().map(produce_one))
}
