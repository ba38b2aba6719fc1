//! Limits of the system: threads, open files and memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Run, TempDir, build_command, finish, published_urls, run, sitemill, started_by};

const BASE: &str = "http://h.example/";

/// `command`, started by `prlimit` with `limits`. If memory runs out while the standard library prints a backtrace, it waits for
/// its own lock forever.
fn limited(limits: &[&str], command: &Command) -> Command {
    let mut limited = started_by(&[&["prlimit"], limits].concat(), command);
    limited.env("RUST_BACKTRACE", "0");
    limited
}

#[test]
fn too_many_threads_are_a_usage_error() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", format!("{BASE}1\n")), directory.join("out"));
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    let never = directory.join("never");
    let words = |words: &[&str], paths: &[&Path]| -> Run {
        let mut command = sitemill();
        finish(command.args(words).args(paths), b"")
    };
    for threads in ["1025", "100000", "18446744073709551615"] {
        let threads = format!("--threads={threads}");
        for refused in [
            words(&["build", &threads, "--base-url", BASE, "--out"], &[&never, &input]),
            words(&["clean", &threads], &[&input]),
            words(&["check", &threads], &[&out]),
            words(&["urls", &threads], &[&out]),
            words(&["diff", &threads], &[&out, &out]),
        ] {
            let refused = refused.expect(2);
            assert!(
                refused.stderr.contains("--threads") && refused.stderr.contains("1,024"),
                "{}",
                refused.stderr
            );
        }
    }
    assert!(!never.exists());
    for command in ["build", "clean", "check", "urls", "diff"] {
        let help = String::from_utf8(run([command, "--help"]).expect(0).stdout).unwrap();
        assert!(help.contains("at most 1,024"), "{command}");
    }
    words(&["clean", "--threads=1024"], &[&input]).expect(0);
}

#[test]
fn five_thousand_inputs_need_no_more_open_files_than_the_system_gives_by_default() {
    let directory = TempDir::in_memory();
    let data = directory.join("data");
    fs::create_dir(&data).unwrap();
    for part in 0..5_000 {
        fs::write(data.join(format!("part-{part:04}")), format!("{BASE}{part:04}\n")).unwrap();
    }
    let want: Vec<String> = (0..5_000).map(|part| format!("{BASE}{part:04}")).collect();
    // The first limit may be raised, the others may not.
    for limit in ["--nofile=1024:20000", "--nofile=1024:1024", "--nofile=64:64"] {
        let out = directory.join(format!("out{limit}"));
        let mut build = build_command(&out, BASE);
        finish(&mut limited(&[limit], build.arg(&data)), b"").expect(0);
        assert!(published_urls(&out, BASE) == want, "{limit}");
        let mut clean = sitemill();
        let cleaned =
            finish(&mut limited(&[limit], clean.args(["clean", "--quiet"]).arg(&data)), b"").expect(0);
        assert_eq!(cleaned.stdout.len(), want.join("\n").len() + 1, "{limit}");
    }
}

#[test]
fn thousands_of_small_sitemaps_need_few_open_files() {
    let directory = TempDir::new();
    let input: String = (0..3_000).map(|page| format!("{BASE}{page}\n")).collect();
    let input = directory.file("in.txt", input);
    for order in ["input", "sorted"] {
        let out = directory.join(order);
        let mut build = build_command(&out, BASE);
        build.args(["--urls-per-sitemap=1", "--threads=2", "--order", order]).arg(&input);
        finish(&mut limited(&["--nofile=64:64"], &build), b"").expect(0);
        assert_eq!(published_urls(&out, BASE).len(), 3_000);
    }
}

#[test]
fn every_command_that_runs_out_of_memory_says_so_by_its_exit_code() {
    let directory = TempDir::new();
    let input: String = (0..200_000).map(|page| format!("{BASE}{page}\n")).collect();
    let (input, out) = (directory.file("in.txt", input), directory.join("out"));
    let empty = directory.join("empty");
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    finish(&mut build_command(&empty, BASE), b"http://h.example/x\n").expect(0);
    let commands: [(&[&str], &[&Path]); 4] = [
        (&["diff", "--threads=8", "--memory=1GiB"], &[&empty, &out]),
        (&["check", "--threads=8"], &[&out]),
        (&["urls", "--threads=8"], &[&out]),
        (&["clean", "--threads=8"], &[&input]),
    ];
    for (words, paths) in commands {
        let mut refused = 0;
        // The program as it is built for tests takes 15 MB. With much less than 20, the system cannot even map it and its
        // libraries, and it dies before the loader or the program can say so.
        for mib in (20..120).step_by(6) {
            let mut command = sitemill();
            command.args(words).args(paths);
            let limit = format!("--as={}", mib << 20);
            let run = finish(&mut limited(&[&limit], &command), b"");
            // With less memory than the program itself needs, the loader fails.
            if run.exit == 127 || run.stderr.contains("error while loading shared libraries") {
                continue;
            }
            assert!([0, 71].contains(&run.exit), "{words:?}, {mib} MiB: exit {}: {}", run.exit, run.stderr);
            refused += u32::from(run.exit == 71);
        }
        assert!(refused > 0, "{words:?}");
    }
}

#[test]
fn a_limit_of_open_files_that_leaves_none_is_not_taken_for_a_bug() {
    let directory = TempDir::new();
    let build = build_command(&directory.join("out"), "http://h.example/");
    let refused = finish(&mut limited(&["--nofile=8:8"], &build), b"http://h.example/1\n").expect(74);
    assert!(refused.stderr.contains("Too many open files"), "{}", refused.stderr);
}
