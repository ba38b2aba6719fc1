//! Killed runs: at each of their requests, and at random moments.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::cases::{in_parallel, wanted};
use crate::proxy::{Fault, Moment};
use crate::support::random::Random;
use crate::support::{Ends, Run, ended, finish};
use crate::world::{Bucket, Seen, Store, assert_each_of, pages, urls};

const KILLED: i32 = 137;

/// A bucket with a live set of pages 1 to 60 and foreign objects, and what a crawler sees of pages 1 to 60 and of pages 1 to 90.
fn template(store: &Store) -> (Bucket, Seen, Seen) {
    let bucket = store.bucket("template");
    bucket.put_foreign();
    bucket.publish(1, 60).expect(0);
    let new = store.copied(&bucket, "template-new");
    new.publish(1, 90).expect(0);
    let (old, new) = (bucket.crawl(), new.crawl());
    (bucket, old, new)
}

/// Checks a bucket whose run was killed: a crawler finds only complete files, and the next runs repair the rest.
fn assert_repaired(bucket: &Bucket, sets: &[&Seen], nth: usize) {
    assert_each_of(&bucket.crawl(), sets);
    // Publishes nothing, but repairs.
    bucket.proxy.forward();
    if nth.is_multiple_of(2) {
        finish(&mut bucket.build(), b"").expect(65);
        let seen = bucket.crawl();
        assert!(sets.contains(&&seen), "a mixture: {seen:?}");
        bucket.assert_nothing_is_left();
    }
    bucket.publish(11, 75).expect(0);
    assert_eq!(bucket.urls(), urls(11, 75));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
}

/// Kills `run` before and after each of its requests, each time in a copy of `template`. A run that is not killed must end with the
/// exit code and the set in `ended`. Both before and after requests, more than `least` runs must be killed.
fn kill_at_each_request(
    (store, template): (&Store, &Bucket),
    sets: [&Seen; 2],
    ended: (i32, &Seen),
    least: usize,
    run: impl Fn(&Bucket) -> Run + Sync,
) {
    for moment in [Moment::Before, Moment::After] {
        let killed = in_parallel(2, |nth| {
            let bucket = store.copied(template, &format!("{moment:?}-{nth}").to_lowercase());
            bucket
                .proxy
                .plan(move |request| if request.number == nth { Fault::Kill(moment) } else { Fault::None });
            let run = run(&bucket);
            let is_killed = run.exit == KILLED;
            if !is_killed {
                run.expect(ended.0);
                assert_eq!(&bucket.crawl(), ended.1, "{moment:?} {nth}");
            }
            // Printed only if the test fails.
            println!(
                "{moment:?} {nth}: {:?}",
                bucket.proxy.log().last().map(|last| (last.method.clone(), last.key.clone()))
            );
            assert_repaired(&bucket, &sets, nth);
            store.remove(bucket);
            is_killed
        });
        assert!(killed > least, "{killed} requests");
    }
}

#[test]
fn a_build_that_is_killed_at_any_request_leaves_the_old_set_or_the_new_one() {
    let store = Store::new();
    let (template, old, new) = template(&store);
    let input = store.directory.file("urls.txt", pages(1, 90));
    kill_at_each_request((&store, &template), [&old, &new], (0, &new), 12, |bucket| {
        bucket.run_as_target(&mut bucket.build(), &input)
    });
}

#[test]
fn a_rollback_that_is_killed_at_any_request_leaves_one_of_both_sets() {
    let store = Store::new();
    let (template, old, new) = template(&store);
    template.publish(1, 90).expect(0);
    kill_at_each_request((&store, &template), [&old, &new], (0, &old), 8, |bucket| {
        let mut rollback = bucket.sitemill();
        rollback.args(["rollback", "--quiet", "--out"]);
        bucket.run_as_target(&mut rollback, bucket.out().as_ref())
    });
}

#[test]
fn the_run_that_repairs_may_be_killed_too() {
    let store = Store::new();
    let (template, old, new) = template(&store);
    let input = store.directory.file("urls.txt", pages(1, 90));
    // This run has committed but dies before it replaces the first index file.
    let dead = store.copied(&template, "dead");
    dead.proxy.plan(|request| {
        let is_index =
            request.method == "PUT" && request.key.ends_with(".xml") && !request.key.contains(".sitemill");
        if is_index { Fault::Kill(Moment::Before) } else { Fault::None }
    });
    assert_eq!(dead.run_as_target(&mut dead.build(), &input).exit, KILLED);
    assert_eq!(dead.crawl(), old);
    let empty = store.directory.file("empty.txt", "");
    kill_at_each_request((&store, &dead), [&old, &new], (65, &new), 5, |bucket| {
        bucket.run_as_target(&mut bucket.build(), &empty)
    });
}

/// Reads the set until `done`, and returns how often. Each set has one index file, so a crawler sees one set at a time.
fn crawl_until(done: &AtomicBool, bucket: &Bucket, seed: u64) -> u32 {
    let mut crawls = 0;
    while !done.load(Ordering::Relaxed) {
        let seen = bucket.urls();
        let first = page(&seen[0]);
        assert!(seen == urls(first, first + 59), "seed {seed}: a mixture: {seen:?}");
        crawls += 1;
    }
    crawls
}

fn page(url: &str) -> u32 {
    url[crate::world::BASE.len()..].parse().unwrap()
}

#[test]
fn a_crawler_sees_only_whole_sets_while_runs_are_killed_at_random_requests() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let build = |last: u32| {
        let input = store.directory.file("urls.txt", pages(last, last + 59));
        let mut build = bucket.build_with_one_index();
        build.args(["--max-shrink", "100"]);
        if last.is_multiple_of(3) {
            build.args(["--order", "sorted"]);
        }
        (build, input)
    };
    bucket.put_foreign();
    let (mut first, input) = build(1);
    finish(first.arg(input), b"").expect(0);
    let seed = u64::from(std::process::id());
    let (mut random, done, mut live) = (Random(seed), AtomicBool::new(false), 1);
    thread::scope(|scope| {
        let crawler = scope.spawn(|| crawl_until(&done, &bucket, seed));
        let crawl = Ends(&done);
        let (mut last, mut killed, mut whole) = (1, 0, 40);
        while killed < wanted("SITEMILL_CLOUD_KILLS", 25) && !crawler.is_finished() {
            last += 1;
            let (nth, moment) =
                (1 + random.below(whole) as usize, [Moment::Before, Moment::After][random.below(2) as usize]);
            bucket
                .proxy
                .plan(move |request| if request.number == nth { Fault::Kill(moment) } else { Fault::None });
            let (mut command, input) = build(last);
            let child = bucket.start(&mut command, &input);
            let run = ended(child);
            bucket.proxy.log();
            assert!([0, KILLED].contains(&run.exit), "seed {seed}, run {last}: {}", run.stderr);
            let now = page(&bucket.urls()[0]);
            if run.exit == KILLED {
                // A later run completes a committed set, unless it is killed before.
                assert!((live..=last).contains(&now), "seed {seed}, run {last}: {now} after {live}");
                killed += 1;
            } else {
                assert_eq!(now, last, "seed {seed}: success without the new set");
                whole = bucket.proxy.log().len() as u64;
            }
            live = now;
        }
        drop(crawl);
        assert!(crawler.join().unwrap() > 10);
    });
    bucket.proxy.forward();
    bucket.publish(5, 64).expect(0);
    assert_eq!(bucket.urls(), urls(5, 64));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
}
