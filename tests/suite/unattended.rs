//! Metrics and reports for programs, completions and manual pages.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    Run, TempDir, build_command, files, finish, heeding_signals, published_urls, run, send, sitemill,
    started_by, telling_build_command, wait_until_staging,
};

const BASE: &str = "http://h.example/";

fn build(out: &Path, input: &str, options: &[&str]) -> Run {
    finish(telling_build_command(out, BASE).args(options), input.as_bytes())
}

/// The name, with labels, and the value of each metric.
fn metrics(path: &Path) -> Vec<(String, f64)> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    let values = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = values.map(|line| line.rsplit_once(' ').unwrap());
    pairs.map(|(name, value)| (name.into(), value.parse().unwrap())).collect()
}

#[track_caller]
fn metric(metrics: &[(String, f64)], name: &str, labels: &str) -> f64 {
    let name = format!("sitemill_{name}{{base_url=\"{BASE}\"{labels}}}");
    let found: Vec<_> = metrics.iter().filter(|(known, _)| *known == name).collect();
    assert_eq!(found.len(), 1, "{name} in {metrics:?}");
    found[0].1
}

#[test]
fn metrics_are_written_however_the_run_ends() {
    let directory = TempDir::new();
    let (out, path) = (directory.join("out"), directory.join("sitemill.prom"));
    let options = ["--metrics", path.to_str().unwrap()];
    build(&out, &format!("{BASE}1\n{BASE}1\n{BASE}2\nbad\n\n"), &options).expect(0);
    let first = metrics(&path);
    for (name, labels, value) in [
        ("success", "", 1.0),
        ("exit_code", "", 0.0),
        ("input_lines", "", 5.0),
        ("blank_lines", "", 1.0),
        ("duplicate_lines", "", 1.0),
        ("rejected_lines", ",reason=\"not-absolute\"", 1.0),
        ("listed_urls", "", 2.0),
        ("sitemaps", "", 1.0),
        ("index_files", "", 1.0),
    ] {
        assert_eq!(metric(&first, name, labels), value, "{name}");
    }
    let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    assert_eq!(metric(&first, "gzip_bytes", ""), fs::metadata(out.join(sitemap)).unwrap().len() as f64);
    let success = metric(&first, "last_success_timestamp_seconds", "");
    assert!(success > 1.7e9, "the current time, not that of the set");

    for (input, option, exit) in
        [("bad\n", "--quiet", 65), ("", "missing.txt", 66), ("", "--urls-per-sitemap=0", 2)]
    {
        build(&out, input, &[&options[..], &[option]].concat()).expect(exit);
        let failed = metrics(&path);
        assert_eq!(metric(&failed, "success", ""), 0.0);
        assert_eq!(metric(&failed, "exit_code", ""), f64::from(exit));
        assert_eq!(metric(&failed, "last_success_timestamp_seconds", ""), success);
        assert!(metric(&failed, "last_run_timestamp_seconds", "") >= success);
        assert_eq!(failed.iter().any(|(name, _)| name.contains("input_lines")), exit == 65);
    }
    assert_eq!(files(directory.path()), ["out", "sitemill.prom"], "no temporary file may remain beside it");
    let link = directory.join("link");
    symlink(&path, &link).unwrap();
    for option in ["--metrics", "--html"] {
        let refused = build(&out, &format!("{BASE}1\n"), &[option, link.to_str().unwrap()]).expect(73);
        assert!(refused.stderr.contains("link: is a symbolic link"), "{}", refused.stderr);
    }
    let unwritable = directory.join("missing/sitemill.prom");
    build(&out, &format!("{BASE}1\n"), &["--metrics", unwritable.to_str().unwrap()]).expect(73);
}

#[test]
fn a_page_and_metrics_have_mode_and_owner_of_the_files_that_they_replace() {
    let directory = TempDir::new();
    let paths = ["page.html", "sitemill.prom"].map(|name| directory.file(name, ""));
    let access =
        || paths.each_ref().map(|path| fs::metadata(path).unwrap()).map(|meta| (meta.mode(), meta.uid()));
    for path in &paths {
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
        // Only root may do this, and keep it.
        let _ = chown(path, Some(65534), None);
    }
    let before = access();
    let [page, metrics] = paths.each_ref().map(|path| path.to_str().unwrap());
    let input = format!("{BASE}1\n");
    build(&directory.join("out"), &input, &["--html", page, "--metrics", metrics]).expect(0);
    assert_eq!(access(), before);
    assert!(paths.iter().all(|path| fs::metadata(path).unwrap().len() > 0));
}

