//! The number of requests of a run, and what it uploads.

use std::collections::BTreeSet;

use crate::proxy::Request;
use crate::support::finish;
use crate::world::{BASE, Bucket, Store, pages};

/// Publishes pages 1 to `last`, `per_sitemap` in each sitemap, and returns the requests of the run.
fn requests(bucket: &Bucket, last: u32, per_sitemap: u32, options: &[&str]) -> Vec<Request> {
    bucket.proxy.forward();
    let mut build = bucket.sitemill();
    build.args(["build", "--quiet", "--base-url", BASE, "--out", &bucket.out()]);
    build.args(["--urls-per-sitemap", &per_sitemap.to_string()]).args(options);
    finish(&mut build, pages(1, last).as_bytes()).expect(0);
    bucket.proxy.log()
}

fn sitemaps(log: &[Request]) -> usize {
    log.iter().filter(|request| request.is_sitemap()).count()
}

#[test]
fn a_run_without_changes_sends_no_sitemap_and_its_requests_do_not_grow_with_their_number() {
    let store = Store::new();
    let counts: Vec<usize> = [3, 60]
        .into_iter()
        .map(|number| {
            let bucket = store.bucket(&format!("bucket-{number}"));
            assert_eq!(sitemaps(&requests(&bucket, 120, 120 / number, &[])), number as usize);
            let before = bucket.urls();
            // The second run finds the history of only one run; later runs have reached a steady state.
            let mut log = Vec::new();
            for _ in 0..4 {
                log = requests(&bucket, 120, 120 / number, &[]);
                assert_eq!(sitemaps(&log), 0, "{number}");
                let named = log.iter().filter(|request| request.key.ends_with(".gz")).count();
                assert_eq!(named, 0, "no request is for a single sitemap");
            }
            assert_eq!(bucket.urls(), before);
            log.len()
        })
        .collect();
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn the_requests_of_a_run_without_changes_grow_with_the_index_files() {
    let store = Store::new();
    let counts: Vec<usize> = [60, 6]
        .into_iter()
        .map(|per_index| {
            let bucket = store.bucket(&format!("bucket-{per_index}"));
            let options = ["--sitemaps-per-index", &per_index.to_string()];
            let steady = [(); 4].map(|()| requests(&bucket, 120, 2, &options).len());
            steady[3]
        })
        .collect();
    // There are ten index files instead of one: each is looked up, read and uploaded at most once.
    assert!(counts[1] <= counts[0] + 9 * 4, "{counts:?}");
}

#[test]
fn a_run_with_one_changed_url_sends_one_sitemap() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 100).expect(0);
    bucket.proxy.forward();
    let changed = pages(1, 100).replace("0000055", "changed");
    finish(&mut bucket.build(), changed.as_bytes()).expect(0);
    let log = bucket.proxy.log();
    assert_eq!(sitemaps(&log), 1);
    assert_eq!(bucket.urls(), changed.lines().collect::<Vec<_>>());
    bucket.assert_nothing_is_left();
    // A sitemap that another tool has removed or replaced is uploaded again.
    let sitemaps_of = |log: &[Request]| -> BTreeSet<String> {
        log.iter().filter(|request| request.is_sitemap()).map(|request| request.key.clone()).collect()
    };
    let [damaged, missing]: [String; 2] = {
        let mut keys = bucket.keys().into_iter().filter(|key| key.ends_with("gz"));
        [keys.next().unwrap(), keys.next().unwrap()]
    };
    bucket.put(&damaged, b"shorter");
    bucket.delete(&missing);
    bucket.proxy.forward();
    finish(&mut bucket.build(), changed.as_bytes()).expect(0);
    assert_eq!(sitemaps_of(&bucket.proxy.log()), BTreeSet::from([damaged, missing]));
    assert_eq!(bucket.urls(), changed.lines().collect::<Vec<_>>());
}
