//! What messages and reports say of lines that are refused: what they have in common, how to fix them, and examples.

use std::fs;

use serde_json::Value;

use crate::support::{Run, TempDir, build_command, files, finish, sitemill, telling_build_command};

/// Runs a build of `input`, which must be refused. Returns the run and its report.
fn refused(base_url: &str, options: &[&str], input: &str) -> (Run, Value) {
    let directory = TempDir::new();
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    let mut command = build_command(&out, base_url);
    let run = finish(command.args(options).arg("--report").arg(&report), input.as_bytes()).expect(65);
    assert!(files(&out).is_empty());
    (run, serde_json::from_slice(&fs::read(report).unwrap()).unwrap())
}

#[test]
fn a_run_without_a_valid_url_says_what_its_lines_have_in_common_and_never_suggests_an_empty_set() {
    let shop = "http://www.shop.example/";
    let log = "9.9.9.9 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 23 \"-\" \"curl\"\n";
    for (base_url, input, said) in [
        (
            shop,
            "https://www.shop.example/a\n",
            "all 20 URLs are outside http://www.shop.example/; the first is https://www.shop.example/a; did you mean \
             --base-url https://www.shop.example/?",
        ),
        (shop, "http://shop.example/a\n", "did you mean --base-url http://shop.example/?"),
        ("http://h.example/maps", "http://www.h.example/maps/a\n", "--base-url http://www.h.example/maps/?"),
        ("http://h.example/maps", "http://www.h.example/a\n", "--base-url http://www.h.example/?"),
        (
            "https://h.example/maps/",
            "https://h.example/a\n",
            "all 20 URLs are outside https://h.example/maps/; the first is https://h.example/a; use --scope host if \
             robots.txt lists the sitemaps, or --base-url https://h.example/ if the files are published there",
        ),
        (
            "{origin}/maps/",
            "https://h.example/a\n",
            "outside {origin}/maps/; the first is https://h.example/a; list",
        ),
        (
            shop,
            "/a/b.html\n",
            "URLs must be absolute; resolve them with --relative-to http://www.shop.example/",
        ),
        (
            shop,
            "www.shop.example/a\n",
            "without a scheme; the first is www.shop.example/a; put one before it: sed",
        ),
        (shop, "www.shop.example:80/a\n", "put one before it: sed 's,^,http://,'"),
        (
            shop,
            "\"http://www.shop.example/a\"\n",
            "in quotes; the first is \"http://www.shop.example/a\"; read",
        ),
        (shop, "'http://www.shop.example/a'\n", "remove the quotes: tr -d \"'\""),
        (shop, log, "awk '$6 == \"\\\"GET\" && $9 == 200 {print \"http://www.shop.example\" $7}'"),
        (shop, "https%3A%2F%2Fwww.shop.example%2Fa\n", "percent-encoded as a whole"),
        (
            shop,
            "7 http://www.shop.example/a\n",
            "in columns; the first is 7 http://www.shop.example/a; extract the URLs with awk '{print $2}'",
        ),
        (shop, "h\0t\0t\0p\0:\0/\0/\0\n", "--input-encoding utf-16le"),
        (shop, "\0h\0t\0t\0p\0:\0/\0/\n", "--input-encoding utf-16be"),
        (shop, "http://h_<>/a\n", "all 20 lines are rejected as host; the first is http://h_<>/a"),
    ] {
        let (run, report) = refused(base_url, &[], &input.repeat(20));
        let line = run.stderr.lines().last().unwrap();
        assert!(line.contains("nothing was published: all 20 "), "{line}");
        assert!(line.contains(said), "{said}\nis not in\n{line}");
        assert!(!run.stderr.contains("--allow-empty"), "{}", run.stderr);
        assert!(report["refused"].as_str().unwrap().contains(report["hint"].as_str().unwrap()));
    }
}

#[test]
fn a_comment_does_not_hide_relative_lines_and_only_an_empty_input_mentions_allow_empty() {
    let shop = "http://www.shop.example/";
    let comment = format!("# http://www.shop.example/\n{}", "/a\n".repeat(19));
    let (run, _) = refused(shop, &[], &comment);
    let said =
        "all 20 lines are rejected as not-absolute; lines such as /a are relative; URLs must be absolute";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let stdin = "standard input, the only input, is empty; if you meant files, name them";
    for (empty, said) in [("", stdin), ("\n\n", "the inputs have only blank lines (2)")] {
        let (run, report) = refused(shop, &[], empty);
        assert!(run.stderr.contains(&format!("nothing was published: {said}; ")), "{}", run.stderr);
        assert!(run.stderr.contains("--allow-empty publishes an empty set"), "{}", run.stderr);
        assert_eq!(report.get("hint"), None);
    }
}

