//! Helpers of all tests. They run the binary in separate directories and read its output without its code.
#![allow(dead_code, reason = "three test programs share this file, and none uses all of it")]

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::{fs, thread};

use serde_json::Value;

pub mod pages;
pub mod random;
mod xmllint;

#[allow(unused_imports, reason = "only the suite validates XML")]
pub use xmllint::{assert_valid, assert_valid_set, lint_findings};

/// The time of every run: midnight of 26 June 2005, UTC.
pub const EPOCH: &str = "1119744000";

/// The time `seconds` after [`EPOCH`].
pub fn epoch_plus(seconds: impl Into<u64>) -> String {
    (EPOCH.parse::<u64>().expect("it is a number") + seconds.into()).to_string()
}

/// `testdata/`.
pub fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata")
}

/// A directory for one test, removed on drop.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Creates an empty directory in the target directory.
    pub fn new() -> Self {
        Self::below(Path::new(env!("CARGO_TARGET_TMPDIR")))
    }

    /// Creates an empty directory in memory if possible: syncs are fast there, but room may be scarce.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { Self::below(memory) } else { Self::new() }
    }

    fn below(parent: &Path) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("sitemill-suite-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = parent.join(name);
        // An earlier process with the same ID may have been killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the target directory can be written to");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file into the directory and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, content).expect("a test's own directory can be written to");
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Sets its flag on drop, also during a panic.
pub struct Ends<'a>(pub &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The result of a run of the binary.
#[derive(Debug)]
pub struct Run {
    /// The exit code, or 128 + signal, as in a shell.
    pub exit: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Run {
    /// Returns the run if its exit code is `exit`. Otherwise the test fails and shows standard error.
    #[track_caller]
    pub fn expect(self, exit: i32) -> Self {
        assert_eq!(self.exit, exit, "exit code; standard error was:\n{}", self.stderr);
        self
    }
}

/// A command that runs the binary at the time [`EPOCH`].
pub fn sitemill() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sitemill"));
    command.env("SOURCE_DATE_EPOCH", EPOCH);
    command
}

/// A quiet `sitemill build` into `out`. Inputs (default: standard input) and options may be added.
pub fn build_command(out: &Path, base_url: &str) -> Command {
    let mut command = telling_build_command(out, base_url);
    command.arg("--quiet");
    command
}

/// The same, with a summary and all messages.
pub fn telling_build_command(out: &Path, base_url: &str) -> Command {
    let mut command = sitemill();
    command.args(["build", "--base-url", base_url, "--out"]).arg(out);
    command
}

/// `command`, with SIGINT, SIGTERM and SIGHUP at their defaults even if the tests ignore them.
pub fn heeding_signals(command: &Command) -> Command {
    started_by(&["env", "--default-signal=HUP,INT,TERM"], command)
}

/// `command`, killed at the `nth` system call `call`.
pub fn killed_at(call: &str, nth: usize, command: &Command) -> Command {
    let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=SIGKILL:when={nth}"));
    started_by(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject], command)
}

/// `command`, with its arguments and environment, started through the program and arguments in `words`.
pub fn started_by(words: &[&str], command: &Command) -> Command {
    let mut starter = Command::new(words[0]);
    starter.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    starter.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    starter
}

