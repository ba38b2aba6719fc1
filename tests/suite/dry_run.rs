//! Dry runs: they say what a run would do, take its decisions, and change nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Run, TempDir, build_command, files, finish, heeding_signals, send, sitemill, wait_until_staging,
};

const BASE: &str = "https://www.example.com/";

/// Every path below `directory` with its inode, time of modification and size: whatever changes is seen.
fn tree(directory: &Path) -> BTreeMap<PathBuf, (u64, i64, i64, u64)> {
    let (mut found, mut open) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(path) = open.pop() {
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.insert(path, (meta.ino(), meta.mtime(), meta.mtime_nsec(), meta.size()));
    }
    found
}

/// The index files in `directory`, by name.
fn index_files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    let named = files.map(|file| (file.file_name().into_string().unwrap(), file.path()));
    named
        .filter(|(name, _)| name.contains("index"))
        .map(|(name, path)| (name, fs::read(path).unwrap()))
        .collect()
}

fn urls(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|n| format!("{BASE}page/{n:06}\n")).collect()
}

/// A build of `input` into `out` with ten URLs per sitemap and two sitemaps per index file.
fn small(out: &Path, input: &str, options: &[&str]) -> Run {
    let mut build = build_command(out, BASE);
    build.args(["--urls-per-sitemap", "10", "--sitemaps-per-index", "2", "--json"]).args(options);
    finish(&mut build, input.as_bytes())
}

fn report(run: &Run) -> Value {
    serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("a report, not {:?}", run.stdout))
}

/// The numbers of a dry run, without bytes.
fn counts(report: &Value) -> [u64; 7] {
    let names = [
        "new_sitemaps",
        "kept_sitemaps",
        "removed_sitemaps",
        "new_indexes",
        "replaced_indexes",
        "kept_indexes",
        "removed_indexes",
    ];
    names.map(|name| report["dry_run"][name].as_u64().unwrap())
}

#[test]
fn a_dry_run_before_the_first_run_creates_nothing() {
    let directory = TempDir::new();
    let out = directory.join("deep/out");
    let before = tree(directory.path());
    let dry = small(&out, &urls(0..45), &["--dry-run"]).expect(0);
    assert_eq!(tree(directory.path()), before);
    let report = report(&dry);
    assert_eq!((&report["published"], &report["listed"]), (&json!(false), &json!(45)));
    assert_eq!(counts(&report), [5, 0, 0, 3, 0, 0, 0]);
}

#[test]
fn a_dry_run_names_exactly_what_the_next_run_changes() {
    let directory = TempDir::new();
    let out = directory.join("out");
    small(&out, &urls(0..85), &[]).expect(0);
    let changed: String = urls(0..20) + &urls([900_000]) + &urls(21..60);
    for options in [&[][..], &["--html", "page.html"], &["--divide", "stable"], &["--order", "sorted"]] {
        let directory = TempDir::new();
        let copy = directory.join("out");
        assert!(Command::new("cp").arg("-a").args([&out, &copy]).status().unwrap().success());
        let page = directory.join("page.html");
        let options: Vec<&str> = options
            .iter()
            .map(|&option| if option == "page.html" { page.to_str().unwrap() } else { option })
            .collect();
        // A run writes sitemaps again that are missing or damaged.
        let sitemap = |number: &str| files(&copy).into_iter().find(|file| file.starts_with(number)).unwrap();
        fs::remove_file(copy.join(sitemap("sitemap-00002"))).unwrap();
        fs::write(copy.join(sitemap("sitemap-00005")), "damaged").unwrap();
        let (before, indexes) = (tree(&copy), index_files(&copy));
        let dry = report(&small(&copy, &changed, &[&options[..], &["--dry-run"]].concat()).expect(0));
        assert_eq!(tree(&copy), before, "{options:?}");
        let real = report(&small(&copy, &changed, &options).expect(0));
        let changes = &real["details"]["changes"];
        for name in ["new_sitemaps", "kept_sitemaps", "removed_sitemaps"] {
            assert_eq!(dry["dry_run"][name], changes[name], "{options:?}: {name}");
        }
        for name in
            ["lines", "listed", "duplicates", "rejected", "sitemaps", "indexes", "index_urls", "xml_bytes"]
        {
            assert_eq!(dry[name], real[name], "{options:?}: {name}");
        }
        assert_eq!(dry["details"]["segments"], real["details"]["segments"], "{options:?}");
        let [_, _, _, new, replaced, kept, removed] = counts(&dry);
        assert_eq!(
            (new + replaced + kept, replaced + kept + removed),
            (real["indexes"].as_u64().unwrap(), 5),
            "{options:?}"
        );
        let after = index_files(&copy);
        let same = indexes.iter().filter(|(name, bytes)| after.get(*name) == Some(*bytes)).count() as u64;
        assert_eq!(kept + removed, same, "{options:?}");
        let again = report(&small(&copy, &changed, &[&options[..], &["--dry-run"]].concat()).expect(0));
        assert_eq!(counts(&again)[3..], [0, 0, real["indexes"].as_u64().unwrap(), 0], "{options:?}");
    }
}

