//! CSV with other delimiters or without a header, and lists that only look like tables.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{
    Run, TempDir, build_command, finish, gzip, published, published_urls, sitemill, telling_build_command,
};

const BASE: &str = "https://www.example.com/";

fn build(out: &Path, input: &Path, options: &[&str]) -> Run {
    finish(build_command(out, BASE).args(["--urls-per-sitemap", "9000"]).arg(input).args(options), b"")
}

/// A table with rows for several blocks and values that need quotes.
fn table(delimiter: char, header: bool) -> String {
    let header = header.then(|| ["loc", "name", "lastmod", "priority"].join(&delimiter.to_string()) + "\n");
    let rows = (0..20_000_u32).map(|n| {
        let row = [
            format!("\"{BASE}{n}?a{delimiter}b\""),
            format!("\"red{delimiter}\n\"\"blue\"\"\""),
            format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1),
            ["", "0.5"][n as usize % 2].to_owned(),
        ];
        row.join(&delimiter.to_string()) + "\n"
    });
    header.into_iter().chain(rows).collect()
}

#[test]
fn a_table_gives_the_same_set_with_and_without_a_header_on_any_number_of_threads() {
    let directory = TempDir::new();
    for delimiter in [',', ';', '|', '~'] {
        let out = |name: &str| directory.join(format!("{name}-{}", u32::from(delimiter)));
        let with_header = directory.file("with.txt", table(delimiter, true));
        let without = directory.file("without.txt", table(delimiter, false));
        let word = delimiter.to_string();
        let said = ["--delimiter", &word];
        let detected = if delimiter == '~' { &said[..] } else { &[] };
        let set = |out: &Path, input: &Path, options: &[&str]| {
            build(out, input, &[options, &["--max-rejects", "0"]].concat()).expect(0);
            published(out, BASE)
        };
        let want = set(&out("one"), &with_header, &[detected, &["--threads", "1"]].concat());
        assert_eq!(published_urls(&out("one"), BASE).len(), 20_000);
        assert!(want[1].1.contains("<lastmod>2024-02-02</lastmod><priority>0.5</priority>"));
        assert!(set(&out("four"), &with_header, &[&said[..], &["--threads", "4"]].concat()) == want);
        let positions = ["--columns", "url=1,lastmod=3,priority=4", "--threads", "3"];
        assert!(set(&out("positions"), &without, &[&said[..], &positions].concat()) == want);
    }
}

#[test]
fn rows_without_a_header_are_refused_until_the_options_that_the_message_names_are_given() {
    let directory = TempDir::new();
    let rows = format!("{BASE}a;2025-11-21;Schuh\n{BASE}b;2025-11-20;Hut\n");
    let say = "use --format csv --delimiter ';' --columns url=1,lastmod=2";
    for name in ["rows.csv", "rows.txt"] {
        let input = directory.file(name, &rows);
        let out = directory.join(format!("out-{name}"));
        let refused = build(&out, &input, &[]).expect(65);
        assert!(refused.stderr.contains(say), "{}", refused.stderr);
        assert!(!out.join("robots-sitemaps.txt").exists());
        build(&out, &input, &["--format", "csv", "--delimiter", ";", "--columns", "url=1,lastmod=2"])
            .expect(0);
        assert_eq!(published_urls(&out, BASE), [format!("{BASE}a"), format!("{BASE}b")]);
        assert!(published(&out, BASE)[1].1.contains("a</loc><lastmod>2025-11-21</lastmod>"));
        // Lines with semicolons may be URLs.
        build(&out, &input, &["--format", "text"]).expect(0);
        assert_eq!(published_urls(&out, BASE)[0], format!("{BASE}a;2025-11-21;Schuh"));
    }
}

