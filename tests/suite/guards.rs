//! Guards that keep obviously wrong data from replacing a live set.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{
    ROBOTS_FILE, Run, TempDir, assert_says, build_command, contents, files, finish, published_urls, run,
    telling_build_command,
};

const BASE: &str = "http://h.example/";

fn build(out: &Path, input: &str, options: &[&str]) -> Run {
    finish(build_command(out, BASE).args(options), input.as_bytes())
}

fn pages(count: usize) -> String {
    (0..count).map(|n| format!("{BASE}{n}\n")).collect()
}

#[test]
fn a_set_that_shrinks_too_much_is_refused_with_the_numbers_and_the_way_out() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &pages(100), &[]).expect(0);
    build(&out, &pages(50), &[]).expect(0);
    let refused = build(&out, &pages(24), &[]).expect(65);
    for said in ["24 URLs would replace 50", "--max-shrink is 50%", "--max-shrink 52%"] {
        assert!(refused.stderr.contains(said), "{said}: {}", refused.stderr);
    }
    assert_eq!(published_urls(&out, BASE).len(), 50);
    build(&out, &pages(24), &["--max-shrink", "51.9"]).expect(65);
    let refused = build(&out, &pages(1), &[]).expect(65);
    assert!(refused.stderr.contains("1 URL would replace 50, but --max-shrink is 50%"), "{}", refused.stderr);
    build(&out, &pages(24), &["--max-shrink", "52%"]).expect(0);
    build(&out, &pages(1), &["--max-shrink", "100"]).expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 1);
    // A larger set is never refused.
    build(&out, &pages(1000), &["--max-shrink", "0"]).expect(0);
}

#[test]
fn a_refusal_is_in_the_report() {
    let directory = TempDir::new();
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    build(&out, &pages(10), &["--expect-lines", "11", "--report", report.to_str().unwrap()]).expect(65);
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!((&report["published"], &report["lines"]), (&Value::from(false), &Value::from(10)));
    assert!(report["refused"].as_str().unwrap().contains("--expect-lines is 11"));
    assert_eq!((&report["error"], &report["cause"]), (&report["refused"], &Value::Null));
    assert_eq!(report["exit_code"], 65);
}

#[test]
fn an_unexpected_number_of_lines_is_a_reason_to_refuse() {
    let directory = TempDir::new();
    let out = directory.join("out");
    // Every line counts, whatever it contains.
    let input = format!("{}\nno url\n{BASE}0\n", pages(7));
    for (expected, exit) in
        [("10", 0), ("9", 65), ("11", 65), ("10..", 0), ("11..", 65), ("1..10", 0), ("1..9", 65)]
    {
        let run = build(&out, &input, &["--expect-lines", expected]).expect(exit);
        let said = format!(
            "have 10 lines, but --expect-lines is {expected}; nothing was published; if this is intended, run again with \
             --expect-lines 10\n"
        );
        assert_eq!(run.stderr.contains(&said), exit == 65, "{}", run.stderr);
    }
    let refused = build(&out, &pages(1), &["--expect-lines", "2"]).expect(65);
    assert!(refused.stderr.contains("the inputs have 1 line, but"), "{}", refused.stderr);
    build(&out, &input, &["--expect-lines", "some"]).expect(2);
}

#[test]
fn too_many_rejects_are_refused_and_the_message_names_the_limit_that_accepts_them() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = format!("{}{}", pages(30), "no url\n".repeat(3));
    for (max, needed) in [("0", "3"), ("2", "3"), ("0%", "10%"), ("0.5%", "10%"), ("9%", "10%")] {
        let refused = build(&out, &input, &["--max-rejects", max]).expect(65);
        let said = format!(
            "3 of 33 lines were rejected, but --max-rejects is {max}; nothing was published; if this is intended, run \
             again with --max-rejects {needed}\n"
        );
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
        build(&directory.join(max), &input, &["--max-rejects", needed]).expect(0);
    }
    assert!(files(&out).is_empty());
}

