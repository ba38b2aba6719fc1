//! Sitemaps from elsewhere that the index files of a set list.

mod lastmods;
mod rollback;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{
    Run, TempDir, assert_nothing_is_left, assert_valid, build_command, contents, files, finish, locs,
    published_urls, run, sitemill, status,
};

const BASE: &str = "https://www.example.com/maps/";

/// A sitemap with an entry for each `lastmod`, some of which are empty.
fn sitemap(lastmods: &[&str]) -> String {
    let entries: String = (0..)
        .zip(lastmods)
        .map(|(n, lastmod)| match lastmod.is_empty() {
            true => format!("<url><loc>{BASE}news/{n}</loc></url>"),
            false => format!("<url><loc>{BASE}news/{n}</loc><lastmod>{lastmod}</lastmod></url>"),
        })
        .collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

/// An output directory with sitemaps that sitemill did not write.
fn with_news(directory: &TempDir) -> std::path::PathBuf {
    let out = directory.join("out");
    fs::create_dir_all(out.join("more stuff")).unwrap();
    fs::write(out.join("news.xml"), sitemap(&["2024-05-01", "2024-05-01T12:00:00+02:00", ""])).unwrap();
    let packed = crate::support::gzip(sitemap(&[""]).as_bytes());
    let undated = out.join("more stuff/vidéos.xml.gz");
    fs::write(&undated, packed).unwrap();
    assert!(
        Command::new("touch").args(["-d", "2020-02-02T02:02:02Z"]).arg(&undated).status().unwrap().success()
    );
    out
}

fn build(out: &Path, urls: u32, also: &[&str], options: &[&str]) -> Run {
    let mut build = build_command(out, BASE);
    build.args(["--urls-per-sitemap", "1", "--json"]).args(options).current_dir(out.parent().unwrap());
    also.iter().for_each(|also| _ = build.args(["--also", also]));
    let urls: String = (0..urls).map(|n| format!("{BASE}{n}\n")).collect();
    finish(&mut build, urls.as_bytes())
}

const ALSO: [&str; 3] =
    ["out/news.xml", "out/more stuff/vidéos.xml.gz", "https://www.example.com/maps/live/a.xml?b&c"];

/// The entries of an index file that sitemill did not write.
const ENTRIES: [&str; 3] = [
    "<sitemap><loc>https://www.example.com/maps/news.xml</loc><lastmod>2024-05-01T12:00:00+02:00</lastmod></sitemap>",
    "<sitemap><loc>https://www.example.com/maps/more%20stuff/vid%C3%A9os.xml.gz</loc><lastmod>2020-02-02T02:02:02Z</lastmod></sitemap>",
    "<sitemap><loc>https://www.example.com/maps/live/a.xml?b&amp;c</loc></sitemap>",
];

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn sitemaps_from_elsewhere_follow_those_of_the_set_with_what_is_known_of_them() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let before = fs::read(out.join("news.xml")).unwrap();
    let report = json(&build(&out, 2, &ALSO, &[]).expect(0).stdout);
    assert_eq!((&report["sitemaps"], &report["also"]), (&2.into(), &3.into()));
    let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    let places: Vec<_> =
        ENTRIES.iter().map(|entry| index.find(entry).unwrap_or_else(|| panic!("{entry}: {index}"))).collect();
    assert!(places.is_sorted() && index.find("sitemap-00002").unwrap() < places[0]);
    assert_valid(&index, "siteindex-0.9");
    assert_eq!(fs::read(out.join("news.xml")).unwrap(), before);
    let manifest = json(&fs::read(out.join(".sitemill/manifest.json")).unwrap());
    assert_eq!(manifest["also"].as_array().unwrap().len(), 3);
}

