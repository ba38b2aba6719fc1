//! `build --html` and `sitemill report`: what the page shows, and that nothing in it comes alive.

mod accessibility;
mod directory;
mod known;
mod sections;

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, build_command, epoch_plus, finish, run, sitemill};

const BASE: &str = "https://h.example/";

/// The limit that holds for any input.
const BYTES_MAX: usize = 300_000;

/// Builds `lines` on day `day` with `--html` and `--report`, and returns both.
fn build(directory: &TempDir, lines: &str, day: u32, options: &[&str]) -> (String, Value) {
    let [page, report] = ["page.html", "report.json"].map(|name| directory.join(name));
    let mut command = build_command(&directory.join("out"), BASE);
    command.args(["--max-shrink=100", "--urls-per-sitemap=20"]).args(options);
    command.arg("--html").arg(&page).arg("--report").arg(&report);
    command.env("SOURCE_DATE_EPOCH", epoch_plus(day * 86_400));
    finish(&mut command, lines.as_bytes()).expect(0);
    (fs::read_to_string(page).unwrap(), serde_json::from_slice(&fs::read(report).unwrap()).unwrap())
}

fn pages(section: &str, count: usize) -> String {
    (0..count).map(|n| format!("{BASE}{section}/{n}\n")).collect()
}

/// Whether the page is well-formed, as xmllint's parser of HTML sees it; its element names are those of HTML 4, which has neither
/// `main` nor `svg`.
#[track_caller]
fn assert_well_formed(page: &Path) {
    let linted = Command::new("xmllint").args(["--html", "--noout", "--nonet"]).arg(page).output().unwrap();
    let said = String::from_utf8(linted.stderr).unwrap();
    let wrong: Vec<_> =
        said.lines().filter(|line| line.contains("HTML parser error") && !line.contains("invalid")).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Everything between `<` and `>` that is not a comment, in order.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|tag| tag.split('>').next().unwrap()).collect()
}

#[test]
fn a_page_shows_every_part_of_a_run_with_its_change() {
    let directory = TempDir::new();
    build(&directory, &(pages("gone", 30) + &pages("products", 40)), 0, &[]);
    let input = directory.file("rows.csv", {
        let mut rows = "url,lastmod,colour\n".to_owned();
        pages("products", 60).lines().for_each(|url| rows += &format!("{url},2024-05-01,red\n"));
        rows + "no url,,\nhttps://h.example/products/1,,\n,,\nhttps://h.example/products/x,2024-05-01 12:00,\n"
    });
    let input = input.to_str().unwrap();
    let (page, report) = build(&directory, "", 1, &[input, "--format=csv"]);
    for text in [
        "<title>Sitemap report: https://h.example/</title>",
        "Published</span>",
        "2005-06-27 00:00",
        "Where each line went",
        "Compared with the set of <time>2005-06-26 00:00",
        "<code>not-absolute</code>",
        "Export absolute URLs that begin with http:// or https://",
        "<code>tag-lastmod-zone</code>",
        "<code>/products</code>",
        "<span class=\"tag\">gone</span>",
        "What crawlers must fetch",
        "How full the sitemaps are",
        "Trend",
        "Survey",
        "rows.csv",
        "url = url",
        "not used: colour",
        "--urls-per-sitemap",
        "Sitemap: https://h.example/sitemap-index-1.xml",
    ] {
        assert!(page.contains(text), "{text} is not in the page:\n{page}");
    }
    assert_eq!(report["listed"], 61);
    // 61 listed, 9 fewer than 70.
    assert!(page.contains("\u{2212}9 (\u{2212}12.9\u{202f}%)"), "{page}");
    assert_well_formed(&directory.join("page.html"));
}

#[test]
fn the_page_of_a_report_is_the_page_of_its_run() {
    let directory = TempDir::new();
    build(&directory, &pages("a", 10), 0, &[]);
    let (page, _) = build(&directory, &(pages("a", 100) + "bad\n\n"), 1, &["--order=sorted"]);
    let again = run(["report", directory.join("report.json").to_str().unwrap()]).expect(0);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), page);
    // And it can be written to a file, which is replaced.
    let other = directory.file("other.html", "old");
    let report = directory.join("report.json");
    let command = ["report", report.to_str().unwrap(), "-o", other.to_str().unwrap()];
    assert_eq!(run(command).expect(0).stdout, b"");
    assert_eq!(fs::read_to_string(other).unwrap(), page);
}

