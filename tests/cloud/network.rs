//! Failing networks and stores: each kind of failure at each request, temporary and permanent.

use std::time::Duration;

use crate::cases::{in_parallel, wanted};
use crate::proxy::{Fault, INTERNAL_ERROR, Request, SLOW_DOWN};
use crate::support::random::Random;
use crate::support::{Run, TempDir, finish};
use crate::world::{Bucket, Seen, Store, assert_each_of, pages};

/// Temporary failures of single requests.
const FAULTS: [Fault; 7] = [
    INTERNAL_ERROR,
    SLOW_DOWN,
    Fault::CutRequest,
    Fault::CutAnswer,
    Fault::LoseAnswer,
    Fault::Refuse(Duration::from_millis(150)),
    Fault::Answer(502, "BadGateway"),
];

/// The number of cases at the same time. They mostly wait for back-off, so they need little CPU time.
const AT_ONCE: usize = 8;

/// A bucket with a live set of pages 1 to 60, and what a crawler sees of this set and of one of pages 1 to 90.
struct World {
    store: Store,
    template: Bucket,
    old: Seen,
    new: Seen,
    directory: TempDir,
}

impl World {
    fn new() -> Self {
        let store = Store::new();
        let template = store.bucket("template");
        template.put_foreign();
        template.publish(1, 60).expect(0);
        let other = store.copied(&template, "template-new");
        other.publish(1, 90).expect(0);
        let directory = TempDir::new();
        directory.file("urls.txt", pages(1, 90));
        Self { old: template.crawl(), new: other.crawl(), store, template, directory }
    }

    /// Publishes pages 1 to 90 while the store fails according to `plan`, and checks the result: the new set after success, or
    /// complete files and a message after a failure. Returns the run and the requests that the plan has seen.
    #[track_caller]
    fn run(&self, name: &str, plan: impl FnMut(&Request) -> Fault + Send + 'static) -> (Run, Vec<Request>) {
        self.run_with(name, ("AWS_TIMEOUT", "1 second"), plan)
    }

    /// As [`run`](World::run), with an environment variable instead of the timeout of a second.
    #[track_caller]
    fn run_with(
        &self,
        name: &str,
        (variable, value): (&str, &str),
        plan: impl FnMut(&Request) -> Fault + Send + 'static,
    ) -> (Run, Vec<Request>) {
        let bucket = self.store.copied(&self.template, name);
        bucket.proxy.plan(plan);
        let mut build = bucket.build();
        build.env(variable, value).arg(self.directory.join("urls.txt"));
        let run = finish(&mut build, b"");
        let log = bucket.proxy.log();
        bucket.proxy.release();
        bucket.proxy.forward();
        assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
        if run.exit == 0 {
            assert_eq!(bucket.crawl(), self.new, "{name}");
        } else {
            assert!([73, 74, 75].contains(&run.exit), "{name}: exit {}: {}", run.exit, run.stderr);
            assert!(run.stderr.contains(&format!("s3://{name}")), "{name}: {}", run.stderr);
            assert_each_of(&bucket.crawl(), &[&self.old, &self.new]);
        }
        // The next run completes the set or cleans up.
        finish(&mut bucket.build(), b"").expect(65);
        let seen = bucket.crawl();
        let is_as_told = if run.exit == 0 { seen == self.new } else { seen == self.old || seen == self.new };
        assert!(is_as_told, "{name}: exit {}: {}{seen:?}", run.exit, run.stderr);
        bucket.assert_nothing_is_left();
        bucket.assert_foreign();
        self.store.remove(bucket);
        (run, log)
    }
}

#[test]
fn a_request_that_fails_once_is_repeated_and_the_set_is_published() {
    let world = World::new();
    for (kind, fault) in FAULTS.into_iter().enumerate() {
        let hit = in_parallel(AT_ONCE, |nth| {
            let name = format!("once-{kind}-{nth}");
            let plan = move |request: &Request| if request.number == nth { fault } else { Fault::None };
            let (run, log) = world.run(&name, plan);
            let request = log.get(nth - 1);
            let request = request.map(|request| format!("{} {}", request.method, request.key));
            assert_eq!(run.exit, 0, "{fault:?} at {nth}, {request:?}: {}", run.stderr);
            request.is_some()
        });
        assert!(hit > 12, "{fault:?}: {hit} requests");
    }
}

