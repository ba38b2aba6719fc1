//! Input directories: which of their files are read, and that no run reads its own output.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::{BASE, report_of};
use crate::support::{Run, TempDir, build_command, finish, published_urls, run, sitemill};

/// `data/` with two files of one URL each.
fn data() -> TempDir {
    let directory = TempDir::new();
    fs::create_dir(directory.join("data")).unwrap();
    directory.file("data/a.txt", "https://h.example/a\n");
    directory.file("data/b.txt", "https://h.example/b\n");
    directory
}

/// Builds `input` into `out`, both below `directory`.
fn build(directory: &TempDir, input: &str, out: &str, options: &[&str]) -> Run {
    let mut command = build_command(out.as_ref(), BASE);
    finish(command.current_dir(directory.path()).arg(input).args(options), b"")
}

fn skipped(report: &Value) -> Vec<(&str, &str)> {
    let skipped = report["skipped"].as_array().unwrap().iter();
    skipped.map(|file| (file["path"].as_str().unwrap(), file["reason"].as_str().unwrap())).collect()
}

fn read(report: &Value) -> Vec<&str> {
    report["inputs"].as_array().unwrap().iter().map(|input| input["path"].as_str().unwrap()).collect()
}

#[test]
fn a_set_below_an_input_directory_is_not_read_by_the_next_run_and_is_reported() {
    for by_link in [false, true] {
        let directory = data();
        if by_link {
            symlink("data", directory.join("link")).unwrap();
        }
        let input = if by_link { "link" } else { "data" };
        let out = "data/day=1/sitemaps";
        fs::create_dir(directory.join("data/day=1")).unwrap();
        build(&directory, input, out, &[]).expect(0);
        fs::remove_file(directory.join("data/b.txt")).unwrap();
        let options = ["--json", "--max-shrink", "100"];
        let second = build(&directory, input, out, &options).expect(0);
        assert_eq!(
            published_urls(&directory.join(out), BASE),
            ["https://h.example/a"],
            "the removed URL is not listed again"
        );
        let report: Value = serde_json::from_slice(&second.stdout).unwrap();
        let set = format!("{input}/day=1/sitemaps");
        assert_eq!(skipped(&report), [(&*set, "it belongs to the output directory")]);
        assert_eq!(read(&report), [format!("{input}/a.txt")]);
        let want = format!(
            "warning: skipped 1 path in input directories: {set} (it belongs to the output directory)\n"
        );
        assert_eq!(second.stderr, want);
    }
}

#[test]
fn links_into_the_published_set_are_not_read_either() {
    let directory = data();
    symlink("../out", directory.join("data/set")).unwrap();
    symlink("../out/sitemap-index-1.xml", directory.join("data/index.xml")).unwrap();
    symlink("a.txt", directory.join("data/c.txt")).unwrap();
    build(&directory, "data/b.txt", "out", &[]).expect(0);
    let (_, report) = report_of(&directory, &["data"], &[], b"");
    let reason = "it belongs to the output directory";
    assert_eq!(skipped(&report), [("data/index.xml", reason), ("data/set", reason)]);
    assert_eq!(read(&report), ["data/a.txt", "data/b.txt", "data/c.txt"]);
}

