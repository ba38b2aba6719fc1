//! Manifests, journals and kept sets that were cut, edited or written by another version are refused, change nothing,
//! and can be ignored with `--ignore-manifest`.

mod unfit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    Run, TempDir, assert_nothing_is_left, assert_says, build_command, files, finish, killed_at, published,
    published_urls, run, sitemill, status,
};

const BASE: &str = "http://h.example/";

/// Files beside the set that sitemill did not write. Some have names like its own.
const THEIRS: [&str; 6] = [
    "index.html",
    "robots.txt",
    "sitemap.xml",
    "sitemap-00001-ffffffff.xml.gz",
    "sitemap-index-9.xml",
    "sitemap-index-x.xml",
];

/// Publishes `pages`, with one URL per sitemap and two sitemaps per index file.
fn build(out: &Path, pages: &[u32], options: &[&str]) -> Run {
    finish(&mut build_with(out, options), input(pages).as_bytes())
}

fn build_with(out: &Path, options: &[&str]) -> Command {
    let mut command = build_command(out, BASE);
    command
        .args(["--urls-per-sitemap", "1", "--sitemaps-per-index", "2", "--max-shrink", "100"])
        .args(options);
    command
}

fn input(pages: &[u32]) -> String {
    pages.iter().map(|page| format!("{BASE}{page}\n")).collect()
}

fn rebuild(out: &Path, pages: &[u32]) -> Run {
    build(out, pages, &["--ignore-manifest"])
}

fn rollback(out: &Path, options: &[&str]) -> Run {
    finish(sitemill().args(["rollback", "--quiet"]).args(options).arg("--out").arg(out), b"")
}

/// The numbers of the kept sets.
fn kept(out: &Path) -> Vec<u64> {
    status(out)["earlier"].as_array().unwrap().iter().map(|set| set["number"].as_u64().unwrap()).collect()
}

fn live(out: &Path) -> Vec<u32> {
    published_urls(out, BASE).iter().map(|url| url[BASE.len()..].parse().unwrap()).collect()
}

/// Three sets, of which the live one has four index files, and the foreign files.
fn world(directory: &TempDir, name: &str) -> PathBuf {
    let out = directory.join(name);
    fs::create_dir(&out).unwrap();
    THEIRS.iter().for_each(|file| fs::write(out.join(file), *file).unwrap());
    build(&out, &[1, 2], &[]).expect(0);
    build(&out, &[2, 3, 4], &[]).expect(0);
    build(&out, &[2, 3, 5, 6, 7, 8, 9], &[]).expect(0);
    out
}

/// Names and bytes of all files that a crawler can read.
fn snapshot(out: &Path) -> Vec<(String, Vec<u8>)> {
    files(out).into_iter().map(|file| (file.clone(), fs::read(out.join(file)).unwrap())).collect()
}

#[track_caller]
fn assert_theirs_are_untouched(out: &Path) {
    THEIRS.iter().for_each(|file| assert_eq!(fs::read(out.join(file)).unwrap(), file.as_bytes()));
}

/// `check` finds nothing once the foreign index file is gone, which it would take for part of the set.
#[track_caller]
fn assert_clean(out: &Path) {
    assert_theirs_are_untouched(out);
    let foreign = out.join("sitemap-index-9.xml");
    fs::remove_file(&foreign).unwrap();
    run(["check".as_ref(), out.as_os_str()]).expect(0);
    fs::write(&foreign, "sitemap-index-9.xml").unwrap();
}

/// The name of the damage, a function that damages an intact manifest, and the message that follows.
type Damage = (&'static str, fn(&str) -> String, &'static str);

fn damages() -> [Damage; 5] {
    [
        ("truncated", |json| json[..json.len() / 2].into(), "is damaged ("),
        ("emptied", |_| String::new(), "is damaged ("),
        ("edited", |json| json.replace("\"urls\": 1", "\"urls\": 2"), "was edited: its checksum"),
        ("edited without a checksum", |json| unchecked(json, believed_before), "was edited: \"index.html\""),
        ("of another version", |json| json.replace("\"format\": 1,", "\"format\": 9,"), "has format 9"),
    ]
}

fn unchecked(json: &str, edit: impl FnOnce(&mut Value)) -> String {
    let mut json: Value = serde_json::from_str(json).unwrap();
    json.as_object_mut().unwrap().remove("checksum");
    edit(&mut json);
    json.to_string()
}

fn believed_before(json: &mut Value) {
    json["superseded"] = json!([{ "file": "index.html", "since": "2001-01-01T00:00:00Z" }]);
}

