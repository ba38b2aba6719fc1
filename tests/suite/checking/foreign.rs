//! Files that other programs wrote: what is right is no finding, and what is wrong is named in plain words.

use std::fs;

use super::{check, lines, rules, sitemap};
use crate::support::{TempDir, build_command, finish, gzip, sitemill};

const GOOGLE: &str = "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\" \
                      xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"";

#[test]
fn texts_of_extensions_need_no_escaping_and_an_entry_has_one_finding_about_its_own_values() {
    let directory = TempDir::new();
    let with = |loc: &str, more: &str| sitemap(&format!("<url {GOOGLE}><loc>{loc}</loc>{more}</url>"));
    let image = "<image:image><image:loc>http://h.example/i.png</image:loc>\
                 <image:title><![CDATA[A & B]]></image:title></image:image>";
    let news = "<news:news><news:publication><news:name>It's</news:name><news:language>en</news:language>\
                </news:publication><news:publication_date>2024-05-01</news:publication_date>\
                <news:title>It's \"here\" > there</news:title></news:news>";
    let values = "<lastmod><![CDATA[2024-05-01]]></lastmod><changefreq><![CDATA[daily]]></changefreq>";
    for (xml, want) in [
        (with("http://h.example/a", &format!("{image}{news}")), &[][..]),
        (with("<![CDATA[http://h.example/a?b&c]]>", &format!("{values}{image}")), &["not-escaped"]),
        (with("http://h.example/a", values), &["not-escaped"]),
        (with("http://h.example/a&b", image), &["well-formed"]),
    ] {
        assert_eq!(rules(&directory.file("a.xml", &xml)), want, "{xml}");
    }
    let two = "<url><loc>http://h.example/it's</loc></url><url><loc>http://h.example/that's</loc></url>";
    assert_eq!(rules(&directory.file("a.xml", sitemap(two))), ["not-escaped", "not-escaped"]);
}

#[test]
fn optional_texts_may_be_empty_and_a_link_to_the_mobile_page_has_no_language() {
    let directory = TempDir::new();
    let video = "xmlns:video=\"http://www.google.com/schemas/sitemap-video/1.1\"";
    let namespaces = format!("{GOOGLE} {video} xmlns:xhtml=\"http://www.w3.org/1999/xhtml\"");
    let entry = |more: &str| sitemap(&format!("<url {namespaces}><loc>http://h.example/a</loc>{more}</url>"));
    let image = "<image:image><image:loc>http://h.example/i.png</image:loc><image:title></image:title>\
                 <image:caption/></image:image>";
    let news = |title: &str| {
        format!(
            "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language>\
             </news:publication><news:publication_date>2024-05-01</news:publication_date>\
             <news:title>{title}</news:title><news:keywords></news:keywords></news:news>"
        )
    };
    let video = |more: &str| {
        format!(
            "<video:video><video:thumbnail_loc>http://h.example/t.png</video:thumbnail_loc><video:title>T</video:title>\
             <video:description>D</video:description>{more}</video:video>"
        )
    };
    let content = "<video:content_loc>http://h.example/v.mp4</video:content_loc><video:player_loc/>\
                   <video:restriction relationship=\"allow\"/><video:platform relationship=\"deny\"/>";
    let others = "<image:image><image:loc>http://h.example/i.png</image:loc><image:license/></image:image>";
    let link = |more: &str| format!("<xhtml:link rel=\"alternate\" href=\"http://m.h.example/a\" {more}/>");
    for (xml, want) in [
        (entry(&format!("{image}{}", news("T"))), &[][..]),
        (entry(&news("")), &["news"]),
        (entry(&news("T").replace("keywords", "stock_tickers")), &[]),
        (entry(&format!("{others}{}", video(content))), &[]),
        (entry(&video("<video:player_loc/>")), &["video"]),
        (entry(&link("media=\"only screen and (max-width: 640px)\"")), &[]),
        (entry(&link("")), &["alternate"]),
    ] {
        assert_eq!(rules(&directory.file("a.xml", &xml)), want, "{xml}");
    }
}

#[test]
fn each_empty_url_is_a_finding_of_its_own_and_none_is_a_duplicate() {
    let directory = TempDir::new();
    let entries = "<url><loc/></url><url><loc> </loc></url><url/>";
    let file = directory.file("a.xml", sitemap(entries));
    assert_eq!(rules(&file), ["loc-grammar", "loc-grammar", "missing-element"]);
    let run = finish(sitemill().args(["check", "--quiet"]).arg(&file), b"").expect(65);
    assert!(lines(&run)[1].contains("entry 2: loc-grammar: the URL is empty"), "{:?}", lines(&run));
}

#[test]
fn urls_that_agree_as_far_as_they_are_read_are_no_duplicates() {
    let directory = TempDir::new();
    let long = format!("http://h.example/s?q={}", "a".repeat(4080));
    let loc = |url: &str| format!("<loc>{url}</loc>");
    let entries = |tag: &str| {
        format!("<{tag}>{}</{tag}><{tag}>{}</{tag}>", loc(&format!("{long}1")), loc(&format!("{long}2")))
    };
    let file = directory.file("a.xml", sitemap(&entries("url")));
    assert_eq!(rules(&file), ["loc-too-long", "loc-too-long"]);
    let index = sitemap(&entries("sitemap")).replace("urlset", "sitemapindex");
    assert_eq!(rules(&directory.file("index.xml", index)), ["loc-too-long", "loc-too-long"]);
    // Another value that is too long hides no duplicate.
    let dated = format!("<url>{}<lastmod>{}</lastmod></url>", loc("http://h.example/a"), "2".repeat(5000));
    let found = rules(&directory.file("b.xml", sitemap(&dated.repeat(2))));
    assert_eq!(found, ["lastmod", "lastmod", "duplicate"]);
}