#[test]
fn the_hint_for_one_line_shows_it_and_one_filter_is_named_once() {
    let ends = "http://h.example/a\rhttp://h.example/b\r";
    for (options, input, said) in [
        (
            &[][..],
            "ftp://h.example/a\n",
            "the only line, ftp://h.example/a, is rejected as scheme; only http",
        ),
        (&[], "/a\n", "the only line, /a, is relative; URLs must be absolute"),
        (
            &[],
            "http://x.example/\n",
            "the only URL, http://x.example/, is outside http://h.example/; did you",
        ),
        (
            &["--rewrite", "http://h.example/=http://x.example/y/"],
            "http://h.example/a b\n",
            "the only URL, http://x.example/y/a%20b (from http://h.example/a b), is outside http://h.example/; did you",
        ),
        (
            &["--relative-to", "http://x.example/"],
            "/a\n",
            "the only URL, http://x.example/a (from /a), is outside http://h.example/; did you mean --base-url http://x.",
        ),
        (&[], ends, r"lines end with CR alone; convert them: tr '\r' '\n'"),
        (&[], "/a\r/b\r", r"lines end with CR alone; convert them: tr '\r' '\n'"),
        (
            &["--relative-to", "http://h.example/"],
            "/a\r/b\r",
            r"lines end with CR alone; convert them: tr '\r' '\n'",
        ),
        (&[], "http://h.example/a\r\r\n", r"lines end with CR CR LF; remove the CRs: tr -d '\r'"),
        (
            &[],
            "loc,url\nBerlin,http://h.example/a\n",
            "rejected as not-absolute; the URL was read from column loc; --columns url=url reads it from url",
        ),
        (
            &[],
            "<urlset><url><Loc>http://h.example/a</Loc></url></urlset>",
            "the only entry is rejected as no-url; a URL is the <loc> of a <url> or the <link> of an item, in lower case",
        ),
        (
            &["--exclude", "."],
            "http://h.example/a\n",
            "the only line is excluded by the rule exclude=.; change",
        ),
        (
            &["--exclude", "/a", "--exclude", "/b"],
            "http://h.example/a\nhttp://h.example/aa\nhttp://h.example/b\n",
            "all 3 lines are excluded, 2 of them by the rule exclude=/a; change",
        ),
    ] {
        let (run, _) = refused("http://h.example/", options, input);
        assert!(run.stderr.lines().last().unwrap().contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn a_proposed_command_extracts_the_urls() {
    let log = "9.9.9.9 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 23 \"-\" \"curl\"\n";
    for input in [
        log,
        "h.example/a\n",
        "'http://h.example/a'\n",
        "'http://h.example/a';'x'\n",
        "\"http://h.example/a\";\"x\"\n",
        "  “http://h.example/a”\n",
        "http%3A%2F%2Fh.example%2Fa\n",
        "http%253a%252F%252Fh.example%252Fa\n",
        "urls\n<loc>http://h.example/a</loc>\n",
        // The first line has no URL.
        &format!("9.9.9.9 - - [10/Oct/2000:13:55:35 -0700] \"-\" 400 0\n{log}"),
    ] {
        let (run, _) = refused("http://h.example/", &[], input);
        let line = run.stderr.lines().last().unwrap();
        let at = ["grep -o ", "awk '", "sed '", "sed \"", "tr -d ", "python3 "]
            .iter()
            .find_map(|start| line.find(start));
        let command = &line[at.unwrap_or_else(|| panic!("no command: {line}"))..];
        let mut shell = std::process::Command::new("sh");
        let extracted = finish(shell.args(["-c", command]), input.as_bytes()).expect(0);
        assert_eq!(String::from_utf8(extracted.stdout).unwrap(), "http://h.example/a\n", "{command}");
    }
}

#[test]
fn urls_out_of_scope_are_counted_by_origin_whatever_the_threads_and_the_order() {
    let directory = TempDir::new();
    let line = |n: usize| match n % 8 {
        0 => format!("https://h.example/{n}\n"),
        1..4 => format!("http://www.h.example:80/{n}\n"),
        4 => format!("http://h.example:8080/{n}\n"),
        5 => format!("HTTP://Shop{}.example/{n}\n", n % 32),
        _ => format!("http://h.example/{n}\n"),
    };
    // The input spans several chunks.
    let input = directory.file("urls.txt", (0..200_000).map(line).collect::<String>());
    let mut want = None;
    for options in [&["--threads", "1"][..], &["--threads", "3"], &["--order", "sorted", "--threads", "2"]] {
        let out = directory.join("out");
        let mut command = sitemill();
        command.args(["build", "--base-url", "http://h.example/", "--json", "--out"]).arg(&out).arg(&input);
        let run = finish(command.args(options), b"").expect(0);
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        let found = (report["out_of_scope"].clone(), report["out_of_scope_others"].clone());
        let counted: u64 = found.0.as_object().unwrap().values().map(|urls| urls.as_u64().unwrap()).sum();
        assert_eq!(counted, 150_000);
        assert_eq!(report["rejected"]["out-of-scope"], 150_000);
        assert_eq!(found.0["http://www.h.example/"], 75_000);
        assert_eq!(found.0["http://shop5.example/"], 6_250);
        assert_eq!(want.get_or_insert(found.clone()), &found);
        let words = "75,000 http://www.h.example/, 25,000 http://h.example:8080/, 25,000 https://h.example/, 6,250 http:";
        assert!(run.stderr.contains(words), "{}", run.stderr);
        // It is only a hint, because the remaining URLs were published.
        let hint = report["hint"].as_str().unwrap();
        assert!(
            hint.starts_with("150,000 of 200,000 URLs are outside http://h.example/ (75,000 http"),
            "{hint}"
        );
        assert!(run.stderr.contains(&format!("  {hint}\n")), "{}", run.stderr);
    }
}

#[test]
fn origins_beyond_the_tenth_are_counted_together() {
    let input: String = (0..1_000).map(|n| format!("https://h{}.example/{n}\n", n % 20)).collect::<String>()
        + "http://a.example/\n";
    let (run, report) = refused("https://www.example.com/", &[], &input);
    assert_eq!(report["out_of_scope"].as_object().unwrap().len(), 10);
    assert_eq!(report["out_of_scope_others"], 501);
    assert!(run.stderr.contains("--base-url '{origin}/' makes a set for each"), "{}", run.stderr);
}

#[test]
fn examples_are_printed_below_the_row_that_counts_them() {
    let directory = TempDir::new();
    let rows = "{\"url\":\"http://h.example/a\",\"priority\":\"high\"}\n{\"url\":\"http://h.example/b\"}\n{\"url\":\"ftp://h/\"}\n";
    let input = directory.file("urls.jsonl", rows);
    let mut command = sitemill();
    command.args(["build", "--base-url", "http://h.example/", "--out"]).arg(directory.join("out")).arg(input);
    let run = finish(&mut command, b"").expect(0);
    let at = |word: &str| run.stderr.find(word).unwrap_or_else(|| panic!("{word} in {}", run.stderr));
    let places = [at("  rejected "), at("    scheme "), at("  tags "), at("    tag-priority ")];
    assert!(places.is_sorted(), "{}", run.stderr);
}

#[test]
fn a_comma_after_each_json_object_is_named() {
    let directory = TempDir::new();
    let row = |page: u32| format!("{{\"url\":\"http://h.example/{page}\"}}");
    let input = directory.file("rows.jsonl", format!("{},\n{},\n{}\n", row(1), row(2), row(3)));
    let mut command = telling_build_command(&directory.join("out"), "http://h.example/");
    let run = finish(command.arg(input), b"").expect(0);
    let says = "remove the comma after each JSON object: sed 's/,[[:space:]]*$//'";
    assert!(run.stderr.contains(says), "{}", run.stderr);
}

#[test]
fn a_rule_that_applies_late_has_an_example_too() {
    // Rows of the first rule are in all chunks, far more than are judged again for examples.
    let line = |n: usize| match n % 50 {
        0 => format!("http://h.example/often/{n}\n"),
        _ => {
            format!("http://h.example/an/ordinary/page/with/a/rather/long/path/that/nobody/leaves/out/{n}\n")
        }
    };
    let input =
        (0..80_000).map(line).collect::<String>() + "http://h.example/late/1\nhttp://h.example/late/2\n";
    let rules = ["--exclude", "/often/", "--exclude", "/late/", "--exclude", "/never/"];
    for order in ["input", "sorted"] {
        let directory = TempDir::new();
        let report = directory.join("report.json");
        let mut command = build_command(&directory.join("out"), "http://h.example/");
        command.args(rules).args(["--order", order, "--report"]).arg(&report);
        finish(&mut command, input.as_bytes()).expect(0);
        let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
        let examples = report["examples"].as_array().unwrap().iter();
        let examples: Vec<_> = examples.map(|one| (one["reason"].as_str(), one["line"].as_u64())).collect();
        let want = [("exclude=/often/", 1), ("exclude=/late/", 80_001)];
        assert_eq!(examples, want.map(|(rule, line)| (Some(rule), Some(line))), "{order}");
    }
}

#[test]
fn hints_that_are_not_shown_are_counted_and_the_one_about_bytes_is_always_shown() {
    let directory = TempDir::new();
    let inputs = (1..=10).map(|number| {
        let header = format!("loc,updated{}at\n", "_".repeat(number));
        let row = format!("https://h.example/{number}\u{e9},2024-05-01\n");
        let latin: Vec<u8> = (header + &row).chars().map(|char| char as u8).collect();
        directory.file(&format!("{number}.csv"), latin)
    });
    let mut command = telling_build_command(&directory.join("out"), "https://h.example/");
    let run = finish(command.args(inputs), b"").expect(0);
    let is_hint = |line: &&str| ["not UTF-8", " is not used", "more hint"].iter().any(|it| line.contains(it));
    let hints: Vec<_> = run.stderr.lines().filter(is_hint).map(str::trim).collect();
    assert_eq!(hints.len(), 9, "{}", run.stderr);
    assert!(hints[0].starts_with("10 lines are not UTF-8"), "{hints:?}");
    assert_eq!(hints[8], "and 3 more hints about inputs; see --report");
}
