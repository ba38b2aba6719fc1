//! Helpers of the fault tests: a directory with a live set, runs that wait at a known point, and checks of the result.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::support::{
    Run, TempDir, assert_nothing_is_left, contents, ended, files, finish, published_urls, sitemill,
    started_by,
};

pub use crate::support::pages::{BASE, pages, urls};
pub use crate::support::{copy, skip};

/// A directory with a live set: pages 1 to 60, 20 per sitemap, 2 sitemaps per index file.
pub struct World {
    pub directory: TempDir,
    pub out: PathBuf,
    old: Vec<(String, Vec<u8>)>,
}

impl World {
    pub fn new() -> Self {
        let directory = TempDir::new();
        let out = directory.join("out");
        Self::at(directory, out)
    }

    /// Creates the world in memory if possible, for tests with hundreds of runs.
    pub fn in_memory() -> Self {
        let directory = TempDir::in_memory();
        let out = directory.join("out");
        Self::at(directory, out)
    }

    /// Publishes the set in `out`.
    pub fn at(directory: TempDir, out: PathBuf) -> Self {
        finish(&mut build(&out), pages(1, 60).as_bytes()).expect(0);
        let old = contents(&out);
        Self { directory, out, old }
    }

    /// A build into the directory.
    pub fn build(&self) -> Command {
        build(&self.out)
    }

    /// A build with 5,000 URLs per sitemap.
    pub fn build_large(&self) -> Command {
        build_with(&self.out, 5_000)
    }

    /// Copies the directory, to restore it before each run.
    pub fn copied(&self) -> PathBuf {
        let to = self.directory.join("before");
        copy(&self.out, &to);
        to
    }

    /// Fails unless the old set is live, byte for byte, and other runs have left nothing behind.
    #[track_caller]
    pub fn assert_old(&self) {
        assert_eq!(published_urls(&self.out, BASE), urls(1, 60));
        assert!(contents(&self.out) == self.old, "{:?}", files(&self.out));
        assert_nothing_is_left(&self.out);
    }

