//! Faults in rollbacks and in runs for many sites. The exit code must say which set is live in each directory.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Run, TempDir, finish, sitemill};
use crate::world::{
    BASE, KILLED, World, assert_as_told, assert_as_told_at_rest, at_each_call, copy, injected, pages, urls,
};

/// Calls that change or may create a file or directory, and the error to inject in each.
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

/// Makes each call fail in one run, and kills another run at it. Kills at `openat` are skipped, because they leave the same
/// state as kills at the call before.
fn for_each_fault(directory: &TempDir, mut command: impl FnMut() -> Command, mut judge: impl FnMut(&Run)) {
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
            judge(run);
        });
        if call == "openat" {
            continue;
        }
        at_each_call(directory, call, "signal=SIGKILL", &mut command, |when, run| {
            assert!([0, KILLED].contains(&run.exit), "{when}: {}", run.stderr);
            killed += usize::from(run.exit == KILLED);
            judge(run);
        });
    }
    assert!(failed > 15 && killed > 30, "{failed} failures, {killed} kills");
}

/// A directory with two sites of pages 1 to 60 each, and a copy of it.
pub struct Sites {
    pub directory: TempDir,
    pub out: PathBuf,
    pub before: PathBuf,
}

pub const BASES: [&str; 2] = ["https://a.example/", "https://b.example/"];

impl Sites {
    pub fn new() -> Self {
        let directory = TempDir::in_memory();
        let (out, before) = (directory.join("out"), directory.join("before"));
        let sites = Self { directory, out, before };
        finish(&mut sites.build(60), b"").expect(0);
        copy(&sites.out, &sites.before);
        sites
    }

    /// A run that publishes pages 1 to `last` of each site.
    pub fn build(&self, last: u32) -> Command {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--threads", "1", "--base-url", "{origin}/"]);
        build.args(["--sitemaps-per-index", "2", "--urls-per-sitemap", "20", "--out"]).arg(&self.out);
        let of_both = BASES.map(|base| pages(1, last).replace(BASE, base)).concat();
        build.arg(self.directory.file(&format!("urls-{last}.txt"), of_both));
        build
    }

    /// Restores the first sets and returns a run that publishes pages 1 to 90 of each site.
    fn build_anew(&self) -> Command {
        copy(&self.before, &self.out);
        self.build(90)
    }

    /// Runs a build that opens every site and publishes nothing, because each set would shrink too much.
    fn run_next(&self) {
        finish(&mut self.build(1), b"").expect(65);
    }

    pub fn site(&self, base: &str) -> PathBuf {
        self.out.join(base.trim_start_matches("https://"))
    }
}

/// Pages 1 to 60 and 1 to 90 of a site.
fn old_and_new(base: &str) -> [Vec<String>; 2] {
    [60, 90].map(|last| urls(1, last).iter().map(|url| url.replace(BASE, base)).collect())
}

#[test]
fn many_sites_have_their_old_sets_or_their_new_ones_whatever_fails_or_kills_the_run() {
    let sites = Sites::new();
    let command = || sites.build_anew();
    for_each_fault(&sites.directory, command, |run| {
        for base in BASES {
            let [old, new] = old_and_new(base);
            assert_as_told(run.exit, &sites.site(base), base, &old, &new);
        }
        sites.run_next();
        for base in BASES {
            let [old, new] = old_and_new(base);
            assert_as_told_at_rest(run.exit, &sites.site(base), base, &old, &new);
        }
    });
}

#[test]
fn sites_whose_switch_cannot_be_undone_are_in_the_report_and_those_with_their_old_set_are_not() {
    let sites = Sites::new();
    // The names of an existing report and its draft cannot be exchanged either, so the report is written in place.
    let path = sites.directory.file("report.json", "");
    let mut stuck = [0; 3];
    for nth in 1.. {
        let mut build = sites.build_anew();
        build.arg("--report").arg(&path);
        // All renames fail from the `nth` on.
        let fault = format!("error=EIO:when={nth}+");
        let (run, hit) = injected(&sites.directory, "rename", &fault, &build);
        if !hit {
            run.expect(0);
            break;
        }
        let report: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        let live: Vec<&str> = match &report["sets"] {
            Value::Array(sets) => sets.iter().map(|set| set["base_url"].as_str().unwrap()).collect(),
            _ => Vec::new(),
        };
        assert_eq!(report["published"], run.exit == 0, "{nth}: {}", run.stderr);
        assert!(run.exit == 0 && live == BASES || run.exit == 74, "{nth}: {}", run.stderr);
        let is_left = run.exit == 74 && !live.is_empty();
        assert_eq!(run.stderr.contains("; the next run finishes it: "), is_left, "{nth}: {}", run.stderr);
        for base in BASES.iter().filter(|base| !live.contains(base)) {
            let [old, new] = old_and_new(base);
            assert_as_told(74, &sites.site(base), base, &old, &new);
        }
        sites.run_next();
        for base in BASES {
            let [old, new] = old_and_new(base);
            let exit = if live.contains(&base) { 0 } else { 74 };
            assert_as_told_at_rest(exit, &sites.site(base), base, &old, &new);
        }
        stuck[live.len()] += 1;
    }
    assert!(stuck.iter().all(|&count| count > 0), "{stuck:?}");
}

#[test]
fn a_rollback_that_fails_or_is_killed_leaves_the_live_set_or_the_one_before_it() {
    let world = World::in_memory();
    let input = world.directory.file("urls.txt", pages(1, 90));
    finish(world.build().arg(&input), b"").expect(0);
    let before = world.copied();
    let command = || {
        copy(&before, &world.out);
        let mut rollback = sitemill();
        rollback.args(["rollback", "--quiet", "--out"]).arg(&world.out);
        rollback
    };
    let (live, back) = (urls(1, 90), urls(1, 60));
    for_each_fault(&world.directory, command, |run| {
        assert_as_told(run.exit, &world.out, BASE, &live, &back);
        finish(&mut world.build(), b"").expect(65);
        assert_as_told_at_rest(run.exit, &world.out, BASE, &live, &back);
    });
}
