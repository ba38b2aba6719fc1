//! The same cases on other stores than s3s-fs: on Azurite and fake-gcs-server, whose headers, conditions and responses differ from
//! those of S3, and the basics also on moto, another implementation of S3.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::proxy::{Fault, Moment, Request};
use crate::support::finish;
use crate::world::{Bucket, PREFIX, Store, pages, urls};
use crate::{refusing, together};

const OF_OTHER_KINDS: &[fn() -> Store] = &[Store::azurite, Store::fake_gcs];
const ALL: &[fn() -> Store] = &[Store::azurite, Store::fake_gcs, Store::moto];

/// Runs `test` on each of these stores, at the same time.
fn on_each(stores: &[fn() -> Store], test: impl Fn(&Store) + Sync) {
    thread::scope(|scope| {
        for start in stores {
            scope.spawn(|| test(&start()));
        }
    });
}

/// Names and contents of the published objects.
fn published(bucket: &Bucket) -> BTreeMap<String, Vec<u8>> {
    let mut objects = bucket.objects(PREFIX);
    objects.retain(|key, _| !key.starts_with(".sitemill/"));
    objects
}

/// Whether a request is of a kind.
type Point = fn(&Request) -> bool;

/// Whether a request uploads an index file.
fn is_index(request: &Request) -> bool {
    request.method == "PUT" && request.key.starts_with("maps/sitemap-index-")
}

#[test]
fn all_stores_keep_sets_as_s3s_fs_does() {
    let s3s = Store::new();
    let other = s3s.bucket("bucket");
    let publish = |bucket: &Bucket| {
        bucket.put_foreign();
        bucket.publish(1, 60).expect(0);
        bucket.publish(1, 75).expect(0);
    };
    publish(&other);
    let want = published(&other);
    on_each(ALL, |store| {
        let bucket = store.bucket("bucket");
        publish(&bucket);
        assert_eq!(published(&bucket), want);
        bucket.assert_nothing_is_left();
        bucket.assert_foreign();
        let sitemap =
            want.keys().find(|name| name.ends_with(".xml.gz") && !name.contains("00000000")).unwrap();
        let served = bucket.get(&format!("{PREFIX}{sitemap}"));
        assert_eq!(served.header("content-type"), Some("application/gzip"));
        assert_eq!(served.header("cache-control"), Some("public, max-age=31536000, immutable"));
        // Without changes, no sitemap is uploaded or requested.
        bucket.proxy.forward();
        bucket.publish(1, 75).expect(0);
        assert!(!bucket.proxy.log().iter().any(|request| request.key.ends_with(".gz")));
        // The set can be an input, too.
        for command in ["urls", "clean"] {
            let listed = bucket.run(&[command, "--quiet"]).expect(0);
            assert_eq!(String::from_utf8(listed.stdout).unwrap(), pages(1, 75));
        }
        // A sitemap that another tool replaced, and a bucket that does not exist.
        let live = bucket.json("maps/.sitemill/manifest.json");
        let damaged = format!("{PREFIX}{}", live["sitemaps"][0]["file"].as_str().unwrap());
        bucket.put(&damaged, b"other bytes");
        bucket.run(&["check", "--quiet"]).expect(65);
        bucket.publish(1, 75).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
        bucket.assert_nothing_is_left();
        store.without_bucket("nowhere").publish(1, 30).expect(73);
    });
}

#[test]
fn sets_are_compared_and_earlier_ones_come_back() {
    on_each(OF_OTHER_KINDS, |store| {
        let bucket = store.bucket("bucket");
        let rollback = |options: &[&str]| {
            let mut rollback = bucket.sitemill();
            rollback.args(["rollback", "--quiet", "--out", &bucket.out()]).args(options);
            finish(&mut rollback, b"").expect(0);
        };
        bucket.publish(1, 60).expect(0);
        let first = bucket.crawl();
        bucket.publish(1, 90).expect(0);
        let kept = bucket.keys().into_iter().find(|key| key.contains("/.sitemill/sets/")).unwrap();
        let diff = bucket.run(&["diff", &bucket.location(&kept)]).expect(0);
        let added = String::from_utf8(diff.stdout).unwrap();
        assert_eq!(added, pages(61, 90).lines().map(|url| format!("+ {url}\n")).collect::<String>());
        rollback(&[]);
        assert_eq!(bucket.crawl(), first);
        rollback(&["--to", "2"]);
        assert_eq!(bucket.urls(), urls(1, 90));
        bucket.assert_nothing_is_left();
    });
}

