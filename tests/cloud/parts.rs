//! Objects that are large enough to be uploaded in parts.

use std::fs;

use crate::proxy::{Fault, Moment, Request};
use crate::support::random::Random;
use crate::support::{Run, TempDir, files, finish};
use crate::world::{BASE, Bucket, Store};

/// Characters for nearly random text, which gzip shrinks by only a quarter.
const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// URLs that fill one sitemap of 37 MB. Each is as long as it can be in a sitemap of 50,000.
fn long_urls() -> String {
    let mut random = Random(1);
    let mut urls = String::with_capacity(50_000 * 1_000);
    for _ in 0..50_000 {
        urls.push_str(BASE);
        (0..980).for_each(|_| urls.push(char::from(CHARACTERS[random.below(64) as usize])));
        urls.push('\n');
    }
    urls
}

/// Options that allow such a large sitemap.
const LARGE: [&str; 2] = ["--bytes-per-sitemap", "50M"];

fn build(bucket: &Bucket, input: &std::path::Path) -> Run {
    let mut build = bucket.sitemill();
    build.args(["build", "--quiet", "--base-url", BASE, "--out", &bucket.out()]).args(LARGE);
    bucket.run_as_target(&mut build, input)
}

fn is_part(request: &Request) -> bool {
    request.method == "PUT" && request.query.contains("partNumber=")
}

#[test]
fn a_large_sitemap_is_put_in_parts_and_survives_lost_answers() {
    let (store, directory) = (Store::new(), TempDir::in_memory());
    let input = directory.file("urls.txt", long_urls());
    let local = directory.join("out");
    let mut command = store.without_bucket("none").sitemill();
    command.args(["build", "--quiet", "--base-url", BASE]).args(LARGE).arg("--out").args([&local, &input]);
    finish(&mut command, b"").expect(0);
    let sitemaps = files(&local).into_iter().filter(|file| file.ends_with(".xml.gz"));
    let [sitemap] = sitemaps.collect::<Vec<_>>().try_into().unwrap();
    let bytes = fs::read(local.join(&sitemap)).unwrap();
    assert!(bytes.len() > 33 << 20, "{} bytes", bytes.len());
    for (nth, fault) in [Fault::None, Fault::CutRequest, Fault::LoseAnswer].into_iter().enumerate() {
        let bucket = store.bucket(&format!("bucket-{nth}"));
        bucket.proxy.plan(move |request| {
            if request.query.contains("uploadId=") && request.attempt == 1 { fault } else { Fault::None }
        });
        build(&bucket, &input).expect(0);
        let log = bucket.proxy.log();
        assert!(log.iter().filter(|request| is_part(request)).count() >= 2, "{fault:?}");
        assert!(bucket.get(&format!("maps/{sitemap}")).expect(&sitemap) == bytes, "{fault:?}");
        let served = bucket.get(&format!("maps/{sitemap}"));
        assert_eq!(served.header("content-type"), Some("application/gzip"));
        bucket.assert_nothing_is_left();
        if fault != Fault::None {
            store.remove(bucket);
            continue;
        }
        // The sitemap exists, so it is not uploaded again.
        bucket.proxy.forward();
        build(&bucket, &input).expect(0);
        assert!(!bucket.proxy.log().iter().any(|request| request.query.contains("uploadId=")), "{fault:?}");
        store.remove(bucket);
    }
}

#[test]
fn a_run_that_is_killed_between_parts_leaves_nothing_that_crawlers_see() {
    let (store, directory) = (Store::new(), TempDir::in_memory());
    let input = directory.file("urls.txt", long_urls());
    for (nth, moment) in [Moment::Before, Moment::After].into_iter().enumerate() {
        let bucket = store.bucket(&format!("bucket-{nth}"));
        bucket.put_foreign();
        bucket.publish(1, 60).expect(0);
        let old = bucket.crawl();
        bucket.proxy.plan(move |request| if is_part(request) { Fault::Kill(moment) } else { Fault::None });
        assert_eq!(build(&bucket, &input).exit, 137);
        bucket.proxy.forward();
        assert_eq!(bucket.crawl(), old);
        bucket.publish(1, 60).expect(0);
        assert_eq!(bucket.crawl(), old);
        bucket.assert_nothing_is_left();
        bucket.assert_foreign();
        store.remove(bucket);
    }
}