#[test]
fn a_request_that_nobody_answers_is_given_up_and_repeated() {
    let world = World::new();
    for fault in [Fault::Hang, Fault::HangAfter] {
        let hit = in_parallel(2 * AT_ONCE, |nth| {
            let plan = move |request: &Request| if request.number == nth { fault } else { Fault::None };
            let (run, log) = world.run(&format!("{fault:?}-{nth}").to_lowercase(), plan);
            assert_eq!(run.exit, 0, "{fault:?} at {nth}: {}", run.stderr);
            log.len() >= nth
        });
        assert!(hit > 12, "{fault:?}: {hit} requests");
    }
}

#[test]
fn puts_whose_replies_are_all_lost_are_recognised() {
    let world = World::new();
    let plan = |request: &Request| {
        if request.method == "PUT" && request.attempt == 1 { Fault::LoseAnswer } else { Fault::None }
    };
    let (run, log) = world.run("lost-replies", plan);
    run.expect(0);
    // Each PUT succeeded once: 3 sitemaps, 3 index files, the robots lines, the journal and the manifests.
    let puts = log.iter().filter(|request| request.method == "PUT" && request.status == Some(200)).count();
    assert!(puts >= 10, "{puts} puts");
}

#[test]
fn a_sitemap_that_is_damaged_on_the_way_is_refused_by_the_store_and_repeated() {
    let world = World::new();
    let is_first = |request: &Request| request.is_sitemap() && request.attempt == 1;
    let plan = move |request: &Request| if is_first(request) { Fault::Damage } else { Fault::None };
    // Bodies are signed, as they are when they cross a network without TLS.
    let (run, log) = world.run_with("damaged", ("AWS_UNSIGNED_PAYLOAD", "false"), plan);
    run.expect(0);
    let damaged: Vec<_> = log.iter().filter(|request| is_first(request)).collect();
    assert!(damaged.len() >= 3 && damaged.iter().all(|request| request.status != Some(200)), "{damaged:?}");
}

#[test]
fn a_damaged_sitemap_is_never_published_even_if_only_its_checksum_tells_and_the_store_keeps_it() {
    let world = World::new();
    let bucket = world.store.copied(&world.template, "kept");
    bucket.proxy.plan(|request| if request.is_sitemap() { Fault::Damage } else { Fault::None });
    // A store that keeps the object in spite of its answer, as s3s-fs does, leaves a foreign object, which is never replaced.
    let run = finish(bucket.build().arg(world.directory.join("urls.txt")), b"").expect(73);
    assert!(run.stderr.contains("s3://kept/maps/sitemap-000"), "{}", run.stderr);
    let log = bucket.proxy.log();
    let damaged: Vec<_> = log.iter().filter(|request| request.is_sitemap()).collect();
    assert!(!damaged.is_empty() && damaged.iter().all(|request| request.status != Some(200)), "{damaged:?}");
    bucket.proxy.forward();
    assert_eq!(bucket.crawl(), world.old);
}

#[test]
fn a_store_that_stays_busy_is_asked_as_often_as_the_setting_says() {
    let world = World::new();
    let variable = ("AWS_MAX_ATTEMPTS", "2");
    let is_journal = |request: &Request, method| {
        request.key.ends_with("maps/.sitemill/journal.json") && request.method == method
    };
    for method in ["GET", "PUT"] {
        let (run, log) =
            world.run_with(&format!("busy-{}", method.to_lowercase()), variable, move |request| {
                if is_journal(request, method) { SLOW_DOWN } else { Fault::None }
            });
        assert!(run.expect(74).stderr.contains("SlowDown"));
        assert_eq!(log.iter().filter(|request| is_journal(request, method)).count(), 2, "{method}");
    }
}

#[test]
fn a_busy_store_is_asked_again_after_a_pause() {
    let world = World::new();
    // The first attempt of every request fails.
    let (run, log) = world.run("busy", |request| if request.attempt == 1 { SLOW_DOWN } else { Fault::None });
    run.expect(0);
    assert!(log.iter().filter(|request| request.status.is_none()).count() > 12);
}

