//! Help, options in their several forms, and the first words of messages.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::support::{Run, TempDir, build_command, files, finish, run, sitemill};

const BASE: &str = "http://h.example/";

const COMMANDS: [&str; 9] =
    ["build", "check", "urls", "diff", "status", "rollback", "clean", "completions", "man"];

/// What a command line prints at 100 columns.
fn printed(args: &[&str]) -> String {
    let run = finish(sitemill().env("COLUMNS", "100").args(args), b"").expect(0);
    assert_eq!(run.stderr, "", "help is a result");
    String::from_utf8(run.stdout).unwrap()
}

/// The long options that lines of help begin with.
fn options(help: &str) -> Vec<&str> {
    let words = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let line = line.split_once(", ").filter(|(short, _)| short.len() == 2).map_or(line, |(_, long)| long);
        line.strip_prefix("--")?.split([' ', '=']).next()
    });
    words.collect()
}

#[test]
fn short_help_fits_a_screen_and_long_help_has_every_option() {
    for command in COMMANDS {
        let [short, long] = ["-h", "--help"].map(|help| printed(&[command, help]));
        assert!(short.lines().count() <= 45, "{command}: {} lines\n{short}", short.lines().count());
        for help in [&short, &long] {
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        }
        let first = short.lines().next().unwrap();
        assert_eq!(long.lines().next().unwrap(), first);
        assert!(printed(&["-h"]).contains(first), "{first}: the list of commands says the same");
        let see = "See --help for all options and details";
        assert!(short.trim_end().ends_with(see) && !long.contains(see), "{short}\n{long}");
        assert!(!long.contains("[DIR]"), "it is required: {long}");
        let (some, all) = (options(&short), options(&long));
        assert!(some.iter().all(|option| all.contains(option)), "{some:?} {all:?}");
        // The completions are made from the definitions, hidden options included.
        let completions = printed(&["completions", "fish"]);
        let of_command = format!("-n \"__fish_sitemill_using_subcommand {command}\" ");
        let defined = completions.lines().filter(|line| line.contains(&of_command));
        let defined: Vec<&str> =
            defined.filter_map(|line| line.split_once(" -l ")?.1.split(' ').next()).collect();
        assert!(defined.len() >= 3, "--config, --log and --help at least: {defined:?}");
        for option in defined {
            assert!(all.contains(&option), "{command}: --{option} is in no help");
        }
        for option in ["config", "log"] {
            assert!(all.contains(&option) && !some.contains(&option), "{command}: --{option}");
        }
    }
    let build = printed(&["build", "-h"]);
    let common = options(&build);
    assert!((10..=20).contains(&common.len()), "{common:?}");
    for option in ["base-url", "out", "format", "rejects", "max-rejects", "report", "memory", "quiet"] {
        assert!(common.contains(&option), "{option} is for most people: {common:?}");
    }
    for (help, words) in [("-h", "Run 'sitemill COMMAND -h'"), ("--help", "Exit codes:")] {
        assert!(printed(&[help]).contains(words));
    }
}

#[test]
fn help_promises_object_stores_only_in_a_build_that_has_them() {
    for command in ["build", "clean"] {
        let (short, long) = (printed(&[command, "-h"]), printed(&[command, "--help"]));
        assert_eq!(short.contains("s3://"), cfg!(feature = "cloud"), "{short}");
        assert_eq!(long.contains("not in this build"), !cfg!(feature = "cloud"), "{long}");
        assert_eq!(
            long.contains("gs:// and az:// work"),
            cfg!(feature = "cloud") && command == "build",
            "{long}"
        );
    }
}

#[test]
fn sizes_take_units_of_1024_and_of_1000_from_every_source() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", format!("{BASE}1\n"));
    let config = directory.file("sitemill.toml", "bytes-per-sitemap = \"2M\"\n");
    let refusal = |source: &str, size: &str| {
        let mut build = build_command(&directory.join("out"), BASE);
        match source {
            "option" => build.arg(format!("--bytes-per-sitemap={size}")),
            _ => build.env("SITEMILL_BYTES_PER_SITEMAP", size),
        };
        finish(build.arg(&input), b"")
    };
    for source in ["option", "environment"] {
        for size in ["2000000", "2M", "2m", "2Mi", "2MiB", "2MB", "2048K"] {
            refusal(source, size).expect(0);
        }
        for size in ["1.5M", "2X", "M", "2 M", "-2M"] {
            let told = refusal(source, size).expect(2).stderr;
            assert!(told.contains("2G or 2GiB (powers of 1024), or 2GB (powers of 1000)"), "{size}: {told}");
        }
        // The protocol allows 50 MiB: 52 MB is less, 50 MiB is exactly the limit.
        for (size, exit) in [("50M", 0), ("52MB", 0), ("53MB", 2), ("51M", 2)] {
            refusal(source, size).expect(exit);
        }
    }
    let mut build = build_command(&directory.join("out"), BASE);
    finish(build.arg("--config").arg(&config).arg(&input), b"").expect(0);
}

