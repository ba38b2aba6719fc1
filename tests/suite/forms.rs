//! The same rows give the same set in every input format.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{
    Run, TempDir, assert_nothing_is_left, assert_valid_set, build_command, contents, files, finish,
    published, published_urls, sitemill,
};

const BASE: &str = "https://www.example.com/";

/// Rows as text: URL, lastmod, changefreq, priority.
fn rows() -> Vec<[String; 4]> {
    (0..3_000_u32)
        .map(|n| {
            let lastmod = match n % 4 {
                0 => String::new(),
                1 => format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1),
                2 => format!("2024-05-01T{:02}:20:30+02:00", n % 24),
                _ => format!("2023-01-01 00:{:02}:{:02}Z", n % 60, n % 60),
            };
            let changefreq = ["", "daily", "never"][n as usize % 3];
            let priority = ["", "0.0", "0.85", "1.0", "0.5"][n as usize % 5];
            [format!("{BASE}page/{}?a&b,'ü'", n - n % 7 / 6), lastmod, changefreq.into(), priority.into()]
        })
        .collect()
}

fn delimited(rows: &[[String; 4]], delimiter: &str) -> String {
    let quoted = |row: &[String; 4]| {
        row.iter().map(|field| format!("\"{field}\"")).collect::<Vec<_>>().join(delimiter)
    };
    let header = ["loc", "lastmod", "changefreq", "priority"].join(delimiter);
    let rows: Vec<String> = rows.iter().map(quoted).collect();
    format!("{header}\n{}\n", rows.join("\n"))
}

fn json_lines(rows: &[[String; 4]]) -> String {
    let row = |[url, lastmod, changefreq, priority]: &[String; 4]| {
        let mut row = serde_json::json!({ "url": url, "other": [1, 2] });
        for (key, value) in [("lastmod", lastmod), ("changefreq", changefreq), ("priority", priority)] {
            if !value.is_empty() {
                row[key] = value.as_str().into();
            }
        }
        format!("{row}\n")
    };
    rows.iter().map(row).collect()
}

/// The rows in the format of Google's first generator, whose values have no spaces.
fn google_list(rows: &[[String; 4]]) -> String {
    let row = |[url, lastmod, changefreq, priority]: &[String; 4]| {
        let given = [("lastmod", lastmod), ("changefreq", changefreq), ("priority", priority)];
        let given = given.iter().filter(|(_, value)| !value.is_empty() && !value.contains(' '));
        let attributes: String = given.map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{url}{attributes}\n")
    };
    rows.iter().map(row).collect()
}

fn gzip(text: &str) -> Vec<u8> {
    // Two gzip members, as appending to a dump produces.
    let halves =
        text.split_at(text.len() / 2 - (0..4).find(|n| text.is_char_boundary(text.len() / 2 - n)).unwrap());
    let member = |half: &str| {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        member.write_all(half.as_bytes()).unwrap();
        member.finish().unwrap()
    };
    [member(halves.0), member(halves.1)].concat()
}

fn build(out: &Path, inputs: &[PathBuf], options: &[&str]) -> Run {
    let mut command = build_command(out, BASE);
    finish(command.args(["--urls-per-sitemap", "500"]).args(inputs).args(options), b"")
}

/// The sitemaps of a set, without the index files, which contain the time of the run.
fn set(out: &Path) -> Vec<(String, String)> {
    published(out, BASE)
}

