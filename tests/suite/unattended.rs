//! Metrics and reports for programs, and options from the environment and from files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    Run, TempDir, build_command, files, finish, heeding_signals, published_urls, run, send, sitemill,
    wait_until_staging,
};

const BASE: &str = "http://h.example/";

fn build(out: &Path, input: &str, options: &[&str]) -> Run {
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE]).args(options).arg("--out").arg(out);
    finish(&mut command, input.as_bytes())
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
        assert_eq!(line, serde_json::from_slice::<Value>(&fs::read(&report).unwrap()).unwrap());
    }
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
fn the_command_line_wins_over_the_environment_and_the_environment_over_the_file() {
    let directory = TempDir::new();
    let [typed, variable, filed] = ["typed", "variable", "filed"].map(|name| directory.join(name));
    let config = directory.file(
        "sitemill.toml",
        format!(
            "# for the nightly batch\nbase-url = \"{BASE}\"\nout = {filed:?}\nurls-per-sitemap = 1\nquiet = true\n\
             findings-of-nobody = 1\n"
        ),
    );
    let run = |change: &dyn Fn(&mut Command)| {
        let mut command = sitemill();
        command.arg("build").arg("--config").arg(&config);
        change(&mut command);
        finish(&mut command, format!("{BASE}1\n{BASE}2\n").as_bytes())
    };
    let refused = run(&|_| {}).expect(2);
    assert!(refused.stderr.contains("no command has an option \"findings-of-nobody\""), "{}", refused.stderr);
    let text =
        fs::read_to_string(&config).unwrap().replace("findings-of-nobody = 1\n", "limit-findings = 5\n");
    fs::write(&config, text).unwrap();

    // An option of another command is ignored.
    assert_eq!(run(&|_| {}).expect(0).stderr, "", "quiet is in the file");
    assert_eq!(files(&filed).len(), 4, "one URL per sitemap");
    run(&|command| {
        command.env("SITEMILL_OUT", &variable).env("SITEMILL_URLS_PER_SITEMAP", "");
    })
    .expect(0);
    assert_eq!(files(&variable).len(), 4, "an empty variable is none");
    let loud = run(&|command| {
        command.env("SITEMILL_OUT", &variable).env("SITEMILL_QUIET", "false").arg("--out").arg(&typed);
        command.args(["--urls-per-sitemap=2"]);
    });
    assert!(loud.expect(0).stderr.contains("listed"));
    assert_eq!(files(&typed).len(), 3);

    let mut command = sitemill();
    command
        .env("SITEMILL_CONFIG", &config)
        .env("SITEMILL_QUIET", "yes")
        .env("SITEMILL_JSON", "1")
        .arg("build");
    let by_variables = finish(&mut command, format!("{BASE}1\n").as_bytes()).expect(0);
    assert!(by_variables.stdout.starts_with(b"{") && by_variables.stderr.is_empty());
    assert_eq!(published_urls(&filed, BASE), [format!("{BASE}1")]);
    let wrong = run(&|command| {
        command.env("SITEMILL_MAX_REJECTS", "lots");
    })
    .expect(2);
    assert!(
        wrong.stderr.contains("--max-rejects") && wrong.stderr.contains("sitemill.toml"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn what_is_typed_wins_over_options_of_the_environment_and_the_file_that_it_excludes() {
    let directory = TempDir::new();
    let (out, input) = (directory.join("out"), format!("{BASE}a/1\n{BASE}b/2\n"));
    let rules = directory.file("rules.toml", "a = '/a/'\n");
    build(&out, &input, &[]).expect(0);
    build(&out, &format!("{BASE}3\n"), &["--max-shrink=100%"]).expect(0);
    let config = directory.file("sitemill.toml", "out = \"other\"\nsection-column = \"x\"\njson = true\n");
    let shown = |words: &[&str], environment: &[(&str, &str)]| {
        let mut command = sitemill();
        let command = command.args(words).envs(environment.iter().copied());
        String::from_utf8(finish(command, input.as_bytes()).expect(0).stdout).unwrap()
    };
    let (out, config) = (out.to_str().unwrap(), config.to_str().unwrap());
    let sitemap = format!("{out}/sitemap-index-1.xml");
    for environment in [("SITEMILL_OUT", "other"), ("SITEMILL_CONFIG", config)] {
        assert!(shown(&["status", out], &[environment]).contains(BASE), "{environment:?}");
        shown(&["rollback", out, "--to", "1", "--quiet"], &[environment]);
        shown(&["rollback", out, "--to", "2", "--quiet"], &[environment]);
        assert!(shown(&["urls", out, "--tsv"], &[("SITEMILL_JSON", "1"), environment]).contains('\t'));
        let diff = shown(&["diff", out, &sitemap, "--tsv"], &[("SITEMILL_JSON", "1"), environment]);
        assert_eq!(diff, "");
    }
    let sections = format!("--sections={}", rules.display());
    for (option, other) in [("--section-by-path", "SECTIONS"), (&sections, "SECTION_BY_PATH")] {
        let variables = [other, "SECTION_COLUMN", "SECTIONS_MAX"].map(|name| format!("SITEMILL_{name}"));
        let environment = variables.each_ref().map(|variable| (&**variable, "1"));
        shown(&["build", "--dry-run", "--json", "--base-url", BASE, "-o", out, option], &environment);
    }
}

#[test]
fn an_options_file_has_tables_for_commands_and_its_errors_are_explained() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let with = |toml: &str| {
        let config = directory.file("sitemill.toml", toml);
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE]).arg("--out").arg(&out).arg("--config").arg(config);
        finish(&mut command, format!("{BASE}1\n").as_bytes())
    };
    with(
        "log = \"json\"\n[build]\njson = true\nmax-rejects = \"1%\"\nmax-shrink = 0.5\n[urls]\ntsv = true\n",
    )
    .expect(0);
    assert!(with("json = true\n[build]\njson = false\n").expect(0).stdout.is_empty());
    for (toml, exit, said) in [
        ("base_url = \"x\"", 2, "did you mean \"base-url\"?"),
        ("[build]\nlimit-findings = 1", 2, "build has no option \"limit-findings\""),
        ("[bild]\n", 2, "no command \"bild\""),
        ("quiet = \"yes\"", 2, "quiet must be true or false"),
        ("threads = [1, 2]", 2, "threads must be text or a number"),
        ("config = \"other.toml\"", 2, "no command has an option \"config\""),
        ("threads = ", 2, "sitemill.toml"),
        ("threads = 0", 2, "options were also read from"),
    ] {
        let refused = with(toml).expect(exit);
        assert!(refused.stderr.contains(said), "{toml}: {}", refused.stderr);
    }
    run(["build", "--config", "missing.toml"]).expect(66);
}