#[test]
fn responses_may_be_lost_and_runs_be_killed() {
    on_each(ALL, |store| {
        let bucket = store.bucket("bucket");
        bucket.put_foreign();
        bucket.publish(1, 60).expect(0);
        bucket.proxy.plan(|request| {
            if request.method == "PUT" && request.attempt == 1 { Fault::LoseAnswer } else { Fault::None }
        });
        bucket.publish(1, 90).expect(0);
        assert_eq!(bucket.urls(), urls(1, 90));
        let input = store.directory.file("urls.txt", pages(31, 120));
        let points: [(Point, _); 2] = [(Request::is_sitemap, urls(1, 90)), (is_index, urls(31, 120))];
        for (point, after) in points {
            // The run is killed at the second of these requests.
            let mut seen = 0;
            bucket.proxy.plan(move |request| {
                seen += usize::from(point(request));
                if seen == 2 { Fault::Kill(Moment::Before) } else { Fault::None }
            });
            assert_eq!(bucket.run_as_target(&mut bucket.build(), &input).exit, 137);
            bucket.crawl();
            bucket.proxy.forward();
            // Publishes nothing, but repairs.
            finish(&mut bucket.build(), b"").expect(65);
            assert_eq!(bucket.urls(), after);
            bucket.assert_nothing_is_left();
        }
        bucket.assert_foreign();
    });
}

#[test]
fn a_second_run_ends_and_a_dead_one_is_cleaned_up_after() {
    on_each(OF_OTHER_KINDS, |store| {
        let bucket = store.bucket("bucket");
        bucket.publish(1, 60).expect(0);
        let mut build = bucket.build();
        let mut first = build.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The first run has claimed the place and waits for its input.
        while !bucket.keys().iter().any(|key| key.contains("/staging/")) {
            assert!(first.try_wait().unwrap().is_none(), "it waits for its input");
            thread::sleep(Duration::from_millis(20));
        }
        let refused = bucket.publish(1, 75).expect(75);
        assert!(refused.stderr.contains("another run holds it"), "{}", refused.stderr);
        first.kill().unwrap();
        first.wait().unwrap();
        assert_eq!(bucket.urls(), urls(1, 60));
        bucket.publish(1, 75).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
        bucket.assert_nothing_is_left();
    });
}

#[test]
fn of_several_writers_one_wins() {
    on_each(OF_OTHER_KINDS, |store| {
        together::assert_one_of_those_that_start_together_wins(store, 2);
        refusing::assert_changed_index_is_not_overwritten(store);
    });
}

#[test]
fn objects_are_inputs_and_those_with_odd_keys_stop_no_run() {
    on_each(OF_OTHER_KINDS, |store| {
        let bucket = store.bucket("bucket");
        // Consoles create folders as empty objects.
        for (key, lines) in [
            ("maps//x", String::new()),
            ("maps/folder/", String::new()),
            ("maps/new/a/", String::new()),
            ("in/", String::new()),
            ("in/1.txt", pages(1, 3)),
            ("in/more/", String::new()),
            ("in/more/2.txt", pages(4, 6)),
        ] {
            bucket.put(key, lines.as_bytes());
        }
        bucket.publish(1, 60).expect(0);
        bucket.publish(1, 75).expect(0);
        bucket.run(&["check", "--quiet"]).expect(0);
        assert_eq!(bucket.urls(), urls(1, 75));
        let clean =
            |key: &str| finish(bucket.sitemill().args(["clean", "--quiet", &bucket.location(key)]), b"");
        assert_eq!(String::from_utf8(clean("in").expect(0).stdout).unwrap(), pages(1, 6));
        let refused = clean("maps/new/").expect(66);
        assert!(refused.stderr.contains("there is no such object"), "{}", refused.stderr);
    });
}

#[test]
fn a_run_that_may_not_write_says_so() {
    on_each(OF_OTHER_KINDS, |store| {
        let bucket = store.bucket("bucket");
        bucket.publish(1, 30).expect(0);
        let before = bucket.objects("");
        let denied = Fault::Answer(403, "AccessDenied");
        bucket.proxy.plan(move |request| if request.is_write() { denied } else { Fault::None });
        let refused = bucket.publish(1, 45).expect(77);
        assert!(refused.stderr.contains("AccessDenied"), "{}", refused.stderr);
        assert_eq!(bucket.objects(""), before);
        bucket.run(&["check", "--quiet"]).expect(0);
    });
}

#[test]
fn credentials_that_azure_and_google_refuse_are_named_without_being_shown() {
    let key = "d3JvbmcrS2V5K1RoYXQrTm9ib2R5K0tub3dz";
    let (azurite, fake_gcs) = (Store::azurite(), Store::fake_gcs());
    let (azure, google) = (azurite.bucket("bucket"), fake_gcs.bucket("bucket"));
    let role = format!("{}/stranger", google.open);
    for (bucket, variable, value, source) in [
        (&azure, "AZURE_STORAGE_KEY", key, "AZURE_STORAGE_ACCOUNT"),
        (&google, "GCE_METADATA_HOST", &role, "the role of this machine"),
    ] {
        let refused = finish(bucket.build().env(variable, value), pages(1, 9).as_bytes()).expect(77);
        assert!(refused.stderr.contains(source), "{}", refused.stderr);
        assert!(!refused.stderr.contains(value), "{}", refused.stderr);
        assert!(bucket.keys().is_empty());
    }
}
