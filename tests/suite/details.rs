//! The details of `--report`: sections, fullness, changed sitemaps, the previous set, the trend.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{TempDir, build_command, epoch_plus, finish, run};

const BASE: &str = "https://h.example/";

/// Builds `lines` into `out` on day `day` and returns the report.
fn build(directory: &TempDir, lines: &str, day: u32, options: &[&str]) -> Value {
    let report = directory.join("report.json");
    let mut command = build_command(&directory.join("out"), BASE);
    command.args(options).arg("--report").arg(&report).arg("--html").arg(directory.join("page.html"));
    command.env("SOURCE_DATE_EPOCH", epoch_plus(day * 86_400));
    finish(&mut command, lines.as_bytes()).expect(0);
    read(&report)
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn pages(section: &str, count: usize) -> String {
    (0..count).map(|n| format!("{BASE}{section}/{n}?q=a&b=c\n")).collect()
}

#[test]
fn segments_below_another_directory_are_not_compared() {
    let directory = TempDir::new();
    let lines = format!("{BASE}shop/x/1\n{BASE}shop/y/2\n{BASE}shop/\n");
    let shop = format!("{BASE}shop/");
    let named = |base_url: &str, scope: &str| {
        let report = directory.join("report.json");
        let mut command = build_command(&directory.join("out"), base_url);
        command.args(["--scope", scope, "--replace-set", "--report"]).arg(&report);
        command.arg("--html").arg(directory.join("page.html"));
        finish(&mut command, lines.as_bytes()).expect(0);
        read(&report)["details"]["segments"]["named"].take()
    };
    let below = |previous: Option<[u32; 3]>| {
        let names = ["/shop/", "/shop/x", "/shop/y"].iter();
        let mut all: Vec<_> = names.map(|name| json!({ "name": name, "urls": 1 })).collect();
        for (section, previous) in all.iter_mut().zip(previous.into_iter().flatten()) {
            section["previous"] = previous.into();
        }
        Value::from(all)
    };
    assert_eq!(named(&shop, "directory"), below(None));
    assert_eq!(named(&shop, "host"), json!([{ "name": "/shop", "urls": 3 }]));
    // The scope is another one, and the segments are the same.
    assert_eq!(named(&shop, "any"), json!([{ "name": "/shop", "urls": 3, "previous": 3 }]));
    assert_eq!(named(BASE, "directory"), json!([{ "name": "/shop", "urls": 3, "previous": 3 }]));
    assert_eq!(named(&shop, "directory"), below(None));
    assert_eq!(named(&shop, "directory"), below(Some([1; 3])));
}

#[test]
fn the_settings_of_sections_are_shown() {
    let directory = TempDir::new();
    let rules = directory.file("rules.toml", "a = '/a/'\n");
    let settings =
        |options: &[&str]| build(&directory, &pages("a", 2), 0, options)["details"]["settings"].take();
    let by_path = settings(&["--section-by-path", "--sections-max", "7"]);
    assert_eq!((&by_path["section-by-path"], &by_path["sections-max"]), (&json!("yes"), &json!("7")));
    let by_rules = settings(&["--sections", rules.to_str().unwrap()]);
    assert_eq!((&by_rules["sections"], by_rules.get("sections-max")), (&json!("1 rule"), None));
}

#[test]
fn the_settings_of_inputs_and_of_compression_are_shown() {
    let directory = TempDir::new();
    let read = ["--format=csv", "--columns=lastmod=2,url=1", "--delimiter=tab", "--lastmod-unit=seconds"];
    let options = [&read[..], &["--gzip-engine=flate2"]].concat();
    let rows = pages("a", 2).replace('\n', "\t1714558830\n");
    let settings = build(&directory, &rows, 0, &options)["details"]["settings"].take();
    for (option, value) in [
        ("columns", "url=1,lastmod=2"),
        ("delimiter", "tab"),
        ("lastmod-unit", "seconds"),
        ("gzip-engine", "flate2"),
    ] {
        assert_eq!(settings[option], value, "{option}");
    }
}

#[test]
fn a_report_compares_the_set_with_the_one_that_was_live() {
    let directory = TempDir::new();
    let options = ["--urls-per-sitemap=10", "--max-shrink=100", "--order=sorted"];
    let first =
        pages("gone", 10) + &pages("products", 20) + "no url\n" + &format!("{BASE}products/1?q=a&b=c\n");
    let details = &build(&directory, &first, 0, &options)["details"];
    assert_eq!(details.get("previous"), None);
    assert_eq!(details["changes"]["new_sitemaps"], 3);
    assert_eq!(details["time"], "2005-06-26T00:00:00Z");
    assert_eq!(details["settings"]["urls-per-sitemap"], "10");
    assert_eq!(details["segments"]["named"][0], json!({ "name": "/products", "urls": 20 }));

    let second = pages("products", 20) + &pages("new", 5) + &pages("new", 1) + "none\nneither\n";
    let details = &build(&directory, &second, 1, &options)["details"];
    let previous = &details["previous"];
    let counts = ["lines", "listed", "duplicates", "rejected", "sitemaps"].map(|name| &previous[name]);
    assert_eq!(counts, [32, 30, 1, 1, 3]);
    assert_eq!(previous["published"], "2005-06-26T00:00:00Z");
    let sections = json!([
        { "name": "/products", "urls": 20, "previous": 20 },
        { "name": "/gone", "urls": 0, "previous": 10 },
        { "name": "/new", "urls": 5, "previous": 0 },
    ]);
    assert_eq!(details["segments"]["named"], sections);
    assert_eq!(
        (&details["segments"]["others"], &details["segments"]["other_segments"]),
        (&json!(0), &json!(0))
    );
    // In sorted order, the URLs of /new come first, so all others are divided differently.
    assert_eq!(details["fullness"]["urls"], json!([0, 0, 0, 0, 1, 0, 0, 0, 0, 2]));
    let changes = &details["changes"];
    let counts = ["new_sitemaps", "kept_sitemaps", "removed_sitemaps"].map(|name| &changes[name]);
    assert_eq!(counts, [3, 0, 3]);
    let history: Vec<_> = details["history"].as_array().unwrap().iter().map(|set| &set["listed"]).collect();
    assert_eq!(history, [30, 25]);
    let examples: Vec<_> = details["examples"].as_array().unwrap().iter().map(|line| &line["text"]).collect();
    assert_eq!(examples, ["none", "neither"]);

    let again = &build(&directory, &second, 2, &options)["details"];
    assert_eq!(
        (&again["changes"]["new_sitemaps"], &again["changes"]["kept_sitemaps"]),
        (&json!(0), &json!(3))
    );
}

#[test]
fn figures_that_the_manifest_lacks_are_unknown() {
    let directory = TempDir::new();
    let manifest = directory.join("out/.sitemill/manifest.json");
    finish(&mut build_command(&directory.join("out"), BASE), pages("a", 3).as_bytes()).expect(0);
    let plain = fs::read_to_string(&manifest).unwrap();
    assert!(!plain.contains("\"counts\""), "a run without a report writes what it always wrote:\n{plain}");
    let details = &build(&directory, &pages("a", 4), 1, &[])["details"];
    assert_eq!(details["previous"]["listed"], 3);
    assert_eq!(details["previous"].get("lines"), None);
    assert_eq!(details["segments"]["named"], json!([{ "name": "/a", "urls": 4 }]));
    // Manifests that are published have this key.
    assert_eq!(read(&manifest)["counts"]["sections"]["named"], details["segments"]["named"]);
    // The next run without a report reads such a manifest, and forgets the counts.
    finish(&mut build_command(&directory.join("out"), BASE), pages("a", 5).as_bytes()).expect(0);
    assert!(!fs::read_to_string(&manifest).unwrap().contains("\"counts\""));
}

#[test]
fn sections_are_the_same_for_every_number_of_threads_even_if_each_url_has_its_own() {
    let mut lines = String::new();
    for n in 0..40_000 {
        lines += &format!("{BASE}own-{n}/x\n");
        if n % 10 == 0 {
            lines += &format!("{BASE}shared/{n}\n{BASE}a&b/{n}\n");
        }
    }
    let sections = |threads: &str, order: &str| {
        let directory = TempDir::new();
        let options = ["--urls-per-sitemap=3000", "--threads", threads, "--order", order];
        let report = build(&directory, &lines, 0, &options);
        report["details"]["segments"].clone()
    };
    let one = sections("1", "input");
    let named = json!([{ "name": "/a&b", "urls": 4_000 }, { "name": "/shared", "urls": 4_000 }]);
    assert_eq!((&one["named"], &one["others"]), (&named, &json!(40_000)));
    assert_eq!(one, sections("3", "input"));
    assert_eq!(one, sections("2", "sorted"));
}

#[test]
fn with_a_set_for_each_origin_the_origin_is_the_section() {
    let directory = TempDir::new();
    let report = directory.join("report.json");
    let build = |lines: &str| {
        let mut command = build_command(&directory.join("out"), "{origin}/");
        finish(command.args(["--max-shrink=100", "--report"]).arg(&report), lines.as_bytes()).expect(0);
        read(&report)["details"].clone()
    };
    let first = build("https://a.example/1\nhttps://b.example/1\nhttps://b.example/2\n");
    let named =
        json!([{ "name": "https://b.example/", "urls": 2 }, { "name": "https://a.example/", "urls": 1 }]);
    assert_eq!((&first["segments"]["by"], &first["segments"]["named"]), (&json!("origin"), &named));
    let second = build("https://a.example/1\nhttps://b.example/2\nhttps://c.example/1\n");
    let previous: Vec<_> =
        second["segments"]["named"].as_array().unwrap().iter().map(|section| &section["previous"]).collect();
    assert_eq!(previous, [2, 1, 0]);
    assert_eq!(second["previous"]["listed"], 3);
    assert_eq!(second["changes"]["kept_sitemaps"], 1);
}

#[test]
fn a_site_that_a_run_left_alone_counts_with_its_live_set() {
    let directory = TempDir::new();
    let (out, report, page) =
        (directory.join("out"), directory.join("report.json"), directory.join("page.html"));
    let urls = |host: &str, count: usize| {
        (0..count).map(|n| format!("https://{host}.example/{n}\n")).collect::<String>()
    };
    let (a, both) = (urls("a", 5), urls("a", 5) + &urls("b", 7));
    let build = |day: u32, lines: &str| {
        let mut command = build_command(&out, "{origin}/");
        command.arg("--report").arg(&report).arg("--html").arg(&page);
        command.env("SOURCE_DATE_EPOCH", epoch_plus(day * 86_400));
        finish(&mut command, lines.as_bytes()).expect(0);
        let history = read(&report)["details"]["history"].clone();
        history.as_array().unwrap().iter().map(|set| set["listed"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    build(0, &both);
    build(1, &a);
    assert_eq!(build(2, &both), [12, 12, 12]);
    assert!(fs::read_to_string(&page).unwrap().contains("are not recorded for runs of several sites"));

    build(3, &(urls("a", 5) + &urls("c", 3)));
    build(4, &a);
    run([OsStr::new("report"), out.as_os_str(), OsStr::new("-o"), page.as_os_str()]).expect(0);
    let html = fs::read_to_string(&page).unwrap();
    let listed = "<dt>Listed</dt><dd class=\"figure\">15</dd><dd class=\"change\">unchanged</dd>";
    assert!(html.contains(listed) && html.contains("No sitemap is new"), "{html}");
}