fn damage(path: &Path, harm: fn(&str) -> String) -> String {
    let harmed = harm(&fs::read_to_string(path).unwrap());
    fs::write(path, &harmed).unwrap();
    harmed
}

/// Fails unless a file in `.sitemill/damaged` has the content `harmed`.
#[track_caller]
fn assert_set_aside(out: &Path, harmed: &str) {
    let mut aside = fs::read_dir(out.join(".sitemill/damaged")).unwrap();
    assert!(aside.any(|file| fs::read(file.unwrap().path()).unwrap() == harmed.as_bytes()));
}

#[test]
fn a_damaged_manifest_is_refused_and_can_be_ignored() {
    let directory = TempDir::new();
    for (how, harm, words) in damages() {
        let out = world(&directory, how);
        let before = snapshot(&out);
        let harmed = damage(&out.join(".sitemill/manifest.json"), harm);
        for refused in [
            build(&out, &[2, 7], &[]).expect(65),
            rollback(&out, &[]).expect(65),
            run(["status".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(65),
            run(["check".as_ref(), out.as_os_str()]).expect(65),
        ] {
            assert_says(&refused, &["manifest.json", words, "live set", "build with --ignore-manifest"]);
        }
        // A run with `--ignore-manifest` that is refused for another reason changes nothing either.
        build(&out, &[], &["--ignore-manifest"]).expect(65);
        assert_eq!(snapshot(&out), before, "{how}");
        assert_eq!(fs::read_to_string(out.join(".sitemill/manifest.json")).unwrap(), harmed);

        rebuild(&out, &[2, 7]).expect(0);
        assert_clean(&out);
        assert_set_aside(&out, &harmed);
        assert_eq!((live(&out), kept(&out)), (vec![2, 7], vec![2, 1]), "{how}");
        assert!(status(&out)["live"]["number"].as_u64() > Some(2), "above the highest kept number");
        // Late crawlers still find the sitemaps of the lost set.
        let after = files(&out);
        let sitemaps = before.iter().map(|(file, _)| file).filter(|file| file.ends_with(".gz"));
        sitemaps.for_each(|file| assert!(after.contains(file), "{how}: {file}"));
        assert!(after.contains(&"sitemap-index-2.xml".into()), "{how}");
        // Later runs work as usual and remove the sitemaps of the lost set when they expire.
        rollback(&out, &["--to", "2"]).expect(0);
        assert_eq!(live(&out), [2, 3, 4]);
        build(&out, &[4], &["--keep", "0", "--keep-sets", "0"]).expect(0);
        assert_eq!(files(&out).len(), THEIRS.len() + 3);
        assert_clean(&out);
    }
}

/// A run that died after the first rename of its switch has left a journal; the new set is half live.
fn broken_switch(directory: &TempDir, name: &str) -> PathBuf {
    let out = directory.join(name);
    build(&out, &[1, 2], &[]).expect(0);
    build(&out, &[2, 3, 4], &[]).expect(0);
    THEIRS.iter().for_each(|file| fs::write(out.join(file), *file).unwrap());
    // The fourth rename follows those of the replaced set, the journal and the first index file.
    let mut died = killed_at("rename", 4, &build_with(&out, &[]));
    finish(&mut died, input(&[3, 5, 6, 7, 8, 9]).as_bytes()).expect(137);
    out
}

/// The number of sitemaps that index file 1 lists. Fails unless all of them exist.
fn first_index(out: &Path) -> usize {
    let xml = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    let listed = crate::support::locs(&xml);
    listed.iter().for_each(|url| assert!(out.join(&url[BASE.len()..]).exists(), "{url}"));
    listed.len()
}

#[test]
fn a_damaged_journal_is_refused_and_can_be_ignored() {
    let directory = TempDir::new();
    for (how, harm, words) in damages() {
        let out = broken_switch(&directory, how);
        let before = snapshot(&out);
        let harmed = damage(&out.join(".sitemill/manifest.next.json"), harm);
        for refused in [build(&out, &[2, 7], &[]).expect(65), rollback(&out, &[]).expect(65)] {
            assert_says(
                &refused,
                &["manifest.next.json", words, "journal of a switch", "build with --ignore-manifest"],
            );
        }
        let shown = status(&out);
        assert_eq!((&shown["is_switching"], &shown["live"]["number"]), (&false.into(), &2.into()));
        assert!(shown["damaged"][0].as_str().unwrap().contains("journal of a switch"), "{shown}");
        build(&out, &[], &["--ignore-manifest"]).expect(65);
        assert_eq!((snapshot(&out), first_index(&out)), (before, 2), "{how}");

        rebuild(&out, &[2, 3]).expect(0);
        assert_clean(&out);
        assert_set_aside(&out, &harmed);
        assert_eq!((live(&out), kept(&out)), (vec![2, 3], vec![2, 1]), "{how}");
        THEIRS.iter().for_each(|file| fs::remove_file(out.join(file)).unwrap());
        assert_nothing_is_left(&out);
    }
}

#[test]
fn a_damaged_kept_set_cannot_be_restored_and_the_others_can() {
    let directory = TempDir::new();
    for (how, harm, words) in damages() {
        let out = world(&directory, how);
        let before = snapshot(&out);
        let sets = fs::read_dir(out.join(".sitemill/sets")).unwrap().map(|set| set.unwrap().path());
        let number = |path: &PathBuf| {
            serde_json::from_slice::<Value>(&fs::read(path).unwrap()).unwrap()["number"].clone()
        };
        let second = sets.into_iter().find(|path| number(path) == 2).unwrap();
        let harmed = damage(&second, harm);
        let name = second.file_name().unwrap().to_str().unwrap();
        let refused = rollback(&out, &[]).expect(65);
        assert_says(&refused, &["set 2 cannot be restored", name, words, "--to 1 restores an earlier one"]);
        assert_eq!((snapshot(&out), kept(&out)), (before, vec![1]), "{how}");
        let told = run(["status".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(0);
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(told.contains("set 2 cannot be restored") && told.contains("set    1  live from "), "{told}");
        assert!(told.contains("build with --ignore-manifest"), "{told}");

        // A build needs no kept set, but warns each time that nothing is removed.
        let warned = build(&out, &[2, 7], &[]).expect(0);
        assert_says(&warned, &["no old sitemap is removed", name, words, "build with --ignore-manifest"]);
        rebuild(&out, &[2, 8]).expect(0);
        assert_clean(&out);
        assert_set_aside(&out, &harmed);
        assert_eq!((live(&out), kept(&out)), (vec![2, 8], vec![4, 3, 1]), "{how}");
        assert_eq!(build(&out, &[2, 8], &[]).expect(0).stderr, "");
        rollback(&out, &["--to", "1"]).expect(0);
        assert_eq!(live(&out), [1, 2]);
    }
}

#[test]
fn a_manifest_and_a_journal_may_be_lost_together() {
    let directory = TempDir::new();
    let out = broken_switch(&directory, "out");
    for file in ["manifest.json", "manifest.next.json"] {
        fs::write(out.join(".sitemill").join(file), "{").unwrap();
    }
    rebuild(&out, &[8]).expect(0);
    assert_clean(&out);
    assert_eq!((live(&out), kept(&out)), (vec![8], vec![2, 1]));
}

#[test]
fn a_switch_is_completed_from_its_journal_whatever_happened_to_the_manifest() {
    let directory = TempDir::new();
    let out = broken_switch(&directory, "out");
    fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
    build(&out, &[8], &[]).expect(65);
    build(&out, &[], &["--ignore-manifest"]).expect(65);
    assert_eq!(live(&out), [3, 5, 6, 7, 8, 9]);
    assert_clean(&out);
    assert_set_aside(&out, "{");
}

#[test]
fn a_missing_manifest_with_earlier_sets_is_not_a_first_run() {
    let directory = TempDir::new();
    let out = world(&directory, "out");
    let before = snapshot(&out);
    fs::remove_file(out.join(".sitemill/manifest.json")).unwrap();
    for refused in [
        build(&out, &[2], &[]),
        rollback(&out, &[]),
        run(["status".as_ref(), out.as_os_str()]),
        run(["status".as_ref(), directory.path().as_os_str()]),
        run(["report".as_ref(), out.as_os_str()]),
    ] {
        assert_says(
            &refused.expect(65),
            &["out/.sitemill/manifest.json: is missing", "build with --ignore-manifest"],
        );
    }
    // These read only the files.
    for command in ["check", "urls"] {
        run([command.as_ref(), out.as_os_str()]).expect(0);
    }
    assert_eq!(snapshot(&out), before);
    rebuild(&out, &[2]).expect(0);
    assert_clean(&out);
    assert_eq!((live(&out), kept(&out)), (vec![2], vec![2, 1]));
}

#[test]
fn a_first_set_may_lose_its_manifest() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let pages = ["a/1", "a/2", "b/1"].map(|page| format!("{BASE}{page}\n")).concat();
    finish(&mut build_with(&out, &["--section-by-path"]), pages.as_bytes()).expect(0);
    let before = snapshot(&out);
    fs::remove_file(out.join(".sitemill/manifest.json")).unwrap();
    for options in [&[][..], &["--dry-run"]] {
        let way_out = "run again with --ignore-manifest if the set there has lost its manifest";
        assert_says(&build(&out, &[1], options).expect(73), &["robots-sitemaps.txt: is in the way", way_out]);
    }
    let status = |of: &Path| run(["status".as_ref(), of.as_os_str()]);
    for refused in [rollback(&out, &[]), status(&out), status(directory.path())] {
        let missing = "out/.sitemill/manifest.json: is missing, although there are index files of a set";
        assert_says(&refused.expect(65), &[missing, "build with --ignore-manifest"]);
    }
    assert_eq!(snapshot(&out), before);
    rebuild(&out, &[1]).expect(0);
    build(&out, &[1], &["--keep", "0", "--keep-sets", "0"]).expect(0);
    assert_eq!(files(&out).len(), 3, "a sitemap, an index file and the lines for robots.txt");
}

#[test]
fn sets_that_were_rolled_back_are_known_without_the_manifest() {
    let directory = TempDir::new();
    for (how, rollbacks) in [("step by step", &[&[][..], &[]][..]), ("at once", &[&["--to", "3"]])] {
        let out = directory.join(how);
        (1..=5).for_each(|page| _ = build(&out, &[page], &[]).expect(0));
        rollbacks.iter().for_each(|options| _ = rollback(&out, options).expect(0));
        fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
        rebuild(&out, &[6]).expect(0);
        let shown = status(&out)["earlier"].clone();
        let shown: Vec<_> =
            shown.as_array().unwrap().iter().map(|set| (&set["number"], &set["withdrawn"])).collect();
        let withdrawn = [5, 4, 3, 2, 1].map(|number| (json!(number), json!(number > 3)));
        assert_eq!(shown, withdrawn.iter().map(|(number, is)| (number, is)).collect::<Vec<_>>(), "{how}");
        rollback(&out, &[]).expect(0);
        assert_eq!(live(&out), [3], "{how}");
        rollback(&out, &["--to", "4"]).expect(0);
        assert_eq!(live(&out), [4], "{how}");
    }
}

#[test]
fn ignoring_an_intact_manifest_rewrites_every_file_and_keeps_all_sets() {
    let directory = TempDir::new();
    let out = world(&directory, "out");
    let before = published(&out, BASE);
    let config = directory.file("sitemill.toml", "ignore-manifest = true\n");
    for options in [&["--ignore-manifest"][..], &["--config", config.to_str().unwrap()]] {
        build(&out, &[2, 3, 5, 6, 7, 8, 9], options).expect(0);
        assert_eq!(published(&out, BASE), before, "the same names and contents, each with its own lastmod");
        assert_clean(&out);
    }
    let input = format!("{BASE}2\n");
    let mut command = build_command(&out, BASE);
    finish(command.args(["--max-shrink", "99"]).env("SITEMILL_IGNORE_MANIFEST", "true"), input.as_bytes())
        .expect(0);
    assert_eq!((live(&out), kept(&out)), (vec![2], vec![5, 4, 3, 2, 1]));
    assert!(!out.join(".sitemill/damaged").exists());
    // The live set is known, so `--max-shrink` compares with it.
    build(&out, &[2, 3, 4, 5], &[]).expect(0);
    let mut command = build_command(&out, BASE);
    finish(command.args(["--ignore-manifest", "--max-shrink", "70"]), input.as_bytes()).expect(65);
}

#[test]
fn each_damaged_site_is_repaired_on_its_own() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |pages: u32, options: &[&str]| {
        let mut command = sitemill();
        command
            .args(["build", "--quiet", "--base-url", "{origin}/", "--urls-per-sitemap", "1"])
            .args(options);
        let pages = |host| (1..=pages).map(move |page| format!("https://{host}.example/{page}\n"));
        let input: String = pages("a").chain(pages("b")).collect();
        finish(command.args(["--sitemaps-per-index", "1", "--out"]).arg(&out), input.as_bytes())
    };
    build(3, &[]).expect(0);
    fs::write(out.join("b.example/.sitemill/manifest.json"), "{").unwrap();
    assert_says(&build(2, &[]).expect(65), &["b.example", "build with --ignore-manifest"]);
    build(2, &["--ignore-manifest"]).expect(0);
    for host in ["a.example", "b.example"] {
        assert_eq!(published_urls(&out.join(host), &format!("https://{host}/")).len(), 2);
        assert_nothing_is_left(&out.join(host));
    }
}