#[test]
fn part_files_of_a_job_that_has_not_ended_are_refused_with_the_way_out() {
    let directory = TempDir::new();
    let (out, parts) = (directory.join("out"), directory.join("parts"));
    fs::create_dir(&parts).unwrap();
    (0..3).for_each(|n| fs::write(parts.join(format!("part-0000{n}")), format!("{BASE}{n}\n")).unwrap());
    let parts = parts.to_str().unwrap();
    build(&out, &pages(3), &[]).expect(0);
    let refused = build(&out, "", &[parts, "--require-success-marker"]).expect(65);
    let said = "parts: has no _SUCCESS (data files: 3): the job that writes it has not ended, or failed; if the \
                files are complete anyway, run again without --require-success-marker\n";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert_eq!(published_urls(&out, BASE).len(), 3);
    build(&out, "", &[parts]).expect(0);
    // A shell has expanded a pattern. Within a partition, the marker is that of all partitions.
    let partition = directory.join("parts/day=1");
    fs::create_dir(&partition).unwrap();
    fs::write(partition.join("part-00000"), format!("{BASE}9\n")).unwrap();
    let files = ["part-00000", "day=1/part-00000"].map(|name| format!("{parts}/{name}"));
    for file in &files {
        let refused = build(&out, "", &[file, "--require-success-marker"]).expect(65);
        let said = format!("{file}: there is no _SUCCESS beside this part file");
        assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    }
    fs::write(directory.join("parts/_SUCCESS"), "").unwrap();
    build(&out, "", &[parts, "--require-success-marker"]).expect(0);
    build(&out, "", &[&files[0], &files[1], "--require-success-marker"]).expect(0);
}

#[test]
fn the_marker_of_a_directory_is_in_it_in_its_directories_or_above_a_partition() {
    let directory = TempDir::new();
    let put = |name: &str| {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{BASE}{name}\n")).unwrap();
    };
    let input = |name: &str| directory.join(name).to_str().unwrap().to_owned();
    let out = directory.join("out");
    let unfinished = |name: &str, place: &str| {
        let refused = build(&out, "", &[&input(name), "--require-success-marker"]).expect(65).stderr;
        assert!(refused.contains(&format!("{}: has no _SUCCESS (data files: 1)", input(place))), "{refused}");
    };
    let finished = |name: &str| drop(build(&out, "", &[&input(name), "--require-success-marker"]).expect(0));
    // Spark's partitionBy writes one marker for all partitions. Data files may have other names than part-*.
    put("table/day=1/hour=1/data.txt");
    unfinished("table/day=1", "table/day=1");
    put("table/_SUCCESS");
    ["table", "table/day=1", "table/day=1/hour=1"].iter().for_each(|name| finished(name));
    // Each day is a job of its own, and each may have directories.
    put("days/1/part-0");
    put("days/1/_SUCCESS");
    put("days/2/a/part-0");
    unfinished("days", "days/2/a");
    put("days/2/_SUCCESS");
    finished("days");
    unfinished("days/2/a", "days/2/a");
    // A job that has only begun has no part files.
    put("days/3/_temporary/0/part-0");
    let refused = build(&out, "", &[&input("days"), "--require-success-marker"]).expect(65).stderr;
    assert!(refused.contains(&format!("{}: has no _SUCCESS", input("days/3"))), "{refused}");
}

#[test]
fn an_empty_set_is_published_only_with_allow_empty() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, &pages(9), &["--urls-per-sitemap", "1", "--sitemaps-per-index", "5"]).expect(0);
    for empty in ["", "\n \t\n", "\u{feff}\n"] {
        let refused = build(&out, empty, &[]).expect(65);
        assert!(refused.stderr.contains("--allow-empty"), "{}", refused.stderr);
        build(&directory.join("blank"), empty, &["--allow-empty"]).expect(0);
    }
    assert_eq!(published_urls(&out, BASE).len(), 9);

    for _ in 0..2 {
        build(&out, "no url\n", &["--allow-empty"]).expect(0);
        assert_eq!(published_urls(&out, BASE), [""; 0]);
        assert!(!files(&out).iter().any(|file| file.starts_with("sitemap-index-")), "{:?}", files(&out));
        run(["check".as_ref(), out.as_os_str()]).expect(0);
        assert!(run(["urls".as_ref(), out.as_os_str()]).expect(0).stdout.is_empty());
    }
    // Other guards still apply.
    build(&out, "no url\n", &["--allow-empty", "--max-rejects", "0"]).expect(65);
    build(&out, &pages(3), &["--allow-empty"]).expect(0);
    assert_eq!(published_urls(&out, BASE).len(), 3);

    let first = directory.join("first");
    let run = finish(telling_build_command(&first, BASE).arg("--allow-empty"), b"").expect(0);
    let live =
        format!("live in {}: an empty set; robots.txt must have no Sitemap: lines for it", first.display());
    assert!(run.stderr.contains(&live) && !run.stderr.contains("per URL"), "{}", run.stderr);
    assert_eq!(files(&first), [ROBOTS_FILE]);
}

