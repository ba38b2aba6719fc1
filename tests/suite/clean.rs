//! `sitemill clean`.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::corpus::{Corpus, Recipe};
use crate::support::{TempDir, build_command, finish, gzip, sitemill};

#[test]
fn every_accepted_line_comes_out_once_in_input_order() {
    let input =
        b"\xEF\xBB\xBFHTTP://B.example:80/p#frag\r\n\nhttp://a.example/x\nnonsense\nhttp://a.example/x\n";
    let cleaned = finish(sitemill().arg("clean"), input).expect(0);
    assert_eq!(cleaned.stdout, b"http://b.example/p\nhttp://a.example/x\nhttp://a.example/x\n");
    assert!(
        cleaned.stderr.contains("5 lines: 3 URLs, 1 blank, 1 rejected (1 not-absolute)"),
        "{}",
        cleaned.stderr
    );
    let nothing = finish(sitemill().args(["clean", "--quiet"]), b"nonsense\n").expect(0);
    assert!(nothing.stdout.is_empty() && nothing.stderr.is_empty());
    finish(sitemill().args(["clean", "missing.txt"]), b"").expect(66);
}

#[test]
fn the_summary_shows_the_most_frequent_rules_and_counts_the_others() {
    let rules: Vec<_> = (0..12).map(|rule| format!("--exclude=/{rule:02}/")).collect();
    // The last rule applies to 12 lines, the first one to 1.
    let lines = |rule: usize| (0..=rule).map(move |line| format!("https://h.example/{rule:02}/{line}\n"));
    let input: String = (0..12).flat_map(lines).collect();
    let cleaned = finish(sitemill().arg("clean").args(rules), input.as_bytes()).expect(0);
    let by_rule: Vec<_> = (2..12).rev().map(|rule| format!("{} exclude=/{rule:02}/", rule + 1)).collect();
    let said = format!("78 excluded ({} and 2 more)", by_rule.join(", "));
    assert!(cleaned.stderr.contains(&said), "{}", cleaned.stderr);
}

#[test]
fn a_rule_of_robots_txt_may_end_within_an_escape_and_may_be_empty() {
    let directory = TempDir::new();
    let robots = directory.join("robots.txt");
    let clean = |rules: &str| {
        fs::write(&robots, format!("User-agent: *\n{rules}\n")).unwrap();
        let input = b"https://h.example/a%20b\nhttps://h.example/x\n";
        finish(sitemill().args(["clean", "--respect-robots"]).arg(&robots), input).expect(0)
    };
    for (rules, want) in [("Disallow: /*%", "x"), ("Disallow: /\nAllow: /a%2", "a%20b")] {
        assert_eq!(String::from_utf8(clean(rules).stdout).unwrap(), format!("https://h.example/{want}\n"));
    }
    let all = clean("Disallow:");
    let said = "robots.txt: has no rules for this crawler, or only an empty Disallow, so it excludes no URLs";
    assert!(all.stderr.contains(said) && all.stderr.contains("2 URLs"), "{}", all.stderr);
}

#[test]
fn files_and_pipes_give_the_same_output_with_any_number_of_threads() {
    let recipe = Recipe { lines: 60_000, duplicates: 0.1, non_ascii: 0.2, bad: 0.2, ..Recipe::default() };
    let text = Corpus::new(&recipe).unwrap().text();
    let directory = TempDir::new();
    let input = directory.file("urls.txt", &text);
    let rejects = directory.join("rejects.tsv");
    let clean = |threads: &str, from_pipe: bool| {
        let mut command = sitemill();
        command.args(["clean", "--quiet", "--threads", threads, "--rejects"]).arg(&rejects);
        let run = match from_pipe {
            true => finish(command.arg("-"), &text),
            false => finish(command.arg(&input), b""),
        };
        let name = if from_pipe { "-" } else { input.to_str().unwrap() };
        (run.expect(0).stdout, fs::read_to_string(&rejects).unwrap().replace(&format!("{name}\t"), "\t"))
    };
    let want = clean("1", false);
    for (threads, from_pipe) in [("2", false), ("7", false), ("1", true), ("3", true)] {
        assert!(clean(threads, from_pipe) == want, "{threads} threads, pipe: {from_pipe}");
    }
    // Cleaning the output again changes nothing.
    let again = finish(sitemill().args(["clean", "--quiet"]), &want.0).expect(0);
    assert!(again.stdout == want.0);
    // `build` rejects the same lines as `clean` if it has no scope.
    let mut build = build_command(&directory.join("out"), "https://www.example.com/");
    finish(build.args(["--scope", "any", "--rejects"]).arg(&rejects).arg(&input), b"").expect(0);
    let rows = fs::read_to_string(&rejects).unwrap().replace(&format!("{}\t", input.display()), "\t");
    assert!(rows == want.1);
}

