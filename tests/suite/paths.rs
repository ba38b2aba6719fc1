//! A run never overwrites a file that it reads, whatever path names it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Run, TempDir, build_command, contents, files, finish, run, sitemill};

const BASE: &str = "http://h.example/";
const LINES: &str = "http://h.example/1\nbad\nhttp://h.example/2\n";

/// Options of `build` that name an output file.
const WRITTEN: [&str; 5] = ["--rejects", "--metrics", "--robots", "--report", "--diff"];

/// Runs `script` in a shell. `sitemill` stands for the binary, and `$1`, `$2` … for `arguments`.
fn shell(script: &str, arguments: &[&Path]) -> Run {
    let mut shell = Command::new("bash");
    let script = script.replace("sitemill ", &format!("{} ", env!("CARGO_BIN_EXE_sitemill")));
    finish(shell.args(["-c", &script, "bash"]).args(arguments), b"")
}

/// Every path below `directory`, with the content of files.
fn tree(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => all.extend(tree(&entry.path())),
            false => all.push((entry.path(), fs::read(entry.path()).unwrap_or_default())),
        }
    }
    all.sort();
    all
}

/// Fails unless `command` exits with 2, prints all of `said` and changes nothing in `directory`.
#[track_caller]
fn assert_refused(directory: &TempDir, command: &mut Command, said: &[&str]) {
    let before = tree(directory.path());
    let refused = finish(command, b"").expect(2);
    said.iter().for_each(|word| assert!(refused.stderr.contains(word), "{word}: {}", refused.stderr));
    assert!(tree(directory.path()) == before, "a file was changed: {command:?}");
}

#[test]
fn no_option_overwrites_an_input_whatever_name_leads_to_it() {
    let directory = TempDir::new();
    let input = directory.file("in.txt", LINES);
    let (hard, soft) = (directory.join("hard.txt"), directory.join("soft.txt"));
    fs::hard_link(&input, &hard).unwrap();
    symlink(&input, &soft).unwrap();
    let roundabout = directory.join("../").join(directory.path().file_name().unwrap()).join("in.txt");
    let out = directory.join("out");
    for option in WRITTEN {
        for name in [&input, &hard, &soft, &roundabout] {
            let mut build = build_command(&out, BASE);
            assert_refused(&directory, build.arg(option).arg(name).arg(&input), &[option, "input", "in.txt"]);
            // Not even if the options have another error too.
            let mut wrong = build_command(&out, BASE);
            let before = tree(directory.path());
            finish(wrong.arg(option).arg(name).arg(&input).arg("--level=99"), b"").expect(2);
            assert!(tree(directory.path()) == before, "{option} {name:?}");
        }
    }
    for name in [&input, &hard, &soft] {
        let mut clean = sitemill();
        clean.arg("clean").arg(&input).arg("--rejects").arg(name);
        assert_refused(&directory, &mut clean, &["--rejects", "input", "in.txt"]);
    }
}

#[test]
fn an_input_is_recognised_in_a_directory_next_to_an_index_as_a_pipe_and_in_the_options() {
    let directory = TempDir::new();
    let (out, data) = (directory.join("out"), directory.join("data"));
    fs::create_dir(&data).unwrap();
    let part = directory.file("data/a.txt", LINES);
    let config = directory.file("sitemill.toml", "quiet = true\n");
    for option in WRITTEN {
        let build = || build_command(&out, BASE);
        assert_refused(&directory, build().arg(option).arg(&part).arg(&data), &[option, "data/a.txt"]);
        let said = [option, "--config", "sitemill.toml"];
        assert_refused(
            &directory,
            build().arg(option).arg(&config).arg("--config").arg(&config).arg(&part),
            &said,
        );
        // The next run would read it as input.
        let new = data.join("new.txt");
        assert_refused(&directory, build().arg(option).arg(&new).arg(&data), &[option, "data", "next run"]);
    }
    let script = format!("sitemill build --base-url {BASE} --out \"$1\" --rejects \"$2\" - < \"$2\"");
    shell(&script, &[&out, &part]).expect(2);
    assert_eq!(fs::read_to_string(&part).unwrap(), LINES);

    finish(&mut build_command(&out, BASE), LINES.as_bytes()).expect(0);
    let (copy, other) = (directory.join("copy"), directory.join("other"));
    fs::create_dir(&copy).unwrap();
    for file in files(&out).iter().filter(|file| *file != "robots-sitemaps.txt") {
        fs::copy(out.join(file), copy.join(file)).unwrap();
    }
    let member = files(&copy).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    let mut command = build_command(&other, BASE);
    command.arg(copy.join("sitemap-index-1.xml")).arg("--rejects").arg(copy.join(&member));
    assert_refused(&directory, &mut command, &["--rejects", "input", &member]);
}

