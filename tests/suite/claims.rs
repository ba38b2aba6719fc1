//! Which set a file belongs to, if manifests or robots lines are lost.

use std::fs;
use std::path::Path;

use crate::support::{Run, TempDir, build_command, finish, sitemill};

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
