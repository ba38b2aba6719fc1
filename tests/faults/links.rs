//! Runs on file systems without hard links. Sitemaps are renamed into place there, and are removed if the run then fails
//! or dies.

use std::process::Command;

use crate::support::{Run, finish};
use crate::world::{KILLED, World, copy, pages};

/// Runs `command` with `fault`, where `linkat` always fails.
fn without_links(fault: &str, command: &Command) -> Run {
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=linkat,rename,fsync"]);
    strace.args(["-e", "inject=linkat:error=EPERM", "-e", &format!("inject={fault}")]);
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    finish(&mut strace, b"")
}

#[test]
fn without_links_a_run_that_fails_or_is_killed_leaves_no_unlisted_sitemap() {
    let world = World::in_memory();
    let before = world.copied();
    let input = world.directory.file("urls.txt", pages(31, 90));
    for fault in ["rename:error=EIO", "rename:signal=SIGKILL", "fsync:error=EIO", "fsync:signal=SIGKILL"] {
        let mut ends = [0, 0];
        for nth in 1.. {
            copy(&before, &world.out);
            let mut build = world.build();
            let run =
                without_links(&format!("{fault}:when={nth}"), build.args(["--threads", "1"]).arg(&input));
            assert!([0, 74, KILLED].contains(&run.exit), "{fault} {nth}: {}", run.stderr);
            world.assert_whole(run.exit, 31, 90);
            let is_quiet = run.exit == 0 && run.stderr.is_empty();
            ends[usize::from(run.exit == 0)] += 1;
            if is_quiet {
                break;
            }
        }
        assert!(ends[0] > 5 && ends[1] > 0, "{fault}: {ends:?}");
    }
}
