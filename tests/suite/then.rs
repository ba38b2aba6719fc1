//! The command that runs once a set is live.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{TempDir, build_command, finish, heeding_signals, run, send, sitemill};

const BASE: &str = "https://www.example.com/";

/// A build of `input` into `out` that runs `then`, with the report on standard output.
fn build(out: &Path, then: &str) -> Command {
    let mut build = build_command(out, BASE);
    build.args(["--json", "--then", then]);
    build
}

fn report(stdout: &[u8]) -> Value {
    serde_json::from_slice(stdout).expect("nothing but the report is on standard output")
}

#[test]
fn the_command_reads_the_report_of_a_live_set_and_knows_the_run() {
    let directory = TempDir::new();
    let out = directory.join("the out");
    let [seen, names, diff] = ["report.json", "names", "diff.tsv"].map(|name| directory.join(name));
    let script = directory.file(
        "then.sh",
        format!(
            "cat > '{}'\nenv | grep ^SITEMILL_ | sort > '{}'\ntest -e \"$SITEMILL_RUN_OUT/sitemap-index-1.xml\"\n",
            seen.display(),
            names.display()
        ),
    );
    let mut command = build(&out, &format!("sh '{}'", script.display()));
    command.env("SITEMILL_DIFF", &diff).env("SITEMILL_URLS_PER_SITEMAP", "2");
    let urls: String = (0..5).map(|n| format!("{BASE}{n}\n")).collect();
    let done = finish(&mut command, urls.as_bytes()).expect(0);
    assert_eq!(done.stderr, "");
    let mut reported = report(&done.stdout);
    let then = reported.as_object_mut().unwrap().remove("then").unwrap();
    assert_eq!(then, json!({ "command": ["sh", script], "exit_code": 0 }));
    let read: Value = serde_json::from_slice(&fs::read(&seen).unwrap()).unwrap();
    assert_eq!(read["published"], true);
    assert_eq!(read, reported);
    let names = fs::read_to_string(&names).unwrap();
    let absolute = fs::canonicalize(directory.path()).unwrap();
    for line in [
        format!("SITEMILL_RUN_OUT={}", absolute.join("the out").display()),
        format!("SITEMILL_RUN_DIFF={}", absolute.join("diff.tsv").display()),
        format!("SITEMILL_RUN_BASE_URL={BASE}"),
        "SITEMILL_RUN_LISTED=5".into(),
        "SITEMILL_RUN_SITEMAPS=3".into(),
        "SITEMILL_RUN_INDEXES=1".into(),
        "SITEMILL_RUN_CHANGED=4".into(),
    ] {
        assert!(names.lines().any(|name| name == line), "{line}: {names}");
    }
    finish(&mut command, urls.as_bytes()).expect(0);
    let again: Value = serde_json::from_slice(&fs::read(&seen).unwrap()).unwrap();
    assert_eq!(again["details"]["changes"]["new_sitemaps"], 0);
}

#[test]
fn the_command_finds_the_files_of_its_own_run_and_its_exit_code_is_added_to_them() {
    let directory = TempDir::new();
    let (out, seen) = (directory.join("out"), directory.join("seen"));
    fs::create_dir(&seen).unwrap();
    let names = ["report.json", "page.html", "diff.tsv", "rejects.tsv"];
    let [report, page, diff, rejects] = names.map(|name| directory.join(name));
    let shown = directory.path().display();
    let script = format!("cat > '{shown}/seen/stdin'; cd '{shown}' && cp {} seen; exit 3\n", names.join(" "));
    let then = format!("sh '{}'", directory.file("then.sh", script).display());
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    let json = |path: &Path| serde_json::from_str::<Value>(&read(path)).unwrap();
    for (input, listed) in [("1\n2\n3\n\u{7f}\n", 3), ("1\n4\n", 2)] {
        let input: String = input.lines().map(|page| format!("{BASE}{page}\n")).collect();
        let mut command = build_command(&out, BASE);
        command.args(["--then", &then, "--report"]).arg(&report).arg("--html").arg(&page);
        finish(command.arg("--diff").arg(&diff).arg("--rejects").arg(&rejects), input.as_bytes()).expect(0);
        let [mut early, mut late] = [seen.join("report.json"), report.clone()].map(|path| json(&path));
        assert_eq!((&early["listed"], &early), (&listed.into(), &json(&seen.join("stdin"))));
        assert_eq!(late["then"]["exit_code"], 3);
        for report in [&mut early, &mut late] {
            report.as_object_mut().unwrap().retain(|key, _| key != "then" && key != "warnings");
        }
        assert_eq!(early, late);
        let pages = [read(&seen.join("page.html")), read(&page)];
        assert_eq!(pages.map(|page| page.contains("exit code 3")), [false, true]);
        for path in [&diff, &rejects] {
            assert_eq!(read(&seen.join(path.file_name().unwrap())), read(path));
        }
    }
    // What cannot be replaced is written once.
    for option in ["--report", "--html"] {
        let mut command = build_command(&out, BASE);
        let done = finish(command.args(["--then", "true", option, "/dev/stdout"]), BASE.as_bytes()).expect(0);
        let stdout = String::from_utf8(done.stdout).unwrap();
        let ends = ["\"exit_code\": 0", "</html>"].map(|end| stdout.matches(end).count());
        assert_eq!(ends, if option == "--report" { [1, 0] } else { [0, 1] }, "{stdout}");
    }
}

