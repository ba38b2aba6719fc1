//! The report describes each input: its format, its size, and the columns and elements that were not used.

mod bytes;
mod columns;
mod directories;
mod elements;
mod empty;
#[cfg(feature = "parquet")]
mod parquet;
mod tags;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, build_command, finish, gzip};

const BASE: &str = "https://h.example/";

/// Builds `inputs` in `directory`. Returns the run and its report.
#[track_caller]
fn report_of(directory: &TempDir, inputs: &[&str], options: &[&str], stdin: &[u8]) -> (Run, Value) {
    let mut command = build_command(Path::new("out"), BASE);
    command.current_dir(directory.path()).args(["--json"]).args(options).args(inputs);
    let run = finish(&mut command, stdin).expect(0);
    let report = serde_json::from_slice(&run.stdout).expect("a line of JSON");
    (run, report)
}

#[test]
fn the_report_names_every_input_with_its_format_packing_lines_bytes_and_columns() {
    let directory = TempDir::new();
    fs::create_dir(directory.join("data")).unwrap();
    let csv = b"sku,page,lastmod,updated_at\n1,https://h.example/1,,\n2,https://h.example/2,,\n";
    let packed = gzip(csv);
    directory.file("data/a.csv.gz", &packed);
    directory.file("data/b.tsv", "loc\tx\nhttps://h.example/3\t\n");
    directory.file("data/c.txt", "https://h.example/4\n\nnone\n");
    directory.file("data/d.xml", "<urlset><url><loc>https://h.example/5</loc></url></urlset>");
    directory.file("data/e.list", "https://h.example/6 priority=0.5\n");
    directory.file("odd\u{1b}name", "https://h.example/7\n");
    let inputs =
        ["data/a.csv.gz", "data/b.tsv", "data/c.txt", "data/d.xml", "data/e.list", "odd\u{1b}name", "-"];
    let stdin = b"https://h.example/8\n";
    let options = ["--columns", "url=page"];
    let (_, of_a) = report_of(&directory, &inputs[..1], &options, b"");
    let want = json!([{
        "path": "data/a.csv.gz", "format": "csv", "packing": "gzip", "lines": 2, "bytes": packed.len(),
        "columns": { "used": { "url": "page", "lastmod": "lastmod" }, "unused": ["sku", "updated_at"] },
    }]);
    assert_eq!(of_a["inputs"], want);
    for order in ["input", "sorted"] {
        let options = ["--order", order, "--max-shrink", "100"];
        let (_, report) = report_of(&directory, &inputs[1..], &options, stdin);
        let want = json!([
            { "path": "data/b.tsv", "format": "tsv", "lines": 1, "bytes": 27,
              "columns": { "used": { "url": "loc" }, "unused": ["x"] } },
            { "path": "data/c.txt", "format": "text", "lines": 3, "bytes": 26 },
            { "path": "data/d.xml", "format": "sitemap", "lines": 1, "bytes": 58 },
            { "path": "data/e.list", "format": "google", "lines": 1, "bytes": 33,
              "columns": { "used": { "priority": "priority" }, "unused": [] } },
            { "path": "odd\\x1bname", "format": "text", "lines": 1, "bytes": 20 },
            { "path": "-", "format": "text", "lines": 1, "bytes": 20 },
        ]);
        assert_eq!(report["inputs"], want);
        let lines = report["inputs"].as_array().unwrap().iter().map(|input| input["lines"].as_u64().unwrap());
        assert_eq!(report["lines"], lines.sum::<u64>());
        assert_eq!(report["skipped"], json!([]));
    }
}

#[test]
fn a_key_of_earlier_versions_is_unused_only_if_a_row_has_something_else_in_it() {
    let directory = TempDir::new();
    let earlier = r#"{"url":"https://h.example/1","links":[{"hreflang":"de","href":"https://h.example/d"}]}"#;
    let today =
        r#"{"url":"https://h.example/2","alternates":[{"hreflang":"fr","href":"https://h.example/f"}]}"#;
    let other = r#"{"url":"https://h.example/3","links":7}"#;
    for (lines, unused) in [
        (vec![earlier, today], json!([])),
        (vec![today, earlier], json!([])),
        (vec![earlier, today, other], json!(["links"])),
    ] {
        directory.file("pages.jsonl", lines.join("\n"));
        let (_, report) = report_of(&directory, &["pages.jsonl"], &[], b"");
        assert_eq!(report["inputs"][0]["columns"]["unused"], unused, "{lines:?}");
        assert_eq!(report["given_tags"]["alternates"], 2, "{lines:?}");
    }
}
