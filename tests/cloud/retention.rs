//! Earlier sets in a bucket: how long they are kept, and how they are restored.

use serde_json::Value;

use crate::support::{Run, epoch_plus, finish};
use crate::world::{BASE, Bucket, PREFIX, Seen, Store, pages, urls};

const DAY: u64 = 86_400;

/// Publishes pages FIRST to FIRST + 29 on a given day, counted from 26 June 2005.
fn publish(bucket: &Bucket, day: u64, first: u32, options: &[&str]) -> Run {
    let mut build = bucket.build();
    build.env("SOURCE_DATE_EPOCH", epoch_plus(day * DAY));
    finish(build.args(["--max-shrink", "100"]).args(options), pages(first, first + 29).as_bytes())
}

/// The numbers of the live set and of the kept ones.
fn numbers(bucket: &Bucket) -> Vec<u64> {
    let status = bucket.status();
    let earlier = status["earlier"].as_array().unwrap().iter();
    [&status["live"]].into_iter().chain(earlier).map(|set| set["number"].as_u64().unwrap()).collect()
}

fn sitemaps(bucket: &Bucket) -> usize {
    let keys = bucket.keys();
    keys.iter()
        .filter(|key| {
            key.ends_with(".gz") && !crate::world::FOREIGN.iter().any(|(foreign, _)| foreign == key)
        })
        .count()
}

#[test]
fn superseded_sitemaps_are_kept_for_their_time_and_then_removed() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.put_foreign();
    let options = ["--keep", "2d", "--keep-sets", "0"];
    // Each set has 3 sitemaps, none in common with another.
    for (day, want) in [(0, vec![1]), (1, vec![2, 1]), (2, vec![3, 2, 1]), (3, vec![4, 3, 2])] {
        publish(&bucket, day, 1 + 100 * u32::try_from(day).unwrap(), &options).expect(0);
        assert_eq!(numbers(&bucket), want);
        assert_eq!(sitemaps(&bucket), 3 * want.len());
        bucket.assert_nothing_is_left();
    }
    publish(&bucket, 9, 1, &options).expect(0);
    assert_eq!((numbers(&bucket), sitemaps(&bucket)), (vec![5, 4], 6));
    assert_eq!(bucket.objects(&format!("{PREFIX}.sitemill/sets/")).len(), 1);
    publish(&bucket, 99, 501, &["--keep", "0", "--keep-sets", "0"]).expect(0);
    assert_eq!((numbers(&bucket), sitemaps(&bucket)), (vec![6], 3));
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
}

#[test]
fn a_rollback_restores_the_same_files_and_can_be_undone() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.put_foreign();
    let mut sets: Vec<Seen> = Vec::new();
    for (day, last) in [60, 30, 90].into_iter().enumerate() {
        let mut build = bucket.build();
        build.env("SOURCE_DATE_EPOCH", epoch_plus(day as u64 * DAY));
        finish(build.args(["--max-shrink", "100"]), pages(1, last).as_bytes()).expect(0);
        sets.push(bucket.crawl());
    }
    let rollback = |options: &[&str]| {
        let mut rollback = bucket.sitemill();
        finish(rollback.arg("rollback").args(options).args(["--out", &bucket.out()]), b"")
    };
    bucket.proxy.forward();
    let told = rollback(&[]).expect(0);
    assert!(told.stderr.contains("restored set 2"), "{}", told.stderr);
    assert_eq!(bucket.crawl(), sets[1]);
    assert_eq!(bucket.proxy.log().iter().filter(|request| request.is_sitemap()).count(), 0);
    rollback(&[]).expect(0);
    assert_eq!(bucket.crawl(), sets[0]);
    rollback(&[]).expect(65);
    rollback(&["--to", "3"]).expect(0);
    assert_eq!(bucket.crawl(), sets[2]);
    bucket.assert_nothing_is_left();
    bucket.assert_foreign();
    // A set with a missing sitemap cannot be restored.
    let first =
        bucket.json("maps/.sitemill/manifest.json")["sitemaps"][0]["file"].as_str().unwrap().to_owned();
    bucket.delete(&format!("{PREFIX}{first}"));
    let refused = rollback(&["--to", "1"]).expect(65);
    assert!(refused.stderr.contains(&first), "{}", refused.stderr);
    let status = bucket.run(&["status", "--json", "--out"]).expect(0);
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["live"]["missing"], 1);
    // The next run uploads it again.
    bucket.publish(1, 90).expect(0);
    assert_eq!(bucket.crawl(), sets[2]);
    bucket.assert_nothing_is_left();
}