#[test]
fn a_wrong_option_is_refused_with_its_source_and_without_misleading_tips() {
    let refused = |command: &mut Command| {
        let told = finish(command, b"").expect(2).stderr;
        assert!(!told.contains("tip: "), "{told}");
        told
    };
    let told = refused(build_command("out".as_ref(), BASE).env("SITEMILL_LEVEL", "11").arg("urls.txt"));
    assert!(told.ends_with("options were also read from the environment: SITEMILL_LEVEL\n"), "{told}");
    let told = refused(build_command("out".as_ref(), BASE).arg(""));
    assert!(told.ends_with("an argument is empty; check the variables in the command\n"), "{told}");
    let told = refused(build_command("out".as_ref(), BASE).args(["--config", "", "urls.txt"]));
    assert_eq!(told, "error: --config: the path is empty\n");
    let told = refused(sitemill().args(["clean", "--base-url", BASE]));
    assert!(told.starts_with("error: unexpected argument '--base-url' found\n"), "{told}");
    for words in [&["build", "--verbose"][..], &["build", "--nope"], &["--nope", "build"]] {
        let told = refused(sitemill().args(words));
        assert!(!told.contains("--robots") && !told.contains("--scope"), "{words:?}: {told}");
    }
    for (wrong, meant) in [("--max-reject", "--max-rejects"), ("--output", "--out"), ("--dry", "--dry-run")] {
        let told = finish(sitemill().args(["build", wrong]), b"").expect(2).stderr;
        assert!(told.contains(&format!("tip: a similar argument exists: '{meant}'")), "{told}");
    }
    let latin = OsStr::from_bytes(b"\xe9");
    let told = refused(build_command("out".as_ref(), BASE).env("SITEMILL_NAME", latin).arg("urls.txt"));
    let said = "is not valid UTF-8; only paths may contain other bytes\n";
    assert_eq!(told, format!("error: SITEMILL_NAME: {said}"));
    let told = refused(build_command("out".as_ref(), BASE).arg("--name").arg(latin));
    assert_eq!(told, format!("error: \\xe9: {said}"));
    let told = refused(sitemill().args(["clean", "--rejects", "-"]));
    assert_eq!(told, "error: --rejects -: standard output is for the URLs; give a file\n");
}

#[test]
fn an_option_replaces_those_of_the_file_that_it_excludes() {
    let directory = TempDir::new();
    let config = directory.file("sitemill.toml", "json = true\n");
    let list = directory.file("list.txt", format!("{BASE}1\n"));
    for (form, beginning) in [(&["--tsv"][..], "loc\t"), (&[], "{\"loc\":")] {
        let mut urls = sitemill();
        urls.args(["urls", "--config"]).arg(&config).args(form).arg(&list);
        let listed = String::from_utf8(finish(&mut urls, b"").expect(0).stdout).unwrap();
        assert!(listed.starts_with(beginning), "{form:?}: {listed}");
    }
}

#[test]
fn the_directory_is_an_argument_or_an_option_but_not_both() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = directory.file("urls.txt", format!("{BASE}1\n"));
    let path = out.to_str().unwrap();
    for (number, form) in
        [format!("-o{path}"), format!("-o={path}"), format!("--out={path}")].iter().enumerate()
    {
        let mut build = sitemill();
        build.args(["build", "-q", "--base-url", BASE, form]).arg(&input);
        finish(&mut build, b"").expect(0);
        assert!(!files(&out).is_empty(), "{form}");
        assert!(out.join(".sitemill").exists(), "run {number}");
    }
    // A cluster of short options, and the inputs of a run that is refused.
    let report = directory.join("report.json");
    let mut refused = sitemill();
    refused.args(["build", "-qo", path, "--level", "99", "--base-url", BASE, "--report"]).arg(&report);
    finish(refused.arg(&input), b"").expect(2);
    assert!(report.exists());

    let shown = run(["status", path]).expect(0).stdout;
    for form in [&["--out", path][..], &["-o", path]] {
        assert_eq!(run(["status"].iter().chain(form)).expect(0).stdout, shown);
    }
    let config = directory.file("sitemill.toml", format!("out = {path:?}\n"));
    let config = config.to_str().unwrap();
    assert_eq!(run(["status", "--config", config]).expect(0).stdout, shown);
    assert_eq!(finish(sitemill().arg("status").env("SITEMILL_OUT", path), b"").expect(0).stdout, shown);
    for command in ["status", "rollback"] {
        let refused = |run: Run, words: &str| {
            let told = run.expect(2).stderr;
            assert!(told.starts_with("error: ") && told.contains(words), "{command}: {told}");
        };
        refused(run([command]), "<DIR>");
        for form in [&["--out", path][..], &["-o", path]] {
            let run = run([command, path].iter().chain(form));
            refused(run, "cannot be used with");
        }
        refused(run([command, "-o", path, "--out", path]), "cannot be used multiple times");
    }
    // The directory that is typed is the one that counts.
    let other = directory.file("other.toml", "out = \"missing\"\n");
    let mut typed = sitemill();
    typed.args(["status", path, "--config"]).arg(other).env("SITEMILL_OUT", "missing");
    assert_eq!(finish(&mut typed, b"").expect(0).stdout, shown);
    refused_twice(&input, path);
}

