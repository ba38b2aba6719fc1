//! The driver: the only process of a run that takes the lock, decides and publishes.

use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

use super::order::{Provenance, WorkOrder, check_job};
use super::pack::{Examples, Packed};
use super::plan::{Planned, RoutingPlan, internal};
use super::region::RegionBatch;
use crate::clean::scope::ORIGINS_SERIALISED_MAX;
use crate::commands::build::finish::{Clock, finish};
use crate::commands::build::follow_up::FollowUp;
use crate::commands::build::guards;
use crate::commands::build::outcome::Outcome;
use crate::commands::build::report::{Report, Seconds};
use crate::commands::build::reporting::{Counted, examples_of_reason, excluded_most, of_counted};
use crate::commands::build::run_then;
use crate::commands::build::site::{self, Site};
use crate::commands::unpublished::unpublished;
use crate::common::progress::Estimate;
use crate::common::secret::Secret;
use crate::common::stop::Stop;
use crate::error::{Error, Result, Setting, message};
use crate::escape;
use crate::intake::report::{ColumnsReport, InputReport};
use crate::job::Job;
use crate::job::fingerprint::Fingerprint;
use crate::place::absolute;
use crate::produce::batch::Batch;
use crate::set::publish::Completed;
use crate::sitemap::segments::SegmentTally;
use crate::survey::memory::Memory;
use crate::survey::notes::Notes;
use crate::survey::rejects::Example;
use crate::survey::tally::Tally;

/// The driver of a run: holds the lock of the output directory, gives the workers their instructions, and publishes their
/// results.
///
/// Nothing is visible before [`Driver::publish`]. If the driver is dropped before, or its process dies, the live set stays
/// unchanged, and the files of the workers are removed, at once or by the next run.
#[derive(Debug)]
pub struct Driver {
    job: Job,
    stop: Stop,
    started: Instant,
    /// From the start to the plan.
    planned: Option<Duration>,
    follow_up: FollowUp,
    completed: Completed,
    site: Site,
    time: String,
    work_order: WorkOrder,
    memory: Memory,
    columns: Option<ColumnsReport>,
}