#[test]
fn the_report_is_one_line_of_standard_output_however_the_run_ends() {
    let directory = TempDir::new();
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    for (input, option, exit, key) in [
        ("http://h.example/1\n", "--quiet", 0, "listed"),
        ("bad\n", "--quiet", 65, "refused"),
        ("", "missing.txt", 66, "error"),
        ("", "--urls-per-sitemap=0", 2, "error"),
    ] {
        let run = build(&out, input, &["--json", "--report", report.to_str().unwrap(), option]).expect(exit);
        let stdout = String::from_utf8(run.stdout).unwrap();
        assert!(stdout.ends_with('\n') && stdout.lines().count() == 1, "{stdout}");
        let line: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(line["published"], exit == 0);
        assert!(line.get(key).is_some(), "{key} in {stdout}");
        let failure = ["error", "cause", "exit_code"].map(|key| line.get(key).is_some());
        assert_eq!(failure, [exit != 0; 3], "{stdout}");
        assert_eq!(line.get("needs").is_some(), key != "error", "{stdout}");
        assert_eq!(line, serde_json::from_slice::<Value>(&fs::read(&report).unwrap()).unwrap());
    }
    // Something is in the way of the second index file, which is noticed after the resources were estimated.
    fs::create_dir(out.join("sitemap-index-2.xml")).unwrap();
    let options = ["--json", "--urls-per-sitemap=1", "--sitemaps-per-index=1"];
    let pages = format!("{BASE}1\n{BASE}2\n");
    let failed: Value = serde_json::from_slice(&build(&out, &pages, &options).expect(73).stdout).unwrap();
    assert_eq!((&failed["needs"]["urls"], &failed["exit_code"]), (&2.into(), &73.into()), "{failed}");
    // A set that is live stays live if the report cannot be written.
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "exec \"$0\" build --json --quiet --base-url http://h.example/ --out \"$1\" > /dev/full",
    ]);
    let run = finish(shell.arg(env!("CARGO_BIN_EXE_sitemill")).arg(&out), b"http://h.example/2\n").expect(0);
    assert!(run.stderr.contains("standard output: the report could not be written"), "{}", run.stderr);
    assert_eq!(published_urls(&out, BASE), ["http://h.example/2"]);
}

#[test]
fn the_error_that_ends_a_run_is_in_its_metrics_and_report_wherever_these_are_set() {
    let directory = TempDir::new();
    let (out, path) = (directory.join("out"), directory.join("sitemill.prom"));
    let input = format!("{BASE}1\n");
    let command = |options: &[&str]| {
        let mut command = sitemill();
        command.args(["build", "--base-url", "http://h.example", "--out"]).arg(&out).args(options);
        command
    };
    let told = |run: Run, exit: i32| {
        let run = run.expect(exit);
        let line: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert!(line["published"] == false && line["exit_code"] == exit, "{line}");
        assert!(!line["error"].as_str().unwrap().is_empty());
        assert_eq!(metric(&metrics(&path), "exit_code", ""), f64::from(exit));
        fs::remove_file(&path).unwrap();
    };
    let metrics_option = format!("--metrics={}", path.display());
    let wrong = format!("--config={}", directory.file("wrong.toml", "max_rejects = 1\n").display());
    let unwritable = format!("--report={}", directory.join("missing/report.json").display());
    for (option, exit) in [("--level=99", 2), ("--nope", 2), (&wrong, 2), (&unwritable, 73), ("gone.txt", 66)]
    {
        told(finish(&mut command(&["--json", &metrics_option, option]), input.as_bytes()), exit);
    }
    let file = format!("level = 99\njson = true\n[build]\nmetrics = {path:?}\n");
    let file = format!("--config={}", directory.file("sitemill.toml", file).display());
    told(finish(&mut command(&[&file]), b""), 2);
    told(finish(command(&["--level=99"]).env("SITEMILL_JSON", "yes").env("SITEMILL_METRICS", &path), b""), 2);
    let run = finish(&mut command(&["--json", "--metrics=missing/sitemill.prom"]), b"").expect(73);
    assert_eq!(serde_json::from_slice::<Value>(&run.stdout).unwrap()["exit_code"], 73);

    let mut waiting = heeding_signals(&command(&["--json", &metrics_option]));
    let waiting = waiting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut waiting = waiting.unwrap();
    wait_until_staging(&out);
    told(finish(&mut command(&["--json", &metrics_option]), b""), 75);
    let pipe = waiting.stdin.take();
    send("TERM", &waiting);
    let ended = waiting.wait_with_output().unwrap();
    drop(pipe);
    told(Run { exit: ended.status.code().unwrap(), stdout: ended.stdout, stderr: String::new() }, 143);
}

