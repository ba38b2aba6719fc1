//! Feeds and plain text: `build` reads them, `check` takes them for sitemaps, and `urls` lists their URLs.

use std::fs;
use std::path::Path;

use crate::support::{Run, TempDir, build_command, finish, gzip, published, published_urls, run, sitemill};

const BASE: &str = "https://www.example.com/";

/// A feed of the test data.
fn feed(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/feeds").join(name)).unwrap()
}

fn text(run: &Run) -> Vec<&str> {
    str::from_utf8(&run.stdout).unwrap().lines().collect()
}

#[test]
fn a_build_of_feeds_lists_their_pages_and_names_what_it_leaves_out() {
    let directory = TempDir::new();
    directory.file("blog.rss", feed("blog.rss"));
    directory.file("news.xml.gz", gzip(feed("news.atom").as_bytes()));
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--out", "out", "--report", "report.json"]);
    command.args(["blog.rss", "news.xml.gz"]).current_dir(directory.path());
    let built = finish(&mut command, b"").expect(0);
    let urls = published_urls(&directory.join("out"), BASE);
    assert_eq!(urls.len(), 8, "{urls:?}");
    assert!(urls.contains(&format!("{BASE}blog/2")) && urls.contains(&format!("{BASE}sub/fifth?x")));
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["inputs"][0]["format"], "rss");
    assert_eq!(report["inputs"][1]["format"], "atom");
    assert_eq!(report["inputs"][0]["dropped_elements"]["content:encoded"], 1);
    assert_eq!(
        report["rejected"],
        serde_json::json!({ "bad-row": 1, "no-url": 2, "not-absolute": 1 }),
        "{}",
        built.stderr
    );
}

/// A directory with an index file that lists a text file and two feeds.
fn mixed(protocol: &str) -> TempDir {
    let directory = TempDir::new();
    let loc = |name: &str| format!("<sitemap><loc>{BASE}{name}</loc></sitemap>\n");
    let members: String = ["pages.txt", "more.txt.gz", "blog.rss", "old.atom"].map(loc).concat();
    directory.file("index.xml", format!("<sitemapindex xmlns=\"{protocol}\">\n{members}</sitemapindex>"));
    directory.file("robots-sitemaps.txt", format!("Sitemap: {BASE}index.xml\n"));
    directory.file("pages.txt", format!("{BASE}a\n{BASE}b\n"));
    directory.file("more.txt.gz", gzip(format!("{BASE}c\nhttp://www.example.com/out\n").as_bytes()));
    directory.file("blog.rss", format!("<rss><channel><item><link>{BASE}d</link></item></channel></rss>"));
    let entry = format!("<entry><link href=\"{BASE}a\"/></entry>");
    directory.file("old.atom", format!("<feed xmlns=\"http://www.w3.org/2005/Atom\">{entry}</feed>"));
    directory
}

#[test]
fn text_and_feeds_are_checked_and_listed_as_other_sitemaps_are() {
    let directory = mixed("http://www.sitemaps.org/schemas/sitemap/0.9");
    let path = directory.path().to_str().unwrap();
    let checked = run(["check", path]).expect(65);
    let (said, all) = (text(&checked), checked.stderr.clone());
    assert!(said.iter().any(|line| line.contains("more.txt.gz: entry 2: out-of-scope")), "{said:?} {all}");
    assert!(said.iter().any(|line| line.contains("old.atom: entry 1: duplicate")), "{said:?} {all}");
    assert_eq!(
        said.iter().filter(|line| line.contains("out-of-scope") || line.contains("duplicate")).count(),
        2
    );
    let listed = run(["urls", path]).expect(0);
    let want = ["a", "b", "c", "d", "a"].map(|page| format!("{BASE}{page}"));
    let listed = text(&listed);
    assert_eq!(listed.len(), 6, "{listed:?}");
    assert!(want.iter().all(|url| listed.contains(&url.as_str())), "{listed:?}");
    let old = mixed("http://www.google.com/schemas/sitemap/0.84");
    let checked = run(["check", old.path().to_str().unwrap()]).expect(65);
    assert_eq!(text(&checked).iter().filter(|line| line.contains("form")).count(), 4, "{:?}", text(&checked));
}

#[test]
fn urls_reads_links_and_dates_of_feeds_as_build_does() {
    let directory = TempDir::new();
    let item =
        |zone: &str| format!("<item><link>{BASE}a</link><pubDate>7 Sep 2002 09:42 {zone}</pubDate></item>");
    let rss = |zone: &str| format!("<rss><channel>{}</channel></rss>", item(zone));
    for (feed, lastmod) in [
        (rss("EST"), "2002-09-07T09:42:00-05:00"),
        (rss("+0200"), "2002-09-07T09:42:00+02:00"),
        // The name of this zone is not defined, and it is not that of UTC.
        (rss("CEST"), "2002-09-07T09:42:00 CEST"),
        (rss("CEST (Berlin)"), "2002-09-07T09:42:00 CEST"),
        (rss("MSK"), "2002-09-07T09:42:00 MSK"),
        (rss("+0200 (CEST)"), "2002-09-07T09:42:00+02:00"),
        (rss(""), "2002-09-07T09:42:00"),
        (format!("<feed><entry><link rel='Alternate' href='{BASE}\na'/></entry></feed>"), ""),
        (format!("<feed><entry><link rel=' alternate\n' href=' {BASE}a\u{a0}'/></entry></feed>"), ""),
        // An empty guid does not count, and neither does one that is no link.
        (format!("<rss><channel><item><guid/><guid> </guid><guid>{BASE}a</guid></item></channel></rss>"), ""),
        (
            format!(
                "<rss><channel><item><guid isPermaLink=' false '>{BASE}b</guid><guid>{BASE}a</guid></item></channel></rss>"
            ),
            "",
        ),
    ] {
        let file = directory.file("feed.xml", &feed);
        let build = |input: &Path| {
            let out = directory.join("out");
            let mut command = build_command(&out, BASE);
            finish(command.args(["--lastmod-zone", "Europe/Berlin"]).arg(input), b"").expect(0);
            published(&out, BASE).split_off(1)
        };
        let listed = run(["urls", "--quiet", "--tsv", file.to_str().unwrap()]).expect(0);
        let row = text(&listed)[1].to_owned();
        assert_eq!(row.split('\t').nth(1), Some(lastmod), "{feed}");
        let tsv = directory.file("list.tsv", &listed.stdout);
        assert_eq!(build(&tsv), build(&file), "{feed}");
    }
}

#[test]
fn a_page_and_rss_1_are_refused_with_what_to_do() {
    for (content, said) in [
        ("<!doctype html>\n<html lang=en><head><title>Not found", "is an HTML page"),
        ("<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'/>", "RSS 1.0"),
    ] {
        let directory = TempDir::new();
        let file = directory.file("feed.xml", content);
        let out = directory.join("out");
        let args = ["build", file.to_str().unwrap(), "--base-url", BASE, "--out", out.to_str().unwrap()];
        let refused = run(args).expect(65);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