#[test]
fn a_sitemap_that_is_damaged_while_its_set_is_only_kept_is_neither_restored_nor_used_again() {
    // The listings of s3s-fs have no ETags, and those of moto do.
    let stores = [Store::new(), Store::moto()];
    for (store, kept_first) in stores.iter().flat_map(|store| [(store, false), (store, true)]) {
        let bucket = store.bucket(&format!("bucket-{kept_first}"));
        bucket.publish(1, 60).expect(0);
        if kept_first {
            bucket.publish(101, 160).expect(0);
        }
        let damaged = bucket.keys().into_iter().find(|key| key.ends_with(".gz")).unwrap();
        let mut bytes = bucket.get(&damaged).body;
        let whole = bytes.clone();
        *bytes.last_mut().unwrap() ^= 1;
        bucket.put(&damaged, &bytes);
        // None of these runs needs the sitemap.
        for first in [201, 301, 401] {
            bucket.publish(first, first + 59).expect(0);
        }
        let rollback = |number: &str| {
            let mut rollback = bucket.sitemill();
            finish(rollback.args(["rollback", "--to", number, "--out", &bucket.out()]), b"")
        };
        let refused = rollback("1").expect(65);
        let damaged_set = "missing or damaged, so set 1 cannot be restored";
        let at = bucket.location(&damaged);
        assert!(refused.stderr.contains(&format!("{at}: {damaged_set}")), "{}", refused.stderr);
        bucket.publish(1, 60).expect(0);
        assert!(bucket.get(&damaged).body == whole);
        assert_eq!(bucket.urls(), urls(1, 60));
        bucket.assert_nothing_is_left();
        // From now on, it can be restored without being read.
        bucket.publish(201, 260).expect(0);
        bucket.proxy.forward();
        rollback("1").expect(0);
        assert!(!bucket.proxy.log().iter().any(|request| request.key.ends_with(".gz")));
        assert_eq!(bucket.urls(), urls(1, 60));
    }
}

#[test]
fn sets_with_names_have_their_own_history_in_the_same_bucket() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let build = |name: &str, last: u32| {
        let mut build = bucket.build();
        finish(build.args(["--name", name]), pages(1, last).as_bytes()).expect(0);
    };
    let seen = |name: &str| -> Vec<String> {
        let seen = bucket.crawl_at(PREFIX, &format!("robots-sitemaps-{name}.txt"), BASE);
        seen.into_iter().flat_map(|(_, urls)| urls).collect()
    };
    bucket.publish(1, 30).expect(0);
    for (shop, blog) in [(20, 40), (25, 40), (30, 55)] {
        build("shop", shop);
        build("blog", blog);
        assert_eq!((seen("shop"), seen("blog"), bucket.urls()), (urls(1, shop), urls(1, blog), urls(1, 30)));
    }
    let mut rollback = bucket.sitemill();
    finish(rollback.args(["rollback", "--quiet", "--name", "shop", "--out", &bucket.out()]), b"").expect(0);
    assert_eq!((seen("shop"), seen("blog")), (urls(1, 25), urls(1, 55)));
    let names = finish(bucket.sitemill().args(["status", "--json", &bucket.out()]), b"").expect(0);
    assert_eq!(names.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count(), 3);
    bucket.run(&["check", "--quiet"]).expect(0);
}

#[test]
fn every_origin_has_a_set_below_the_prefix_and_all_are_published_or_none() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    let sites = ["a.example", "b.example"];
    let build = |last: u32, extra: &str| {
        let mut build = bucket.sitemill();
        build.args([
            "build",
            "--quiet",
            "--base-url",
            "{origin}/",
            "--urls-per-sitemap",
            "10",
            "--out",
            &bucket.out(),
        ]);
        let input: String = sites
            .iter()
            .map(|site| pages(1, last).replace("http://h.example", &format!("https://{site}")))
            .collect();
        finish(&mut build, (input + extra).as_bytes())
    };
    let seen = |site: &str| -> usize {
        let seen =
            bucket.crawl_at(&format!("{PREFIX}{site}/"), "robots-sitemaps.txt", &format!("https://{site}/"));
        seen.into_iter().map(|(_, urls)| urls.len()).sum()
    };
    build(60, "").expect(0);
    build(90, "").expect(0);
    assert_eq!(sites.map(seen), [90, 90]);
    // One site shrinks too much.
    let refused = build(10, "").expect(65);
    assert!(refused.stderr.contains("--max-shrink"), "{}", refused.stderr);
    assert_eq!(sites.map(seen), [90, 90]);
    // A foreign object in the way of one site.
    bucket.put(&format!("{PREFIX}c.example/sitemap-index-1.xml"), b"theirs");
    let refused = build(95, "https://c.example/1\n").expect(73);
    assert!(refused.stderr.contains("c.example/sitemap-index-1.xml"), "{}", refused.stderr);
    assert_eq!(sites.map(seen), [90, 90]);
    let mut rollback = bucket.sitemill();
    let site = format!("{}/a.example", bucket.out());
    finish(rollback.args(["rollback", "--quiet", "--out", &site]), b"").expect(0);
    assert_eq!(sites.map(seen), [60, 90]);
    let staged: Vec<String> = bucket.keys().into_iter().filter(|key| key.contains("/staging/")).collect();
    assert!(staged.is_empty(), "{staged:?}");
}