#[test]
fn a_directory_cannot_be_input_and_output() {
    let directory = data();
    symlink("data", directory.join("link")).unwrap();
    let before = crate::support::files(&directory.join("data"));
    for (input, out) in [("data", "data"), ("data/.", "link"), ("link", "data"), (".", "../x/..")] {
        fs::create_dir_all(directory.join("x")).unwrap();
        let out = out.replace("../x", "x");
        let refused = build(&directory, input, &out, &[]).expect(2);
        assert!(
            refused.stderr.starts_with(&format!("error: {input}: is an input, and --out")),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(crate::support::files(&directory.join("data")), before);
    assert!(!directory.join("data/.sitemill").exists());
}

#[test]
fn the_set_of_a_site_is_not_an_input_of_the_run_that_publishes_it() {
    let directory = data();
    let sites = |input: &str| {
        let mut command = sitemill();
        command.args(["build", "--quiet", "--json", "--base-url", "{origin}/", "--out", "data/sites"]);
        finish(command.current_dir(directory.path()).arg(input), b"")
    };
    sites("data").expect(0);
    let second = sites("data").expect(0);
    let report: Value = serde_json::from_slice(&second.stdout).unwrap();
    assert_eq!(skipped(&report), [("data/sites", "it belongs to the output directory")]);
    assert_eq!(report["listed"], 2);
    let site = report["sets"][0]["directory"].as_str().unwrap();
    sites(&format!("data/sites/{site}")).expect(2);
    // Files beside the sites can be read.
    fs::create_dir(directory.join("data/sites/raw")).unwrap();
    directory.file("data/sites/raw/c.txt", "https://h.example/c\n");
    let third = sites("data/sites/raw").expect(0);
    let report: Value = serde_json::from_slice(&third.stdout).unwrap();
    assert_eq!((read(&report), &report["listed"]), (vec!["data/sites/raw/c.txt"], &json!(1)));
}

#[test]
fn data_below_out_another_set_and_named_files_of_the_same_set_can_be_read() {
    let directory = data();
    fs::create_dir_all(directory.join("out")).unwrap();
    fs::rename(directory.join("data"), directory.join("out/data")).unwrap();
    build(&directory, "out/data", "out", &[]).expect(0);
    build(&directory, "out/data", "out", &[]).expect(0);
    let urls = ["https://h.example/a", "https://h.example/b"];
    assert_eq!(published_urls(&directory.join("out"), BASE), urls);
    // A directory with another job's set can be read.
    build(&directory, "out", "copy", &[]).expect(0);
    assert_eq!(published_urls(&directory.join("copy"), BASE), urls);
    // A link to the set is still recognised as the set.
    symlink("../sitemap-index-1.xml", directory.join("out/data/index.xml")).unwrap();
    let (_, report) = report_of(&directory, &["out/data"], &[], b"");
    assert_eq!(skipped(&report), [("out/data/index.xml", "it belongs to the output directory")]);
    // A file of the set that is named on the command line is read.
    directory.file("new.txt", "https://h.example/new\n");
    let mut command = build_command("out".as_ref(), BASE);
    command.current_dir(directory.path()).args(["out/sitemap-index-1.xml", "new.txt"]);
    finish(&mut command, b"").expect(0);
    let all = [urls[0], urls[1], "https://h.example/new"];
    assert_eq!(published_urls(&directory.join("out"), BASE), all);
    run(["check".as_ref(), "--quiet".as_ref(), directory.join("out").as_os_str()]).expect(0);
}

#[test]
fn index_files_of_the_set_that_is_replaced_are_read_only_if_all_are_named_and_none_is_of_an_earlier_set() {
    let pages = |count: u32| (1..=count).map(|page| format!("{BASE}{page}\n")).collect::<String>();
    for (base, name, place) in
        [(BASE, None, "out"), (BASE, Some("blog"), "out"), ("{origin}/", None, "out/h.example")]
    {
        let directory = TempDir::new();
        let build = |inputs: &[&str], stdin: &str| {
            let mut command = build_command("out".as_ref(), base);
            command.args(["--urls-per-sitemap=1", "--sitemaps-per-index=2", "--max-shrink=100%"]);
            command.args(name.map(|name| format!("--name={name}"))).current_dir(directory.path());
            finish(command.args(inputs), stdin.as_bytes())
        };
        let count = || {
            let urls = finish(sitemill().args(["urls", "--quiet"]).arg(directory.join(place)), b"").expect(0);
            urls.stdout.split(|&byte| byte == b'\n').count() - 1
        };
        let index = |nth: u32| match name {
            Some(name) => format!("{place}/sitemap-{name}-index-{nth}.xml"),
            None => format!("{place}/sitemap-index-{nth}.xml"),
        };
        let [first, second, third] = [1, 2, 3].map(index);
        build(&["-"], &pages(6)).expect(0);
        directory.file("new.txt", format!("{BASE}new\n"));
        for (inputs, missing) in [
            (&[&*first, "new.txt"][..], format!("drop the rest; add {second} and 1 more to the inputs")),
            (
                &["new.txt", &first, &format!("./{second}")],
                format!("drop the rest; add {third} to the inputs"),
            ),
        ] {
            for dry_run in [&[][..], &["--dry-run"]] {
                let refused = build(&[inputs, dry_run].concat(), "").expect(65);
                let said =
                    format!("{first}: lists only part of the live set, and this run would drop the rest");
                assert!(refused.stderr.contains(&said), "{}", refused.stderr);
                assert!(refused.stderr.contains(&missing), "{}", refused.stderr);
            }
        }
        assert_eq!(count(), 6);
        build(&[&second, &first, &third, "new.txt"], "").expect(0);
        assert_eq!(count(), 7);
        // The third and fourth index files stay for a while, and list URLs that were removed.
        build(&["-"], &pages(4)).expect(0);
        let refused = build(&[&first, &second, &third, "new.txt"], "").expect(65);
        let said = format!("{third}: is an index file of an earlier set");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        build(&[&first, &second, "new.txt"], "").expect(0);
        assert_eq!(count(), 5);
        // Another set can be built from some of them.
        let mut other = build_command("other".as_ref(), BASE);
        finish(other.current_dir(directory.path()).arg(&first), b"").expect(0);
    }
}

#[test]
fn sitemaps_of_an_earlier_set_are_not_inputs_next_to_those_of_the_set_that_is_replaced() {
    let directory = TempDir::new();
    let pages = |count: u32| (1..=count).map(|page| format!("{BASE}{page}\n")).collect::<String>();
    let build = |inputs: &[PathBuf], stdin: &str| {
        let mut command = build_command("out".as_ref(), BASE);
        command.args(["--urls-per-sitemap=1", "--max-shrink=100%"]).current_dir(directory.path());
        finish(command.args(inputs), stdin.as_bytes())
    };
    let sitemaps = || {
        let files = fs::read_dir(directory.join("out")).unwrap().map(|file| file.unwrap().file_name());
        let sitemaps = files.filter(|name| name.to_str().unwrap().ends_with(".xml.gz"));
        let mut sitemaps: Vec<_> = sitemaps.map(|name| Path::new("out").join(name)).collect();
        sitemaps.sort_unstable();
        sitemaps
    };
    build(&["-".into()], &pages(4)).expect(0);
    let four = sitemaps();
    // The live set as it is, by its sitemaps.
    build(&four, "").expect(0);
    build(&["-".into()], &pages(2)).expect(0);
    assert_eq!(sitemaps().len(), 4);
    let refused = build(&four, "").expect(65);
    let said = "is a sitemap of an earlier set, and this run would list its URLs again; leave it out";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    build(&["out/sitemap-index-1.xml".into()], "").expect(0);
}

#[test]
fn an_index_file_in_an_input_directory_lists_no_sitemap_of_the_set_that_is_replaced() {
    let directory = data();
    build(&directory, "data", "site/maps", &[]).expect(0);
    let files = fs::read_dir(directory.join("site/maps")).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let sitemap = names.find(|name| name.ends_with(".xml.gz")).unwrap();
    let document = |root: &str, entries: &str| {
        format!("<{root} xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</{root}>")
    };
    let entry = |name: &str| format!("<sitemap><loc>{BASE}{name}</loc></sitemap>");
    let index = format!("{}{}", entry("pages.xml"), entry(&format!("maps/{sitemap}")));
    directory.file("site/pages.xml", document("urlset", &format!("<url><loc>{BASE}c</loc></url>")));
    directory.file("site/sitemap.xml", document("sitemapindex", &index));
    let refused = build(&directory, "site", "site/maps", &[]).expect(65);
    let said =
        format!("site/sitemap.xml: lists site/maps/{sitemap}, which is below --out, so each run would");
    assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    // Another set can be built from it, and data below the output may have index files.
    let all = ["https://h.example/a", "https://h.example/b", "https://h.example/c"];
    build(&directory, "site", "other", &[]).expect(0);
    assert_eq!(published_urls(&directory.join("other"), BASE), all);
    fs::create_dir(directory.join("above")).unwrap();
    fs::rename(directory.join("site"), directory.join("above/site")).unwrap();
    build(&directory, "above/site", "above", &[]).expect(0);
    assert_eq!(published_urls(&directory.join("above"), BASE), all);
}

#[test]
fn files_next_to_part_files_are_named_as_skipped() {
    let directory = data();
    for name in ["_SUCCESS", ".part-0.crc", "c.csv", "d.csv", "e\u{1b}.csv"] {
        directory.file(&format!("data/{name}"), "");
    }
    fs::create_dir_all(directory.join("data/_temporary/0")).unwrap();
    directory.file("data/_temporary/0/part-9", "https://h.example/9\n");
    directory.file("data/part-0", "https://h.example/0\n");
    let (with_report, report) = report_of(&directory, &["data"], &[], b"");
    let (hidden, no_part) =
        ("its name begins with . or _", "there are part-* files, and only these are read");
    let want = [
        ("data/.part-0.crc", hidden),
        ("data/_SUCCESS", hidden),
        ("data/_temporary", hidden),
        ("data/a.txt", no_part),
        ("data/b.txt", no_part),
        ("data/c.csv", no_part),
        ("data/d.csv", no_part),
        ("data/e\\x1b.csv", no_part),
    ];
    assert_eq!(skipped(&report), want);
    assert_eq!(read(&report), ["data/part-0"]);
    let line = format!(
        "warning: skipped 5 paths in input directories: data/a.txt ({no_part}), data/b.txt ({no_part}), \
         data/c.csv ({no_part}) and 2 more\n"
    );
    assert_eq!(with_report.stderr, line);
    // `clean` prints the same warning.
    let mut clean = Command::new(env!("CARGO_BIN_EXE_sitemill"));
    let cleaned =
        finish(clean.current_dir(directory.path()).args(["clean", "--quiet", "data"]), b"").expect(0);
    assert_eq!(cleaned.stderr, line);
    assert_eq!(cleaned.stdout, b"https://h.example/0\n");
}

#[test]
fn markers_alone_and_sitemaps_of_earlier_sets_are_reported_without_a_warning() {
    let directory = data();
    directory.file("data/_SUCCESS", "");
    // The root of a disk, which not everybody may read.
    fs::create_dir_all(directory.join("data/lost+found")).unwrap();
    directory.file("data/lost+found/#1", "https://h.example/recovered\n");
    let (quiet, report) = report_of(&directory, &["data"], &[], b"");
    assert_eq!((skipped(&report).len(), read(&report).len(), &*quiet.stderr), (2, 2, ""));
    assert_eq!(skipped(&report)[1].0, "data/lost+found");
    // A directory with two sets, of which the second is live, and one more file.
    build(&directory, "data/a.txt", "other", &[]).expect(0);
    build(&directory, "data/b.txt", "other", &[]).expect(0);
    let (quiet, report) = report_of(&directory, &["other"], &[], b"");
    let left: Vec<_> = skipped(&report).into_iter().filter(|(path, _)| path.ends_with(".gz")).collect();
    assert_eq!((left.len(), left[0].1), (1, "the set published in its directory does not list it"));
    assert_eq!((read(&report).len(), &*quiet.stderr), (1, ""));
    directory.file("other/more.txt", "https://h.example/c\n");
    let (warned, _) = report_of(&directory, &["other"], &[], b"");
    assert!(
        warned.stderr.contains("skipped 1 path in input directories: other/more.txt"),
        "{}",
        warned.stderr
    );
}

#[test]
fn tables_whose_directories_have_files_of_earlier_versions_are_refused() {
    for (inner, marker, what) in [
        ("day=1", "_delta_log/00000000000000000000.json", "a Delta table"),
        ("day=1/hour=2", ".hoodie/hoodie.properties", "a Hudi table"),
        ("data/day=1", "metadata/v1.metadata.json", "an Iceberg table"),
    ] {
        let directory = data();
        directory.file("data/_SUCCESS", "");
        for name in [&format!("data/{marker}"), &format!("data/{inner}/part-0")] {
            fs::create_dir_all(directory.join(name).parent().unwrap()).unwrap();
            directory.file(name, "https://h.example/0\n");
        }
        let inside = format!("data/{inner}");
        for (input, what) in
            [("data", what.to_owned()), (".", what.to_owned()), (&inside, format!("part of {what}"))]
        {
            let refused = build(&directory, input, "out", &["--require-success-marker"]).expect(65);
            let says = format!(": is {what}, whose directory also has files of earlier versions; export");
            assert!(refused.stderr.contains(&says), "{input}: {}", refused.stderr);
        }
        // The current files may be named.
        build(&directory, &format!("{inside}/part-0"), "out", &[]).expect(0);
    }
}

#[test]
fn entries_of_an_input_directory_that_are_not_files_are_skipped_and_named() {
    let directory = data();
    std::os::unix::fs::symlink(".", directory.join("data/loop")).unwrap();
    let made = Command::new("mkfifo").arg(directory.join("data/pipe")).status().unwrap();
    assert!(made.success());
    let (told, report) = report_of(&directory, &["data"], &[], b"");
    let want = [
        ("data/loop", "it is a link to a directory, and these are not followed"),
        ("data/pipe", "it is not a regular file"),
    ];
    assert_eq!(skipped(&report), want);
    assert!(told.stderr.contains("skipped 2 paths in input directories: data/loop"), "{}", told.stderr);
    assert_eq!(read(&report), ["data/a.txt", "data/b.txt"]);
}
