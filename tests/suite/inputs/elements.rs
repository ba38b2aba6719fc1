//! Sitemap elements, keys of JSON lines and Parquet columns that cannot be carried over.

use serde_json::{Value, json};

use super::{BASE, report_of};
use crate::support::{TempDir, gzip, published};

const VIDEO: &str = "xmlns:video='http://www.google.com/schemas/sitemap-video/1.1'";
const IMAGE: &str = "xmlns:image='http://www.google.com/schemas/sitemap-image/1.1'";

/// The elements that a build of the sitemap `xml` reports as dropped.
#[track_caller]
fn dropped(xml: &str) -> Value {
    let directory = TempDir::new();
    directory.file("in.xml", xml);
    directory.file("in.xml.gz", gzip(xml.as_bytes()));
    let (_, report) = report_of(&directory, &["in.xml"], &[], b"");
    let options = ["--max-shrink", "100", "--order", "sorted"];
    let (_, packed) = report_of(&directory, &["in.xml.gz"], &options, b"");
    assert_eq!(packed["inputs"][0]["dropped_elements"], report["inputs"][0]["dropped_elements"]);
    report["inputs"][0]["dropped_elements"].clone()
}

#[test]
fn elements_that_are_not_carried_over_are_counted_by_the_usual_name_of_their_namespace() {
    let url =
        |n: u32, more: &str| format!("<url><loc>{BASE}{n}</loc><lastmod>2024-05-01</lastmod>{more}</url>\n");
    let video = "<video:video><video:title>t</video:title><video:price><x/></video:price></video:video>";
    let image =
        format!("<image:image><image:loc>{BASE}i.png</image:loc><image:title>t</image:title></image:image>");
    let entries = [
        url(1, video),
        url(2, &format!("{image}{video}{video}")),
        url(3, "<m:mobile xmlns:m='http://www.google.com/schemas/sitemap-mobile/1.0'/>"),
        url(4, "<n:news><n:publication/></n:news>"),
        url(5, "<x:own a='1'><loc>no</loc></x:own><x:own/><e\u{300}tat/>"),
        // Elements of known extensions that have nothing to keep.
        url(6, "<image:image><image:size>1</image:size></image:image><xhtml:link rel='amphtml' href='u'/>"),
        url(7, "<loc2/><priority>0.5</priority>"),
        url(8, &"<priority>0.5<b>1</b></priority>".replace("<b>1</b>", "<b/>")),
    ];
    let xml = format!(
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' {VIDEO} {IMAGE} \
         xmlns:n='http://www.google.com/schemas/sitemap-news/0.9' xmlns:x='urn:x' \
         xmlns:xhtml='http://www.w3.org/1999/xhtml'>{}<extra><url/></extra></urlset>",
        entries.concat()
    );
    let want = json!({
        "video:price": 3, "mobile:mobile": 1, "news:news": 1, "x:own": 2, "e\u{300}tat": 1, "image:size": 1,
        "image:image": 1, "xhtml:link": 1, "loc2": 1, "b": 1, "extra": 1,
    });
    assert_eq!(dropped(&xml), want);
}

#[test]
fn elements_that_are_carried_over_are_not_reported_as_dropped() {
    let directory = TempDir::new();
    let xml = format!(
        "<s:urlset xmlns:s='http://www.sitemaps.org/schemas/sitemap/0.9' {IMAGE} xmlns:h='http://www.w3.org/1999/xhtml'>\
         <s:url><s:loc>{BASE}a</s:loc><s:lastmod>2024-05-01</s:lastmod><s:changefreq>daily</s:changefreq>\
         <s:priority>0.5</s:priority><h:link rel='alternate' hreflang='de' href='{BASE}de'/>\
         <image:image><image:loc>{BASE}1.png</image:loc></image:image>\
         <image:image><image:loc>{BASE}2.png</image:loc></image:image></s:url></s:urlset>"
    );
    directory.file("a.xml", xml);
    let (_, report) = report_of(&directory, &["a.xml"], &[], b"");
    assert_eq!(report["inputs"][0].get("dropped_elements"), None);
    assert_eq!(report["given_tags"]["images"], 2);
    let set = published(&directory.join("out"), BASE);
    assert_eq!(set[1].1.matches("<image:image>").count(), 2);
}

#[test]
fn a_prefix_has_the_namespace_of_the_nearest_declaration() {
    let xml = format!(
        "<urlset {VIDEO}><url xmlns:video='urn:other'><loc>{BASE}a</loc><video:video/></url>\
         <url><loc>{BASE}b</loc><video:video/><v:x xmlns:v='http://www.google.com/schemas/sitemap-video/1.1'/></url>\
         <url><loc>{BASE}c</loc><image:image {IMAGE} xmlns:i='http://www.google.com/schemas/sitemap-image/1.1'>\
         <image:loc>{BASE}c.png</image:loc><i:size/></image:image><i:size/></url></urlset>"
    );
    let want = json!({ "video:video": 2, "video:x": 1, "image:size": 1, "i:size": 1 });
    assert_eq!(dropped(&xml), want);
}

