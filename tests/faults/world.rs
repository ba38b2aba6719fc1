//! What the tests of faults share: a directory with a live set, runs that wait at a known place, and the judge of what is left.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use crate::support::{Run, TempDir, assert_nothing_is_left, files, finish, published_urls, sitemill};

pub const BASE: &str = "http://h.example/";

/// `http://h.example/0000001` and so on from FIRST to LAST, a line each; they are in order in any order.
pub fn pages(first: u32, last: u32) -> String {
    (first..=last).map(|page| format!("{BASE}{page:07}\n")).collect()
}

/// The same as a list.
pub fn urls(first: u32, last: u32) -> Vec<String> {
    pages(first, last).lines().map(Into::into).collect()
}

/// A directory in which a set is live: pages 1 to 60, 20 in a sitemap, 2 sitemaps in an index file.
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

    /// In memory, where that can be: for what is done some hundred times.
    pub fn in_memory() -> Self {
        let directory = TempDir::in_memory();
        let out = directory.join("out");
        Self::at(directory, out)
    }

    /// With the set at `out`.
    pub fn at(directory: TempDir, out: PathBuf) -> Self {
        finish(&mut build(&out), pages(1, 60).as_bytes()).expect(0);
        let old = bytes(&out);
        Self { directory, out, old }
    }

    /// A run in it.
    pub fn build(&self) -> Command {
        build(&self.out)
    }

    /// The same with larger sitemaps.
    pub fn build_large(&self) -> Command {
        build_with(&self.out, 5_000)
    }

    /// A copy of the directory, to begin again from.
    pub fn copied(&self) -> PathBuf {
        let to = self.directory.join("before");
        copy(&self.out, &to);
        to
    }

    /// Fails unless the old set is live as it was, byte for byte, and nothing is left of any other run.
    #[track_caller]
    pub fn assert_old(&self) {
        assert_eq!(published_urls(&self.out, BASE), urls(1, 60));
        assert!(bytes(&self.out) == self.old, "{:?}", files(&self.out));
        assert_nothing_is_left(&self.out);
    }

    /// Fails unless `run` was refused with `exit` and words with `said` in them, and the old set is live.
    #[track_caller]
    pub fn assert_refused(&self, run: Run, exit: i32, said: &str) {
        let run = run.expect(exit);
        assert!(run.stderr.contains(said), "{said:?} is not in: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
        self.assert_old();
    }

    /// Fails unless a crawler sees the pages `first` to `last` and nothing else is left.
    #[track_caller]
    pub fn assert_new(&self, first: u32, last: u32) {
        assert_eq!(published_urls(&self.out, BASE), urls(first, last));
        assert_nothing_is_left(&self.out);
    }

    /// Fails unless a crawler sees, at once and after the next run, which publishes nothing and leaves nothing beside it, the
    /// set that `exit` speaks of: the old one, or that of the pages `first` to `last`.
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

/// Fails unless a crawler sees what a run with `exit` says, before any other run: the new set after success, the old one after
/// failure. A kill may leave index files of both, each of them whole.
#[track_caller]
pub fn assert_as_told(exit: i32, out: &Path, base_url: &str, old: &[String], new: &[String]) {
    let seen = published_urls(out, base_url);
    let told = if exit == 0 { new } else { old };
    assert!(exit == KILLED || seen == told, "exit {exit}, {base_url}: {seen:?}");
}

/// The same after the next run: then a kill, too, has left one of both, and there is nothing beside it.
#[track_caller]
pub fn assert_as_told_at_rest(exit: i32, out: &Path, base_url: &str, old: &[String], new: &[String]) {
    let seen = published_urls(out, base_url);
    let told = if exit == 0 || exit == KILLED && seen == new { new } else { old };
    assert!(seen == told, "exit {exit}, {base_url}, after the next run: {seen:?}");
    assert_nothing_is_left(out);
}

/// A small set in `out`.
pub fn build(out: &Path) -> Command {
    build_with(out, 20)
}

fn build_with(out: &Path, urls_per_sitemap: u32) -> Command {
    let mut command = sitemill();
    command.args(["build", "--quiet", "--base-url", BASE, "--sitemaps-per-index", "2"]);
    command.arg(format!("--urls-per-sitemap={urls_per_sitemap}")).arg("--out").arg(out);
    command
}

fn bytes(out: &Path) -> Vec<(String, Vec<u8>)> {
    files(out).into_iter().map(|file| (file.clone(), fs::read(out.join(file)).unwrap())).collect()
}

/// A run that waits for its second input, with its first one mapped.
pub struct Waiting {
    child: Child,
    pipe: ChildStdin,
}

impl Waiting {
    /// Starts `command` with `input` and a pipe.
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

    /// Lets it go on.
    pub fn finish(self) -> Run {
        drop(self.pipe);
        ended(self.child)
    }
}

/// A run that waits between its two passes, because nobody reads its rejects.
pub struct Between {
    child: Child,
    rejects: File,
}

impl Between {
    /// Starts `command`, whose input must have more rejects than a pipe takes.
    pub fn start(command: &mut Command, directory: &TempDir) -> Self {
        let fifo = fifo(directory, "rejects.fifo");
        let child = piped(command.arg("--rejects").arg(&fifo)).spawn().unwrap();
        let mut rejects = File::open(&fifo).unwrap();
        rejects.read_exact(&mut [0]).unwrap();
        Self { child, rejects }
    }

    /// Lets it go on.
    pub fn finish(mut self) -> Run {
        std::io::copy(&mut self.rejects, &mut std::io::sink()).unwrap();
        ended(self.child)
    }
}

/// Runs `command` with a pipe that says `words` and then nothing, not even that it ends.
pub fn unanswered(command: &mut Command, words: &[u8]) -> Run {
    let mut child = piped(command).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // It need not read to the end.
    let _ = pipe.write_all(words);
    let run = ended(child);
    drop(pipe);
    run
}

/// A new FIFO.
pub fn fifo(directory: &TempDir, name: &str) -> PathBuf {
    let path = directory.join(name);
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

fn piped(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped())
}

fn ended(child: Child) -> Run {
    use std::os::unix::process::ExitStatusExt;
    let output = child.wait_with_output().unwrap();
    let exit = output.status.code().or(output.status.signal().map(|signal| 128 + signal)).unwrap();
    Run { exit, stdout: output.stdout, stderr: String::from_utf8(output.stderr).unwrap() }
}

/// Looks again and again; a minute is more than any step takes.
#[track_caller]
pub fn wait_until(is_so: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("it does not come to that");
}

/// Says that a test does nothing here, past the harness, which shows what was printed by failed tests only.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "\nSKIPPED in tests/faults: {why}");
}