#[test]
fn feeds_and_text_from_elsewhere_are_listed_with_the_date_of_their_newest_page() {
    let directory = TempDir::new();
    let out = directory.join("out");
    fs::create_dir_all(&out).unwrap();
    let write = |name: &str, content: &[u8]| fs::write(out.join(name), content).unwrap();
    let item = |n: u32, day: &str| format!("<item><link>{BASE}{n}</link><pubDate>{day}</pubDate></item>");
    let items = item(1, "Sat, 07 Sep 2002 09:42:31 GMT") + &item(2, "Fri, 06 Sep 2002 09:42:31 GMT");
    write("blog.rss", format!("<rss version=\"2.0\"><channel>{items}</channel></rss>").as_bytes());
    let entry = format!("<entry><link href=\"{BASE}3\"/><updated>2005-07-31T12:29:29Z</updated></entry>");
    let atom = format!("<feed xmlns=\"http://www.w3.org/2005/Atom\">{entry}</feed>");
    write("news.atom.gz", &crate::support::gzip(atom.as_bytes()));
    write("pages.txt", format!("{BASE}4\n{BASE}5\n").as_bytes());
    let pages = out.join("pages.txt");
    assert!(
        Command::new("touch").args(["-d", "2020-02-02T02:02:02Z"]).arg(&pages).status().unwrap().success()
    );
    let also = ["out/blog.rss", "out/news.atom.gz", "out/pages.txt"];
    let report = json(&build(&out, 1, &also, &[]).expect(0).stdout);
    assert_eq!(report["also"], 3);
    let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    assert_valid(&index, "siteindex-0.9");
    for (name, lastmod) in [
        ("blog.rss", "2002-09-07T09:42:31+00:00"),
        ("news.atom.gz", "2005-07-31T12:29:29Z"),
        ("pages.txt", "2020-02-02T02:02:02Z"),
    ] {
        let entry = format!("<sitemap><loc>{BASE}{name}</loc><lastmod>{lastmod}</lastmod></sitemap>");
        assert!(index.contains(&entry), "{entry}: {index}");
    }
    finish(sitemill().arg("check").arg(&out), b"").expect(0);
    // Protocol 0.84 knows only XML, and so does `check`, whichever of the files comes first.
    let old = |also: &[&str]| build(&out, 1, also, &["--protocol", "0.84", "--replace-set"]);
    for name in also {
        let done = old(&[name]).expect(65);
        assert!(done.stderr.contains(name) && done.stderr.contains("0.84"), "{}", done.stderr);
        old(&[]).expect(0);
        let index = out.join("sitemap-index-1.xml");
        let listing = format!("<sitemap><loc>{BASE}{}</loc></sitemap></sitemapindex>", &name["out/".len()..]);
        let xml = fs::read_to_string(&index).unwrap().replace("</sitemapindex>", &listing);
        fs::write(&index, xml).unwrap();
        let file = directory.join(name);
        for named in [[&index, &file], [&file, &index]] {
            let checked = finish(sitemill().args(["check", "-q"]).args(named), b"").expect(65);
            let said = String::from_utf8(checked.stdout).unwrap();
            assert_eq!(said.matches(": form: ").count(), 1, "{named:?}: {said}");
        }
    }
    for (name, content) in [
        ("empty.rss", "<rss><channel></channel></rss>"),
        ("cut.atom", &atom[..atom.len() - 20]),
        ("prose.txt", "no URL\n"),
    ] {
        write(name, content.as_bytes());
        let done = build(&out, 1, &[&format!("out/{name}")], &[]).expect(65);
        assert!(done.stderr.contains(name), "{}", done.stderr);
    }
}

#[test]
fn index_files_stay_within_their_limits() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let report = json(&build(&out, 3, &ALSO, &["--sitemaps-per-index", "2"]).expect(0).stdout);
    assert_eq!(report["indexes"], 3);
    let listed: Vec<usize> = (1..=3)
        .map(|n| locs(&fs::read_to_string(out.join(format!("sitemap-index-{n}.xml"))).unwrap()).len())
        .collect();
    assert_eq!(listed, [2, 2, 2]);
    let long = format!("{BASE}{}.xml", "x".repeat(1900));
    let done = build(&out, 3, &[&long], &["--bytes-per-sitemap", "1000"]).expect(2);
    assert!(done.stderr.contains("alone exceeds the size limit of an index file"), "{}", done.stderr);
}

