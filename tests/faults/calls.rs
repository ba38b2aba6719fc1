//! System calls that fail, are interrupted, read or write too little, or return wrong results.

use std::fs;
use std::process::Command;

use crate::support::finish;
use crate::world::{World, at_each_call, copy, injected, injected_on, pages};

/// System calls, and the faults to inject in each.
const FAULTS: [(&str, &[&str]); 15] = [
    ("write", &["EIO", "ENOSPC", "EDQUOT"]),
    ("pwrite64", &["EIO", "ENOSPC", "EDQUOT"]),
    ("fsync", &["EIO", "ENOSPC"]),
    ("rename", &["EIO", "ENOSPC"]),
    ("linkat", &["EIO", "ENOSPC"]),
    ("mkdir", &["EIO", "ENOSPC", "EDQUOT"]),
    ("unlink", &["EIO"]),
    ("unlinkat", &["EIO"]),
    ("ftruncate", &["EIO"]),
    ("getdents64", &["EIO"]),
    ("flock", &["EIO", "ENOLCK"]),
    ("openat", &["EMFILE"]),
    ("pread64", &["EIO"]),
    ("lseek", &["EIO"]),
    ("fchmod", &["EIO"]),
];

#[test]
fn any_call_that_fails_leaves_the_old_set_or_the_new_one_and_the_exit_code_tells_which() {
    let world = World::in_memory();
    let before = world.copied();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let mut failed = 0;
    let [robots, report, metrics, diff, rejects] =
        ["robots.txt", "report.json", "metrics.prom", "diff.tsv", "rejects.tsv"]
            .map(|name| world.directory.join(name));
    let command = || {
        copy(&before, &world.out);
        fs::write(&robots, "User-agent: *\n").unwrap();
        let mut build = world.build();
        build.args(["--threads", "1", "--order", "sorted"]).arg(&input);
        for (option, file) in [
            ("--robots", &robots),
            ("--report", &report),
            ("--metrics", &metrics),
            ("--diff", &diff),
            ("--rejects", &rejects),
        ] {
            build.arg(option).arg(file);
        }
        build
    };
    for (call, errors) in FAULTS {
        for error in errors {
            at_each_call(&world.directory, call, &format!("error={error}"), command, |when, run| {
                // The program itself could not be loaded.
                let is_loaded = run.exit != 127;
                let told = run.exit == 0 || call == "write" || !run.stderr.is_empty();
                assert!(
                    !is_loaded || told && [0, 66, 71, 73, 74].contains(&run.exit),
                    "{when}: exit {}: {}",
                    run.exit,
                    run.stderr
                );
                assert!(!run.stderr.contains("panicked"), "{when}: {}", run.stderr);
                world.assert_whole(run.exit, 1, 90);
                failed += usize::from(run.exit == 74);
            });
        }
    }
    assert!(failed > 20, "{failed} failures");
}

#[test]
fn a_file_system_without_locks_is_named() {
    let world = World::in_memory();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let (run, hit) = injected(&world.directory, "flock", "error=ENOLCK", world.build().arg(&input));
    assert!(hit);
    world.assert_refused(run, 74, ".sitemill/lock: the file system does not support locks");
}

#[test]
fn an_output_directory_that_cannot_be_written_to_ends_the_run_before_any_work() {
    let world = World::in_memory();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let fresh = world.directory.join("fresh");
    let mut build = crate::world::build(&fresh);
    let (run, hit) = injected(&world.directory, "mkdir", "error=EROFS", build.arg(&input));
    assert!(hit && run.expect(73).stderr.contains("fresh: cannot be created: Read-only file system"));
    assert!(!fresh.exists());
    let lock = world.out.join(".sitemill/lock");
    let (run, hit) = injected_on(&world.directory, &lock, "openat", "error=EROFS", world.build().arg(&input));
    assert!(hit);
    world.assert_refused(run, 73, "lock: cannot be created: Read-only file system");
}

#[test]
fn a_write_that_lies_is_caught_before_anything_is_published() {
    let world = World::in_memory();
    let before = world.copied();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let mut caught = 0;
    let command = || {
        copy(&before, &world.out);
        let mut build = world.build();
        build.args(["--threads", "1"]).arg(&input);
        build
    };
    at_each_call(&world.directory, "write", "retval=1", command, |when, run| {
        assert!([0, 74].contains(&run.exit), "{when}: exit {}: {}", run.exit, run.stderr);
        caught += usize::from(run.exit == 74 && run.stderr.contains("bytes were written, but"));
        world.assert_whole(run.exit, 1, 90);
    });
    assert!(
        caught >= 5,
        "{caught} lies caught; sitemaps, index files, robots lines and manifest must be among them"
    );
}

#[test]
fn a_copy_of_a_pipe_that_is_not_whole_is_caught() {
    let world = World::in_memory();
    let build = world.build();
    // The first write of each thread returns a wrong length. That is harmless for the lock file, but not for the copy.
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e", "inject=write:retval=1:when=1"]);
    strace.arg(build.get_program()).args(build.get_args());
    let run = finish(&mut strace, pages(1, 60).as_bytes());
    world.assert_refused(
        run,
        74,
        "could not store a copy of -: 1,500 bytes were written, but 1,499 are there",
    );
}

#[test]
fn interrupted_and_short_calls_make_no_difference() {
    let world = World::new();
    let library = world.directory.join("short.so");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/short.c");
    let mut cc = Command::new("cc");
    finish(cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl"), b"").expect(0);
    for (order, threads) in [("input", "1"), ("sorted", "4")] {
        for from_file in [true, false] {
            let text = pages(1, 5_000);
            let input = world.directory.file("urls.txt.gz", crate::support::gzip(text.as_bytes()));
            let mut build = world.build();
            build.args(["--order", order, "--threads", threads]).env("LD_PRELOAD", &library);
            let run = match from_file {
                true => finish(build.arg(&input), b""),
                false => finish(&mut build, text.as_bytes()),
            };
            run.expect(0);
            world.assert_new(1, 5_000);
        }
    }
}
