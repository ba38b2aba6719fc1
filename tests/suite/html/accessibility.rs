//! Pages in headless Chromium: accessible names, the outline of headings, contrast, and a silent console.
//!
//! `tests/accessibility/audit.mjs` controls the browser and applies the rules of axe-core, which npm installs once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::{BASE, HOSTILE, build, pages, worst_report};
use crate::support::{TempDir, build_command, finish, run};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/accessibility")
}

/// The script of axe-core.
fn axe() -> &'static Path {
    static AXE: OnceLock<PathBuf> = OnceLock::new();
    AXE.get_or_init(|| {
        let installed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("axe");
        fs::create_dir_all(&installed).unwrap();
        let script = installed.join("node_modules/axe-core/axe.min.js");
        let is_current = |name: &str| {
            fs::read(installed.join(name)).is_ok_and(|old| old == fs::read(sources().join(name)).unwrap())
        };
        if !script.exists() || !is_current("package-lock.json") {
            for name in ["package.json", "package-lock.json"] {
                fs::copy(sources().join(name), installed.join(name)).unwrap();
            }
            let mut npm = Command::new("npm");
            npm.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(&installed);
            let installed = npm.output().expect("npm is installed");
            assert!(installed.status.success(), "npm ci: {}", String::from_utf8_lossy(&installed.stderr));
        }
        script
    })
}

/// What the audit says of each page.
fn audit(pages: &[&Path]) -> Vec<Value> {
    let mut node = Command::new("node");
    let audit =
        node.arg(sources().join("audit.mjs")).arg(axe()).args(pages).output().expect("node is installed");
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stderr));
    let results: Vec<Value> = String::from_utf8(audit.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(results.len(), pages.len());
    results
}

/// Fails unless the page at `path` has no problem and as many tables and charts as it should.
#[track_caller]
fn check(path: &Path, tables: usize, images: usize) {
    let result = &audit(&[path])[0];
    assert_eq!(result["problems"], Value::Array(Vec::new()), "{}", path.display());
    let count = |kind: &str| result[kind].as_array().unwrap().len();
    assert_eq!((count("tables"), count("images")), (tables, images), "{result}");
}

#[test]
fn a_page_with_every_part_has_names_an_outline_and_contrast() {
    let directory = TempDir::new();
    build(&directory, &(pages("gone", 30) + &pages("products", 40)), 0, &[]);
    let rows = pages("products", 60).replace('\n', ",2024-05-01 12:00,1.5\n");
    let rows = format!("url,lastmod,priority\n{rows}no url,,\n{BASE}products/1,,\n,,\nftp://h.example/,,\n");
    build(&directory, &rows, 1, &["--format=csv"]);
    check(&directory.join("page.html"), 9, 5);
}

#[test]
fn hostile_urls_neither_break_the_page_nor_reach_the_console() {
    let directory = TempDir::new();
    let mut lines = pages("ok", 30);
    for text in HOSTILE {
        lines +=
            &format!("{text}\n{BASE}{text}/x\n{BASE}{text}\nhttps://other.example/{}\n", text.repeat(90));
    }
    let (_, report) = build(&directory, &lines, 0, &[]);
    check(&directory.join("page.html"), 7, 4);
    // A forged report, in which every text is hostile and as long as can be.
    let worst = directory.file("worst.json", worst_report(&report).to_string());
    let page = directory.join("worst.html");
    run(["report", worst.to_str().unwrap(), "-o", page.to_str().unwrap()]).expect(0);
    check(&page, 13, 5);
}

#[test]
fn a_page_with_next_to_nothing_on_it_is_accessible_too() {
    let directory = TempDir::new();
    build(&directory, "", 0, &["--allow-empty"]);
    check(&directory.join("page.html"), 5, 4);
    let page = directory.join("failed.html");
    let mut command = build_command(&directory.join("other"), BASE);
    finish(command.arg("missing.txt").arg("--html").arg(&page), b"").expect(66);
    check(&page, 0, 0);
    let page = directory.join("set.html");
    run(["report", directory.join("out").to_str().unwrap(), "-o", page.to_str().unwrap()]).expect(0);
    check(&page, 3, 3);
}

#[test]
fn the_audit_finds_what_is_wrong_with_a_page() {
    let directory = TempDir::new();
    let (page, _) = build(&directory, &(pages("a", 30) + "bad\n"), 0, &[]);
    let cases = [
        ("aria-label=\"Time of survey, produce and publish\"", "", "image has no accessible name"),
        ("<table class=\"\" aria-label=\"Time by phase\">", "<table>", "a table has no accessible name"),
        ("<figcaption id=\"by-urls\">", "<p>", "a figure has no accessible name"),
        ("<h2 id=\"lines\">", "<h4 id=\"lines\">", "of level 4 follows level 1"),
        ("<h1>", "<p>", "0 headings of level 1"),
        ("--soft: #5c6068", "--soft: #bbb", "axe color-contrast"),
        ("<html lang=\"en\">", "<html>", "axe html-has-lang"),
        ("</main>", "</main><img alt=\"x\" src=\"https://h.example/x.png\">", "console: "),
        ("</main>", "</main><script>alert(1)</script>", "console: "),
        ("body {", "body { min-width: 2000px;", "pixels wider than the window"),
    ];
    let write = |(n, &(good, bad, _)): (usize, &(&str, &str, &str))| {
        assert!(page.contains(good), "{good}");
        directory.file(&format!("{n}.html"), page.replace(good, bad))
    };
    let paths: Vec<_> = cases.iter().enumerate().map(write).collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    for (result, (_, bad, want)) in audit(&paths).iter().zip(cases) {
        let problems = result["problems"].as_array().unwrap();
        assert!(
            problems.iter().any(|problem| problem.as_str().unwrap().contains(want)),
            "{bad}: {problems:?}"
        );
    }
}
