//! Index files from other programs: every sitemap in them is read once, or something says that it is not.

mod elsewhere;
mod foreign;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::support::{Run, TempDir, build_command, files, finish, sitemill};

const BASE: &str = "https://www.example.com/";
const XMLNS: &str = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
const XMLNS_0_84: &str = "xmlns=\"http://www.google.com/schemas/sitemap/0.84\"";

fn sitemap(urls: &[&str]) -> String {
    let entries: String = urls.iter().map(|url| format!("<url><loc>{BASE}{url}</loc></url>")).collect();
    format!("<urlset {XMLNS}>{entries}</urlset>")
}

/// An index file of these sitemaps.
fn index(locs: &[&str]) -> String {
    let entries: String = locs.iter().map(|loc| format!("<sitemap><loc>{loc}</loc></sitemap>")).collect();
    format!("<sitemapindex {XMLNS}>{entries}</sitemapindex>")
}

fn urls(path: &Path) -> Run {
    finish(sitemill().args(["urls", "--quiet"]).arg(path), b"")
}

/// The rules that are violated, with what was found, and the summary.
fn check(directory: &Path) -> (Vec<(String, String)>, Value) {
    let run = finish(sitemill().args(["check", "--json"]).arg(directory), b"");
    let lines = run.stdout.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut lines: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let summary = lines.pop().unwrap();
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    (lines.iter().map(|line| (text(line, "rule"), text(line, "words"))).collect(), summary)
}

#[test]
fn an_index_file_of_which_something_is_not_read_is_refused() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1"]));
    let whole = index(&[&format!("{BASE}a.xml")]);
    let file = directory.file("index.xml", &whole);
    let input = directory.file("urls.txt", format!("{BASE}base\n"));
    let build = || finish(build_command(&directory.join("out"), BASE).arg(&file).arg(&input), b"");
    build().expect(0);
    assert_eq!(urls(&file).expect(0).stdout, format!("{BASE}1\n").as_bytes());

    let entry = format!("<sitemap><loc>{BASE}a.xml</loc></sitemap>");
    let with = |more: &str| whole.replace(&entry, &format!("{entry}{more}"));
    for (damaged, said) in [
        (whole.replace("http:", "https:"), "in no namespace of the protocol"),
        (whole.replace(XMLNS, ""), "in no namespace of the protocol"),
        (whole.replace(&entry, ""), "no entry"),
        (whole.replace("sitemap>", "url>"), "element url is not allowed here"),
        (with("<sitemap/>"), "entry 2: missing-element: no loc"),
        (with("<sitemap><loc> </loc></sitemap>"), "entry 2: its loc is empty"),
        (
            whole.replace(
                &entry,
                &format!("{}{entry}", entry.replacen("<sitemap>", &format!("<sitemap {XMLNS_0_84}>"), 1)),
            ),
            "element sitemap is not allowed here",
        ),
        (
            whole.replace(&entry, &format!("<x:sitemap xmlns:x=\"http://h.example/\"/>{entry}")),
            "element x:sitemap is not allowed here",
        ),
        (whole.replace("</loc>", &format!("</loc><loc>{BASE}b.xml</loc>")), "loc twice"),
        (
            whole.replace("</loc>", &format!("</loc>{entry}")),
            "entry 1: unknown-element: element sitemap is not allowed here",
        ),
    ] {
        directory.file("index.xml", &damaged);
        for run in [build().expect(65), urls(&file).expect(65)] {
            assert!(
                run.stderr.contains("index.xml: ") && run.stderr.contains(said),
                "{said}: {}",
                run.stderr
            );
        }
    }
    // Other programs write tags that an index file may not have. Nothing is lost with them.
    for tag in ["<priority>1.0</priority>", "<x:note xmlns:x=\"http://h.example/\">1</x:note>"] {
        directory.file("index.xml", whole.replace("</loc>", &format!("</loc>{tag}")));
        build().expect(0);
        urls(&file).expect(0);
    }
}