#[test]
fn bytes_are_exact_if_all_new_sitemaps_are_sampled_and_near_if_not() {
    let directory = TempDir::new();
    for (pages, is_exact) in [(80, true), (900, false)] {
        let out = directory.join(format!("out{pages}"));
        let dry = report(&small(&out, &urls(0..pages), &["--dry-run"]).expect(0));
        let real = report(&small(&out, &urls(0..pages), &[]).expect(0));
        let [estimated, made] =
            [&dry["dry_run"]["estimated_bytes"], &real["gzip_bytes"]].map(|n| n.as_u64().unwrap());
        assert_eq!(dry["gzip_bytes"], dry["dry_run"]["estimated_bytes"]);
        assert!(estimated.abs_diff(made) * 10 <= made, "{estimated} of {made}");
        assert_eq!(estimated == made, is_exact, "{pages} pages: {estimated} of {made}");
        let again = report(&small(&out, &urls(0..pages), &["--dry-run"]).expect(0));
        assert_eq!(again["dry_run"]["estimated_bytes"], real["gzip_bytes"], "kept sitemaps have known sizes");
        assert_eq!(again["dry_run"]["estimated_new_bytes"], 0);
    }
}

#[test]
fn guards_and_conflicts_refuse_a_dry_run_with_the_code_and_words_of_a_real_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    small(&out, &urls(0..100), &[]).expect(0);
    let foreign = directory.join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("sitemap-index-1.xml"), "theirs").unwrap();
    let (file, elsewhere, all) = (directory.file("file", ""), TempDir::new(), urls(0..100));
    let cases: [(&Path, &str, &[&str], i32); 8] = [
        (&out, "https://www.example.com/1\n", &[], 65),
        (&out, "https://www.example.com/1\n", &["--max-shrink", "100%"], 0),
        (&out, "nonsense\n", &[], 65),
        (&out, &all, &["--expect-lines", "7"], 65),
        (&out, &all, &["--protocol", "0.84"], 65),
        (&foreign, &all, &[], 73),
        (&foreign, &all, &["--take-over"], 0),
        (&file, &all, &[], 73),
    ];
    for (out, input, options, exit) in cases {
        let (before, metrics) = (tree(directory.path()), elsewhere.join("sitemill.prom"));
        let dry_run = ["--dry-run", "--metrics", metrics.to_str().unwrap()];
        let dry = small(out, input, &[options, &dry_run].concat()).expect(exit);
        assert_eq!(tree(directory.path()), before, "{options:?}");
        let is_dry = "sitemill_dry_run{base_url=\"https://www.example.com/\"} 1\n";
        assert!(fs::read_to_string(metrics).unwrap().contains(is_dry), "{options:?}");
        if exit == 65 {
            let real = small(out, input, options).expect(exit);
            assert_eq!(dry.stderr, real.stderr);
            assert_eq!(report(&dry)["refused"], report(&real)["refused"]);
            assert_eq!(report(&dry).get("dry_run"), None, "{options:?}");
        }
    }
}

#[test]
fn what_a_real_run_could_not_create_refuses_a_dry_run_too() {
    let directory = TempDir::new();
    let path = |name: &str| directory.join(name);
    for state in ["state/.sitemill", "names/.sitemill/names", "name/.sitemill/names/blog"] {
        fs::create_dir_all(path(state).parent().unwrap()).unwrap();
        fs::write(path(state), "").unwrap();
    }
    let file = directory.file("file", "");
    fs::create_dir_all(path("sites")).unwrap();
    symlink("missing", path("dangling")).unwrap();
    symlink("../state", path("sites/www.example.com")).unwrap();
    let below_file = file.join("below");
    let (robots, diff) = (path("no/robots.txt"), path("no/x.tsv"));
    let [robots, diff, below, is_directory] =
        [&robots, &diff, &below_file, &path("sites")].map(|path| path.to_str().unwrap().to_owned());
    let cases: [(&str, &[&str]); 11] = [
        ("out", &["--robots", &robots]),
        ("out", &["--diff", &diff]),
        ("out", &["--diff", &below]),
        ("out", &["--diff", &is_directory]),
        ("dangling", &[]),
        ("dangling/below", &[]),
        ("file/below", &[]),
        ("sites", &["--base-url", "{origin}/"]),
        ("state", &[]),
        ("names", &["--name", "blog"]),
        ("name", &["--name", "blog"]),
    ];
    for (out, options) in cases {
        let build = |more: &[&str]| {
            let mut command = sitemill();
            command.args(["build", "--quiet", "--out"]).arg(path(out)).args(options).args(more);
            if !options.contains(&"--base-url") {
                command.args(["--base-url", BASE]);
            }
            finish(&mut command, urls(0..3).as_bytes()).expect(73);
        };
        let before = tree(directory.path());
        build(&["--dry-run"]);
        assert_eq!(tree(directory.path()), before, "{out} {options:?}");
        build(&[]);
    }
}

