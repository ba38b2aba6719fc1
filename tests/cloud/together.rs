//! Concurrent runs, on one machine and on several.

use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{io::Write, thread};

use serde_json::{Value, json};

use crate::proxy::{Fault, Request};
use crate::support::{Run, ended, finish, send, skip};
use crate::world::{Bucket, PREFIX, Store, pages, urls};

const JOURNAL: &str = "maps/.sitemill/journal.json";

/// Whether a request uploads an index file.
fn is_index(request: &Request) -> bool {
    request.method == "PUT" && request.key.ends_with(".xml") && !request.key.contains(".sitemill")
}

/// Starts a run that publishes pages FIRST to LAST.
fn start(store: &Store, bucket: &Bucket, first: u32, last: u32) -> Child {
    let input = store.directory.file(&format!("urls-{first}-{last}.txt"), pages(first, last));
    bucket.start(bucket.build().args(["--max-shrink", "100"]), &input)
}

/// Holds the next request that satisfies `is_point`, and all later requests of the same run.
fn hold_at(bucket: &Bucket, is_point: fn(&Request) -> bool) {
    let mut is_held = false;
    bucket.proxy.plan(move |request| {
        // Requests of later runs are forwarded.
        let is_point = !is_held && is_point(request);
        is_held |= is_point;
        if is_point { Fault::Hold } else { Fault::None }
    });
}

/// Waits until a request is held.
fn wait_until_held(bucket: &Bucket, is_point: fn(&Request) -> bool) {
    while !bucket.proxy.log().iter().any(is_point) {
        thread::sleep(Duration::from_millis(2));
    }
}

/// Starts `command` in its own PID namespace, as if on another machine; `None` if that is not permitted.
fn elsewhere(command: &Command, input: &str) -> Option<Child> {
    let mut probe = Command::new("unshare");
    let probe = finish(probe.args(["--pid", "--fork", "--mount-proc", "true"]), b"");
    if probe.exit != 0 {
        skip("a run with process IDs of its own needs root");
        return None;
    }
    let mut away = crate::support::started_by(&["unshare", "--pid", "--fork", "--mount-proc"], command);
    let mut child = away.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Some(child)
}

#[test]
fn a_second_run_ends_at_once_wherever_the_first_one_is() {
    let store = Store::new();
    let points: [fn(&Request) -> bool; 3] = [Request::is_sitemap, is_index, |request| {
        request.method == "PUT" && request.key.ends_with("/manifest.json") && !request.key.contains("staging")
    }];
    for (at, point) in points.into_iter().enumerate() {
        let bucket = store.bucket(&format!("bucket-{at}"));
        bucket.publish(1, 60).expect(0);
        hold_at(&bucket, point);
        let first = start(&store, &bucket, 1, 90);
        wait_until_held(&bucket, point);
        let refused = bucket.publish(31, 90).expect(75);
        assert!(refused.stderr.contains("another run holds it"), "{}", refused.stderr);
        let mut rollback = bucket.sitemill();
        finish(rollback.args(["rollback", "--out", &bucket.out()]), b"").expect(75);
        bucket.proxy.release();
        ended(first).expect(0);
        assert_eq!(bucket.urls(), urls(1, 90));
        bucket.assert_nothing_is_left();
    }
}

#[test]
fn of_runs_that_start_together_those_that_do_not_publish_say_so() {
    assert_one_of_those_that_start_together_wins(&Store::new(), 6);
}

/// Starts three runs together, several times, and fails unless one of those that report success is live.
pub fn assert_one_of_those_that_start_together_wins(store: &Store, rounds: u32) {
    for round in 0..rounds {
        let bucket = store.bucket(&format!("bucket-{round}"));
        if round % 2 == 1 {
            bucket.publish(1, 60).expect(0);
        }
        let firsts = [1, 101, 201];
        let runs = firsts.map(|first| start(store, &bucket, first, first + 59));
        let runs: Vec<Run> = runs.into_iter().map(ended).collect();
        let exits: Vec<i32> = runs.iter().map(|run| run.exit).collect();
        assert!(exits.iter().all(|exit| [0, 75].contains(exit)) && exits.contains(&0), "{runs:?}");
        let seen = bucket.urls();
        let winners = firsts.iter().zip(exits).filter(|(_, exit)| *exit == 0);
        let is_of_a_winner = winners.into_iter().any(|(first, _)| seen == urls(*first, first + 59));
        assert!(is_of_a_winner, "{seen:?} after {runs:?}");
        bucket.assert_nothing_is_left();
    }
}

