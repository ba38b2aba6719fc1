//! `sitemill check` finds every planted fault, and nothing in sets that `build` writes.

mod foreign;
mod hostile;
mod named;
mod published;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use sitemill::check::Rule;

use crate::corpus::{Corpus, Recipe};
use crate::support::{Run, TempDir, build_command, files, finish, gunzip, gzip, sitemill, testdata};

const BASE: &str = "https://www.example.com/";

/// Checks `path`. Returns the rule and place (file and entry) of each finding, and the summary.
fn check(path: &Path, args: &[String]) -> (Vec<(String, String)>, Value) {
    let mut command = sitemill();
    let run = finish(command.args(["check", "--json", "--quiet"]).args(args).arg(path), b"");
    let mut lines: Vec<Value> = lines(&run).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let summary = lines.pop().unwrap_or_else(|| panic!("no summary; standard error was:\n{}", run.stderr));
    assert_eq!(summary["findings"], lines.len());
    assert_eq!(run.exit, if lines.is_empty() { 0 } else { 65 });
    let place = |finding: &Value| {
        let file = finding["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
        (finding["rule"].as_str().unwrap().to_owned(), format!("{file} {}", finding["entry"]))
    };
    (lines.iter().map(place).collect(), summary)
}

fn lines(run: &Run) -> Vec<String> {
    str::from_utf8(&run.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// The rule of each finding.
fn rules(path: &Path) -> Vec<String> {
    check(path, &[]).0.into_iter().map(|(rule, _)| rule).collect()
}

/// A sitemap of protocol 0.9 that contains `body`.
fn sitemap(body: &str) -> String {
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{body}</urlset>")
}

fn urls(count: usize) -> String {
    (0..count).map(|n| format!("<url><loc>http://h.example/{n}</loc></url>\n")).collect()
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        fs::copy(from.join(&file), to.join(&file)).unwrap();
    }
}

#[test]
fn every_planted_fault_is_found_by_its_rule_alone_and_is_gone_once_repaired() {
    let mut met = BTreeSet::new();
    for entry in fs::read_dir(testdata().join("faults")).unwrap() {
        let fault = entry.unwrap().path();
        let name = fault.file_name().unwrap().to_str().unwrap();
        let rule = name.split('.').next().unwrap();
        let args = fs::read_to_string(fault.join("args")).unwrap_or_default();
        let args: Vec<String> = args.lines().map(str::to_owned).collect();

        let (found, _) = check(&fault, &args);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert_eq!(found[0].0, rule, "{name}");
        met.insert(rule.to_owned());

        let repaired = TempDir::new();
        copy(&fault, repaired.path());
        let repair = fs::read(fault.join("repair")).unwrap();
        let parts: Vec<&[u8]> = repair.splitn(2, |&byte| byte == b'\n').collect();
        let file = repaired.join(str::from_utf8(parts[0]).unwrap());
        let (wrong, right) = parts[1]
            .strip_prefix(b"-")
            .and_then(|rest| rest.strip_suffix(b"\n"))
            .and_then(|rest| {
                let at = rest.windows(2).position(|pair| pair == b"\n+")?;
                Some((&rest[..at], &rest[at + 2..]))
            })
            .unwrap_or_else(|| panic!("{name}: repair must hold the file name, then -wrong and +right"));
        let content = fs::read(&file).unwrap();
        let at = content.windows(wrong.len()).position(|part| part == wrong).unwrap();
        fs::write(&file, [&content[..at], right, &content[at + wrong.len()..]].concat()).unwrap();
        assert_eq!(check(repaired.path(), &args).0, [], "{name}, repaired");
    }
    // The tests below make the faults that are compressed or too large for `testdata`.
    let made = ["too-many-images", "too-many-news", "unlisted", "content-name"];
    met.extend(["gzip", "too-large", "too-many-entries"].map(str::to_owned));
    met.extend(made.map(str::to_owned));
    let all = Rule::ALL.iter().map(|rule| rule.as_str().to_owned()).collect();
    assert_eq!(met, all);
}

#[test]
fn check_finds_nothing_in_a_set_that_build_wrote() {
    let recipe = Recipe { lines: 60_000, duplicates: 0.1, non_ascii: 0.2, bad: 0.1, ..Recipe::default() };
    let text = Corpus::new(&recipe).unwrap().text();
    let directory = TempDir::new();
    for protocol in ["0.9", "0.84"] {
        let out = directory.join(protocol);
        let options = ["--protocol", protocol, "--level", "1"];
        let limits = ["--urls-per-sitemap", "4000", "--sitemaps-per-index", "5"];
        finish(build_command(&out, BASE).args(options).args(limits), &text).expect(0);
        for threads in ["1", "3"] {
            let (found, summary) = check(&out, &["--threads".into(), threads.into()]);
            assert_eq!(found, []);
            assert!(summary["sitemaps"].as_u64().unwrap() > 10 && summary["indexes"].as_u64().unwrap() > 2);
            assert_eq!(summary["urls"], Corpus::new(&recipe).unwrap().counts().distinct);
        }
        // Sitemaps that the next set no longer lists may remain.
        let mut again = build_command(&out, BASE);
        again.args(["--max-shrink", "100", "--protocol", protocol]);
        finish(&mut again, b"https://www.example.com/only/one\n").expect(0);
        assert_eq!(check(&out, &[]).1["urls"], 1);
    }
}

#[test]
fn a_set_is_checked_by_the_scope_it_was_built_with_unless_an_option_says_otherwise() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |scope: &str, url: &str| {
        let mut build = build_command(&out, "http://h.example/maps/");
        finish(build.args(["--scope", scope]), format!("{url}\n").as_bytes()).expect(0);
    };
    let rules = |options: &[&str]| -> Vec<String> {
        let options: Vec<String> = options.iter().map(|&option| option.into()).collect();
        check(&out, &options).0.into_iter().map(|(rule, _)| rule).collect()
    };
    build("host", "http://h.example/elsewhere");
    assert_eq!(rules(&[]), [""; 0]);
    assert_eq!(rules(&["--scope", "any"]), [""; 0]);
    assert_eq!(rules(&["--scope", "directory"]), ["out-of-scope"]);
    build("any", "http://other.example/");
    assert_eq!(rules(&[]), [""; 0]);
    assert_eq!(rules(&["--scope", "host"]), ["out-of-scope"]);
    // A restored set brings its own scope.
    build("directory", "http://h.example/maps/a");
    finish(sitemill().args(["rollback", "--quiet", "--out"]).arg(&out), b"").expect(0);
    assert_eq!(rules(&[]), [""; 0]);
    // The first manifests have no scope, and later ones may have an unknown one.
    let path = out.join(".sitemill/manifest.json");
    let mut whole: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    whole.as_object_mut().unwrap().remove("checksum");
    for scope in [None, Some("planet")] {
        let mut manifest = whole.clone();
        let manifest = manifest.as_object_mut().unwrap();
        assert_eq!(manifest.remove("scope"), Some("any".into()));
        manifest.extend(scope.map(|word| ("scope".into(), word.into())));
        fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        assert_eq!(rules(&[]), ["out-of-scope"]);
    }
}

#[test]
fn check_finds_nothing_in_the_golden_cases() {
    for case in fs::read_dir(testdata().join("cases")).unwrap() {
        let case = case.unwrap().path();
        let args = fs::read_to_string(case.join("args")).unwrap();
        let scope = args.lines().filter(|arg| arg.starts_with("--base-url=") || arg.starts_with("--scope="));
        let scope: Vec<String> = scope.map(str::to_owned).collect();
        for file in files(&case.join("want")).iter().filter(|file| file.ends_with(".xml")) {
            // The sitemaps in `want` have other names than those in the index files.
            let scope = if file.contains("index") { &[][..] } else { &scope };
            assert_eq!(check(&case.join("want").join(file), scope).0, [], "{}", case.display());
        }
    }
}

#[test]
fn a_published_file_that_rots_or_is_edited_is_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = "https://www.example.com/a\nhttps://www.example.com/b\nhttps://www.example.com/c\n";
    finish(build_command(&out, BASE).args(["--urls-per-sitemap", "2"]), input.as_bytes()).expect(0);
    let second = files(&out).into_iter().find(|file| file.starts_with("sitemap-00002")).unwrap();
    let path = out.join(&second);
    let whole = fs::read(&path).unwrap();
    let place = format!("{second} null");

    for at in [12, whole.len() / 2, whole.len() - 8, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        fs::write(&path, flipped).unwrap();
        let (found, _) = check(&out, &[]);
        assert!(!found.is_empty() && found.iter().all(|(_, at)| at.starts_with(&second)), "{at}: {found:?}");
    }
    for (damaged, what) in
        [(whole[..whole.len() - 5].to_vec(), "cut off"), ([&whole[..], b"x"].concat(), "more behind it")]
    {
        fs::write(&path, damaged).unwrap();
        assert_eq!(check(&out, &[]).0, [("gzip".into(), place.clone())], "{what}");
    }
    fs::write(&path, gunzip(&whole)).unwrap();
    assert_eq!(check(&out, &[]).0, [("gzip".into(), place.clone())], "not packed at all");

    let edited = String::from_utf8(gunzip(&whole)).unwrap().replace("/c<", "/d<");
    fs::write(&path, gzip(edited.as_bytes())).unwrap();
    assert_eq!(check(&out, &[]).0, [("content-name".into(), place.clone())]);
    fs::write(&path, gzip(&gunzip(&whole))).unwrap();
    assert_eq!(check(&out, &[]).0, [], "the same content, compressed differently");

    fs::remove_file(&path).unwrap();
    assert_eq!(check(&out, &[]).0, [("missing-file".into(), "sitemap-index-1.xml 2".into())]);
    fs::write(&path, &whole).unwrap();
    let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    let cut: Vec<&str> = index.lines().filter(|line| !line.contains("sitemap-00002")).collect();
    fs::write(out.join("sitemap-index-1.xml"), cut.join("\n")).unwrap();
    assert_eq!(check(&out, &[]).0, [("unlisted".into(), "manifest.json null".into())]);
}

