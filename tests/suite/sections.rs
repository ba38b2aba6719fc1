//! Sections: parts of a set with sitemaps and index files of their own.

mod guards;
mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Run, TempDir, finish, published_urls, run, sitemill};

const BASE: &str = "https://www.example.com/";

/// A directory in which sets with sections are built.
struct Desk {
    directory: TempDir,
}

/// A build with its report.
struct Built {
    run: Run,
    report: Value,
}

impl Desk {
    fn new() -> Self {
        Self { directory: TempDir::new() }
    }

    fn out(&self) -> PathBuf {
        self.directory.join("out")
    }

    /// Builds a set of `input`, whose name has the ending `kind`.
    #[track_caller]
    fn build(&self, kind: &str, input: impl AsRef<[u8]>, options: &[&str], exit: i32) -> Built {
        let input = self.directory.file(&format!("urls.{kind}"), input);
        let mut command = sitemill();
        command.args(["build", "--out", "out", "--report", "report.json"]);
        if !options.contains(&"--base-url") {
            command.args(["--base-url", BASE]);
        }
        let run =
            finish(command.args(options).arg(input).current_dir(self.directory.path()), b"").expect(exit);
        let report = fs::read(self.directory.join("report.json")).unwrap();
        Built { run, report: serde_json::from_slice(&report).unwrap() }
    }

    /// The paths of the URLs in each section, by the word in file names, in the order of the set. The set passes every check, and
    /// its index files are named in the robots lines.
    #[track_caller]
    fn sections(&self) -> BTreeMap<String, Vec<String>> {
        sections_in(&self.out(), BASE)
    }
}

#[track_caller]
fn sections_in(out: &Path, base: &str) -> BTreeMap<String, Vec<String>> {
    run(["check", out.to_str().unwrap()]).expect(0);
    let robots = fs::read_to_string(out.join("robots-sitemaps.txt")).unwrap();
    let mut sections = BTreeMap::new();
    for line in robots.lines() {
        let index = line.strip_prefix(&format!("Sitemap: {base}")).unwrap();
        let (stem, number) = index.strip_suffix(".xml").unwrap().rsplit_once("-index-").unwrap();
        let word = stem.strip_prefix("sitemap").unwrap().trim_start_matches('-').to_owned();
        let listed = run(["urls", out.join(index).to_str().unwrap()]).expect(0).stdout;
        let listed = String::from_utf8(listed).unwrap();
        let xml = fs::read_to_string(out.join(index)).unwrap();
        let files: Vec<&str> = xml.split("<loc>").skip(1).map(|loc| loc.split('<').next().unwrap()).collect();
        let own = |file: &&str| {
            let rest = file.strip_prefix(&format!("{base}{stem}-"));
            rest.is_some_and(|rest| {
                rest.starts_with(|c: char| c.is_ascii_digit()) && rest.matches('-').count() == 1
            })
        };
        assert!(files.iter().all(own), "{index}: {files:?}");
        let urls: &mut Vec<String> = sections.entry(word).or_default();
        assert!(number != "1" || urls.is_empty());
        urls.extend(listed.lines().map(|url| url.strip_prefix(base).unwrap_or(url).to_owned()));
    }
    sections
}

fn owned(sections: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    let each = sections
        .iter()
        .map(|(word, urls)| (word.to_string(), urls.iter().map(ToString::to_string).collect()));
    each.collect()
}

