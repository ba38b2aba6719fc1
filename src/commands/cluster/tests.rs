//! Clusters in one process: tasks are function calls, and the test takes the place of the engine.

mod blocks;
mod faults;
#[cfg(feature = "parquet")]
mod files;

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::*;
use crate::common::random::Random;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Divide, OnDuplicate, Order, Robots, SetName};
use crate::sitemap::divide::borders::ROWS_PER_BORDER_HERE;
use crate::{Job, Outcome, Report, Silent, Source, SourceRow, Stop, build_from};

/// A directory for one test, removed on drop.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sitemill-cluster-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn job(&self, out: &str) -> Job {
        let mut job = Job::new(Vec::new(), "https://h.example/".parse().unwrap(), self.0.join(out));
        let rules = &mut job.rules;
        (rules.order, rules.divide, rules.on_duplicate) =
            (Order::Sorted, Divide::Stable, OnDuplicate::Newest);
        (rules.urls_per_sitemap, rules.sitemaps_per_index) = (50, 7);
        job.resources.threads = NonZero::new(2).unwrap();
        job.resources.memory = Some(128 << 20);
        job.publication.time = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_119_744_000));
        job
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Rows of all kinds: with and without tags, duplicates with other tags, blank, rejected, and with tags that are dropped.
fn rows(count: usize, seed: u64) -> Vec<SourceRow> {
    let mut random = Random::new(seed);
    let mut row = |n: usize| {
        let page = format!("https://h.example/{}/{}", ["a", "b", "ü&'"][n % 3], n);
        match n % 40 {
            0 => SourceRow::new(["", "  "][n / 40 % 2]),
            1 => SourceRow::new(format!("no url {n}")).lastmod("2020-01-01"),
            2 => SourceRow::new(format!("https://o{}.example/{n}", n % 13)).image("https://h.example/i.png"),
            3 => SourceRow::new(page).lastmod("2024-13-01").priority("7"),
            4..=9 => SourceRow::new(page).lastmod(format!("2024-05-{:02}", 1 + random.below(28))),
            10 => SourceRow::new(page)
                .image("https://h.example/i.png?a&b")
                .alternate("de", "https://h.example/de"),
            11 => SourceRow::new(page).image("none").changefreq("daily"),
            12 => SourceRow::new([page.as_bytes(), b"\xff"].concat()),
            13..=25 => SourceRow::new(format!("https://h.example/often/{}", random.below(count / 8 + 1)))
                .lastmod(format!("2023-0{}-07", 1 + random.below(9)))
                .priority(["", "0.5", "1"][random.below(3)]),
            _ => SourceRow::new(page),
        }
    };
    (0..count).map(&mut row).collect()
}

fn shuffled<T>(mut items: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    (1..items.len()).rev().for_each(|at| items.swap(at, random.below(at + 1)));
    items
}

/// Everything that the tasks of a run hand to the driver.
struct Run {
    driver: Driver,
    packed: Vec<Packed>,
    plan: RoutingPlan,
    /// The blocks of each reduce task.
    routed: Vec<Vec<(u32, Vec<u8>)>>,
}

