//! The errors of the library name the file or directory that they are about.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use sitemill::{
    CheckJob, Error, Job, RollbackJob, Silent, StatusJob, Stop, Target, UrlsJob, build, check, rollback,
    status, urls,
};

use crate::support::{TempDir, gzip};

const BASE: &str = "https://h.example/";

type Failing = fn(&TempDir) -> (Result<(), Error>, PathBuf);

fn job(directory: &TempDir) -> Job {
    let input = directory.file("urls.txt", "https://h.example/a\n");
    Job::new(vec![input], BASE.parse().unwrap(), directory.join("out"))
}

fn built(job: &Job) -> Result<(), Error> {
    build(job, &Silent, &Stop::default()).map(drop)
}

fn built_with(directory: &TempDir, change: impl FnOnce(&mut Job)) -> Result<(), Error> {
    let mut job = job(directory);
    change(&mut job);
    built(&job)
}

fn with_input(directory: &TempDir, path: &Path) -> Result<(), Error> {
    built_with(directory, |job| job.input.paths = vec![path.into()])
}

fn rolled_back(out: &Path) -> Result<(), Error> {
    rollback(&RollbackJob::new(out.into()), &Silent, &Stop::default()).map(drop)
}

fn extracted(path: &Path) -> Result<(), Error> {
    let to = Target { name: Path::new("output"), to: &mut Vec::new() };
    urls(&UrlsJob::new(vec![path.into()]), &Silent, &Stop::default(), to).map(drop)
}

/// Each case makes a mistake, and returns the result and the path that the error must name.
const CASES: &[(&str, Failing)] = &[
    ("the status of a file", |directory| {
        let path = directory.file("urls.txt", "");
        let refused = status(&StatusJob::new(path.clone()), &Silent, &Stop::default()).map(drop);
        assert!(
            refused.as_ref().is_err_and(|error| error.to_string().contains("is a file; give the directory"))
        );
        (refused, path)
    }),
    ("an input is missing", |directory| {
        let path = directory.join("missing.txt");
        (with_input(directory, &path), path)
    }),
    ("an input is a damaged archive", |directory| {
        let whole = gzip(&b"https://h.example/a\n".repeat(1000));
        let path = directory.file("urls.txt.gz", &whole[..whole.len() / 2]);
        (with_input(directory, &path), path)
    }),
    ("an input is a spreadsheet", |directory| {
        let path = directory.file("urls.xlsx", b"PK\x03\x04");
        (with_input(directory, &path), path)
    }),
    ("a directory has no data file", |directory| {
        let path = directory.join("empty");
        fs::create_dir(&path).unwrap();
        (with_input(directory, &path), path)
    }),
    ("a sitemap index lists another index", |directory| {
        let index = |loc: &str| {
            format!(
                "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap>\
                 <loc>https://h.example/{loc}</loc></sitemap></sitemapindex>"
            )
        };
        directory.file("inner.xml", index("a.xml"));
        let path = directory.file("outer.xml", index("inner.xml"));
        (with_input(directory, &path), path)
    }),
    ("the output directory is a file", |directory| {
        let path = directory.file("out", "");
        (built_with(directory, |_| {}), path)
    }),
    ("an index file is in the way", |directory| {
        fs::create_dir(directory.join("out")).unwrap();
        let path = directory.file("out/sitemap-index-1.xml", "theirs");
        (built_with(directory, |_| {}), path)
    }),
    ("a directory has the name of an index file", |directory| {
        let path = directory.join("out/sitemap-index-1.xml");
        fs::create_dir_all(&path).unwrap();
        (built_with(directory, |_| {}), path)
    }),
    ("a live index file has become a link", |directory| {
        built_with(directory, |_| {}).unwrap();
        let path = directory.join("out/sitemap-index-1.xml");
        fs::rename(&path, directory.join("elsewhere")).unwrap();
        symlink("../elsewhere", &path).unwrap();
        (built_with(directory, |_| {}), path)
    }),
    ("the manifest is damaged", |directory| {
        built_with(directory, |_| {}).unwrap();
        let path = directory.file("out/.sitemill/manifest.json", "{");
        (built_with(directory, |_| {}), path)
    }),
    ("the rejects file cannot be created", |directory| {
        let path = directory.join("missing/rejects.tsv");
        (built_with(directory, |job| job.publication.rejects = Some(path.clone())), path)
    }),
    ("robots.txt is a link", |directory| {
        let path = directory.join("robots.txt");
        symlink(directory.file("elsewhere", ""), &path).unwrap();
        (built_with(directory, |job| job.publication.robots = Some(path.clone())), path)
    }),
    ("no set can be rolled back", |directory| {
        let path = directory.join("out");
        (rolled_back(&path), path)
    }),
    ("no earlier set is kept", |directory| {
        built_with(directory, |_| {}).unwrap();
        (rolled_back(&directory.join("out")), directory.join("out"))
    }),
    ("a sitemap of the earlier set is damaged", |directory| {
        built_with(directory, |_| {}).unwrap();
        let names = fs::read_dir(directory.join("out")).unwrap().map(|entry| entry.unwrap().path());
        let path = names.into_iter().find(|path| path.extension().is_some_and(|end| end == "gz")).unwrap();
        let other = directory.file("other.txt", "https://h.example/b\n");
        with_input(directory, &other).unwrap();
        fs::write(&path, "rotten").unwrap();
        (rolled_back(&directory.join("out")), path)
    }),
    ("a directory has no status", |directory| {
        let path = directory.join("empty");
        fs::create_dir(&path).unwrap();
        (status(&StatusJob::new(path.clone()), &Silent, &Stop::default()).map(drop), path)
    }),
    ("there is nothing to check", |directory| {
        let path = directory.join("empty");
        fs::create_dir(&path).unwrap();
        let job = CheckJob::new(vec![path.clone()]);
        (check(&job, &Silent, &Stop::default(), &mut |_| Ok(())).map(drop), path)
    }),
    ("a sitemap to extract URLs from is not XML", |directory| {
        let path = directory.file("sitemap.xml", "neither XML nor a URL\n");
        (extracted(&path), path)
    }),
    ("an index file lists a missing sitemap", |directory| {
        let loc = "<sitemap><loc>https://h.example/missing.xml</loc></sitemap>";
        let head = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        let path = directory.file("index.xml", format!("{head}{loc}</sitemapindex>"));
        (extracted(&path), path)
    }),
];

#[test]
fn every_error_about_a_file_names_its_path() {
    for (case, failing) in CASES {
        let directory = TempDir::new();
        let (result, path) = failing(&directory);
        let error = result.expect_err(case);
        assert_eq!(error.path(), Some(&*path), "{case}: {error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{case}: {error}");
    }
}
