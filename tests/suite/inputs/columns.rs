//! Unused columns and keys are named, with the option that would use them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::report_of;
use crate::support::{TempDir, finish, sitemill, telling_build_command};

/// The lines of the summary that describe inputs.
#[track_caller]
fn summary_of(directory: &TempDir, input: &str, options: &[&str]) -> Vec<String> {
    let summary = build(directory, input, options);
    let about = ["  inputs", "  columns", "  elements", "  column "];
    let lines = summary.lines().filter(|line| about.iter().any(|start| line.starts_with(start)));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// What a build of `input` says.
#[track_caller]
fn build(directory: &TempDir, input: &str, options: &[&str]) -> String {
    let mut build = sitemill();
    build.current_dir(directory.path()).args(["build", "--base-url", "https://h.example/", "--out", "out"]);
    finish(build.args(["--progress", "never", input]).args(options), b"").expect(0).stderr
}

#[test]
fn unused_columns_are_named_with_the_option_that_uses_a_likely_one() {
    let directory = TempDir::new();
    directory.file("a.csv", "sku,url,Last-Modified,x\u{1b}y,images\n1,https://h.example/1,2024-05-01,,\n");
    let want = [
        "inputs 1 a.csv (csv)",
        "columns 3 not used: sku, Last-Modified, x\\x1by",
        "column Last-Modified is not used; --columns lastmod=Last-Modified uses it",
    ];
    assert_eq!(summary_of(&directory, "a.csv", &[]), want);
    let used = summary_of(&directory, "a.csv", &["--columns", "lastmod=last-modified,images=sku"]);
    assert_eq!(used, ["inputs 1 a.csv (csv)", "columns 2 not used: x\\x1by, images"]);
}

#[test]
fn the_option_that_uses_columns_works_as_it_is_with_the_columns_that_were_named_before() {
    let directory = TempDir::new();
    let row = "https://h.example/1,2024-05-01,0.5,s\n";
    for (header, before, hint) in [
        (
            "page,updated_at,x,y",
            "url=page",
            "column updated_at is not used; --columns url=page,lastmod=updated_at uses it",
        ),
        (
            "url,updated_at,prio,loc",
            "url=url",
            "columns updated_at, prio are not used; --columns url=url,lastmod=updated_at,priority=prio uses them",
        ),
        (
            "loc,prio,frequency,y",
            "",
            "columns frequency, prio are not used; --columns changefreq=frequency,priority=prio uses them",
        ),
        ("Page,prio,x,kind", "url=page", "column prio is not used; --columns url=Page,priority=prio uses it"),
    ] {
        directory.file("a.csv", format!("{header}\n{row}"));
        let section = if header.ends_with("kind") { &["--section-column", "kind"][..] } else { &[] };
        let given = if before.is_empty() { vec![] } else { vec!["--columns", before] };
        let said = summary_of(&directory, "a.csv", &[&given[..], section].concat());
        assert_eq!(said.last().unwrap(), hint);
        let value = hint.split(' ').skip_while(|word| *word != "--columns").nth(1).unwrap();
        let used = summary_of(&directory, "a.csv", &[&["--columns", value][..], section].concat());
        assert!(!used.iter().any(|line| line.contains("--columns")), "{value}: {used:?}");
    }
}

#[test]
fn unknown_attributes_of_googles_lists_are_unused_columns() {
    let directory = TempDir::new();
    let lines = "https://h.example/1 lastmod=2024-05-01 prio=1 type=products\n\
                 https://h.example/2 changefreq=daily type=blog\nhttps://h.example/3 other=1\n";
    directory.file("list.txt", lines);
    let (_, report) = report_of(&directory, &["list.txt"], &[], b"");
    assert_eq!(report["inputs"][0]["format"], "google");
    let columns = &report["inputs"][0]["columns"];
    assert_eq!(columns["used"], json!({ "changefreq": "changefreq", "lastmod": "lastmod" }));
    assert_eq!(columns["unused"], json!(["prio", "type", "other"]));
    // No option reads an attribute with another name.
    let want = ["inputs 1 list.txt (google)", "columns 3 not used: prio, type, other"];
    assert_eq!(summary_of(&directory, "list.txt", &[]), want);
    let by_section = summary_of(&directory, "list.txt", &["--section-column", "type"]);
    assert_eq!(by_section, ["inputs 1 list.txt (google)", "columns 2 not used: prio, other"]);
    // Whether an option reads an attribute does not decide whether its URL is listed.
    for option in [&[][..], &["--section-column", "type"]] {
        assert_eq!(report_of(&directory, &["list.txt"], option, b"").1["listed"], 3);
    }
}

#[test]
fn only_the_first_of_a_thousand_columns_are_named() {
    let directory = TempDir::new();
    let names: Vec<String> = (0..1000).map(|n| format!("c{n}")).collect();
    let row = ",".repeat(1000);
    directory.file("a.csv", format!("url,{}\nhttps://h.example/1{row}\n", names.join(",")));
    let (_, report) = report_of(&directory, &["a.csv"], &[], b"");
    let unused = report["inputs"][0]["columns"]["unused"].as_array().unwrap();
    assert_eq!((unused.len(), &unused[63], &unused[64]), (65, &json!("c63"), &json!("…")));
    let columns = &summary_of(&directory, "a.csv", &[])[1];
    assert_eq!(columns, "columns 64+ not used: c0, c1, c2, c3, c4, c5, c6, c7 and at least 57 more");
}

#[test]
fn a_key_that_some_urls_were_read_from_is_not_unused() {
    let directory = TempDir::new();
    let unused = |rows: &str| {
        directory.file("a.jsonl", rows);
        let (_, report) = report_of(&directory, &["a.jsonl"], &["--max-shrink", "100%"], b"");
        report["inputs"][0]["columns"]["unused"].clone()
    };
    let [both, blank] = ["https://h.example/1", " "]
        .map(|loc| format!("{{\"loc\":\"{loc}\",\"url\":\"https://h.example/2\",\"id\":1}}\n"));
    assert_eq!(unused(&both), json!(["id", "url"]));
    assert_eq!(unused(&(blank.clone() + &both)), json!(["id"]));
    assert_eq!(unused(&(both + &blank)), json!(["id"]));
}

#[test]
fn a_key_that_an_option_names_and_no_row_has_is_refused_unless_another_input_has_it() {
    let directory = TempDir::new();
    directory.file("a.jsonl", "{\"url\":\"https://h.example/1\",\"mod\":\"2024-05-01\"}\n".repeat(2));
    directory.file("b.jsonl", "{\"url\":\"https://h.example/2\",\"modd\":null}\n");
    directory.file("c.csv", "url,modd\nhttps://h.example/3,2024-05-01\n");
    directory.file("d.list", "https://h.example/4 lastmod=2024-05-01\n");
    directory.file("blank.jsonl", "{}\n\n");
    let run = |columns: &str, inputs: &[&str]| {
        let mut build = telling_build_command(Path::new("out"), "https://h.example/");
        build.current_dir(directory.path()).args(["--columns", columns, "--report", "report.json"]);
        finish(build.args(["--max-shrink", "100", "--allow-empty"]).args(inputs), b"")
    };
    let said = "no row has the key modd; the inputs have: url, mod; nothing was published; correct --columns lastmod=modd";
    for inputs in [&["a.jsonl"][..], &["a.jsonl", "d.list"], &["blank.jsonl", "a.jsonl"]] {
        assert!(run("lastmod=modd", inputs).expect(65).stderr.contains(said), "{inputs:?}");
        let report: Value =
            serde_json::from_slice(&fs::read(directory.join("report.json")).unwrap()).unwrap();
        assert_eq!(report["refused"], said);
    }
    let hint = "  no row of a.jsonl has the key modd; correct --columns lastmod=modd\n";
    for other in ["b.jsonl", "c.csv"] {
        assert!(run("lastmod=modd", &["a.jsonl", other]).expect(0).stderr.contains(hint), "{other}");
    }
    assert!(!run("lastmod=mod", &["a.jsonl"]).expect(0).stderr.contains("no row"));
    run("lastmod=modd", &["blank.jsonl"]).expect(0);
}

#[test]
fn text_that_looks_like_rows_is_read_with_a_hint() {
    let directory = TempDir::new();
    directory.file("a.txt", "https://h.example/1 0.5\nhttps://h.example/2 0.7\n");
    let hint = "  the first lines of a.txt look like rows, and each line was read as one URL; if they are rows, use --format csv \
                --delimiter ' ' --columns url=1\n";
    let told = build(&directory, "a.txt", &[]);
    assert!(told.contains(hint), "{told}");
    assert!(!build(&directory, "a.txt", &["--format", "text"]).contains("look like"));
    let (_, report) = report_of(
        &directory,
        &["a.txt"],
        &["--format", "csv", "--delimiter", " ", "--columns", "url=1,priority=2"],
        b"",
    );
    assert_eq!(report["given_tags"], json!({ "priority": 2 }));
    // Spaces at the end of a line are ignored.
    directory.file("spaces.txt", "https://h.example/1 \nhttps://h.example/2 \n");
    assert!(!build(&directory, "spaces.txt", &[]).contains("look like"));
    // Commas and semicolons are part of many URLs.
    directory.file("b.txt", "https://h.example/1,5\nhttps://h.example/2,7\n");
    assert!(!build(&directory, "b.txt", &[]).contains("look like"));
}
