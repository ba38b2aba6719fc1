//! The files in the output directory before, during and after a run.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    Run, TempDir, build_command, epoch_plus, files, finish, heeding_signals, published, published_urls, run,
    send, started_by, wait_until_staging,
};

const BASE: &str = "http://h.example/";

fn command(out: &Path, options: &[&str]) -> Command {
    let mut command = build_command(out, BASE);
    command.args(options);
    command
}

fn build(out: &Path, urls: &str, options: &[&str]) -> Run {
    finish(&mut command(out, options), urls.as_bytes())
}

/// `http://h.example/FIRST` to `…/LAST`, one per line.
fn pages(first: u32, last: u32) -> String {
    (first..=last).map(|n| format!("{BASE}{n}\n")).collect()
}

fn urls(first: u32, last: u32) -> Vec<String> {
    pages(first, last).lines().map(Into::into).collect()
}

/// Names, bytes, inodes and times of all published files.
fn snapshot(out: &Path) -> Vec<(String, Vec<u8>, u64, i64)> {
    let all = files(out).into_iter().map(|file| {
        let meta = fs::metadata(out.join(&file)).unwrap();
        (file.clone(), fs::read(out.join(file)).unwrap(), meta.ino(), meta.mtime_nsec())
    });
    all.collect()
}

#[test]
fn a_run_that_fails_leaves_the_live_set_exactly_as_it_was() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &pages(1, 9), &["--urls-per-sitemap", "4"]).expect(0);
    let before = snapshot(&out);

    build(&out, "not a url\n", &[]).expect(65);
    build(&out, &format!("{}bad\n", pages(1, 99)), &["--max-rejects", "0"]).expect(65);
    build(&out, "", &["missing.txt"]).expect(66);
    build(&out, &pages(1, 9), &["--urls-per-sitemap", "0"]).expect(2);
    assert_eq!(snapshot(&out), before);
    assert_eq!(
        fs::read_dir(out.join(".sitemill/staging")).unwrap().count(),
        0,
        "no staging directory may remain"
    );
}

#[test]
fn an_unchanged_sitemap_keeps_its_file_and_its_lastmod() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--urls-per-sitemap", "4"];
    build(&out, &pages(1, 8), &options).expect(0);
    let before = snapshot(&out);
    let mut later = command(&out, &options);
    later.env("SOURCE_DATE_EPOCH", epoch_plus(86_400_u32));
    finish(&mut later, format!("{}{BASE}9\n", pages(1, 8)).as_bytes()).expect(0);

    let after = snapshot(&out);
    let sitemaps = |set: &[(String, Vec<u8>, u64, i64)]| {
        set.iter().filter(|(file, ..)| file.ends_with(".gz")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(sitemaps(&after)[..2], sitemaps(&before)[..], "the same files, not rewritten");
    let (_, index) = published(&out, BASE).swap_remove(0);
    let lastmods: Vec<&str> =
        index.split("<lastmod>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(lastmods, ["2005-06-26T00:00:00Z", "2005-06-26T00:00:00Z", "2005-06-27T00:00:00Z"]);
}

#[test]
fn a_lastmod_of_a_clock_that_was_ahead_is_corrected_by_the_second_run_after_it() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let lastmod_on_day = |day: u32| {
        let mut command = command(&out, &[]);
        command.env("SOURCE_DATE_EPOCH", epoch_plus(day * 86_400));
        finish(&mut command, pages(1, 4).as_bytes()).expect(0);
        let (_, index) = published(&out, BASE).swap_remove(0);
        index.split_once("<lastmod>2005-").unwrap().1[..5].to_owned()
    };
    // After the first one, it is unknown which of two clocks is wrong.
    assert_eq!([90, 1, 2, 3].map(lastmod_on_day), ["09-24", "09-24", "06-28", "06-28"]);
}

#[test]
fn index_files_and_robots_lines_that_have_not_changed_keep_their_files() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--urls-per-sitemap", "2", "--sitemaps-per-index", "2"];
    build(&out, &pages(1, 5), &options).expect(0);
    let before = snapshot(&out);
    build(&out, &pages(1, 5), &options).expect(0);
    assert_eq!(snapshot(&out), before);

    build(&out, &pages(1, 6), &options).expect(0);
    let after = snapshot(&out);
    let file = |set: &[(String, Vec<u8>, u64, i64)], name: &str| {
        set.iter().find(|(file, ..)| file == name).cloned().unwrap()
    };
    let is_same = |name: &str| file(&before, name) == file(&after, name);
    assert!(is_same("sitemap-index-1.xml") && !is_same("sitemap-index-2.xml"));
    // Other users recognise by it that a switch has replaced index files.
    assert!(!is_same("robots-sitemaps.txt"));

    // An earlier run may have had a stricter umask.
    let index = out.join("sitemap-index-1.xml");
    let mode = fs::metadata(&index).unwrap().mode();
    fs::set_permissions(&index, fs::Permissions::from_mode(0o600)).unwrap();
    build(&out, &pages(1, 6), &options).expect(0);
    assert_eq!(fs::metadata(&index).unwrap().mode(), mode);
}