#[test]
fn results_that_would_overwrite_each_other_are_refused() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let (there, link) = (directory.file("there", ""), directory.join("link"));
    symlink("there", &link).unwrap();
    let dangling = directory.join("dangling");
    symlink("new", &dangling).unwrap();
    for (at, first) in WRITTEN.into_iter().enumerate() {
        for second in &WRITTEN[..at] {
            for [one, other] in
                [["x", "x"], ["./x", "x"], ["there", "link"], ["new", "dangling"], ["out/x", "out/x"]]
            {
                let mut build = build_command(&out, BASE);
                build.arg(first).arg(directory.join(one)).arg(second).arg(directory.join(other));
                assert_refused(&directory, build.arg(&input), &[first, second, "same file"]);
            }
        }
    }
    drop(there);
    // Several results may go to the same device or stream, where nothing can be lost.
    let mut build = build_command(&out, BASE);
    build.args(["--rejects", "/dev/null", "--diff", "/dev/null", "--report", "/dev/null"]);
    finish(build.arg(&input), b"").expect(0);
    let script = format!(
        "sitemill build --quiet --base-url {BASE} --out \"$1\" \"$2\" --rejects /dev/stderr --diff /dev/stderr 2> \"$3\""
    );
    let log = directory.join("log");
    shell(&script, &[&directory.join("second"), &input, &log]).expect(0);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("not-absolute\tbad\n") && log.contains("added\thttp://h.example/2\t"), "{log}");
}

#[test]
fn a_run_whose_options_are_wrong_overwrites_no_file_that_another_option_names() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let there = directory.file("there", "level = 2\n");
    let refuse = |command: &mut Command| {
        let before = tree(directory.path());
        finish(command.current_dir(directory.path()), b"").expect(2);
        assert!(tree(directory.path()) == before, "a file was changed: {command:?}");
    };
    let reads = ["--include-file", "--exclude-file", "--sections", "--respect-robots", "--also", "--config"];
    for option in ["--report", "--html", "--metrics"] {
        let build = || {
            let mut build = sitemill();
            build.args(["build", "--base-url", BASE, "--level=99", "-o"]).arg(&out).arg(&input);
            build.arg(option);
            build
        };
        for other in ["--rejects", "--diff", "--robots"].iter().chain(&reads) {
            refuse(build().arg(&there).arg(other).arg(&there));
            let variable = format!("SITEMILL_{}", other[2..].to_uppercase().replace('-', "_"));
            refuse(build().arg(&there).env(variable, &there));
        }
        refuse(build().arg(&there).args(["--also", "other", "--also", "there"]));
        let config = directory.file("sitemill.toml", "include-file = [\"other\", \"there\"]\n");
        refuse(build().arg(&there).arg("--config").arg(config));
        // Nothing is published there yet.
        fs::create_dir_all(&out).unwrap();
        refuse(build().arg(out.join("sitemap-index-1.xml")));
        // The value is missing, and the next option is not it.
        refuse(build().arg("--quiet"));
    }
}

#[test]
fn no_option_overwrites_a_file_of_a_published_set() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let index = out.join("sitemap-index-1.xml");
    let lines = out.join("robots-sitemaps.txt");
    let state = out.join(".sitemill/manifest.json");
    let [mark, mark_of_blog] = [".sitemill-switch", ".sitemill-switch-blog"].map(|name| out.join(name));
    // Without a live set and with one.
    for is_live in [false, true] {
        for option in WRITTEN {
            for name in [&index, &lines, &state, &mark, &mark_of_blog] {
                let mut build = build_command(&out, BASE);
                build.arg(option).arg(name).arg(&input);
                let said = if name == &state { ".sitemill" } else { "--out" };
                assert_refused(&directory, &mut build, &[option, said]);
            }
        }
        assert!(is_live || !out.exists());
        finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    }
    let sitemap = files(&out).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    let (hard, soft) = (directory.join("hard"), directory.join("soft"));
    fs::hard_link(out.join(&sitemap), &hard).unwrap();
    symlink(&index, &soft).unwrap();
    for name in [&out.join(&sitemap), &hard, &soft] {
        for option in WRITTEN {
            let mut build = build_command(&out, BASE);
            assert_refused(&directory, build.arg(option).arg(name).arg(&input), &[option]);
        }
    }
    let mut clean = sitemill();
    assert_refused(&directory, clean.arg("clean").arg(&input).arg("--rejects").arg(&index), &["--rejects"]);
    let mut back = sitemill();
    assert_refused(
        &directory,
        back.arg("rollback").arg("--out").arg(&out).arg("--robots").arg(&lines),
        &["--robots"],
    );
    let sites = directory.join("sites");
    let of_site = sites.join("h.example/sitemap-index-1.xml");
    let mut build = build_command(&sites, "{origin}/");
    assert_refused(&directory, build.arg("--report").arg(&of_site).arg(&input), &["--report", "--out"]);
}