#[test]
fn a_header_of_one_name_is_a_rejected_line_with_the_options_that_the_message_names() {
    let directory = TempDir::new();
    let input = directory.file("rows.csv", format!("url\n{BASE}a,2024-01-01\n{BASE}b,2024-01-02\n"));
    let out = directory.join("out");
    let refused = build(&out, &input, &[]).expect(65);
    let options = "--format csv --delimiter , --columns url=1,lastmod=2";
    assert!(refused.stderr.contains(&format!("use {options}")), "{}", refused.stderr);
    let options: Vec<&str> = options.split(' ').chain(["--max-rejects", "1"]).collect();
    build(&out, &input, &options).expect(0);
    assert_eq!(published_urls(&out, BASE), [format!("{BASE}a"), format!("{BASE}b")]);
    assert!(published(&out, BASE)[1].1.contains("b</loc><lastmod>2024-01-02</lastmod>"));
    // The name of a column is not a relative URL.
    let relative = directory.file("relative.csv", "page,t,mod\n/a,x,2024-01-01\n/b,y,2024-01-02\n");
    let options = ["--columns", "url=1,lastmod=3", "--relative-to", BASE];
    build(&directory.join("relative"), &relative, &options).expect(0);
    assert_eq!(published_urls(&directory.join("relative"), BASE), [format!("{BASE}a"), format!("{BASE}b")]);
}

#[test]
fn a_url_that_looks_like_a_header_is_a_url() {
    let directory = TempDir::new();
    let named = directory.file("list.csv", format!("{BASE}x?fields=id,url\n{BASE}y\n"));
    let refused = build(&directory.join("named"), &named, &[]).expect(65);
    assert!(refused.stderr.contains("if every line is a URL, use --format text"), "{}", refused.stderr);
    build(&directory.join("named"), &named, &["--format", "text"]).expect(0);
    assert_eq!(published_urls(&directory.join("named"), BASE).len(), 2);
    for first in ["x?fields=id,url", "x;url", "x|loc"] {
        let list = format!("{BASE}{first}\n{BASE}b\n{BASE}c,d\n");
        let out = directory.join("out");
        build(&out, &directory.file("list.txt", list), &["--max-rejects", "0"]).expect(0);
        let want = [first.replace('|', "%7C"), "b".into(), "c,d".into()].map(|path| format!("{BASE}{path}"));
        assert_eq!(published_urls(&out, BASE), want);
    }
}

#[test]
fn the_delimiter_comes_from_the_environment_and_from_a_file_and_clean_knows_it_too() {
    let directory = TempDir::new();
    let input = directory.file("rows", format!("1~{BASE}a\n2~{BASE}b\n"));
    let config = directory.file("sitemill.toml", "delimiter = \"~\"\ncolumns = \"url=2\"\n");
    let want = format!("{BASE}a\n{BASE}b\n").into_bytes();
    let clean = |input: &PathBuf| {
        let mut command = sitemill();
        command.args(["clean", "--quiet"]).arg(input);
        command
    };
    let by_variables =
        finish(clean(&input).env("SITEMILL_DELIMITER", "~").env("SITEMILL_COLUMNS", "url=2"), b"");
    let by_file = finish(clean(&input).arg("--config").arg(config), b"");
    for run in [by_variables, by_file] {
        assert!(run.expect(0).stdout == want);
    }
    for wrong in ["--delimiter=::", "--delimiter=\"", "--columns=url=1,lastmod=updated"] {
        finish(clean(&input).arg(wrong), b"").expect(2);
    }
    finish(clean(&input).args(["--format", "tsv", "--delimiter", ";"]), b"").expect(2);
}

