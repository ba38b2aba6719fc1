//! Several sets in one directory: each has its own files, history, guards and robots block.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{
    Run, TempDir, assert_says, assert_valid, build_command, contents, files, finish, locs, run, sitemill,
};

const BASE: &str = "https://h.example/";

fn pages(section: &str, last: u32) -> String {
    (1..=last).map(|page| format!("{BASE}{section}/{page}\n")).collect()
}

/// Builds the set `name`, or the set without a name if it is empty, with `last` URLs.
fn build(out: &Path, name: &str, last: u32, options: &[&str]) -> Run {
    let mut command = build_command(out, BASE);
    command.args(options);
    if !name.is_empty() {
        command.args(["--name", name]);
    }
    finish(&mut command, pages(name, last).as_bytes())
}

fn sitemill_in(command: &str, out: &Path, options: &[&str]) -> Run {
    finish(sitemill().arg(command).arg(out).args(options), b"")
}

fn urls(out: &Path, options: &[&str]) -> Vec<String> {
    let listed = sitemill_in("urls", out, options).expect(0).stdout;
    let mut listed: Vec<_> = String::from_utf8(listed).unwrap().lines().map(str::to_owned).collect();
    listed.sort();
    listed
}

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Waits until a build of the set `blog`, which waits for its input, holds its lock.
fn wait_until_blog_is_staging(out: &Path) {
    let staging = out.join(".sitemill/names/blog/staging");
    while fs::read_dir(&staging).map_or(0, Iterator::count) == 0 {
        std::thread::yield_now();
    }
}

/// The files of `out` that are not those of the set `name`, without robots.txt.
fn others(out: &Path, name: &str) -> Vec<(String, Vec<u8>)> {
    let (stem, robots) = (format!("sitemap-{name}-"), format!("robots-sitemaps-{name}.txt"));
    let is_own = |file: &str| file.starts_with(&stem) || file == robots;
    contents(out).into_iter().filter(|(file, _)| !is_own(file) && file != "robots.txt").collect()
}

#[test]
fn sets_with_different_names_share_a_directory_and_leave_each_other_alone() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let robots = out.join("robots.txt");
    let robots = ["--robots", robots.to_str().unwrap(), "--keep", "0", "--keep-sets", "1"];
    build(&out, "", 5, &robots).expect(0);
    fs::write(out.join("index.html"), "theirs").unwrap();
    fs::write(out.join("sitemap-news.xml"), "theirs").unwrap();
    build(&out, "shop", 7, &robots).expect(0);

    let before = others(&out, "blog");
    for last in [3, 4, 5, 6] {
        build(&out, "blog", last, &robots).expect(0);
        assert_eq!(others(&out, "blog"), before);
    }
    // The live set, and one that is kept.
    let own = |word: &str| files(&out).into_iter().filter(|file| file.contains(word)).collect::<Vec<_>>();
    assert_eq!(own("sitemap-blog-0").len(), 2);
    assert_eq!(own("blog-index"), ["sitemap-blog-index-1.xml"]);
    assert_eq!(own("robots-").len(), 3);
    sitemill_in("rollback", &out, &["--name", "blog", robots[0], robots[1]]).expect(0);
    assert_eq!(others(&out, "blog"), before);
    let index = fs::read_to_string(out.join("sitemap-blog-index-1.xml")).unwrap();
    assert_valid(&index, "siteindex-0.9");
    assert!(locs(&index)[0].starts_with("https://h.example/sitemap-blog-00001-"));

    let block = |name: &str, file: &str| {
        format!("# sitemill: begin {BASE}{name}\nSitemap: {BASE}{file}\n# sitemill: end {BASE}{name}\n")
    };
    let all = block("", "sitemap-index-1.xml")
        + &block(" shop", "sitemap-shop-index-1.xml")
        + &block(" blog", "sitemap-blog-index-1.xml");
    assert_eq!(fs::read_to_string(robots[1]).unwrap(), all);

    sitemill_in("check", &out, &[]).expect(0);
    assert_eq!(urls(&out, &[]), lines(&(pages("", 5) + &pages("shop", 7) + &pages("blog", 5))));
    assert_eq!(urls(&out, &["--name", "blog"]), lines(&pages("blog", 5)));
    // A damaged set is not that of the others.
    let sitemap = own("sitemap-shop-0").remove(0);
    fs::write(out.join(&sitemap), "damaged").unwrap();
    sitemill_in("check", &out, &["--name", "blog"]).expect(0);
    sitemill_in("check", &out, &["--name", "shop"]).expect(65);
    let found = sitemill_in("check", &out, &[]).expect(65);
    assert!(String::from_utf8_lossy(&found.stdout).contains(&sitemap));
    fs::write(out.join(".sitemill/names/shop/manifest.json"), "{").unwrap();
    build(&out, "blog", 7, &robots).expect(0);
    build(&out, "", 5, &robots).expect(0);
    assert_says(
        &build(&out, "shop", 7, &robots).expect(65),
        &[".sitemill/names/shop/manifest.json: is damaged"],
    );
    build(&out, "shop", 7, &["--ignore-manifest"]).expect(0);
    sitemill_in("check", &out, &[]).expect(0);
    assert_eq!(fs::read_to_string(out.join("sitemap-news.xml")).unwrap(), "theirs");
}