#[test]
fn a_smaller_set_leaves_old_index_files_and_sitemaps_for_late_crawlers() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--urls-per-sitemap", "1", "--sitemaps-per-index", "2"];
    build(&out, &pages(1, 5), &options).expect(0);
    let old = published(&out, BASE);
    build(&out, &pages(3, 4), &[&options[..], &["--max-shrink", "60"]].concat()).expect(0);
    assert_eq!(published_urls(&out, BASE), urls(3, 4));
    for (file, xml) in old.iter().filter(|(file, _)| file.starts_with("sitemap-index-")).skip(1) {
        assert_eq!(&fs::read_to_string(out.join(file)).unwrap(), xml, "{file} is there for old robots lines");
    }
    for (file, xml) in old.iter().filter(|(file, _)| file.ends_with(".gz")) {
        let bytes = fs::read(out.join(file)).expect("a crawler that holds the old index file finds it");
        assert_eq!(crate::support::gunzip(&bytes), xml.as_bytes());
    }
}

#[test]
fn foreign_files_are_left_alone() {
    let directory = TempDir::new();
    let out = directory.join("out");
    fs::create_dir_all(out.join("images")).unwrap();
    let theirs = ["index.html", "robots.txt", "sitemap.xml", "sitemap-00001-ffffffff.xml.gz", "images/a.png"];
    theirs.iter().for_each(|file| fs::write(out.join(file), file).unwrap());
    build(&out, &pages(1, 5), &["--urls-per-sitemap", "1", "--sitemaps-per-index", "2"]).expect(0);
    build(&out, &pages(2, 3), &["--max-shrink", "60"]).expect(0);
    assert_eq!(published_urls(&out, BASE), urls(2, 3));
    theirs.iter().for_each(|file| assert_eq!(fs::read(out.join(file)).unwrap(), file.as_bytes()));
}

#[test]
fn a_damaged_sitemap_is_rebuilt_by_the_next_run() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &pages(1, 50), &[]).expect(0);
    let whole = snapshot(&out);
    let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    let mut bytes = fs::read(out.join(&sitemap)).unwrap();
    for damage in [0, 40, bytes.len() - 2] {
        bytes[damage] ^= 1;
        fs::write(out.join(&sitemap), &bytes).unwrap();
        build(&out, &pages(1, 50), &[]).expect(0);
        let mended = snapshot(&out);
        assert!(
            mended.iter().map(|(file, bytes, ..)| (file, bytes)).eq(whole.iter().map(|(f, b, ..)| (f, b)))
        );
    }
    // Another level gives other bytes for the same XML, so nothing is damaged or rewritten.
    let before = snapshot(&out);
    build(&out, &pages(1, 50), &["--level", "1"]).expect(0);
    assert_eq!(snapshot(&out)[1], before[1]);
}