/// A file is read 256 KiB at a time, after the first 64 KiB if they show its format.
#[test]
fn lines_between_two_that_are_too_long_are_cleaned_wherever_a_read_ends() {
    let directory = TempDir::new();
    let read_bytes = 256 << 10;
    let urls: String = (0..10_481).map(|n| format!("http://h.example/{n:07}\n")).collect();
    let last = "http://h.example/last\n";
    for first_bytes in [read_bytes + 99, read_bytes + (64 << 10) + 99] {
        let (first, second) = ("x".repeat(first_bytes), "y".repeat(2 * read_bytes));
        let input = directory.file("urls.txt", format!("{first}\n{urls}{second}\n{last}"));
        for options in [&[][..], &["--format", "google"]] {
            let cleaned = finish(sitemill().arg("clean").args(options).arg(&input), b"").expect(0);
            assert!(cleaned.stdout == [&urls, last].concat().as_bytes(), "{options:?}: {}", cleaned.stderr);
            assert!(cleaned.stderr.contains("2 rejected (2 too-long)"), "{}", cleaned.stderr);
        }
    }
}

#[test]
fn a_reader_that_stops_early_is_not_a_failure_but_a_full_disk_is() {
    let mut child =
        sitemill().arg("clean").arg("--quiet").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stdin.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"http://h.example/a\n")));
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child =
        sitemill().arg("clean").stdin(Stdio::piped()).stdout(full).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdin.take().map(|mut pipe| std::io::Write::write_all(&mut pipe, b"http://h.example/a\n")));
    assert_eq!(child.wait().unwrap().code(), Some(74));
}

#[test]
fn an_old_reject_file_is_replaced_once_the_new_one_is_complete_and_other_names_of_it_keep_their_bytes() {
    let directory = TempDir::new();
    let input = directory.file("in.txt", "http://h.example/1\nbad\n");
    let damaged = directory.file("damaged.csv.gz", &gzip(b"url\nhttp://h.example/1\n")[..20]);
    let [rejects, other] = ["rejects.tsv", "other"].map(|name| directory.join(name));
    let clean = |input: &Path| {
        finish(sitemill().args(["clean", "--quiet"]).arg(input).arg("--rejects").arg(&rejects), b"")
    };
    fs::write(&rejects, "precious").unwrap();
    fs::hard_link(&rejects, &other).unwrap();
    for (input, exit) in [(directory.join("missing.txt"), 66), (damaged, 65)] {
        clean(&input).expect(exit);
        assert_eq!(fs::read(&rejects).unwrap(), b"precious", "{input:?}");
    }
    clean(&input).expect(0);
    let new = fs::read_to_string(&rejects).unwrap();
    assert!(new.starts_with("input\tline\t") && new.ends_with("not-absolute\tbad\n"), "{new}");
    assert_eq!(fs::read(&other).unwrap(), b"precious");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 4, "no temporary file may remain");
}

#[test]
fn a_file_of_patterns_to_exclude_that_has_none_is_a_warning() {
    let directory = TempDir::new();
    let empty = directory.file("empty", "# none\n");
    let cleaned =
        finish(sitemill().args(["clean", "--quiet", "--exclude-file"]).arg(empty), b"http://h.example/1\n");
    assert!(cleaned.stderr.contains("empty: has no pattern, so it excludes no URLs"), "{}", cleaned.stderr);
    assert_eq!(cleaned.expect(0).stdout, b"http://h.example/1\n");
}