#[test]
fn the_same_rows_give_the_same_set_in_every_form() {
    let directory = TempDir::new();
    let rows = rows();
    let csv = delimited(&rows, ",");
    let want = {
        let out = directory.join("csv");
        build(&out, &[directory.file("a.csv", &csv)], &[]).expect(0);
        assert_valid_set(&out, BASE, "0.9");
        set(&out)
    };
    assert!(want.len() > 5);
    let xml: String = want.iter().map(|(_, xml)| xml.as_str()).collect();
    for tag in [
        "<lastmod>2024-05-01T14:20:30+02:00</lastmod>",
        "<changefreq>never</changefreq>",
        "<priority>0.85</priority>",
    ] {
        assert!(xml.contains(tag), "{tag}");
    }
    for (name, content) in [
        ("a.tsv", delimited(&rows, "\t").into_bytes()),
        ("a.jsonl", json_lines(&rows).into_bytes()),
        ("recognised-by-its-header", csv.clone().into_bytes()),
        ("recognised-by-its-first-line", json_lines(&rows).into_bytes()),
        ("a.csv.gz", gzip(&csv)),
        ("a.csv.zst", zstd::encode_all(csv.as_bytes(), 1).unwrap()),
    ] {
        let out = directory.join(format!("out-{name}"));
        build(&out, &[directory.file(name, &content)], &[]).expect(0);
        assert!(set(&out) == want, "{name}");
        // Through a pipe.
        let out = directory.join(format!("pipe-{name}"));
        let mut command = build_command(&out, BASE);
        command.args(["--urls-per-sitemap", "500", "-"]);
        if name == "a.tsv" {
            command.args(["--format", "tsv"]);
        }
        finish(&mut command, &content).expect(0);
        assert!(set(&out) == want, "{name} through a pipe");
    }
    // The published sitemaps as input.
    let sitemaps: Vec<PathBuf> = want
        .iter()
        .filter(|(file, _)| file.ends_with(".gz"))
        .map(|(file, _)| directory.join("csv").join(file))
        .collect();
    build(&directory.join("again"), &sitemaps, &[]).expect(0);
    assert!(set(&directory.join("again")) == want, "sitemaps");
    // An index file as input is read as its sitemaps, in its order, by `build` and `clean`.
    let index = directory.join("csv/sitemap-index-1.xml");
    build(&directory.join("by-index"), std::slice::from_ref(&index), &[]).expect(0);
    assert!(set(&directory.join("by-index")) == want, "index file");
    let cleaned = finish(sitemill().args(["clean", "--quiet"]).arg(&index), b"").expect(0);
    let listed = finish(sitemill().arg("urls").arg(&index), b"").expect(0);
    assert!(cleaned.stdout == listed.stdout, "cleaned index file");
    // Values of this format have no spaces, so some rows lose their times.
    let out = directory.join("google");
    build(&out, &[directory.file("urllist.txt", google_list(&rows))], &["--format", "google"]).expect(0);
    assert!(published_urls(&out, BASE) == published_urls(&directory.join("csv"), BASE), "google");
}

#[test]
fn a_directory_of_part_files_is_read_in_order_and_may_need_its_marker() {
    let directory = TempDir::new();
    let parts = directory.join("export");
    fs::create_dir(&parts).unwrap();
    for (name, content) in [
        ("part-00001.txt", format!("{BASE}c\n{BASE}d\n")),
        ("part-00000.txt", format!("{BASE}a\n{BASE}b\n")),
        (".part-00000.txt.crc", "crc".into()),
        ("_metadata", "no url".into()),
    ] {
        fs::write(parts.join(name), content).unwrap();
    }
    let out = directory.join("out");
    let refused = build(&out, std::slice::from_ref(&parts), &["--require-success-marker"]).expect(65);
    assert!(refused.stderr.contains("_SUCCESS"), "{}", refused.stderr);
    assert!(files(&out).is_empty());
    fs::write(parts.join("_SUCCESS"), "").unwrap();
    build(&out, &[parts], &["--require-success-marker"]).expect(0);
    assert_eq!(published_urls(&out, BASE), ["a", "b", "c", "d"].map(|page| format!("{BASE}{page}")));
}