/// The journal of a run that is active on another machine.
fn claim(run: &str) -> Value {
    json!({
        "state": "claimed", "run": run, "owner": {"machine": "elsewhere", "process": 1, "started": 1}, "owner_run": run, "beat": 1,
    })
}

/// Writes the journal of a run that is active on another machine.
fn claim_from_elsewhere(bucket: &Bucket, run: &str) {
    bucket.put(JOURNAL, claim(run).to_string().as_bytes());
}

#[test]
fn the_claim_of_a_machine_that_is_gone_ends_after_half_a_minute() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.put_foreign();
    bucket.publish(1, 60).expect(0);
    claim_from_elsewhere(&bucket, "1700000000000000000-1");
    // The machine disappeared, and this is the first run since then.
    bucket.publish(1, 90).expect(0);
    assert_eq!(bucket.urls(), urls(1, 90));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
}

#[test]
fn status_shows_a_run_on_another_machine_as_active_while_it_has_a_heartbeat() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let run = "1700000000000000000-1";
    bucket.put(&format!("maps/.sitemill/staging/{run}/run.json"), b"{}");
    // Process 1 exists on this machine, too, but has not claimed anything.
    assert_eq!(bucket.status()["runs"], json!([{ "process": 1, "is_alive": false }]));
    claim_from_elsewhere(&bucket, run);
    assert_eq!(bucket.status()["runs"], json!([{ "process": 1, "is_alive": true }]));
    // Its heartbeats have stopped.
    store.age(&bucket, JOURNAL, 40);
    assert_eq!(bucket.status()["runs"], json!([{ "process": 1, "is_alive": false }]));
    // It ended in the middle of its switch, which the next run completes.
    let mut ended = claim(run);
    ended["owner"] = json!({ "machine": "", "process": 0, "started": 0 });
    bucket.put(JOURNAL, ended.to_string().as_bytes());
    assert_eq!(bucket.status()["runs"], json!([{ "process": 1, "is_alive": false }]));
}

#[test]
fn status_compares_heartbeats_with_the_clock_of_the_store() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let run = "1700000000000000000-1";
    bucket.put(&format!("maps/.sitemill/staging/{run}/run.json"), b"{}");
    claim_from_elsewhere(&bucket, run);
    for (date, is_alive) in
        [("Fri, 31 Dec 2100 00:00:00 GMT", false), ("Sat, 01 Jan 2000 00:00:00 GMT", true)]
    {
        bucket.proxy.plan(move |_| Fault::Date(date));
        assert_eq!(bucket.status()["runs"], json!([{ "process": 1, "is_alive": is_alive }]), "{date}");
    }
}

#[test]
fn status_shows_the_run_of_a_site_as_active_while_the_run_for_all_sites_has_a_heartbeat() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let mut build = bucket.sitemill();
    build.args(["build", "--quiet", "--base-url", "{origin}/", "--out", &bucket.out()]);
    finish(&mut build, pages(1, 3).as_bytes()).expect(0);
    let (run, run_of_sites) = ("1700000000000000000-1", "1600000000000000000-1");
    bucket.put(&format!("maps/http-h.example-80/.sitemill/staging/{run}/run.json"), b"{}");
    let mut of_site = claim(run);
    of_site["heart"] = bucket.location(JOURNAL).into();
    of_site["heart_run"] = run_of_sites.into();
    let runs = || {
        let status = bucket.run(&["status", "--json"]).expect(0);
        let status: Value = serde_json::from_slice(&status.stdout).unwrap();
        status["runs"].clone()
    };
    bucket.put("maps/http-h.example-80/.sitemill/journal.json", of_site.to_string().as_bytes());
    // The claim of the site stays as it is for as long as the run lasts.
    store.age(&bucket, "maps/http-h.example-80/.sitemill/journal.json", 3_600);
    for (owner, age, is_alive) in
        [(run_of_sites, 0, true), (run_of_sites, 40, false), ("1650000000000000000-1", 0, false)]
    {
        claim_from_elsewhere(&bucket, owner);
        store.age(&bucket, JOURNAL, age);
        assert_eq!(runs(), json!([{ "process": 1, "is_alive": is_alive }]), "{owner}, {age} s");
    }
}

