//! `sitemill diff` and `build --diff` list the changes from one set to another.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Run, TempDir, build_command, files, finish, run, sitemill};

const BASE: &str = "http://h.example/";

/// Publishes URLs with their `lastmod`s; an empty one means none.
fn build(out: &Path, rows: &BTreeMap<String, String>, options: &[&str]) -> Run {
    let mut input = String::from("url,lastmod\n");
    rows.iter().for_each(|(url, lastmod)| input += &format!("{url},{lastmod}\n"));
    let mut command = build_command(out, BASE);
    finish(command.args(["--format", "csv", "--max-shrink", "100"]).args(options), input.as_bytes())
}

fn diff(old: &Path, new: &Path, options: &[&str]) -> Run {
    let options = options.iter().map(|option| OsStr::new(*option));
    run(["diff".as_ref(), old.as_os_str(), new.as_os_str()].into_iter().chain(options))
}

fn rows(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
    rows.iter().map(|(page, lastmod)| (format!("{BASE}{page}"), (*lastmod).to_owned())).collect()
}

/// The differences between the two maps as `--tsv` writes them.
fn want(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>) -> String {
    let all: BTreeMap<&String, ()> = old.keys().chain(new.keys()).map(|url| (url, ())).collect();
    let line = |url: &String| match (old.get(url), new.get(url)) {
        (Some(was), None) => format!("removed\t{url}\t{was}\t\n"),
        (None, Some(is)) => format!("added\t{url}\t\t{is}\n"),
        (Some(was), Some(is)) if was != is => format!("changed\t{url}\t{was}\t{is}\n"),
        _ => String::new(),
    };
    all.into_keys().map(line).collect()
}

#[test]
fn every_form_lists_added_removed_and_changed_urls() {
    let directory = TempDir::new();
    let (old, new) = (directory.join("old"), directory.join("new"));
    build(&old, &rows(&[("a", ""), ("b", "2024-01-01"), ("c&d", "2024-01-01"), ("same", "2020-02-02")]), &[])
        .expect(0);
    build(
        &new,
        &rows(&[("b", "2024-02-01"), ("c&d", ""), ("new", "2024-03-01"), ("same", "2020-02-02")]),
        &[],
    )
    .expect(0);
    let text = diff(&old, &new, &[]).expect(0);
    let told = "- http://h.example/a\n~ http://h.example/b  2024-01-01 -> 2024-02-01\n\
        ~ http://h.example/c&d  2024-01-01 -> none\n+ http://h.example/new\n";
    assert_eq!(String::from_utf8(text.stdout).unwrap(), told);
    assert!(
        text.stderr.contains("1 added, 1 removed, 2 changed, 1 unchanged; 2 sitemaps read"),
        "{}",
        text.stderr
    );
    let json = diff(&old, &new, &["--json"]).expect(0).stdout;
    let json: Vec<Value> =
        String::from_utf8(json).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        json[2],
        serde_json::json!({ "change": "changed", "loc": "http://h.example/c&d", "old_lastmod": "2024-01-01" })
    );
    assert_eq!(json.len(), 4);
    assert!(diff(&old, &old, &[]).expect(0).stdout.is_empty());
}

#[test]
fn json_has_dates_as_they_are_and_lines_have_them_escaped() {
    let directory = TempDir::new();
    let sitemap = |name: &str, lastmod: &str| {
        let xml = format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
            <url><loc>http://h.example/a</loc><lastmod>{lastmod}</lastmod></url></urlset>"
        );
        directory.file(name, xml)
    };
    let (old, new) = (sitemap("old.xml", "2024-01-01"), sitemap("new.xml", "May\\5&#9;x"));
    let json: Value = serde_json::from_slice(&diff(&old, &new, &["--json"]).expect(0).stdout).unwrap();
    assert_eq!((&json["old_lastmod"], &json["new_lastmod"]), (&"2024-01-01".into(), &"May\\5\tx".into()));
    let line = "changed\thttp://h.example/a\t2024-01-01\tMay\\\\5\\tx\n";
    assert_eq!(String::from_utf8(diff(&old, &new, &["--tsv"]).expect(0).stdout).unwrap(), line);
}