fn refused_twice(input: &std::path::Path, out: &str) {
    let mut build = sitemill();
    build.args(["build", "--base-url", BASE, "-o", out, "--out", out]).arg(input);
    let told = finish(&mut build, b"").expect(2).stderr;
    assert!(told.contains("cannot be used multiple times"), "{told}");
}

#[test]
fn a_set_is_restored_by_its_directory_alone() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for url in ["1", "2"] {
        let input = directory.file("urls.txt", format!("{BASE}{url}\n"));
        finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    }
    let told = run(["rollback".as_ref(), out.as_os_str()]).expect(0).stderr;
    assert!(told.starts_with("restored set 1 (1 URL in 1 sitemap), which replaces set 2"), "{told}");
}

#[test]
fn messages_start_with_error_or_warning_or_nothing() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let path = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    directory.file("urls.txt", format!("{BASE}1\n\u{1b}\n"));
    std::fs::create_dir(directory.join("parts")).unwrap();
    directory.file("parts/part-0", format!("{BASE}1\n"));
    directory.file("parts/a.txt", "");
    directory.file("wrong.toml", "nope = 1\n");
    directory.file("wrong.xml", "<urlset/>");
    let (urls, parts, wrong_toml, wrong_xml, none) =
        (&*path("urls.txt"), &*path("parts"), &*path("wrong.toml"), &*path("wrong.xml"), &*path("none"));
    let build = |options: &[&str]| {
        let mut command = sitemill();
        finish(command.args(["build", "--base-url", BASE, "-o"]).arg(&out).args(options), b"")
    };
    for (run, exit, first, last) in [
        (build(&[parts]), 0, "warning: skipped 1 path", "live in "),
        (build(&[urls]), 0, "lines ", "live in "),
        (build(&[none]), 66, "error: ", "error: "),
        (build(&[urls, "--max-rejects", "0"]), 65, "lines ", "error: 1 of 2 lines"),
        (build(&[urls, "--level", "99"]), 2, "error: invalid value '99'", "For more information"),
        (build(&[urls, "--config", wrong_toml]), 2, "error: ", "error: "),
        (run(["check", wrong_xml]), 65, "0 URLs in ", "error: "),
        (run(["check", out.to_str().unwrap()]), 0, "no findings in 1 URL in 1 sitemap", "no findings"),
        (run(["urls", none]), 66, "error: ", "error: "),
        (run(["status", none]), 66, "error: ", "error: "),
        (run(["rollback", out.to_str().unwrap(), "--to", "77"]), 65, "error: ", "error: "),
        (finish(sitemill().arg("clean"), b"x\n"), 0, "1 line: 0 URLs, ", "1 line: "),
    ] {
        let told = run.expect(exit).stderr;
        let mut lines = told.lines().filter(|line| !line.is_empty()).map(str::trim_start);
        let (begin, end) = (lines.next().unwrap(), lines.next_back());
        assert!(begin.starts_with(first), "{first}: {told}");
        assert!(end.unwrap_or(begin).starts_with(last), "{last}: {told}");
        for prefix in ["sitemill: ", "hint: ", "note: "] {
            assert!(!told.contains(prefix), "{prefix}: {told}");
        }
    }
}