#[test]
fn an_interrupted_switch_is_completed_by_the_next_run() {
    let directory = TempDir::new();
    let options = ["--urls-per-sitemap", "1", "--sitemaps-per-index", "2"];
    // The state after a crash between two renames of the switch: a journal, and some of the files renamed.
    for renamed in 0..4 {
        let out = directory.join(format!("out-{renamed}"));
        let after = directory.join(format!("after-{renamed}"));
        build(&out, &pages(1, 7), &options).expect(0);
        build(&after, &pages(1, 7), &options).expect(0);
        build(&after, &pages(3, 7), &options).expect(0);
        let state = out.join(".sitemill");
        let staging = state.join("staging/dead-run");
        fs::create_dir_all(&staging).unwrap();
        let switched =
            ["sitemap-index-1.xml", "sitemap-index-2.xml", "sitemap-index-3.xml", "robots-sitemaps.txt"];
        for file in files(&after).iter().filter(|file| file.ends_with(".gz")) {
            fs::copy(after.join(file), out.join(file)).unwrap();
        }
        for (at, file) in switched.iter().enumerate() {
            let to = if at < renamed { &out } else { &staging };
            fs::copy(after.join(file), to.join(file)).unwrap();
        }
        let journal = fs::read(after.join(".sitemill/manifest.json")).unwrap();
        let mut journal: Value = serde_json::from_slice(&journal).unwrap();
        journal["run"] = "dead-run".into();
        journal.as_object_mut().unwrap().remove("checksum");
        fs::write(state.join("manifest.next.json"), journal.to_string()).unwrap();

        // Even a run that publishes nothing completes the switch first.
        build(&out, "no url\n", &options).expect(65);
        assert_eq!(published(&out, BASE), published(&after, BASE));
        assert!(out.join("sitemap-index-4.xml").exists() && !state.join("manifest.next.json").exists());
        assert_eq!(fs::read_dir(state.join("staging")).unwrap().count(), 0);
    }
}

#[test]
fn staging_of_a_dead_run_is_removed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let dead = out.join(".sitemill/staging/123-456");
    fs::create_dir_all(&dead).unwrap();
    fs::write(dead.join("sitemap-00001-aaaaaaaa.xml.gz"), "half").unwrap();
    build(&out, &pages(1, 3), &[]).expect(0);
    assert!(!dead.exists());
}

#[test]
fn a_second_run_is_told_who_holds_the_directory() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut first =
        command(&out, &["--progress", "never"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once its staging directory exists, the first run holds the lock and waits for its input.
    let staging = out.join(".sitemill/staging");
    while fs::read_dir(&staging).map_or(0, Iterator::count) == 0 {
        std::thread::yield_now();
    }
    let second = build(&out, &pages(1, 3), &[]).expect(75);
    assert!(second.stderr.contains(&format!("process {}", first.id())), "{}", second.stderr);
    drop(first.stdin.take());
    let mut words = String::new();
    first.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(65), "{words}");
}

#[test]
fn a_signal_stops_a_run_and_leaves_nothing_behind() {
    let directory = TempDir::new();
    for (signal, exit) in [("INT", 130), ("TERM", 143)] {
        let out = directory.join(signal);
        build(&out, &pages(1, 3), &[]).expect(0);
        let before = snapshot(&out);
        let waiting =
            heeding_signals(&command(&out, &[])).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut waiting = waiting.unwrap();
        wait_until_staging(&out);
        send(signal, &waiting);
        assert_eq!(waiting.wait().unwrap().code(), Some(exit));
        assert_eq!(snapshot(&out), before);
        assert_eq!(fs::read_dir(out.join(".sitemill/staging")).unwrap().count(), 0);
    }
}

#[test]
fn a_signal_that_is_ignored_from_the_start_does_not_stop_the_run() {
    let directory = TempDir::new();
    let background = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"];
    for (signal, starter) in [("HUP", &["nohup"][..]), ("INT", &background)] {
        let out = directory.join(signal);
        for (other, exit) in [(None, 0), (Some("TERM"), 143)] {
            let command = started_by(starter, &command(&out, &[]));
            let mut command = heeding_signals(&command);
            // On a terminal, nohup would redirect the output.
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut waiting = command.spawn().unwrap();
            wait_until_staging(&out);
            send(signal, &waiting);
            other.iter().for_each(|other| send(other, &waiting));
            // The run waits for its input.
            let mut pipe = waiting.stdin.take().unwrap();
            if other.is_none() {
                pipe.write_all(pages(1, 3).as_bytes()).unwrap();
                drop(pipe);
            }
            assert_eq!(waiting.wait().unwrap().code(), Some(exit), "{signal}, {other:?}");
        }
        assert_eq!(published_urls(&out, BASE), urls(1, 3));
    }
}

