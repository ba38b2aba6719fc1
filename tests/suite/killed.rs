//! A run may be killed at any step of publishing. A crawler then reads the old set or the new one, and the next run
//! removes everything that the dead one left behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{
    Run, TempDir, assert_nothing_is_left, build_command, copy, epoch_plus, files, finish, killed_at,
    published, published_urls, sitemill,
};

const BASE: &str = "http://h.example/";
const DAY: u64 = 86_400;

/// System calls that change directories or sync them, and the one that sets the mode of robots.txt.
const CALLS: [&str; 7] = ["rename", "linkat", "unlink", "unlinkat", "fsync", "mkdir", "fchmod"];

/// Runs the binary and kills it at the `nth` call of `call`. With fewer calls, the run completes.
fn killed(call: &str, nth: usize, args: &[&str], day: u64, stdin: &str) -> Run {
    at(&mut killed_at(call, nth, sitemill().args(args)), day, stdin)
}

fn at(command: &mut Command, day: u64, stdin: &str) -> Run {
    finish(command.env("SOURCE_DATE_EPOCH", epoch_plus(day * DAY)), stdin.as_bytes())
}

fn build_args<'a>(out: &'a Path, robots: &'a Path) -> Vec<&'a str> {
    let options = "build --quiet --threads 1 --base-url http://h.example/ --urls-per-sitemap 2 --sitemaps-per-index 2 \
        --keep 1d --keep-sets 2 --robots";
    let paths = [robots.to_str().unwrap(), "--out", out.to_str().unwrap()];
    options.split_ascii_whitespace().chain(paths).collect()
}

fn build(out: &Path, robots: &Path, day: u64, input: &str) -> Run {
    at(Command::new(env!("CARGO_BIN_EXE_sitemill")).args(build_args(out, robots)), day, input)
}

fn pages(first: u32, last: u32) -> String {
    (first..=last).map(|page| format!("{BASE}{page}\n")).collect()
}

/// The lines of a robots.txt that a run must not change.
fn of_others(robots: &str) -> Vec<&str> {
    robots.lines().filter(|line| !line.starts_with("Sitemap: ")).collect()
}

