//! `sitemill urls` lists the URLs of a set.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::corpus::{Corpus, Recipe};
use crate::support::{TempDir, build_command, files, finish, gzip, published, sitemill};

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
        (&["long.xml"], 1, "entry 2: a value of more than 4,096 bytes; clean lists its valid URLs\n"),
        (&["late.xml"], 0, "entry 1: a value of more than 4,096 bytes; clean lists its valid URLs\n"),
        (
            &["good.xml", "missing.xml"],
            2,
            "missing.xml; if http://h.example/missing.xml is elsewhere, give the sitemaps instead of the index file",
        ),
        (
            &["good.xml", "sitemap-00002-1f2e3d4c.xml.gz"],
            2,
            "sitemap-00002-1f2e3d4c.xml.gz; run build again to restore it; if http://h.example/sitemap-",
        ),
        (&["good.xml", "good.xml?a"], 2, "not a file in the same directory"),
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
fn entries_without_a_url_are_left_out_and_counted() {
    let directory = TempDir::new();
    let entries = "<url><loc/><priority>0.5</priority></url><url><loc> </loc></url><url/></urlset>";
    let file = directory.file("a.xml", TAGS.replace("</urlset>", entries));
    let feed =
        "<rss><channel><item><link>http://h.example/a</link></item><item><link/></item></channel></rss>";
    let paths = [file, directory.file("a.rss", feed)];
    for format in [&[][..], &["--json"]] {
        let run = finish(sitemill().arg("urls").args(format).args(&paths), b"").expect(0);
        assert_eq!(run.stdout.split(|&byte| byte == b'\n').count() - 1, 3);
        let said = "3 URLs in 2 sitemaps; 4 entries without a URL left out\n";
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let run = finish(sitemill().arg("diff").args(&paths), b"").expect(0);
    let said =
        "1 added, 2 removed, 0 changed, 0 unchanged; 2 sitemaps read; 4 entries without a URL left out\n";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_sitemap_above_the_limit_of_the_protocol_is_listed_or_the_way_out_is_named() {
    let directory = TempDir::new();
    let sitemap = |own: &str, kib: usize| {
        let entry = |n: usize| format!("<url><loc>{BASE}{n}</loc></url>{}\n", " ".repeat(1 << 10));
        let entries: String = (0..kib).map(entry).collect();
        directory.file("a.xml", format!("<urlset xmlns='{own}'>{entries}</urlset>"))
    };
    let lines = |listed: &[u8]| listed.split(|&byte| byte == b'\n').count() - 1;
    assert_eq!(lines(&urls(&[], &sitemap(OWN_0_84, 10 << 10))), 10 << 10);
    let file = sitemap(OWN, 50 << 10);
    for command in ["urls", "diff"] {
        let files = if command == "diff" { &[&file, &file][..] } else { &[&file] };
        let run = finish(sitemill().arg(command).args(files), b"").expect(65);
        let said = "the rest was not read; build and clean read sitemaps of any size";
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
    let clean = finish(sitemill().args(["clean", "--quiet"]).arg(&file), b"").expect(0);
    assert_eq!(lines(&clean.stdout), 50 << 10);
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

/// A sitemap in the namespace `own` that declares the usual extensions, and whose only entry has `tags`.
fn with_tags(own: &str, tags: &str) -> String {
    let google = "http://www.google.com/schemas";
    format!(
        "<urlset xmlns='{own}' xmlns:xhtml='http://www.w3.org/1999/xhtml' xmlns:image='{google}/sitemap-image/1.1' \
         xmlns:video='{google}/sitemap-video/1.1' xmlns:news='{google}/sitemap-news/0.9'>\
         <url><loc>{BASE}a</loc>{tags}</url></urlset>"
    )
}

const OWN: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const OWN_0_84: &str = "http://www.google.com/schemas/sitemap/0.84";

#[test]
fn an_ambiguous_value_ends_the_listing_of_tags() {
    let directory = TempDir::new();
    let (date, name) = ("<lastmod>2020-01-01</lastmod>", "<news:name>n</news:name>");
    let image =
        |more: &str| format!("<image:image><image:loc>{BASE}i.png</image:loc>{more}</image:image>{date}");
    for (tags, said, is_date) in [
        (&date.repeat(2)[..], "two values of lastmod", true),
        ("<lastmod>2020<b/>-01-01</lastmod>", "an element in lastmod", true),
        ("<priority>0.5</priority><priority>0.6</priority>", "two values of priority", false),
        ("<changefreq>dai<b>l</b>ly</changefreq>", "an element in changefreq", false),
        (&image("<image:title/><image:title>t</image:title>"), "two values of title in an image", false),
        (&image("<image:title>t<b/></image:title>"), "an element in title in an image", false),
        (
            "<video:video><video:uploader info='i'>u</video:uploader><video:uploader info='j'/></video:video>",
            "two values of uploader in a video",
            false,
        ),
        (
            &format!(
                "<news:news>{}</news:news>",
                format!("<news:publication>{name}</news:publication>").repeat(2)
            ),
            "two values of name in an article",
            false,
        ),
    ] {
        let file = directory.file("a.xml", with_tags(OWN, tags));
        let said = format!("a.xml: entry 1: {said} for {BASE}a; correct the sitemap");
        for format in ["--tsv", "--json"] {
            let run = finish(sitemill().args(["urls", format]).arg(&file), b"").expect(65);
            assert!(run.stderr.contains(&format!("{said}, or list its URLs without tags")), "{}", run.stderr);
        }
        assert_eq!(urls(&[], &file), format!("{BASE}a\n").as_bytes());
        let run =
            finish(sitemill().arg("diff").args([&file, &file]), b"").expect(if is_date { 65 } else { 0 });
        assert_eq!(run.stderr.contains(&format!("{said}\n")), is_date, "{}", run.stderr);
    }
    let (date, link) = ("<pubDate>7 Sep 2002 09:42 GMT</pubDate>", format!("<link>{BASE}a</link>"));
    for (item, options, said) in [
        (format!("{link}{date}{date}"), &["--json"][..], Some("two values of lastmod")),
        (format!("{link}<pubDate>7 Sep<b/></pubDate>"), &["--json"], Some("an element in lastmod")),
        (format!("{link}<pubDate/>{date}"), &["--json"], None),
        (format!("<link>{BASE}<b/>a</link>"), &[], Some("element b is not allowed here")),
        (format!("<guid>{BASE}<b/>a</guid>"), &[], Some("an element in the guid that is the URL")),
        (format!("{link}<guid>x<b/></guid>"), &[], None),
    ] {
        let feed = format!("<rss><channel><item>{item}</item></channel></rss>");
        let run = sitemill().arg("urls").args(options).arg(directory.file("a.rss", feed)).output().unwrap();
        assert_eq!(run.status.code(), Some(if said.is_some() { 65 } else { 0 }), "{item}");
        let stderr = String::from_utf8(run.stderr).unwrap();
        assert!(said.is_none_or(|said| stderr.contains(said)), "{item}: {stderr}");
    }
    // The dates in an index file are not listed.
    let dates = "<lastmod>2020-01-01</lastmod>".repeat(2);
    let index = format!(
        "<sitemapindex xmlns='{OWN}'><sitemap><loc>{BASE}b.xml</loc>{dates}</sitemap></sitemapindex>"
    );
    directory.file("b.xml", with_tags(OWN, ""));
    urls(&["--json"], &directory.file("index.xml", index));
}

#[test]
fn a_build_of_the_listed_tags_publishes_what_a_build_of_the_sitemap_does() {
    let directory = TempDir::new();
    let link =
        |name: &str, more: &str| format!("<{name} {more} href='{BASE}de' hreflang='de' rel='alternate'/>");
    let image = |prefix: &str, more: &str| {
        format!("<{prefix}image {more}><{prefix}loc>{BASE}i.png</{prefix}loc></{prefix}image>")
    };
    let xhtml = "http://www.w3.org/1999/xhtml";
    let tag = |number: u32| format!("<video:tag>tag {number}</video:tag>");
    let video = |tags: String| {
        format!(
            "<video:video><video:thumbnail_loc>{BASE}v.png</video:thumbnail_loc><video:title>t</video:title>\
             <video:description>d</video:description><video:content_loc>{BASE}v.mp4</video:content_loc>{tags}</video:video>"
        )
    };
    let news = "<news:news><news:publication><news:name>n</news:name></news:publication><news:publication>\
                <news:language>en</news:language></news:publication><news:title>t</news:title>\
                <news:publication_date>2024-05-01</news:publication_date></news:news>";
    let date = "<lastmod>2024-05-01</lastmod>";
    for (own, tags, published_tag) in [
        (OWN_0_84, link("xhtml:link", ""), "<xhtml:link"),
        (OWN_0_84, image("image:", ""), "<image:image>"),
        (OWN, link("link", ""), "<xhtml:link"),
        (OWN, link("link", &format!("xmlns='{xhtml}'")), "<xhtml:link"),
        (OWN, link("x:link", "xmlns:x='http://www.w3.org/2002/03/xhtml'"), "<xhtml:link"),
        (OWN, image("", ""), "<image:image>"),
        (OWN, image("", "xmlns='http://www.google.com/schemas/sitemap-image/1.1'"), "<image:image>"),
        (OWN, image("image:", "xmlns:image='http://www.google.com/schemas/sitemap-image'"), "<image:image>"),
        (OWN, image("undeclared:", ""), "<image:image>"),
        (
            OWN,
            image("", "").replace("</loc>", &format!("</loc><title>t</title><loc>{BASE}j.png</loc>")),
            "j.png",
        ),
        (OWN, link("xhtml:link", "").replace("de'", "\r\n\td&#101;'"), "<xhtml:link"),
        (OWN, video((1..=32).map(tag).collect()), "<video:tag>tag 32<"),
        (OWN, video((1..=34).map(tag).collect()), "<video:video>"),
        (OWN, news.into(), "<news:language>en<"),
        (OWN, format!("<lastmod/>{date}"), date),
        (OWN, format!("{date}<lastmod> </lastmod>"), date),
        (OWN, format!("<lastmod xmlns='{OWN_0_84}'>2024-05-01</lastmod>"), date),
        (OWN, "<lastmod xmlns=''>2024-05-01</lastmod>".into(), date),
        (
            OWN,
            "<lastmod xml:space='preserve'> 2024<!-- c -->-05<?pi?>-0<![CDATA[1]]>\n</lastmod>".into(),
            date,
        ),
        (OWN, format!("<other:lastmod xmlns:other='urn:x'>2023-05-01</other:lastmod>{date}"), date),
        (
            OWN,
            format!("{}<x:link xmlns:x='urn:x'/><priority>0.5</priority>", image("y:", "xmlns:y='urn:y'")),
            "<priority>",
        ),
    ] {
        let build = |name: &str, input: &[u8]| {
            let out = directory.join(name);
            finish(
                build_command(&out, BASE).args(["--max-shrink", "100"]).arg(directory.file("in", input)),
                b"",
            )
            .expect(0);
            published(&out, BASE).split_off(1)
        };
        let xml = with_tags(own, &tags);
        let want = build("of-the-sitemap", xml.as_bytes());
        assert!(want[0].1.contains(published_tag), "{tags}: {}", want[0].1);
        let file = directory.file("a.xml", xml);
        for format in ["--json", "--tsv"] {
            assert_eq!(build("of-the-list", &urls(&[format], &file)), want, "{tags}, {format}");
        }
    }
}

#[test]
fn all_tags_of_a_video_are_listed() {
    let directory = TempDir::new();
    let tags: String = (1..=40).map(|number| format!("<video:tag>{number}</video:tag>")).collect();
    let file = directory.file("a.xml", with_tags(OWN, &format!("<video:video>{tags}</video:video>")));
    let json: serde_json::Value = serde_json::from_slice(&urls(&["--json"], &file)).unwrap();
    let want: Vec<String> = (1..=40).map(|number: u32| number.to_string()).collect();
    assert_eq!(json["videos"][0]["tag"], serde_json::json!(want));
}

#[test]
fn a_file_in_another_charset_or_packing_is_named_with_what_to_do() {
    let directory = TempDir::new();
    let (xml, marked) = (with_tags(OWN, ""), format!("\u{feff}{}", with_tags(OWN, "")));
    let utf_16 =
        |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let utf_32 = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>();
    let utf_16_says = "encoding: UTF-16; convert it to UTF-8";
    for (bytes, says) in [
        (utf_16(&xml, u16::to_le_bytes), utf_16_says),
        (utf_16(&xml, u16::to_be_bytes), utf_16_says),
        (utf_16(&marked, u16::to_le_bytes), utf_16_says),
        (gzip(&utf_16(&marked, u16::to_be_bytes)), utf_16_says),
        (utf_32(&xml), "encoding: UTF-32; convert it to UTF-8"),
        (utf_32(&marked), "encoding: UTF-32; convert it to UTF-8"),
        (gzip(&gzip(xml.as_bytes())), "gzip: compressed twice; decompress it once"),
        (zstd::encode_all(xml.as_bytes(), 1).unwrap(), "compressed with zstd; decompress it, or use gzip"),
        (b"BZh91AY".to_vec(), "compressed with bzip2; decompress it, or use gzip"),
        (b"\xFD7zXZ\0".to_vec(), "compressed with xz; decompress it, or use gzip"),
        (gzip(b"PK\x03\x04"), "a zip archive; extract the sitemap from it"),
    ] {
        let file = directory.file("a.xml.gz", bytes);
        for command in ["urls", "check"] {
            let run = finish(sitemill().arg(command).arg(&file), b"").expect(65);
            let said = String::from_utf8(run.stdout).unwrap() + &run.stderr;
            assert!(said.contains(says), "{command}: {said}");
        }
    }
}