#[test]
fn a_link_in_place_of_a_file_or_directory_is_refused() {
    let directory = TempDir::new();
    let victim = directory.file("victim", "precious");
    let elsewhere = directory.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let first = directory.join("first");
    build(&first, &pages(1, 3), &[]).expect(0);
    let sitemap = files(&first).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    for (place, target) in [
        (".sitemill", &elsewhere),
        (".sitemill/staging", &elsewhere),
        (".sitemill/sets", &elsewhere),
        (".sitemill/lock", &victim),
        (".sitemill/lock", &directory.join("nothing")),
        (&sitemap, &victim),
    ] {
        let out = directory.join("out");
        let planted = out.join(place);
        fs::create_dir_all(planted.parent().unwrap()).unwrap();
        symlink(target, &planted).unwrap();
        let refused = build(&out, &pages(1, 3), &[]).expect(73);
        let said = format!("{}: is in the way and was not created by sitemill; move it", planted.display());
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert_eq!(fs::read_link(&planted).unwrap(), *target);
        assert_eq!(fs::read(&victim).unwrap(), b"precious", "{place}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{place}");
        assert!(!directory.join("nothing").exists() && !out.join("sitemap-index-1.xml").exists());
        fs::remove_dir_all(&out).unwrap();
    }

    // A link is not replaced either: sitemill could keep no copy of it.
    for (file, options) in [("sitemap-index-1.xml", &[][..]), ("robots-sitemaps.txt", &["--take-over"])] {
        let out = directory.join("out");
        fs::create_dir(&out).unwrap();
        symlink(&victim, out.join(file)).unwrap();
        let refused = build(&out, &pages(1, 3), options).expect(73);
        let said =
            format!("{}: is in the way and was not created by sitemill; move it", out.join(file).display());
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert_eq!((files(&out), fs::read(&victim).unwrap()), (vec![file.to_owned()], b"precious".to_vec()));
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn a_rollback_follows_no_link_in_place_of_the_lock() {
    let directory = TempDir::new();
    let (out, victim) = (directory.join("out"), directory.file("victim", "precious"));
    build(&out, &pages(1, 3), &[]).expect(0);
    build(&out, &pages(1, 4), &[]).expect(0);
    let lock = out.join(".sitemill/lock");
    fs::remove_file(&lock).unwrap();
    symlink(&victim, &lock).unwrap();
    let before = snapshot(&out);
    let refused = run(["rollback".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(73);
    assert!(refused.stderr.contains(".sitemill/lock: is in the way and was not created by sitemill"));
    assert_eq!(snapshot(&out), before);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_crawler_that_reads_continuously_sees_only_whole_sets() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let directory = TempDir::new();
    let out = directory.join("out");
    let options = ["--urls-per-sitemap", "3"];
    build(&out, &pages(0, 29), &options).expect(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let crawler = scope.spawn(|| {
            let mut crawls = 0;
            while !done.load(Ordering::Relaxed) {
                // Panics if a listed file is missing or truncated.
                let seen = published_urls(&out, BASE);
                assert_eq!(seen.len(), 30);
                let first: u32 = seen[0][BASE.len()..].parse().unwrap();
                assert_eq!(seen, urls(first, first + 29), "a set, not a mixture");
                crawls += 1;
            }
            crawls
        });
        for first in 1..60 {
            build(&out, &pages(first, first + 29), &options).expect(0);
        }
        done.store(true, Ordering::Relaxed);
        assert!(crawler.join().unwrap() > 10);
    });
}

#[test]
fn a_link_to_no_directory_is_refused_as_such() {
    let directory = TempDir::new();
    symlink("missing", directory.join("link")).unwrap();
    for (out, options) in [("link", &[][..]), ("link/below", &[]), ("link", &["--dry-run"])] {
        let refused = build(&directory.join(out), &pages(1, 3), options).expect(73);
        let said = format!("{}: is a link to a directory that does not", directory.join("link").display());
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        assert!(!directory.join("missing").exists());
    }
}
