//! Concurrent runs. A run for all sites is stopped at each system call while a run for one site starts, and the other way
//! round.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::sets::{BASES, Sites};
use crate::support::{
    Run, TempDir, assert_nothing_is_left, build_command, finish, published_urls, send, sitemill, started_by,
};
use crate::world::{copy, skip_unless_root, urls};

/// A run that is stopped at a system call.
#[derive(Debug)]
struct Stopped {
    strace: Child,
    process: String,
}

impl Stopped {
    /// Starts `command` and stops it at the `nth` call of `call`. Returns the finished run if there are fewer calls.
    fn at(directory: &TempDir, call: &str, nth: usize, command: &Command) -> Result<Self, Run> {
        let log = directory.join("strace.log");
        fs::write(&log, "").unwrap();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-o"]).arg(&log).args(["-e", &format!("trace={call}")]);
        strace.args(["-e", &format!("inject={call}:signal=SIGSTOP:when={nth}")]);
        strace.arg(command.get_program()).args(command.get_args());
        strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut strace = strace.spawn().unwrap();
        loop {
            let is_over = strace.try_wait().unwrap().is_some();
            let lines = fs::read_to_string(&log).unwrap();
            let stopped = lines.lines().find(|line| line.ends_with("--- stopped by SIGSTOP ---"));
            if let Some(line) = stopped {
                let process = process_of(line.split_ascii_whitespace().next().unwrap());
                return Ok(Self { strace, process });
            }
            if is_over {
                return Err(ended(&mut strace));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets the run finish, resuming it each time it is stopped.
    fn go_on(mut self) -> Run {
        while self.strace.try_wait().unwrap().is_none() {
            let _ = Command::new("kill").args(["-s", "CONT", &self.process]).stderr(Stdio::null()).status();
            thread::sleep(Duration::from_millis(1));
        }
        ended(&mut self.strace)
    }
}

impl Drop for Stopped {
    /// Kills the run if the test fails.
    fn drop(&mut self) {
        if self.strace.try_wait().is_ok_and(|status| status.is_none()) {
            send("KILL", &self.strace);
        }
    }
}

/// The process of a thread, which may end before others of it are stopped, too.
fn process_of(thread: &str) -> String {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("Tgid:")).unwrap().trim().to_owned()
}

fn ended(strace: &mut Child) -> Run {
    let mut stderr = String::new();
    strace.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    Run { exit: strace.wait().unwrap().code().unwrap(), stdout: Vec::new(), stderr }
}

/// Two sites with two sets each.
fn world() -> Sites {
    let sites = Sites::new();
    finish(&mut sites.build(80), b"").expect(0);
    copy(&sites.out, &sites.before);
    sites
}

fn rollback(sites: &Sites, base: &str) -> Command {
    let mut rollback = sitemill();
    rollback.args(["rollback", "--quiet", "--out"]).arg(sites.site(base));
    rollback
}

/// Fails unless each site lists its pages up to `last`, and no leftovers remain.
#[track_caller]
fn assert_live(sites: &Sites, last: [u32; 2], when: &str) {
    for (base, last) in BASES.into_iter().zip(last) {
        let want: Vec<String> =
            urls(1, last).iter().map(|url| url.replace(crate::world::BASE, base)).collect();
        assert_eq!(published_urls(&sites.site(base), base), want, "{when}");
        assert_nothing_is_left(&sites.site(base));
    }
}

/// Stops `first` at each step and starts `second`. Returns how often `second` was refused, and how often it ran because
/// `first` had no lock yet or had released it.
fn meet(
    sites: &Sites,
    first: impl Fn() -> Command,
    second: impl Fn() -> Command,
    after: impl Fn(i32, &str),
) -> [usize; 2] {
    let mut ends = [0, 0];
    for call in ["fsync", "rename"] {
        for nth in 1.. {
            copy(&sites.before, &sites.out);
            let stopped = match Stopped::at(&sites.directory, call, nth, &first()) {
                Ok(stopped) => stopped,
                Err(run) => {
                    run.expect(0);
                    break;
                }
            };
            let met = finish(&mut second(), b"");
            assert!([0, 75].contains(&met.exit), "{call} {nth}: exit {}: {}", met.exit, met.stderr);
            let is_named = met.stderr.contains("another run holds it (process ");
            assert!(met.exit == 0 || is_named, "{call} {nth}: {}", met.stderr);
            stopped.go_on().expect(0);
            after(met.exit, &format!("{call} {nth}, exit {}", met.exit));
            // Shown if the test fails.
            println!("{call} {nth}: exit {}", met.exit);
            ends[usize::from(met.exit == 0)] += 1;
        }
    }
    ends
}

#[test]
fn a_rollback_of_one_site_is_refused_at_every_step_of_a_build_of_all() {
    let sites = world();
    let [turned_away, others] = meet(
        &sites,
        || sites.build(90),
        || rollback(&sites, BASES[1]),
        |_, when| assert_live(&sites, [90, 90], when),
    );
    assert!(turned_away > 20 && others == 0, "{turned_away}, {others}");
}

#[test]
fn a_build_of_all_sites_is_refused_at_every_step_of_a_rollback_of_one() {
    let sites = world();
    let [turned_away, others] = meet(
        &sites,
        || rollback(&sites, BASES[1]),
        || sites.build(90),
        |exit, when| assert_live(&sites, if exit == 0 { [90, 60] } else { [80, 60] }, when),
    );
    assert!(turned_away > 5 && others == 0, "{turned_away}, {others}");
}

#[test]
fn a_user_who_may_not_read_the_lock_of_all_sites_is_refused() {
    if skip_unless_root("another user") {
        return;
    }
    let sites = world();
    let (state, site) = (sites.out.join(".sitemill"), sites.out.join("c.example"));
    fs::create_dir(&site).unwrap();
    finish(Command::new("chown").arg("65534:65534").arg(&site), b"").expect(0);
    let as_nobody = || {
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let mut build = build_command(&site, "https://c.example/");
        finish(&mut started_by(&nobody, build.env("HOME", "/")), b"https://c.example/1\n")
    };
    as_nobody().expect(0);
    let stopped = Stopped::at(&sites.directory, "rename", 1, &sites.build(90)).expect("it renames");
    as_nobody().expect(75);
    // Without read permission, the run cannot tell whether the lock is held.
    fs::set_permissions(state.join("sites.lock"), Permissions::from_mode(0o600)).unwrap();
    let refused = as_nobody().expect(77);
    assert!(
        refused
            .stderr
            .contains("sites.lock: could not be opened, so it is unknown whether another run holds it")
    );
    stopped.go_on().expect(0);
    // No lock file can be seen, as in a directory of an older version: no run for all sites is active.
    fs::set_permissions(&state, Permissions::from_mode(0o700)).unwrap();
    as_nobody().expect(0);
}
