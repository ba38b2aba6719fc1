//! Runs that are killed, and power losses.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::random::Random;
use crate::support::{
    Ends, TempDir, assert_nothing_is_left, epoch_plus, finish, gunzip, locs, published_urls, sitemill,
    started_by,
};
use crate::world::{
    BASE, Mount, World, at_each_call, copy, injected, pages, skip_unless_root, urls, wait_until,
};

/// The number of kills in one test; scripts/soak sets a higher one.
fn kills_wanted() -> u32 {
    std::env::var("SITEMILL_KILLS").map_or(1_000, |word| word.parse().expect("a number of kills"))
}

/// `command`, with the time `hour` hours after the epoch of the tests.
fn at(command: &mut Command, hour: u32) -> &mut Command {
    command.env("SOURCE_DATE_EPOCH", epoch_plus(3_600 * hour))
}

/// Publishes pages FIRST to FIRST + 59 at the hour FIRST. Every third set is sorted.
fn shifted(out: &Path, input: &Path, first: u32) -> Command {
    fs::write(input, pages(first, first + 59)).unwrap();
    let mut command = sitemill();
    command.args(["build", "--quiet", "--base-url", BASE, "--urls-per-sitemap", "20"]);
    command
        .args(["--order", if first.is_multiple_of(3) { "sorted" } else { "input" }, "--out"])
        .arg(out)
        .arg(input);
    at(&mut command, first);
    command
}

/// Rolls back the live set.
fn rollback(out: &Path, hour: u32) -> Command {
    let mut command = sitemill();
    at(command.args(["rollback", "--quiet", "--out"]).arg(out), hour);
    command
}

/// The first page of the set that will be live after the next run has completed any interrupted switch.
fn decided(out: &Path) -> u32 {
    let state = out.join(".sitemill");
    let manifest =
        fs::read(state.join("manifest.next.json")).or_else(|_| fs::read(state.join("manifest.json")));
    let manifest: Value = serde_json::from_slice(&manifest.unwrap()).unwrap();
    let sitemap = fs::read(out.join(manifest["sitemaps"][0]["file"].as_str().unwrap())).unwrap();
    page(&locs(&String::from_utf8(gunzip(&sitemap)).unwrap())[0])
}

fn page(url: &str) -> u32 {
    url[BASE.len()..].parse().unwrap()
}

/// Reads the set repeatedly until `done` and returns how often. Panics if a listed file is missing or truncated, or if
/// two sets are mixed.
fn crawl_until(done: &AtomicBool, out: &Path, seed: u64) -> u32 {
    let mut crawls = 0;
    while !done.load(Ordering::Relaxed) {
        let seen = published_urls(out, BASE);
        let first = page(&seen[0]);
        assert!(seen == urls(first, first + 59), "seed {seed}: a mixture: {seen:?}");
        crawls += 1;
    }
    crawls
}

#[test]
fn a_crawler_sees_only_whole_sets_while_runs_are_killed_at_random_moments() {
    let directory = TempDir::in_memory();
    let (out, input) = (directory.join("out"), directory.join("urls.txt"));
    let begun = Instant::now();
    finish(&mut shifted(&out, &input, 1), b"").expect(0);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    let seed = u64::from(std::process::id());
    let (mut random, done) = (Random(seed), AtomicBool::new(false));
    // The sets that rollbacks restore in turn, and the set that the crawler sees, which may be one older.
    let (mut sets, mut seen) = (vec![1], 1);
    let (mut last, mut killed, mut taken_back) = (1_u32, 0, 0);
    std::thread::scope(|scope| {
        let crawler = scope.spawn(|| crawl_until(&done, &out, seed));
        // Ends the crawler even if an assertion below fails, because the scope waits for it.
        let crawl = Ends(&done);
        // The estimated time of a run. It is adjusted, because the load of the machine changes.
        let mut whole = whole;
        while killed < kills_wanted() && !crawler.is_finished() {
            last += 1;
            let live = *sets.last().unwrap();
            let before = sets.len().checked_sub(2).map(|at| sets[at]).filter(|_| last.is_multiple_of(10));
            let (mut command, target, span) = match before {
                Some(before) => (rollback(&out, last), before, whole / 2),
                None => (shifted(&out, &input, last), last, whole * 5 / 4),
            };
            let mut child = command.spawn().unwrap();
            std::thread::sleep(Duration::from_micros(random.below(span)));
            child.kill().unwrap();
            let status = child.wait().unwrap();
            assert!(status.success() || status.signal() == Some(9), "seed {seed}, run {last}: {status}");
            killed += u32::from(!status.success());
            // In the long run, four of five runs are killed.
            whole = if status.success() { whole * 15 / 16 } else { whole * 65 / 64 }.max(1_000);
            let (next, now) = (decided(&out), page(&published_urls(&out, BASE)[0]));
            let is_old = !status.success() && next == live;
            assert!(next == target || is_old, "seed {seed}, run {last}: {next} after {live}, {target}");
            let is_behind = !status.success() && [live, seen].contains(&now);
            assert!(now == next || is_behind, "seed {seed}, run {last}: {now} after {seen}, {next}");
            seen = now;
            match before {
                _ if next == live => {}
                Some(_) => {
                    sets.pop();
                    taken_back += 1;
                }
                None => sets.push(target),
            }
        }
        drop(crawl);
        assert!(crawler.join().unwrap() > 10);
    });
    assert!(taken_back > 0);
    finish(&mut shifted(&out, &input, last + 1), b"").expect(0);
    assert_eq!(published_urls(&out, BASE), urls(last + 1, last + 60));
    assert_nothing_is_left(&out);
}