#[test]
fn a_set_without_a_name_has_the_same_files_whether_it_is_alone_or_not() {
    let directory = TempDir::new();
    let [alone, shared] = ["alone", "shared"].map(|name| directory.join(name));
    build(&shared, "blog", 3, &[]).expect(0);
    for out in [&alone, &shared] {
        build(out, "", 4, &[]).expect(0);
    }
    let published = |out: &Path| {
        let is_own = |file: &String| !file.contains("blog") && !file.starts_with(".sitemill");
        contents(out).into_iter().filter(|(file, _)| is_own(file)).collect::<Vec<_>>()
    };
    assert_eq!(published(&alone), published(&shared));
}

#[test]
fn status_shows_all_sets_of_a_directory_or_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, "shop", 7, &[]).expect(0);
    build(&out, "blog", 3, &[]).expect(0);
    let status = |options: &[&str]| -> Vec<(Value, u64)> {
        let json = sitemill_in("status", &out, &[&["--json"], options].concat()).expect(0).stdout;
        let lines = String::from_utf8(json).unwrap();
        let objects = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        objects.map(|set| (set["name"].clone(), set["live"]["urls"].as_u64().unwrap())).collect()
    };
    assert_eq!(status(&[]), [("blog".into(), 3), ("shop".into(), 7)]);
    build(&out, "", 5, &[]).expect(0);
    assert_eq!(status(&[]), [(Value::Null, 5), ("blog".into(), 3), ("shop".into(), 7)]);
    assert_eq!(status(&["--name", "blog"]), [("blog".into(), 3)]);
    let text = String::from_utf8(sitemill_in("status", &out, &[]).expect(0).stdout).unwrap();
    assert!(text.contains("out: https://h.example/") && text.contains("out (set blog): https://h"), "{text}");
    let missing = sitemill_in("status", &out, &["--name", "other"]).expect(65);
    assert_says(&missing, &["contains no set other; it has these sets: one without a name, blog, shop"]);
}

#[test]
fn rollback_without_a_name_means_the_set_without_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for last in [3, 4] {
        build(&out, "blog", last, &[]).expect(0);
    }
    let before = contents(&out);
    let refused = sitemill_in("rollback", &out, &[]).expect(65);
    let said = "contains no set without a name; it has these sets: blog; choose a named one with --name";
    assert_says(&refused, &[said]);
    let refused = sitemill_in("rollback", &out, &["--name", "shop"]).expect(65);
    assert_says(&refused, &["contains no set shop; it has these sets: blog"]);
    assert_eq!(contents(&out), before);
    sitemill_in("rollback", &out, &["--name", "blog"]).expect(0);
    assert_eq!(urls(&out, &[]), lines(&pages("blog", 3)));
}