#[test]
fn a_directory_with_a_published_set_is_read_as_the_urls_of_that_set() {
    let directory = TempDir::new();
    let report = directory.join("report.json");
    let options = ["--report", report.to_str().unwrap(), "--max-rejects", "0"];
    // Builds from `input` and returns the URLs; all lines must be listed.
    let again = |input: &Path, site: &str| {
        let out = directory.join("again");
        let _ = fs::remove_dir_all(&out);
        let mut build = build_command(&out, site);
        finish(build.arg(input).args(options), b"").expect(0);
        let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        assert_eq!(report["lines"], report["listed"], "{}", input.display());
        published_urls(&out, site)
    };
    let published_in = |out: &Path, site: &str, first: u32, last: u32| {
        let urls: String = (first..=last).map(|page| format!("{BASE}{page}\n")).collect();
        let mut build = build_command(out, site);
        let limits = ["--urls-per-sitemap", "10", "--sitemaps-per-index", "3", "--max-shrink", "100%"];
        finish(build.args(limits), urls.as_bytes()).expect(0);
    };
    // Sitemaps of the first set are still in the directory.
    let set = directory.join("set");
    published_in(&set, BASE, 1, 70);
    published_in(&set, BASE, 11, 60);
    let want = published_urls(&set, BASE);
    assert!(files(&set).len() > 5 + 2 + 1 && want.len() == 50);
    assert_eq!(again(&set, BASE), want);
    let cleaned = finish(sitemill().args(["clean", "--quiet"]).arg(&set), b"").expect(0);
    let listed = finish(sitemill().arg("urls").arg(&set), b"").expect(0);
    assert!(cleaned.stdout == listed.stdout);
    // In a subdirectory, next to a list of URLs.
    let sites = directory.join("sites");
    published_in(&sites, "{origin}/", 1, 70);
    published_in(&sites, "{origin}/", 11, 60);
    fs::write(sites.join("more.txt"), format!("{BASE}61\n")).unwrap();
    assert_eq!(again(&sites, BASE).len(), 51);
    // A set without `robots-sitemaps.txt`: its index files add nothing to the sitemaps.
    let theirs = directory.join("theirs");
    published_in(&theirs, BASE, 11, 60);
    fs::remove_file(theirs.join("robots-sitemaps.txt")).unwrap();
    assert_eq!(again(&theirs, BASE), want);
    // An empty set lists nothing.
    let empty = directory.join("empty");
    finish(build_command(&empty, BASE).arg("--allow-empty"), b"").expect(0);
    let refused = finish(build_command(&directory.join("again"), BASE).arg(&empty), b"").expect(65);
    assert!(refused.stderr.contains("--allow-empty"), "{}", refused.stderr);
}

#[test]
fn bad_tags_are_dropped_counted_and_reported_and_their_urls_are_listed() {
    let directory = TempDir::new();
    let csv = format!(
        "page,changed,changefreq,priority\n\
         {BASE}a,2024-05,daily,0.5\n\
         {BASE}b,2024-05-01 10:20:30,fortnightly,5\n\
         {BASE}c,2024-05-01,daily,1e-05\n\
         one,field,too,many,here\n"
    );
    let input = directory.file("export.csv", csv);
    let (out, report, rejects) =
        (directory.join("out"), directory.join("report.json"), directory.join("rejects.tsv"));
    let options = ["--columns", "url=page,lastmod=changed", "--default-priority", "0.3"];
    let paths = ["--report", report.to_str().unwrap(), "--rejects", rejects.to_str().unwrap()];
    build(&out, std::slice::from_ref(&input), &[&options[..], &paths].concat()).expect(0);
    let (_, xml) = published(&out, BASE).remove(1);
    // A default replaces a missing value, never a wrong one.
    let entries: Vec<&str> = xml.lines().filter(|line| line.starts_with("<url>")).collect();
    assert_eq!(
        entries,
        [
            format!("<url><loc>{BASE}a</loc><changefreq>daily</changefreq><priority>0.5</priority></url>"),
            format!("<url><loc>{BASE}b</loc></url>"),
            format!(
                "<url><loc>{BASE}c</loc><lastmod>2024-05-01</lastmod><changefreq>daily</changefreq></url>"
            ),
        ]
    );
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    let dropped = serde_json::json!({
        "tag-changefreq": 1, "tag-lastmod-precision": 1, "tag-lastmod-zone": 1, "tag-priority": 2
    });
    assert_eq!(
        (&report["dropped_tags"], &report["rejected"]),
        (&dropped, &serde_json::json!({ "bad-row": 1 }))
    );
    let given = serde_json::json!({ "changefreq": 3, "lastmod": 3, "priority": 3 });
    assert_eq!(report["given_tags"], given, "of accepted rows only");
    let rejects = fs::read_to_string(rejects).unwrap();
    let reasons: Vec<(&str, &str, &str)> = rejects
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect::<Vec<_>>())
        .map(|fields| (fields[1], fields[3], fields[4]))
        .collect();
    assert_eq!(
        reasons,
        [
            ("2", "tag-lastmod-precision", "2024-05"),
            ("3", "tag-lastmod-zone", "2024-05-01 10:20:30"),
            ("3", "tag-changefreq", "fortnightly"),
            ("3", "tag-priority", "5"),
            ("4", "tag-priority", "1e-05"),
            ("5", "bad-row", "one,field,too,many,here"),
        ]
    );
    let zoned = directory.join("zoned");
    build(&zoned, &[input], &[&options[..], &["--lastmod-zone", "Europe/Berlin"]].concat()).expect(0);
    assert!(published(&zoned, BASE)[1].1.contains("b</loc><lastmod>2024-05-01T10:20:30+02:00</lastmod>"));
}

