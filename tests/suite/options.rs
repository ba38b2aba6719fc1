//! Options from the environment and from files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{
    Run, TempDir, build_command, files, finish, published_urls, run, sitemill, telling_build_command,
};

const BASE: &str = "http://h.example/";

fn build(out: &Path, input: &str, options: &[&str]) -> Run {
    finish(telling_build_command(out, BASE).args(options), input.as_bytes())
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
fn an_options_file_may_be_a_pipe() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}1\n{BASE}2\n"));
    let options = b"urls-per-sitemap = 1\nquiet = true\n";
    let build = |out: &Path, config: &str| {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--config", config]).arg(&input).arg("--out").arg(out);
        command
    };
    let out = directory.join("stdin");
    assert_eq!(finish(&mut build(&out, "/dev/stdin"), options).expect(0).stderr, "");
    assert_eq!(files(&out).len(), 4, "one URL per sitemap");
    // A run that opened it a second time would wait for another writer.
    let (out, fifo) = (directory.join("fifo"), directory.join("options"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut command = build(&out, fifo.to_str().unwrap());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    fs::write(&fifo, options).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.len()), (Some(0), 0));
    assert_eq!(files(&out).len(), 4);
}

/// The sections of a build of two URLs with this options file and environment.
fn sections(toml: &str, environment: &[(&str, &str)], typed: &[&str]) -> Vec<String> {
    let directory = TempDir::new();
    let rules = directory.file("rules.toml", "named = '/a/'\n");
    let toml = toml.replace("RULES", rules.to_str().unwrap());
    let config = directory.file("sitemill.toml", toml);
    let typed = typed.iter().map(|word| word.replace("RULES", rules.to_str().unwrap()));
    let mut command = build_command(&directory.join("out"), BASE);
    command.arg("--json").arg("--config").arg(config).args(typed).envs(environment.iter().copied());
    let built = finish(&mut command, format!("{BASE}a/1\n{BASE}b/2\n").as_bytes()).expect(0);
    let report: serde_json::Value = serde_json::from_slice(&built.stdout).unwrap();
    let sections = report["sections"].as_array();
    sections.into_iter().flatten().map(|section| section["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_flag_whose_variable_is_false_is_off_and_excludes_nothing() {
    for no in ["false", "0", "no"] {
        let off = [("SITEMILL_SECTION_BY_PATH", no)];
        assert_eq!(sections("sections = 'RULES'", &off, &[]), ["named", "rest"]);
        assert_eq!(sections("", &off, &["--sections=RULES"]), ["named", "rest"]);
        assert_eq!(sections("section-by-path = true", &off, &[]), [""; 0]);
        assert_eq!(sections("section-by-path = true", &off, &["--section-by-path"]), ["a", "b"]);
        assert_eq!(sections("section-by-path = true\nsections-max = 5", &off, &[]), [""; 0]);
    }
    let on = [("SITEMILL_SECTION_BY_PATH", "true")];
    assert_eq!(sections("sections = 'RULES'", &on, &[]), ["a", "b"]);
    // Two variables that exclude each other.
    let directory = TempDir::new();
    let rules = directory.file("rules.toml", "named = '/a/'\n");
    for (by_path, exit) in [("true", 2), ("false", 0)] {
        let mut command = build_command(&directory.join("out"), BASE);
        command.env("SITEMILL_SECTIONS", &rules).env("SITEMILL_SECTION_BY_PATH", by_path);
        finish(&mut command, format!("{BASE}a/1\n").as_bytes()).expect(exit);
    }
    let mut wrong = build_command(&directory.join("out"), BASE);
    let refused = finish(wrong.env("SITEMILL_DRY_RUN", "perhaps"), BASE.as_bytes()).expect(2);
    assert!(refused.stderr.contains("'perhaps' for '--dry-run'"), "{}", refused.stderr);
}

#[test]
fn an_option_of_the_environment_or_the_file_that_needs_another_one_excludes_nothing() {
    let most = [("SITEMILL_SECTIONS_MAX", "1")];
    assert_eq!(sections("sections = 'RULES'", &most, &[]), ["named", "rest"]);
    assert_eq!(sections("sections-max = 1", &[], &["--sections=RULES"]), ["named", "rest"]);
    assert_eq!(sections("sections = 'RULES'\nsections-max = 1", &[], &[]), ["named", "rest"]);
    assert_eq!(sections("section-by-path = true", &most, &[]).len(), 2, "one section and the rest");
    // One that is typed does.
    let directory = TempDir::new();
    let config = directory.file("sitemill.toml", "sections = 'rules.toml'\n");
    let options = ["--config", config.to_str().unwrap(), "--sections-max=5"];
    build(&directory.join("out"), BASE, &options).expect(2);
}

#[test]
fn an_option_overrides_a_value_of_a_later_source_that_it_cannot_be_combined_with() {
    let directory = TempDir::new();
    let file = |toml: &str| directory.file("sitemill.toml", toml).to_str().unwrap().to_owned();
    let run = |base: &str, options: &[&str], environment: &[(&str, &str)]| {
        let mut command = sitemill();
        command.args(["build", "--base-url", base, "--out"]).arg(directory.join(base.replace('/', "-")));
        finish(command.args(options).envs(environment.iter().copied()), format!("{BASE}1\n").as_bytes())
    };
    let shown = run(BASE, &["--progress", "always"], &[("SITEMILL_QUIET", "1")]).expect(0).stderr;
    assert!(shown.contains("survey: "), "{shown}");
    let config = file("quiet = true\n");
    let shown = run(BASE, &["--config", &config], &[("SITEMILL_PROGRESS", "always")]).expect(0).stderr;
    assert!(shown.contains("survey: "), "{shown}");
    run(BASE, &["-q"], &[("SITEMILL_ALLOW_MISSING_SITES", "1")]).expect(0);
    let config = file("robots = 'robots.txt'\nallow-empty = true\n");
    for (options, exit) in
        [(&["-q"][..], 0), (&["-q", "--robots=robots.txt"], 2), (&["-q", "--allow-empty"], 2)]
    {
        run("{origin}/", &[options, &["--config", &config]].concat(), &[]).expect(exit);
    }
    // One source contradicts itself.
    let config = file("robots = 'robots.txt'\nbase-url = '{origin}/'\nout = 'out'\n");
    finish(sitemill().args(["build", "--config", &config]), b"").expect(2);
}

#[test]
fn an_error_says_where_an_option_that_nobody_has_typed_comes_from() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}1\n"));
    let config = directory.file("sitemill.toml", "name = 'blog'\nquiet = true\n");
    let check = |change: &dyn Fn(&mut Command)| {
        let mut check = sitemill();
        check.arg("check").arg(&input);
        change(&mut check);
        finish(&mut check, b"").expect(2).stderr.lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    let of_variables = "options were also read from the environment: ";
    let name = |command: &mut Command| _ = command.env("SITEMILL_NAME", "blog").env("SITEMILL_THREADS", "2");
    assert_eq!(check(&name), format!("{of_variables}SITEMILL_NAME"));
    let threads = |command: &mut Command| _ = command.env("SITEMILL_THREADS", "2000");
    assert_eq!(check(&threads), format!("{of_variables}SITEMILL_THREADS"));
    let of_file = check(&|command| _ = command.arg("--config").arg(&config));
    assert_eq!(of_file, format!("options were also read from {}: name", config.display()));
    assert_eq!(check(&|command| _ = command.args(["--name", "x"]).env("SITEMILL_NAME", "blog")), "");
    let refused = finish(build_command(&directory.join("out"), BASE).env("SITEMILL_METRICS", "-"), b"");
    assert!(refused.expect(2).stderr.ends_with(&format!("{of_variables}SITEMILL_METRICS\n")));
}

#[test]
fn the_format_of_messages_in_the_file_is_overridden_like_any_option() {
    let directory = TempDir::new();
    let config = directory.file("sitemill.toml", "log = \"json\"\n");
    let refused = |before: &[&str], after: &[&str], variable: &str| {
        let mut command = sitemill();
        command
            .args(before)
            .args(["build", "--quiet", "--base-url", BASE, "--config"])
            .arg(&config)
            .args(after);
        command.arg("--out").arg(directory.join("out")).env("SITEMILL_LOG", variable);
        finish(&mut command, b"").expect(65).stderr
    };
    assert!(refused(&[], &[], "").starts_with('{'));
    assert!(refused(&[], &["--log", "text"], "").starts_with("error: "));
    assert!(refused(&["--log=text"], &[], "").starts_with("error: "));
    assert!(refused(&[], &[], "text").starts_with("error: "));
    assert!(refused(&[], &["--log=json"], "text").starts_with('{'));
}

#[test]
fn inputs_in_the_environment_are_named_if_there_are_no_others() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |input: &[&str]| {
        let mut command = build_command(&out, BASE);
        command.args(input).env("SITEMILL_INPUTS", "urls.txt");
        finish(&mut command, format!("{BASE}1\n").as_bytes()).expect(0).stderr
    };
    let said = "SITEMILL_INPUTS: inputs cannot be set in the environment; give them as arguments\n";
    assert_eq!(build(&[]), format!("warning: {said}"));
    assert_eq!(build(&["-"]), "");
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
        "log = \"json\"\n[build]\njson = true\nmax-rejects = \"1%\"\nmax-shrink = 12.5\n[urls]\ntsv = true\n",
    )
    .expect(0);
    assert!(with("json = true\n[build]\njson = false\n").expect(0).stdout.is_empty());
    for (toml, exit, said) in [
        ("base_url = \"x\"", 2, "did you mean \"base-url\"?"),
        ("[build]\nlimit-findings = 1", 2, "build has no option \"limit-findings\""),
        ("[bild]\n", 2, "no command \"bild\""),
        ("quiet = \"yes\"", 2, "quiet must be true or false"),
        ("threads = [1, 2]", 2, "threads takes one value, not a list"),
        ("threads = true", 2, "threads must be text or a number"),
        (
            "then = [\"touch\", \"x\"]",
            2,
            "then takes one value, not a list; write all words in one text, as in a shell",
        ),
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
fn a_time_that_cannot_be_written_is_refused_with_the_name_of_its_variable() {
    let directory = TempDir::new();
    let last = "253402207200";
    let mut build = build_command(&directory.join("last"), BASE);
    finish(build.env("SOURCE_DATE_EPOCH", last), b"http://h.example/1\n").expect(0);
    for time in ["", "x", "-1", "253402207201", "99999999999999", "99999999999999999999"] {
        let mut build = build_command(&directory.join("out"), BASE);
        let refused = finish(build.env("SOURCE_DATE_EPOCH", time), b"http://h.example/1\n").expect(2);
        let said = format!("SOURCE_DATE_EPOCH is not a number of seconds since 1970, at most {last};");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
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