#[test]
fn guards_compare_with_the_live_set_of_the_same_name() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, "", 100, &[]).expect(0);
    build(&out, "blog", 10, &[]).expect(0);
    assert_says(&build(&out, "blog", 2, &[]).expect(65), &["2 URLs would replace 10"]);
    let dry = build(&out, "blog", 9, &["--dry-run", "--json"]).expect(0);
    let report: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!((&report["name"], &report["dry_run"]["replaced_indexes"]), (&"blog".into(), &1.into()));
    // The first set of a name in a directory with another URL.
    let mut command = build_command(&out, "https://h.example/maps/");
    let refused = finish(command.args(["--name", "shop"]), b"https://h.example/maps/1\n").expect(65);
    assert_says(
        &refused,
        &["the set without a name there has base URL https://h.example/, and this run has", "--replace-set"],
    );
    finish(command.arg("--replace-set"), b"https://h.example/maps/1\n").expect(0);
    build(&out, "blog", 10, &[]).expect(0);
}

#[test]
fn a_set_and_a_section_of_another_set_never_have_the_same_files() {
    let directory = TempDir::new();
    let with_sections = |out: &Path, name: &[&str], section: &str| {
        let mut command = build_command(out, BASE);
        finish(command.arg("--section-by-path").args(name), pages(section, 5).as_bytes())
    };
    let out = directory.join("section first");
    with_sections(&out, &[], "blog").expect(0);
    assert!(out.join("sitemap-blog-index-1.xml").exists());
    let before = contents(&out);
    let refused = build(&out, "blog", 3, &["--take-over", "--replace-set"]).expect(65);
    assert_says(
        &refused,
        &["the set blog would have files named sitemap-blog-…, as the set without a name has", "--name"],
    );
    build(&out, "blog-en", 3, &[]).expect(0);
    let later = contents(&out);
    let refused = with_sections(&out, &["--name", "blog"], "en").expect(65);
    assert_says(&refused, &["another --name"]);
    assert_eq!(contents(&out), later);
    assert!(before.iter().all(|file| later.contains(file)));

    let out = directory.join("name first");
    build(&out, "blog", 3, &[]).expect(0);
    let before = contents(&out);
    let refused = with_sections(&out, &["--take-over"], "blog").expect(65);
    assert_says(
        &refused,
        &["the set without a name would have files named sitemap-blog-…, as the set blog has"],
    );
    assert_eq!(contents(&out), before);
    with_sections(&out, &["--name", "shop"], "blog").expect(0);
    sitemill_in("check", &out, &[]).expect(0);
    // Without their manifests, the sets still know their own files.
    for name in ["blog", "shop"] {
        fs::remove_file(out.join(format!(".sitemill/names/{name}/manifest.json"))).unwrap();
    }
    build(&out, "blog", 4, &["--ignore-manifest", "--keep", "0", "--keep-sets", "0"]).expect(0);
    with_sections(&out, &["--name", "shop", "--ignore-manifest"], "blog").expect(0);
    sitemill_in("check", &out, &[]).expect(0);
    assert_eq!(urls(&out, &["--name", "shop"]), lines(&pages("blog", 5)));
}

