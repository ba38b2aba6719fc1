//! Standard streams that are closed, and devices and FIFOs that options name.

use std::process::Command;

use crate::support::{TempDir, build_command, finish, published_urls};

const BASE: &str = "http://h.example/";

#[test]
fn a_command_fails_if_standard_output_is_closed_for_its_result() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", format!("{BASE}1\n")), directory.join("out"));
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    let [input, out] = [&input, &out].map(|path| path.to_str().unwrap());
    let shell = |words: &str, redirected: &str| {
        let script = format!("exec \"$0\" {words} {redirected}");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).arg(env!("CARGO_BIN_EXE_sitemill"));
        finish(&mut shell, b"http://h.example/2\n")
    };
    let build = format!("build --quiet --base-url {BASE} --out {out} --max-shrink 100");
    for words in [
        &format!("clean {input}"),
        &format!("urls {out}"),
        &format!("diff {out} {out}"),
        &format!("check {out}"),
        &format!("status --out {out}"),
        &format!("{build} --rejects -"),
        &format!("{build} --diff -"),
        &format!("{build} --report -"),
        &format!("{build} --rejects /dev/fd/1"),
        &format!("{build} --diff /dev/stdout"),
        &format!("{build} --report /proc/self/fd/1"),
        "completions bash",
        "man",
    ] {
        let failed = shell(words, ">&-").expect(74);
        assert!(failed.stderr.contains("standard output: is closed"), "{words}: {}", failed.stderr);
    }
    assert_eq!(published_urls(out.as_ref(), BASE), [format!("{BASE}1")]);
    // A caller may discard the output, however it opens `/dev/null`.
    for redirected in ["> /dev/null", "<> /dev/null >&0", "1<> /dev/null"] {
        shell(&format!("clean {input}"), redirected).expect(0);
    }
    // A set that is live stays live if the report cannot be written.
    let told = shell(&format!("{build} --json"), ">&-").expect(0);
    assert!(told.stderr.contains("standard output: the report could not be written"), "{}", told.stderr);
    assert_eq!(published_urls(out.as_ref(), BASE), [format!("{BASE}2")]);
    // Without such an option, nothing is written to standard output.
    shell(&build, ">&-").expect(0);
}

#[test]
fn a_reader_may_stop_early() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", format!("{BASE}1\n")), directory.join("out"));
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    for words in [
        "clean in.txt",
        "urls out",
        "urls --json out",
        "diff out out",
        "check out",
        "status out",
        "report out",
    ] {
        let mut shell = Command::new("bash");
        // The reader is gone before anything is written.
        let script = format!(
            "mkfifo pipe; {{ exec 3< pipe; exec 3<&-; }} & exec 4> pipe; wait; rm pipe; exec \"$0\" {words} >&4"
        );
        shell.args(["-c", &script]).arg(env!("CARGO_BIN_EXE_sitemill")).current_dir(directory.path());
        let ended = finish(&mut shell, b"").expect(0);
        assert!(!ended.stderr.contains("error"), "{words}: {}", ended.stderr);
    }
}

#[test]
fn a_full_standard_output_has_its_name_in_messages() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (option, exit) in [("--rejects", 74), ("--diff", 0), ("--report", 0), ("--html", 0)] {
        let mut shell = Command::new("bash");
        let script =
            format!("exec \"$0\" build --quiet --base-url {BASE} --out \"$1\" {option} - > /dev/full");
        shell.args(["-c", &script]).arg(env!("CARGO_BIN_EXE_sitemill")).arg(&out);
        let told = finish(&mut shell, format!("{BASE}{option}\nbad\n").as_bytes()).expect(exit).stderr;
        assert!(told.contains(": standard output: ") && told.contains("could not be written"), "{told}");
    }
}

#[test]
fn a_closed_standard_input_is_not_an_empty_one() {
    for words in ["clean", "clean -", "build --base-url http://h.example/ --out never"] {
        let mut shell = Command::new("bash");
        shell.args(["-c", &format!("exec \"$0\" {words} <&-")]).arg(env!("CARGO_BIN_EXE_sitemill"));
        let failed = finish(&mut shell, b"").expect(66);
        assert!(failed.stderr.contains("standard input: is closed"), "{words}: {}", failed.stderr);
    }
}

#[test]
fn reports_may_go_to_devices_except_for_metrics_and_one_that_is_lost_is_a_warning() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |options: &[&str]| finish(build_command(&out, BASE).args(options), b"http://h.example/1\n");
    for option in ["--report", "--html"] {
        let run = build(&[option, "/dev/null"]).expect(0);
        assert!(!run.stderr.contains("warning"), "{}", run.stderr);
        let run = build(&[option, "/dev/full"]).expect(0);
        assert!(run.stderr.contains("warning: /dev/full: the "), "{}", run.stderr);
    }
    let refused = build(&["--metrics", "/dev/null"]).expect(73);
    assert!(refused.stderr.contains("/dev/null: is not a regular file"), "{}", refused.stderr);
    let fifo = directory.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for option in ["--report", "--html", "--metrics"] {
        build(&[option, fifo.to_str().unwrap()]).expect(73);
    }
}