impl Driver {
    /// Opens the output directory of `job` for a run, as [`build`](crate::build()) does. All machines must reach it by the same
    /// path, as the same user; a location in a store, with the same settings ([`StoreSettings`](crate::StoreSettings)). `stop`
    /// ends the run; [`Driver::publish`] checks it too.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the job has inputs, a reject file (see [`rejects`](super::rejects)) or a
    /// base for each origin, or if its order is not sorted, its division not stable, or the newest of duplicates is not listed;
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy) if another run holds the directory; otherwise as [`build`](crate::build()).
    pub fn open(job: &Job, stop: &Stop) -> Result<Self> {
        Self::open_checked(job, stop).map_err(unpublished)
    }

    fn open_checked(job: &Job, stop: &Stop) -> Result<Self> {
        let started = Instant::now();
        check_job(job)?;
        if !job.input.paths.is_empty() {
            return Err(Error::usage(
                "on a cluster, each task has its source: leave the inputs of the job empty",
            ));
        }
        if job.publication.rejects.is_some() {
            let why = "on a cluster, the tasks give rejected rows to the engine; leave it out";
            return Err(Error::usage(message!(Setting::Rejects, ": {why}")));
        }
        let paths = job.paths();
        paths.check()?;
        paths.make_out()?;
        let (mut job, stop) = (job.clone(), stop.clone());
        job.publication.begin();
        let time = job.publication.w3c_time()?;
        let follow_up = FollowUp::prepare(&job, &stop)?;
        let (workspace, completed) = site::open(&job, &stop)?;
        let explain = |error| completed.explain(error);
        let base_url = job.rules.only_site().expect("it was checked").clone();
        let site = Site::new(base_url, workspace);
        let work_order = work_order(&job, &site, &time).map_err(explain)?;
        let memory = Memory::of(&job.resources, site.place.scratch()).map_err(explain)?;
        Ok(Self {
            job,
            stop,
            started,
            planned: None,
            follow_up,
            completed,
            site,
            time,
            work_order,
            memory,
            columns: None,
        })
    }

    /// Returns the instructions for the workers.
    pub fn work_order(&self) -> &WorkOrder {
        &self.work_order
    }

    /// Sets the columns of the input, which the report names.
    pub fn set_columns(&mut self, columns: ColumnsReport) {
        self.columns = Some(columns);
    }

    /// Plans the regions, once all [`pack`](super::pack()) tasks are done. `packed` has the result of each partition, exactly once.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if a result belongs to another run, or was made with other options.
    pub fn plan(&mut self, packed: &[Packed]) -> Result<Planned> {
        let planned = RoutingPlan::of(&self.work_order.provenance, packed);
        let planned = planned.map_err(|error| self.completed.explain(error))?;
        self.planned = Some(self.started.elapsed());
        Ok(planned)
    }

    /// Publishes the set that consists of `batches`, one per region in any order. `packed` and `plan` are those of the run.
    /// `input` is the name of the input in the report.
    ///
    /// First, it checks that no row was lost or counted twice: every region occurs once, all accepted rows have arrived, and all
    /// files exist. Data that the guards of the job refuse is not an error ([`Outcome::refused`]).
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if a result is missing, duplicated, or from another run or plan; otherwise as
    /// [`build`](crate::build()). Nothing is published then, and the run has ended.
    pub fn publish(
        self,
        packed: &[Packed],
        plan: &RoutingPlan,
        batches: Vec<RegionBatch>,
        input: &str,
    ) -> Result<Outcome> {
        let (job, stop) = (self.job.clone(), self.stop.clone());
        let mut outcome = self.publish_without_then(packed, plan, batches, input)?;
        run_then(&job, &mut outcome, &stop);
        Ok(outcome)
    }

    /// Publishes like [`publish`](Self::publish), but leaves the command of
    /// [`Publication::then`](crate::options::Publication::then) to a call of [`run_then`](crate::process::run_then).
    ///
    /// # Errors
    /// Same as [`publish`](Self::publish).
    pub fn publish_without_then(
        self,
        packed: &[Packed],
        plan: &RoutingPlan,
        batches: Vec<RegionBatch>,
        input: &str,
    ) -> Result<Outcome> {
        let completed = self.completed.clone();
        let published = self.publish_set(packed, plan, batches, input);
        let mut outcome = Outcome::with_completed(completed, published).map_err(unpublished)?;
        outcome.report_warnings();
        Ok(outcome)
    }

    fn publish_set(
        self,
        packed: &[Packed],
        plan: &RoutingPlan,
        batches: Vec<RegionBatch>,
        input: &str,
    ) -> Result<Outcome> {
        let produced = self.started.elapsed();
        let Self {
            job, stop, started, planned, follow_up, mut site, time, work_order, memory, columns, ..
        } = self;
        check_provenance(&work_order.provenance, packed, plan, &batches)?;
        let batches = in_order(plan, batches)?;
        let tally = add_up(packed, plan, &batches)?;
        let mut report = report(&job, packed, tally, input)?;
        report.inputs.iter_mut().for_each(|input| input.columns.clone_from(&columns));
        let surveyed = planned.unwrap_or(produced);
        report.seconds = Seconds::of(surveyed, Duration::ZERO, Duration::ZERO, surveyed);
        let (live, listed) = (site.place.live(), report.listed);
        if let Err(refused) =
            guards::check(&job, &report).and_then(|()| guards::check_set(&job, &site.base_url, live, listed))
        {
            return Ok(Outcome::not_published(report, refused));
        }
        site.batches = batches.into_iter().map(|region| region.batch).collect();
        if site.batches.is_empty() {
            site.batches.push(empty_batch(&job, &work_order)?);
        }
        check_files(&site)?;
        stop.check()?;
        let clock = Clock { started, surveyed, produced };
        finish(&job, report, vec![site], &time, follow_up, &memory, &clock)
    }
}

/// The instructions for the workers of a run that publishes to `site`.
fn work_order(job: &Job, site: &Site, time: &str) -> Result<WorkOrder> {
    let place = &site.place;
    let out = absolute(place.directory())?;
    let probe = Secret::draw()?.to_hex();
    place.probe(probe.as_bytes())?;
    Ok(WorkOrder {
        provenance: Provenance::new(job, place.run()),
        time: time.into(),
        out,
        name: place.name().cloned(),
        probe,
        secret: place.secret().to_hex(),
        sitemaps: place.sealed_sitemaps(),
        segments: site.wanted_segments(job),
    })
}

/// Refuses messages of another run or plan.
fn check_provenance(
    own: &Provenance,
    packed: &[Packed],
    plan: &RoutingPlan,
    batches: &[RegionBatch],
) -> Result<()> {
    packed.iter().try_for_each(|packed| packed.provenance.check("a result of pack", own))?;
    plan.provenance.check("the plan", own)?;
    let stamp = plan.stamp();
    for batch in batches {
        let region = batch.region;
        batch.provenance.check(&format!("the batch of region {region}"), own)?;
        if batch.plan != stamp {
            return Err(Error::data(format!("the batch of region {region} was made by another plan")));
        }
        plan.check(region)?;
    }
    Ok(())
}

/// Returns the batches in the order of their regions. Every region must occur exactly once.
fn in_order(plan: &RoutingPlan, mut batches: Vec<RegionBatch>) -> Result<Vec<RegionBatch>> {
    batches.sort_unstable_by_key(|batch| batch.region);
    if let Some(twice) = batches.windows(2).find(|pair| pair[0].region == pair[1].region) {
        return Err(lost(format!("region {} was given twice", twice[0].region)));
    }
    // Only the first region does not begin with a URL of the set.
    let has = |region: u32| batches.binary_search_by_key(&region, |batch| batch.region).is_ok();
    match (1..plan.regions()).find(|&region| !has(region)) {
        Some(region) => Err(lost(format!("region {region} is missing"))),
        None => Ok(batches),
    }
}

