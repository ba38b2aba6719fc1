//! `--divide stable`: runs over an input that has changed in one place.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::support::{TempDir, assert_valid_set, finish, published, published_urls, run, sitemill};

const BASE: &str = "https://www.example.com/";
const URLS: usize = 20_000;

/// The URLs of a shop, renamed in the range `changed`, in an order with the stride `step`.
fn shop(changed: Range<usize>, step: usize) -> String {
    let url = |n: usize| {
        let new = if changed.contains(&n) { "-new" } else { "" };
        format!("{BASE}{}/{:05}{new}.html\n", n / 500, n * 7)
    };
    // A stride that is coprime to the number of URLs visits each of them once.
    (0..URLS).map(|nth| url(nth * step % URLS)).collect()
}

fn build(out: &Path, input: &str, options: &[&str]) {
    let mut command = sitemill();
    command.args(["build", "--quiet", "--divide", "stable", "--urls-per-sitemap", "100"]);
    if !options.contains(&"--base-url") {
        command.args(["--base-url", BASE]);
    }
    finish(command.args(options).arg("--out").arg(out), input.as_bytes()).expect(0);
}

/// Name, inode and modification time of each sitemap of a set, in order.
fn sitemaps(out: &Path) -> Vec<(String, u64, i64)> {
    let named = published(out, BASE).into_iter().map(|(file, _)| file).filter(|file| file.ends_with(".gz"));
    let known = named.map(|file| {
        let meta = fs::metadata(out.join(&file)).expect("published() has read it");
        (file, meta.ino(), meta.mtime_nsec())
    });
    known.collect()
}

#[test]
fn a_change_in_one_place_rewrites_the_sitemaps_there_and_no_others() {
    let directory = TempDir::new();
    let sorted = ["--order", "sorted"];
    let (mut all, mut rewritten) = (0, 0);
    for place in 0..8 {
        let out = directory.join(format!("out-{place}"));
        build(&out, &shop(0..0, 1), &sorted);
        let before = sitemaps(&out);
        // 1 % of the URLs.
        let changed = 2_000 * place + 300..2_000 * place + 500;
        build(&out, &shop(changed.clone(), 1), &sorted);
        let after = sitemaps(&out);

        let names: HashSet<_> = before.iter().map(|(file, ..)| file).collect();
        let new = after.iter().filter(|(file, ..)| !names.contains(file)).count();
        let kept = after.iter().filter(|sitemap| before.contains(sitemap)).count();
        assert_eq!(new + kept, after.len(), "a file that keeps its name was not rewritten");
        assert!(new > 0, "a changed input must change a sitemap");
        all += after.len();
        rewritten += new;

        let mut want: Vec<_> = shop(changed.clone(), 1).lines().map(str::to_owned).collect();
        want.sort_unstable();
        assert_eq!(published_urls(&out, BASE), want);
        let afresh = directory.join(format!("afresh-{place}"));
        build(&afresh, &shop(changed, 1), &sorted);
        let names =
            |set: &[(String, u64, i64)]| set.iter().map(|(file, ..)| file.clone()).collect::<Vec<_>>();
        assert_eq!(names(&after), names(&sitemaps(&afresh)), "names do not depend on the previous set");
        run([Path::new("check"), &out]).expect(0);
    }
    assert!(50 * rewritten <= all, "{rewritten} of {all} sitemaps are new: more than 2 %");
}

#[test]
fn a_shuffled_export_rewrites_nothing() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let sorted = ["--order", "sorted"];
    build(&out, &shop(0..0, 1), &sorted);
    let (before, files) = (sitemaps(&out), published(&out, BASE));
    for step in [7_919, 19_999] {
        build(&out, &shop(0..0, step), &[&sorted[..], &["--threads", "3"]].concat());
        assert_eq!(sitemaps(&out), before);
        assert!(published(&out, BASE) == files, "index files too");
    }
    assert_valid_set(&out, BASE, "0.9");
    run([Path::new("check"), &out]).expect(0);
}

#[test]
fn boundaries_depend_only_on_the_urls_and_their_order_for_each_site() {
    let directory = TempDir::new();
    // Input order, with duplicates and rows that need cleaning.
    let input = shop(0..0, 1);
    let dirty = input.replace("www.", "WWW.").replace('\n', "\r\n") + &input[..2_000];
    let names = |name: &str, input: &str, options: &[&str]| {
        let out = directory.join(name);
        build(&out, input, options);
        sitemaps(&out).into_iter().map(|(file, ..)| file).collect::<Vec<_>>()
    };
    let want = names("plain", &input, &[]);
    // Each has about 70 of at most 100 URLs.
    assert!((270..300).contains(&want.len()), "{} sitemaps", want.len());
    assert_eq!(names("dirty", &dirty, &["--threads", "1"]), want);
    let mut lines: Vec<_> = input.lines().collect();
    lines.sort_unstable();
    assert_eq!(names("sorted", &input, &["--order", "sorted"]), names("lines", &lines.join("\n"), &[]));

    for order in ["input", "sorted"] {
        let sites = directory.join(format!("sites-{order}"));
        let both = format!("{input}https://other.example/\n");
        build(&sites, &both, &["--base-url", "{origin}/", "--order", order]);
        let site: Vec<_> =
            sitemaps(&sites.join("www.example.com")).into_iter().map(|(file, ..)| file).collect();
        assert_eq!(site, names(&format!("alone-{order}"), &input, &["--order", order]));
    }
}