#[test]
fn check_still_finds_an_unintended_empty_robots_file() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, "", &["--allow-empty"]).expect(0);
    fs::write(out.join(ROBOTS_FILE), "").unwrap();
    run(["check".as_ref(), out.as_os_str()]).expect(65);
}

#[test]
fn each_site_is_compared_with_its_own_live_set() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let site =
        |host: &str, count: usize| (0..count).map(|n| format!("https://{host}/{n}\n")).collect::<String>();
    let build = |input: String, options: &[&str]| {
        finish(build_command(&out, "{origin}/").args(options), input.as_bytes())
    };
    let listed = |host: &str| published_urls(&out.join(host), &format!("https://{host}/")).len();
    build(site("a.example", 10) + &site("b.example", 10), &[]).expect(0);
    // More URLs in all, but one site has lost most of its own: no site is switched.
    let refused = build(site("a.example", 100) + &site("b.example", 4), &[]).expect(65);
    assert!(refused.stderr.contains("https://b.example/: 4 URLs"), "{}", refused.stderr);
    assert_eq!((listed("a.example"), listed("b.example")), (10, 10));
    build(site("a.example", 100) + &site("b.example", 4), &["--max-shrink", "60"]).expect(0);
    assert_eq!((listed("a.example"), listed("b.example")), (100, 4));
    // A site that the input does not name keeps its set.
    build(site("a.example", 100), &[]).expect(0);
    assert_eq!((listed("a.example"), listed("b.example")), (100, 4));
    let refused = build(String::new(), &["--allow-empty"]).expect(2);
    let said = "to publish without a section that has lost all its URLs, use --max-shrink 100%";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    build(String::new(), &[]).expect(65);
}