    /// Fails unless `run` has exited with `exit` and a message that contains `said`, and the old set is live.
    #[track_caller]
    pub fn assert_refused(&self, run: Run, exit: i32, said: &str) {
        let run = run.expect(exit);
        assert!(run.stderr.contains(said), "{said:?} is not in: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        self.assert_old();
    }

    /// Fails unless a crawler sees the pages `first` to `last` and no leftovers remain.
    #[track_caller]
    pub fn assert_new(&self, first: u32, last: u32) {
        assert_eq!(published_urls(&self.out, BASE), urls(first, last));
        assert_nothing_is_left(&self.out);
    }

    /// Fails unless a crawler sees the set that `exit` implies: the old one, or the pages `first` to `last`. Checks this at
    /// once and again after the next run, which publishes nothing and must leave no leftovers.
    #[track_caller]
    pub fn assert_whole(&self, exit: i32, first: u32, last: u32) {
        let (old, new) = (urls(1, 60), urls(first, last));
        assert_as_told(exit, &self.out, BASE, &old, &new);
        finish(&mut self.build(), b"").expect(65);
        assert_as_told_at_rest(exit, &self.out, BASE, &old, &new);
    }
}

/// The exit code of a run that was killed.
pub const KILLED: i32 = 137;

/// Fails unless a crawler sees the set that `exit` implies, before any other run: the new set after success, the old one
/// after failure. A kill may leave index files of both, each of them complete.
#[track_caller]
pub fn assert_as_told(exit: i32, out: &Path, base_url: &str, old: &[String], new: &[String]) {
    let seen = published_urls(out, base_url);
    let told = if exit == 0 { new } else { old };
    assert!(exit == KILLED || seen == told, "exit {exit}, {base_url}: {seen:?}");
}

/// Checks the state after the next run: the set that `exit` implies, or one of both sets after a kill, and no leftovers.
#[track_caller]
pub fn assert_as_told_at_rest(exit: i32, out: &Path, base_url: &str, old: &[String], new: &[String]) {
    let seen = published_urls(out, base_url);
    let told = if exit == 0 || exit == KILLED && seen == new { new } else { old };
    assert!(seen == told, "exit {exit}, {base_url}, after the next run: {seen:?}");
    assert_nothing_is_left(out);
}

/// A build of small sitemaps into `out`.
pub fn build(out: &Path) -> Command {
    build_with(out, 20)
}

fn build_with(out: &Path, urls_per_sitemap: u32) -> Command {
    let mut command = sitemill();
    command.args(["build", "--quiet", "--base-url", BASE, "--sitemaps-per-index", "2"]);
    command.arg(format!("--urls-per-sitemap={urls_per_sitemap}")).arg("--out").arg(out);
    command
}

/// A run that has mapped its first input, which must not be small, and waits for the second one.
pub struct Waiting {
    child: Child,
    pipe: ChildStdin,
}

impl Waiting {
    /// Starts `command` with `input` and a pipe as its inputs.
    pub fn start(command: &mut Command, input: &Path) -> Self {
        let mut child = piped(command.arg(input).arg("-")).spawn().unwrap();
        let maps = format!("/proc/{}/maps", child.id());
        let name = input.to_str().unwrap();
        wait_until(|| fs::read_to_string(&maps).unwrap().contains(name));
        let pipe = child.stdin.take().unwrap();
        Self { child, pipe }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Lets the run finish.
    pub fn finish(self) -> Run {
        drop(self.pipe);
        ended(self.child)
    }
}

/// A run that waits between its two passes because nobody reads its rejects.
pub struct Between {
    child: Child,
    rejects: File,
}

impl Between {
    /// Starts `command`, whose input must have more rejects than a pipe holds.
    pub fn start(command: &mut Command, directory: &TempDir) -> Self {
        let fifo = fifo(directory, "rejects.fifo");
        let child = piped(command.arg("--rejects").arg(&fifo)).spawn().unwrap();
        let mut rejects = File::open(&fifo).unwrap();
        rejects.read_exact(&mut [0]).unwrap();
        Self { child, rejects }
    }

    /// What the run has mapped.
    pub fn maps(&self) -> String {
        fs::read_to_string(format!("/proc/{}/maps", self.child.id())).unwrap()
    }

    /// Lets the run finish.
    pub fn finish(self) -> Run {
        self.finish_with_rejects().0
    }

