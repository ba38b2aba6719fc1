//! Objects that change while they are read.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ::parquet::basic::Compression;

use super::{build, parquet};
use crate::proxy::Fault;
use crate::support::{TempDir, ended};
use crate::world::{Store, pages};

const SAID: &str = "changed while it was being read; run again on a copy";

#[test]
fn an_object_that_is_replaced_after_it_was_found_is_exit_65() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    let directory = TempDir::new();
    let out = directory.join("out");
    let texts = [pages(1, 1000).into_bytes(), pages(1001, 2001).into_bytes()];
    let tables = [1, 2].map(|more| parquet(1000 + more, 1000, Compression::UNCOMPRESSED));
    // Each is read as a single object, and as one of several below a prefix.
    for (input, key, [old, new]) in [
        ("s3://exports/a.txt", "a.txt", &texts),
        ("s3://exports/texts/", "texts/a.txt", &texts),
        ("s3://exports/a.parquet", "a.parquet", &tables),
        ("s3://exports/tables/", "tables/a.parquet", &tables),
    ] {
        bucket.put(key, old);
        // The object is replaced once the first request for its bytes is in flight.
        let is_requested = Arc::new(AtomicBool::new(false));
        let of_plan = Arc::clone(&is_requested);
        bucket.proxy.plan(move |request| match request.method == "GET" && !request.key.is_empty() {
            true => {
                of_plan.store(true, Ordering::SeqCst);
                Fault::Hold
            }
            false => Fault::None,
        });
        let refused = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_requested.load(Ordering::SeqCst) {
                    thread::sleep(Duration::from_millis(1));
                }
                bucket.put(key, new);
                bucket.proxy.release();
            });
            build(&bucket, &out, &[input], &[]).expect(65)
        });
        assert!(refused.stderr.contains(&format!("s3://exports/{key}: {SAID}")), "{}", refused.stderr);
    }
}

#[test]
fn an_object_that_is_replaced_or_removed_between_two_parts_is_exit_65() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    // Larger than what is prefetched.
    let text = pages(1, 1_500_000);
    for is_removed in [false, true] {
        bucket.put("a.txt", text.as_bytes());
        let mut clean = bucket.sitemill();
        clean.args(["clean", "--quiet", "--threads", "1", "s3://exports/a.txt"]);
        let mut child =
            clean.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut urls = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        urls.read_line(&mut first).unwrap();
        assert_eq!(first, pages(1, 1));
        match is_removed {
            true => bucket.delete("a.txt"),
            false => bucket.put("a.txt", text.as_bytes()[..text.len() - 25].as_ref()),
        }
        let mut rest = Vec::new();
        urls.read_to_end(&mut rest).unwrap();
        let run = ended(child);
        let said = if is_removed { "was removed while it was being read; run again" } else { SAID };
        assert!(run.exit == 65 && run.stderr.contains(&format!("s3://exports/a.txt: {said}")), "{run:?}");
        assert!(first.len() + rest.len() < text.len());
    }
}

#[test]
fn an_object_of_a_set_that_is_removed_after_it_was_listed_is_called_removed() {
    let store = Store::new();
    let bucket = store.bucket("bucket");
    bucket.publish(1, 30).expect(0);
    bucket.proxy.plan(|request| match request.method == "GET" && request.key.ends_with(".gz") {
        true => Fault::Answer(404, "NoSuchKey"),
        false => Fault::None,
    });
    let out = TempDir::new();
    let runs = [
        bucket.run(&["check"]),
        bucket.run(&["urls"]),
        bucket.run(&["diff", "s3://bucket/maps/sitemap-index-1.xml"]),
        build(&bucket, &out.join("out"), &[&bucket.out()], &[]),
    ];
    for run in runs {
        assert!([65, 66].contains(&run.exit), "{run:?}");
        assert!(run.stderr.contains(".xml.gz: was removed while it was being read; run again"), "{run:?}");
    }
}