#[test]
fn a_directory_of_another_program_is_read_once() {
    for name in ["sitemap.xml", "sitemap_index.xml", "sitemap-index.xml", "sitemap-index-1.xml", "z.xml"] {
        let directory = TempDir::new();
        let listed = [format!("{BASE}sitemap-0.xml"), format!("{BASE}sitemap-1.xml")];
        directory.file("sitemap-0.xml", sitemap(&["1", "2"]));
        directory.file("sitemap-1.xml", sitemap(&["3"]));
        directory.file(name, index(&[&listed[0], &listed[1]]));
        let (findings, summary) = check(directory.path());
        assert_eq!(findings, [], "{name}");
        let counts =
            ["files", "sitemaps", "indexes", "urls", "not_followed"].map(|key| summary[key].as_u64());
        assert_eq!(counts, [3, 2, 1, 3, 0].map(Some), "{name}");
        let all: Vec<u8> =
            ["1", "2", "3"].iter().flat_map(|url| format!("{BASE}{url}\n").into_bytes()).collect();
        assert_eq!(urls(directory.path()).expect(0).stdout, all, "{name}");

        // Two index files with the same sitemaps. Only sitemill's own names stand out from others.
        let other = if name == "sitemap-index-1.xml" { "sitemap-index-2.xml" } else { "other.xml" };
        directory.file(other, index(&[&listed[0], &listed[0]]));
        let (findings, _) = check(directory.path());
        assert!(!findings.is_empty() && findings.iter().all(|(rule, _)| rule == "duplicate"), "{findings:?}");
        assert_eq!(urls(directory.path()).expect(0).stdout, all, "{name}");
    }
}

#[test]
fn an_index_file_in_an_index_file_is_found_in_either_order() {
    for (outer, inner) in
        [("a.xml", "b.xml"), ("b.xml", "a.xml"), ("sitemap-index-1.xml", "sitemap-index-2.xml")]
    {
        let directory = TempDir::new();
        directory.file("sitemap-0.xml", sitemap(&["1"]));
        directory.file(outer, index(&[&format!("{BASE}{inner}")]));
        directory.file(inner, index(&[&format!("{BASE}sitemap-0.xml")]));
        let rules: Vec<_> = check(directory.path()).0.into_iter().map(|(rule, _)| rule).collect();
        assert_eq!(rules, ["index-of-indexes"], "{outer} lists {inner}");
    }
}

#[test]
fn sitemaps_that_are_not_beside_their_index_file_are_counted_or_reported() {
    let elsewhere = "https://other.example/b.xml";
    let out_of_scope = ("out-of-scope".to_owned(), format!("not below {BASE}: {elsewhere}"));
    let beside = format!("{BASE}a.xml");
    let gone = ("missing-file".to_owned(), format!("there is no such file: {BASE}gone.xml"));
    let deeper = "https://www.example.com/deeper/z.xml";
    let twice = ("duplicate".to_owned(), format!("listed before: {deeper}"));
    for (locs, findings, not_followed) in [
        (&[&*beside, elsewhere][..], &[out_of_scope.clone()][..], 0),
        (&[elsewhere, &beside], &[out_of_scope], 0),
        (&[deeper, &beside], &[], 1),
        (&["https://www.example.com/deeper/y.xml", deeper, &beside], &[], 2),
        (&[deeper, &beside, deeper], &[twice], 1),
        (&["https://www.example.com/sitemap.php?page=1", &beside], &[], 1),
        (&[&beside, "https://www.example.com/gone.xml"], &[gone], 0),
    ] {
        let directory = TempDir::new();
        directory.file("a.xml", sitemap(&["1"]));
        directory.file("sitemap_index.xml", index(locs));
        let (found, summary) = check(directory.path());
        assert_eq!(found, findings, "{locs:?}");
        assert_eq!(
            (&summary["not_followed"], &summary["urls"]),
            (&not_followed.into(), &1.into()),
            "{locs:?}"
        );
    }
}