#[test]
fn the_page_is_the_same_for_any_number_of_threads_except_for_times() {
    let page = |threads: &str| {
        let directory = TempDir::new();
        let lines: String =
            (0..500).map(|n| pages(&format!("s{}", n % 37), 1) + &format!("bad {n}\n")).collect();
        build(&directory, &lines, 0, &["--threads", threads]);
        let report = directory.join("report.json");
        let mut json: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        json["seconds"] = json!({ "survey": 0.0, "produce": 0.0, "publish": 0.0, "total": 0.0 });
        json["threads"] = 1.into();
        json["details"]["settings"]["out"] = "out".into();
        fs::write(&report, json.to_string()).unwrap();
        String::from_utf8(run(["report", report.to_str().unwrap()]).expect(0).stdout).unwrap()
    };
    assert_eq!(page("1"), page("3"));
}

/// Texts that must not be taken for markup, links or directions.
const HOSTILE: [&str; 10] = [
    "</title></style></code><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "<!-- <svg onload=alert(1)> -->",
    "a\u{202e}gpj.exe",
    "nul\0here",
    "\u{2028}\u{85}line",
    "&lt;script&gt;&#60;",
    "]]><![CDATA[<x>",
];

#[track_caller]
fn assert_harmless(page: &str) {
    for tag in tags(page) {
        let name = tag.trim_start_matches('/').split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap();
        assert!(!["script", "img", "iframe", "a", "link", "object", "form", "x"].contains(&name), "<{tag}>");
        let attributes = tag.to_ascii_lowercase();
        assert!(![" on", "href=", "src=", "url("].iter().any(|odd| attributes.contains(odd)), "<{tag}>");
    }
    for odd in ['\u{202e}', '\0', '\u{2028}', '\u{85}'] {
        assert!(!page.contains(odd), "{odd:?}");
    }
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
}

#[test]
fn hostile_lines_are_shown_as_text() {
    let directory = TempDir::new();
    let mut lines = pages("ok", 3);
    for text in HOSTILE {
        lines += &format!("{text}\n{BASE}{text}/x\nhttps://other.example/{text}\n");
    }
    let (page, _) = build(&directory, &lines, 0, &[]);
    assert_harmless(&page);
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert_well_formed(&directory.join("page.html"));
}

/// Replaces every text of a report with a hostile one, names of reasons and options included.
fn poison(value: &mut Value, text: &str) {
    match value {
        Value::String(old) => *old = text.into(),
        Value::Array(all) => all.iter_mut().for_each(|value| poison(value, text)),
        Value::Object(all) => all.values_mut().for_each(|value| poison(value, text)),
        _ => {}
    }
}

#[test]
fn a_forged_report_cannot_inject_markup_either() {
    let directory = TempDir::new();
    build(&directory, &pages("a", 10), 0, &[]);
    let (_, report) = build(&directory, &(pages("a", 100) + "bad\n"), 1, &[]);
    for text in HOSTILE {
        let mut forged = report.clone();
        poison(&mut forged, text);
        forged["details"]["segments"]["by"] = "path".into();
        for name in ["rejected", "excluded", "included", "rewritten", "dropped_tags", "out_of_scope"] {
            forged[name] = json!({ text: 3 });
        }
        forged["details"]["settings"] = json!({ text: text });
        forged["hint"] = text.into();
        let forged = directory.file("forged.json", forged.to_string());
        let page = run(["report", forged.to_str().unwrap()]).expect(0).stdout;
        let page = String::from_utf8(page).unwrap();
        assert_harmless(&page);
        fs::write(directory.join("forged.html"), &page).unwrap();
        assert_well_formed(&directory.join("forged.html"));
    }
}