#[test]
fn what_cannot_be_listed_is_refused_before_any_work_with_the_reason() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    directory.file("outside.xml", sitemap(&[""]));
    let write = |name: &str, content: &str| fs::write(out.join(name), content).unwrap();
    write("empty.xml", &sitemap(&[]));
    write("index.xml", "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"></sitemapindex>");
    write("cut.xml", &sitemap(&["", ""])[..100]);
    write("page.xml", "<html></html>");
    write("full.txt", &(0..50_001).map(|n| format!("{BASE}{n}\n")).collect::<String>());
    write("sitemap-00007-1f2e3d4c.xml.gz", &sitemap(&[""]));
    for (also, exit, said) in [
        ("https://other.example/a.xml", 2, "so no index file may list it"),
        ("https://www.example.com/a.xml", 2, "is not below the base URL"),
        ("http://www.example.com/maps/a.xml", 2, "is not below the base URL"),
        ("https://www.example.com/maps/", 2, "is not below the base URL"),
        ("https://www.example.com/maps/sitemap-index-1.xml", 2, "a name that is reserved"),
        ("ftp://www.example.com/maps/a.xml", 2, "is not an https or http URL"),
        ("s3://bucket/maps/a.xml", 2, "give the URL at which crawlers request it"),
        ("out/missing.xml", 66, "missing.xml"),
        ("out", 2, "is not a regular file"),
        ("outside.xml", 2, "is not below the output directory"),
        ("out/empty.xml", 65, "empty.xml"),
        ("out/index.xml", 65, "index"),
        ("out/cut.xml", 65, "cut.xml"),
        ("out/page.xml", 65, "page.xml"),
        ("out/full.txt", 65, "full.txt: lists 50,001 URLs, and a sitemap may list at most 50,000; divide it"),
        ("out/sitemap-00007-1f2e3d4c.xml.gz", 2, "a name that is reserved"),
    ] {
        let done = build(&out, 1, &[also], &[]).expect(exit);
        assert!(done.stderr.contains(said), "{also}: {}", done.stderr);
        assert!(!out.join(".sitemill").exists(), "{also}");
    }
    let done = build(&out, 1, &["out/news.xml", "https://www.example.com/maps/news.xml"], &[]).expect(2);
    assert!(done.stderr.contains("is given twice"), "{}", done.stderr);
    let done = build(&out, 1, &["out/news.xml"], &["--rejects", "out/news.xml"]).expect(2);
    assert!(done.stderr.contains("the same file"), "{}", done.stderr);
}