#[test]
fn every_format_with_columns_has_sections_in_a_column_and_the_first_row_of_a_url_decides() {
    let rows =
        [("b/1", "shoes"), ("a/1", "hats"), ("b/1", "hats"), ("c/1", ""), ("a/0", "hats"), ("d/1", "rest")];
    let csv: String = rows.iter().map(|(url, section)| format!("{BASE}{url},{section}\n")).collect();
    let jsonl = rows.map(|(url, section)| match section {
        "" => json!({ "url": format!("{BASE}{url}") }).to_string() + "\n",
        _ => json!({ "url": format!("{BASE}{url}"), "type": section }).to_string() + "\n",
    });
    let google = rows.map(|(url, section)| format!("{BASE}{url} type={section}\n"));
    let want: [(&str, &[&str]); 3] =
        [("hats", &["a/1", "a/0"]), ("rest", &["c/1", "d/1"]), ("shoes", &["b/1"])];
    for (kind, input) in [
        ("csv", format!("url,type\n{csv}")),
        ("tsv", format!("url,type\n{csv}").replace(',', "\t")),
        ("jsonl", jsonl.concat()),
        ("txt", google.concat()),
    ] {
        let desk = Desk::new();
        let built = desk.build(kind, &input, &["--section-column", "type"], 0);
        assert_eq!(desk.sections(), owned(&want), "{kind}");
        assert_eq!(built.report["duplicates"], 1);
        assert_eq!(built.report["sections"][0]["name"], "hats");
        assert_eq!(built.report["sections"][0]["listed"], 2);
        assert_eq!(
            built.report["sections"][0]["index_urls"],
            json!(["https://www.example.com/sitemap-hats-index-1.xml"])
        );
        assert!(built.run.stderr.contains("sections"), "{}", built.run.stderr);
        // Sorted, stable, with little memory, and again: the files are the same.
        desk.build(kind, &input, &["--section-column", "type", "--order", "sorted"], 0);
        let sorted: [(&str, &[&str]); 3] =
            [("hats", &["a/0", "a/1"]), ("rest", &["c/1", "d/1"]), ("shoes", &["b/1"])];
        assert_eq!(desk.sections(), owned(&sorted), "{kind}");
        desk.build(kind, &input, &["--section-column", "type", "--order", "sorted", "--divide", "stable"], 0);
        assert_eq!(desk.sections(), owned(&sorted), "{kind}");
    }
    // Positions, without a header.
    let desk = Desk::new();
    desk.build("csv", &csv, &["--columns", "url=1", "--section-column", "2"], 0);
    assert_eq!(desk.sections(), owned(&want));
}

#[test]
fn inputs_without_such_a_column_are_refused() {
    let desk = Desk::new();
    for (kind, input, exit, says) in [
        (
            "txt",
            format!("{BASE}a\n"),
            65,
            "list with attributes; convert it to one of them, or let rules or the path",
        ),
        ("csv", format!("url,kind\n{BASE}a,b\n"), 65, "no column type, only: url, kind"),
    ] {
        let built = desk.build(kind, input, &["--section-column", "type"], exit);
        assert!(built.run.stderr.contains(says), "{}", built.run.stderr);
    }
    let both = desk.build("csv", "url,type\n", &["--columns", "url=1", "--section-column", "type"], 2);
    assert!(both.run.stderr.contains("columns are all names or all positions"), "{}", both.run.stderr);
    let many = "url,type\n".to_owned() + &(0..7).map(|n| format!("{BASE}{n},type-{n}\n")).collect::<String>();
    let refused = desk.build("csv", &many, &["--section-column", "type", "--sections-max", "6"], 65);
    assert!(refused.run.stderr.contains("7 sections or more, such as type-"), "{}", refused.run.stderr);
    desk.build("csv", &many, &["--section-column", "type", "--sections-max", "7"], 0);
    let wrong = desk.build("csv", &many, &["--section-column", "type", "--sections-max", "0"], 2);
    assert!(wrong.run.stderr.contains("--sections-max 0"), "{}", wrong.run.stderr);
}

#[test]
fn no_two_sections_share_a_file_whatever_their_names_are() {
    let long = "l".repeat(200);
    let names =
        ["shoes", "Shoes", "SHOES", "../x", "..", "a/b", "é", "index", "00001", "", &long, "shoes-x00000000"];
    let rows: String = (0..)
        .zip(names)
        .map(|(n, name)| json!({ "url": format!("{BASE}{n}"), "type": name }).to_string() + "\n")
        .collect();
    let desk = Desk::new();
    let built = desk.build("jsonl", rows, &["--section-column", "type"], 0);
    let sections = desk.sections();
    assert_eq!(sections.len(), names.len());
    assert!(sections.values().all(|urls| urls.len() == 1));
    assert_eq!(sections["shoes"], ["0"]);
    assert_eq!(sections["index"], ["7"]);
    // On a file system that ignores case, too.
    let lower: BTreeSet<String> = sections.keys().map(|word| word.to_lowercase()).collect();
    assert_eq!(lower.len(), names.len());
    let words = built.report["sections"].as_array().unwrap();
    let named = |name: &str| {
        words.iter().find(|section| section["name"] == name).unwrap()["file_word"].as_str().unwrap()
    };
    assert!(named("../x").starts_with("x-x"), "{}", named("../x"));
    assert!(named(&long).len() <= 40);
    assert!(built.run.stderr.contains("in files"), "{}", built.run.stderr);
    let outside: Vec<_> = fs::read_dir(desk.directory.path()).unwrap().collect();
    assert_eq!(outside.len(), 3, "the input, the report and the set: {outside:?}");
}

