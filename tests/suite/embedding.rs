//! Programs that call the library: from the tasks of a thread pool, with one job for many builds, without inputs.

use std::io::{BufRead, Cursor};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sitemill::{
    CheckJob, CleanJob, DiffJob, Error, ErrorKind, Job, Outcome, RollbackJob, Silent, Source, StatusJob,
    Stop, Target, UrlsJob, build, build_from, check, clean, clean_from, diff, rollback, status, urls,
};

use crate::support::TempDir;

fn job(out: PathBuf) -> Job {
    Job::new(Vec::new(), "https://h.example/".parse().unwrap(), out)
}

fn built(job: &Job, source: Source<'_>) -> Outcome {
    build_from(job, vec![source], &Silent, &Stop::default()).unwrap()
}

/// A target in memory.
fn target(bytes: &mut Vec<u8>) -> Target<'_> {
    Target { name: Path::new("memory"), to: bytes }
}

#[test]
fn commands_that_tasks_of_a_thread_pool_call_do_not_begin_within_one_another() {
    let directory = TempDir::new();
    let out = |n: usize| directory.join(format!("out-{n}"));
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    // The most calls at once, on the only thread of the pool.
    let at_once = |call: &(dyn Fn(usize) + Sync)| {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let task = |n| {
            most.fetch_max(1 + now.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
            call(n);
            now.fetch_sub(1, Ordering::SeqCst);
        };
        pool.install(|| (0..8).into_par_iter().for_each(task));
        most.into_inner()
    };
    let builds = at_once(&|n| {
        let rows = (0..10_000).map(|page| format!("https://h.example/{n}/{page}"));
        built(&job(out(n)), Source::rows("pages", rows));
    });
    assert_eq!(builds, 1);
    let diffs = at_once(&|n| {
        let (job, mut text) = (DiffJob::new(out(n), out((n + 1) % 8)), Vec::new());
        let report = diff(&job, &Silent, &Stop::default(), target(&mut text)).unwrap();
        assert_eq!((report.added, report.removed), (10_000, 10_000));
    });
    assert_eq!(diffs, 1);
}

#[test]
fn an_iterator_is_not_asked_for_another_row_after_its_end() {
    let directory = TempDir::new();
    let rows = || {
        let mut pages = 0..10;
        let mut has_ended = false;
        iter::from_fn(move || {
            assert!(!has_ended, "asked again");
            let page = pages.next();
            has_ended = page.is_none();
            page.map(|page| format!("https://h.example/{page}"))
        })
    };
    let source = || Source::rows("pages", rows());
    assert_eq!(built(&job(directory.join("out")), source()).report.listed, 10);
    let fallible = Source::try_rows("pages", rows().map(Ok::<_, Error>));
    assert_eq!(built(&job(directory.join("out")), fallible).report.listed, 10);
    let (stop, mut cleaned) = (Stop::default(), Vec::new());
    let job = CleanJob::new(Vec::new());
    let report = clean_from(&job, vec![source()], &Silent, &stop, target(&mut cleaned), None).unwrap();
    assert_eq!(report.accepted, 10);
}

#[test]
fn rows_can_be_lines_of_bytes() {
    let directory = TempDir::new();
    let text = b"https://h.example/1\nhttps://h.example/\xfc";
    let sources = [
        Source::try_rows("owned", Cursor::new(text).split(b'\n')),
        Source::rows("borrowed", text.split(|&byte| byte == b'\n')),
    ];
    for source in sources {
        assert_eq!(built(&job(directory.join("out")), source).report.listed, 2);
    }
}

#[test]
fn a_job_that_is_used_again_has_the_time_of_each_run() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let (job, back) = (job(out.clone()), RollbackJob::new(out.clone()));
    let published = || {
        let status = status(&StatusJob::new(out.clone()), &Silent, &Stop::default()).unwrap();
        status[0].live.published.clone()
    };
    built(&job, Source::rows("pages", ["https://h.example/1"]));
    let first = published();
    // Times are in whole seconds.
    thread::sleep(Duration::from_secs(1));
    built(&job, Source::rows("pages", ["https://h.example/2"]));
    let second = published();
    assert!(first < second, "{first}, {second}");
    rollback(&back, &Silent, &Stop::default()).unwrap();
    assert!(second <= published(), "{second}");
}

#[test]
fn a_job_without_inputs_is_wrong_usage() {
    let directory = TempDir::new();
    let mut job = job(directory.join("out"));
    job.guards.allow_empty = true;
    let (stop, mut bytes) = (Stop::default(), Vec::new());
    for error in [
        build(&job, &Silent, &stop).map(drop).unwrap_err(),
        build_from(&job, Vec::new(), &Silent, &stop).map(drop).unwrap_err(),
        clean(&CleanJob::new(Vec::new()), &Silent, &stop, target(&mut bytes), None).map(drop).unwrap_err(),
        check(&CheckJob::new(Vec::new()), &Silent, &stop, &mut |_| Ok(())).map(drop).unwrap_err(),
        urls(&UrlsJob::new(Vec::new()), &Silent, &stop, target(&mut bytes)).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert_eq!(error.to_string(), "no inputs are given; give at least one");
    }
    assert!(!directory.join("out").exists());
    // Rows that are given, but are none, are an empty input.
    assert!(built(&job, Source::rows("pages", iter::empty::<&str>())).report.published);
}
