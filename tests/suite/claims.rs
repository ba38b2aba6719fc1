//! Which set a file belongs to, if manifests or robots lines are lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{Run, TempDir, build_command, files, finish, run, sitemill};

const BASE: &str = "https://h.example/";

/// Publishes a page in each of `sections`, which are the first segments of the paths, too. Without `options` for sections, they are
/// only that.
fn build(out: &Path, sections: &[&str], options: &[&str]) -> Run {
    let pages: String = sections.iter().map(|section| format!("{BASE}{section}/1\n")).collect();
    finish(build_command(out, BASE).args(options), pages.as_bytes())
}

const SECTIONS: [&str; 1] = ["--section-by-path"];
const BLOG: [&str; 2] = ["--name", "blog"];

/// What `command` writes about `path`, line by line, sorted.
#[track_caller]
fn told(command: &str, path: &Path, options: &[&str]) -> Vec<String> {
    let told = finish(sitemill().arg(command).arg(path).args(options), b"").expect(0).stdout;
    let mut told: Vec<_> = String::from_utf8(told).unwrap().lines().map(str::to_owned).collect();
    told.sort();
    told
}

fn pages(sections: &[&str]) -> Vec<String> {
    sections.iter().map(|section| format!("{BASE}{section}/1")).collect()
}

/// The URLs of a set that is built from those in `input`, and what the run says about skipped files.
#[track_caller]
fn built_from(input: &Path, directory: &TempDir) -> (Vec<String>, String) {
    let out = directory.join("again");
    let built = finish(build_command(&out, BASE).args(["--max-shrink", "100%"]).arg(input), b"").expect(0);
    (told("urls", &out, &[]), built.stderr)
}

/// Copies what crawlers read, without robots lines and manifests.
fn copy_of(out: &Path, directory: &TempDir) -> std::path::PathBuf {
    let copy = directory.join("copy");
    fs::create_dir(&copy).unwrap();
    for file in files(out).iter().filter(|file| file.starts_with("sitemap-")) {
        fs::copy(out.join(file), copy.join(file)).unwrap();
    }
    copy
}

#[test]
fn robots_lines_claim_the_files_of_a_set_that_has_lost_its_manifest() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let shop = ["blog-en", "shop"];
    build(&out, &shop, &SECTIONS).expect(0);
    build(&out, &["post"], &BLOG).expect(0);
    let all = pages(&["blog-en", "post", "shop"]);
    assert_eq!(told("urls", &out, &[]), all);
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    build(&out, &["post"], &[&BLOG[..], &["--ignore-manifest"]].concat()).expect(0);
    build(&out, &shop, &[SECTIONS[0], "--ignore-manifest"]).expect(0);
    build(&out, &["post"], &[&BLOG[..], &["--keep", "0", "--keep-sets", "0"]].concat()).expect(0);
    finish(sitemill().arg("check").arg(&out), b"").expect(0);
    assert_eq!(told("urls", &out, &[]), all);

    // The name of the first set of a name is that of a section which is live.
    let out = directory.join("section");
    build(&out, &["blog", "shop"], &SECTIONS).expect(0);
    fs::write(out.join(".sitemill/manifest.json"), "damaged").unwrap();
    let refused = |options: &[&str]| {
        let refused = build(&out, &["post"], &[&BLOG[..], options].concat()).expect(65);
        let said = "the set blog would have files named sitemap-blog-…, as the set without a name has";
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    };
    let options: [&[&str]; 4] = [&[], &["--ignore-manifest"], &["--take-over"], &["--dry-run"]];
    options.into_iter().for_each(refused);
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    options.into_iter().for_each(refused);
    assert_eq!(told("urls", &out, &[]), pages(&["blog", "shop"]));
}