#[test]
fn rules_decide_in_the_order_of_the_file_and_their_urls_are_counted() {
    let rules = "products = ['/p/', '/products/']\nhelp = ['https://www\\.example\\.com/(faq|help)\\b', '\\.pdf$']\nall-p = ['/p', '/never/']\nrest = 'other'\n";
    let desk = Desk::new();
    desk.directory.file("sections.toml", rules);
    let input = ["p/1", "faq/1", "products/1", "px", "x/p/1", "helping", "help?p=1", "p/1"];
    let input: String = input.iter().map(|path| format!("{BASE}{path}\n")).collect();
    let built = desk.build("txt", &input, &["--sections", "sections.toml"], 0);
    let want: [(&str, &[&str]); 4] = [
        ("all-p", &["px"]),
        ("help", &["faq/1", "help?p=1"]),
        ("other", &["x/p/1", "helping"]),
        ("products", &["p/1", "products/1"]),
    ];
    assert_eq!(desk.sections(), owned(&want));
    let counts = json!({
        "products": { "/p/": 1, "/products/": 1 },
        "help": { r"https://www\.example\.com/(faq|help)\b": 2, r"\.pdf$": 0 },
        "all-p": { "/p": 1, "/never/": 0 },
    });
    assert_eq!(built.report["section_rules"], counts);
    for idle in [
        "section help: no URL is listed because of \\.pdf$\n",
        "section all-p: no URL is listed because of /never/\n",
    ] {
        assert!(built.run.stderr.contains(idle), "{}", built.run.stderr);
    }
    // An empty section is refused like an empty set.
    desk.directory.file("sections.toml", format!("{rules}\n").replace("'/p', ", ""));
    let refused = desk.build("txt", &input, &["--sections", "sections.toml"], 65);
    assert!(refused.run.stderr.contains("section all-p"), "{}", refused.run.stderr);
    assert_eq!(desk.sections(), owned(&want), "the live set is as it was");
    desk.build("txt", &input, &["--sections", "sections.toml", "--allow-empty"], 0);
    assert_eq!(desk.sections()["other"], ["px", "x/p/1", "helping"]);
    assert!(!desk.sections().contains_key("all-p"));
    for (rules, says) in
        [("a = '('", "section a: pattern (: column 1"), ("a = [", "line 1"), ("", "has no sections")]
    {
        desk.directory.file("sections.toml", rules);
        let refused = desk.build("txt", &input, &["--sections", "sections.toml"], 2);
        assert!(refused.run.stderr.contains(says), "{}", refused.run.stderr);
    }
    desk.build("txt", &input, &["--sections", "missing.toml"], 66);
}

#[test]
fn the_segments_with_the_most_urls_are_sections_and_the_others_are_the_rest() {
    let desk = Desk::new();
    let input: String = (0..20)
        .flat_map(|n| (0..=n).map(move |at| format!("{BASE}s{n}/{at}\n")))
        .chain([BASE.to_owned() + "\n", format!("{BASE}?x=s1/\n")])
        .collect();
    desk.build("txt", &input, &["--section-by-path", "--sections-max", "20"], 0);
    let all = desk.sections();
    assert_eq!((all.len(), all["s19"].len(), all["s0"].len(), all["rest"].len()), (21, 20, 1, 2));
    for order in ["input", "sorted"] {
        let options = [
            "--section-by-path",
            "--sections-max",
            "3",
            "--order",
            order,
            "--allow-empty",
            "--max-shrink",
            "100%",
        ];
        desk.build("txt", &input, &options, 0);
        let most = desk.sections();
        assert_eq!(most.keys().collect::<Vec<_>>(), ["rest", "s17", "s18", "s19"]);
        assert_eq!(most.values().map(Vec::len).sum::<usize>(), 212);
        assert!(order == "input" || most["rest"].is_sorted());
    }
}