#[test]
fn an_index_file_named_alone_is_followed_to_the_sitemaps_beside_it() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1", "2"]));
    let [beside, gone, deeper, itself] =
        ["a.xml", "gone.xml", "deeper/b.xml", "index.xml"].map(|name| format!("{BASE}{name}"));
    let is_missing = ("missing-file".to_owned(), format!("there is no such file: {gone}"));
    let is_repeated = ("duplicate".to_owned(), format!("listed before: {gone}"));
    let is_index = ("index-of-indexes".to_owned(), format!("this is an index file: {itself}"));
    for (locs, findings, counts) in [
        (&[&*beside, &deeper][..], &[][..], [1, 1, 2, 1]),
        (&[&beside, &gone], &[is_missing], [1, 1, 2, 0]),
        (&[&itself], &[is_index], [0, 1, 0, 0]),
        // A copy without the sitemaps.
        (&[&gone, &deeper], &[], [0, 1, 0, 2]),
        (&[&gone, &deeper, &gone], &[is_repeated], [0, 1, 0, 2]),
    ] {
        let (found, summary) = check(&directory.file("index.xml", index(locs)));
        assert_eq!(found, findings, "{locs:?}");
        let counted = ["sitemaps", "indexes", "urls", "not_followed"].map(|key| summary[key].as_u64());
        assert_eq!(counted, counts.map(Some), "{locs:?}");
    }
}

#[test]
fn an_index_file_is_not_taken_for_the_sitemap_of_another_directory_that_has_its_name() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1"]));
    let input = directory.file("urls.txt", format!("{BASE}base\n"));
    let deeper = format!("{BASE}de/index.xml");
    for locs in [&[&*deeper][..], &[&deeper, &format!("{BASE}fr/index.xml")]] {
        let file = directory.file("index.xml", index(locs));
        let build = finish(build_command(&directory.join("out"), BASE).arg(&file).arg(&input), b"");
        let diff = finish(sitemill().args(["diff", "--quiet"]).args([&file, &input]), b"");
        for run in [urls(&file), urls(directory.path()), diff, build] {
            let said = "index.xml: entry 1: has the name of the index file itself, and ";
            let stderr = run.expect(65).stderr;
            assert!(stderr.contains(said) && stderr.contains(&deeper), "{stderr}");
        }
    }
    // A sitemap beside the index file shows its directory.
    let file = directory.file("index.xml", index(&[&format!("{BASE}a.xml"), &deeper]));
    assert!(urls(&file).expect(65).stderr.contains("entry 2: not a file in the same directory"));
}

#[test]
fn sitemaps_in_directories_below_that_of_their_index_file_are_read() {
    let directory = TempDir::new();
    for file in ["de/sitemap-1.xml", "fr/a b/sitemap-1.xml", "fr/sitemap.xml"] {
        fs::create_dir_all(directory.join(file).parent().unwrap()).unwrap();
        directory.file(file, sitemap(&[&file.replace(' ', "-")]));
    }
    let [de, space, same, beside] =
        ["de/sitemap-1.xml", "fr/a%20b/sitemap-1.xml", "fr/sitemap.xml", "sitemap-1.xml"]
            .map(|name| format!("{BASE}{name}"));
    let [gone, gone_below] =
        ["gone.xml", "de/sitemap-2.xml"].map(|name| missing(&format!("there is no such file: {BASE}{name}")));
    for (locs, findings, not_followed, urls) in [
        (&[&*de][..], &[][..], 0, 1),
        (&[&space, &de], &[], 0, 2),
        (&[&same], &[], 0, 1),
        (&[&de, &format!("{BASE}gone.xml")], &[gone], 0, 1),
        // Nothing tells that the directory is here.
        (&[&de, &format!("{BASE}es/sitemap-1.xml")], &[], 1, 1),
        // One below it is missing if another one is there.
        (&[&de, &format!("{BASE}de/sitemap-2.xml")], &[gone_below], 0, 1),
        // A file of the same name is beside the index file.
        (&[&de, &beside], &[], 0, 2),
    ] {
        if locs.contains(&&*beside) {
            directory.file("sitemap-1.xml", sitemap(&["1"]));
        }
        directory.file("sitemap.xml", index(locs));
        let (found, summary) = check(directory.path());
        assert_eq!(found, findings, "{locs:?}");
        assert_eq!(
            (&summary["not_followed"], &summary["urls"]),
            (&not_followed.into(), &urls.into()),
            "{locs:?}"
        );
    }
    let file = directory.file("sitemap.xml", index(&[&same]));
    assert_eq!(check(&file).0, [], "it is not the index file itself");
}

