//! Faults in the surroundings of a run: panics in its threads, memory limits, concurrent runs, and a full or closed
//! standard output.

use std::fs::{self, File};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use sitemill::options::Order;
use sitemill::{Job, Phase, Progress, Stop};

use crate::support::{TempDir, finish, published_urls, sitemill, started_by};
use crate::world::{
    BASE, Mount, Waiting, World, at_each_call, copy, fifo, injected, pages, skip, skip_unless_root,
};

#[test]
fn a_report_or_metrics_path_that_is_not_a_regular_file_is_refused_before_any_work() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 70));
    for place in [fifo(&world.directory, "told.fifo"), world.directory.path().into()] {
        for option in ["--report", "--metrics"] {
            let run = finish(world.build().arg(option).arg(&place).arg(&input), b"");
            let said = format!("error: {}: is not a regular file", place.display());
            world.assert_refused(run, 73, &said);
            assert!(place.exists());
        }
    }
    let run = finish(world.build().args(["--report", "/dev/stdout"]).arg(&input), b"").expect(0);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(report["published"], true);
    world.assert_new(1, 70);
}

#[test]
fn a_file_that_is_a_mount_point_is_refused_before_any_work_if_another_one_would_have_to_take_its_place() {
    if skip_unless_root("a mounted file") {
        return;
    }
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 70));
    let files = ["source", "mounted.txt"].map(|name| world.directory.file(name, "User-agent: *\n"));
    let mount = Mount::file(&files[0], &files[1]);
    for options in [&["--robots"][..], &["--dry-run", "--robots"], &["--metrics"], &["--html"]] {
        let run = finish(world.build().args(options).arg(mount.path()).arg(&input), b"");
        world.assert_refused(
            run,
            73,
            "mounted.txt: is a mount point of its own, so no new file can take its place",
        );
    }
    // It is written in place.
    finish(world.build().arg("--report").arg(mount.path()).arg(&input), b"").expect(0);
    assert!(fs::read_to_string(&files[0]).unwrap().contains("\"published\": true"));
}

#[test]
fn a_standard_output_that_fails_does_not_change_the_published_set() {
    let world = World::new();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let input = world.directory.file("urls.txt", pages(1, 70));
    let mut build = world.build();
    let exit = build.arg("--json").arg(&input).stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(exit.code(), Some(0));
    world.assert_new(1, 70);

    let input = world.directory.file("urls.txt", pages(1, 80));
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$@\" | head -c 0; exit ${PIPESTATUS[0]}", "bash"]);
    let build = world.build();
    shell.arg(build.get_program()).args(build.get_args()).arg("--json").arg(&input);
    finish(&mut shell, b"").expect(0);
    world.assert_new(1, 80);

    let mut closed = Command::new("sh");
    closed.args(["-c", "exec \"$@\" >&- 2>&-", "sh"]).arg(build.get_program()).args(build.get_args());
    let input = world.directory.file("urls.txt", pages(1, 75));
    finish(closed.arg("--json").arg(&input), b"").expect(0);
    world.assert_new(1, 75);
}

/// Panics during a pass, on the thread that reports progress.
struct Failing {
    pass: Phase,
    now: AtomicBool,
}

impl Progress for Failing {
    fn begin(&self, pass: Phase, _: u64) {
        self.now.store(pass == self.pass, Ordering::Relaxed);
    }

    fn advance(&self, _: u64) {
        assert!(!self.now.load(Ordering::Relaxed), "a deliberate panic");
    }

    fn end(&self) {
        self.now.store(false, Ordering::Relaxed);
    }
}

#[test]
fn a_panic_in_any_pass_ends_the_run_and_leaves_nothing_behind() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 400_000));
    for (pass, order) in [
        (Phase::Survey, Order::Input),
        (Phase::Produce, Order::Input),
        (Phase::Survey, Order::Sorted),
        (Phase::Sort, Order::Sorted),
        (Phase::Produce, Order::Sorted),
    ] {
        let mut job = Job::new(vec![input.clone()], BASE.parse().unwrap(), world.out.clone());
        job.rules.order = order;
        job.resources.threads = NonZero::new(4).unwrap();
        let progress = Failing { pass, now: AtomicBool::new(false) };
        let ended = catch_unwind(AssertUnwindSafe(|| sitemill::build(&job, &progress, &Stop::default())));
        assert!(ended.is_err(), "{pass:?}");
        world.assert_old();
    }
}

#[test]
fn a_worker_that_panics_stops_the_others_and_the_run_exits_with_70() {
    // If a write returns more bytes than it was given, the standard library panics in the thread that wrote.
    let world = World::new();
    let input = world.directory.file("urls.csv", format!("url\n{}", pages(1, 20_000)));
    let mut build = world.build();
    build.args(["--threads", "4"]).arg(&input);
    let (run, hit) = injected(&world.directory, "pwrite64", "retval=100000000:when=1", &build);
    assert!(hit);
    let run = run.expect(70);
    assert!(run.stderr.contains("this is a bug in sitemill"), "{}", run.stderr);
    world.assert_old();
}