impl Run {
    /// Runs the map tasks of `partitions` partitions, for `tasks` reduce tasks. All messages travel as JSON.
    fn map(job: &Job, rows: &[SourceRow], partitions: usize, tasks: usize) -> Result<Self> {
        let stop = Stop::default();
        let mut driver = Driver::open(job, &stop)?;
        let work_order = WorkOrder::from_json(&driver.work_order().to_json())?;
        work_order.check_reachable()?;
        let rows = shuffled(rows.to_vec(), partitions as u64);
        let (mut packed, mut blocks) = (Vec::new(), Vec::new());
        for part in 0..partitions {
            let own = rows.iter().skip(part).step_by(partitions).cloned();
            let source = Source::rows(format!("part {part}"), own.collect::<Vec<_>>());
            let mut emit = |block| {
                blocks.push(block);
                Ok(())
            };
            packed.push(Packed::from_json(&pack(job, &work_order, source, 0, &mut emit, &stop)?.to_json())?);
        }
        let Planned::Ready(plan) = driver.plan(&packed)? else { panic!("there are candidates enough") };
        let plan = RoutingPlan::from_json(&plan.to_json())?;
        let mut routed = vec![Vec::new(); tasks];
        for (task, blocks) in shuffled(blocks, 7).chunks(3).enumerate() {
            let mut router = Router::new(&plan, if task % 2 == 0 { 0 } else { 1 << 20 })?;
            let mut emit = |region: u32, block| {
                routed[region as usize % tasks].push((region, block));
                Ok(())
            };
            blocks.iter().try_for_each(|block| router.push(block, &mut emit))?;
            router.finish(&mut emit)?;
        }
        Ok(Self { driver, packed, plan, routed })
    }

    /// Runs the reduce task `task`.
    fn reduce(&self, job: &Job, task: usize) -> Result<Vec<RegionBatch>> {
        let work_order = self.driver.work_order();
        let mut regions = Regions::new(job, work_order, &self.plan, &std::env::temp_dir())?;
        let blocks = shuffled(self.routed[task].clone(), 3);
        blocks.iter().try_for_each(|(region, block)| regions.push(*region, block))?;
        let batches = regions.finish(&Stop::default())?;
        batches.iter().map(|batch| RegionBatch::from_json(&batch.to_json())).collect()
    }

    fn reduce_all(&self, job: &Job) -> Result<Vec<RegionBatch>> {
        let all: Vec<_> = (0..self.routed.len()).map(|task| self.reduce(job, task)).collect::<Result<_>>()?;
        Ok(shuffled(all.into_iter().flatten().collect(), 5))
    }

    fn publish(self, batches: Vec<RegionBatch>) -> Result<Outcome> {
        self.driver.publish(&self.packed, &self.plan, batches, "pages")
    }
}

fn on_cluster(job: &Job, rows: &[SourceRow], partitions: usize, tasks: usize) -> Result<Outcome> {
    let run = Run::map(job, rows, partitions, tasks)?;
    let batches = run.reduce_all(job)?;
    run.publish(batches)
}

fn on_one_machine(job: &Job, rows: &[SourceRow]) -> Outcome {
    build_from(job, vec![Source::rows("pages", rows.to_vec())], &Silent, &Stop::default()).unwrap()
}

/// The published files, and the manifest without the fields that differ from run to run.
fn published(job: &Job) -> (BTreeMap<String, Vec<u8>>, Value) {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&job.publication.out).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            files.insert(entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap());
        }
    }
    let manifest = state(job).join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(manifest).unwrap()).unwrap();
    forget(&mut manifest);
    (files, manifest)
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !["run", "secret", "seals", "checksum", "rows"].contains(&&**name));
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

/// The counts of a report.
fn counts(report: &Report) -> Value {
    let mut report = serde_json::to_value(report).unwrap();
    let others = ["inputs", "hint", "examples", "seconds", "needs", "expired", "details"];
    report.as_object_mut().unwrap().retain(|name, _| !others.contains(&&**name));
    report
}

/// The directory with the state of the set.
fn state(job: &Job) -> PathBuf {
    let state = job.publication.out.join(".sitemill");
    job.publication.name.as_ref().map_or(state.clone(), |name| state.join("names").join(name.as_str()))
}

/// The staging directories of active and dead runs.
fn staging(job: &Job) -> Vec<PathBuf> {
    fs::read_dir(state(job).join("staging")).unwrap().map(|run| run.unwrap().path()).collect()
}

/// The names of staged sitemaps, in order.
fn staged(job: &Job) -> Vec<String> {
    let files = staging(job).into_iter().flat_map(|run| fs::read_dir(run).unwrap());
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".gz")).collect();
    names.sort_unstable();
    names
}