#[test]
fn files_may_reach_the_limits_but_not_exceed_them() {
    let directory = TempDir::new();
    let file = directory.join("sitemap.xml");
    for (count, want) in [(50_000, &[][..]), (50_001, &["too-many-entries"])] {
        fs::write(&file, sitemap(&urls(count))).unwrap();
        assert_eq!(rules(&file), want, "{count} URLs");
    }
    let image = "<image:image><image:loc>http://h.example/i.png</image:loc></image:image>";
    for (count, want) in [(1000, &[][..]), (1001, &["too-many-images"])] {
        let xmlns = "xmlns:image=\"http://www.google.com/schemas/sitemap-image/1.1\"";
        let images = image.repeat(count);
        let body = format!("<url {xmlns}><loc>http://h.example/</loc>{images}</url>");
        fs::write(&file, sitemap(&body)).unwrap();
        assert_eq!(rules(&file), want, "{count} images");
    }
    let article = "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language>\
                   </news:publication><news:publication_date>2024-05-01</news:publication_date>\
                   <news:title>T</news:title></news:news>";
    for (count, want) in [(1000, &[][..]), (1001, &["too-many-news"])] {
        let entry = |n: usize| {
            let article = if n.is_multiple_of(2) { article } else { "" };
            format!("<url><loc>http://h.example/{n}</loc>{article}</url>")
        };
        let xmlns = " xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\" xmlns=";
        let entries: String = (0..2 * count).map(entry).collect();
        fs::write(&file, sitemap(&entries).replacen(" xmlns=", xmlns, 1)).unwrap();
        assert_eq!(rules(&file), want, "{count} articles");
    }
    let protocols = [("0.9", "sitemaps.org", 52_428_800), ("0.84", "google.com", 10_485_760_usize)];
    for (protocol, host, limit) in protocols {
        for (bytes, want) in [(limit, &[][..]), (limit + 1, &["too-large"])] {
            let whole =
                sitemap(&urls(1)).replace("sitemaps.org", host).replace("/0.9", &format!("/{protocol}"));
            fs::write(&file, format!("{whole}{}", " ".repeat(bytes - whole.len()))).unwrap();
            assert_eq!(rules(&file), want, "{bytes} bytes in {protocol}");
        }
    }
    for (protocol, host, most) in [("0.9", "sitemaps.org", 50_000), ("0.84", "google.com", 1000)] {
        for (count, want) in [(most, &[][..]), (most + 1, &["too-many-entries"])] {
            let index =
                sitemap(&urls(count)).replace("sitemaps.org", host).replace("/0.9", &format!("/{protocol}"));
            fs::write(&file, index.replace("urlset", "sitemapindex").replace("url>", "sitemap>")).unwrap();
            assert_eq!(rules(&file), want, "{count} sitemaps in {protocol}");
        }
    }
}

