//! Names: keys with the characters of patterns and queries, and patterns that match the set of the run.

use serde_json::Value;

use super::report;
use crate::support::finish;
use crate::world::{BASE, Store, pages, urls};

#[test]
fn a_key_may_contain_the_characters_of_patterns_and_queries() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    for name in ["a?b", "a*b", "aXb", "shop[1]"] {
        let out = format!("s3://exports/sets/{name}");
        let mut build = bucket.sitemill();
        build.args(["build", "--quiet", "--base-url", BASE, "--out", &out]);
        finish(&mut build, format!("{BASE}{}\n", name.len()).as_bytes()).expect(0);
    }
    for input in ["s3://exports/sets", "s3://exports/sets/*/sitemap-index-1.xml"] {
        let read = finish(bucket.sitemill().args(["clean", "--quiet", input]), b"").expect(0);
        let want = [3, 3, 3, 7].map(|length| format!("{BASE}{length}\n")).concat();
        assert_eq!(String::from_utf8(read.stdout).unwrap(), want, "{input}");
    }
}

#[test]
fn a_pattern_leaves_out_the_set_that_the_run_replaces() {
    let store = Store::new();
    let bucket = store.bucket("exports");
    let build = |input: &str| {
        let mut command = bucket.sitemill();
        command.args([
            "build",
            "--json",
            "--max-shrink",
            "100",
            "--base-url",
            BASE,
            "--out",
            &bucket.out(),
            input,
        ]);
        finish(&mut command, b"")
    };
    bucket.put("maps/a.txt", pages(1, 10).as_bytes());
    bucket.put("maps/b.txt", pages(11, 20).as_bytes());
    build("s3://exports/maps/*").expect(0);
    assert_eq!(bucket.urls(), urls(1, 20));
    bucket.delete("maps/b.txt");
    for _ in 0..2 {
        let run = build("s3://exports/maps/*").expect(0);
        assert_eq!(bucket.urls(), urls(1, 10));
        let skipped = report(&run)["skipped"].clone();
        let is_skipped = |name: &str| {
            let is_it = |skipped: &Value| skipped["path"].as_str().unwrap().ends_with(name);
            skipped.as_array().unwrap().iter().any(is_it)
        };
        assert!(
            is_skipped("maps/sitemap-index-1.xml") && is_skipped("maps/robots-sitemaps.txt"),
            "{skipped}"
        );
    }
    let refused = build("s3://exports/maps/sitemap-*").expect(66);
    assert!(
        refused.stderr.contains("matches only files of the set that --out replaces"),
        "{}",
        refused.stderr
    );
    // A file that is named is read.
    build("s3://exports/maps/sitemap-index-1.xml").expect(0);
    assert_eq!(bucket.urls(), urls(1, 10));
}