#[test]
fn a_run_stopped_by_a_signal_says_that_it_was_interrupted() {
    for (signal, exit, log) in [("INT", 130, "text"), ("TERM", 143, "text"), ("HUP", 129, "json")] {
        let directory = TempDir::new();
        // The shell sends the signal while the run waits for its input.
        let script =
            "coproc \"$0\" build --log \"$3\" --base-url http://h.example/ -o \"$1\" 2>\"$1.told\" >/dev/null
            pid=$!
            until [ -n \"$(ls \"$1/.sitemill/staging\" 2>/dev/null)\" ]; do sleep 0.01; done
            kill -s \"$2\" $pid; wait $pid";
        let out = directory.join("out");
        let mut bash = Command::new("env");
        bash.args(["--default-signal=HUP,INT,TERM", "bash", "-c", script]);
        bash.arg(env!("CARGO_BIN_EXE_sitemill")).arg(&out).args([signal, log]);
        finish(&mut bash, b"").expect(exit);
        let told = std::fs::read_to_string(directory.join("out.told")).unwrap();
        if log == "json" {
            let object: serde_json::Value = serde_json::from_str(&told).unwrap();
            assert_eq!((&object["level"], &object["exit_code"]), (&"error".into(), &exit.into()));
            assert_eq!(object["message"], "interrupted; nothing was published");
        } else {
            assert_eq!(told, "interrupted; nothing was published\n", "{signal}");
        }
    }
}

/// What a shell command prints on a terminal of `columns`, in an environment with `variables`.
fn on_terminal(columns: u32, variables: &[(&str, &str)], words: &str) -> String {
    let sitemill = env!("CARGO_BIN_EXE_sitemill");
    let inner = format!("stty rows 24 cols {columns}; {sitemill} {words}");
    let mut script = Command::new("script");
    script
        .args(["-qec", &inner, "/dev/null"])
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR");
    let run = finish(script.envs(variables.iter().copied()), b"");
    String::from_utf8(run.stdout).unwrap().replace("\r\n", "\n")
}

#[test]
fn prefixes_are_coloured_only_on_a_terminal_that_shows_colours() {
    let directory = TempDir::new();
    std::fs::create_dir(directory.join("parts")).unwrap();
    directory.file("parts/part-0", format!("{BASE}1\n"));
    directory.file("parts/a.txt", "");
    let [parts, out] = ["parts", "out"].map(|name| directory.join(name).to_str().unwrap().to_owned());
    let skipped = format!("build --base-url {BASE} -o {out} {parts}");
    for (words, coloured) in [
        ("urls /none", "\x1b[1;31merror:\x1b[0m /none: "),
        (&skipped, "\x1b[1;33mwarning:\x1b[0m skipped 1 path"),
    ] {
        let told = on_terminal(80, &[], words);
        assert!(told.contains(coloured), "{told:?}");
        for variable in [("NO_COLOR", "1"), ("CLICOLOR", "0"), ("TERM", "dumb")] {
            let told = on_terminal(80, &[variable], words);
            let plain = coloured.split("\x1b[").filter_map(|part| part.split_once('m')).map(|(_, text)| text);
            assert!(
                told.contains(&plain.collect::<String>()) && !told.contains("\x1b[1;3"),
                "{variable:?}: {told:?}"
            );
        }
        let piped = run(words.split(' ')).stderr;
        assert!(!piped.contains('\x1b'), "{piped:?}");
    }
    // The help and usage errors as well.
    for words in ["build -h", "build --nope"] {
        assert!(on_terminal(80, &[], words).contains("\x1b["), "{words}");
        assert!(!on_terminal(80, &[("NO_COLOR", "1")], words).contains("\x1b[1m"), "{words}");
        let piped = run(words.split(' '));
        assert!(!(piped.stderr + &String::from_utf8_lossy(&piped.stdout)).contains('\x1b'), "{words}");
    }
}

#[test]
fn examples_are_cut_to_the_width_of_a_terminal_and_whole_in_a_pipe() {
    let directory = TempDir::new();
    let long = format!("ftp://h.example/{}", "long/".repeat(34));
    let input = directory.file("urls.txt", format!("{BASE}1\n{long}\n"));
    let (input, out) = (input.to_str().unwrap(), directory.join("out"));
    let words = format!("build --progress never --base-url {BASE} -o {} {input}", out.display());
    let example = |text: &str| text.lines().find(|line| line.starts_with("    scheme")).unwrap().to_owned();
    for columns in [60, 80, 200] {
        let line = example(&on_terminal(columns, &[], &words));
        assert!(line.ends_with('…') && line.chars().count() == columns as usize, "{columns}: {line}");
    }
    assert!(example(&run(words.split(' ')).expect(0).stderr).ends_with(&long));
}