#[test]
fn every_option_of_build_can_be_set_in_the_environment_or_a_file_and_wrong_values_are_refused() {
    let directory = TempDir::new();
    let help = String::from_utf8(run(["build", "--help"]).expect(0).stdout).unwrap();
    // Texts are indented more than options, and may begin with the name of one.
    let heads = help.lines().filter(|line| !line.starts_with("       "));
    let heads = heads.map(str::trim_start).filter(|line| line.starts_with('-'));
    let options: Vec<&str> = heads
        .filter_map(|head| head.split(' ').find_map(|word| word.strip_prefix("--")))
        .filter(|option| !["help", "version"].contains(option))
        .collect();
    assert!(options.len() > 35 && options.contains(&"quiet") && options.contains(&"columns"), "{options:?}");
    let out = directory.join("out");
    // The required options are on the command line, except the one under test.
    let build = |option: &str, given: &dyn Fn(&mut Command)| {
        let mut command = sitemill();
        command.arg("build");
        for (needed, value) in [("out", out.to_str().unwrap()), ("base-url", BASE)] {
            if needed != option {
                command.arg(format!("--{needed}={value}"));
            }
        }
        given(&mut command);
        finish(&mut command, format!("{BASE}1\n").as_bytes())
    };
    // A value that every option refuses: no number, no name, no pattern, and no path where a file can be created.
    let wrong = "/dev/null/(wrong";
    for option in options {
        let variable = format!("SITEMILL_{}", option.to_uppercase().replace('-', "_"));
        let config = directory.file("sitemill.toml", format!("{option} = {wrong:?}\n"));
        let of_environment = build(option, &|command| {
            command.env(&variable, wrong);
        });
        let of_file = build(option, &|command| {
            command.arg("--config").arg(&config);
        });
        // `config` is not allowed in a file.
        for refused in [Some(of_environment), (option != "config").then_some(of_file)].into_iter().flatten() {
            // The message may name a temporary file beside the path. A flag in a file must be true or false.
            let said = [
                "/dev/null/.(wrong.".into(),
                wrong.into(),
                format!("--{option}"),
                format!("{option} must be true"),
            ];
            let is_named = said.iter().any(|said| refused.stderr.contains(said));
            assert!(refused.exit != 0 && is_named, "{option}: exit {}: {}", refused.exit, refused.stderr);
            assert!(files(&out).is_empty(), "{option}");
        }
    }
}

#[test]
fn every_variable_that_the_deployments_show_is_an_option() {
    let commands = ["build", "check", "urls", "diff", "status", "rollback", "clean"];
    let help = |command: &str| String::from_utf8(run([command, "--help"]).expect(0).stdout).unwrap();
    let help: String = commands.map(help).concat();
    let is_option = |variable: &str| {
        let option = format!("--{}", variable.to_lowercase().replace('_', "-"));
        help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|word| word == option)
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places =
        vec![root.join("scripts/deploy"), root.join("docs/operations.md"), root.join("README.md")];
    let mut variables = 0;
    while let Some(place) = places.pop() {
        if place.is_dir() {
            places.extend(fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        for rest in fs::read_to_string(&place).unwrap().split("SITEMILL_").skip(1) {
            // Set for the command of --then.
            if rest.starts_with("RUN_") {
                continue;
            }
            let end = rest.find(|c: char| !(c.is_ascii_uppercase() || c == '_')).unwrap_or(rest.len());
            assert!(is_option(&rest[..end]), "{}: SITEMILL_{}", place.display(), &rest[..end]);
            variables += 1;
        }
    }
    assert!(variables > 5, "the deployments set several variables");
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