#[test]
fn a_link_in_place_of_a_sitemap_that_stays_refuses_a_dry_run_too() {
    let directory = TempDir::new();
    let out = directory.join("out");
    small(&out, &urls(0..20), &[]).expect(0);
    let sitemap = out.join(files(&out).into_iter().find(|file| file.starts_with("sitemap-00002")).unwrap());
    fs::remove_file(&sitemap).unwrap();
    symlink("/etc/hostname", &sitemap).unwrap();
    let [dry, real] = [&["--dry-run"][..], &[]].map(|options| small(&out, &urls(0..20), options).expect(73));
    assert!(dry.stderr == real.stderr && dry.stderr.contains("is in the way"), "{}", dry.stderr);
}

#[test]
fn results_may_be_in_the_directory_that_a_real_run_creates() {
    let directory = TempDir::new();
    for more in [&["--dry-run"][..], &[]] {
        let mut command = build_command(&directory.join("new/out"), BASE);
        command.arg("--robots").arg(directory.join("new/robots.txt"));
        command.arg("--diff").arg(directory.join("new/out/diff.tsv")).args(more);
        finish(&mut command, urls(0..3).as_bytes()).expect(0);
        assert_eq!(directory.join("new").exists(), more.is_empty());
    }
}

#[test]
fn only_files_that_options_name_are_written() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let robots = directory.file("robots.txt", "User-agent: *\n");
    let named: Vec<String> = ["rejects.tsv", "report.json", "page.html", "run.prom", "diff.tsv"]
        .map(|name| directory.join(name).to_str().unwrap().to_owned())
        .into();
    let [rejects, json, page, metrics, diff] = &named[..] else { unreachable!() };
    let mut build = build_command(&out, BASE);
    build.args(["--dry-run", "--rejects", rejects, "--report", json, "--html", page, "--metrics", metrics]);
    build.args(["--diff", diff, "--robots"]).arg(&robots).args(["--memory", "256M"]);
    // Its entries are sorted in scratch files.
    build.args(["--order", "sorted"]);
    let temporary = directory.join("tmp");
    fs::create_dir(&temporary).unwrap();
    build.env("TMPDIR", &temporary);
    finish(&mut build, format!("{}nonsense\n", urls(0..1_000)).as_bytes()).expect(0);
    assert!(!out.exists() && !Path::new(diff).exists());
    assert_eq!(fs::read_to_string(&robots).unwrap(), "User-agent: *\n");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "no scratch is left");
    assert!(fs::read_to_string(rejects).unwrap().contains("nonsense"));
    assert!(fs::read_to_string(json).unwrap().contains("\"dry_run\""));
    let page = fs::read_to_string(page).unwrap();
    assert!(
        page.contains(">Dry run<") && page.contains("nothing was published") && !page.contains(">Published<")
    );
    let metrics = fs::read_to_string(metrics).unwrap();
    assert!(metrics.contains("sitemill_dry_run{base_url=\"https://www.example.com/\"} 1"), "{metrics}");
    assert!(metrics.contains("sitemill_success{base_url=\"https://www.example.com/\"} 0"), "{metrics}");
    assert!(!metrics.contains("last_success"), "{metrics}");
}

