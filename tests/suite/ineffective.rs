//! Options that cannot have an effect, or not the one that was meant, are refused.

use std::fs;
use std::path::Path;

use crate::support::{Run, TempDir, finish, sitemill};

const BASE: &str = "http://h.example/";

/// Runs the binary in `directory` with a URL as standard input.
fn run_in(directory: &Path, arguments: &[&str]) -> Run {
    finish(sitemill().args(arguments).current_dir(directory), b"http://h.example/1\n")
}

#[test]
fn a_set_is_not_published_in_a_directory_named_like_standard_output_or_home() {
    let directory = TempDir::new();
    directory.file("in.txt", "http://h.example/1\n");
    let build =
        |out: &str| run_in(directory.path(), &["build", "--quiet", "--base-url", BASE, out, "in.txt"]);
    for out in ["--out=-", "--out=~/html", "--out=~"] {
        let refused = build(out).expect(2).stderr;
        assert!(refused.contains(&out[6..]) && refused.contains("./"), "{out}: {refused}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "{out}");
    }
    // A result in the same directory does not create it either.
    let arguments = ["build", "--base-url", BASE, "--out=~/html", "--report=~/html/r.json"];
    run_in(directory.path(), &arguments).expect(2);
    assert!(!directory.join("~").exists());
    for out in ["--out=./-", "--out=./~/html", "--out=~/html", "--out=-"] {
        build(out).expect(0);
    }
}

#[test]
fn a_delimiter_that_no_input_has_is_a_hint_and_progress_that_quiet_hides_is_refused() {
    let directory = TempDir::new();
    directory.file("in.txt", "http://h.example/1\n");
    directory.file("in.csv", "url;x\nhttp://h.example/2;y\n");
    directory.file(
        "in.json",
        "{\"url\":\"http://h.example/3\",\"day\":\"2024-01-01\",\"1\":\"http://h.example/3\"}\n",
    );
    let build = ["build", "--base-url", BASE, "--out", "out", "in.txt"];
    let run = |options: &[&'static str]| run_in(directory.path(), &[&build[..], options].concat());
    let hint = "no input is CSV, so --delimiter has no effect; leave it out, or use --format csv\n";
    let said = run(&["--delimiter", ";"]).expect(0).stderr;
    assert!(said.contains(hint), "{said}");
    for options in
        [&["--delimiter", ";", "in.csv"][..], &["--delimiter", ";", "--format", "csv", "--columns=url=1"]]
    {
        let said = run(options).expect(0).stderr;
        assert!(!said.contains("no effect"), "{said}");
    }
    for (options, settings) in [
        (&["--columns", "lastmod=day"][..], "--columns has no effect; leave it out"),
        (&["--columns", "url=1", "--escape", "^"], "--escape and --columns have no effect; leave them out"),
    ] {
        let said = run(options).expect(0).stderr;
        let hint = format!("no input is CSV, JSON lines or Parquet, so {settings}, or use --format csv\n");
        assert!(said.contains(&hint), "{said}");
        let said = run(&[options, &["in.json"]].concat()).expect(0).stderr;
        assert!(!said.contains("--columns has"), "{said}");
    }
    for quiet in ["--quiet", "-q"] {
        let said = run(&[quiet, "--progress", "always"]).expect(2).stderr;
        assert!(said.contains("--quiet shows no progress, so --progress always has no effect"), "{said}");
        run(&[quiet, "--progress", "never"]).expect(0);
    }
    // A variable may be meant for other runs.
    let mut quiet = sitemill();
    quiet.args(build).arg("-q").env("SITEMILL_PROGRESS", "always");
    assert_eq!(finish(quiet.current_dir(directory.path()), b"").expect(0).stderr, "");
}

#[test]
fn a_misspelt_variable_is_named_with_the_one_that_is_meant() {
    let directory = TempDir::new();
    directory.file("in.txt", "http://h.example/1\n");
    let run = |name: &str, value: &str| {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--base-url", BASE, "--out", "out", "in.txt"]).env(name, value);
        finish(build.current_dir(directory.path()), b"").expect(0).stderr
    };
    let said =
        "warning: SITEMILL_MAX_REJECT: no option has this variable; did you mean SITEMILL_MAX_REJECTS?\n";
    assert_eq!(run("SITEMILL_MAX_REJECT", "0"), said);
    // An empty variable is unset, and Kubernetes sets the others.
    for (name, value) in [
        ("SITEMILL_MAX_REJECT", ""),
        ("SITEMILL_PORT", "tcp://10.0.0.1:80"),
        ("SITEMILL_SERVICE_HOST", "10.0.0.1"),
        ("SITEMILL_PORT_80_TCP_PROTO", "tcp"),
    ] {
        assert_eq!(run(name, value), "", "{name}");
    }
}

#[test]
fn names_of_sets_and_directories_of_scratch_files_are_refused_where_nothing_would_use_them() {
    let directory = TempDir::new();
    directory.file("in.txt", "http://h.example/1\n");
    directory.file("new.txt", "");
    run_in(directory.path(), &["build", "--quiet", "--base-url", BASE, "--out", "out", "in.txt"]).expect(0);
    let index = "out/sitemap-index-1.xml";
    run_in(directory.path(), &["check", "--quiet", index]).expect(0);
    let build = ["build", "--quiet", "--base-url", BASE, "--out", "out", "in.txt"];
    let with = |options: &[&'static str]| [&build[..], options].concat();
    let missing = "--scratch missing: there is no such directory; create it";
    for (arguments, exit, said) in [
        (with(&["--robots-any-name"]), 2, "--robots"),
        (with(&["--scratch", "in.txt"]), 73, "--scratch in.txt: is not a directory; give one"),
        (with(&["--scratch", "missing"]), 73, missing),
        (vec!["diff", "out", "out", "--scratch", "missing"], 73, missing),
        (vec!["check", index, "--name", "zzz"], 2, "--name zzz chooses a set of a directory"),
        (vec!["urls", index, "--name", "zzz"], 2, "--name zzz"),
        (vec!["diff", index, index, "--name", "zzz"], 2, "--name zzz"),
        (vec!["report", "in.txt", "--name", "zzz"], 2, "--name zzz"),
    ] {
        let refused = run_in(directory.path(), &arguments).expect(exit).stderr;
        assert!(refused.contains(said), "{arguments:?}: {refused}");
    }
    // An option of the environment may be meant for other runs.
    let mut build = sitemill();
    build.args(with(&[])).env("SITEMILL_ROBOTS_ANY_NAME", "1");
    finish(build.current_dir(directory.path()), b"").expect(0);
    // The output directory is created in time for scratch files.
    let first = ["build", "--quiet", "--base-url", BASE, "--out", "first", "--scratch", "first", "in.txt"];
    run_in(directory.path(), &[&first[..], &["--dry-run"]].concat()).expect(0);
    run_in(directory.path(), &first).expect(0);
}
