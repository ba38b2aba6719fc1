//! Sets that are read while a run switches to another set, or after one that was killed in the switch.

mod completed;

use std::fs;
use std::io::{self, Write};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Stdio};

use sitemill::check::Rule;
use sitemill::{CheckJob, ErrorKind, Silent, Stop, Target, UrlsJob};

use crate::support::{TempDir, build_command, finish, killed_at, run, sitemill, wait_until_staging};

const BASE: &str = "https://h.example/";

fn pages(numbers: RangeInclusive<u32>) -> String {
    numbers.map(|page| format!("{BASE}p/{page}\n")).collect()
}

/// A build with two URLs per sitemap and two sitemaps per index file.
fn build(out: &Path, options: &[&str]) -> Command {
    build_with_indexes_of(2, out, options)
}

/// A build with two URLs per sitemap and so many sitemaps per index file.
fn build_with_indexes_of(sitemaps: u32, out: &Path, options: &[&str]) -> Command {
    let mut build = build_command(out, BASE);
    build.args(["--urls-per-sitemap", "2", "--max-shrink", "100%", "--sitemaps-per-index"]);
    build.arg(sitemaps.to_string()).args(options);
    build
}

/// Publishes a set in a directory with the first build and input, then kills the second build at each of its renames and removals.
/// Fails if `check` finds anything after that.
#[track_caller]
fn assert_nothing_is_found(build: [&dyn Fn(&Path) -> Command; 2], [old, new]: [&str; 2]) {
    let directory = TempDir::new();
    let (before, out) = (directory.join("before"), directory.join("out"));
    finish(&mut build[0](&before), old.as_bytes()).expect(0);
    let mut unfinished = 0;
    // An index file that stays is removed from staging, not renamed.
    for call in ["rename", "unlink"] {
        for nth in 1.. {
            let _ = fs::remove_dir_all(&out);
            finish(Command::new("cp").arg("-a").args([&before, &out]), b"").expect(0);
            let ended = finish(&mut killed_at(call, nth, &build[1](&out)), new.as_bytes());
            assert!([0, 137].contains(&ended.exit), "{}", ended.stderr);
            if out.join(".sitemill/manifest.next.json").exists() {
                unfinished += 1;
            }
            let found = run(["check".as_ref(), out.as_os_str()]);
            assert_eq!(found.exit, 0, "{call} {nth}: {}", String::from_utf8_lossy(&found.stdout));
            if ended.exit == 0 {
                break;
            }
        }
    }
    assert!(unfinished > 2);
}

#[test]
fn nothing_is_wrong_with_the_files_after_a_run_that_was_killed_in_the_switch() {
    let (few, many, moved) = (pages(1..=4), pages(1..=10), pages(5..=14));
    let wide = pages(1..=4) + "https://other.example/1\n" + &pages(5..=6);
    for (old, new, [old_scope, new_scope]) in [
        (&few, &many, ["directory"; 2]),
        (&many, &few, ["directory"; 2]),
        (&many, &moved, ["directory"; 2]),
        (&few, &wide, ["directory", "any"]),
        (&wide, &few, ["any", "directory"]),
    ] {
        assert_nothing_is_found(
            [&|out| build(out, &["--scope", old_scope]), &|out| build(out, &["--scope", new_scope])],
            [old, new],
        );
    }
}

#[test]
fn a_sitemap_that_moves_to_another_index_file_is_no_duplicate_after_a_run_that_was_killed_in_the_switch() {
    let (few, many) = (pages(1..=6), pages(1..=10));
    let news = [&*format!("{BASE}news.xml")];
    let also = [&["--also"][..], &news].concat();
    for (old_size, new_size, options, old, new) in [
        (2, 3, &[][..], &many, &many),
        (3, 2, &[], &many, &many),
        // The last index file lists the sitemap from elsewhere, too.
        (2, 2, &also, &many, &few),
        (2, 2, &also, &few, &many),
    ] {
        assert_nothing_is_found(
            [&|out| build_with_indexes_of(old_size, out, options), &|out| {
                build_with_indexes_of(new_size, out, options)
            }],
            [old, new],
        );
    }
}