/// A finding as [`check`] returns it.
fn missing(said: &str) -> (String, String) {
    ("missing-file".to_owned(), said.to_owned())
}

#[test]
fn a_link_to_a_sitemap_is_not_followed_and_called_a_link() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1"]));
    let elsewhere = TempDir::new();
    symlink(elsewhere.file("b.xml", sitemap(&["2"])), directory.join("b.xml")).unwrap();
    let file =
        directory.file("sitemap_index.xml", index(&[&format!("{BASE}a.xml"), &format!("{BASE}b.xml")]));
    let said = "it is not a regular file, and links are not followed";
    let (findings, _) = check(directory.path());
    assert_eq!(findings, ["b.xml", &format!("{BASE}b.xml")].map(|link| missing(&format!("{said}: {link}"))));
    assert!(urls(&file).expect(65).stderr.contains(said));
}

#[test]
fn a_link_to_an_index_file_or_a_sitemap_of_a_set_is_one_finding_and_ends_urls_and_diff() {
    let directory = TempDir::new();
    let [out, old] = ["out", "old"].map(|name| directory.join(name));
    for (place, input) in [(&old, "3"), (&out, "1")] {
        finish(&mut build_command(place, BASE), format!("{BASE}{input}\n").as_bytes()).expect(0);
    }
    let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    let said = "it is not a regular file, and links are not followed";
    for file in ["sitemap-index-1.xml", &sitemap] {
        let (path, elsewhere) = (out.join(file), directory.join("elsewhere"));
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let (findings, _) = check(&out);
        assert!(matches!(&findings[..], [(_, words)] if words.contains(said)), "{findings:?}");
        assert!(urls(&out).expect(65).stderr.contains(said), "{file}");
        // The manifest tells `diff` which sitemaps to read.
        let compared = finish(sitemill().arg("diff").args([&old, &out]), b"");
        match file == sitemap {
            true => assert!(compared.expect(65).stderr.contains(&format!("{sitemap}: {said}"))),
            false => _ = compared.expect(0),
        }
        fs::rename(&elsewhere, &path).unwrap();
    }
}

#[test]
fn a_link_among_sitemaps_without_an_index_file_is_reported() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1"]));
    let elsewhere = TempDir::new();
    let link = directory.join("b.xml");
    symlink(elsewhere.file("b.xml", sitemap(&["2"])), &link).unwrap();
    let said = "it is not a regular file, and links are not followed: b.xml";
    let (findings, summary) = check(directory.path());
    assert_eq!(findings, [missing(said)]);
    assert_eq!(summary["urls"], 1);
    assert!(urls(directory.path()).expect(65).stderr.contains(said));
    // The one that was named is.
    assert!(urls(&link).expect(0).stdout.ends_with(b"2\n"));
}

#[test]
fn an_index_file_of_another_protocol_than_its_set_is_reported() {
    let directory = TempDir::new();
    for (protocol, own, other) in [("0.9", XMLNS, XMLNS_0_84), ("0.84", XMLNS_0_84, XMLNS)] {
        let out = directory.join(protocol);
        let mut build = build_command(&out, BASE);
        finish(build.args(["--protocol", protocol]), format!("{BASE}1\n").as_bytes()).expect(0);
        assert_eq!(check(&out).0, []);
        let path = out.join("sitemap-index-1.xml");
        let whole = fs::read_to_string(&path).unwrap();
        assert!(whole.contains(own));
        fs::write(&path, whole.replace(own, other)).unwrap();
        let (findings, _) = check(&out);
        let said = format!("its set is of protocol {protocol}");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].0 == "namespace" && findings[0].1.ends_with(&said), "{findings:?}");
    }
}

