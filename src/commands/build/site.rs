//! Sites: where a build publishes, either one site or one per origin.

use super::full_disk::explain_full_disk;
use super::sealed;
use crate::clean::scope::{Base, BaseUrl};
use crate::common::fallible::try_list;
use crate::common::progress::{Estimate, Phase};
use crate::common::stop::Stop;
use crate::error::{Error, ErrorKind, Result};
use crate::job::Job;
use crate::produce::batch::Batch;
use crate::produce::preview::preview;
use crate::produce::produce;
use crate::set::manifest::{SealedRows, SetSection};
use crate::set::publish::{Completed, Workspace};
use crate::set::site_directory::site_directory;
use crate::sitemap::segments::SegmentRule;
use crate::survey::context::Context;
use crate::survey::layout::{Layout, SectionLayout};
use crate::survey::sections::{SiteLayout, rest_of};

/// Maximum number of segments of the live set that are compared with the new one.
const SEGMENTS_WANTED_MAX: usize = 100;

/// A place, and the batches to be published there.
#[derive(Debug)]
pub struct Site {
    /// URL of the directory that the files are published in.
    pub base_url: BaseUrl,
    /// The place that holds the files.
    pub place: Workspace,
    /// The batches, in the order in which they are listed.
    pub batches: Vec<Batch>,
    /// Its sections, in the order in which they are listed. Empty if the set has none.
    pub sections: Vec<SetSection>,
    /// Its rows, if they were sealed.
    pub rows: Option<SealedRows>,
}

/// A site, and the layout of its sitemaps.
pub type Planned = (Site, Layout);

impl Site {
    /// A site without batches.
    pub fn new(base_url: BaseUrl, place: Workspace) -> Self {
        Self { base_url, place, batches: Vec::new(), sections: Vec::new(), rows: None }
    }

    /// Returns the rule by which URLs are counted by segment, if the job wants that. Where each origin has a set, the
    /// origin is the segment.
    fn segment_rule(&self, job: &Job) -> Option<SegmentRule> {
        let url = job.rules.only_site()?;
        Some(SegmentRule::new(url, job.rules.scope, self.wanted_segments(job)?))
    }

    /// The segments of the live set, which are counted again even if they are small now. `None` if the job counts none.
    pub fn wanted_segments(&self, job: &Job) -> Option<Vec<String>> {
        let (base_url, scope) = (self.base_url.as_str(), job.rules.scope.as_str());
        let counts = self.place.live().and_then(|live| live.counts_below(base_url, scope));
        let named = counts.into_iter().flat_map(|counts| &counts.segments.named);
        let wanted = named.filter(|segment| segment.urls > 0).take(SEGMENTS_WANTED_MAX);
        job.publication.count_segments.then(|| wanted.map(|segment| segment.name.clone()).collect())
    }
}

/// Opens the output directory of `job`, or the parent directory of all origins, and checks that the set may be published
/// there. Also returns the switches that opening it has completed; a dry run completes none.
///
/// # Errors
/// See [`Workspace::open`] and [`Workspace::admit`].
pub fn open(job: &Job, stop: &Stop) -> Result<(Workspace, Completed)> {
    let (out, on_damage) = (&job.publication.out, job.publication.on_damage());
    let open = match (job.publication.dry_run, job.rules.only_site()) {
        (true, _) => Workspace::preview,
        (false, Some(_)) => Workspace::open,
        (false, None) => Workspace::open_for_sites,
    };
    let mut workspace = open(out, job.publication.name.as_ref(), on_damage, stop)?;
    let admitted = match job.rules.only_site() {
        Some(url) => workspace.admit(url, job.rules.protocol, job.publication.consent()),
        None => workspace.admit_sites(job.publication.consent()),
    };
    let completed = if job.publication.dry_run { Completed::default() } else { workspace.completed() };
    match admitted {
        Ok(()) => Ok((workspace, completed)),
        Err(error) => Err(completed.explain(error)),
    }
}

/// Opens the sites that have URLs in `layouts`, so that a problem with one of many sites is found before the second pass begins.
/// `opened` is the result of [`open`]. With many sites it is returned, because it is the parent that holds the lock for all of
/// them.
///
/// # Errors
/// If an origin cannot have a site, its directory cannot be opened, or `stop` is raised.
pub fn of_layouts(
    run: Context<'_>,
    layouts: Vec<SiteLayout>,
    opened: Workspace,
) -> Result<(Vec<Planned>, Option<Workspace>)> {
    let path = match &run.job.rules.base_url {
        Base::Directory(url) => {
            let layout = layouts.into_iter().map(|site| site.layout).next();
            let layout = layout.map_or_else(|| Layout::of_sections(Vec::new()), Ok)?;
            return Ok((vec![(Site::new(url.clone(), opened), layout)], None));
        }
        Base::EachOrigin(path) => path,
    };
    let open_one = |SiteLayout { origin, layout }: SiteLayout| {
        run.stop.check()?;
        let origin = origin.expect("each origin has a site");
        let base_url = path.on(&origin).map_err(|why| no_site(&origin, &why))?;
        let least = run.job.rules.index_bytes_min(&base_url, run.job.publication.name.as_ref());
        if run.job.rules.bytes_per_sitemap < least {
            return Err(no_site(&origin, "an index file is larger than a sitemap may be"));
        }
        let mut workspace = opened.open_site(&site_directory(&base_url), run.job.publication.on_damage())?;
        workspace.admit(&base_url, run.job.rules.protocol, run.job.publication.consent())?;
        Ok((Site::new(base_url, workspace), layout))
    };
    let sites = try_list(layouts.into_iter().map(open_one))?;
    Ok((sites, Some(opened)))
}

/// The error for an origin that cannot have a set although the survey listed its rows.
fn no_site(origin: &str, why: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("{origin}: the survey lists its URLs, but it cannot have a set: {why}"),
    )
}

/// Runs the second pass for each of `sites`, which adds a batch to each. `time` is the `lastmod` of new sitemaps, and `needs` what
/// the run was expected to need. A dry run writes nothing.
///
/// # Errors
/// See [`produce`].
pub fn produce_all(run: Context<'_>, sites: Vec<Planned>, time: &str, needs: &Estimate) -> Result<Vec<Site>> {
    let _phase =
        run.progress.phase(Phase::Produce, sites.iter().map(|(_, layout)| layout.tally.listed).sum());
    let produce_one = |(mut site, layout): Planned| {
        let segments = site.segment_rule(run.job);
        let produce = if run.job.publication.dry_run { preview } else { produce };
        let rest = rest_of(run.job.rules.sections.as_ref());
        let named = |section: &SectionLayout| SetSection {
            name: section.name.clone(),
            word: section.word.clone(),
            is_rest: section.name == rest,
        };
        site.sections = layout.sections.iter().map(named).collect();
        let batch = produce(run, &layout, &site.place.shelf(), time, segments.as_ref());
        let batch = batch.map_err(|error| explain_full_disk(error, run.job, needs))?;
        site.rows = sealed::record(run.job, layout.sealed, &batch);
        site.batches.push(batch);
        Ok(site)
    };
    try_list(sites.into_iter().map(produce_one))
}