/// A report in which every list is long, and every text is long and grows when it is escaped.
fn worst_report(report: &Value) -> Value {
    let long = "'\"<\u{202e}".repeat(500);
    let mut worst = report.clone();
    poison(&mut worst, &long);
    let name = |n: usize| format!("{n}{long}");
    let map = |count: usize, value: Value| -> Value {
        (0..count).map(|n| (name(n), value.clone())).collect::<serde_json::Map<_, _>>().into()
    };
    let list = |count: usize, value: Value| -> Value { vec![value; count].into() };
    let number = 123_456_789_012_u64;
    let examples: Vec<_> = (0..600)
        .map(|n| json!({ "reason": name(n / 5), "input": long, "line": number, "text": long }))
        .collect();
    worst["examples"] = examples.clone().into();
    for name in ["rejected", "excluded", "included", "rewritten", "dropped_tags", "out_of_scope"] {
        worst[name] = map(200, number.into());
    }
    for name in ["refused", "hint"] {
        worst[name] = long.clone().into();
    }
    worst["tag_hints"] = list(500, long.clone().into());
    worst["index_urls"] = list(500, long.clone().into());
    let columns = json!({ "used": map(9, long.clone().into()), "unused": list(9, long.clone().into()) });
    let input = json!({
        "path": long, "format": long, "packing": long, "lines": number, "bytes": number, "columns": columns,
        "dropped_elements": map(9, number.into()),
    });
    let mut inputs = vec![input; 60];
    let plain = json!({ "path": long, "format": "text", "lines": number, "bytes": number });
    inputs.extend(vec![plain; 3_000]);
    worst["inputs"] = inputs.into();
    let section = json!({
        "name": long, "file_word": long, "listed": number, "sitemaps": number, "index_urls": [long], "xml_bytes": number,
        "gzip_bytes": number,
    });
    worst["sections"] = list(500, section);
    worst["skipped"] = list(500, json!({ "path": long, "reason": long }));
    let details = &mut worst["details"];
    details["examples"] = examples.into();
    details["settings"] = map(500, long.clone().into());
    let sections: Vec<_> =
        (0..5_000).map(|n| json!({ "name": name(n), "urls": number, "previous": number / 3 })).collect();
    details["segments"] = json!({ "by": "path", "named": sections, "others": number });
    let set = json!({ "published": long, "listed": number, "sitemaps": number, "gzip_bytes": number });
    details["history"] = list(500, set);
    worst
}

#[test]
fn no_report_makes_a_page_of_more_than_300_kilobytes() {
    let directory = TempDir::new();
    build(&directory, &pages("a", 10), 0, &[]);
    let (_, report) = build(&directory, &(pages("a", 100) + "bad\n"), 1, &[]);
    let worst = directory.file("worst.json", worst_report(&report).to_string());
    let page = String::from_utf8(run(["report", worst.to_str().unwrap()]).expect(0).stdout).unwrap();
    assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
    assert!(page.ends_with("</html>\n"));
    assert_harmless(&page);
    fs::write(directory.join("worst.html"), &page).unwrap();
    assert_well_formed(&directory.join("worst.html"));
}

#[test]
fn many_sites_and_very_long_lines_keep_within_the_limit() {
    let directory = TempDir::new();
    let [page, out] = ["page.html", "out"].map(|name| directory.join(name));
    let mut lines = String::new();
    for n in 0..120 {
        lines += &format!("https://h{n}.example/{}\nnot-a-url-{}\n", "'".repeat(300), "<\"'&".repeat(400));
    }
    let mut command = build_command(&out, "{origin}/");
    finish(command.arg("--html").arg(&page), lines.as_bytes()).expect(0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.len() < BYTES_MAX, "{} bytes", text.len());
    assert!(text.contains("URLs by origin") && text.contains("<code>https://h0.example/</code>"), "{text}");
    assert!(text.contains("90 others"), "{text}");
    // The parent of the sites is one page as well.
    let of_parent = run(["report", out.to_str().unwrap()]).expect(0);
    let of_parent = String::from_utf8(of_parent.stdout).unwrap();
    assert!(of_parent.contains("120 sites") && of_parent.contains("90 others"), "{of_parent}");
    assert!(of_parent.len() < BYTES_MAX);
}

