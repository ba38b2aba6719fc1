//! `--order sorted`, `--memory` and `--scratch`: effects on the output, resources and errors.

use std::fs;
use std::path::Path;
use std::process::Command;

use indicatif::HumanBytes;
use serde_json::Value;

use super::support::*;

const BASE: &str = "https://www.example.com/";

/// Lines with duplicates and some refused ones, in an order that depends on `seed`.
fn lines(seed: usize) -> String {
    let mut lines: Vec<String> = (0..6_000)
        .map(|n| match n % 13 {
            0 => format!("no url {n}\n"),
            1 => "\n".into(),
            _ => format!("{BASE}{}/ü {}?a&b\n", n % 17, n * 31 % 4_001),
        })
        .collect();
    // A stride that is coprime to the number of lines visits each of them once.
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
fn a_larger_sorted_set_depends_on_neither_ranges_nor_threads_nor_input_order() {
    const LINES: usize = 300_000;
    const PAGES: usize = 280_001;
    let directory = TempDir::new();
    // More lines than fit one range, some equal to a distant one.
    let page = |n: usize| format!("{BASE}{}/a-page-of-the-shop/{:07}\n", n % 17, n * 7_919 % PAGES);
    let mut sets = Vec::new();
    for (shuffle, step) in [1, 49_999].into_iter().enumerate() {
        let text: String = (0..LINES).map(|at| page(at * step % LINES % PAGES)).collect();
        assert!(text.len() > 12 << 20);
        let input = directory.file("urls.txt", text);
        for (threads, memory) in [("1", "2GiB"), ("2", "90MiB"), ("5", "150MiB")] {
            let out = directory.join(format!("out-{shuffle}-{threads}"));
            let mut command = build_command(&out, BASE);
            command.args(["--order", "sorted", "--threads", threads, "--memory", memory, "--level", "1"]);
            let report = finish(command.arg("--json").arg(&input), b"").expect(0).stdout;
            let report: Value = serde_json::from_slice(&report).unwrap();
            assert!(report["needs"]["partitions"].as_u64().unwrap() > 2, "{report}");
            assert_eq!(report["duplicates"], LINES - PAGES);
            let read = |file: String| (fs::read(out.join(&file)).unwrap(), file);
            sets.push(files(&out).into_iter().map(read).collect::<Vec<_>>());
        }
    }
    assert!(sets[0].len() > 6 && sets.iter().all(|set| *set == sets[0]));
}

#[test]
fn newest_lists_the_same_row_in_any_order_and_first_lists_the_first() {
    let directory = TempDir::new();
    // Each page has six rows on two days. Some days have two spellings, and some rows have other tags or none.
    let row = |n: usize| {
        let lastmod = ["", "2026-05-01", "2026-05-01T00:00:00Z", "2026-04-30"][n / 500 % 4];
        format!("{BASE}{},{lastmod},{}\n", n % 500, ["", "0.3", "0.7"][n / 500 % 3])
    };
    let rows: Vec<String> = (0..6_000).map(row).collect();
    let listed = |name: &str, on_duplicate: &str, step: usize| {
        let rows: String = (0..rows.len()).map(|at| rows[at * step % rows.len()].as_str()).collect();
        let input = directory.file("urls.csv", format!("url,lastmod,priority\n{rows}"));
        let out = directory.join(format!("{name}-{step}"));
        let report = build(&out, &input, &["--order", "sorted", "--on-duplicate", on_duplicate]);
        assert_eq!((&report["listed"], &report["duplicates"]), (&500.into(), &5_500.into()));
        published(&out, BASE).into_iter().filter(|(file, _)| file.ends_with(".gz")).collect::<Vec<_>>()
    };
    let newest = listed("newest", "newest", 1);
    let entry = |tags: &str| format!("<url><loc>{BASE}7</loc>{tags}</url>\n");
    let tags = "<lastmod>2026-05-01T00:00:00Z</lastmod><priority>0.7</priority>";
    assert!(newest[0].1.contains(&entry(tags)), "{}", newest[0].1);
    for step in [5_999, 7, 1_501] {
        assert!(listed("newest", "newest", step) == newest, "every {step}th row");
    }
    // With `first`, the result depends on the order of the input.
    assert!(listed("first", "first", 1)[0].1.contains(&entry("")));
    assert!(!listed("first", "first", 5_999)[0].1.contains(&entry("")));
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
    for (threads, said) in [
        ("4", "--memory is 64 MiB: 4 threads need 104 MiB; use --memory 104MiB, or fewer --threads\n"),
        ("1", "--memory is 64 MiB: 1 thread needs 68 MiB; use --memory 68MiB\n"),
    ] {
        let mut command = sitemill();
        command.args(["build", "--base-url", BASE, "--memory", "64MiB", "--threads", threads, "--out"]);
        let refused = finish(command.arg(directory.join("out")).arg(&input), b"").expect(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

#[test]
fn without_threads_there_are_as_many_as_fit_in_the_memory() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", lines(0));
    let report = directory.join("report.json");
    // 68 MiB are the least for one thread, and a second one needs 12 more.
    let mut command = build_command(&directory.join("out"), BASE);
    finish(command.args(["--memory", "79MiB", "--report"]).arg(&report).arg(&input), b"").expect(0);
    let report: Value = serde_json::from_slice(&fs::read(report).unwrap()).unwrap();
    assert_eq!(report["threads"], 1);
    let mut command = build_command(&directory.join("out"), BASE);
    let refused = finish(command.args(["--memory", "79MiB", "--threads", "2"]).arg(&input), b"").expect(2);
    assert!(refused.stderr.contains("2 threads need 80 MiB"), "{}", refused.stderr);
}

#[test]
fn the_resources_that_a_run_needs_are_in_the_report() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", lines(0));
    let report = directory.join("report.json");
    let mut command = sitemill();
    command.args(["build", "--base-url", BASE, "--progress", "always", "--memory", "1GiB", "--report"]);
    let run = finish(command.arg(&report).arg("--out").arg(directory.join("out")).arg(&input), b"").expect(0);
    // A short run that needs no scratch does not print its plan.
    assert!(run.stderr.starts_with("survey: "), "{}", run.stderr);
    let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
    // Refused and blank lines need nothing.
    let [listed, duplicates] = ["listed", "duplicates"].map(|count| report[count].as_u64().unwrap());
    assert!(listed + duplicates < 6_000);
    assert_eq!(report["needs"]["urls"], listed + duplicates);
    assert_eq!(report["needs"]["memory_bytes"], 1 << 30);
    assert_eq!(report["needs"]["scratch_bytes"], 0);
}

#[test]
fn the_plan_of_a_run_with_scratch_names_its_size_and_free_space_in_the_first_line() {
    let directory = TempDir::new();
    let text = (0..20_000).map(|n| format!("{BASE}{}/{n:x}\n", n % 17)).collect::<String>();
    let (plain, packed) =
        (directory.file("urls.txt", &text), directory.file("urls.gz", gzip(text.as_bytes())));
    let scratch = directory.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let mut df = Command::new("df");
    let disk = finish(df.args(["-B1", "--output=size"]).arg(&scratch), b"").expect(0);
    let disk_bytes: u64 =
        String::from_utf8(disk.stdout).unwrap().lines().last().unwrap().trim().parse().unwrap();
    let run = |name: &str, options: &[&str], input: &Path| {
        let (out, report) = (directory.join(name), directory.join(format!("{name}.json")));
        let mut command = sitemill();
        command.arg("build").args(options).arg(input).arg("--out").arg(out);
        command.arg("--report").arg(&report).arg("--scratch").arg(&scratch).args(["--log", "json"]);
        let said = finish(&mut command, b"").expect(0).stderr;
        (said, serde_json::from_slice::<Value>(&fs::read(&report).unwrap()).unwrap())
    };
    let here = &["--base-url", BASE][..];
    let sites = &["--base-url", "{origin}/"][..];
    // Too little memory for entries.
    let sorted = &["--order", "sorted", "--threads", "1", "--memory", "68MiB"][..];
    let scratch_bytes = |name: &str, options: &[&[&str]], input: &Path| {
        let (said, report) = run(name, &options.concat(), input);
        let needs = &report["needs"];
        let of = |count: &str| needs[count].as_u64().unwrap();
        let human = |count: &str| HumanBytes(of(count)).to_string();
        let line: Value = serde_json::from_str(said.lines().next().unwrap()).unwrap();
        let line = line["message"].as_str().unwrap();
        if of("scratch_bytes") == 0 {
            assert!(line.starts_with("about 20,000 URLs: ") && line.contains(", no scratch, "), "{said}");
            return 0;
        }
        let scratch = format!("scratch {} ({} free)", human("scratch_bytes"), human("scratch_free_bytes"));
        let sitemaps = format!("sitemaps {} ({} free)", human("sitemap_bytes"), human("out_free_bytes"));
        assert!(line.starts_with("about 20,000 URLs: ") && line.contains(&scratch), "{said}");
        assert!(line.ends_with(&sitemaps), "{said}");
        for free in ["scratch_free_bytes", "out_free_bytes"] {
            assert!((1 << 20..=disk_bytes).contains(&of(free)), "{free}: {needs}");
        }
        of("scratch_bytes")
    };
    // Rows take at most twice the bytes of the input.
    let entries = text.len() as u64..2 * text.len() as u64;
    assert_eq!(scratch_bytes("plain", &[here], &plain), 0);
    assert_eq!(scratch_bytes("packed", &[here], &packed), text.len() as u64);
    let in_ranges = scratch_bytes("sorted", &[here, sorted], &plain);
    assert_eq!(scratch_bytes("sites", &[sites], &plain), 0);
    let of_sites = scratch_bytes("sites-in-scratch", &[sites, &sorted[2..]], &plain);
    assert!(entries.contains(&in_ranges) && entries.contains(&of_sites), "{in_ranges}, {of_sites}");
    assert_eq!(scratch_bytes("sorted-sites", &[sites, sorted], &plain), in_ranges + of_sites);

    let (_, report) = run("stored", &["--base-url", BASE, "--level", "0"], &plain);
    let [expected, written] = [&report["needs"]["sitemap_bytes"], &report["gzip_bytes"]];
    let ratio = expected.as_f64().unwrap() / written.as_f64().unwrap();
    assert!((0.95..1.05).contains(&ratio), "{expected} bytes expected, {written} written");
    let (said, _) = run("quiet", &["--quiet", "--base-url", BASE], &plain);
    assert_eq!(said, "");
}

#[test]
fn memory_that_cannot_be_allocated_is_reported_with_its_exit_code_its_bytes_and_the_way_out() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", (0..400_000).map(|n| format!("{BASE}{n}\n")).collect::<String>());
    let (mut refusals, mut aborts) = (0, 0);
    for options in [["--order", "input"], ["--order", "sorted"], ["--on-duplicate", "newest"]] {
        let (mut listed, mut with_way_out) = (0, 0);
        for mib in (24..=60).chain([90, 200, 4_000]) {
            let out = directory.join(format!("{}-{mib}", options[1]));
            finish(&mut build_command(&out, BASE), format!("{BASE}live\n").as_bytes()).expect(0);
            let live = contents(&out);
            let mut command = Command::new("prlimit");
            // If memory runs out while the standard library prints a backtrace, it waits for its own lock forever.
            command.env("RUST_BACKTRACE", "0");
            command.arg(format!("--as={}", mib << 20)).arg(env!("CARGO_BIN_EXE_sitemill"));
            command.args(["build", "--quiet", "--threads", "2", "--memory", "100MiB"]).args(options);
            let run = finish(command.args(["--base-url", BASE, "--out"]).arg(&out).arg(&input), b"");
            match run.exit {
                0 => {
                    assert_eq!(published_urls(&out, BASE).len(), 400_000);
                    listed += 1;
                }
                71 => {
                    let says = |words| run.stderr.contains(words);
                    let bytes =
                        run.stderr.split_once("no memory for ").and_then(|(_, rest)| rest.split_once(' '));
                    let has_way_out = says("--memory")
                        && bytes.is_some_and(|(n, _)| n.replace(',', "").parse::<u64>().is_ok());
                    let is_abort = says("memory allocation of");
                    // A thread or a mapping that the system refuses has nothing to do with --memory.
                    let is_by_system = says("--threads") || says("address space");
                    assert!(has_way_out || is_abort || is_by_system, "{}", run.stderr);
                    assert!(!is_abort || says("--memory"), "{}", run.stderr);
                    assert!(contents(&out) == live, "{mib} MiB, {options:?}");
                    with_way_out += u32::from(has_way_out);
                    aborts += u32::from(is_abort);
                    refusals += 1;
                }
                code => panic!("{mib} MiB, {options:?}: exit {code}, {}", run.stderr),
            }
        }
        assert!(listed > 0 && with_way_out > 0, "{options:?}: {listed} listed, {with_way_out} told");
    }
    // The fixed memory of a thread, mostly its compressor, is allocated by the standard library, which aborts.
    assert!(2 * aborts < refusals, "{aborts} of {refusals} aborted");
}