/// What a command sees of a build of one URL with `options`.
fn variable(out: &Path, name: &str, options: &[&str]) -> String {
    let then = format!("sh -c 'echo ${{{name}-unset}} >&2'");
    let mut command = build_command(out, BASE);
    let done = finish(command.args(["--then", &then]).args(options), BASE.as_bytes()).expect(0);
    done.stderr.trim().to_owned()
}

#[test]
fn the_number_of_changes_includes_index_files() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let changed = |options: &[&str]| variable(&out, "SITEMILL_RUN_CHANGED", options);
    // One sitemap and one index file.
    assert_eq!(changed(&[]), "2");
    assert_eq!(changed(&[]), "0");
    let news = out.join("news.xml");
    let sitemap = "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>https://www.example.com/n</loc></url></urlset>";
    fs::write(&news, sitemap).unwrap();
    let also = ["--also", news.to_str().unwrap()];
    assert_eq!(changed(&also), "1");
    assert_eq!(changed(&also), "0");
    // The second entry moves to an index file of its own.
    assert_eq!(changed(&[&also[..], &["--sitemaps-per-index", "1"]].concat()), "2");
    assert_eq!(changed(&[]), "1");
}

#[test]
fn files_that_were_lost_or_damaged_count_as_changed() {
    let directory = TempDir::new();
    let out = directory.join("out");
    // A warning about a damaged index file follows the number.
    let changed = || variable(&out, "SITEMILL_RUN_CHANGED", &[]).lines().next().unwrap().to_owned();
    assert_eq!(changed(), "2");
    let files = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
    let is_xml = |path: &PathBuf| path.to_str().unwrap().contains(".xml");
    let files: Vec<_> = files.filter(is_xml).collect();
    assert_eq!(files.len(), 2);
    for file in files {
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(changed(), "1", "{}", file.display());
        let mut damaged = bytes.clone();
        damaged[20] ^= 1;
        fs::write(&file, damaged).unwrap();
        assert_eq!(changed(), "1", "{}", file.display());
        assert_eq!((changed().as_str(), fs::read(&file).unwrap()), ("0", bytes));
    }
}

#[test]
fn standard_output_is_not_a_file_for_the_command() {
    let directory = TempDir::new();
    let diff = |to: &str| variable(&directory.join("out"), "SITEMILL_RUN_DIFF", &["--diff", to]);
    let file = directory.join("diff.tsv");
    assert_eq!(
        diff(file.to_str().unwrap()),
        fs::canonicalize(directory.path()).unwrap().join("diff.tsv").to_str().unwrap()
    );
    assert_eq!(diff("-"), "unset");
}

