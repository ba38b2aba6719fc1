//! Tags that cannot be written: dropped, counted and told, while their URL is listed.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, build_command, finish, published, published_urls};

const BASE: &str = "https://www.example.com/";

/// What a build says of its input: the run, the report, and reason and text of each row of the reject file.
struct Told {
    run: Run,
    report: Value,
    rejects: Vec<(String, String)>,
}

#[track_caller]
fn build(out: &Path, input: &Path, options: &[&str]) -> Told {
    let [report, rejects] = ["report", "rejects"].map(|end| out.with_extension(end));
    let mut command = build_command(out, BASE);
    command.arg(input).args(options).arg("--report").arg(&report).arg("--rejects").arg(&rejects);
    let run = finish(&mut command, b"");
    let report = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let row = |row: &str| {
        let columns: Vec<&str> = row.split('\t').collect();
        (columns[3].to_owned(), columns[4].to_owned())
    };
    Told { run, report, rejects: fs::read_to_string(rejects).unwrap().lines().skip(1).map(row).collect() }
}

fn pairs(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|&(reason, text)| (reason.to_owned(), text.to_owned())).collect()
}

#[test]
fn a_tag_of_json_lines_with_a_value_of_the_wrong_type_is_dropped_and_its_url_is_listed() {
    let directory = TempDir::new();
    let lines: String = [
        r#""images":[{"loc":"https://i.example/1.png"}]"#,
        r#""images":"https://i.example/2.png""#,
        r#""alternates":{"de":"https://www.example.com/de"}"#,
        r#""priority":true"#,
        r#""changefreq":5"#,
        r#""lastmod":{}"#,
    ]
    .iter()
    .enumerate()
    .map(|(n, tag)| format!("{{\"loc\":\"{BASE}{n}\",{tag}}}\n"))
    .collect();
    let out = directory.join("out");
    let told = build(&out, &directory.file("pages.jsonl", lines), &[]);
    told.run.expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 6);
    let (_, xml) = published(&out, BASE).remove(1);
    assert_eq!((xml.matches("<image:loc>").count(), xml.matches("hreflang=\"de\"").count()), (2, 1));
    assert_eq!(told.report["rejected"], json!({}));
    assert_eq!(
        told.rejects,
        pairs(&[("tag-priority", "true"), ("tag-changefreq", "5"), ("tag-lastmod", "{}")])
    );
}

#[test]
fn an_entry_with_two_urls_is_refused_and_a_tag_that_comes_twice_is_dropped() {
    let directory = TempDir::new();
    let sitemap = directory.file(
        "theirs.xml",
        format!(
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
             <url><loc>{BASE}a</loc><loc>{BASE}b</loc></url>\
             <url><loc>{BASE}c</loc><priority>0.5</priority><priority>0.7</priority></url></urlset>"
        ),
    );
    let two = format!("<loc>{BASE}a</loc><loc>{BASE}b</loc>");
    let told = build(&directory.join("xml"), &sitemap, &[]);
    told.run.expect(0);
    assert_eq!(told.rejects, pairs(&[("bad-row", &two), ("tag-priority", "0.5 | 0.7")]));
    assert_eq!(published_urls(&directory.join("xml"), BASE), [format!("{BASE}c")]);

    let two = format!(r#"{{"loc":"{BASE}a","loc":"{BASE}b"}}"#);
    let twice = format!(r#"{{"loc":"{BASE}c","priority":0.5,"priority":0.7}}"#);
    let told = build(&directory.join("json"), &directory.file("a.jsonl", format!("{two}\n{twice}\n")), &[]);
    told.run.expect(0);
    assert_eq!(told.rejects, pairs(&[("bad-row", &two), ("tag-priority", "0.5 | 0.7")]));
}

#[test]
fn a_row_with_something_in_it_and_no_url_is_refused_in_every_form() {
    let directory = TempDir::new();
    for (name, listed, row, empty) in [
        ("a.csv", "id,url,lastmod\n7,HEREx,\n", "7,,", ",,"),
        ("a.tsv", "id\turl\tlastmod\n7\tHEREx\t\n", "7\t\t", "\t\t"),
        ("a.jsonl", "{\"url\":\"HEREx\"}\n", r#"{"id":7,"url":null}"#, r#"{"id":null,"url":""}"#),
        (
            "a.xml",
            "<urlset><url><loc>HEREx</loc></url>",
            "<url><priority>1</priority></url>",
            "<url/></urlset>",
        ),
    ] {
        let text = format!("{listed}{row}\n{empty}\n").replace("HERE", BASE);
        let told = build(&directory.join(name), &directory.file(&format!("in-{name}"), text), &[]);
        told.run.expect(0);
        let said = if name == "a.xml" { "priority=1" } else { row.trim_end() };
        assert_eq!(told.rejects, pairs(&[("no-url", said)]), "{name}");
        assert_eq!((&told.report["blank"], &told.report["listed"]), (&json!(1), &json!(1)), "{name}");
    }
}
