//! Directories of other programs, which have more files than sitemaps.

use std::fs;
use std::path::Path;

use super::{BASE, check, index, sitemap, urls};
use crate::support::{TempDir, build_command, finish, gzip, sitemill};

const OTHER_XML: &str = "<?xml version=\"1.0\"?>\n<browserconfig><msapplication/></browserconfig>";
const OTHER_DTD: &str =
    "<!DOCTYPE cross-domain-policy SYSTEM \"http://h.example/p.dtd\"><cross-domain-policy/>";

fn rss(url: &str) -> String {
    format!("<rss version=\"2.0\"><channel><item><link>{BASE}{url}</link></item></channel></rss>")
}

/// The rules that `check` finds violated, and the numbers of URLs and of files left out.
fn checked(directory: &Path) -> (Vec<String>, [u64; 2]) {
    let (found, summary) = check(directory);
    let rules = found.into_iter().map(|(rule, _)| rule).collect();
    (rules, ["urls", "other_files"].map(|key| summary[key].as_u64().unwrap()))
}

#[test]
fn xml_of_another_kind_and_feeds_next_to_sitemaps_are_left_out_and_counted() {
    let directory = TempDir::new();
    directory.file("feed.xml", rss("1"));
    directory.file("browserconfig.xml", OTHER_XML);
    directory.file("crossdomain.xml", OTHER_DTD);
    assert_eq!(checked(directory.path()), (vec![], [1, 2]), "a feed alone is a sitemap");
    directory.file("SITEMAP.XML", sitemap(&["1"]));
    assert_eq!(checked(directory.path()), (vec![], [1, 3]));
    let run = finish(sitemill().arg("urls").arg(directory.path()), b"").expect(0);
    assert_eq!(run.stdout, format!("{BASE}1\n").as_bytes());
    assert!(run.stderr.contains("3 other XML files and feeds not read"), "{}", run.stderr);
    let diff =
        || finish(sitemill().arg("diff").args([&directory.join("SITEMAP.XML"), directory.path()]), b"");
    let said = diff().expect(0).stderr;
    assert!(said.contains("; 2 sitemaps read; 3 other XML files and feeds not read\n"), "{said}");
    // What an index file lists is read, and so is what is named.
    directory.file("index.xml", index(&[&format!("{BASE}feed.xml"), &format!("{BASE}browserconfig.xml")]));
    let rules = ["root", "duplicate"].map(str::to_owned).to_vec();
    assert_eq!(checked(directory.path()), (rules, [2, 1]));
    assert_eq!(checked(&directory.join("browserconfig.xml")).0, ["root"]);
    directory.file("index.xml", index(&[&format!("{BASE}feed.xml")]));
    let said = diff().expect(0).stderr;
    assert!(said.contains("; 3 sitemaps read; 2 other XML files and feeds not read\n"), "{said}");
    // These are sitemaps by their names, or may be error pages instead of sitemaps.
    let directory = TempDir::new();
    directory.file("post-sitemap.xml", OTHER_XML);
    directory.file("sitemap.rss", rss("2"));
    directory.file("pages.xml", "<!doctype HTML>\n<title>404</title>");
    assert_eq!(checked(directory.path()), (vec!["root".into(), "root".into()], [1, 0]));
}

#[test]
fn an_index_file_with_a_name_that_sitemill_gives_hides_no_other_file() {
    for name in ["sitemap-index-1.xml", "sitemap-news-index-7.xml"] {
        let directory = TempDir::new();
        directory.file("news.xml", sitemap(&["1"]));
        directory.file("page-sitemap.xml", sitemap(&["2"]));
        let own = directory.file(name, index(&[&format!("{BASE}page-sitemap.xml")]));
        assert_eq!(checked(directory.path()), (vec![], [2, 0]), "{name}");
        // Even if it is no index file.
        fs::write(own, sitemap(&["sitemap-00001-1f2e3d4c.xml.gz"])).unwrap();
        assert_eq!(checked(directory.path()), (vec![], [3, 0]), "{name}");
        // A run that has published nothing changes nothing, and its sitemaps are left out.
        fs::create_dir(directory.join(".sitemill")).unwrap();
        directory.file(".sitemill/lock", "");
        directory.file("sitemap-00002-1f2e3d4c.xml.gz", gzip(sitemap(&["3"]).as_bytes()));
        assert_eq!(checked(directory.path()), (vec![], [3, 0]), "{name}");
    }
}