/// Checks that the batches account for every row, and returns the tally of all rows.
fn add_up(packed: &[Packed], plan: &RoutingPlan, batches: &[RegionBatch]) -> Result<Tally> {
    let mut tally: Tally = packed.iter().map(|packed| packed.tally).sum();
    let made: Tally = batches.iter().map(|region| region.batch.tally).sum();
    let (accepted, arrived) = (tally.entries(), batches.iter().map(|region| region.rows).sum::<u64>());
    if accepted != plan.accepted || accepted != arrived {
        let planned = plan.accepted;
        return Err(lost(format!(
            "{accepted} rows were accepted, {planned} were planned, and {arrived} arrived in the regions"
        )));
    }
    let sum = |sums: &mut dyn Iterator<Item = u64>| sums.fold(0, u64::wrapping_add);
    let sent = sum(&mut packed.iter().map(|packed| packed.sum));
    if sent != sum(&mut batches.iter().map(|region| region.sum)) {
        return Err(Error::data(
            "the rows in the regions differ from those accepted, because a repeated task has read other rows; nothing was \
             published; store the input before the run",
        ));
    }
    tally.listed = made.listed;
    tally.duplicates = made.duplicates;
    if !tally.is_balanced() || made.rendered != tally.rendered {
        return Err(internal(format!("the rows do not add up ({tally:?}, of which regions have {made:?})")));
    }
    let firsts = || {
        batches
            .iter()
            .flat_map(|region| region.batch.sitemaps.iter().map(|made| (region.region, &made.first_url)))
    };
    match firsts().is_sorted() && firsts().all(|(region, url)| plan.is_in(region, url)) {
        true => Ok(tally),
        false => Err(internal("the sitemaps of the regions are not in order".into())),
    }
}

fn lost(why: String) -> Error {
    Error::data(format!("{why}; nothing was published; collect the result of every task once"))
}

/// The batch of a set without URLs.
fn empty_batch(job: &Job, work_order: &WorkOrder) -> Result<Batch> {
    let rule = work_order.segment_rule(job)?;
    let segments = rule.as_ref().map(|rule| SegmentTally::new(rule).finish());
    let rules = Fingerprint::of(&job.rules, &job.input.format);
    Ok(Batch::new(rules, Tally::default(), Vec::new()).with_segments(segments))
}

/// Checks that all sitemaps of the batches exist completely, and that no two have the same name.
fn check_files(site: &Site) -> Result<()> {
    let view = site.place.view();
    let mut names = HashSet::new();
    for made in site.batches.iter().flat_map(|batch: &Batch| &batch.sitemaps) {
        let sitemap = &made.sitemap;
        let file = &*sitemap.file;
        if !names.insert(file) {
            // Two workers chose the same name at the same time, because the first digits of two hashes are equal.
            return Err(Error::data(format!(
                "{file}: two sitemaps have this name; nothing was published; run again"
            )));
        }
        let bytes = match site.place.staged_bytes(file)? {
            None => view.look_up(file.as_ref())?.map(|found| found.bytes),
            staged => staged,
        };
        if bytes != Some(sitemap.gzip_bytes) {
            let missing = io::Error::from(io::ErrorKind::NotFound);
            return Err(Error::io(&view.path(file.as_ref()), "was made by a worker but is missing", missing));
        }
    }
    Ok(())
}

/// The report of the rows, as far as it is known before publishing.
fn report(job: &Job, packed: &[Packed], tally: Tally, input: &str) -> Result<Report> {
    let (mut examples, mut notes) = (Examples::default(), Notes::default());
    for packed in packed {
        examples.merge(&packed.examples);
        notes.merge(&packed.notes);
    }
    notes.out_of_scope.truncate(ORIGINS_SERIALISED_MAX);
    let each = examples_of_reason(job);
    let rejected = tally.rejected.iter().map(|(reason, _)| reason.as_str());
    let excluded = excluded_most(job, &notes);
    let words = rejected.chain(tally.dropped.iter().map(|(reason, _)| reason.as_str()));
    let words = words.chain(excluded.iter().map(|rule| &**rule));
    let name = escape::shown(input.as_bytes());
    // The tasks do not know the name.
    let named = |example: &Example| Example { input: name.clone(), ..example.clone() };
    let first = |word| examples.of(word).iter().take(each).map(named);
    let counted = Counted {
        inputs: vec![InputReport {
            path: name.clone(),
            format: "rows".into(),
            packing: None,
            lines: tally.lines,
            bytes: packed.iter().map(|packed| packed.bytes).sum(),
            columns: None,
            likely_options: None,
            has_entities: false,
            has_escaped_quotes: false,
            dropped_elements: Default::default(),
        }],
        skipped: Vec::new(),
        estimate: Estimate::default(),
        tally,
        given: packed.iter().fold(Default::default(), |sum, packed| sum + packed.given),
        non_utf8_before: 0,
        notes,
        examples: words.flat_map(first).collect(),
    };
    of_counted(job, counted, |reason| examples.of(reason.as_str()).iter().map(named).collect())
}
