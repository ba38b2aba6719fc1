//! `--order sorted`, `--memory` and `--scratch`: what they change, and what they must not.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::*;

const BASE: &str = "https://www.example.com/";

/// Lines with duplicates, and some that are refused, in an order that `seed` decides.
fn lines(seed: usize) -> String {
    let mut lines: Vec<String> = (0..6_000)
        .map(|n| match n % 13 {
            0 => format!("no url {n}\n"),
            1 => "\n".into(),
            _ => format!("{BASE}{}/ü {}?a&b\n", n % 17, n * 31 % 4_001),
        })
        .collect();
    // A walk with a step that shares no factor with their number meets each of them once.
    lines = (0..lines.len()).map(|at| lines[(at * [1, 7, 4_999][seed] + seed) % 6_000].clone()).collect();
    lines.concat()
}

fn build(out: &Path, input: &Path, options: &[&str]) -> Value {
    let report = out.with_extension("json");
    let mut command = build_command(out, BASE);
    command.args(["--urls-per-sitemap", "700"]).arg(input).args(options);
    finish(command.arg("--report").arg(&report), b"").expect(0);
    serde_json::from_slice(&fs::read(&report).unwrap()).unwrap()
}

#[test]
fn a_sorted_set_is_the_same_for_any_order_of_the_input_and_any_resources() {
    let directory = TempDir::new();
    let scratch = directory.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut want = None;
    for seed in 0..3 {
        let input = directory.file("urls.txt", lines(seed));
        let unsorted = build(&directory.join(format!("unsorted-{seed}")), &input, &[]);
        for (at, options) in [
            &["--threads", "1"][..],
            &["--threads", "5", "--memory", "150MiB"],
            &["--scratch", scratch.to_str().unwrap()],
        ]
        .into_iter()
        .enumerate()
        {
            let out = directory.join(format!("out-{seed}-{at}"));
            let report = build(&out, &input, &[&["--order", "sorted"], options].concat());
            for count in ["lines", "blank", "listed", "duplicates", "rejected"] {
                assert_eq!(report[count], unsorted[count], "{count}");
            }
            assert_valid_set(&out, BASE, "0.9");
            let sitemaps: Vec<_> =
                published(&out, BASE).into_iter().filter(|(file, _)| file.ends_with(".gz")).collect();
            assert!(want.get_or_insert_with(|| sitemaps.clone()) == &sitemaps, "seed {seed}, {options:?}");
        }
        assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "scratch files are gone");
        let mut plain = published_urls(&directory.join(format!("unsorted-{seed}")), BASE);
        plain.sort_unstable();
        assert!(plain.is_sorted() && published_urls(&directory.join(format!("out-{seed}-0")), BASE) == plain);
    }
}

#[test]
fn rejects_and_sites_are_the_same_in_sorted_order() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", lines(1).replace("/3/", ".de/3/") + "http://other.example/\n");
    let rejects = |name: &str, order: &str| {
        let (out, rejects) = (directory.join(name), directory.join(format!("{name}.tsv")));
        let mut command = build_command(&out, "{origin}/");
        finish(command.args(["--order", order, "--rejects"]).arg(&rejects).arg(&input), b"").expect(0);
        fs::read_to_string(rejects).unwrap()
    };
    let told = rejects("input", "input");
    assert!(told.lines().count() > 400);
    assert!(rejects("sorted", "sorted") == told, "other rejects");
    for site in ["www.example.com", "www.example.com.de"] {
        let base = format!("https://{site}/");
        let mut plain = published_urls(&directory.join("input").join(site), &base);
        plain.sort_unstable();
        assert!(!plain.is_empty() && published_urls(&directory.join("sorted").join(site), &base) == plain);
    }
}

#[test]
fn too_little_memory_is_a_usage_error_that_says_how_much_is_needed() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", lines(0));
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--memory", "64MiB", "--threads", "4", "--out"]);
    let refused = finish(command.arg(directory.join("out")).arg(&input), b"").expect(2);
    assert!(refused.stderr.contains("--memory is 64 MiB: 4 threads need 104 MiB"), "{}", refused.stderr);
}

#[test]
fn what_a_run_needs_is_said_at_its_start_and_in_the_report() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", lines(0));
    let report = directory.join("report.json");
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--progress", "always", "--memory", "1GiB", "--report"]);
    let run = finish(command.arg(&report).arg("--out").arg(directory.join("out")).arg(&input), b"").expect(0);
    assert!(
        run.stderr.starts_with("sitemill: about 6,000 URLs in 256 partitions; memory "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains(" of 1.00 GiB, no scratch, sitemaps "), "{}", run.stderr);
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    assert_eq!(report["needs"]["urls"], 6_000);
    assert_eq!(report["needs"]["memory_bytes"], 1 << 30);
    assert_eq!(report["needs"]["scratch_bytes"], 0);
}

#[test]
fn memory_that_cannot_be_had_is_told_with_its_exit_code() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", (0..400_000).map(|n| format!("{BASE}{n}\n")).collect::<String>());
    let mut codes = Vec::new();
    for (at, mib) in [60, 90, 120, 200, 300, 500, 4_000].into_iter().enumerate() {
        for order in ["input", "sorted"] {
            let out = directory.join(format!("{order}-{at}"));
            finish(&mut build_command(&out, BASE), format!("{BASE}live\n").as_bytes()).expect(0);
            let live = contents(&out);
            let mut command = Command::new("prlimit");
            command.arg(format!("--as={}", mib << 20)).arg(env!("CARGO_BIN_EXE_sitemill"));
            command.args(["build", "--quiet", "--threads", "2", "--memory", "100MiB", "--order", order]);
            let run = finish(command.args(["--base-url", BASE, "--out"]).arg(&out).arg(&input), b"");
            codes.push(run.exit);
            match run.exit {
                0 => assert_eq!(published_urls(&out, BASE).len(), 400_000),
                71 => {
                    // What grows is refused with the way out; the last few bytes, by the standard library.
                    let words = ["--memory", "address space", "memory allocation of", "--threads"];
                    assert!(words.iter().any(|words| run.stderr.contains(words)), "{}", run.stderr);
                    assert!(contents(&out) == live, "{mib} MiB, {order}");
                }
                code => panic!("{mib} MiB, {order}: exit {code}, {}", run.stderr),
            }
        }
    }
    assert!(codes.contains(&0) && codes.contains(&71), "{codes:?}");
}