#[test]
fn a_refusal_names_the_limit_that_lets_all_sets_and_sections_pass() {
    let list = |counts: &[(&str, usize)]| -> String {
        let urls = |&(base, count): &(&str, usize)| -> String {
            (0..count).map(|n| format!("https://{base}/{n}\n")).collect()
        };
        counts.iter().map(urls).collect()
    };
    let by_path = "--section-by-path";
    for (base_url, options, now, said) in [
        (
            "{origin}/",
            &[][..],
            &[("a.example/x", 40), ("b.example/x", 10), ("c.example/x", 30)][..],
            "https://b.example/: 10 URLs would replace 100, but --max-shrink is 50%; 2 other sets or sections would also",
        ),
        (
            "{origin}/",
            &[by_path],
            &[("a.example/x", 100), ("a.example/y", 100), ("b.example/x", 49), ("b.example/y", 100)],
            "https://b.example/: section x: 49 URLs would replace 100, but --max-shrink is 50%; nothing was",
        ),
        (
            "https://a.example/",
            &[by_path],
            &[("a.example/x", 40), ("a.example/y", 2)],
            "https://a.example/: section y: 2 URLs would replace 100, but --max-shrink is 50%; 2 other sets or sections would",
        ),
    ] {
        let directory = TempDir::new();
        let build = |counts: &[(&str, usize)], more: &[&str]| {
            let mut command = build_command(&directory.join("out"), base_url);
            finish(command.args(options).args(more), list(counts).as_bytes())
        };
        let pages = |(base, _): &(&'static str, usize)| (*base, 100);
        build(&now.iter().map(pages).collect::<Vec<_>>(), &[]).expect(0);
        let refused = build(now, &[]).expect(65);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        let (_, advice) = refused.stderr.rsplit_once("run again with ").unwrap();
        build(now, &advice.split_whitespace().collect::<Vec<_>>()).expect(0);
    }
}

#[test]
fn a_section_of_all_other_urls_that_gets_lost_is_named_unless_other_sections_have_its_urls() {
    let directory = TempDir::new();
    let two = directory.file("two.toml", "a = '/a/'\nrest = 'other'\n");
    let three = directory.file("three.toml", "a = '/a/'\nb = '/b/'\nrest = 'other'\n");
    let pages = |folder: &str, count| (0..count).map(|n| format!("{BASE}{folder}/{n}\n")).collect::<String>();
    let all = pages("a", 10) + &pages("b", 3);
    let build = |input: &str, rules: &Path| {
        build(&directory.join("out"), input, &["--json", "--sections", rules.to_str().unwrap()]).expect(0)
    };
    let hint = |run: &Run| serde_json::from_slice::<Value>(&run.stdout).unwrap()["hint"].clone();
    assert!(hint(&build(&all, &two)).is_null());
    let lost = build(&pages("a", 11), &two);
    assert_eq!(hint(&lost), *format!("{BASE}: section other has no URLs now, instead of 3"));
    build(&all, &two);
    assert!(hint(&build(&all, &three)).is_null());
}

#[test]
fn a_section_of_a_rules_file_that_loses_all_urls_is_refused_with_the_option_that_permits_it() {
    let directory = TempDir::new();
    let rules = directory.file("rules.toml", "a = '/a/'\nb = '/b/'\n");
    let pages = |folder: &str| (0..10).map(|n| format!("{BASE}{folder}/{n}\n")).collect::<String>();
    let build = |input: &str, more: &[&str]| {
        let options = [&["--sections", rules.to_str().unwrap()], more].concat();
        build(&directory.join("out"), input, &options)
    };
    build(&(pages("a") + &pages("b")), &[]).expect(0);
    let said = "section a has no URLs; nothing was published; --allow-empty publishes the set without it";
    assert!(build(&pages("b"), &[]).expect(65).stderr.contains(said));
    build(&pages("b"), &["--allow-empty"]).expect(0);
}

#[test]
fn a_site_that_loses_all_its_urls_keeps_its_set_and_is_named_wherever_the_run_is_told_of() {
    let directory = TempDir::new();
    let (out, metrics) = (directory.join("out"), directory.join("sitemill.prom"));
    let list = |sites: &[&str]| -> String {
        sites.iter().map(|site| format!("https://{site}.example/1\n")).collect()
    };
    let build = |sites: &[&str], options: &[&str]| {
        let mut build = telling_build_command(&out, "{origin}/");
        build.args(["--json", "--metrics"]).arg(&metrics).args(options);
        finish(&mut build, list(sites).as_bytes()).expect(0)
    };
    let kept = |run: &Run| serde_json::from_slice::<Value>(&run.stdout).unwrap()["kept_sites"].clone();
    let metric = |value| {
        let text = fs::read_to_string(&metrics).unwrap();
        assert!(
            text.contains(&format!("sitemill_kept_sites{{base_url=\"{{origin}}/\"}} {value}\n")),
            "{text}"
        );
    };
    let all = build(&["a", "b", "c"], &[]);
    assert!(kept(&all).is_null() && !all.stderr.contains("kept sites"), "{}", all.stderr);
    metric(0);
    // The set of a site that was built by itself, and directories that are no sites.
    fs::create_dir(out.join("d.example")).unwrap();
    finish(&mut build_command(&out.join("v1.0"), "https://a.example/v1.0/"), b"https://a.example/v1.0/1\n")
        .expect(0);
    let before = contents(&out.join("b.example"));
    for (options, end) in [(&["--dry-run"][..], "\n"), (&[], "; the new set is live\n")] {
        let lost = build(&["c"], options);
        let said = format!(
            "warning: https://a.example/ and 1 more: live sites without URLs in the inputs are kept; remove the directory \
             of a site that is gone, or use --allow-missing-sites if the inputs have only some of the sites{end}"
        );
        assert_says(&lost, &[&said, "  2  live sites without URLs in the inputs"]);
        assert_eq!(kept(&lost), serde_json::json!(["https://a.example/", "https://b.example/"]));
        metric(2);
    }
    assert_eq!(contents(&out.join("b.example")), before);
    let logged = build(&["c"], &["--log", "json"]).stderr;
    let summary = logged.lines().find(|line| line.contains("\"summary\"")).unwrap();
    assert_eq!(serde_json::from_str::<Value>(summary).unwrap()["kept_site_count"], 2);
    let some = build(&["c"], &["--allow-missing-sites"]);
    assert!(
        !some.stderr.contains("warning") && kept(&some).as_array().unwrap().len() == 2,
        "{}",
        some.stderr
    );
    assert!(!build(&["c"], &["--allow-missing-sites", "--dry-run"]).stderr.contains("warning"));
}