#[test]
fn a_set_is_not_read_while_its_switch_is_not_complete() {
    let directory = TempDir::new();
    let out = directory.join("out");
    finish(&mut build(&out, &[]), pages(1..=4).as_bytes()).expect(0);
    let mut unfinished = 0;
    // The second time, the first index file was renamed, so the index files are those of two sets.
    for nth in 1.. {
        finish(&mut killed_at("rename", nth, &build(&out, &[])), pages(1..=10).as_bytes()).expect(137);
        unfinished += u32::from(out.join(".sitemill/manifest.next.json").exists());
        if unfinished == 2 {
            break;
        }
        fs::remove_dir_all(&out).unwrap();
        finish(&mut build(&out, &[]), pages(1..=4).as_bytes()).expect(0);
    }
    let (mut urls, mut diff, mut copy) = (sitemill(), sitemill(), build(&directory.join("copy"), &[]));
    urls.arg("urls");
    diff.arg("diff").arg(&out);
    for command in [&mut urls, &mut diff, &mut copy] {
        let refused = finish(command.arg(&out), b"").expect(75);
        let words = "a switch to another set has begun and is not complete";
        assert!(refused.stderr.contains(words) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    // Nor if the journal is damaged.
    let journal = out.join(".sitemill/manifest.next.json");
    fs::write(&journal, fs::read_to_string(&journal).unwrap() + "x").unwrap();
    let mut check = sitemill();
    for command in [&mut urls, &mut diff, &mut copy, check.arg("check").arg(&out)] {
        let refused = finish(command, b"").expect(65).stderr;
        assert!(
            refused.contains("next.json: is damaged") && refused.contains("--ignore-manifest"),
            "{refused}"
        );
    }
}

#[test]
fn a_sitemap_that_one_index_file_lists_twice_is_a_duplicate_also_during_a_switch() {
    let directory = TempDir::new();
    let out = directory.join("out");
    finish(&mut build(&out, &[]), pages(1..=10).as_bytes()).expect(0);
    for nth in 1.. {
        let new = build_with_indexes_of(3, &out, &[]);
        finish(&mut killed_at("rename", nth, &new), pages(1..=10).as_bytes()).expect(137);
        if out.join(".sitemill/manifest.next.json").exists() {
            break;
        }
    }
    let index = out.join("sitemap-index-2.xml");
    let xml = fs::read_to_string(&index).unwrap();
    let (_, entry) = xml.split_once("<sitemap>").unwrap();
    let (entry, _) = entry.split_once("</sitemap>").unwrap();
    fs::write(&index, xml.replace("</sitemapindex>", &format!("<sitemap>{entry}</sitemap></sitemapindex>")))
        .unwrap();
    let found = run(["check".as_ref(), out.as_os_str()]).expect(65);
    let found = String::from_utf8(found.stdout).unwrap();
    assert_eq!(found.matches("duplicate").count(), 1, "{found}");
}

#[test]
fn a_run_for_all_sites_completes_the_switches_of_sites_that_its_input_does_not_contain() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |options: &[&str]| {
        let mut build = build_command(&out, "{origin}/");
        build.args(["--threads", "1"]).args(options);
        build
    };
    let both = |nth: usize| format!("https://a.example/{nth}\nhttps://b.example/{nth}\n").into_bytes();
    let sets = [(&[][..], "b.example/.sitemill"), (&["--name", "blog"], "b.example/.sitemill/names/blog")];
    let is_switching = || sets.map(|(_, state)| out.join(state).join("manifest.next.json").exists());
    for (at, (name, _)) in sets.iter().enumerate() {
        finish(&mut build(name), &both(0)).expect(0);
        let mut tries = 1..30;
        while !is_switching()[at] {
            let nth = tries.next().expect("a run is killed in the switch of the second site");
            finish(&mut killed_at("rename", nth, &build(name)), &both(nth)).expect(137);
        }
    }
    let only_first = b"https://a.example/new\n";
    finish(build(&[]).arg("--dry-run"), only_first).expect(0);
    assert_eq!(is_switching(), [true, true], "a dry run changes nothing");
    finish(&mut build(&[]), only_first).expect(0);
    assert_eq!(is_switching(), [false, true], "a run changes only sets of its own name");
    // A run that is refused completes them, too.
    finish(&mut build(sets[1].0), b"").expect(65);
    assert_eq!(is_switching(), [false, false]);
    for command in ["check", "urls"] {
        run([command.as_ref(), out.as_os_str()]).expect(0);
    }
}

#[test]
fn a_set_that_is_replaced_during_the_check_is_compared_with_its_new_manifest() {
    // The names of the index files change, or only what they list.
    for options in [&["--section-by-path"][..], &[]] {
        let directory = TempDir::new();
        let out = directory.join("out");
        finish(&mut build(&out, &[]), pages(1..=4).as_bytes()).expect(0);
        let robots = out.join("robots-sitemaps.txt");
        fs::write(&robots, fs::read_to_string(&robots).unwrap() + "wrong\n").unwrap();
        // What is wrong with the robots lines is told after they and the manifest are read, and before the index files are.
        let mut told = Vec::new();
        let report =
            sitemill::check(&CheckJob::new(vec![out.clone()]), &Silent, &Stop::default(), &mut |found| {
                told.push(found.rule);
                finish(&mut build(&out, options), pages(1..=3).as_bytes()).expect(0);
                Ok(())
            });
        assert_eq!((report.unwrap().findings, told), (1, vec![Rule::Robots]), "{options:?}");
    }
}

#[test]
fn status_says_that_the_switch_to_a_first_set_is_not_complete() {
    let directory = TempDir::new();
    let out = directory.join("out");
    // The second rename moves the first index file into place.
    finish(&mut killed_at("rename", 2, &build(&out, &[])), pages(1..=10).as_bytes()).expect(137);
    assert!(out.join(".sitemill/manifest.next.json").exists());
    let said = run(["status".as_ref(), out.as_os_str()]).expect(75).stderr;
    for words in
        ["a switch to a new set has begun; if no run is completing it", "has begun and is not complete"]
    {
        assert!(said.contains(words) && !said.contains("removes its files"), "{words}: {said}");
    }
    // Even a run that is refused completes it.
    finish(&mut build(&out, &[]), b"").expect(65);
    let status = run(["status".as_ref(), out.as_os_str()]).expect(0);
    assert!(String::from_utf8(status.stdout).unwrap().contains("10 URLs in 5 sitemaps"));
}

#[test]
fn status_of_live_sites_names_a_run_for_all_of_them_as_such() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let sites = || build_command(&out, "{origin}/");
    finish(&mut sites(), b"https://a.example/1\nhttps://b.example/1\n").expect(0);
    let mut active = sites().stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_staging(&out);
    let process = active.id();
    let check = |then: &str| {
        let said = run(["status".as_ref(), out.as_os_str()]).expect(0).stderr;
        let want = format!("{}: process {process} {then}", out.display());
        assert!(said.contains(&want) && !said.contains("not published"), "{want}: {said}");
    };
    check("is running");
    active.kill().unwrap();
    active.wait().unwrap();
    check("died during a run; the next run removes its temporary files");
}

