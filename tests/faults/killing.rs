//! Runs that are killed, and runs that lose their power.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{EPOCH, TempDir, assert_nothing_is_left, finish, published_urls, sitemill};
use crate::world::{BASE, Mount, World, at_each_call, copy, injected, pages, skip_unless_root, urls};

/// Kills in one test; scripts/soak asks for more.
fn kills_wanted() -> u32 {
    std::env::var("SITEMILL_KILLS").map_or(100, |word| word.parse().expect("a number of kills"))
}

/// Anything but evenly spread, and the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Publishes pages FIRST to FIRST + 59, an hour later for each first page.
fn shifted(out: &Path, input: &Path, first: u32) -> Command {
    fs::write(input, pages(first, first + 59)).unwrap();
    let mut command = sitemill();
    command.env("SOURCE_DATE_EPOCH", (EPOCH.parse::<u64>().unwrap() + 3_600 * u64::from(first)).to_string());
    command.args(["build", "--quiet", "--base-url", BASE, "--urls-per-sitemap", "20", "--out"]);
    command.arg(out).arg(input);
    command
}

#[test]
fn a_crawler_sees_whole_sets_only_while_runs_are_killed_at_random_moments() {
    let directory = TempDir::in_memory();
    let (out, input) = (directory.join("out"), directory.join("urls.txt"));
    let begun = Instant::now();
    finish(&mut shifted(&out, &input, 1), b"").expect(0);
    let whole = u64::try_from(begun.elapsed().as_micros()).unwrap();
    let seed = u64::from(std::process::id());
    let (mut random, done) = (Random(seed), AtomicBool::new(false));
    let (mut first, mut killed, mut live) = (1, 0, 1);
    std::thread::scope(|scope| {
        let crawler = scope.spawn(|| {
            let mut crawls = 0;
            while !done.load(Ordering::Relaxed) {
                // Panics if a file that is named is missing or half.
                let seen = published_urls(&out, BASE);
                let first: u32 = seen[0][BASE.len()..].parse().unwrap();
                assert!(seen == urls(first, first + 59), "seed {seed}: a mixture: {seen:?}");
                crawls += 1;
            }
            crawls
        });
        while killed < kills_wanted() && !crawler.is_finished() {
            first += 1;
            let mut child = shifted(&out, &input, first).spawn().unwrap();
            std::thread::sleep(Duration::from_micros(random.below(whole * 5 / 4)));
            child.kill().unwrap();
            let was_killed = !child.wait().unwrap().success();
            killed += u32::from(was_killed);
            let now: u32 = published_urls(&out, BASE)[0][BASE.len()..].parse().unwrap();
            assert!(now == first || was_killed && now == live, "seed {seed}: {now} behind {live}, {first}");
            live = now;
        }
        done.store(true, Ordering::Relaxed);
        assert!(crawler.join().unwrap() > 10);
    });
    finish(&mut shifted(&out, &input, first + 1), b"").expect(0);
    assert_eq!(published_urls(&out, BASE), urls(first + 1, first + 60));
    assert_nothing_is_left(&out);
}

/// What changes a file or may make one; tests/suite/killed.rs kills at those that change directories.
const CALLS: [&str; 4] = ["write", "pwrite64", "ftruncate", "openat"];

#[test]
fn a_run_that_is_killed_while_it_writes_leaves_the_old_set_or_the_new_one() {
    let world = World::in_memory();
    let before = world.directory.join("before");
    copy(&world.out, &before);
    let input = world.directory.file("urls.txt", pages(1, 90));
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
        assert!(killed > 0, "{call} is among the calls of a run");
    }
}

/// The power goes: what is not on disk yet, and the log of the file system, are lost.
fn power_loss(mount: &Path) {
    let words = "import fcntl, os, struct, sys\n\
        fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))";
    finish(Command::new("python3").args(["-c", words]).arg(mount), b"").expect(0);
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
        let before = world.directory.join("before");
        copy(&world.out, &before);
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
        // Before the directory that it is mounted in.
        drop(mount);
    }
}