#[test]
fn an_upload_that_met_another_request_is_repeated() {
    let world = World::new();
    let conflict = Fault::Answer(409, "ConditionalRequestConflict");
    let is_conditional = |request: &Request| {
        request.head.header("if-match").or(request.head.header("if-none-match")).is_some()
            && request.method == "PUT"
    };
    let hit = in_parallel(AT_ONCE, |nth| {
        let mut count = 0;
        let (run, log) = world.run(&format!("conflict-{nth}"), move |request| {
            count += usize::from(is_conditional(request));
            if is_conditional(request) && count == nth { conflict } else { Fault::None }
        });
        assert_eq!(run.exit, 0, "{nth}: {}", run.stderr);
        log.iter().any(|request| request.status.is_none())
    });
    assert!(hit > 8, "{hit} uploads");
}

#[test]
fn a_sitemap_that_cannot_be_read_to_its_end_is_not_taken_for_damaged() {
    let world = World::new();
    let bucket = &world.template;
    let is_sitemap = |request: &Request| request.method == "GET" && request.key.ends_with(".xml.gz");
    bucket.proxy.plan(move |request| if is_sitemap(request) { Fault::CutAnswer } else { Fault::None });
    for command in ["urls", "check"] {
        let mut command_line = bucket.sitemill();
        command_line.env("AWS_MAX_ATTEMPTS", "1").args([command, &bucket.out()]);
        let failed = finish(&mut command_line, b"").expect(74);
        assert!(failed.stderr.contains(".xml.gz: could not be read"), "{command}: {}", failed.stderr);
    }
    bucket.proxy.forward();
}

#[test]
fn a_store_that_fails_for_good_leaves_the_old_set_and_its_answer_is_told() {
    let world = World::new();
    // The number of requests without faults.
    let all = world.run("none", |_| Fault::None).1.len();
    for (kind, (fault, told)) in [
        (INTERNAL_ERROR, "InternalError"),
        (Fault::Answer(403, "AccessDenied"), "AccessDenied"),
        (Fault::Refuse(Duration::MAX), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let cases = wanted("SITEMILL_CLOUD_CASES", 8) as usize;
        in_parallel(2 * AT_ONCE, |case| {
            if case > cases {
                return false;
            }
            // The store fails from each of these requests on.
            let nth = 1 + (case - 1) * (all - 1) / (cases - 1).max(1);
            let plan = move |request: &Request| if request.number >= nth { fault } else { Fault::None };
            let name = format!("for-good-{kind}-{nth}");
            let bucket = world.store.copied(&world.template, &name);
            bucket.proxy.plan(plan);
            let mut build = bucket.build();
            build.env("AWS_MAX_ATTEMPTS", "3").arg(world.directory.join("urls.txt"));
            let run = finish(&mut build, b"");
            bucket.proxy.release();
            bucket.proxy.forward();
            // Failures after the set is live are warnings.
            let exits: &[i32] = if nth > all / 2 { &[0, 73, 74, 77] } else { &[73, 74, 77] };
            assert!(exits.contains(&run.exit), "{name} of {all}: exit {}: {}", run.exit, run.stderr);
            let says = |word: &str| run.stderr.contains(word);
            assert!(run.exit == 0 || says(&format!("s3://{name}")) && says(told), "{name}: {}", run.stderr);
            let seen = bucket.crawl();
            let sets = [&world.new, &world.old];
            assert_each_of(&seen, if run.exit == 0 { &sets[..1] } else { &sets });
            finish(&mut bucket.build(), b"").expect(65);
            let seen = bucket.crawl();
            assert!(seen == world.new || run.exit != 0 && seen == world.old, "{name}: {seen:?}");
            bucket.assert_nothing_is_left();
            bucket.assert_foreign();
            world.store.remove(bucket);
            true
        });
    }
}

#[test]
fn random_failures_leave_a_whole_set_and_say_what_failed() {
    let world = World::new();
    let wanted = wanted("SITEMILL_CLOUD_FAILURES", 24) as usize;
    let seed = u64::from(std::process::id());
    in_parallel(AT_ONCE, |case| {
        if case > wanted {
            return false;
        }
        let mut random = Random(seed + case as u64);
        // Between a tenth and a third of the requests fail.
        let every = 3 + random.below(8);
        let mut faults = FAULTS.to_vec();
        faults.extend([Fault::Hang, Fault::HangAfter]);
        let (run, _) = world.run(&format!("random-{seed}-{case}"), move |_| {
            if random.below(every) > 0 {
                Fault::None
            } else {
                faults[random.below(faults.len() as u64) as usize]
            }
        });
        println!("seed {seed}, case {case}: exit {}", run.exit);
        true
    });
}