#[test]
fn json_that_is_no_manifest_is_not_called_damaged() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &rows(&[("1", "")]), &[]).expect(0);
    let listed = run(["urls".as_ref(), "--json".as_ref(), out.as_os_str()]).expect(0).stdout;
    for json in [&listed[..], b"{}", b"[1]"] {
        let refused = diff(&directory.file("urls.json", json), &out, &[]).expect(65);
        let said = "urls.json: is not a manifest; give a published directory, an index file, a sitemap or";
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    let manifest = fs::read(out.join(".sitemill/manifest.json")).unwrap();
    let refused = diff(&directory.file("cut.json", &manifest[..99]), &out, &[]).expect(65);
    assert!(refused.stderr.contains("cut.json: is damaged ("), "{}", refused.stderr);
}

#[test]
fn diff_agrees_with_a_plain_comparison_for_any_two_sets_and_any_memory() {
    let directory = TempDir::new();
    let (old, new) = (directory.join("old"), directory.join("new"));
    // The sets share two thirds of their URLs, a seventh of these with another date.
    let page =
        |n: u64| format!("{BASE}{:x}/{}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15), "p".repeat(n as usize % 60));
    let set = |from: u64, year: u64| -> BTreeMap<String, String> {
        let lastmod = |n: u64| {
            if n.is_multiple_of(5) { String::new() } else { format!("{}-01-01", 2000 + (n % 7 / 6) * year) }
        };
        (from..from + 60_000).map(|n| (page(n), lastmod(n))).collect()
    };
    let (was, is) = (set(0, 1), set(20_000, 2));
    build(&old, &was, &["--urls-per-sitemap", "999"]).expect(0);
    build(&new, &is, &["--urls-per-sitemap", "1777"]).expect(0);
    let want = want(&was, &is);
    for options in
        [&["--tsv"][..], &["--tsv", "--memory", "1MiB"], &["--tsv", "--memory", "3MiB", "--threads", "1"]]
    {
        let told = diff(&old, &new, &[options, &["--scratch", directory.path().to_str().unwrap()]].concat())
            .expect(0);
        assert!(told.stdout == want.as_bytes(), "{options:?}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no scratch is left");
    let refused = diff(&old, &new, &["--memory", "1000"]).expect(2);
    assert!(refused.stderr.contains("at least 1 MiB"), "{}", refused.stderr);
}

#[test]
fn sitemaps_that_are_the_same_in_both_are_not_read() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let (was, is) = (rows(&[("1", ""), ("2", ""), ("3", "")]), rows(&[("1", ""), ("2", ""), ("4", "")]));
    let options = ["--urls-per-sitemap", "1"];
    build(&out, &was, &options).expect(0);
    build(&out, &is, &options).expect(0);
    // Compared with the previous set by its manifest; shared sitemaps may even be missing.
    let kept = fs::read_dir(out.join(".sitemill/sets")).unwrap().next().unwrap().unwrap().path();
    let first = files(&out).into_iter().find(|file| file.starts_with("sitemap-00001-")).unwrap();
    fs::remove_file(out.join(first)).unwrap();
    let told = diff(&kept, &out, &["--tsv"]).expect(0);
    assert_eq!(String::from_utf8(told.stdout).unwrap(), want(&was, &is));
    assert!(told.stderr.contains("2 unchanged; 2 sitemaps read"), "{}", told.stderr);
}

#[test]
fn foreign_sets_are_compared_by_their_index_files_and_directories() {
    let directory = TempDir::new();
    let (old, new) = (directory.join("old"), directory.join("new"));
    let (was, is) = (rows(&[("1", ""), ("2", "2024-01-01")]), rows(&[("2", "2024-01-02"), ("3", "")]));
    build(&old, &was, &["--urls-per-sitemap", "1"]).expect(0);
    build(&new, &is, &["--urls-per-sitemap", "1"]).expect(0);
    fs::remove_dir_all(new.join(".sitemill")).unwrap();
    let want = want(&was, &is);
    for new in [new.clone(), new.join("sitemap-index-1.xml")] {
        assert_eq!(String::from_utf8(diff(&old, &new, &["--tsv"]).expect(0).stdout).unwrap(), want);
    }
    // A URL that a foreign sitemap lists twice counts once, with its latest date.
    let xml = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <url><loc>http://h.example/2</loc><lastmod>2024-01-02</lastmod></url>\
        <url><loc>http://h.example/2</loc><lastmod>2023-01-02</lastmod></url>\
        <url><loc>http://h.example/3</loc></url></urlset>";
    let single = directory.file("single.xml", xml);
    assert!(diff(&new, &single, &[]).expect(0).stdout.is_empty());
}

#[test]
fn a_url_that_several_sets_of_a_directory_list_is_no_difference() {
    let directory = TempDir::new();
    let (several, single) = (directory.join("several"), directory.join("single"));
    let (both, one) = (rows(&[("1", ""), ("2", "")]), rows(&[("1", "")]));
    build(&several, &both, &[]).expect(0);
    build(&several, &one, &["--name", "news"]).expect(0);
    build(&single, &both, &[]).expect(0);
    for (old, new) in [(&several, &single), (&single, &several)] {
        assert!(diff(old, new, &[]).expect(0).stdout.is_empty());
    }
}

#[test]
fn the_only_set_of_a_site_is_compared_whatever_its_name() {
    let directory = TempDir::new();
    let build = |out: &str, name: &[&str], pages: &[&str]| {
        let out = directory.join(out);
        let input: String = pages.iter().map(|page| format!("https://{page}\n")).collect();
        finish(build_command(&out, "{origin}/").args(name), input.as_bytes()).expect(0);
        out
    };
    let pages = ["a.example/1", "a.example/2", "b.example/1"];
    let unnamed = build("unnamed", &[], &pages);
    let named = build("named", &["--name", "blog"], &[&pages[..], &["b.example/2"]].concat());
    let both = build("both", &["--name", "blog"], &pages);
    build("both", &["--name", "shop"], &["a.example/2", "a.example/3", "c.example/1"]);
    for (old, new, want) in [
        (&unnamed, &named, "+ https://b.example/2\n"),
        (&unnamed, &both, "+ https://a.example/3\n+ https://c.example/1\n"),
        (&both, &named, "- https://a.example/3\n+ https://b.example/2\n- https://c.example/1\n"),
    ] {
        assert_eq!(String::from_utf8(diff(old, new, &[]).expect(0).stdout).unwrap(), want, "{old:?} {new:?}");
    }
}

#[test]
fn sitemaps_next_to_sites_are_compared_too() {
    let directory = TempDir::new();
    let [old, new] = ["old", "new"].map(|name| directory.join(name));
    for (out, page) in [(&old, 1), (&new, 2)] {
        let input = format!("https://a.example/{page}\nhttps://b.example/1\n");
        finish(&mut build_command(out, "{origin}/"), input.as_bytes()).expect(0);
    }
    let xml = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <url><loc>https://www.example/</loc></url></urlset>";
    fs::write(new.join("sitemap.xml"), xml).unwrap();
    let text = |old: &Path, new: &Path| String::from_utf8(diff(old, new, &[]).expect(0).stdout).unwrap();
    assert_eq!(text(&old, &new), "+ https://www.example/\n- https://a.example/1\n+ https://a.example/2\n");
    assert_eq!(text(&new, &new), "");
    assert_eq!(text(&new, &new.join("a.example")), "- https://b.example/1\n- https://www.example/\n");
}

#[test]
fn an_unreadable_file_is_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &rows(&[("1", "")]), &[]).expect(0);
    let damaged = directory.file("damaged.xml", "<urlset");
    let two = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
        <url><loc>http://h.example/1</loc><loc>http://h.example/2</loc></url></urlset>";
    for (other, exit) in [
        (directory.join("missing"), 66),
        (directory.join("missing.json"), 66),
        (damaged, 65),
        (directory.file("two-locs.xml", two), 65),
        (directory.file("no-manifest.json", "{}"), 65),
    ] {
        let refused = diff(&out, &other, &[]).expect(exit);
        let name = other.file_name().unwrap().to_str().unwrap();
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
    }
    fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
    let refused = diff(&out, &out, &[]).expect(65).stderr;
    assert!(refused.contains("run build with --ignore-manifest"), "{refused}");
}