#[test]
fn sitemaps_next_to_a_copy_of_a_set_without_its_records_are_left_out_and_counted() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |more: &[&str], url| {
        finish(build_command(&out, BASE).args(more), format!("{BASE}{url}\n").as_bytes()).expect(0)
    };
    build(&[], "1");
    directory.file("out/news.xml", sitemap(&["3"]));
    let listed = directory.file("out/listed.xml", sitemap(&["4"]));
    build(&["--also", listed.to_str().unwrap()], "2");
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    // Neither the sitemap of the first set nor an own file of the copy counts.
    assert_eq!(checked(&out), (vec![], [2, 1]));
    assert_eq!(urls(&out).expect(0).stdout, format!("{BASE}2\n{BASE}4\n").as_bytes());
}

#[test]
fn a_compressed_copy_of_a_sitemap_is_not_read_again() {
    let directory = TempDir::new();
    let (one, other) = (sitemap(&["1", "2"]), sitemap(&["3"]));
    for (name, content) in [("sitemap.xml", &one), ("more.xml", &other)] {
        directory.file(name, content);
        directory.file(&format!("{name}.gz"), gzip(content.as_bytes()));
    }
    let all: Vec<u8> = ["3", "1", "2"].iter().flat_map(|url| format!("{BASE}{url}\n").into_bytes()).collect();
    let list = directory.file("all.txt", &all);
    let compared = || {
        let diff = finish(sitemill().args(["diff", "--quiet"]).args([directory.path(), &*list]), b"");
        assert_eq!(str::from_utf8(&diff.expect(0).stdout), Ok(""));
    };
    assert_eq!(checked(directory.path()), (vec![], [3, 0]));
    assert_eq!(urls(directory.path()).expect(0).stdout, all);
    compared();
    // However an index file calls them.
    directory.file("z.xml", index(&[&format!("{BASE}sitemap.xml.gz"), &format!("{BASE}more.xml")]));
    assert_eq!(checked(directory.path()), (vec![], [3, 0]));
    assert_eq!(urls(directory.path()).expect(0).stdout, all);
    compared();
    // A copy of an older sitemap is another sitemap.
    directory.file("more.xml.gz", gzip(one.as_bytes()));
    assert_eq!(checked(directory.path()).0, ["duplicate", "duplicate"]);
}

#[test]
fn a_compressed_copy_is_recognised_in_any_letter_case() {
    let directory = TempDir::new();
    let content = sitemap(&["1", "2"]);
    directory.file("SITEMAP.XML", &content);
    directory.file("SITEMAP.XML.GZ", gzip(content.as_bytes()));
    assert_eq!(checked(directory.path()), (vec![], [2, 0]));
}

#[test]
fn a_file_is_read_once_however_its_directory_is_spelt() {
    let directory = TempDir::new();
    let file = directory.file("sitemap.xml", sitemap(&["1"]));
    let again = directory.path().join(".").join("sitemap.xml");
    for paths in [[directory.path(), &*again], [&*file, directory.path()], [&*file, &*again]] {
        let run = finish(sitemill().arg("urls").args(paths), b"").expect(0);
        assert_eq!(run.stdout, format!("{BASE}1\n").as_bytes(), "{paths:?}");
    }
}

#[test]
fn the_message_about_a_directory_without_sitemaps_says_what_was_looked_for() {
    let directory = TempDir::new();
    let said = || finish(sitemill().arg("check").arg(directory.path()), b"").expect(65).stderr;
    assert!(said().contains(
        "contains no sitemaps and no index files (*.xml, *.rss, *.atom or sitemap*.txt, also with .gz)\n"
    ));
    fs::create_dir(directory.join("blog")).unwrap();
    directory.file("blog/sitemap.xml", sitemap(&["1"]));
    directory.file("pom.xml", "<project/>");
    assert!(said().contains(
        "; its XML is of another kind; below it, only sets of sitemill are looked for: name other directories"
    ));
}

#[test]
fn xml_of_another_kind_next_to_sites_is_no_set() {
    let directory = TempDir::new();
    finish(&mut build_command(&directory.join("a"), BASE), format!("{BASE}1\n").as_bytes()).expect(0);
    directory.file("browserconfig.xml", OTHER_XML);
    assert_eq!(checked(directory.path()), (vec![], [1, 0]));
    assert_eq!(urls(directory.path()).expect(0).stdout, format!("{BASE}1\n").as_bytes());
    directory.file("page.xml", sitemap(&["2"]));
    assert_eq!(checked(directory.path()), (vec![], [2, 1]));
}