#[test]
fn other_commands_know_that_the_set_only_lists_them() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 2, &ALSO, &[]).expect(0);
    let of = |args: &[&str]| finish(sitemill().args(args).arg(&out), b"").expect(0);
    let checked = of(&["check", "--json"]);
    let report = json(checked.stdout.split(|&byte| byte == b'\n').rev().nth(1).unwrap());
    assert_eq!(
        (&report["findings"], &report["sitemaps"], &report["also"]),
        (&0.into(), &2.into(), &3.into())
    );
    assert!(checked.stderr.contains("3 sitemaps added with --also not checked"), "{}", checked.stderr);
    let mut alone = sitemill();
    alone.args(["check", "--json"]).arg(out.join("sitemap-index-1.xml"));
    let report = json(finish(&mut alone, b"").expect(0).stdout.trim_ascii());
    assert_eq!((&report["sitemaps"], &report["also"]), (&2.into(), &3.into()));
    let urls = of(&["urls"]);
    assert_eq!(String::from_utf8(urls.stdout).unwrap(), format!("{BASE}0\n{BASE}1\n"));
    assert!(urls.stderr.contains("3 sitemaps added with --also not read"), "{}", urls.stderr);
    assert!(String::from_utf8(of(&["status"]).stdout).unwrap().contains("; 3 sitemaps added with --also"));
    assert_eq!(json(&of(&["status", "--json"]).stdout)["live"]["also"], 3);

    // A build that reads the set. What lies in deeper directories is an input of its own.
    let whole = directory.join("whole");
    let done = finish(build_command(&whole, BASE).arg("--json").arg(&out), b"").expect(0);
    let why = "it is not from sitemill, and the set only lists it; give the file to read it";
    let skipped = json(&done.stdout)["skipped"].as_array().unwrap().clone();
    let hidden = json!({ "path": out.join(".sitemill"), "reason": "its name begins with . or _" });
    let news = json!({ "path": out.join("news.xml"), "reason": why });
    assert_eq!(skipped, [hidden, news, json!({ "path": ALSO[2], "reason": why })], "each once");
    assert!(done.stderr.contains("/live/a.xml?b&c (it is not from sitemill"), "{}", done.stderr);
    let mut with_news = build_command(&directory.join("with-news"), BASE);
    let named = finish(with_news.arg(&out).arg(out.join("news.xml")), b"").expect(0);
    assert!(!named.stderr.contains("news.xml ("), "{}", named.stderr);
    assert_eq!(published_urls(&whole, BASE), ["news/0", "0", "1"].map(|page| format!("{BASE}{page}")));
    fs::remove_dir_all(out.join("more stuff")).unwrap();
    // The index file alone tells that, too.
    for path in [&out, &out.join("sitemap-index-1.xml")] {
        let found = run(["check".as_ref(), "-q".as_ref(), path.as_os_str()]).expect(65).stdout;
        let found = String::from_utf8(found).unwrap();
        assert!(
            found.lines().count() == 1 && found.contains("missing-file: there is no such file"),
            "{found}"
        );
    }
    let copy = directory.join("copy");
    let mut build = build_command(&copy, BASE);
    let done = finish(build.arg(&out), b"").expect(0);
    assert!(done.stderr.contains("not from sitemill"), "{}", done.stderr);
    assert_eq!(published_urls(&copy, BASE), [format!("{BASE}0"), format!("{BASE}1")]);
    let diff = finish(sitemill().args(["diff", "-q"]).args([&out, &copy]), b"").expect(0);
    assert_eq!(diff.stdout, b"");

    // Without the manifest, they are files of the directory like any other.
    let page = directory.join("page.html");
    run(["report".as_ref(), "-q".as_ref(), "-o".as_ref(), page.as_os_str(), out.as_os_str()]).expect(0);
    assert!(fs::read_to_string(&page).unwrap().contains("3 sitemaps from elsewhere"));
}

#[test]
fn check_misses_one_that_no_index_file_lists() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 1, &ALSO, &[]).expect(0);
    let index = out.join("sitemap-index-1.xml");
    let text = fs::read_to_string(&index).unwrap();
    fs::write(&index, text.replace(ENTRIES[0], "")).unwrap();
    let checked = run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(65);
    let findings = String::from_utf8(checked.stdout).unwrap();
    assert!(findings.contains("unlisted") && findings.contains("maps/news.xml"), "{findings}");
}

#[test]
fn a_set_without_a_url_may_list_them_and_a_lost_manifest_does_not_bar_the_next_run() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    build(&out, 0, &ALSO, &["--allow-empty"]).expect(0);
    assert_eq!(locs(&fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap()).len(), 3);
    build(&out, 2, &ALSO, &[]).expect(0);
    fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
    build(&out, 2, &ALSO, &[]).expect(65);
    build(&out, 2, &ALSO, &["--ignore-manifest"]).expect(0);
    run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
}

#[test]
fn a_set_without_a_url_that_lists_them_removes_all_other_index_files_at_once() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let indexes = || {
        let files = files(&out).into_iter();
        files.filter(|file| file.contains("index-")).collect::<Vec<_>>()
    };
    build(&out, 3, &[], &["--sitemaps-per-index", "1"]).expect(0);
    assert_eq!(indexes().len(), 3);
    build(&out, 0, &ALSO, &["--allow-empty"]).expect(0);
    assert_eq!(indexes(), ["sitemap-index-1.xml"]);
}