#[test]
fn a_published_set_without_its_robots_lines_is_reported_and_a_copy_is_not() {
    let directory = TempDir::new();
    for (name, file) in [(None, "robots-sitemaps.txt"), (Some("blog"), "robots-sitemaps-blog.txt")] {
        let out = directory.join(name.unwrap_or("out"));
        let mut build = build_command(&out, BASE);
        build.args(name.iter().flat_map(|name| ["--name", name]));
        finish(&mut build, format!("{BASE}1\n").as_bytes()).expect(0);
        fs::remove_file(out.join(file)).unwrap();
        let (findings, summary) = check(&out);
        assert_eq!(findings, [("robots".to_owned(), format!("there is no such file: {file}"))]);
        assert_eq!(summary["urls"], 1);
        assert_eq!(urls(&out).expect(0).stdout, format!("{BASE}1\n").as_bytes());
        fs::remove_dir_all(out.join(".sitemill")).unwrap();
        assert_eq!(check(&out).0, []);
    }
}

#[test]
fn empty_robots_lines_of_a_published_set_are_one_finding_and_status_counts_them() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut build = build_command(&out, BASE);
    build.args(["--urls-per-sitemap", "1", "--sitemaps-per-index", "1"]);
    finish(&mut build, format!("{BASE}1\n{BASE}2\n").as_bytes()).expect(0);
    let missing = || {
        let status = finish(sitemill().args(["status", "--json"]).arg(&out), b"").expect(0).stdout;
        serde_json::from_slice::<Value>(&status).unwrap()["live"]["missing"].clone()
    };
    assert_eq!(missing(), 0);
    fs::write(out.join("robots-sitemaps.txt"), "").unwrap();
    let (findings, summary) = check(&out);
    assert_eq!(findings, [("robots".to_owned(), "no line names an index file".to_owned())]);
    assert_eq!(summary["urls"], 2, "the manifest names the index files");
    assert!(urls(&out).expect(65).stderr.contains("no line names an index file"));
    assert_eq!(missing(), 1);
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    assert_eq!(missing(), 1);
}

#[test]
fn a_copy_may_have_index_files_of_earlier_sets_and_no_gap_before_the_last_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for last in [6, 3] {
        let pages: String = (1..=last).map(|page| format!("{BASE}{page}\n")).collect();
        let mut build = build_command(&out, BASE);
        build.args(["--urls-per-sitemap", "1", "--sitemaps-per-index", "1", "--max-shrink", "100%"]);
        finish(&mut build, pages.as_bytes()).expect(0);
    }
    assert_eq!(check(&out).0, []);
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    let (findings, summary) = check(&out);
    assert_eq!((findings, &summary["urls"]), (Vec::new(), &3.into()));
    let robots = out.join("robots-sitemaps.txt");
    let lines = fs::read_to_string(&robots).unwrap();
    fs::write(&robots, lines.replace(&format!("Sitemap: {BASE}sitemap-index-2.xml\n"), "")).unwrap();
    assert_eq!(check(&out).0, [("robots".to_owned(), "no line names sitemap-index-2.xml".to_owned())]);
}

#[test]
fn dot_segments_of_a_robots_line_are_resolved() {
    let directory = TempDir::new();
    directory.file("a.xml", sitemap(&["1"]));
    directory.file("sitemap-index-1.xml", index(&[&format!("{BASE}a.xml")]));
    directory.file("robots-sitemaps.txt", format!("Sitemap: {BASE}maps/../sitemap-index-1.xml\n"));
    let (findings, summary) = check(directory.path());
    assert_eq!((findings, &summary["urls"]), (Vec::new(), &1.into()));
}
