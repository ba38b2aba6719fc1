//! What a page says about figures that it does not have, and how it calls settings.

use std::fs;

use sitemill::Page;

use super::{BASE, build, pages};
use crate::support::{TempDir, build_command, finish, run};

#[track_caller]
fn check(page: &str, there: &[&str], missing: &[&str]) {
    there.iter().for_each(|text| assert!(page.contains(text), "{text} is not in the page:\n{page}"));
    missing.iter().for_each(|text| assert!(!page.contains(text), "{text} is in the page:\n{page}"));
}

/// Builds without a page.
fn build_without(directory: &TempDir) {
    let mut command = build_command(&directory.join("out"), BASE);
    finish(command.arg("--urls-per-sitemap=20"), (pages("a", 30) + "bad\n").as_bytes()).expect(0);
}

#[test]
fn a_page_says_which_figures_of_the_previous_set_were_not_counted() {
    let directory = TempDir::new();
    build_without(&directory);
    let unknown = [
        "<dd class=\"change\">previous set not counted</dd>",
        "Its lines, duplicates and rejected lines are not shown, because only builds with an HTML report record them",
        "the URLs of the previous set were not counted",
    ];
    let table = ["Change</th>", "Before</th>"];
    let (page, _) = build(&directory, &pages("a", 31), 1, &["--keep-sets=0", "--keep=0"]);
    check(&page, &[&unknown[..], &["+1 (+3.3\u{202f}%)"]].concat(), &table[1..]);
    let (page, _) = build(&directory, &pages("a", 32), 2, &[]);
    check(&page, &table, &unknown);
}

#[test]
fn the_page_of_a_directory_shows_the_limits_of_its_build_or_says_that_they_are_not_recorded() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let page = || String::from_utf8(run(["report", out.to_str().unwrap()]).expect(0).stdout).unwrap();
    let assumed = ["does not record the limit of URLs", "at most 50,000 URLs"];
    build_without(&directory);
    check(&page(), &assumed, &["at most 20 URLs"]);
    let (of_run, _) = build(&directory, &pages("a", 31), 1, &["--bytes-per-sitemap=100000"]);
    let limits = "at most 20 URLs and 97.7\u{202f}KiB of XML";
    check(&of_run, &[limits], &assumed);
    check(&page(), &[limits], &assumed);
}

#[test]
fn settings_are_flags_on_the_command_line_and_fields_in_the_library() {
    let directory = TempDir::new();
    build(&directory, &pages("a", 3), 0, &[]);
    let lines = pages("a", 3) + "no-url\nhttps://other.example/\n";
    let (page, _) = build(&directory, &lines, 1, &["--require-success-marker"]);
    let flags = [
        "<code>--columns url=NAME</code>",
        "<code>--scope host</code>",
        "<code>--base-url &#39;{origin}/&#39;</code>",
        "<dt><code>--urls-per-sitemap</code></dt>",
        "<dt><code>--require-success-marker</code></dt>",
        "<code>--keep-sets</code> decide",
    ];
    let fields = [
        "<code>columns: url=NAME</code>",
        "<code>scope: host</code>",
        "<code>base_url: {origin}/</code>",
        "<dt><code>urls_per_sitemap</code></dt>",
        "<dt><code>require_success_marker</code></dt>",
        "<code>keep_sets</code> decide",
    ];
    check(&page, &flags, &fields);
    let json = fs::read(directory.join("report.json")).unwrap();
    check(Page::of_json(&json).unwrap().as_str(), &fields, &flags);
}

#[test]
fn a_hint_that_is_part_of_the_refusal_is_shown_once() {
    let directory = TempDir::new();
    let page = directory.join("page.html");
    let mut command = build_command(&directory.join("out"), BASE);
    finish(command.arg("--html").arg(&page), b"bad\n").expect(65);
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(page.matches("a URL begins with http://").count(), 1, "{page}");
}