#[test]
fn files_are_one_site_and_every_directory_is_a_site_of_its_own() {
    let directory = TempDir::new();
    let sites = ["a", "b"].map(|name| directory.join(name));
    for site in &sites {
        fs::create_dir(site).unwrap();
        fs::write(site.join("one.xml"), sitemap(&urls(100))).unwrap();
        fs::write(site.join("two.xml"), sitemap(&urls(2).replace("example/", "example/more-"))).unwrap();
    }
    finish(sitemill().arg("check").args(&sites), b"").expect(0);
    let files = sites.map(|site| site.join("two.xml"));
    let told = lines(&finish(sitemill().arg("check").args(&files), b"").expect(65));
    assert_eq!(told.len(), 2, "{told:?}");
    let want = format!("entry 2: duplicate: listed before: {}, entry 2 (", files[0].display());
    assert!(told[1].contains(&want), "{}", told[1]);
}

#[test]
fn at_most_limit_findings_are_printed_and_all_are_counted() {
    let directory = TempDir::new();
    let file =
        directory.file("a.xml", sitemap(&urls(2000).replace("</loc>", "</loc><priority>2</priority>")));
    let mut command = sitemill();
    let run = finish(command.args(["check", "--limit-findings", "7"]).arg(&file), b"").expect(65);
    let told = lines(&run);
    assert_eq!(told.len(), 7);
    let want = format!(
        "{}: entry 7: priority: not a decimal from 0.0 to 1.0: 2 (sitemaps.org, XML tag definitions: priority)",
        file.display()
    );
    assert_eq!(told[6], want);
    for said in ["priority  2,000", "only 7 of them are listed (--limit-findings)", "2,000 findings"] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    finish(sitemill().args(["check", "missing.xml"]), b"").expect(66);
    finish(sitemill().args(["check"]).arg(TempDir::new().path()), b"").expect(65);
    finish(sitemill().arg("check"), b"").expect(2);
}