#[test]
fn a_build_or_rollback_that_is_killed_anywhere_leaves_the_old_set_or_the_new_one() {
    let directory = TempDir::new();
    let (before, out) = (directory.join("before"), directory.join("out"));
    let robots = directory.file("robots.txt", "User-agent: *\nDisallow: /cart\n");
    fs::set_permissions(&robots, Permissions::from_mode(0o640)).unwrap();
    for (day, (first, last)) in [(0, 8), (2, 8), (4, 11), (5, 12)].into_iter().enumerate() {
        build(&before, &robots, 2 * day as u64, &pages(first, last)).expect(0);
    }
    let named = fs::read_to_string(&robots).unwrap();
    let old = published_urls(&before, BASE);
    let input = pages(1, 13);
    let new: Vec<String> = input.lines().map(Into::into).collect();
    let back: Vec<String> = pages(4, 11).lines().map(Into::into).collect();
    let rollback =
        ["rollback", "--quiet", "--robots", robots.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let (mut kills, mut kills_by_mode) = ([0, 0], 0);
    for (args, stdin, target) in [(build_args(&out, &robots), &*input, &new), (rollback.into(), "", &back)] {
        for call in CALLS {
            for nth in 1.. {
                copy(&before, &out);
                fs::write(&robots, &named).unwrap();
                let ended = killed(call, nth, &args, 9, stdin);
                assert!([0, 137].contains(&ended.exit), "{call} {nth}: {}", ended.stderr);
                // Panics if a listed file is missing or truncated.
                published(&out, BASE);
                // Even a run that publishes nothing completes an interrupted switch.
                build(&out, &robots, 10, "").expect(65);
                let seen = published_urls(&out, BASE);
                assert!(seen == *target || ended.exit != 0 && seen == old, "{call} {nth}: {seen:?}");
                assert_nothing_is_left(&out);
                assert_eq!(
                    of_others(&fs::read_to_string(&robots).unwrap()),
                    of_others(&named),
                    "{call} {nth}"
                );
                assert_eq!(
                    fs::metadata(&robots).unwrap().permissions().mode() & 0o777,
                    0o640,
                    "{call} {nth}"
                );
                if ended.exit == 0 {
                    break;
                }
                kills[usize::from(seen == *target)] += 1;
                kills_by_mode += usize::from(call == "fchmod");
            }
        }
    }
    assert!(kills_by_mode > 0, "robots.txt keeps its mode");
    assert!(kills.iter().all(|&count| count > 10), "{kills:?} kills before and after the decision");
}

#[test]
fn a_leftover_that_cannot_be_removed_is_a_warning() {
    let directory = TempDir::new();
    let (out, robots) = (directory.join("out"), directory.join("robots.txt"));
    build(&out, &robots, 0, &pages(1, 3)).expect(0);
    let sites = directory.join("sites");
    for (day, out, base_url) in [(1, &out, BASE), (2, &sites, "{origin}/")] {
        let staging = out.join(".sitemill/staging");
        fs::create_dir_all(&staging).unwrap();
        // No user can list it.
        symlink("1-1", staging.join("1-1")).unwrap();
        fs::create_dir(staging.join("2-2")).unwrap();
        let mut build = build_command(out, base_url);
        let warned = at(build.args(["--urls-per-sitemap", "2"]), day, &pages(1, 4)).expect(0);
        let said =
            "/1-1: could not be read; left by a run that died; remove it, or the next run tries again: ";
        assert_eq!(warned.stderr.matches(said).count(), 1, "{}", warned.stderr);
        assert!(warned.stderr.starts_with("warning: "), "{}", warned.stderr);
        assert_eq!(fs::read_dir(&staging).unwrap().count(), 1, "the other leftover is gone");
        // A run that fails has another reason.
        let failed = at(&mut build, day, "bad\n").expect(65);
        assert!(!failed.stderr.contains("1-1"), "{}", failed.stderr);
    }
    let rollback = at(sitemill().args(["rollback", "--quiet", "--out"]).arg(&out), 3, "").expect(0);
    assert!(rollback.stderr.contains("/1-1: could not be read; left by a run"), "{}", rollback.stderr);
}

#[test]
fn sitemaps_of_a_first_run_that_was_killed_are_not_taken_for_a_set() {
    let directory = TempDir::new();
    let (out, robots) = (directory.join("out"), directory.join("robots.txt"));
    let has_part = || {
        let kinds: Vec<bool> = files(&out).iter().map(|name| name.ends_with(".gz")).collect();
        kinds.contains(&true) && !kinds.contains(&false)
    };
    let mut nth = 1;
    while !has_part() {
        let _ = fs::remove_dir_all(&out);
        assert_ne!(killed("linkat", nth, &build_args(&out, &robots), 0, &pages(1, 8)).exit, 0);
        nth += 1;
    }
    let out = out.to_str().unwrap();
    let next = directory.join("next");
    let build = ["build", out, "--quiet", "--base-url", BASE, "--out", next.to_str().unwrap()];
    for args in [&["urls", out][..], &["check", out], &build] {
        let refused = finish(sitemill().args(args), b"").expect(65);
        assert!(refused.stderr.contains("contains no published set"), "{}", refused.stderr);
    }
}

#[test]
fn index_files_without_the_rest_of_their_set_are_read_although_a_run_was_there() {
    let directory = TempDir::new();
    let (out, robots) = (directory.join("out"), directory.join("robots.txt"));
    build(&out, &robots, 0, &pages(1, 3)).expect(0);
    fs::remove_file(out.join("robots-sitemaps.txt")).unwrap();
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    // The state of a run that was refused.
    fs::create_dir(out.join(".sitemill")).unwrap();
    fs::write(out.join(".sitemill/lock"), "").unwrap();
    let urls = finish(sitemill().args(["urls", "--quiet"]).arg(&out), b"").expect(0).stdout;
    assert_eq!(String::from_utf8(urls).unwrap(), pages(1, 3));
    let next = directory.join("next");
    finish(build_command(&next, BASE).arg(&out), b"").expect(0);
    assert_eq!(published_urls(&next, BASE), pages(1, 3).lines().collect::<Vec<_>>());
}

#[test]
fn a_run_for_all_sites_removes_what_a_killed_one_has_left_even_if_it_ignores_manifests() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |options: &[&str]| {
        let mut command = build_command(&out, "{origin}/");
        finish(command.args(options), format!("{BASE}1\n").as_bytes()).expect(0);
    };
    build(&[]);
    let left = out.join(".sitemill/staging/left");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("scratch"), "").unwrap();
    build(&["--ignore-manifest"]);
    assert!(!left.exists());
}