#[test]
fn a_named_column_is_not_read_as_the_part_of_which_it_has_the_usual_name() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let url = format!("{BASE}a");
    for (columns, json, want) in [
        ("priority=lastmod", format!(r#"{{"url":"{url}","lastmod":"0.5"}}"#), "<priority>0.5</priority>"),
        ("changefreq=url", format!(r#"{{"loc":"{url}","url":"daily"}}"#), "<changefreq>daily</changefreq>"),
        ("lastmod=loc", format!(r#"{{"loc":"2024-05-01","url":"{url}"}}"#), "<lastmod>2024-05-01</lastmod>"),
    ] {
        let values: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).unwrap();
        let texts: Vec<&str> = values.values().map(|value| value.as_str().unwrap()).collect();
        let names: Vec<&str> = values.keys().map(String::as_str).collect();
        let csv = format!("{}\n{}\n", names.join(","), texts.join(","));
        for (name, text) in [("rows.jsonl", json + "\n"), ("rows.csv", csv)] {
            let options = ["--columns", columns, "--max-rejects", "0", "--max-dropped-tags", "0"];
            build(&out, &directory.file(name, text), &options).expect(0);
            let (_, sitemap) = &published(&out, BASE)[1];
            assert!(sitemap.contains(&format!("<url><loc>{url}</loc>{want}</url>")), "{name}: {sitemap}");
        }
    }
}

#[test]
fn a_number_with_a_sign_is_the_name_of_a_column_and_no_position() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let named = directory.file("named.csv", format!("+1,day\n{BASE}a,2024-05-01\n"));
    build(&out, &named, &["--columns", "url=+1,lastmod=day", "--max-rejects", "0"]).expect(0);
    assert!(published(&out, BASE)[1].1.contains("a</loc><lastmod>2024-05-01</lastmod>"));
    let rows = directory.file("rows.csv", format!("{BASE}a,2024-05-01\n{BASE}b,2024-05-01\n"));
    let refused = build(&out, &rows, &["--format", "csv", "--columns", "url=+1,lastmod=day"]).expect(65);
    assert!(refused.stderr.contains("no column +1"), "{}", refused.stderr);
}

#[test]
fn tabs_around_the_urls_of_a_list_are_ignored() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for line in ["@\t\n", "\t@\n", "@ \t\n", "@\t\r\n", "\t@\t\t\n"] {
        let list = ["a", "b"].map(|page| line.replace('@', &format!("{BASE}{page}"))).concat();
        build(&out, &directory.file("list.txt", list), &["--max-rejects", "0"]).expect(0);
        assert_eq!(published_urls(&out, BASE), [format!("{BASE}a"), format!("{BASE}b")], "{line:?}");
    }
}

#[test]
fn a_csv_file_with_one_column_may_have_urls_with_commas() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (text, pages) in [
        ("url\n@a,0.html\n@b\n@c,1,2.html\t\n", ["a,0.html", "b", "c,1,2.html"]),
        ("# exported\nurl\n@a\n@b,0.html\n@c;1,2\n", ["a", "b,0.html", "c;1,2"]),
        ("url\n@a\n\"@b,0.html\"\n@c\n", ["a", "b,0.html", "c"]),
    ] {
        let input = directory.file("list.csv", text.replace('@', BASE));
        build(&out, &input, &["--max-rejects", "0"]).expect(0);
        assert_eq!(published_urls(&out, BASE), pages.map(|page| format!("{BASE}{page}")), "{text}");
    }
    // A table whose header is incomplete is not a list of URLs.
    let either = "row 1: names one column, and ',' in the rows below may separate values or be part of the URLs; use \
                  --columns url=1 if it separates values, or --delimiter tab if it is part of the URLs\n";
    for (text, said) in
        [("url\n@a,x\n@b,y\n", either), ("url\n\"@a\",x\n\"@b\",y,z\n", "rejected as bad-row")]
    {
        let refused = build(&out, &directory.file("table.csv", text.replace('@', BASE)), &[]).expect(65);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    let input = directory.file("either.csv", format!("url\n{BASE}a,x\n{BASE}b,y\n"));
    build(&out, &input, &["--columns", "url=1", "--max-rejects", "1"]).expect(0);
    assert_eq!(published_urls(&out, BASE), ["a", "b"].map(|page| format!("{BASE}{page}")));
    build(&out, &input, &["--delimiter", "tab", "--max-rejects", "0"]).expect(0);
    assert_eq!(published_urls(&out, BASE), ["a,x", "b,y"].map(|page| format!("{BASE}{page}")));
}

#[test]
fn blanks_before_a_quoted_tag_are_ignored() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let text = format!("url, lastmod, priority\n\"{BASE}a\", \"2024-05-01\", \"0.5\"\n");
    build(&out, &directory.file("rows.csv", text), &["--max-dropped-tags", "0"]).expect(0);
    assert!(published(&out, BASE)[1].1.contains("<lastmod>2024-05-01</lastmod><priority>0.5</priority>"));
}

#[test]
fn blanks_before_quotes_are_ignored_in_the_header_and_in_every_column() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let said = |columns: &str| format!("use --format csv --delimiter , --columns {columns}");
    for (text, advice, rejects) in [
        ("\"url\", \"lastmod\"\n\"@a\", \"2024-05-01\"\n\"url\", \"lastmod\"\n", None, "1"),
        ("id, url, lastmod\n1, \"@a\", \"2024-05-01\"\n", None, "0"),
        ("\"id\", \"page\", \"day\"\n1, \"@a\", \"2024-05-01\"\n", Some("url=page,lastmod=day"), "0"),
        ("\"@a\", \"2024-05-01\"\n", Some("url=1,lastmod=2"), "0"),
    ] {
        let input = directory.file("rows.csv", text.replace('@', BASE));
        let mut options = vec!["--max-dropped-tags", "0", "--max-rejects", rejects];
        if let Some(columns) = advice {
            let refused = build(&out, &input, &[]).expect(65);
            assert!(refused.stderr.contains(&said(columns)), "{text}: {}", refused.stderr);
            options.extend(["--format", "csv", "--delimiter", ",", "--columns", columns]);
        }
        build(&out, &input, &options).expect(0);
        let sitemap = &published(&out, BASE)[1].1;
        assert!(sitemap.contains("<loc>https://www.example.com/a</loc><lastmod>2024-05-01<"), "{sitemap}");
    }
    let titles = format!("{BASE}a, \"Shirt\"\n{BASE}b, \"Hat\"\n");
    let refused = build(&out, &directory.file("titles.txt", titles), &[]).expect(65);
    assert!(refused.stderr.contains(&said("url=1")), "{}", refused.stderr);
}