fn is_same(cluster: &Job, one: &Job) {
    let (of_cluster, of_one) = (published(cluster), published(one));
    assert_eq!(of_cluster.0.keys().collect::<Vec<_>>(), of_one.0.keys().collect::<Vec<_>>());
    assert!(of_cluster.0 == of_one.0, "the names are equal, and the bytes are not");
    assert_eq!(of_cluster.1, of_one.1);
}

#[test]
fn a_cluster_publishes_what_one_machine_publishes_however_rows_and_regions_are_distributed() {
    let rows = rows(6_000, 1);
    for (rows_per_border, regions) in [(1_000_000, 1), (100, 33)] {
        ROWS_PER_BORDER_HERE.set(rows_per_border);
        let directory = Directory::new();
        let one = directory.job("one");
        let want = on_one_machine(&one, &rows);
        assert!(want.report.listed > 3_000 && want.report.duplicates > 500 && want.report.sitemaps > 50);
        for (partitions, tasks) in [(1, 1), (8, 3), (50, 40)] {
            let job = directory.job(&format!("cluster {partitions}"));
            let run = Run::map(&job, &rows, partitions, tasks).unwrap();
            assert_eq!(run.plan.regions(), regions);
            let batches = run.reduce_all(&job).unwrap();
            let got = run.publish(batches).unwrap();
            assert!(got.refused.is_none() && got.warnings.is_empty());
            is_same(&job, &one);
            assert_eq!(counts(&got.report), counts(&want.report));
            assert!(staging(&job).is_empty());
            let reasons = |report: &Report| {
                report.examples.iter().map(|example| example.reason.clone()).collect::<Vec<_>>()
            };
            assert_eq!(reasons(&got.report), reasons(&want.report));
        }
    }
}

#[test]
fn rules_for_urls_apply_and_count_on_a_cluster_as_on_one_machine() {
    let mut rows = rows(3_000, 4);
    rows.extend((0..200).map(|n| SourceRow::new(format!("/relative/{n}")).priority(["", "7"][n % 2])));
    rows.extend((0..200).map(|n| SourceRow::new(format!("http://h.example/often/{n}"))));
    let directory = Directory::new();
    let job = |out: &str| {
        let mut job = directory.job(out);
        let urls = &mut job.rules.urls;
        urls.relative_to = Some("https://h.example/".parse().unwrap());
        urls.rewrites = vec!["http://=https://".parse().unwrap()];
        urls.include = vec!["/(a|b|often)/".parse().unwrap(), "/relative/".parse().unwrap()];
        urls.exclude = vec!["7$".parse().unwrap(), "/a/.*1".parse().unwrap()];
        urls.robots = Some(Robots::parse(b"User-agent: *\nDisallow: /often/1\nAllow: /often/11", None));
        job
    };
    let one = job("one");
    let want = on_one_machine(&one, &rows).report;
    assert!(want.excluded.values().chain(want.included.values()).all(|&lines| lines > 0), "{want:?}");
    assert!(want.rewritten["http://=https://"] > 0 && want.listed > 500);
    let cluster = job("cluster");
    let got = on_cluster(&cluster, &rows, 7, 3).unwrap().report;
    is_same(&cluster, &one);
    assert_eq!(counts(&got), counts(&want));

    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    let mut tell = |rejected: RejectedRow<'_>| {
        *told.entry(rejected.reason.to_owned()).or_insert(0) += 1;
        Ok(())
    };
    rejects(&cluster, Source::rows("pages", rows.clone()), &mut tell, &Stop::default()).unwrap();
    assert!(want.excluded.iter().all(|(rule, lines)| told[&**rule] == *lines), "{told:?}");
}

#[test]
fn sitemaps_that_have_not_changed_are_not_written_again() {
    publish_again(None);
}