#[test]
fn content_that_returns_reuses_its_kept_file() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &shop(0..0, 1), &[]);
    let first = sitemaps(&out);
    build(&out, &shop(400..900, 1), &[]);
    build(&out, &shop(0..0, 1), &[]);
    assert_eq!(sitemaps(&out), first);
}

/// Rows of several megabytes with dates and images, renamed and dated in the range `changed`, in an order with the stride `step`.
fn tagged(changed: Range<usize>, step: usize) -> String {
    let row = |n: usize| {
        let (new, day) = if changed.contains(&n) { ("-new", 2) } else { ("", 1) };
        let image =
            if n.is_multiple_of(5) { format!("https://images.example/{n}.jpg") } else { String::new() };
        let words = "a-long-name-of-something-that-is-sold-here-and-nowhere-else";
        format!("{BASE}{}/{words}-{:05}{new}.html,2026-11-0{day},{image}\n", n / 500, n * 7)
    };
    "loc,lastmod,image\n".to_owned()
        + &(0..2 * URLS).map(|nth| row(nth * step % (2 * URLS))).collect::<String>()
}

#[test]
fn sitemaps_that_are_taken_over_are_those_of_a_new_set() {
    let directory = TempDir::new();
    let row = |nth: usize| tagged(0..0, 1).lines().nth(nth).unwrap().to_owned() + "\n";
    // Another date for a URL that is there: the first row counts.
    let dated = |is_first: bool| {
        let other = row(20_000).replace("2026-11-01", "2026-11-07");
        let rows = tagged(0..0, 1);
        let (header, rows) = rows.split_once('\n').unwrap();
        if is_first { format!("{header}\n{other}{rows}") } else { format!("{header}\n{rows}{other}") }
    };
    let without = |from: usize, rows: usize| {
        let all = tagged(0..0, 1);
        let lines = all.lines().enumerate().filter(|(nth, _)| !(from..from + rows).contains(nth));
        lines.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let inputs = [
        tagged(0..0, 7_919),
        tagged(20_000..20_400, 1),
        tagged(39_990..40_000, 7_919),
        without(1, 150),
        without(25_000, 1),
        without(39_000, 1_001),
        tagged(0..0, 1) + &row(30_000).replace("/60/", "/60/!"),
        dated(false),
        dated(true),
        tagged(0..0, 1),
    ];
    for limits in [["--urls-per-sitemap", "500"], ["--bytes-per-sitemap", "120000"]] {
        for divide in ["fill", "stable"] {
            let options =
                [&limits[..], &["--order", "sorted", "--divide", divide, "--threads", "2"]].concat();
            let build = |out: &Path, input: &str| {
                let mut command = sitemill();
                command.args(["build", "--quiet", "--format", "csv", "--base-url", BASE]).args(&options);
                finish(command.arg("--out").arg(out), input.as_bytes()).expect(0);
            };
            let files = |out: &Path| -> Vec<_> {
                published(out, BASE).into_iter().filter(|(file, _)| file.ends_with(".gz")).collect()
            };
            let out = directory.join(format!("{}-{divide}", limits[0]));
            build(&out, &tagged(0..0, 1));
            for (nth, input) in inputs.iter().enumerate() {
                if nth % 3 == 1 {
                    // A file in another place than the change.
                    let (damaged, ..) = &sitemaps(&out)[7];
                    fs::write(out.join(damaged), b"no gzip").unwrap();
                }
                build(&out, input);
                let afresh = directory.join(format!("afresh-{}-{divide}-{nth}", limits[0]));
                build(&afresh, input);
                assert!(files(&out) == files(&afresh), "{options:?}, input {nth}");
            }
        }
    }
}

#[test]
fn a_sitemap_that_stays_is_as_readable_as_a_new_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let built = || build(&out, &shop(0..0, 1), &[]);
    built();
    let path = out.join(&sitemaps(&out)[0].0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let forbid = || fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let before = sitemaps(&out);
    forbid();
    built();
    assert_eq!(mode(&path), mode(&out.join("sitemap-index-1.xml")));
    assert_eq!(sitemaps(&out), before);
    // A file with a second name may be any other file of the user.
    fs::hard_link(&path, directory.join("other")).unwrap();
    forbid();
    built();
    assert_eq!(mode(&path), 0o600);
}