#[test]
fn the_command_of_an_inner_run_gets_the_variables_of_that_run_alone() {
    let directory = TempDir::new();
    let (inner, diff) = (directory.join("inner"), directory.join("diff.tsv"));
    let input = directory.file("urls.txt", format!("{BASE}\n"));
    let echo = directory.file("echo.sh", "echo ${SITEMILL_RUN_NAME-unset} ${SITEMILL_RUN_DIFF-unset} >&2\n");
    let then = format!(
        "{} build -q {} --base-url {BASE} -o {} --then 'sh {}'",
        env!("CARGO_BIN_EXE_sitemill"),
        input.display(),
        inner.display(),
        echo.display()
    );
    let mut outer = build(&directory.join("out"), &then);
    outer.args(["--name", "outer", "--diff"]).arg(&diff);
    assert_eq!(finish(&mut outer, BASE.as_bytes()).expect(0).stderr, "unset unset\n");
}

#[test]
fn no_variable_of_the_command_is_an_option() {
    let directory = TempDir::new();
    let names = directory.join("names");
    let then = format!(
        "sh -c 'env > {}; sitemill_status=$(\"$0\" status \"$SITEMILL_RUN_OUT\")' {}",
        names.display(),
        env!("CARGO_BIN_EXE_sitemill")
    );
    finish(&mut build(&directory.join("out"), &then), BASE.as_bytes()).expect(0);
    let completions = run(["completions", "fish"]).expect(0);
    let completions = String::from_utf8(completions.stdout).unwrap();
    let environment = fs::read_to_string(&names).unwrap();
    let given: Vec<_> = environment
        .lines()
        .filter_map(|line| line.strip_prefix("SITEMILL_RUN_")?.split('=').next())
        .collect();
    assert_eq!(given.len(), 6, "{given:?}");
    for name in given {
        let option = format!("run-{}", name.to_lowercase().replace('_', "-"));
        assert!(!completions.contains(&format!(" -l {option} ")), "{option}");
    }
}

#[test]
fn a_backslash_joins_the_lines_of_the_command() {
    let directory = TempDir::new();
    let lines = "sh -c 'echo $#: \"$@\" >&2' sh \\\n    a \\\n\\\n    b\\\nc \\\n";
    let config = directory.file("options.toml", format!("then = \'\'\'\n{lines}\'\'\'\n"));
    let mut command = build_command(&directory.join("out"), BASE);
    let built = finish(command.arg("--json").arg("--config").arg(config), BASE.as_bytes()).expect(0);
    assert_eq!(built.stderr, "2: a bc\n");
    let words = json!(["sh", "-c", "echo $#: \"$@\" >&2", "sh", "a", "bc"]);
    assert_eq!(report(&built.stdout)["then"]["command"], words);
}

#[test]
fn a_command_that_fails_is_a_warning_and_its_exit_code_is_reported() {
    let directory = TempDir::new();
    for (then, code, said) in [
        ("sh -c 'exit 3'", json!(3), "exit code 3"),
        ("sh -c 'kill -9 $$'", json!(137), "exit code 137"),
        ("sh -c 'echo said; echo also >&2; exit 1'", json!(1), "said\nalso\n"),
        // It does not read the report.
        ("true", json!(0), ""),
    ] {
        let out = directory.join("out");
        let done = finish(&mut build(&out, then), BASE.as_bytes()).expect(0);
        assert_eq!(report(&done.stdout)["then"]["exit_code"], code, "{then}");
        assert!(done.stderr.contains(said), "{then}: {}", done.stderr);
        let warns = done.stderr.contains("warning: --then: the command ended")
            && done.stderr.contains("the new set is live");
        assert_eq!(warns, code != json!(0), "{then}: {}", done.stderr);
        run(["check".as_ref(), "--quiet".as_ref(), out.as_os_str()]).expect(0);
    }
    // A program with the permission to run, which the system cannot run.
    let broken = directory.file("broken", "#!/no/such/shell\n");
    assert!(Command::new("chmod").arg("+x").arg(&broken).status().unwrap().success());
    let (page, metrics) = (directory.join("page.html"), directory.join("run.prom"));
    let mut command = build(&directory.join("out"), broken.to_str().unwrap());
    command.arg("--html").arg(&page).arg("--metrics").arg(&metrics);
    let done = finish(&mut command, BASE.as_bytes()).expect(0);
    assert_eq!(report(&done.stdout)["then"]["exit_code"], Value::Null);
    assert!(done.stderr.contains("could not be started"), "{}", done.stderr);
    assert!(fs::read_to_string(&page).unwrap().contains("could not be started"));
    assert!(
        fs::read_to_string(&metrics)
            .unwrap()
            .contains("sitemill_then_exit_code{base_url=\"https://www.example.com/\"} 127")
    );
}