#[test]
fn a_machine_that_shows_signs_of_life_keeps_its_claim() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 60).expect(0);
    let before = bucket.objects("");
    hold_at(&bucket, Request::is_sitemap);
    let first = start(&store, &bucket, 1, 90);
    wait_until_held(&bucket, Request::is_sitemap);
    if let Some(other) = elsewhere(&bucket.build(), &pages(31, 90)) {
        let refused = ended(other).expect(75);
        assert!(refused.stderr.contains("another run holds it"), "{}", refused.stderr);
        assert_eq!(bucket.urls(), urls(1, 60));
        let sitemaps = |objects: &std::collections::BTreeMap<String, Vec<u8>>| {
            objects.keys().filter(|key| key.ends_with("gz")).count()
        };
        assert!(sitemaps(&bucket.objects("")) >= sitemaps(&before));
    }
    bucket.proxy.release();
    ended(first).expect(0);
    assert_eq!(bucket.urls(), urls(1, 90));
    bucket.assert_nothing_is_left();
}

/// Holds a run at `point` until another machine has taken over and published pages 31 to 90, then lets it continue.
fn taken_over_at(point: fn(&Request) -> bool, is_decided: bool) {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.put_foreign();
    bucket.publish(1, 60).expect(0);
    hold_at(&bucket, point);
    let first = start(&store, &bucket, 1, 120);
    wait_until_held(&bucket, point);
    send("STOP", &first);
    let mut build = bucket.build();
    build.args(["--max-shrink", "100"]);
    let Some(other) = elsewhere(&build, &pages(31, 90)) else {
        send("CONT", &first);
        bucket.proxy.release();
        ended(first).expect(0);
        return;
    };
    ended(other).expect(0);
    assert_eq!(bucket.urls(), urls(31, 90));
    send("CONT", &first);
    bucket.proxy.release();
    let late = ended(first);
    // If the held run had committed, the new owner completed its set before publishing its own.
    assert!(late.exit == 75 || is_decided && late.exit == 0, "exit {}: {}", late.exit, late.stderr);
    assert_eq!(bucket.urls(), urls(31, 90), "{}", late.stderr);
    // The next run removes what the late run uploaded.
    finish(&mut bucket.build(), b"").expect(65);
    bucket.assert_nothing_is_left();
    let numbers: Vec<_> =
        bucket.status()["earlier"].as_array().unwrap().iter().map(|set| set["number"].clone()).collect();
    assert_eq!(numbers.len(), 1 + usize::from(is_decided), "{numbers:?}");
    bucket.publish(1, 60).expect(0);
    assert_eq!(bucket.urls(), urls(1, 60));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
}

#[test]
fn a_run_that_stalls_while_it_uploads_publishes_nothing_after_another_has_taken_over() {
    taken_over_at(Request::is_sitemap, false);
}

#[test]
fn a_run_that_stalls_before_its_decision_publishes_nothing_after_another_has_taken_over() {
    taken_over_at(
        |request| {
            let is_manifest = request.key.ends_with("/manifest.json") && request.key.contains("/staging/");
            request.method == "PUT" && is_manifest
        },
        false,
    );
}

#[test]
fn a_run_that_stalls_after_its_decision_does_no_damage_after_another_has_taken_over() {
    taken_over_at(is_index, true);
}

#[test]
fn sets_with_names_and_without_are_published_at_the_same_time() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    hold_at(&bucket, Request::is_sitemap);
    let first = start(&store, &bucket, 1, 60);
    wait_until_held(&bucket, Request::is_sitemap);
    finish(bucket.build().args(["--name", "shop"]), pages(1, 30).as_bytes()).expect(0);
    bucket.proxy.release();
    ended(first).expect(0);
    assert_eq!(bucket.urls(), urls(1, 60));
    let shop = bucket.crawl_at(PREFIX, "robots-sitemaps-shop.txt", crate::world::BASE);
    assert_eq!(shop.into_iter().flat_map(|(_, urls)| urls).collect::<Vec<_>>(), urls(1, 30));
}