#[test]
fn a_build_writes_its_difference_from_the_previous_set() {
    let directory = TempDir::new();
    let (out, told, report) =
        (directory.join("out"), directory.join("diff.tsv"), directory.join("report.json"));
    let options = [
        "--diff",
        told.to_str().unwrap(),
        "--report",
        report.to_str().unwrap(),
        "--keep",
        "0",
        "--keep-sets",
        "0",
    ];
    let (was, is) = (rows(&[("1", ""), ("2", "2024-01-01")]), rows(&[("2", "2024-01-02"), ("3", "")]));
    build(&out, &was, &options).expect(0);
    assert_eq!(fs::read_to_string(&told).unwrap(), want(&BTreeMap::new(), &was));
    // Even if nothing is kept, the old sitemaps exist until they have been compared.
    build(&out, &is, &options).expect(0);
    assert_eq!(fs::read_to_string(&told).unwrap(), want(&was, &is));
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!((&report["diff"]["added"], &report["diff"]["changed"]), (&1.into(), &1.into()));
    assert_eq!(report["expired"], 1);

    // If a live sitemap is missing, there is no diff, and the run still succeeds.
    let new = directory.join("new.tsv");
    for (diff, left, input) in
        [(&told, "was not written and is still the old file", &was), (&new, "was not written", &is)]
    {
        let before = fs::read(diff).ok();
        let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
        fs::remove_file(out.join(&sitemap)).unwrap();
        let warned =
            build(&out, input, &["--diff", diff.to_str().unwrap(), "--keep", "0", "--keep-sets", "0"]);
        let (diff, sitemap, words) = (diff.display(), out.join(sitemap), warned.expect(0).stderr);
        let warning = format!("warning: --diff {diff} {left}: {}: there is no such file", sitemap.display());
        assert!(words.contains(&warning), "{words}");
        assert_eq!(fs::read(diff.to_string()).ok(), before);
    }
    build(&out, &was, &["--diff", directory.join("missing/diff").to_str().unwrap()]).expect(73);
}

#[test]
fn the_manifest_of_a_kept_set_may_be_named_from_inside_the_state_or_by_a_link() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let [old, new] = ["a", "b"].map(|page| rows(&[(page, "2024-05-01")]));
    build(&out, &old, &[]).expect(0);
    build(&out, &new, &[]).expect(0);
    let sets = out.join(".sitemill/sets");
    let kept = fs::read_dir(&sets).unwrap().next().unwrap().unwrap().path();
    let link = directory.join("previous.json");
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    let kept = Path::new(kept.file_name().unwrap()).to_owned();
    for (at, path, live) in [
        (sets.as_path(), kept.clone(), Path::new("../..")),
        (&out.join(".sitemill"), Path::new("sets").join(kept), Path::new("..")),
        (directory.path(), link, &out),
    ] {
        let mut command = sitemill();
        command.current_dir(at).args(["diff", "--tsv", "--quiet"]).args([path.as_path(), live]);
        let run = finish(&mut command, b"").expect(0);
        assert_eq!(String::from_utf8(run.stdout).unwrap(), want(&old, &new), "{}", path.display());
    }
}
