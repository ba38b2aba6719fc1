//! `sitemill urls` lists the URLs of a set.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::corpus::{Corpus, Recipe};
use crate::support::{TempDir, build_command, files, finish, gzip, sitemill};

const BASE: &str = "https://www.example.com/";

fn urls(args: &[&str], path: &Path) -> Vec<u8> {
    finish(sitemill().args(["urls", "--quiet"]).args(args).arg(path), b"").expect(0).stdout
}

#[test]
fn urls_lists_the_canonical_urls_of_a_built_set() {
    let recipe = Recipe { lines: 50_000, duplicates: 0.2, non_ascii: 0.2, bad: 0.1, ..Recipe::default() };
    let text = Corpus::new(&recipe).unwrap().text();
    let clean = finish(sitemill().args(["clean", "--quiet"]), &text).expect(0).stdout;
    let mut met = HashSet::new();
    let want: Vec<u8> = clean
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(BASE.as_bytes()) && met.insert(*line))
        .flatten()
        .copied()
        .collect();
    let directory = TempDir::new();
    for protocol in ["0.9", "0.84"] {
        let out = directory.join(protocol);
        let options = ["--protocol", protocol, "--level", "1"];
        let limits = ["--urls-per-sitemap", "1000", "--sitemaps-per-index", "3"];
        finish(build_command(&out, BASE).args(options).args(limits), &text).expect(0);
        assert!(
            files(&out).iter().filter(|file| file.contains("index")).count() > 10,
            "index file 10 must come after 9"
        );
        assert!(urls(&[], &out) == want, "by the robots lines");
        assert!(urls(&["--threads", "3"], &out) == want);
        fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
        assert!(urls(&[], &out) == want, "by the names of the index files");
        for index in files(&out).iter().filter(|file| file.contains("index")) {
            fs::remove_file(out.join(index)).unwrap();
        }
        assert!(urls(&[], &out) == want, "by the names of the sitemaps");
    }
}

const TAGS: &str = r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
    xmlns:x="http://www.w3.org/1999/xhtml" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://h.example/?a=1&amp;b=&#50; </loc><lastmod>2005-06-03</lastmod><priority>0.5</priority></url>
<url><loc>http://h.example/it&apos;s</loc>
  <x:link rel="alternate" hreflang="de" href="http://h.example/de?a&amp;b"/>
  <i:image><i:loc>http://h.example/i.png</i:loc></i:image></url>
</urlset>"#;

#[test]
fn tags_are_written_on_request() {
    let directory = TempDir::new();
    let file = directory.file("a.xml", TAGS);
    assert_eq!(urls(&[], &file), b"http://h.example/?a=1&b=2\nhttp://h.example/it's\n");
    let tsv = concat!(
        "loc\tlastmod\tchangefreq\tpriority\talternates\timages\tvideos\tnews\n",
        "http://h.example/?a=1&b=2\t2005-06-03\t\t0.5\t\t\t\t\n",
        "http://h.example/it's\t\t\t\t",
        r#"[{"href":"http://h.example/de?a&b","hreflang":"de"}]"#,
        "\t",
        r#"["http://h.example/i.png"]"#,
        "\t\t\n",
    );
    assert_eq!(str::from_utf8(&urls(&["--tsv"], &file)).unwrap(), tsv);
    let json = concat!(
        r#"{"lastmod":"2005-06-03","loc":"http://h.example/?a=1&b=2","priority":"0.5"}"#,
        "\n",
        r#"{"alternates":[{"href":"http://h.example/de?a&b","hreflang":"de"}],"images":["http://h.example/i.png"],"#,
        r#""loc":"http://h.example/it's"}"#,
        "\n"
    );
    assert_eq!(str::from_utf8(&urls(&["--json"], &file)).unwrap(), json);
    let packed = directory.file("b.xml.gz", gzip(TAGS.as_bytes()));
    assert_eq!(urls(&["--json"], &packed), json.as_bytes());
}

