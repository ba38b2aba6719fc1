//! Faults in runs for many sites, and in rollbacks: the set of each directory is the old one or the new one.

use std::path::PathBuf;
use std::process::Command;

use crate::support::{Run, TempDir, assert_nothing_is_left, finish, published, published_urls, sitemill};
use crate::world::{BASE, World, at_each_call, copy, pages, urls};

/// Calls that change a file or a directory, or may make one, and what each may answer.
const CALLS: [(&str, &str); 10] = [
    ("write", "ENOSPC"),
    ("pwrite64", "ENOSPC"),
    ("ftruncate", "EIO"),
    ("openat", "EMFILE"),
    ("fsync", "EIO"),
    ("rename", "EIO"),
    ("linkat", "ENOSPC"),
    ("mkdir", "ENOSPC"),
    ("unlink", "EIO"),
    ("unlinkat", "EIO"),
];

/// Every call fails in one run, and kills another one. A kill at an `openat` would leave what one at the call before it has
/// left.
fn for_each_fault(
    directory: &TempDir,
    mut command: impl FnMut() -> Command,
    mut judge: impl FnMut(&str, &Run),
) {
    let (mut failed, mut killed) = (0, 0);
    for (call, error) in CALLS {
        at_each_call(directory, call, &format!("error={error}"), &mut command, |when, run| {
            // 127: the program itself could not be loaded.
            assert!(
                [0, 66, 71, 73, 74, 127].contains(&run.exit),
                "{when}: exit {}: {}",
                run.exit,
                run.stderr
            );
            assert!(!run.stderr.contains("panicked"), "{when}: {}", run.stderr);
            failed += usize::from(run.exit == 74);
            judge(when, run);
        });
        if call == "openat" {
            continue;
        }
        at_each_call(directory, call, "signal=SIGKILL", &mut command, |when, run| {
            assert!([0, 137].contains(&run.exit), "{when}: {}", run.stderr);
            killed += usize::from(run.exit == 137);
            judge(when, run);
        });
    }
    assert!(failed > 15 && killed > 30, "{failed} failures, {killed} kills");
}

#[test]
fn each_of_many_sites_has_its_old_set_or_its_new_one_whatever_fails_or_kills_the_run() {
    let directory = TempDir::in_memory();
    let (out, before) = (directory.join("out"), directory.join("before"));
    let bases = ["https://a.example/", "https://b.example/"];
    let of_both = |last| bases.map(|base| pages(1, last).replace(BASE, base)).concat();
    let build = |last: u32| {
        let mut build = sitemill();
        build.args([
            "build",
            "--quiet",
            "--threads",
            "1",
            "--base-url",
            "{origin}/",
            "--sitemaps-per-index",
            "2",
        ]);
        build.args(["--urls-per-sitemap", "20", "--out"]).arg(&out);
        build.arg(directory.file(&format!("urls-{last}.txt"), of_both(last)));
        build
    };
    finish(&mut build(60), b"").expect(0);
    copy(&out, &before);
    let command = || {
        copy(&before, &out);
        build(90)
    };
    for_each_fault(&directory, command, |when, run| {
        let site = |base: &str| -> PathBuf { out.join(base.trim_start_matches("https://")) };
        bases.iter().for_each(|base| drop(published(&site(base), base)));
        // The next run opens every site and publishes nothing: far too little is left of each.
        finish(&mut build(1), b"").expect(65);
        for base in bases {
            let site = site(base);
            let seen = published_urls(&site, base);
            let of_site =
                |last| -> Vec<String> { urls(1, last).iter().map(|url| url.replace(BASE, base)).collect() };
            let (old, new) = (of_site(60), of_site(90));
            assert!(seen == new || run.exit != 0 && seen == old, "{when}: {base}: {seen:?}");
            assert_nothing_is_left(&site);
        }
    });
}

#[test]
fn a_rollback_that_fails_or_is_killed_leaves_the_live_set_or_the_one_before_it() {
    let world = World::in_memory();
    let input = world.directory.file("urls.txt", pages(1, 90));
    finish(world.build().arg(&input), b"").expect(0);
    let before = world.directory.join("before");
    copy(&world.out, &before);
    let command = || {
        copy(&before, &world.out);
        let mut rollback = sitemill();
        rollback.args(["rollback", "--quiet", "--out"]).arg(&world.out);
        rollback
    };
    for_each_fault(&world.directory, command, |when, run| {
        published(&world.out, BASE);
        finish(&mut world.build(), b"").expect(65);
        let seen = published_urls(&world.out, BASE);
        assert!(seen == urls(1, 60) || run.exit != 0 && seen == urls(1, 90), "{when}: {seen:?}");
        assert_nothing_is_left(&world.out);
    });
}