#[test]
fn no_set_is_published_within_the_state_of_another() {
    let directory = TempDir::new();
    let (input, out, link) = (directory.file("in.txt", LINES), directory.join("out"), directory.join("link"));
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    symlink(out.join(".sitemill"), &link).unwrap();
    for state in [&out.join(".sitemill"), &link] {
        for inner in [state, &state.join("staging"), &state.join("staging/new/set")] {
            for base_url in [BASE, "{origin}/"] {
                let mut build = build_command(inner, base_url);
                assert_refused(&directory, build.arg(&input), &["--out", "is in .sitemill"]);
            }
        }
    }
    // A directory that only has the name is no state.
    let inner = directory.join("home/.sitemill/html");
    fs::create_dir_all(inner.parent().unwrap()).unwrap();
    finish(build_command(&inner, BASE).arg(&input), b"").expect(0);
}

#[test]
fn standard_output_that_leads_to_an_input_is_refused() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let build = format!("sitemill build --json --base-url {BASE} --out \"$2\" \"$1\" >> \"$1\"");
    for script in ["sitemill clean \"$1\" >> \"$1\"", "sitemill clean < \"$1\" >> \"$1\"", &build] {
        let refused = shell(script, &[&input, &out]).expect(2);
        assert!(refused.stderr.contains("same file"), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&input).unwrap(), LINES, "{script}");
    }
    finish(build_command(&out, BASE).arg(&input), b"").expect(0);
    let live = contents(&out);
    for command in ["check", "urls", "diff \"$1\"", "status --out"] {
        let script = format!("sitemill {command} \"$1\" >> \"$1/sitemap-index-1.xml\"");
        shell(&script, &[&out]).expect(2);
        assert!(contents(&out) == live, "{command}");
    }
    let script = "sitemill clean \"$1\" --rejects \"$2\" >> \"$2\"";
    let refused = shell(script, &[&input, &directory.join("both.txt")]).expect(2);
    assert!(refused.stderr.contains("--rejects") && refused.stderr.contains("clean"), "{}", refused.stderr);
}

#[test]
fn a_dash_is_standard_output_and_takes_one_result() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let build = |options: &[&str]| {
        let mut command = build_command(&out, BASE);
        finish(command.current_dir(directory.path()).arg(&input).args(options), b"")
    };
    let text = |run: Run| String::from_utf8(run.stdout).unwrap();
    assert_eq!(text(build(&["--diff", "-"]).expect(0)), format!("added\t{BASE}1\t\t\nadded\t{BASE}2\t\t\n"));
    let rejects = text(build(&["--rejects", "-"]).expect(0));
    assert!(
        rejects.starts_with("input\tline\toffset") && rejects.ends_with("\tnot-absolute\tbad\n"),
        "{rejects}"
    );
    let report: Value = serde_json::from_str(&text(build(&["--report", "-"]).expect(0))).unwrap();
    assert_eq!(report["listed"], 2);
    assert!(!directory.join("-").exists());

    for (options, said) in [
        (&["--rejects", "-", "--json"][..], ["--rejects -", "--json"]),
        (&["--rejects", "-", "--diff", "-"], ["--rejects -", "--diff -"]),
        (&["--report", "-", "--json"], ["--report -", "--json"]),
        (&["--report", "-", "--rejects", "-"], ["--report -", "--rejects -"]),
        (&["--report", "/dev/stdout", "--json"], ["--report /dev/stdout", "--json"]),
        (&["--report", "/dev/fd/1", "--html", "-"], ["--report /dev/fd/1", "--html -"]),
    ] {
        let refused = build(options).expect(2);
        assert!(said.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
        assert!(!text(refused).contains("input\tline"), "no result may contain another");
    }
    for (option, stream) in [("--metrics", "-"), ("--metrics", "/dev/stdout"), ("--robots", "-")] {
        let refused = build(&[option, stream]).expect(2);
        assert!(refused.stderr.contains(&format!("{option} {stream}: ")), "{}", refused.stderr);
    }
    for stream in ["-", "/dev/stdout", "/proc/self/fd/1"] {
        let clean =
            run(["clean".as_ref(), "--rejects".as_ref(), stream.as_ref(), input.as_os_str()]).expect(2);
        let said = format!("--rejects {stream}: standard output is for the URLs");
        assert!(clean.stderr.contains(&said) && clean.stdout.is_empty(), "{}", clean.stderr);
    }
    assert!(!directory.join("-").exists());
}