#[test]
fn a_run_that_does_not_learn_its_set_from_its_options_keeps_the_time_of_the_last_success() {
    let directory = TempDir::new();
    let (out, path) = (directory.join("out"), directory.join("sitemill.prom"));
    let config = directory.join("sitemill.toml");
    let build = |options: &[&str]| {
        let mut command = sitemill();
        command.args(["build", "--quiet", "--config"]).arg(&config).arg("--metrics").arg(&path).arg("--out");
        finish(command.arg(&out).args(options), format!("{BASE}1\n").as_bytes())
    };
    let whole =
        format!("base-url = \"{BASE}ü\"\nname = \"blog\"\nurl-encoding = \"iso-8859-1\"\nscope = \"any\"\n");
    fs::write(&config, &whole).unwrap();
    build(&[]).expect(0);
    let labels = format!("{{base_url=\"{BASE}%FC/\",name=\"blog\"}}");
    let last_success = format!("sitemill_last_success_timestamp_seconds{labels} ");
    let of_first = fs::read_to_string(&path).unwrap();
    let success = of_first.lines().find(|line| line.starts_with(&last_success)).unwrap();
    for (toml, options, exit) in [
        (Some(&*whole), &["--level=99"][..], 2),
        (Some("base-url ="), &[], 2),
        (Some("base-url = 5\nname = \"blog\"\n"), &[], 2),
        (Some("name = \"blog\"\n"), &[], 2),
        (Some(&whole.replace("blog", "no name")), &[], 2),
        (Some(&whole.replace("\"blog\"", "true")), &[], 2),
        (Some(&whole.replace("iso-8859-1", "iso")), &[], 2),
        (None, &[], 66),
    ] {
        match toml {
            Some(toml) => fs::write(&config, toml).unwrap(),
            None => fs::remove_file(&config).unwrap(),
        }
        build(options).expect(exit);
        let text = fs::read_to_string(&path).unwrap();
        let code = format!("sitemill_exit_code{labels} {exit}");
        assert!([success, &code].iter().all(|wanted| text.lines().any(|line| line == *wanted)), "{text}");
    }
    // The file was that of another set.
    build(&["--base-url", "http://other.example/"]).expect(66);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("sitemill_exit_code{base_url=\"http://other.example/\"} 66\n"), "{text}");
    assert!(!text.contains("last_success"), "{text}");
}

#[test]
fn the_report_of_a_failed_run_has_the_cause() {
    let directory = TempDir::new();
    let missing = directory.join("missing.txt");
    let mut command = build_command(&directory.join("out"), BASE);
    let failed = finish(command.arg(&missing).arg("--json"), b"").expect(66);
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert_eq!(report["exit_code"], 66);
    assert_eq!(report["cause"], "No such file or directory (os error 2)");
    assert!(report["error"].as_str().unwrap().ends_with("missing.txt: cannot be read"));
    // An error without a source has no cause.
    let refused =
        finish(build_command(&directory.join("out"), BASE).args(["--json", "--urls-per-sitemap", "0"]), b"");
    let report: Value = serde_json::from_slice(&refused.expect(2).stdout).unwrap();
    assert_eq!(report["cause"], Value::Null);
}

#[test]
fn completions_work_in_bash_and_manual_pages_have_their_options() {
    let directory = TempDir::new();
    let bash = directory.file("bash", run(["completions", "bash"]).expect(0).stdout);
    let script = "source \"$1\"; COMP_WORDS=(sitemill build --max-); COMP_CWORD=2; \
        _sitemill sitemill --max- build; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut shell = Command::new("bash");
    let completed = finish(shell.args(["-c", script, "bash"]).arg(bash), b"").expect(0).stdout;
    assert_eq!(String::from_utf8(completed).unwrap(), "--max-rejects\n--max-dropped-tags\n--max-shrink\n");
    for shell in ["zsh", "fish"] {
        assert!(!run(["completions", shell]).expect(0).stdout.is_empty());
    }
    for (page, said) in [("build", "max\\-shrink"), ("rollback", "robots"), ("", "SUBCOMMANDS")] {
        let page = run(["man", page].into_iter().filter(|word| !word.is_empty())).expect(0).stdout;
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".TH sitemill") && page.contains(said), "{page}");
    }
    run(["man", "bake"]).expect(2);
}

#[test]
fn a_path_of_a_directory_is_no_file_of_results_and_is_refused_before_any_work() {
    let directory = TempDir::new();
    let out = directory.join("out");
    directory.file("there", "");
    for option in ["--rejects", "--report", "--html", "--metrics", "--diff", "--robots"] {
        for path in ["new/", "new/.", "there/"] {
            let path = format!("{}/{path}", directory.path().display());
            let refused = build(&out, &format!("{BASE}1\n"), &[option, &path]).expect(73);
            assert!(refused.stderr.contains(&path), "{option}: {}", refused.stderr);
            assert!(!out.exists() && !directory.join("new").exists(), "{option} {path}");
        }
    }
}