#[test]
fn runs_for_different_names_do_not_wait_for_each_other() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut command = build_command(&out, BASE);
    let mut waiting =
        command.args(["--name", "blog"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_blog_is_staging(&out);
    build(&out, "", 5, &[]).expect(0);
    build(&out, "shop", 7, &[]).expect(0);
    sitemill_in("rollback", &out, &["--name", "shop"]).expect(65);
    assert_says(&build(&out, "blog", 3, &[]).expect(75), &["names/blog/lock: another run holds it"]);
    drop(waiting.stdin.take());
    assert_eq!(waiting.wait().unwrap().code(), Some(65), "its input is empty");
    build(&out, "blog", 3, &[]).expect(0);
    assert_eq!(urls(&out, &[]), lines(&(pages("", 5) + &pages("shop", 7) + &pages("blog", 3))));
}

#[test]
fn the_first_runs_of_several_names_at_the_same_time_all_succeed() {
    let directory = TempDir::new();
    let (out, robots) = (directory.join("out"), directory.join("robots.txt"));
    let names = ["a", "b", "c", "d", "e", "f"];
    std::thread::scope(|scope| {
        for name in names {
            scope.spawn(|| build(&out, name, 20, &["--robots", robots.to_str().unwrap()]).expect(0));
        }
    });
    assert_eq!(urls(&out, &[]).len(), 120);
    sitemill_in("check", &out, &[]).expect(0);
    let robots = fs::read_to_string(robots).unwrap();
    for name in names {
        let line = format!("\nSitemap: {BASE}sitemap-{name}-index-1.xml\n# sitemill: end {BASE} {name}\n");
        assert!(robots.contains(&line), "{name}: {robots}");
    }
}

#[test]
fn the_sites_of_each_name_have_locks_and_sets_of_their_own() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let of =
        |name: &[&str], input: &str| finish(build_command(&out, "{origin}/").args(name), input.as_bytes());
    let (shop, blog) = ("https://a.example/shop\nhttps://b.example/shop\n", "https://a.example/blog\n");
    of(&[], shop).expect(0);
    of(&["--name", "blog"], blog).expect(0);
    let site = out.join("a.example");
    assert_eq!(urls(&site, &["--name", "blog"]), lines(blog));
    assert_eq!(urls(&out, &[]), lines(&(shop.to_owned() + blog)));
    assert_eq!(urls(&out, &["--name", "blog"]), lines(blog));
    sitemill_in("check", &out, &[]).expect(0);
    let status = sitemill_in("status", &out, &["--json"]).expect(0).stdout;
    assert_eq!(String::from_utf8(status).unwrap().lines().count(), 3);

    let mut command = build_command(&out, "{origin}/");
    let mut all =
        command.args(["--name", "blog"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_blog_is_staging(&out);
    let site_of =
        |name: &[&str]| finish(build_command(&site, "https://a.example/").args(name), blog.as_bytes());
    assert_says(&site_of(&["--name", "blog"]).expect(75), &["names/blog/sites.lock: another run holds it"]);
    site_of(&[]).expect(0);
    of(&[], shop).expect(0);
    drop(all.stdin.take());
    assert_eq!(all.wait().unwrap().code(), Some(65));
    site_of(&["--name", "blog"]).expect(0);

    // A directory with a set of its own.
    build(&directory.join("single"), "", 3, &[]).expect(0);
    for name in [&["--name", "blog"][..], &[]] {
        let mut command = build_command(&directory.join("single"), "{origin}/");
        let refused = finish(command.args(name), blog.as_bytes()).expect(65);
        let what = "already contains the set for https://h.example/";
        assert_says(&refused, &[what, "--replace-set"]);
        finish(command.arg("--replace-set"), blog.as_bytes()).expect(0);
    }
}

#[test]
fn sets_are_compared_with_those_of_the_same_name_and_read_as_input() {
    let directory = TempDir::new();
    let [old, new, copy] = ["old", "new", "copy"].map(|name| directory.join(name));
    for (out, blog) in [(&old, 3), (&new, 4)] {
        build(out, "", 5, &[]).expect(0);
        build(out, "blog", blog, &[]).expect(0);
    }
    let diff = |options: &[&str]| {
        let told = finish(sitemill().arg("diff").args([&old, &new]).args(options), b"").expect(0).stdout;
        String::from_utf8(told).unwrap()
    };
    assert_eq!(diff(&[]), "+ https://h.example/blog/4\n");
    assert_eq!(diff(&["--name", "blog"]), "+ https://h.example/blog/4\n");
    build(&new, "blog", 6, &[]).expect(0);
    let kept = fs::read_dir(new.join(".sitemill/names/blog/sets")).unwrap().next().unwrap().unwrap().path();
    let since =
        finish(sitemill().arg("diff").arg(kept).arg(&new).args(["--name", "blog"]), b"").expect(0).stdout;
    assert_eq!(String::from_utf8(since).unwrap(), "+ https://h.example/blog/5\n+ https://h.example/blog/6\n");

    finish(build_command(&copy, BASE).arg(&new), b"").expect(0);
    assert_eq!(urls(&copy, &[]), lines(&(pages("", 5) + &pages("blog", 6))));
    let page = sitemill_in("report", &new, &["--name", "blog"]).expect(0).stdout;
    assert!(String::from_utf8(page).unwrap().contains("https://h.example/ (blog)"));
    let page = String::from_utf8(sitemill_in("report", &new, &[]).expect(0).stdout).unwrap();
    assert!(page.contains("2 sets") && page.contains("https://h.example/ blog"), "{page}");
}

#[test]
fn copied_files_are_checked_without_their_manifests() {
    let directory = TempDir::new();
    let (out, copy) = (directory.join("out"), directory.join("copy"));
    build(&out, "", 5, &[]).expect(0);
    build(&out, "blog", 3, &[]).expect(0);
    fs::create_dir(&copy).unwrap();
    for file in files(&out).iter().filter(|file| !file.starts_with(".sitemill")) {
        fs::copy(out.join(file), copy.join(file)).unwrap();
    }
    sitemill_in("check", &copy, &[]).expect(0);
    assert_eq!(urls(&copy, &[]), lines(&(pages("", 5) + &pages("blog", 3))));
    assert_eq!(urls(&copy, &["--name", "blog"]), lines(&pages("blog", 3)));
    // An index file that the lines skip is reported for the set that it belongs to.
    let named = format!("Sitemap: {BASE}sitemap-blog-index-2.xml\n");
    fs::write(copy.join("robots-sitemaps-blog.txt"), named).unwrap();
    fs::copy(copy.join("sitemap-blog-index-1.xml"), copy.join("sitemap-blog-index-2.xml")).unwrap();
    sitemill_in("check", &copy, &["--name", "blog"]).expect(65);
    let found = String::from_utf8(sitemill_in("check", &copy, &[]).expect(65).stdout).unwrap();
    assert!(found.contains("robots-sitemaps-blog.txt") && found.lines().count() == 1, "{found}");
    for file in ["sitemap-blog-index-2.xml", "robots-sitemaps.txt", "robots-sitemaps-blog.txt"] {
        fs::remove_file(copy.join(file)).unwrap();
    }
    assert_eq!(urls(&copy, &["--name", "blog"]), lines(&pages("blog", 3)));
}

#[test]
fn a_name_is_a_plain_word_and_reaches_commands_from_the_environment() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (name, similar) in [("../x", "such as x"), ("Blog", "such as blog"), ("a_b", "such as a-b")] {
        let refused = build(&out, name, 3, &[]).expect(2);
        assert_says(&refused, &["lower-case ASCII letters and digits", similar]);
    }
    assert!(!out.exists());
    let metrics = directory.join("metrics.prom");
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--then", "printenv SITEMILL_RUN_NAME", "--out"]).arg(&out);
    command.env("SITEMILL_NAME", "blog").arg("--metrics").arg(&metrics);
    let told = finish(&mut command, pages("blog", 3).as_bytes()).expect(0);
    assert_says(&told, &["blog\n", "set blog is live in", "robots-sitemaps-blog.txt"]);
    let metrics = fs::read_to_string(metrics).unwrap();
    assert!(
        metrics.contains("sitemill_success{base_url=\"https://h.example/\",name=\"blog\"} 1"),
        "{metrics}"
    );
    run(["status".as_ref(), out.as_os_str(), "--name".as_ref(), "blog".as_ref()]).expect(0);
    // No result may replace a file of any set.
    for file in ["sitemap-blog-index-1.xml", "robots-sitemaps-blog.txt", ".sitemill/names/blog/report.json"] {
        build(&out, "", 3, &["--report", out.join(file).to_str().unwrap()]).expect(2);
    }
}