#[test]
fn text_between_elements_is_counted_in_an_entry_and_rejected_elsewhere() {
    let xml = format!("<urlset>x<url>a<loc>{BASE}a</loc>b</url><url>{BASE}b</url></urlset>");
    assert_eq!(dropped(&xml), json!({ "#text": 1 }));
    let directory = TempDir::new();
    directory.file("in.xml", xml);
    let (run, report) =
        report_of(&directory, &["in.xml"], &["--rejects", "r.tsv", "--max-rejects", "100%"], b"");
    assert_eq!((&report["lines"], &report["listed"]), (&json!(3), &json!(1)), "{}", run.stderr);
    let rejects = std::fs::read_to_string(directory.join("r.tsv")).unwrap();
    let texts: Vec<&str> = rejects.lines().map(|line| line.rsplit('\t').next().unwrap()).collect();
    assert!(texts.ends_with(&["x", &format!("{BASE}b")]), "{rejects}");
}

#[test]
fn only_the_first_of_a_thousand_names_are_counted_separately() {
    let elements: String = (0..1000).map(|n| format!("<e{n}/><e{n}/>")).collect();
    let report = dropped(&format!("<urlset><url><loc>{BASE}a</loc>{elements}</url></urlset>"));
    let names = report.as_object().unwrap();
    assert_eq!(
        (names.len(), &names["e0"], &names["e63"], &names["…"]),
        (65, &json!(2), &json!(2), &json!(1872))
    );
}

#[test]
fn the_summary_counts_dropped_elements_over_all_inputs() {
    let directory = TempDir::new();
    for name in ["a", "b", "c", "d", "e"] {
        let xml = format!("<urlset><url><loc>{BASE}{name}</loc><video:video/><x\u{1b}y/></url></urlset>");
        directory.file(&format!("{name}.xml"), xml.replace("\u{1b}", "-"));
    }
    let mut build = crate::support::sitemill();
    build.current_dir(directory.path()).args([
        "build",
        "--base-url",
        BASE,
        "--out",
        "out",
        "--progress",
        "never",
    ]);
    build.args(["a.xml", "b.xml", "c.xml", "d.xml", "e.xml"]);
    let built = crate::support::finish(&mut build, b"").expect(0);
    let lines: Vec<String> =
        built.stderr.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let want = [
        "inputs 5 a.xml (sitemap), b.xml (sitemap), c.xml (sitemap) and 2 more",
        "elements 10 not carried over: 5 video:video, 5 x-y",
    ];
    for line in want {
        assert!(lines.iter().any(|there| there == line), "{line}, in:\n{}", built.stderr);
    }
}

#[test]
fn keys_of_json_lines_are_used_or_named_whatever_block_they_are_in() {
    let directory = TempDir::new();
    // Several blocks, with more names than are kept, some of them late.
    let row = |n: u32| match n {
        0 => format!("{{\"url\":\"{BASE}0\",\"sku\":1,\"name\":{{\"de\":1}}}}\n"),
        29_000 => format!("{{\"Loc\":\"{BASE}29000\",\"updated_at\":\"\",\"sku\":\"\",\"links\":5}}\n"),
        _ => format!(
            "{{\"sku\":{n},\"url\":\"{BASE}{n}\",\"priority\":0.5,\"name\":\"n\",\"in_stock\":null}}\n"
        ),
    };
    let text: String = (0..30_000).map(row).collect();
    directory.file("a.jsonl", &text);
    for threads in ["1", "4"] {
        let (_, report) = report_of(&directory, &["a.jsonl"], &["--threads", threads], b"");
        let want = json!({
            "used": { "url": "Loc", "priority": "priority" },
            // Most URLs were read from `url`.
            "unused": ["sku", "name", "in_stock", "updated_at", "links"],
        });
        assert_eq!(report["inputs"][0]["columns"], want);
    }
    let many: String = (0..30_000).map(|n| format!("{{\"url\":\"{BASE}{n}\",\"k{n}\":1}}\n")).collect();
    directory.file("b.jsonl", &many);
    for threads in ["1", "4"] {
        let (_, report) = report_of(&directory, &["b.jsonl"], &["--threads", threads], b"");
        let unused = report["inputs"][0]["columns"]["unused"].as_array().unwrap().clone();
        let want: Vec<Value> = (0..64).map(|n| json!(format!("k{n}"))).chain([json!("…")]).collect();
        assert_eq!(unused, want);
    }
}