#[test]
fn a_scope_that_is_not_checked_is_mentioned_and_counted() {
    let directory = TempDir::new();
    let url = |host: &str| format!("<url><loc>http://{host}.example/a</loc></url>");
    let file = directory.file("mm.xml", sitemap(&(url("x") + &url("y"))));
    let said = "scope not checked: the URL of the directory is unknown; use --base-url";
    for (path, options, is_said) in [
        (&*file, &[][..], true),
        (directory.path(), &[], true),
        (&file, &["--scope", "host"], true),
        (&file, &["--scope", "any"], false),
    ] {
        let run = finish(sitemill().arg("check").arg(path).args(options), b"").expect(0);
        assert_eq!(run.stderr.contains(said), is_said, "{options:?}: {}", run.stderr);
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        assert_eq!(check(path, &options).1["unknown_bases"], u64::from(is_said));
    }
    let options = ["--base-url=http://x.example/".to_owned()];
    let (found, summary) = check(&file, &options);
    assert_eq!((found.len(), &summary["unknown_bases"]), (1, &0.into()));
}

#[test]
fn files_that_are_no_sitemaps_are_called_what_they_are() {
    let directory = TempDir::new();
    let xml = sitemap("<url><loc>http://h.example/a</loc></url>");
    let padded = [&gzip(xml.as_bytes())[..], &[0; 512]].concat();
    assert_eq!(rules(&directory.file("padded.xml.gz", padded)), [""; 0]);
    let latin_1 = xml.replace("/a<", "/~<").into_bytes();
    let at = latin_1.iter().position(|&byte| byte == b'~').unwrap();
    let latin_1: Vec<u8> = latin_1.into_iter().map(|byte| if byte == b'~' { 0xfc } else { byte }).collect();
    let page = "root: an HTML page; the file was fetched from the wrong URL";
    let no_xml = "well-formed: text outside the root element (XML begins with <, and a text sitemap is a URL on each line)";
    let near = format!("entry 1: encoding: not UTF-8, near byte {at}");
    for (name, content, said) in [
        ("a.xml", b"<html/>".to_vec(), page),
        ("a.xml", b"<!DOCTYPE html>\n<html><br></html>".to_vec(), page),
        ("a.xml", b"\n<!doctype HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\">".to_vec(), page),
        ("a.xml", b"<!-- 404 --><HTML>".to_vec(), page),
        (
            "a.xml.gz",
            [&gzip(xml.as_bytes())[..], b"more"].concat(),
            "gzip: the gzip data ends, and other bytes follow",
        ),
        ("a.xml.gz", gzip(xml.as_bytes())[..40].to_vec(), "gzip: damaged: the gzip data ends too early"),
        ("sitemap.txt", b"# pages\nhttp://h.example/a\n".to_vec(), no_xml),
        ("a.xml", latin_1, &near),
    ] {
        let file = directory.file(name, content);
        let told = lines(&finish(sitemill().arg("check").arg(&file), b"").expect(65));
        assert!(told.len() == 1 && told[0].contains(&format!("{name}: {said}")), "{said}: {told:?}");
        let urls = finish(sitemill().args(["urls", "--quiet"]).arg(&file), b"").expect(65);
        let (_, words) = said.split_once(": ").unwrap();
        assert!(urls.stderr.contains(words), "{words}: {}", urls.stderr);
    }
    let run = finish(sitemill().args(["urls", "-"]), b"http://h.example/a\n").expect(66);
    assert!(run.stderr.contains("-: standard input is not read here; write it to a file"), "{}", run.stderr);
    let run =
        finish(sitemill().args(["check", "https://h.example/a.xml?X-Amz-Signature=5ec"]), b"").expect(2);
    assert!(
        run.stderr.contains("https://h.example/a.xml?…") && !run.stderr.contains("5ec"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_entity_between_elements_is_one_finding_and_a_month_has_no_day() {
    let directory = TempDir::new();
    let xml = sitemap("<url>&what;<loc>http://h.example/a</loc></url>");
    assert_eq!(rules(&directory.file("a.xml", xml)), ["entity"]);
    let news = "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language>\
                </news:publication><news:publication_date>2024-05</news:publication_date>\
                <news:title>T</news:title></news:news>";
    let xml = sitemap(&format!("<url {GOOGLE}><loc>http://h.example/a</loc>{news}</url>"));
    let told = lines(&finish(sitemill().arg("check").arg(directory.file("a.xml", xml)), b"").expect(65));
    assert!(
        told[0].contains("news: publication_date: a year or month alone, without a day: 2024-05"),
        "{told:?}"
    );
}

#[test]
fn an_index_file_of_another_program_next_to_a_named_set_is_no_set() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut build = build_command(&out, "http://h.example/");
    finish(build.args(["--name", "n"]), b"http://h.example/a\n").expect(0);
    let theirs = sitemap("<url><loc>http://h.example/old</loc></url>");
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap>\
                 <loc>http://h.example/news.xml</loc></sitemap></sitemapindex>";
    for (name, text) in [("sitemap-index-1.xml", index), ("news.xml", &theirs), ("old.xml", &theirs)] {
        fs::write(out.join(name), text).unwrap();
    }
    let urls = finish(sitemill().arg("urls").arg(&out), b"").expect(0);
    assert_eq!(lines(&urls), ["http://h.example/a"]);
    assert_eq!(rules(&out), [""; 0]);
}
