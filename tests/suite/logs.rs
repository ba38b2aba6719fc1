//! `--log json`: messages on standard error for programs that collect logs.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TempDir, finish, run, sitemill, telling_build_command};

const BASE: &str = "http://h.example/";

fn build(out: &Path, input: &str, options: &[&str]) -> Run {
    finish(telling_build_command(out, BASE).args(options), input.as_bytes())
}

#[test]
fn json_log_messages_are_objects_with_time_level_and_message() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let json = |run: Run| -> Vec<(String, String)> {
        let object = |line: &str| {
            let object: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
            let word = |key: &str| object[key].as_str().unwrap().to_owned();
            assert!(word("time").parse::<jiff::Timestamp>().is_ok());
            (word("level"), word("message"))
        };
        run.stderr.lines().map(object).collect()
    };
    let input = format!("{BASE}1\n\u{1b}bad\n");
    let words = json(build(&out, &input, &["--log", "json", "--progress", "always"]).expect(0));
    assert!(words.iter().all(|(level, _)| level == "info"));
    assert!(words.iter().any(|(_, message)| message == "summary"), "{words:?}");
    assert!(words.iter().any(|(_, message)| message.starts_with("survey: ")), "{words:?}");
    let refused = json(build(&out, &input, &["--log=json", "--quiet", "--max-rejects", "0"]).expect(65));
    assert!(refused[0].0 == "error" && refused[0].1.starts_with("1 of 2 lines"), "{refused:?}");
    for (command, words) in [("urls", "1 URL in 1 sitemap"), ("check", "no findings in 1 URL in 1 sitemap")] {
        let told =
            json(run(["--log".as_ref(), "json".as_ref(), command.as_ref(), out.as_os_str()]).expect(0));
        assert!(told[0].1.starts_with(words), "{told:?}");
    }
    // Errors in the options are JSON too, wherever `--log json` is set.
    let file = directory.file("sitemill.toml", "log = \"json\"\n");
    let wrong_file = directory.file("wrong.toml", "log = \"json\"\nmax_rejects = 1\n");
    let file = file.to_str().unwrap();
    for (log, options, said) in [
        ("", &["--log", "json", "build", "--max-reject"][..], "argument '--max-reject' found; tip: "),
        ("", &["build", "--level=99", "--log=json"], "invalid value '99' for '--level <0..9>': "),
        (
            "json",
            &["build", "--lastmod-unit=days"],
            "'--lastmod-unit <text|seconds|millis|micros|nanos>': expected one of text, seconds, millis, micros, nanos",
        ),
        ("json", &["build", "--level=99"], "invalid value '99' for '--level <0..9>': "),
        ("", &["build", "--config", file, "--level=99"], "invalid value '99' for '--level <0..9>': "),
        ("json", &[], "'sitemill' requires a subcommand but one was not provided"),
        ("", &["build", "--config", wrong_file.to_str().unwrap()], "wrong.toml: no command has an option"),
    ] {
        let told = json(finish(sitemill().env("SITEMILL_LOG", log).args(options), b"").expect(2));
        assert!(told[0].0 == "error" && told[0].1.contains(said), "{options:?}: {told:?}");
        let config = options.contains(&file).then_some("info");
        assert_eq!(told.get(1).map(|(level, _)| level.as_str()), config, "{options:?}: {told:?}");
    }
    let text = finish(sitemill().env("SITEMILL_LOG", "json").args(["build", "--log=text", "--nope"]), b"");
    assert!(text.expect(2).stderr.starts_with("error: unexpected argument '--nope' found\n"));
}

/// The lines on standard error, parsed as JSON objects.
fn objects(run: Run) -> Vec<Value> {
    let object = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    run.stderr.lines().map(object).collect()
}

#[test]
fn numbers_in_json_logs_are_fields() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = format!("{BASE}1\n{BASE}2\nftp://h/\nhttp://other.example/\n");
    let words = objects(build(&out, &input, &["--log", "json", "--progress", "always"]).expect(0));
    let summary = words.last().unwrap();
    for (name, value) in [
        ("message", json!("summary")),
        ("published", json!(true)),
        ("lines", json!(4)),
        ("listed", json!(2)),
        ("duplicates", json!(0)),
        ("rejected", json!({ "scheme": 1, "out-of-scope": 1 })),
        ("out_of_scope", json!({ "http://other.example/": 1 })),
        ("sitemaps", json!(1)),
        ("input_files", json!(1)),
        ("unused_columns", json!([])),
        ("dropped_elements", json!({})),
    ] {
        assert_eq!(summary[name], value, "{name}: {summary}");
    }
    assert!(summary["seconds"]["total"].is_f64() && summary["gzip_bytes"].as_u64().unwrap() > 0);
    assert_eq!(summary["out"], out.to_str().unwrap());
    let survey = words.iter().find(|object| object["pass"] == "survey").unwrap();
    assert_eq!(survey["done"], survey["total"]);
    let needs = words.iter().find(|object| object.get("scratch_bytes").is_some()).unwrap();
    assert_eq!(needs["urls"], 2);
    let told = |args: &[&std::ffi::OsStr]| {
        let args = ["--log".as_ref(), "json".as_ref()].into_iter().chain(args.iter().copied());
        objects(run(args).expect(0)).pop().unwrap()
    };
    let out = out.as_os_str();
    let check = told(&["check".as_ref(), out]);
    assert_eq!((&check["urls"], &check["findings"]), (&json!(2), &json!(0)));
    assert_eq!(told(&["urls".as_ref(), out])["urls"], 2);
    assert_eq!(told(&["diff".as_ref(), out, out])["unchanged"], 2);
    build(&directory.join("out/below"), &input, &[]).expect(0);
    assert_eq!(told(&["status".as_ref(), out])["left_out"], 1);
    let clean = finish(sitemill().args(["--log", "json", "clean"]), input.as_bytes()).expect(0);
    assert_eq!(objects(clean)[0]["rejected"], json!({ "scheme": 1 }));
    let clean = finish(sitemill().args(["--log", "json", "clean"]), b"http://h.example/\xff\n").expect(0);
    assert_eq!(objects(clean)[1]["non_utf8_lines"], 1);
}

#[test]
fn warnings_and_failures_in_json_logs_have_their_numbers() {
    let directory = TempDir::new();
    std::fs::create_dir(directory.join("in")).unwrap();
    directory.file("in/part-0", format!("{BASE}1\n"));
    directory.file("in/a.txt", "");
    let inputs = directory.join("in");
    let words =
        objects(build(&directory.join("other"), "", &["--log=json", inputs.to_str().unwrap()]).expect(0));
    let warning = words.iter().find(|object| object["level"] == "warning").unwrap();
    assert_eq!(warning["skipped"], 1);

    let none = directory.join("none");
    let failed = objects(build(&none, "", &["--log=json", none.to_str().unwrap()]).expect(66)).pop().unwrap();
    assert_eq!(failed["exit_code"], 66);
    assert!(failed["cause"].as_str().unwrap().contains("No such file"), "{failed}");
    let usage = objects(build(&none, "", &["--log=json", "--nope"]).expect(2)).pop().unwrap();
    assert_eq!((&usage["exit_code"], &usage["cause"]), (&json!(2), &Value::Null));
}
