//! Exports of databases and data warehouses: what is unusual about their rows is read, or explained.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, finish, published, published_urls, sitemill, telling_build_command};

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
fn a_missing_value_is_no_page_no_section_and_no_dropped_tag() {
    let directory = TempDir::new();
    let rows =
        "path\tlastmod\ttype\n/a\t\\N\t\\N\n/b\t2024-05-01\tshop\n\\N\t2024-05-01\tshop\n\\N\t\\N\t\\N\n";
    let options = [
        "--columns",
        "url=path",
        "--section-column",
        "type",
        "--relative-to",
        BASE,
        "--max-dropped-tags",
        "0",
    ];
    let (run, report) = build(&directory, "out", &directory.file("rows.tsv", rows), &options);
    run.expect(0);
    assert_eq!(published_urls(&directory.join("out"), BASE).len(), 2);
    assert_eq!((&report["rejected"], &report["blank"]), (&json!({ "no-url": 1 }), &json!(1)));
    let sections: Vec<&Value> =
        report["sections"].as_array().unwrap().iter().map(|section| &section["name"]).collect();
    assert_eq!(sections, ["shop", "rest"]);
    // In a list of lines, it is not a page either.
    let lines = directory.file("lines.txt", "/a\n\\N\nNULL\nnull\nNone\nnan\n/NULL\n");
    let (run, report) = build(&directory, "lines", &lines, &["--relative-to", BASE]);
    let said = "5 of 7 lines are rejected as not-absolute; the first is \\\\N; a fragment such as #top, a missing value such as \
                NULL, or a text in quotes or brackets is no page\n";
    assert!(run.expect(0).stderr.contains(said));
    assert_eq!(report["rejected"], json!({ "not-absolute": 5 }));
    assert_eq!(published_urls(&directory.join("lines"), BASE), [format!("{BASE}a"), format!("{BASE}NULL")]);
}

#[test]
fn text_of_hive_is_read_with_the_options_that_the_message_names() {
    let directory = TempDir::new();
    let rows = format!("{BASE}a\u{1}2024-05-01\u{1}x\n{BASE}b\u{1}2024-05-02\u{1}\\N\n");
    let input = directory.file("000000_0", rows);
    let (refused, _) = build(&directory, "out", &input, &[]);
    let options = r"use --format csv --delimiter '\x01' --columns url=1,lastmod=2";
    assert!(refused.expect(65).stderr.contains(options));
    let given = ["--format", "csv", "--delimiter", r"\x01", "--columns", "url=1,lastmod=2"];
    build(&directory, "out", &input, &given).0.expect(0);
    let xml = &published(&directory.join("out"), BASE)[1].1;
    assert!(xml.contains("<loc>https://www.example.com/b</loc><lastmod>2024-05-02</lastmod>"), "{xml}");
    // Lines that only the hint sees, because the first ones are different.
    let rows = format!("{BASE}a\u{1}x\n").repeat(200);
    let lines = (0..50).map(|n| format!("{BASE}{n}\n")).collect::<String>() + &rows;
    let run =
        finish(telling_build_command(&directory.join("hint"), BASE).arg("-"), lines.as_bytes()).expect(0);
    let hint = r"values follow the URLs; read the input with --format csv --delimiter '\x01' --columns url=1";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
}