/// Calls that change a file or may create one. tests/suite/killed.rs kills at those that change directories.
const CALLS: [&str; 4] = ["write", "pwrite64", "ftruncate", "openat"];

#[test]
fn a_run_that_is_killed_while_it_writes_leaves_the_old_set_or_the_new_one() {
    let world = World::in_memory();
    let before = world.copied();
    // Rows are written to scratch.
    let input = world.directory.file("urls.csv", format!("url\n{}", pages(1, 90)));
    let command = || {
        copy(&before, &world.out);
        let mut build = world.build();
        build.args(["--threads", "1", "--order", "sorted"]).arg(&input);
        build
    };
    for call in CALLS {
        let mut killed = 0;
        at_each_call(&world.directory, call, "signal=SIGKILL", command, |when, run| {
            assert!([0, 137].contains(&run.exit), "{when}: {}", run.stderr);
            world.assert_whole(run.exit, 1, 90);
            killed += usize::from(run.exit == 137);
        });
        assert!(killed > 0, "a run must call {call}");
    }
}

/// Simulates a power loss: unsynced data and the unwritten log of the file system are lost.
fn power_loss(mount: &Path) {
    let words = "import fcntl, os, struct, sys\n\
        fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";
    finish(Command::new("python3").args(["-c", words]).arg(mount), b"").expect(0);
}

#[test]
fn result_files_of_a_killed_run_are_removed_by_a_run_with_the_same_process_id() {
    if skip_unless_root("a run with process IDs of its own") {
        return;
    }
    let world = World::new();
    let results = ["report.json", "rejects.tsv", "diff.tsv"].map(|name| world.directory.join(name));
    // As in a container, the process ID of every run is 1.
    let build = |options: &[&str]| {
        let mut build = world.build();
        for (option, path) in ["--report", "--rejects", "--diff"].iter().zip(&results) {
            build.arg(option).arg(path);
        }
        started_by(&["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"], build.args(options))
    };
    let drafts = || {
        let entries = fs::read_dir(world.directory.path()).unwrap().map(|entry| entry.unwrap().path());
        let is_hidden = |path: &PathBuf| path.file_name().unwrap().as_encoded_bytes().starts_with(b".");
        entries.filter(is_hidden).collect::<Vec<_>>()
    };
    finish(&mut build(&[]), (pages(1, 70) + "bad\n").as_bytes()).expect(0);
    let before = results.each_ref().map(|path| fs::read_to_string(path).unwrap());
    assert!(before[2].contains("added") && drafts().is_empty());

    let mut killed = build(&[]).stdin(Stdio::piped()).spawn().unwrap();
    wait_until(|| drafts().len() == results.len());
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until(|| drafts().iter().all(|path| fs::File::open(path).unwrap().try_lock().is_ok()));
    assert_eq!(drafts().len(), results.len());

    let refused = finish(&mut build(&["--max-rejects", "0"]), b"bad\n").expect(65);
    assert_eq!(drafts(), [""; 0].map(PathBuf::from), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(&results[2]).unwrap(), before[2]);
}

#[test]
fn after_a_power_loss_at_any_sync_the_old_set_or_the_new_one_is_there_and_after_success_the_new_one() {
    if skip_unless_root("power loss") {
        return;
    }
    for kind in ["ext4", "xfs"] {
        let directory = TempDir::new();
        let image = directory.join("disk");
        let Some(mut mount) = Mount::new_image(&image, kind, &directory.join("mount")) else { continue };
        let input = directory.file("urls.txt", pages(1, 90));
        let world = World::at(directory, mount.path().join("out"));
        let before = world.copied();
        for nth in 1.. {
            copy(&before, &world.out);
            finish(Command::new("sync").arg("-f").arg(mount.path()), b"").expect(0);
            let fault = format!("signal=SIGKILL:when={nth}");
            let mut build = world.build();
            let (run, _) =
                injected(&world.directory, "fsync", &fault, build.args(["--threads", "1"]).arg(&input));
            power_loss(mount.path());
            mount.again();
            world.assert_whole(run.exit, 1, 90);
            if run.exit == 0 {
                assert!(nth > 5, "{kind}: {nth} syncs");
                break;
            }
            assert_eq!(run.exit, 137, "{kind} {nth}: {}", run.stderr);
        }
        // Unmount before the directory is removed.
        drop(mount);
    }
}
