//! Sets and files that are named in several ways, and what the names of files tell.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{BASE, check, lines, sitemap, urls};
use crate::support::{Run, TempDir, build_command, files, finish, gunzip, gzip, sitemill};

/// Checks `paths`, which are relative to `directory`, and returns the summary.
fn summary(directory: &TempDir, paths: &[&str]) -> Value {
    let mut command = sitemill();
    let run = finish(command.args(["check", "--json"]).args(paths).current_dir(directory.path()), b"");
    serde_json::from_str(lines(&run.expect(0)).last().unwrap()).unwrap()
}

/// The numbers of sitemaps, index files, URLs, and sitemaps that are only listed.
fn counts(summary: &Value) -> [u64; 5] {
    ["sitemaps", "indexes", "urls", "also", "not_followed"].map(|key| summary[key].as_u64().unwrap())
}

fn build(out: &Path, options: &[&str], pages: &[&str]) -> Run {
    let input: String = pages.iter().map(|page| format!("{BASE}{page}\n")).collect();
    finish(build_command(out, BASE).args(["--urls-per-sitemap", "1"]).args(options), input.as_bytes())
}

#[test]
fn content_is_compared_with_the_name_of_its_file_whatever_words_the_name_has() {
    let directory = TempDir::new();
    for options in
        [&[][..], &["--name", "blog"], &["--section-by-path"], &["--name=x-1", "--section-by-path"]]
    {
        let out = directory.join(options.concat());
        build(&out, options, &["a/1", "a/2"]).expect(0);
        assert_eq!(check(&out, &[]).0, [], "{options:?}");
        let sitemaps: Vec<String> = files(&out).into_iter().filter(|file| file.ends_with(".gz")).collect();
        let [first, second] = [0, 1].map(|at| out.join(&sitemaps[at]));
        let whole = fs::read(&first).unwrap();
        let finding = |at: usize| ("content-name".to_owned(), format!("{} null", sitemaps[at]));

        let edited = String::from_utf8(gunzip(&whole)).unwrap().replace("/a/", "/b/");
        fs::write(&first, gzip(edited.as_bytes())).unwrap();
        assert_eq!(check(&out, &[]).0, [finding(0)], "{options:?}");
        fs::rename(&second, &first).unwrap();
        fs::write(&second, &whole).unwrap();
        assert_eq!(check(&out, &[]).0, [finding(0), finding(1)], "{options:?}");
    }
}

#[test]
fn a_set_and_its_files_are_checked_once_however_they_are_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &[], &["1", "2", "3"]).expect(0);
    let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    let [sitemap, other] = ["out", "./out"].map(|out| format!("{out}/{sitemap}"));
    for paths in [
        &["out"][..],
        &["out", "./out", "out/../out"],
        &["out", "out/sitemap-index-1.xml"],
        &["out/sitemap-index-1.xml", "./out"],
        &["out/sitemap-index-1.xml", "./out/sitemap-index-1.xml"],
        &["out/sitemap-index-1.xml", &sitemap, &other],
        &["out", &sitemap, &other, "."],
    ] {
        assert_eq!(counts(&summary(&directory, paths)), [3, 1, 3, 0, 0], "{paths:?}");
    }
    // An index file that is not part of the set is read, and its sitemaps are not read again.
    fs::copy(out.join("sitemap-index-1.xml"), out.join("copy.xml")).unwrap();
    assert_eq!(counts(&summary(&directory, &["out", "out/copy.xml"])), [3, 2, 3, 0, 0]);
}

#[test]
fn sitemaps_that_are_only_listed_and_named_themselves_are_checked() {
    let directory = TempDir::new();
    let out = directory.join("out");
    fs::create_dir_all(out.join("more stuff")).unwrap();
    let also = ["news.xml", "more stuff/a.xml"].map(|name| out.join(name));
    for (number, path) in also.iter().enumerate() {
        let entry = format!("<url><loc>{BASE}also/{number}</loc></url>");
        fs::write(path, sitemap(&entry)).unwrap();
    }
    let options: Vec<&str> = also.iter().flat_map(|path| ["--also", path.to_str().unwrap()]).collect();
    build(&out, &options, &["1"]).expect(0);
    for (paths, want) in [
        (&["out"][..], [1, 1, 1, 2, 0]),
        (&["out", "out/news.xml"], [2, 1, 2, 1, 0]),
        (&["out/more stuff/a.xml", "out"], [2, 1, 2, 1, 0]),
        (&["out", "./out/news.xml", "out/more stuff"], [3, 1, 3, 0, 0]),
        (&["out/sitemap-index-1.xml", "out/news.xml"], [2, 1, 2, 1, 0]),
    ] {
        assert_eq!(counts(&summary(&directory, paths)), want, "{paths:?}");
    }
    // The copy of an index file lists no others.
    fs::copy(out.join("sitemap-index-1.xml"), out.join("copy.xml")).unwrap();
    assert_eq!(counts(&summary(&directory, &["out", "out/copy.xml"])), [1, 2, 1, 2, 0]);
    fs::remove_file(out.join("copy.xml")).unwrap();
    // An index file that another program wrote is followed to all of them.
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    assert_eq!(counts(&summary(&directory, &["out"])), [3, 1, 3, 0, 0]);
    assert_eq!(counts(&summary(&directory, &["out", "out/more stuff/a.xml"])), [3, 1, 3, 0, 0]);
}

#[test]
fn at_most_ten_thousand_findings_of_a_file_are_printed_even_if_some_are_duplicates() {
    let directory = TempDir::new();
    let wrong = sitemap(&urls(6000).replace("</loc>", "</loc><priority>2</priority>"));
    let paths: Vec<PathBuf> = ["a.xml", "b.xml"].map(|name| directory.file(name, &wrong)).into();
    let mut command = sitemill();
    let run = finish(command.args(["check", "--limit-findings", "99999"]).args(&paths), b"").expect(65);
    let told = lines(&run);
    let of = |path: &Path| told.iter().filter(|line| line.starts_with(path.to_str().unwrap())).count();
    assert_eq!((of(&paths[0]), of(&paths[1])), (6000, 10_000));
    for said in
        ["priority   12,000", "duplicate   6,000", "only 16,000 of them are listed (at most 10,000 per file)"]
    {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
    let mut json = sitemill();
    let run =
        finish(json.args(["check", "--json", "--limit-findings", "99999"]).args(&paths), b"").expect(65);
    let summary: Value = serde_json::from_str(lines(&run).last().unwrap()).unwrap();
    assert_eq!(summary["rules"], json!({"duplicate": 6000, "priority": 12_000}));
}