#[test]
fn quotes_that_are_escaped_with_a_backslash_are_explained_however_few_rows_are_rejected() {
    let directory = TempDir::new();
    let row = |n: u32| match n % 20 {
        0 => format!("\"Monitor 24\\\"\",{BASE}{n}\n"),
        5 => format!("\"Shirt, red\",{BASE}{n}\n"),
        _ => format!("Shirt,{BASE}{n}\n"),
    };
    let input = directory.file("rows.csv", format!("title,url\n{}", (0..1000).map(row).collect::<String>()));
    let (run, report) = build(&directory, "out", &input, &[]);
    let run = run.expect(0);
    assert!(report["rejected"]["bad-row"].as_u64().unwrap() < 100);
    let hint = "rows.csv are rejected: quotes are escaped with a backslash (\\\"), but CSV doubles them (\"\"); read them with \
                --escape '\\'\n";
    assert!(run.stderr.contains(hint), "{}", run.stderr);
    let (read, report) = build(&directory, "read", &input, &["--escape", r"\", "--max-rejects", "0"]);
    assert!(!read.expect(0).stderr.contains("backslash"));
    assert_eq!(report["listed"], 1000);
    let other = directory.file("other.csv", format!("title,url\nx,y,z\n\"C:\\\",{BASE}a\n"));
    let (quiet, _) = build(&directory, "other", &other, &[]);
    assert!(!quiet.expect(0).stderr.contains("backslash"));
    // If most rows are rejected, the message about them says so, and only that.
    let all = "title,url\n\"24\\\"\",https://www.example.com/a\n\"25\\\"\",https://www.example.com/b\n";
    let (refused, _) = build(&directory, "all", &directory.file("all.csv", all), &[]);
    assert_eq!(refused.expect(65).stderr.matches("quotes are escaped with a backslash").count(), 1);
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
    assert_eq!(
        said,
        json!(["lastmod NULL is a missing value (1 of 1 dropped as tag-lastmod); use COALESCE(lastmod, '')"])
    );
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
        let want = format!(
            "lastmod {value} is a JSON object (1 of 1 dropped as tag-lastmod); use --columns '{way_out}'"
        );
        assert_eq!(said, json!([want]));
        let options = ["--columns", way_out, "--lastmod-unit", "seconds"];
        let options = if key == "lastmod" { &options[..2] } else { &options };
        assert_eq!(hints("rows.jsonl", &rows, options), Value::Null);
        let xml = &published(&directory.join("out"), BASE)[1].1;
        assert!(xml.contains("<lastmod>2024-05-01T10:20:30Z</lastmod>"), "{xml}");
    }
}

#[test]
fn quotes_that_are_escaped_with_a_backslash_are_read_with_the_option() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let rows = [
        r#""a \"b\", c","@1?x=\"y\"&z=\\w","2024-05-01""#,
        r#""line \
end","@2","2024-05-02""#,
        r#""doubled ""quotes""","@3","2024-05-03""#,
        r#"C:\,@4,\N"#,
        r#""C:\\",@5,2024-05-05"#,
    ];
    let wanted = ["1?x=%22y%22&z=\\w", "2", "3", "4", "5"].map(|path| format!("{BASE}{path}"));
    let wanted = wanted.map(|url| url.replace('\\', "%5C"));
    let text = |header: &str| (header.to_owned() + &rows.join("\n") + "\n").replace('@', BASE);
    let escape = ["--escape", r"\", "--max-dropped-tags", "0"];
    let by_place = ["--columns", "url=2,lastmod=3"];
    for (name, text, options, rejected) in [
        ("a.csv", text("title,url,lastmod\n"), &[][..], json!({})),
        // Without a line end in a value, the lines show what they are.
        ("b.txt", text("").replace("\\\n", ""), &by_place, json!({})),
        // The first row is a header, as the rows below show.
        ("c.txt", text("title,page,day\n").replace("\\\n", ""), &by_place, json!({ "bad-row": 1 })),
        ("d.tsv", text("title,url,lastmod\n").replace(',', "\t"), &[], json!({})),
    ] {
        let input = directory.file(name, text);
        let (run, report) = build(&directory, "out", &input, &[&escape[..], options].concat());
        run.expect(0);
        assert_eq!(report["rejected"], rejected, "{name}");
        assert_eq!(published_urls(&out, BASE), wanted, "{name}");
        let xml = &published(&out, BASE)[1].1;
        assert_eq!(xml.matches("<lastmod>").count(), 4, "{name}: {xml}");
    }
    let input = directory.file("a.csv", text("title,url,lastmod\n"));
    for (options, said) in [
        (&["--escape", "n"][..], "expected one ASCII punctuation character other than a quote"),
        (&["--escape", ";", "--delimiter", ";"], "--escape ';': is also --delimiter ';'"),
        (&["--escape", r"\", "--format", "jsonl"], "--format jsonl has no quotes; use --format csv"),
    ] {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--out"]).arg(&out).arg(&input).args(options);
        let refused = finish(&mut command, b"").expect(2).stderr;
        assert!(refused.contains(said), "{refused}");
    }
    let list = directory.file("list.txt", format!("{BASE}a\n"));
    for (options, hint) in [
        (&[][..], "--escape has no effect; leave it out"),
        (&["--delimiter", "|"], "--delimiter and --escape have no effect; leave them out"),
    ] {
        let escape = ["--escape", r"\", "--max-shrink", "100%"];
        let (run, _) = build(&directory, "out", &list, &[&escape[..], options].concat());
        let stderr = run.expect(0).stderr;
        let hint = format!("no input is CSV, so {hint}, or use --format csv\n");
        assert!(stderr.contains(&hint), "{stderr}");
    }
}

#[test]
fn an_escape_that_the_rows_show_to_be_the_delimiter_is_refused() {
    let directory = TempDir::new();
    for by in [",", ";"] {
        let text = format!("title{by}url\n\"a{by} b\"{by}\"{BASE}x{by}y\"\n");
        let input = directory.file("a.csv", text);
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--escape", by, "--out"]).arg(directory.join("out"));
        let refused = finish(command.arg(&input), b"").expect(65).stderr;
        assert!(refused.contains(" is also the delimiter; set another one with --delimiter\n"), "{refused}");
    }
}