#[test]
fn each_site_has_its_own_numbers() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |input: &str, options: &[&str]| {
        let mut build = build_command(&out, "{origin}/");
        finish(build.args(["--json"]).args(options), input.as_bytes())
    };
    build("https://a.example/1\nhttps://b.example/1\n", &[]).expect(0);
    let before = tree(directory.path());
    let next = "https://a.example/1\nhttps://b.example/2\nhttps://c.example/1\n";
    let dry = report(&build(next, &["--dry-run"]).expect(0));
    assert_eq!(tree(directory.path()), before);
    let sites: Vec<_> =
        dry["sets"].as_array().unwrap().iter().map(|site| (&site["base_url"], counts(site))).collect();
    let url = |host: &str| json!(format!("https://{host}.example/"));
    let [a, b, c] = ["a", "b", "c"].map(url);
    assert_eq!(
        sites,
        [(&a, [0, 1, 0, 0, 0, 1, 0]), (&b, [1, 0, 1, 0, 1, 0, 0]), (&c, [1, 0, 0, 1, 0, 0, 0])]
    );
    assert_eq!(counts(&dry), [2, 1, 1, 1, 1, 1, 0]);
    build("https://a.example/1\n", &["--dry-run", "--max-shrink", "0%"]).expect(0);
}

#[test]
fn a_dry_run_needs_neither_the_lock_nor_write_access() {
    let directory = TempDir::new();
    let out = directory.join("out");
    small(&out, &urls(0..20), &[]).expect(0);
    let mut waiting = heeding_signals(build_command(&out, BASE).arg("-"));
    let mut waiting =
        waiting.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_staging(&out);
    small(&out, &urls(0..20), &[]).expect(75);
    let dry = report(&small(&out, &urls(0..20), &["--dry-run"]).expect(0));
    assert_eq!(counts(&dry), [0, 2, 0, 0, 0, 1, 0]);
    send("TERM", &waiting);
    waiting.wait().unwrap();

    fs::set_permissions(&out, PermissionsExt::from_mode(0o555)).unwrap();
    small(&out, &urls(0..20), &["--dry-run"]).expect(0);
    fs::set_permissions(&out, PermissionsExt::from_mode(0o755)).unwrap();
}

#[test]
fn another_run_that_publishes_during_a_dry_run_is_not_in_its_way() {
    for (first, foreign, exit) in [("", false, 0), ("--section-by-path", false, 0), ("", true, 73)] {
        let directory = TempDir::new();
        let out = directory.join("out");
        if !first.is_empty() {
            small(&out, &urls(0..20), &[first]).expect(0);
        }
        let mut dry = build_command(&out, BASE);
        dry.args(["--urls-per-sitemap", "10", "--sitemaps-per-index", "2", "--json", "--dry-run"]);
        let mut dry =
            dry.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = dry.stdin.take().unwrap();
        // More than a pipe holds: once it is written, the dry run has read the live set, and waits for the rest.
        input.write_all(&[b'\n'; 1 << 20]).unwrap();
        small(&out, &urls(0..20), &["--keep", "0", "--keep-sets", "0"]).expect(0);
        if foreign {
            fs::write(out.join("sitemap-index-2.xml"), "theirs").unwrap();
        }
        input.write_all(urls(0..30).as_bytes()).unwrap();
        drop(input);
        let ended = dry.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(exit), "{first}: {said}");
        if foreign {
            assert!(said.contains("sitemap-index-2.xml: is in the way"), "{said}");
            continue;
        }
        // Compared with the set before.
        let report: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(counts(&report)[..2], [3, 0], "{first}");
    }
}

#[test]
fn a_damaged_manifest_is_refused_or_ignored_as_in_a_real_run() {
    let directory = TempDir::new();
    let out = directory.join("out");
    small(&out, &urls(0..20), &[]).expect(0);
    fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
    let before = tree(directory.path());
    small(&out, &urls(0..20), &["--dry-run"]).expect(65);
    let dry = small(&out, &urls(0..20), &["--dry-run", "--ignore-manifest"]).expect(0);
    small(&directory.join("none"), &urls(0..20), &["--dry-run", "--ignore-manifest"]).expect(0);
    assert_eq!(tree(directory.path()), before);
    assert_eq!(counts(&report(&dry))[0], 2, "nothing is known of the sitemaps that are there");
}

#[test]
fn the_summary_says_what_would_change_and_that_nothing_did() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut build = sitemill();
    build.args(["build", "--dry-run", "--base-url", BASE, "--out"]).arg(&out);
    let said = finish(&mut build, urls(0..20).as_bytes()).expect(0).stderr;
    for part in [
        "new ",
        "kept ",
        "removed ",
        "index files",
        "1 new, 0 replaced, 0 kept, 0 removed",
        "about ",
        "dry run: nothing",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("live in"), "{said}");
    build.args(["--log", "json"]);
    let said = finish(&mut build, urls(0..20).as_bytes()).expect(0).stderr;
    let summary: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(summary["dry_run"]["new_sitemaps"], 1);
}