#[test]
fn files_that_the_user_may_not_write_to_are_not_replaced() {
    let directory = TempDir::new();
    let protected = directory.file("robots.txt", "User-agent: *\n");
    fs::set_permissions(&protected, fs::Permissions::from_mode(0o444)).unwrap();
    let out = directory.join("out");
    // Root may write to every file.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let who = if is_root { &who[..] } else { &["env"] };
    for path in [directory.path(), &protected] {
        let _ = chown(path, Some(65534), Some(65534));
    }
    let _ = chown(&protected, Some(65534), Some(65534));
    for option in ["--rejects", "--report", "--html", "--metrics", "--diff", "--robots"] {
        let mut command = build_command(&out, BASE);
        command.arg(option).arg(&protected);
        let refused = finish(&mut started_by(who, &command), format!("{BASE}1\n").as_bytes()).expect(73);
        let said =
            "robots.txt: cannot be replaced, because this user may not write to it; change its owner or mode";
        assert!(refused.stderr.contains(said), "{option}: {}", refused.stderr);
        assert_eq!(fs::read(&protected).unwrap(), b"User-agent: *\n", "{option}");
    }
}

#[test]
fn a_metrics_file_with_the_metrics_of_another_set_is_named() {
    let directory = TempDir::new();
    let (out, path) = (directory.join("out"), directory.join("sitemill.prom"));
    let build = |options: &[&str]| {
        let metrics = [&["--quiet", "--metrics", path.to_str().unwrap()], options].concat();
        build(&out, &format!("{BASE}1\n"), &metrics).expect(0).stderr
    };
    assert_eq!([build(&[]), build(&[])], ["", ""]);
    let has = |set: &str| {
        let path = path.display();
        format!(
            "warning: {path}: has the metrics of {set}, which this run replaces; give each set a file of its own\n"
        )
    };
    assert_eq!(build(&["--name", "blog"]), has(BASE));
    assert_eq!(build(&["--name", "blog"]), "");
    assert_eq!(build(&[]), has(&format!("{BASE} (blog)")));
}

#[test]
fn warnings_are_in_the_report_on_the_page_and_counted_in_the_metrics() {
    let directory = TempDir::new();
    let [path, page, report] = ["sitemill.prom", "page.html", "report.json"].map(|name| directory.join(name));
    let robots = directory.file("robots.txt", "#".repeat(500 * 1024));
    let build = |options: &[&str]| {
        let mut command = telling_build_command(&directory.join("out"), BASE);
        command
            .arg("--quiet")
            .arg("--metrics")
            .arg(&path)
            .arg("--html")
            .arg(&page)
            .arg("--report")
            .arg(&report);
        finish(command.args(options), format!("{BASE}1\n").as_bytes()).expect(0)
    };
    assert_eq!(build(&[]).stderr, "");
    assert_eq!(metric(&metrics(&path), "warnings", ""), 0.0);
    let read = || serde_json::from_slice::<Value>(&fs::read(&report).unwrap()).unwrap();
    assert!(read()["warnings"].is_null() && !fs::read_to_string(&page).unwrap().contains("Warning."));
    let code = "import json, sys; sys.exit(2 + len(json.load(sys.stdin)[\"warnings\"]))";
    build(&["--robots", robots.to_str().unwrap(), "--then", &format!("python3 -c '{code}'")]);
    let texts = read()["warnings"].clone();
    let robots = format!("{}: would have", robots.display());
    assert!(texts[0].as_str().unwrap().starts_with(&robots), "{texts}");
    assert_eq!(texts[1], "--then: the command ended with exit code 3", "it knows of the first one");
    assert_eq!(metric(&metrics(&path), "warnings", ""), 2.0);
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.matches("Warning.").count() == 1 && page.contains("robots.txt: would have"), "{page}");
}

#[test]
fn a_file_in_a_directory_that_the_user_may_not_write_to_cannot_be_replaced_and_the_message_says_why() {
    let directory = TempDir::new();
    let (site, out) = (directory.join("site"), directory.join("out"));
    fs::create_dir(&site).unwrap();
    let file = directory.file("site/robots.txt", "User-agent: *\n");
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let who = if is_root { &who[..] } else { &["env"] };
    for path in [directory.path(), &site, &file] {
        let _ = chown(path, Some(65534), Some(65534));
    }
    fs::set_permissions(&site, fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = build_command(&out, BASE);
    command.arg("--robots").arg(&file);
    let refused = finish(&mut started_by(who, &command), format!("{BASE}1\n").as_bytes()).expect(73);
    let said =
        "robots.txt: cannot be replaced, because no file can be created in its directory: Permission denied";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    fs::set_permissions(&site, fs::Permissions::from_mode(0o755)).unwrap();
}