#[test]
fn a_run_that_fails_or_is_refused_says_so_on_its_page() {
    let directory = TempDir::new();
    let [page, report] = ["page.html", "report.json"].map(|name| directory.join(name));
    let build = |input: &str, options: &[&str]| -> (Run, String) {
        let mut command = build_command(&directory.join("out"), BASE);
        command.args(options).arg("--html").arg(&page).arg("--report").arg(&report);
        let run = finish(&mut command, input.as_bytes());
        (run, fs::read_to_string(&page).unwrap())
    };
    let (refused, text) = build("bad\n", &[]);
    refused.expect(65);
    assert!(text.contains("Not published") && text.contains("Why nothing was published"), "{text}");
    let (failed, text) = build("", &["missing<file>.txt"]);
    failed.expect(66);
    assert!(text.contains("The run failed") && text.contains("missing&lt;file&gt;.txt"), "{text}");
    assert_eq!(run(["report", report.to_str().unwrap()]).expect(0).stdout, text.as_bytes());
    let (usage, text) = build("", &["--level=99"]);
    usage.expect(2);
    assert!(text.contains("The run failed"), "{text}");
}

#[test]
fn a_page_that_cannot_be_written_is_reported_before_any_work_and_destroys_nothing() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = directory.file("urls.txt", pages("a", 2));
    let check = |options: &[&str], exit: i32, why: &str| {
        let mut command = build_command(&out, BASE);
        let run = finish(command.args(options), b"").expect(exit);
        assert!(run.stderr.contains(why), "{}", run.stderr);
        assert!(!out.join("robots-sitemaps.txt").exists());
    };
    let input = input.to_str().unwrap();
    check(&[input, "--html", input], 2, "the same file as input");
    check(&[input, "--html", directory.join("no/where.html").to_str().unwrap()], 73, "where.html");
    check(&[input, "--html", directory.path().to_str().unwrap()], 73, "is not a regular file");
    check(&[input, "--html", "-", "--json"], 2, "writes to standard output as well");
    check(&[input, "--html", out.join("sitemap-index-1.xml").to_str().unwrap()], 2, "is published");
    let mut command = build_command(&out, BASE);
    let run_to_stdout = finish(command.args([input, "--html", "-"]), b"").expect(0);
    assert!(run_to_stdout.stdout.starts_with(b"<!doctype html>"));

    let wrong = finish(sitemill().args(["report", input]), b"").expect(65);
    assert!(wrong.stderr.contains("is not the JSON report of a build"), "{}", wrong.stderr);
    let index = out.join("sitemap-index-1.xml");
    let into_set = ["report", out.to_str().unwrap(), "-o", index.to_str().unwrap()];
    assert!(run(into_set).expect(2).stderr.contains("use another file"));
    assert_eq!(run(["report", directory.join("nothing").to_str().unwrap()]).exit, 66);
}

#[test]
fn chromium_shows_a_hostile_page_without_console_messages() {
    let directory = TempDir::new();
    let mut lines = pages("ok", 30);
    HOSTILE.iter().for_each(|text| lines += &format!("{text}\n{BASE}{text}/x\n"));
    build(&directory, &lines, 0, &[]);
    let [page, screenshot, profile] = ["page.html", "page.png", "profile"].map(|name| directory.join(name));
    let chromium = |option: &str| {
        let mut command = Command::new("chromium");
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", option]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        let shown =
            command.arg(format!("file://{}", page.display())).output().expect("chromium is installed");
        let said = String::from_utf8_lossy(&shown.stderr).into_owned();
        assert!(shown.status.success() && !said.contains("CONSOLE"), "{said}");
        String::from_utf8(shown.stdout).unwrap()
    };
    let dom = chromium("--dump-dom");
    assert!(
        dom.contains("Where each line went") && !dom.contains("<script") && !dom.contains("<img"),
        "{dom}"
    );
    chromium(&format!("--screenshot={}", screenshot.display()));
    assert!(fs::read(screenshot).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_page_of_a_report_without_sections_says_that_they_were_not_counted() {
    let directory = TempDir::new();
    let (input, report) =
        (directory.file("urls.txt", "https://h.example/a/1\n"), directory.join("report.json"));
    let page = |options: &[&OsStr]| {
        let mut command = build_command(&directory.join("out"), "https://h.example/");
        finish(command.arg(&input).arg("--report").arg(&report).args(options), b"").expect(0);
        let page = finish(sitemill().arg("report").arg(&report).args(["-o", "-"]), b"").expect(0);
        String::from_utf8(page.stdout).unwrap().contains("Not counted in this run")
    };
    assert!(page(&[]));
    let html = directory.join("page.html");
    assert!(!page(&["--html".as_ref(), html.as_os_str()]));
}