#[test]
fn a_panic_after_the_set_is_live_is_a_warning() {
    // If a directory cannot be closed, the standard library panics.
    let world = World::in_memory();
    let before = world.copied();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let (mut failed, mut warned) = (0, 0);
    let command = || {
        copy(&before, &world.out);
        let mut build = world.build();
        build.args(["--threads", "1"]).arg(&input);
        build
    };
    at_each_call(&world.directory, "close", "error=EIO", command, |when, run| {
        // 127: the program itself could not be loaded.
        assert!([0, 70, 127].contains(&run.exit), "{when}: exit {}: {}", run.exit, run.stderr);
        let live = published_urls(&world.out, BASE).len();
        assert_eq!(live, if run.exit == 0 { 90 } else { 60 }, "{when}: {}", run.stderr);
        failed += usize::from(run.exit == 70);
        warned += usize::from(run.exit == 0 && run.stderr.contains("; the new set is live"));
        world.assert_whole(run.exit, 1, 90);
    });
    assert!(failed > 0 && warned > 0, "{failed} before the set was live, {warned} after");
}

#[test]
fn a_system_without_randomness_is_named() {
    let world = World::in_memory();
    let input = world.directory.file("urls.txt", pages(1, 90));
    let mut told = 0;
    at_each_call(
        &world.directory,
        "getrandom",
        "error=EIO",
        || {
            let mut build = world.build();
            build.args(["--threads", "1", "--order", "sorted"]).arg(&input);
            build
        },
        |when, run| {
            assert!([0, 73, 74].contains(&run.exit), "{when}: exit {}: {}", run.exit, run.stderr);
            told += usize::from(run.stderr.contains("the system provides no random bytes"));
        },
    );
    assert!(told > 0);
}

#[test]
fn runs_make_do_with_the_threads_that_the_system_grants() {
    if skip_unless_root("a limit on threads") {
        return;
    }
    // A user without other processes, because the limit is on all of them.
    let user = 100_000 + std::process::id();
    let directory = TempDir::new();
    let [old, new] = ["old", "new"].map(|name| directory.join(name));
    finish(Command::new("chown").arg(user.to_string()).arg(directory.path()), b"").expect(0);
    let limited = |threads: u32, command: &Command, stdin: &[u8]| {
        let (user, limit) = (format!("--reuid={user}"), format!("--nproc={threads}"));
        let words = ["setpriv", &user, "--regid=65534", "--clear-groups", "prlimit", &limit];
        finish(&mut started_by(&words, command), stdin)
    };
    let built = |out: &Path, limit: u32, last: u32| {
        let mut build = sitemill();
        build.args(["build", "--quiet", "--base-url", BASE, "--order", "sorted", "--threads", "16"]);
        build.arg("--out").arg(out);
        limited(limit, &build, pages(1, last).as_bytes())
    };
    // Reading the rules from a pipe takes one more.
    let rules = fifo(&directory, "rules.toml");
    finish(Command::new("chown").arg(user.to_string()).arg(&rules), b"").expect(0);
    let mut build = sitemill();
    build.args(["build", "--base-url", BASE, "--sections"]).arg(&rules).arg("--out").arg(&new);
    let run = limited(2, &build, b"").expect(71);
    assert!(
        run.stderr.contains("cannot start threads") && !run.stderr.contains("panicked"),
        "{}",
        run.stderr
    );
    // Eight threads wait for the disk.
    built(&old, 14, 200_000).expect(0);
    built(&new, 14, 200_010).expect(0);
    assert_eq!(published_urls(&new, BASE).len(), 200_010);
    let mut diff = sitemill();
    diff.args(["diff", "--threads", "2"]).args([&old, &new]).env("RAYON_NUM_THREADS", "50");
    let diff = limited(6, &diff, b"").expect(0).stdout;
    assert_eq!(diff.iter().filter(|&&byte| byte == b'\n').count(), 10);
}

#[test]
fn the_plan_keeps_within_the_limit_of_a_control_group() {
    if skip_unless_root("a control group") {
        return;
    }
    let name = format!("sitemill-faults-{}", std::process::id());
    let version_1 = Path::new("/sys/fs/cgroup/memory").join(&name);
    let version_2 = Path::new("/sys/fs/cgroup").join(&name);
    let (group, limit) = match Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        true => (version_2, "memory.max"),
        false => (version_1, "memory.limit_in_bytes"),
    };
    let is_made = fs::create_dir(&group).is_ok() && fs::write(group.join(limit), "419430400").is_ok();
    if is_made {
        let world = World::new();
        let input = world.directory.file("urls.txt", pages(1, 400_000));
        let report = world.directory.join("report.json");
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ > \"$1\" && shift && exec \"$@\"", "sh"]).arg(group.join("cgroup.procs"));
        let build = world.build_large();
        shell.arg(build.get_program()).args(build.get_args());
        finish(shell.args(["--threads", "2"]).arg(&input).arg("--report").arg(&report), b"").expect(0);
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        assert_eq!(report["needs"]["memory_bytes"], 200 << 20, "half of the limit");
        world.assert_new(1, 400_000);
    } else {
        skip("no control group with a memory limit can be made here");
    }
    let _ = fs::remove_dir(&group);
}

#[test]
fn a_second_run_ends_at_once_and_the_first_one_is_not_disturbed() {
    let world = World::new();
    let input = world.directory.file("urls.txt", pages(1, 3_000));
    let first = Waiting::start(&mut world.build_large(), &input);
    let second = finish(world.build().arg(&input), b"").expect(75);
    assert!(second.stderr.contains(&format!("process {}", first.id())), "{}", second.stderr);
    first.finish().expect(0);
    world.assert_new(1, 3_000);
}