#[test]
fn the_first_or_the_newest_of_equal_urls_is_listed() {
    let directory = TempDir::new();
    let csv = format!(
        "url,lastmod\n{BASE}a,2024-01-01\n{BASE}b,\n{BASE}a,2024-03-01\n{BASE}b,2023-01-01\n{BASE}a,2024-02-01\n"
    );
    let input = directory.file("urls.csv", csv);
    let lastmods = |rule: &str| {
        let out = directory.join(rule);
        build(&out, std::slice::from_ref(&input), &["--on-duplicate", rule]).expect(0);
        let (_, xml) = published(&out, BASE).remove(1);
        let lastmod = |line: &str| line.split("<lastmod>").nth(1).map(|rest| rest[..10].to_owned());
        xml.lines().filter(|line| line.starts_with("<url>")).map(lastmod).collect::<Vec<_>>()
    };
    assert_eq!(lastmods("first"), [Some("2024-01-01".into()), None]);
    assert_eq!(lastmods("newest"), [Some("2024-03-01".into()), Some("2023-01-01".into())]);
}

#[test]
fn links_and_images_are_listed_in_namespaces_that_are_declared_where_they_are_used() {
    let directory = TempDir::new();
    let mut lines = String::new();
    for n in 0..900 {
        lines += &match n {
            // The first sitemap has neither, the second has links, the third images.
            500..700 if n % 3 == 0 => format!(
                "{{\"loc\":\"{BASE}{n}\",\"alternates\":[{{\"hreflang\":\"de\",\"href\":\"{BASE}de/{n}?a&b\"}},\
                 {{\"hreflang\":\"x-default\",\"href\":\"nonsense\"}}]}}\n"
            ),
            700.. => format!(
                "{{\"loc\":\"{BASE}{n}\",\"priority\":0.50,\"images\":[\"{BASE}{n}.png\",\"{BASE}it's.png\"]}}\n"
            ),
            _ => format!("{{\"loc\":\"{BASE}{n}\"}}\n"),
        };
    }
    let input = directory.file("pages.jsonl", lines);
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    let options = ["--urls-per-sitemap", "100", "--report", report.to_str().unwrap()];
    finish(build_command(&out, BASE).arg(&input).args(options), b"").expect(0);
    assert_valid_set(&out, BASE, "0.9");
    for (file, xml) in published(&out, BASE).iter().filter(|(file, _)| file.ends_with(".gz")) {
        assert_eq!(xml.contains("xmlns:xhtml="), xml.contains("<xhtml:link "), "{file}");
        assert_eq!(xml.contains("xmlns:image="), xml.contains("<image:image>"), "{file}");
    }
    let all: String = published(&out, BASE).into_iter().map(|(_, xml)| xml).collect();
    assert_eq!(all.matches("<image:loc>").count(), 400);
    assert_eq!(all.matches("hreflang=\"de\"").count(), 67);
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["dropped_tags"]["tag-alternate"], 67);
    finish(sitemill().args(["check", "--quiet"]).arg(&out), b"").expect(0);

    // Protocol 0.84 supports neither; the URLs are listed without them.
    let old = directory.join("old");
    finish(build_command(&old, BASE).args(["--protocol", "0.84"]).arg(&input), b"").expect(0);
    assert_valid_set(&old, BASE, "0.84");
    assert_eq!(published_urls(&old, BASE).len(), 900);

    // With a set for each origin.
    let sites = directory.join("sites");
    finish(build_command(&sites, "{origin}/").arg(&input), b"").expect(0);
    let site: String =
        published(&sites.join("www.example.com"), BASE).into_iter().map(|(_, xml)| xml).collect();
    assert_eq!(site.matches("<image:loc>").count(), 400);
}