#[test]
fn a_command_that_does_not_exist_or_is_no_command_is_refused_before_any_work() {
    let directory = TempDir::new();
    let file = directory.file("file", "");
    for then in ["no-such-program-at-all", "/no/such/program", file.to_str().unwrap(), "", "sh -c 'open"] {
        let out = directory.join("out");
        let mut command = build_command(&out, BASE);
        let done = finish(command.args(["--then", then]), BASE.as_bytes()).expect(2);
        assert!(done.stderr.contains("--then"), "{then}: {}", done.stderr);
        assert!(!out.exists());
    }
}

#[test]
fn the_command_runs_only_if_the_set_is_live() {
    let directory = TempDir::new();
    let (out, trace) = (directory.join("out"), directory.join("trace"));
    let then = format!("touch '{}'", trace.display());
    finish(&mut build(&out, &then), b"nonsense\n").expect(65);
    finish(build(&out, &then).arg("no-such-input"), b"").expect(66);
    finish(build(&out, &then).arg("--dry-run"), BASE.as_bytes()).expect(0);
    assert!(!trace.exists());
    finish(&mut build(&out, &then), BASE.as_bytes()).expect(0);
    assert!(trace.exists());
}

#[test]
fn the_command_may_change_the_set_because_no_lock_is_held() {
    let directory = TempDir::new();
    let sitemill = env!("CARGO_BIN_EXE_sitemill");
    for (base, out) in [(BASE, "one"), ("{origin}/", "sites")] {
        let (out, site) = (
            directory.join(out),
            directory.join(out).join(if base == BASE { "" } else { "www.example.com" }),
        );
        let build =
            |url: &str, then: &str| finish(build_command(&out, base).args(["--then", then]), url.as_bytes());
        build("https://www.example.com/1", "true").expect(0);
        build("https://www.example.com/2", &format!("{sitemill} rollback -q {}", site.display())).expect(0);
        let urls = run(["urls".as_ref(), "--quiet".as_ref(), site.as_os_str()]).expect(0).stdout;
        assert_eq!(urls, b"https://www.example.com/1\n");
    }
}

#[test]
fn a_build_that_the_command_runs_does_not_run_it_again() {
    let directory = TempDir::new();
    let (out, inner) = (directory.join("out"), directory.join("inner"));
    let input = directory.file("urls.txt", format!("{BASE}\n"));
    let command = format!(
        "sh -c 'echo run >&2; {} build -q {} --base-url {BASE} -o {}'",
        env!("CARGO_BIN_EXE_sitemill"),
        input.display(),
        inner.display()
    );
    let config = directory.file("options.toml", format!("then = {command:?}\n"));
    for (variable, value) in [("SITEMILL_THEN", command.as_ref()), ("SITEMILL_CONFIG", config.as_os_str())] {
        let mut outer = sitemill();
        outer.args(["build", "-q", "--base-url", BASE, "-o"]).arg(&out).env(variable, value);
        let done = finish(&mut outer, BASE.as_bytes()).expect(0);
        assert_eq!(done.stderr, "run\n", "{variable}");
        assert!(inner.join("sitemap-index-1.xml").exists());
        fs::remove_dir_all(&inner).unwrap();
    }
}

#[test]
fn a_signal_reaches_the_command_and_the_set_stays_live() {
    for signal in ["INT", "TERM", "HUP"] {
        let directory = TempDir::new();
        let (out, fifo) = (directory.join("out"), directory.join("started"));
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let then = format!(
            "sh -c 'trap \"echo heard {signal} >&2; exit 9\" {signal}; echo > {}; while :; do sleep 0.01; done'",
            fifo.display()
        );
        let input = directory.file("urls.txt", BASE);
        let mut command = heeding_signals(build(&out, &then).arg(&input));
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The command has begun, and its trap is set.
        fs::read(&fifo).unwrap();
        send(signal, &child);
        let done = child.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(0));
        assert_eq!(report(&done.stdout)["then"]["exit_code"], 9);
        assert!(String::from_utf8_lossy(&done.stderr).contains(&format!("heard {signal}")));
    }
}
