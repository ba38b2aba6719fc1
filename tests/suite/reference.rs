//! Compares sitemill with `tests/reference/reference.py`, a second implementation written from the rules alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::corpus::{Corpus, Order, Recipe};
use crate::support::{EPOCH, Run, TempDir, finish, sitemill, testdata};

/// The command for `tests/reference/reference.py`, with the time of all tests.
fn reference() -> Command {
    let mut command = Command::new("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/reference.py"));
    command.env("SOURCE_DATE_EPOCH", EPOCH);
    command
}

/// Builds into `to` with `command`. Returns the report and the rejects.
fn build(mut command: Command, input: &Path, to: &Path, options: &[&str]) -> (Value, String) {
    fs::create_dir(to).unwrap();
    let (report, rejects) = (to.join("report.json"), to.join("rejects.tsv"));
    command.arg("build").arg(input).args(options).arg("--out").arg(to.join("out"));
    finish(command.arg("--report").arg(&report).arg("--rejects").arg(&rejects), b"").expect(0);
    (serde_json::from_slice(&fs::read(report).unwrap()).unwrap(), fs::read_to_string(rejects).unwrap())
}

#[track_caller]
fn check_same(input: &Path, options: &[&str]) {
    let directory = TempDir::new();
    let [ours, theirs] = ["ours", "theirs"].map(|side| directory.join(side));
    let (report, rejects) = build(sitemill(), input, &ours, options);
    let (wanted_report, wanted_rejects) = build(reference(), input, &theirs, options);
    for (ours, theirs) in rejects.lines().zip(wanted_rejects.lines()) {
        assert_eq!(ours, theirs, "{options:?}");
    }
    assert_eq!(rejects.lines().count(), wanted_rejects.lines().count());
    for (field, wanted) in wanted_report.as_object().unwrap() {
        assert_eq!(&report[field], wanted, "{field}, {options:?}");
    }
    let compared: Run = finish(reference().arg("compare").arg(ours.join("out")).arg(theirs.join("out")), b"");
    assert_eq!(compared.exit, 0, "{}{}", String::from_utf8_lossy(&compared.stdout), compared.stderr);
}

/// A generated input with every kind of line.
fn generated(directory: &TempDir, lines: u64, seed: u64) -> PathBuf {
    let recipe = Recipe {
        lines,
        seed,
        duplicates: 0.2,
        non_ascii: 0.2,
        bad: 0.1,
        order: Order::Shuffled,
        ..Recipe::default()
    };
    directory.file("urls.txt", Corpus::new(&recipe).unwrap().text())
}

#[test]
fn both_implementations_agree_on_a_generated_input() {
    let directory = TempDir::new();
    let base = ["--base-url", "https://www.example.com/"];
    let more: [&[&str]; 5] = [
        &[],
        &["--protocol", "0.84", "--urls-per-sitemap", "1000", "--sitemaps-per-index", "3"],
        &["--bytes-per-sitemap", "20KiB"],
        &["--scope", "host", "--urls-per-sitemap", "7777"],
        &["--scope", "any", "--bytes-per-sitemap", "600"],
    ];
    for (seed, more) in (1..).zip(more) {
        check_same(&generated(&directory, 12_000, seed), &[&base, more].concat());
    }
}

#[test]
fn both_implementations_agree_on_the_example_input() {
    let input = testdata().join("urls.txt");
    check_same(&input, &["--base-url", "https://www.example.com/"]);
    check_same(&input, &["--base-url", "https://www.example.com/shop", "--urls-per-sitemap", "10"]);
    check_same(&input, &["--base-url", "https://www.example.com/", "--scope", "any", "--protocol", "0.84"]);
}

#[test]
fn both_implementations_of_clean_write_the_same() {
    let directory = TempDir::new();
    let input = generated(&directory, 20_000, 99);
    let clean = |mut command: Command, name: &str| {
        let rejects = directory.join(name);
        let run = finish(command.arg("clean").arg(&input).arg("--rejects").arg(&rejects), b"").expect(0);
        (String::from_utf8(run.stdout).unwrap(), fs::read_to_string(rejects).unwrap())
    };
    let (ours, theirs) = (clean(sitemill(), "ours"), clean(reference(), "theirs"));
    assert_eq!(ours.0.lines().count(), theirs.0.lines().count());
    for (ours, theirs) in ours.0.lines().chain(ours.1.lines()).zip(theirs.0.lines().chain(theirs.1.lines())) {
        assert_eq!(ours, theirs);
    }
}