/// Whether nothing can be done about `what` here, as mounts and control groups need root; says so.
pub fn skip_unless_root(what: &str) -> bool {
    let is_root = finish(Command::new("id").arg("-u"), b"").stdout == b"0\n";
    if !is_root {
        skip(&format!("{what} needs root"));
    }
    !is_root
}

/// Makes `to` what `from` is.
pub fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    finish(Command::new("cp").arg("-a").arg(from).arg(to), b"").expect(0);
}

/// Runs `command` with `fault` in `call`, by strace; and whether it came to that.
pub fn injected(directory: &TempDir, call: &str, fault: &str, command: &Command) -> (Run, bool) {
    strace(directory, None, call, fault, command)
}

/// The same for calls on `path` alone.
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
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log);
    strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:{fault}")]);
    path.map(|path| strace.arg("-P").arg(path));
    strace.arg(command.get_program()).args(command.get_args());
    strace.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let run = finish(&mut strace, b"");
    let log = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    let is_signal = fault.starts_with("signal");
    (run, log.contains("(INJECTED)") || is_signal && log.contains("--- SIG"))
}

/// Lets the first `call` of a run meet `fault`, the second of another run, and so on, until there are fewer. `command` makes
/// everything ready for a run, and `judge` looks at what it left behind; in the end at that of one that met no fault.
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
        // The harness shows it if the test fails.
        println!("{call} {fault}");
        judge(&format!("{call} {fault}"), &run);
        // A kill is in no log; it is in the exit code.
        if !hit && run.exit != KILLED {
            run.expect(0);
            return;
        }
    }
}

/// A mounted file system; gone when it is dropped.
pub struct Mount {
    path: PathBuf,
    image: Option<PathBuf>,
}

impl Mount {
    /// A new tmpfs.
    pub fn tmpfs(options: &str, path: &Path) -> Self {
        fs::create_dir(path).unwrap();
        finish(Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(path), b"").expect(0);
        Self { path: path.into(), image: None }
    }

    /// A new file system of `kind` in the file `image`. None, with a word, where the kernel has no such thing or allows no
    /// loop mounts.
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

    /// Takes it away.
    pub fn away(&mut self) {
        finish(Command::new("umount").arg(&self.path), b"").expect(0);
    }

    /// Takes it away and mounts it again, as after a start of the machine.
    pub fn again(&mut self) {
        self.away();
        self.mount().expect(0);
    }

    /// Mounts it again with nothing read or mended that is not asked for.
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