#[test]
fn aligned_columns_are_read_as_the_message_says() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let advice = "use awk '{$1 = $1} 1', which leaves one blank between values, and then --format csv --delimiter ' ' --columns ";
    for (text, columns) in [
        ("@a   2024-05-01\n@bcd 2024-05-02\n", "url=1,lastmod=2"),
        ("  7 @a   2024-05-01 10:20\n123 @bcd 2024-05-02 11:21\n", "url=2,lastmod=3"),
        (
            "url      day       \n-------- ----------\n@a  2024-05-01\n@bcd 2024-05-02\n\n(2 rows affected)\n",
            "url=url,lastmod=day",
        ),
    ] {
        let text = text.replace('@', BASE);
        let refused = build(&out, &directory.file("rows.txt", &text), &[]).expect(65);
        assert!(refused.stderr.contains(&format!("{advice}{columns}")), "{text}: {}", refused.stderr);
        let mut awk = Command::new("awk");
        let single = finish(awk.arg("{$1 = $1} 1"), text.as_bytes()).expect(0).stdout;
        let options = ["--format", "csv", "--delimiter", " ", "--columns", columns];
        build(&out, &directory.file("single.txt", single), &options).expect(0);
        assert_eq!(published_urls(&out, BASE), [format!("{BASE}a"), format!("{BASE}bcd")]);
        assert!(published(&out, BASE)[1].1.contains("bcd</loc><lastmod>2024-05-02</lastmod>"));
    }
    let packed = directory
        .file("rows.txt.gz", gzip(format!("{BASE}a   2024-05-01\n{BASE}bcd 2024-05-02\n").as_bytes()));
    let refused = build(&out, &packed, &[]).expect(65);
    assert!(
        refused.stderr.contains("awk '{$1 = $1} 1' on the unpacked list, which leaves"),
        "{}",
        refused.stderr
    );
    let ruled = format!("page       status\n---------- ------\n{BASE}a    200\n{BASE}bcd  404\n");
    let refused = build(&out, &directory.file("ruled.txt", ruled), &[]).expect(65);
    assert!(refused.stderr.contains(&format!("{advice}url=page, or")), "{}", refused.stderr);
    let codes = directory.file("codes.txt", format!("{BASE}a   200\n{BASE}bcd 404\n"));
    let told = finish(telling_build_command(&out, BASE).arg(codes), b"").expect(0);
    let hint = "if they are rows, use awk '{print $1}', which extracts the URLs\n";
    assert!(told.stderr.contains(hint), "{}", told.stderr);
    // Blanks at the end of a line are not part of it.
    let padded = directory.file("padded.txt", format!("{BASE}a     \n{BASE}b 2024-05-01\n"));
    build(&out, &padded, &[]).expect(0);
}

