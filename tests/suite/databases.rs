//! Exports of databases and data warehouses: what is unusual about their rows is read, or explained.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, finish, published, sitemill};

const BASE: &str = "https://www.example.com/";

/// Builds `input`, a file in `directory`, into `out`. Returns the run and its report.
fn build(directory: &TempDir, out: &str, input: &Path, options: &[&str]) -> (Run, Value) {
    let report = directory.join("report.json");
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--report"]).arg(&report).arg("--out");
    let run = finish(command.arg(directory.join(out)).arg(input).args(options), b"");
    (run, serde_json::from_slice(&fs::read(report).unwrap()).unwrap())
}

#[test]
fn a_lastmod_that_is_null_or_a_json_object_is_dropped_with_the_way_out() {
    let directory = TempDir::new();
    let hints = |name: &str, text: &str, options: &[&str]| {
        let (run, report) = build(&directory, "out", &directory.file(name, text), options);
        run.expect(0);
        report["tag_hints"].clone()
    };
    let said = hints("rows.tsv", &format!("url\tlastmod\n{BASE}a\tNULL\n"), &[]);
    assert_eq!(said, json!(["lastmod is NULL (1 of 1 dropped); use COALESCE(lastmod, '')"]));
    for (key, value, columns, way_out) in [
        ("lastmod", r#"{"$date":"2024-05-01T10:20:30Z"}"#, "", "lastmod=lastmod.$date"),
        (
            "updated",
            r#"{"$date":{"$numberLong":"1714558830"}}"#,
            "lastmod=updated",
            "lastmod=updated.$date.$numberLong",
        ),
    ] {
        let rows = format!("{{\"url\":\"{BASE}a\",\"{key}\":{value}}}\n");
        let given = ["--columns", columns];
        let said = hints("rows.jsonl", &rows, if columns.is_empty() { &[] } else { &given });
        let want = format!("lastmod is a JSON object (1 of 1 dropped); use --columns '{way_out}'");
        assert_eq!(said, json!([want]));
        let options = ["--columns", way_out, "--lastmod-unit", "seconds"];
        let options = if key == "lastmod" { &options[..2] } else { &options };
        assert_eq!(hints("rows.jsonl", &rows, options), Value::Null);
        let xml = &published(&directory.join("out"), BASE)[1].1;
        assert!(xml.contains("<lastmod>2024-05-01T10:20:30Z</lastmod>"), "{xml}");
    }
}