#[test]
fn a_standard_stream_named_by_its_path_is_written_to_and_never_truncated() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let log = directory.file("log", "before\n");
    let build = format!("sitemill build --quiet --base-url {BASE} --out \"$2\" \"$1\"");
    for script in [
        "sitemill clean \"$1\" --rejects /dev/stderr 2>> \"$3\"",
        &format!("{build} --rejects /dev/stderr 2>> \"$3\""),
        &format!("{build} --report /dev/stdout >> \"$3\""),
        &format!("{build} --diff /dev/stdout >> \"$3\""),
        "sitemill clean \"$1\" --rejects /dev/fd/2 2>> \"$3\"",
        &format!("{build} --rejects /proc/self/fd/2 2>> \"$3\""),
        &format!("{build} --report /dev/fd/1 >> \"$3\""),
        &format!("{build} --rejects /dev/fd/5 5>> \"$3\""),
        &format!("{build} --report /proc/self/fd/5 5>> \"$3\""),
        &format!("{build} --html /dev/fd/5 5>> \"$3\""),
    ] {
        let length = fs::metadata(&log).unwrap().len();
        shell(script, &[&input, &out, &log]).expect(0);
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("before\n"), "{script}: {text}");
        assert!(text.len() as u64 > length || script.contains("--diff"), "{script}: {text}");
    }
}

#[test]
fn files_may_lie_in_an_output_directory_that_does_not_exist_yet() {
    let directory = TempDir::new();
    let input = directory.file("in.txt", LINES);
    for (at, option) in WRITTEN.into_iter().enumerate() {
        let out = directory.join(format!("new-{at}/out"));
        let file = out.join("file.txt");
        finish(build_command(&out, BASE).arg(option).arg(&file).arg(&input), b"").expect(0);
        assert_ne!(fs::metadata(file).unwrap().len(), 0, "{option}");
        // In the parent directory, which does not exist either.
        let above = directory.join(format!("above-{at}"));
        let (out, file) = (above.join("sitemaps"), above.join("file.txt"));
        finish(build_command(&out, BASE).arg(option).arg(&file).arg(&input), b"").expect(0);
        assert_ne!(fs::metadata(file).unwrap().len(), 0, "{option}");
    }
    for option in WRITTEN {
        let out = directory.join("never");
        let file = directory.join("missing/file.txt");
        let refused = finish(build_command(&out, BASE).arg(option).arg(&file).arg(&input), b"").expect(73);
        assert!(
            refused.stderr.contains("missing/file.txt: cannot be created"),
            "{option}: {}",
            refused.stderr
        );
        assert!(!out.exists(), "{option}");
    }
}

#[test]
fn no_option_overwrites_a_sitemap_that_a_set_only_lists_nor_the_command_that_follows() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("in.txt", LINES), directory.join("out"));
    let also = out.join("new s/news.xml");
    fs::create_dir_all(also.parent().unwrap()).unwrap();
    let urls = "<url><loc>http://h.example/new</loc></url>";
    let text = format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>");
    fs::write(&also, text).unwrap();
    finish(build_command(&out, BASE).arg("--also").arg(&also).arg(&input), b"").expect(0);
    for option in WRITTEN {
        let mut build = build_command(&out, BASE);
        let said = [option, "news.xml: a sitemap that the set in "];
        assert_refused(&directory, build.arg(option).arg(&also).arg(&input), &said);
    }
    for arguments in [["clean", "--rejects"], ["report", "--output"]] {
        let mut command = sitemill();
        command.args(arguments).arg(&also).arg(if arguments[0] == "clean" { &input } else { &out });
        assert_refused(&directory, &mut command, &[arguments[1], "news.xml"]);
    }
    let script = directory.file("then.sh", "#!/bin/sh\n");
    for option in WRITTEN {
        let mut build = build_command(&out, BASE);
        build.arg("--then").arg(&script).arg(option).arg(&script);
        assert_refused(&directory, build.arg(&input), &[option, "the same file as --then"]);
    }
}