/// Keeps what is written, and publishes another set in `out` before the first bytes are.
struct Switching<'a> {
    out: &'a Path,
    options: &'a [&'a str],
    written: Vec<u8>,
}

impl Write for Switching<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written.is_empty() {
            finish(&mut build(self.out, self.options), pages(101..=140).as_bytes()).expect(0);
        }
        self.written.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_set_that_is_replaced_while_its_urls_are_listed_is_listed_whole_or_the_run_fails() {
    let old = pages(1..=40);
    for (options, is_whole) in [(&[][..], true), (&["--keep", "0", "--keep-sets", "0"], false)] {
        let directory = TempDir::new();
        let out = directory.join("out");
        finish(&mut build(&out, &[]), old.as_bytes()).expect(0);
        let mut job = UrlsJob::new(vec![out.clone()]);
        job.threads = NonZero::<usize>::MIN;
        let mut to = Switching { out: &out, options, written: Vec::new() };
        let target = Target { name: Path::new("memory"), to: &mut to };
        let listed = sitemill::urls(&job, &Silent, &Stop::default(), target);
        let written = String::from_utf8(to.written).unwrap();
        match is_whole {
            true => assert_eq!((listed.unwrap().urls, &written), (40, &old)),
            false => {
                // The sitemaps that were not read yet are gone.
                let error = listed.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
                assert!(old.starts_with(&written) && written.len() < old.len(), "{written}");
            }
        }
    }
}