/// Sends the signal with the name `signal`.
#[track_caller]
pub fn send(signal: &str, to: &Child) {
    let sent = Command::new("kill").args(["-s", signal, &to.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until a `build` into `out` has created its staging directory. The build must wait for something, or it may
/// finish first.
pub fn wait_until_staging(out: &Path) {
    while fs::read_dir(out.join(".sitemill/staging")).map_or(0, Iterator::count) == 0 {
        thread::yield_now();
    }
}

/// Runs the binary with `args` in the current directory, with empty standard input.
pub fn run<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Run {
    finish(sitemill().args(args), b"")
}

/// Runs `command` with `stdin` as standard input.
pub fn finish(command: &mut Command, stdin: &[u8]) -> Run {
    try_finish(command, stdin).expect("the binary that Cargo has built can be run")
}

/// Runs `command` with `stdin` as standard input. Fails if the program cannot be started.
fn try_finish(command: &mut Command, stdin: &[u8]) -> io::Result<Run> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut pipe = child.stdin.take().expect("standard input is a pipe");
    Ok(thread::scope(|scope| {
        scope.spawn(move || match pipe.write_all(stdin) {
            // The program need not read all of it.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.expect("a pipe takes bytes"),
        });
        ended(child)
    }))
}

/// Waits for the end of a run, whose output goes to pipes.
pub fn ended(child: Child) -> Run {
    let output = child.wait_with_output().expect("a child can be waited for");
    Run {
        exit: exit_code(output.status),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).expect("messages are UTF-8, whatever the input was"),
    }
}

fn exit_code(status: std::process::ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or(status.signal().map(|signal| 128 + signal)).expect("the process has ended")
}

/// The file whose lines name the index files of a set.
pub const ROBOTS_FILE: &str = "robots-sitemaps.txt";

/// Reads a set like a crawler. Returns name and XML of each index file in the robots lines, followed by its sitemaps.
/// Panics if a file is missing or its URL is not below `base_url`.
#[track_caller]
pub fn published(out: &Path, base_url: &str) -> Vec<(String, String)> {
    published_by(|file| fs::read(out.join(file)).map_err(|error| error.to_string()), ROBOTS_FILE, base_url)
}

/// Reads a set like a crawler, from `robots` on and each file by `read`. Otherwise like [`published`].
#[track_caller]
pub fn published_by(
    read: impl Fn(&str) -> Result<Vec<u8>, String>,
    robots: &str,
    base_url: &str,
) -> Vec<(String, String)> {
    let file_of = |url: &str| match url.strip_prefix(base_url) {
        Some(file) if !file.is_empty() && !file.contains('/') => file.to_owned(),
        _ => panic!("{url} is not in the directory {base_url}"),
    };
    let read = |file: &str| match read(file) {
        Ok(bytes) if file.ends_with(".gz") => text(file, gunzip(&bytes)),
        Ok(bytes) => text(file, bytes),
        Err(error) => panic!("{file} is listed and cannot be read: {error}"),
    };
    let mut files = Vec::new();
    for line in read(robots).lines().filter(|line| !line.starts_with('#')) {
        let index_url = line.strip_prefix("Sitemap: ").unwrap_or_else(|| panic!("not a robots line: {line}"));
        let index = file_of(index_url);
        let xml = read(&index);
        let sitemaps: Vec<String> = locs(&xml).iter().map(|url| file_of(url)).collect();
        files.push((index, xml));
        files.extend(sitemaps.into_iter().map(|sitemap| {
            let xml = read(&sitemap);
            (sitemap, xml)
        }));
    }
    files
}

/// The URLs in the sitemaps of a set, in order.
#[track_caller]
pub fn published_urls(out: &Path, base_url: &str) -> Vec<String> {
    let files = published(out, base_url);
    files.iter().filter(|(file, _)| file.ends_with(".gz")).flat_map(|(_, xml)| locs(xml)).collect()
}

/// The text of each `<loc>`, unescaped by [`unescape`].
pub fn locs(xml: &str) -> Vec<String> {
    let behind_tags = xml.split("<loc>").skip(1);
    behind_tags.map(|rest| unescape(rest.split("</loc>").next().expect("split gives one part"))).collect()
}

/// Resolves the five entities, `&amp;` last, so that its result is not resolved again.
fn unescape(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

/// The sorted names in a directory, without `.sitemill`. Empty if the directory does not exist.
pub fn files(directory: &Path) -> Vec<String> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        entries => entries.expect("a test's own directory can be read"),
    };
    let mut files: Vec<String> = entries
        .map(|entry| entry.expect("a test's own directory can be read").file_name())
        .map(|name| name.into_string().expect("tests write plain names"))
        .filter(|name| name != ".sitemill")
        .collect();
    files.sort();
    files
}

/// Names and contents of [`files`].
pub fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let content = |file: String| (file.clone(), fs::read(directory.join(file)).expect("it was listed"));
    files(directory).into_iter().map(content).collect()
}

#[track_caller]
pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let mut members = flate2::bufread::MultiGzDecoder::new(bytes);
    members.read_to_end(&mut content).expect("a whole gzip file");
    content
}

/// `bytes` as one gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    member.write_all(bytes).expect("memory takes bytes");
    member.finish().expect("memory takes bytes")
}

/// Replaces the directory `to` with a copy of `from`.
#[track_caller]
pub fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    finish(Command::new("cp").arg("-a").arg(from).arg(to), b"").expect(0);
}

/// Fails unless standard error contains each of `words`.
#[track_caller]
pub fn assert_says(run: &Run, words: &[&str]) {
    words.iter().for_each(|words| assert!(run.stderr.contains(words), "{words}: {}", run.stderr));
}

/// The output of `status --json`.
#[track_caller]
pub fn status(out: &Path) -> Value {
    let shown = run(["status".as_ref(), "--json".as_ref(), "--out".as_ref(), out.as_os_str()]).expect(0);
    serde_json::from_slice(&shown.stdout).expect("one object")
}

/// Reports a skipped test. Writes directly, because the harness hides the output of passing tests.
pub fn skip(why: &str) {
    let _ = writeln!(io::stderr(), "\nSKIPPED: {why}");
}

/// Fails unless `out` holds only the live set and kept ones, all complete.
#[track_caller]
pub fn assert_nothing_is_left(out: &Path) {
    let state = out.join(".sitemill");
    assert_eq!(fs::read_dir(state.join("staging")).unwrap().count(), 0);
    assert!(!state.join("manifest.next.json").exists());
    let manifest: Value = serde_json::from_slice(&fs::read(state.join("manifest.json")).unwrap()).unwrap();
    let listed = ["sitemaps", "superseded"].map(|list| manifest[list].as_array().unwrap());
    let known: BTreeSet<&str> =
        listed.into_iter().flatten().map(|sitemap| sitemap["file"].as_str().unwrap()).collect();
    let there = files(out);
    assert!(there.iter().filter(|file| file.ends_with(".gz")).all(|file| known.contains(file.as_str())));
    run(["check".as_ref(), "--quiet".as_ref(), out.as_os_str()]).expect(0);
    let status = status(out);
    let sets = status["earlier"].as_array().unwrap().iter().chain([&status["live"]]);
    sets.for_each(|set| assert_eq!(set["missing"], 0, "set {} can come back", set["number"]));
}

#[track_caller]
fn text(file: &str, bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|_| panic!("{file} is not UTF-8"))
}