#[test]
fn unchanged_sections_keep_their_files_and_index_files_are_limited_for_each() {
    let desk = Desk::new();
    let rows = |more: &str| {
        let rows: String = (0..400)
            .map(|n| format!("{BASE}{n:03},{}\n", if n % 3 == 0 { "third" } else { "others" }))
            .collect();
        format!("url,type\n{rows}{more}")
    };
    let options = ["--section-column", "type", "--urls-per-sitemap", "10", "--sitemaps-per-index", "9"];
    let built = desk.build("csv", rows(""), &options, 0);
    let indexes = |at: usize| built.report["sections"][at]["index_urls"].as_array().unwrap().len();
    assert_eq!((built.report["sections"][0]["sitemaps"].as_u64(), indexes(0)), (Some(27), 3));
    assert_eq!((built.report["sections"][1]["sitemaps"].as_u64(), indexes(1)), (Some(14), 2));
    let names = |section: &str| -> BTreeSet<String> {
        let all =
            fs::read_dir(desk.out()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        all.filter(|name| name.starts_with(&format!("sitemap-{section}-0"))).collect()
    };
    // An index file of a section that the robots lines do not name.
    let robots = desk.out().join("robots-sitemaps.txt");
    let lines = fs::read_to_string(&robots).unwrap();
    fs::write(&robots, lines.replace(&format!("Sitemap: {BASE}sitemap-third-index-2.xml\n"), "")).unwrap();
    let checked = run(["check", desk.out().to_str().unwrap()]).expect(65);
    let said = String::from_utf8(checked.stdout).unwrap();
    let words = "no line names sitemap-third-index-2.xml";
    assert!(said.contains(words) && !said.contains("unlisted"), "{said}");
    assert!(run(["urls", desk.out().to_str().unwrap()]).expect(65).stderr.contains(words));
    fs::write(&robots, lines).unwrap();
    let (third, others) = (names("third"), names("others"));
    desk.build("csv", rows(&format!("{BASE}new,third\n")), &options, 0);
    assert_eq!(names("others"), others);
    assert_eq!(names("third").difference(&third).count(), 1);
    assert_eq!(published_urls(&desk.out(), BASE).len(), 401);
}

#[test]
fn each_origin_has_its_own_sections_and_a_dry_run_tells_them() {
    let desk = Desk::new();
    let rows: String = (0..30)
        .map(|n| format!("https://{}.example/{n},{}\n", ["a", "b"][n % 2], ["x", "y", "z"][n % 3]))
        .collect();
    let input = format!("url,type\n{rows}");
    let options = ["--base-url", "{origin}/", "--section-column", "type"];
    let dry = desk.build("csv", &input, &[&options[..], &["--dry-run"]].concat(), 0);
    assert_eq!(dry.report["sets"][1]["sections"][2]["listed"], 5);
    assert!(!desk.out().exists());
    let built = desk.build("csv", &input, &options, 0);
    for (at, host) in ["a.example", "b.example"].into_iter().enumerate() {
        let sections = sections_in(&desk.out().join(host), &format!("https://{host}/"));
        assert_eq!(sections.keys().collect::<Vec<_>>(), ["x", "y", "z"]);
        assert!(sections.values().all(|urls| urls.len() == 5));
        assert_eq!(built.report["sets"][at]["sections"].as_array().unwrap().len(), 3);
    }
}

#[test]
fn a_thousand_sections_need_few_open_files_and_little_memory() {
    let desk = Desk::new();
    let mut rows = String::from("url,type\n");
    (0..100_000).for_each(|n| rows += &format!("{BASE}page/{n},section-{}\n", n * 7 % 1_000));
    let input = desk.directory.file("many.csv", rows);
    for order in ["input", "sorted"] {
        let script = format!(
            "ulimit -n 64; exec {} build {} --base-url {BASE} --out out-{order} --section-column type --order {order} --memory 96M --threads 2 --quiet",
            env!("CARGO_BIN_EXE_sitemill"),
            input.display()
        );
        let mut shell = std::process::Command::new("sh");
        finish(shell.args(["-c", &script]).current_dir(desk.directory.path()), b"").expect(0);
        let out = desk.directory.join(format!("out-{order}"));
        assert_eq!(published_urls(&out, BASE).len(), 100_000);
        let robots = fs::read_to_string(out.join("robots-sitemaps.txt")).unwrap();
        assert_eq!(robots.lines().count(), 1_000);
    }
}

#[test]
fn two_ways_at_once_are_refused() {
    let desk = Desk::new();
    let both = desk.build("csv", "url,type\n", &["--section-column", "type", "--section-by-path"], 2);
    assert!(both.run.stderr.contains("cannot be used with"), "{}", both.run.stderr);
}