#[test]
fn a_broken_file_is_named_after_the_urls_before_it() {
    let directory = TempDir::new();
    let index = |names: &[&str]| {
        let entry = |name: &&str| format!("<sitemap><loc>http://h.example/{name}</loc></sitemap>");
        let entries: String = names.iter().map(entry).collect();
        format!(
            "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</sitemapindex>"
        )
    };
    directory.file("good.xml", TAGS);
    directory.file("cut.xml", &TAGS[..TAGS.len() - 30]);
    let packed = gzip(TAGS.as_bytes());
    directory.file("cut.xml.gz", &packed[..packed.len() - 4]);
    directory.file("entity.xml", TAGS.replace("it&apos;s", "it&rsquo;s"));
    directory.file("line.xml", TAGS.replace("it&apos;s", "&#10;http://evil.example/"));
    directory.file("two.xml", TAGS.replace("it&apos;s</loc>", "a</loc><loc>http://h.example/b</loc>"));
    directory.file("empty.xml", TAGS.replace("<loc>http://h.example/it", "<loc/><loc>http://h.example/it"));
    let other =
        "<url xmlns=\"http://www.google.com/schemas/sitemap/0.84\"><loc>http://h.example/c</loc></url>";
    directory.file("other.xml", TAGS.replace("</urlset>", &format!("{other}</urlset>")));
    directory.file("nested.xml", TAGS.replace("</urlset>", &format!("<url>{other}</url></urlset>")));
    directory.file("inside.xml", TAGS.replace("it&apos;s", "it<b>s</b>"));
    let item = |links: &str| format!("<item>{links}</item>");
    let (link, other) = ("<link>http://h.example/a</link>", "<link>http://h.example/b</link>");
    let items = item(link) + &item(&format!("{link}{other}"));
    directory.file("two.rss", format!("<rss><channel>{items}</channel></rss>"));
    directory.file("index.xml", index(&["good.xml"]));
    directory.file("long.xml", TAGS.replace("it&apos;s", &"x".repeat(4_096)));
    directory.file("late.xml", TAGS.replace("<loc> ", &format!("<loc>{}", " ".repeat(4_096))));
    for (names, lines, says) in [
        (&["good.xml", "cut.xml"][..], 3, "cut.xml"),
        (&["cut.xml.gz", "good.xml"], 2, "gzip"),
        (&["entity.xml"], 1, "&rsquo;"),
        (&["line.xml"], 1, "entry 2: a URL with a control character"),
        (&["two.xml"], 1, "two.xml: entry 2: repeated-element: loc twice"),
        (&["empty.xml"], 1, "empty.xml: entry 2: repeated-element: loc twice"),
        (&["inside.xml"], 1, "inside.xml: entry 2: unknown-element: element b is not allowed here"),
        (&["other.xml"], 2, "other.xml: entry 2: unknown-element: element url is not allowed here"),
        (&["nested.xml"], 2, "nested.xml: entry 3: unknown-element: element url is not allowed here"),
        (&["two.rss"], 1, "two.rss: entry 2: repeated-element: two elements for loc"),
        (&["long.xml"], 1, "entry 2: a value of more than 4096 bytes"),
        (&["late.xml"], 0, "entry 1: a value of more than 4096 bytes"),
        (&["good.xml", "missing.xml"], 2, "missing.xml"),
        (&["good.xml", "../good.xml"], 2, "not a file in the same directory"),
        (&["good.xml", "index.xml"], 2, "index.xml"),
    ] {
        let file = directory.file("sitemap-index-1.xml", index(names));
        let run = finish(sitemill().args(["urls", "--quiet"]).arg(&file), b"").expect(65);
        assert_eq!(run.stdout.split(|&byte| byte == b'\n').count() - 1, lines, "{names:?}");
        assert!(run.stderr.contains(says), "{names:?}: {}", run.stderr);
    }
    for no_sitemap in ["<html/>", "<urlset/>", "", "no URL\n"] {
        let run = finish(sitemill().arg("urls").arg(directory.file("page.xml", no_sitemap)), b"").expect(65);
        assert!(run.stderr.contains("page.xml: "), "{}", run.stderr);
    }
    finish(sitemill().args(["urls", "missing.xml"]), b"").expect(66);
}

#[test]
fn a_space_in_a_url_is_listed_as_it_is_published() {
    let directory = TempDir::new();
    let file = directory.file("a.xml", TAGS.replace("it&apos;s", "it is"));
    assert_eq!(urls(&[], &file), b"http://h.example/?a=1&b=2\nhttp://h.example/it is\n");
    for format in ["--tsv", "--json"] {
        let listed = directory.file("listed", urls(&[format], &file));
        let again = finish(sitemill().args(["clean", "--quiet"]).arg(&listed), b"").expect(0);
        let want = finish(sitemill().args(["clean", "--quiet"]).arg(&file), b"").expect(0);
        assert!(again.stdout == want.stdout && want.stdout.ends_with(b"/it%20is\n"), "{format}");
    }
}