#[test]
fn a_set_without_robots_lines_is_read_by_its_manifest() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let theirs = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{BASE}n</loc></url></urlset>"
    );
    build(&out, &["old"], &[]).expect(0);
    fs::write(out.join("theirs.xml"), theirs).unwrap();
    let also = out.join("theirs.xml");
    build(&out, &["a", "b"], &[SECTIONS[0], "--also", also.to_str().unwrap()]).expect(0);
    build(&out, &["post"], &BLOG).expect(0);
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    let all = pages(&["a", "b", "post"]);
    assert_eq!(told("urls", &out, &[]), all);
    let found = run(["check".as_ref(), out.as_os_str()]).expect(65);
    let found = (String::from_utf8(found.stdout).unwrap(), found.stderr);
    assert!(found.0.contains("robots: there is no such file") && found.0.lines().count() == 1, "{found:?}");
    assert!(found.1.contains("3 URLs in 3 sitemaps and 4 index files"), "{found:?}");
    let (urls, said) = built_from(&out, &directory);
    assert_eq!(urls, all);
    assert!(said.contains("theirs.xml (it is not from sitemill"), "{said}");

    fs::remove_file(out.join("sitemap-a-index-1.xml")).unwrap();
    let refused = run(["urls".as_ref(), out.as_os_str()]).expect(65);
    assert!(refused.stderr.contains("there is no such file: sitemap-a-index-1.xml"), "{}", refused.stderr);
}

#[test]
fn of_a_copy_without_robots_lines_every_index_file_is_read_once() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &["old"], &[]).expect(0);
    build(&out, &["a", "b"], &SECTIONS).expect(0);
    build(&out, &["post"], &BLOG).expect(0);
    let all = pages(&["a", "b", "old", "post"]);
    let copy = copy_of(&out, &directory);
    assert_eq!(told("urls", &copy, &[]), all);
    assert_eq!(told("check", &copy, &[]), [""; 0]);
    assert_eq!(built_from(&copy, &directory).0, all);
    assert_eq!(told("urls", &copy, &BLOG), pages(&["post"]));
    // With the lines of one set, the other one is what they do not name.
    let lines = "robots-sitemaps-blog.txt";
    fs::copy(out.join(lines), copy.join(lines)).unwrap();
    assert_eq!(told("urls", &copy, &[]), all);
    let checked = run(["check".as_ref(), copy.as_os_str()]).expect(0).stderr;
    assert!(checked.contains("4 URLs in 4 sitemaps and 4 index files"), "{checked}");
    assert_eq!(built_from(&copy, &directory).0, all);
}

#[test]
fn an_earlier_set_is_not_built_from_if_the_live_one_has_lost_its_robots_lines() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &["old"], &[]).expect(0);
    build(&out, &["new"], &[]).expect(0);
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    assert_eq!(built_from(&out, &directory).0, pages(&["new"]));
}

#[test]
fn a_name_that_only_a_section_has_is_not_that_of_a_set() {
    let directory = TempDir::new();
    let [out, named] = ["out", "named"].map(|name| directory.join(name));
    build(&out, &["blog"], &SECTIONS).expect(0);
    build(&named, &["en"], &[&BLOG[..], &SECTIONS].concat()).expect(0);
    let refused = |out: &Path, name: &str| {
        for command in ["check", "urls"] {
            let refused = finish(sitemill().arg(command).arg(out).args(["--name", name]), b"").expect(65);
            let said = format!("contains no set {name}");
            assert!(refused.stderr.contains(&said), "{command}: {}", refused.stderr);
        }
    };
    refused(&out, "blog");
    refused(&named, "blog-en");
    // The section of an earlier set, which is still there for crawlers.
    build(&out, &["new"], &[]).expect(0);
    assert!(out.join("sitemap-blog-index-1.xml").exists());
    refused(&out, "blog");
    assert_eq!(told("urls", &named, &BLOG), pages(&["en"]));
}

