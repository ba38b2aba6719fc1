//! The HTML page of a large run: `cargo bench --bench page`. It is smaller than 300 kB.
//!
//! The run has 5 million lines, 2,000 sitemaps, 500 examples of refused lines, 100 sections and 60 kept sets.

use std::sync::LazyLock;

use divan::{Bencher, black_box};
use serde_json::{Value, json};
use sitemill::report::{Reason, TagReason};
use sitemill::{Page, Report};

fn main() {
    divan::main();
}

const BYTES_MAX: usize = 300_000;

/// Bytes of the examples, as many as a report holds of a line.
const TEXT_BYTES: usize = 200;

static JSON: LazyLock<Vec<u8>> = LazyLock::new(|| report().to_string().into_bytes());
static REPORT: LazyLock<Report> =
    LazyLock::new(|| serde_json::from_slice(&JSON).expect("it has the fields of a report"));

fn report() -> Value {
    let words: Vec<_> = Reason::ALL.map(Reason::as_str).into_iter().collect();
    let tags: Vec<_> = TagReason::ALL.map(TagReason::as_str).into_iter().collect();
    let counts = |words: &[&str]| -> Value {
        words.iter().enumerate().map(|(n, &word)| (word.to_owned(), Value::from(100 + n))).collect()
    };
    let all = [&words[..], &tags[..]].concat();
    let examples: Vec<_> = (0..500)
        .map(|n| {
            let text = format!("https://www.example.com/{}", "<'\"&>?q=".repeat(TEXT_BYTES / 8));
            json!({ "reason": all[n % all.len()], "input": "/data/export/urls.csv.gz", "line": n * 9_973, "text": text })
        })
        .collect();
    let sections: Vec<_> = (0..100)
        .map(|n| json!({ "name": format!("/section-{n}"), "urls": 50_000 - n, "previous": 49_000 + n }))
        .collect();
    let history: Vec<_> = (0..60)
        .map(|n| {
            let published = format!("2026-0{}-{:02}T02:00:00Z", 1 + n / 28, 1 + n % 28);
            json!({ "published": published, "listed": 4_800_000 + n, "sitemaps": 2_000, "gzip_bytes": 90_000_000 })
        })
        .collect();
    let mut report = serde_json::to_value(Report::default()).expect("a report is JSON");
    report["base_url"] = "https://www.example.com/".into();
    report["lines"] = 5_000_000.into();
    report["listed"] = 4_900_000.into();
    report["sitemaps"] = 2_000.into();
    report["sections"] = (0..100)
        .map(|n| {
            json!({ "name": format!("section-{n}"), "file_word": format!("section-{n}"), "listed": 49_000, "sitemaps": 20,
                "index_urls": [], "xml_bytes": 5_000_000, "gzip_bytes": 500_000 })
        })
        .collect();
    report["rejected"] = counts(&words);
    report["dropped_tags"] = counts(&tags);
    report["details"] = json!({
        "time": "2026-03-05T02:00:00Z",
        "settings": { "base-url": "https://www.example.com/", "urls-per-sitemap": "2500" },
        "examples": examples,
        "previous": { "published": "2026-03-04T02:00:00Z", "listed": 4_800_000, "sitemaps": 1_990, "gzip_bytes": 90_000_000 },
        "segments": { "by": "path", "named": sections, "others": 1_000 },
        "fullness": {
            "urls_max": 2_500, "bytes_max": 52_428_800,
            "urls": [0, 0, 0, 0, 100, 200, 300, 400, 500, 500], "bytes": [2_000, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        },
        "changes": { "new_sitemaps": 50, "new_bytes": 2_000_000, "kept_sitemaps": 1_950, "kept_bytes": 88_000_000,
            "removed_sitemaps": 40 },
        "history": history,
    });
    report
}

/// Asserts what is measured.
fn check(page: &Page) {
    let text = page.as_str();
    assert!(text.len() < BYTES_MAX, "{} bytes", text.len());
    assert!(text.contains("2,000 sitemaps in") && text.contains("5,000,000") && text.ends_with("</html>\n"));
    let examples = text.matches("/data/export/urls.csv.gz:").count();
    assert!(examples > 100, "{examples} examples");
    let reasons = text.matches("<h3>").count();
    assert_eq!(reasons, Reason::ALL.len() + TagReason::ALL.len());
}

#[divan::bench]
fn of_a_report(bencher: Bencher<'_, '_>) {
    check(&Page::of_report(&REPORT));
    bencher.bench_local(|| Page::of_report(black_box(&REPORT)));
}

#[divan::bench]
fn of_the_json_of_a_report(bencher: Bencher<'_, '_>) {
    let page = || Page::of_json(black_box(&JSON)).expect("it is a report");
    check(&page());
    bencher.bench_local(page);
}