#[test]
fn input_and_urls_may_have_different_charsets() {
    let directory = TempDir::new();
    let latin = directory.file("latin.txt", b"http://www.example.com/\xFCmlat.html&q=name\n");
    for (options, want) in [
        (&["--input-encoding", "iso-8859-1"][..], "%C3%BCmlat"),
        (&["--input-encoding", "iso-8859-1", "--url-encoding", "iso-8859-1"], "%FCmlat"),
        (&[], "%FCmlat"),
    ] {
        let mut command = sitemill();
        let cleaned = finish(command.args(["clean", "--quiet"]).args(options).arg(&latin), b"").expect(0);
        assert_eq!(cleaned.stdout, format!("http://www.example.com/{want}.html&q=name\n").as_bytes());
    }
    let utf8 =
        directory.file("utf8.txt", "http://www.example.com/ümlat.html&q=name\nhttp://www.example.com/日本\n");
    let out = directory.join("out");
    let mut command = sitemill();
    command.args(["build", "--url-encoding", "iso-8859-1", "--base-url", "http://www.example.com/", "--out"]);
    let run = finish(command.arg(&out).arg(&utf8), b"").expect(0);
    assert!(run.stderr.contains("not-encodable     1"), "{}", run.stderr);
    let (_, xml) = published(&out, "http://www.example.com/").remove(1);
    assert!(xml.contains("<loc>http://www.example.com/%FCmlat.html&amp;q=name</loc>"), "{xml}");
}

#[test]
fn an_input_that_is_invalid_as_a_whole_is_named_with_the_way_out() {
    let directory = TempDir::new();
    let whole = gzip(&format!("{BASE}a\n").repeat(500));
    let out = directory.join("out");
    build(&out, &[directory.file("live.txt", format!("{BASE}live\n"))], &[]).expect(0);
    let live = contents(&out);
    for (name, content, said) in [
        ("a.csv", &b"page,when\nx,y\n"[..], "--columns"),
        ("cut.txt.gz", &whole[..whole.len() - 9], "too early"),
        ("a.jsonl", b"[\n{\"loc\":\"x\"}\n]\n", "a.jsonl"),
        ("a.parquet", b"no parquet", "--format"),
        ("damaged.parquet", b"PAR1 and no more", "damaged.parquet"),
        (
            "index.xml",
            b"<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\
              <sitemap><loc>https://www.example.com/gone.xml</loc></sitemap></sitemapindex>",
            "there is no such file",
        ),
    ] {
        let refused = build(&out, &[directory.file(name, content)], &[]).expect(65);
        assert!(refused.stderr.contains(said) && refused.stderr.contains(name), "{name}: {}", refused.stderr);
        assert!(contents(&out) == live, "{name}");
        assert_nothing_is_left(&out);
    }
}