#[test]
fn lines_before_the_header_are_comments_or_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let log = format!("#Version: 1.0\n#Fields: date cs-uri\n2024-05-01\t{BASE}a\n2024-05-02\t{BASE}b\n");
    for name in ["log.txt", "log.tsv"] {
        let options = ["--columns", "url=2,lastmod=1", "--max-rejects", "0"];
        build(&out, &directory.file(name, &log), &options).expect(0);
        assert_eq!(published_urls(&out, BASE), [format!("{BASE}a"), format!("{BASE}b")]);
    }
    build(&out, &directory.file("names.csv", format!("#id,url\n1,{BASE}a\n")), &[]).expect(0);
    let report = format!("My report\r\n2024-05-01 to 2024-05-31\r\n\r\nURL,Clicks\r\n{BASE}a,5\r\n");
    let says = "line 4 is the header of a table; remove the lines before it: tail -n +4";
    for (name, or) in [("report.csv", ""), ("report.txt", "; or use --format text if every line is a URL")] {
        let input = directory.file(name, &report);
        let refused = build(&out, &input, &[]).expect(65);
        assert!(refused.stderr.contains(&format!("{says}{or}\n")), "{}", refused.stderr);
        let packed = directory.file(&format!("{name}.gz"), gzip(report.as_bytes()));
        let refused = build(&out, &packed, &[]).expect(65);
        assert!(
            refused.stderr.contains(&format!("{says}; a command needs the unpacked list{or}\n")),
            "{}",
            refused.stderr
        );
        let tail = finish(Command::new("tail").args(["-n", "+4"]).arg(input), b"").expect(0).stdout;
        build(&out, &directory.file("tail", tail), &["--max-rejects", "0"]).expect(0);
        assert_eq!(published_urls(&out, BASE), [format!("{BASE}a")]);
    }
    // URLs before it show that it is no header.
    let list = format!("{BASE}a\nurl,x\n{BASE}b\n");
    build(&out, &directory.file("list.txt", list), &["--max-rejects", "1"]).expect(0);
    // A name alone may be a page.
    let pages = directory.file("pages.txt", "index.html\nurl\n/about\n/contact\n");
    build(&out, &pages, &["--relative-to", BASE]).expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 4);
}

#[test]
fn a_column_named_url_that_is_used_for_a_tag_is_explained() {
    let directory = TempDir::new();
    let input = directory.file("rows.csv", format!("url,x\n{BASE}a,1\n"));
    let refused = build(&directory.join("out"), &input, &["--columns", "lastmod=url"]).expect(65);
    let says = "no column loc or url (url is used for lastmod), only: url, x; choose the ones to read";
    assert!(refused.stderr.contains(says), "{}", refused.stderr);
}