    /// Lets the run finish, and returns its rejects without the first byte.
    pub fn finish_with_rejects(mut self) -> (Run, Vec<u8>) {
        let mut rejects = Vec::new();
        self.rejects.read_to_end(&mut rejects).unwrap();
        (ended(self.child), rejects)
    }
}

/// Runs `command` with a pipe that delivers `words` and stays open.
pub fn unanswered(command: &mut Command, words: &[u8]) -> Run {
    let mut child = piped(command).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // The program need not read all of it.
    let _ = pipe.write_all(words);
    let run = ended(child);
    drop(pipe);
    run
}

/// Creates a FIFO.
pub fn fifo(directory: &TempDir, name: &str) -> PathBuf {
    let path = directory.join(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

/// Polls until the condition holds. A minute is longer than any step takes.
#[track_caller]
pub fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the condition did not hold within a minute");
}

/// Whether a test must be skipped because `what` needs root, as mounts and control groups do. Reports it.
pub fn skip_unless_root(what: &str) -> bool {
    let is_root = finish(Command::new("id").arg("-u"), b"").stdout == b"0\n";
    if !is_root {
        skip(&format!("{what} needs root"));
    }
    !is_root
}

/// Runs `command` under strace with `fault` in `call`. Also returns whether the fault occurred.
pub fn injected(directory: &TempDir, call: &str, fault: &str, command: &Command) -> (Run, bool) {
    strace(directory, None, call, fault, command)
}

/// Runs `command` under strace with `fault` in `call` on `path`. Also returns whether the fault occurred.
pub fn injected_on(
    directory: &TempDir,
    path: &Path,
    call: &str,
    fault: &str,
    command: &Command,
) -> (Run, bool) {
    strace(directory, Some(path), call, fault, command)
}

fn strace(
    directory: &TempDir,
    path: Option<&Path>,
    call: &str,
    fault: &str,
    command: &Command,
) -> (Run, bool) {
    let log = directory.join("strace.log");
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:{fault}"));
    let mut words = vec!["strace", "-f", "-qq", "-o", text(&log), "-e", &trace, "-e", &inject];
    words.extend(path.into_iter().flat_map(|path| ["-P", text(path)]));
    let run = finish(&mut started_by(&words, command), b"");
    let log = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    let is_signal = fault.starts_with("signal");
    (run, log.contains("(INJECTED)") || is_signal && log.contains("--- SIG"))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("tests write plain names")
}

/// Injects `fault` into the first `call` of one run, the second of the next, and so on, until a run has fewer calls.
/// `command` prepares each run, and `judge` checks its result, including that of the last run, which had no fault.
pub fn at_each_call(
    directory: &TempDir,
    call: &str,
    fault: &str,
    mut command: impl FnMut() -> Command,
    mut judge: impl FnMut(&str, &Run),
) {
    for nth in 1.. {
        let fault = format!("{fault}:when={nth}");
        let (run, hit) = injected(directory, call, &fault, &command());
        // Shown if the test fails.
        println!("{call} {fault}");
        judge(&format!("{call} {fault}"), &run);
        // A kill is not in the log, but in the exit code.
        if !hit && run.exit != KILLED {
            run.expect(0);
            return;
        }
    }
}

/// A mounted file system, unmounted on drop.
pub struct Mount {
    path: PathBuf,
    image: Option<PathBuf>,
}

impl Mount {
    /// Mounts a tmpfs.
    pub fn tmpfs(options: &str, path: &Path) -> Self {
        fs::create_dir(path).unwrap();
        finish(Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(path), b"").expect(0);
        Self { path: path.into(), image: None }
    }

    /// Mounts the file `from` at the file `path`, as containers do.
    pub fn file(from: &Path, path: &Path) -> Self {
        finish(Command::new("mount").arg("--bind").arg(from).arg(path), b"").expect(0);
        Self { path: path.into(), image: None }
    }

    /// Mounts a new file system of `kind` in the file `image`. `None`, with a message, if the kernel does not support `kind` or
    /// allows no loop mounts.
    pub fn new_image(image: &Path, kind: &str, path: &Path) -> Option<Self> {
        fs::create_dir_all(path).unwrap();
        File::create(image).unwrap().set_len(if kind == "xfs" { 320 << 20 } else { 64 << 20 }).unwrap();
        let options: &[&str] = if kind == "ext4" { &["-b", "4096"] } else { &[] };
        finish(Command::new(format!("mkfs.{kind}")).arg("-q").args(options).arg(image), b"").expect(0);
        let mount = Self { path: path.into(), image: Some(image.into()) };
        let mounted = mount.mount();
        if mounted.exit != 0 {
            skip(&format!("{kind} in a file cannot be mounted here: {}", mounted.stderr));
            return None;
        }
        Some(mount)
    }

    fn mount(&self) -> Run {
        let image = self.image.as_ref().expect("a tmpfs is mounted once");
        finish(Command::new("mount").args(["-o", "loop"]).arg(image).arg(&self.path), b"")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Unmounts it.
    pub fn away(&mut self) {
        finish(Command::new("umount").arg(&self.path), b"").expect(0);
    }

    /// Unmounts it and mounts it again, as after a reboot.
    pub fn again(&mut self) {
        self.away();
        self.mount().expect(0);
    }

    /// Mounts it read-only, without replaying its log.
    pub fn as_it_is(&mut self) {
        let image = self.image.as_ref().expect("a tmpfs is mounted once");
        let mut mount = Command::new("mount");
        finish(mount.args(["-o", "loop,ro,noload"]).arg(image).arg(&self.path), b"").expect(0);
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-q").arg(&self.path).stderr(Stdio::null()).status();
    }
}