#[test]
fn an_index_file_that_lists_only_them_belongs_to_a_set_with_a_lost_manifest() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let options = ["--sitemaps-per-index", "2"];
    build(&out, 4, &ALSO[2..], &options).expect(0);
    assert!(fs::read_to_string(out.join("sitemap-index-3.xml")).unwrap().contains("/live/a.xml"));
    fs::write(out.join(".sitemill/manifest.json"), "{").unwrap();
    build(&out, 4, &[], &[&options[..], &["--ignore-manifest"]].concat()).expect(0);
    run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
    // A set that needs its name replaces it.
    build(&out, 6, &[], &options).expect(0);
    run(["check".as_ref(), "-q".as_ref(), out.as_os_str()]).expect(0);
}

#[test]
fn each_site_lists_its_own() {
    let directory = TempDir::new();
    let out = directory.join("out");
    fs::create_dir_all(out.join("a.example")).unwrap();
    fs::write(out.join("a.example/news.xml"), sitemap(&["2024-05-01"])).unwrap();
    fs::write(out.join("stray.xml"), sitemap(&[""])).unwrap();
    let build = |also: &[&str]| {
        let mut build = build_command(&out, "{origin}/");
        build.arg("--json").current_dir(directory.path());
        also.iter().for_each(|also| _ = build.args(["--also", also]));
        finish(&mut build, b"https://a.example/1\nhttps://b.example/1\n")
    };
    let report = json(&build(&["out/a.example/news.xml", "https://b.example/live.xml"]).expect(0).stdout);
    assert_eq!((&report["also"], &report["sets"][0]["also"]), (&2.into(), &1.into()));
    for (site, url) in
        [("a.example", "https://a.example/news.xml"), ("b.example", "https://b.example/live.xml")]
    {
        let index = fs::read_to_string(out.join(site).join("sitemap-index-1.xml")).unwrap();
        assert_eq!(locs(&index)[1], url);
        assert_eq!(locs(&index).len(), 2);
    }
    // The site of the last one is live, but this run has no URL of it.
    finish(&mut build_command(&out, "{origin}/"), b"https://c.example/1\n").expect(0);
    let of_c = "https://c.example/live.xml";
    let live = contents(&out.join("c.example"));
    let said = format!(
        "warning: --also {of_c}: the inputs have no URLs of its site, so the set of that site is kept"
    );
    let mut dry = build_command(&out, "{origin}/");
    let dry = finish(dry.args(["--dry-run", "--also", of_c]), b"https://b.example/1\n").expect(0);
    assert!(dry.stderr.contains(&format!("{said}\n")), "{}", dry.stderr);
    let warned = build(&["https://b.example/live.xml", of_c]).expect(0);
    assert!(warned.stderr.contains(&format!("{said}; the new set is live")), "{}", warned.stderr);
    assert_eq!(json(&warned.stdout)["also"], 1);
    assert_eq!(contents(&out.join("c.example")), live);
    for stray in ["out/stray.xml", "https://d.example/live.xml"] {
        let done = build(&[stray]).expect(2);
        let said =
            format!("{stray}: is not below a site that this run publishes, so no index file may list it");
        assert!(done.stderr.contains(&said), "{}", done.stderr);
    }
}

#[test]
fn its_url_is_encoded_as_the_base_url_is() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |also: &str| {
        let mut build = build_command(&out, "https://h.example/ü/");
        build.args(["--url-encoding", "latin1", "--also", also]);
        finish(&mut build, "https://h.example/ü/1\n".as_bytes())
    };
    build("https://h.example/ü/x.xml").expect(0);
    let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    assert_eq!(locs(&index)[1], "https://h.example/%FC/x.xml");
    let refused = build("https://h.example/ü/日.xml").expect(2);
    let said = "--also https://h.example/ü/日.xml: cannot be listed: not-encodable";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

#[test]
fn a_file_of_options_may_name_several() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let config = directory.file("sitemill.toml", format!("also = [\"out/news.xml\", \"{BASE}live.xml\"]\n"));
    let report = json(&build(&out, 1, &[], &["--config", config.to_str().unwrap()]).expect(0).stdout);
    assert_eq!(report["also"], 2);
    let wrong = directory.file("wrong.toml", "scope = [\"host\"]\n");
    build(&out, 1, &[], &["--config", wrong.to_str().unwrap()]).expect(2);
}