#[test]
fn the_directory_of_a_site_counts_once_however_many_links_lead_to_it() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let sites = ["https://a.example/1", "https://b.example/1"];
    finish(&mut build_command(&out, "{origin}/"), sites.map(|url| format!("{url}\n")).concat().as_bytes())
        .expect(0);
    for link in ["www.a.example", "0.example"] {
        symlink("a.example", out.join(link)).unwrap();
    }
    assert_eq!(told("urls", &out, &[]), sites);
    let checked = run(["check".as_ref(), out.as_os_str()]).expect(0).stderr;
    assert!(checked.contains("2 URLs in 2 sitemaps"), "{checked}");
    assert_eq!(told("status", &out, &["--json"]).len(), 2);
    // A site that has lost its robots lines and its manifest, as a copy has.
    fs::remove_dir_all(out.join("b.example/.sitemill")).unwrap();
    fs::remove_file(out.join("b.example/robots-sitemaps.txt")).unwrap();
    assert_eq!(told("urls", &out, &[]), sites);

    // Through links alone, too.
    fs::rename(out.join("a.example"), directory.join("moved")).unwrap();
    for link in ["www.a.example", "0.example"] {
        fs::remove_file(out.join(link)).unwrap();
        symlink(directory.join("moved"), out.join(link)).unwrap();
    }
    assert_eq!(told("urls", &out, &[]), sites);
}

#[test]
fn files_that_are_named_individually_have_the_scope_of_their_set() {
    let directory = TempDir::new();
    let (out, base) = (directory.join("out"), format!("{BASE}m/"));
    let mut command = build_command(&out, &base);
    finish(command.args(["--scope", "host"]), format!("{BASE}m/1\n{BASE}x\n").as_bytes()).expect(0);
    let (index, sitemap) =
        ("sitemap-index-1.xml", files(&out).into_iter().find(|file| file.ends_with(".gz")));
    for file in [index, &*sitemap.unwrap()] {
        let options = ["--base-url", &base];
        assert_eq!(told("check", &out.join(file), &options), [""; 0], "{file}");
        let mut check = sitemill();
        check.arg("check").arg(out.join(file)).args(options).args(["--scope", "directory"]);
        finish(&mut check, b"").expect(65);
    }
    // A copy has no manifest, so the default is as before.
    let copy = copy_of(&out, &directory);
    let mut check = sitemill();
    finish(check.arg("check").arg(copy.join(index)).args(["--base-url", &base]), b"").expect(65);
}

#[test]
fn index_files_below_a_directory_without_any_published_set_are_no_sites() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &["old"], &[]).expect(0);
    let site = directory.join("site");
    fs::create_dir(&site).unwrap();
    fs::rename(copy_of(&out, &directory), site.join(".backup")).unwrap();
    let sitemap = format!(
        "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>{BASE}new/1</loc></url></urlset>"
    );
    fs::write(site.join("sitemap.xml"), sitemap).unwrap();
    assert_eq!(told("urls", &site, &[]), pages(&["new"]));
    assert_eq!(told("check", &site, &["--base-url", BASE]), [""; 0]);
}

#[test]
fn a_set_is_not_published_above_a_site_whatever_other_names_its_directory_has() {
    let directory = TempDir::new();
    let out = directory.join("out");
    finish(&mut build_command(&out, "{origin}/"), format!("{BASE}1\n").as_bytes()).expect(0);
    fs::rename(out.join("h.example"), out.join("data")).unwrap();
    symlink("data", out.join("h.example")).unwrap();
    let refused = build(&out, &["new"], &[]).expect(65).stderr;
    assert!(refused.contains("h.example"), "{refused}");
    assert_eq!(told("urls", &out, &[]), [format!("{BASE}1")]);
}

#[test]
fn a_section_becomes_a_set_of_its_own_once_its_earlier_files_are_forgotten() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &["blog", "shop"], &SECTIONS).expect(0);
    let without = |options: &[&str]| build(&out, &["shop"], &[&SECTIONS[..], options].concat()).expect(0);
    let refused = || build(&out, &["post"], &BLOG).expect(65).stderr;
    let way_out = "; nothing was published; use another --name, or remove these files, which are of earlier sets: build the set \
                   without a name twice with --keep 0 --keep-sets 0\n";
    assert!(refused().ends_with("; nothing was published; use another --name\n"));
    without(&["--allow-empty"]);
    assert!(refused().ends_with(way_out), "{}", refused());
    without(&["--keep", "0", "--keep-sets", "0"]);
    assert!(refused().ends_with(way_out));
    without(&["--keep", "0", "--keep-sets", "0"]);
    build(&out, &["post"], &BLOG).expect(0);
}