#[test]
fn a_cluster_publishes_a_named_set_as_one_machine_does() {
    publish_again("blog".parse().ok());
}

/// Publishes a set three times, with and without changes.
fn publish_again(name: Option<SetName>) {
    ROWS_PER_BORDER_HERE.set(200);
    let (directory, mut rows) = (Directory::new(), rows(4_000, 5));
    let mut jobs = ["one", "cluster"].map(|out| directory.job(out));
    jobs.iter_mut().for_each(|job| job.publication.name.clone_from(&name));
    let [one, job] = jobs;
    for round in 0..3 {
        if round == 1 {
            rows.extend(["https://h.example/a/new", "https://h.example/zz"].map(SourceRow::new));
        }
        on_one_machine(&one, &rows);
        let run = Run::map(&job, &rows, 6, 3).unwrap();
        let batches = run.reduce_all(&job).unwrap();
        let new = staged(&job).len();
        match round {
            0 => assert!(new > 40, "{new}"),
            1 => assert!((1..15).contains(&new), "{new}"),
            _ => assert_eq!(new, 0),
        }
        run.publish(batches).unwrap();
        is_same(&job, &one);
    }
    // A published file that is damaged is replaced.
    let file = published(&job).0.keys().find(|name| name.ends_with(".gz")).unwrap().clone();
    fs::write(job.publication.out.join(file), b"damaged").unwrap();
    assert!(on_cluster(&job, &rows, 2, 2).unwrap().refused.is_none());
    on_one_machine(&one, &rows);
    is_same(&job, &one);
}

#[test]
fn guards_and_empty_sets_work_as_on_one_machine() {
    let directory = Directory::new();
    let [mut one, mut job] = ["one", "cluster"].map(|out| directory.job(out));
    let check = |one: &Job, job: &Job, rows: &[SourceRow]| {
        let (want, got) = (on_one_machine(one, rows), on_cluster(job, rows, 3, 2).unwrap());
        let words = |outcome: &Outcome| outcome.refused.as_ref().map(ToString::to_string);
        assert_eq!(words(&got), words(&want));
        assert_eq!(counts(&got.report), counts(&want.report));
        words(&got).is_some()
    };
    let all = rows(500, 8);
    assert!(check(&one, &job, &[]) && check(&one, &job, &vec![SourceRow::new(" "); 9]));
    assert!(!check(&one, &job, &all) && check(&one, &job, &all[..100]));
    is_same(&job, &one);
    for job in [&mut one, &mut job] {
        job.guards.allow_empty = true;
        (job.publication.details, job.publication.count_segments) = (true, true);
    }
    assert!(!check(&one, &job, &all));
    is_same(&job, &one);
    assert!(!check(&one, &job, &[]));
    is_same(&job, &one);
}

#[test]
fn a_task_can_tell_of_rejected_rows_and_dropped_tags_as_the_reject_file_does() {
    let (directory, rows) = (Directory::new(), rows(500, 9));
    let (mut one, job) = (directory.job("one"), directory.job("cluster"));
    let file = directory.0.join("rejects.tsv");
    one.publication.rejects = Some(file.clone());
    on_one_machine(&one, &rows);
    let mut told = Vec::new();
    let mut tell = |rejected: RejectedRow<'_>| {
        let text = crate::escape::shown(rejected.tag.unwrap_or(rejected.text));
        told.push(format!("{}\t{}\t{text}", rejected.row, rejected.reason));
        Ok(())
    };
    rejects(&job, Source::rows("pages", rows), &mut tell, &Stop::default()).unwrap();
    let written = fs::read_to_string(file).unwrap();
    let written = written.lines().skip(1).map(|line| {
        let [_, row, _, reason, text] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        format!("{row}\t{reason}\t{text}")
    });
    assert!(told.len() > 30 && told.iter().any(|told| told.contains("tag-")));
    assert_eq!(told, written.collect::<Vec<_>>());
}
