//! Golden cases: `testdata/cases/NAME/` holds inputs and arguments, and in `want/` the complete expected output.
//!
//! `testdata/README.md` describes how to add a case. `SITEMILL_BLESS=1` replaces the expected output with the actual
//! one; review the difference before you commit it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::support::{self, ROBOTS_FILE, TempDir};

/// File names and contents, as in `want/`.
type Files = BTreeMap<String, Vec<u8>>;

#[test]
fn every_case_gives_its_expected_output_with_any_number_of_threads() {
    let bless = std::env::var_os("SITEMILL_BLESS").is_some();
    let cases = cases();
    let mut failures = Vec::new();
    for case in &cases {
        // Names the case if it panics before the differences are printed.
        println!("case {}", case.name);
        for threads in [1, 3] {
            let got = case.run(threads);
            if bless && threads == 1 {
                case.bless(&got);
            }
            let found = differences(&case.wanted(), &got);
            failures.extend(found.iter().map(|found| format!("{}, --threads {threads}: {found}", case.name)));
        }
    }
    assert!(!cases.is_empty(), "testdata/cases is empty");
    let (number, all) = (failures.len(), failures.join("\n\n"));
    assert!(failures.is_empty(), "{number} differences (testdata/README.md explains them)\n\n{all}\n");
}

/// One directory of `testdata/cases`.
struct Case {
    name: String,
    directory: PathBuf,
    args: Vec<String>,
    stdin: Vec<u8>,
}

fn cases() -> Vec<Case> {
    let directory = support::testdata().join("cases");
    let case = |name: String| {
        let directory = directory.join(&name);
        let args =
            fs::read_to_string(directory.join("args")).unwrap_or_else(|error| panic!("{name}/args: {error}"));
        let args = args.lines().map(str::to_owned).collect();
        let stdin = fs::read(directory.join("stdin.txt")).unwrap_or_default();
        Case { name, directory, args, stdin }
    };
    support::files(&directory).into_iter().map(case).collect()
}

impl Case {
    /// The complete output, with the names and masks of `want/`.
    fn run(&self, threads: u32) -> Files {
        let temp = TempDir::new();
        let [out, report, rejects] = ["out", "report.json", "rejects.tsv"].map(|name| temp.join(name));
        let mut command = support::sitemill();
        // The rejects contain the input names, which must not depend on the machine.
        command.current_dir(&self.directory).arg("build").args(&self.args);
        command.args(["--quiet", "--threads", &threads.to_string()]);
        command.arg("--out").arg(&out).arg("--report").arg(&report).arg("--rejects").arg(&rejects);
        let run = support::finish(&mut command, &self.stdin);

        let mut files = Files::new();
        if run.exit != 0 {
            files.insert("exit".to_owned(), format!("{}\n", run.exit).into_bytes());
        }
        if let Ok(rows) = fs::read(rejects) {
            files.insert("rejects.tsv".to_owned(), rows);
        }
        if let Some(counts) = Counts::read(&report) {
            files.insert("report.json".to_owned(), counts.to_json());
        }
        self.add_published(&out, &mut files);
        files
    }

    /// Adds the set in `out`, with its sitemaps decompressed, and every file that no crawler would find.
    fn add_published(&self, out: &Path, files: &mut Files) {
        let mut strangers: BTreeSet<String> = support::files(out).into_iter().collect();
        if strangers.remove(ROBOTS_FILE) {
            let robots = fs::read(out.join(ROBOTS_FILE)).expect("the robots file exists");
            let base_url = directory_of_first_url(&robots);
            support::assert_valid_set(out, &base_url, self.protocol());
            for (file, xml) in support::published(out, &base_url) {
                strangers.remove(&file);
                let xml = if file.ends_with(".gz") { xml } else { masked(&xml) };
                files.insert(masked(&file).replace("-XXXXXXXX.xml.gz", ".xml"), xml.into_bytes());
            }
            files.insert(ROBOTS_FILE.to_owned(), robots);
        }
        for stranger in strangers {
            let content = fs::read(out.join(&stranger)).unwrap_or_default();
            files.insert(format!("{stranger} (which no index file names)"), content);
        }
    }

    fn protocol(&self) -> &str {
        self.args.iter().find_map(|arg| arg.strip_prefix("--protocol=")).unwrap_or("0.9")
    }

    fn wanted(&self) -> Files {
        let want = self.directory.join("want");
        let read = |name: String| {
            let content = fs::read(want.join(&name)).expect("an expected file can be read");
            (name, content)
        };
        support::files(&want).into_iter().map(read).collect()
    }

    fn bless(&self, got: &Files) {
        let changed = differences(&self.wanted(), got).len();
        if changed == 0 {
            return;
        }
        let want = self.directory.join("want");
        let _ = fs::remove_dir_all(&want);
        fs::create_dir(&want).expect("the case can be written to");
        for (name, content) in got {
            fs::write(want.join(name), content).expect("the case can be written to");
        }
        // Written directly, because the harness hides the output of passing tests.
        let said = format!("\nSITEMILL_BLESS: {changed} files of {} rewritten; read them\n", self.name);
        std::io::stderr().write_all(said.as_bytes()).expect("standard error is open");
    }
}

/// The fields of a report that are the same in every run.
#[derive(Deserialize, Serialize)]
struct Counts {
    lines: u64,
    blank: u64,
    listed: u64,
    duplicates: u64,
    rejected: BTreeMap<String, u64>,
    sitemaps: u64,
    indexes: u64,
    xml_bytes: u64,
}

impl Counts {
    /// `None` if there is no report, or if the run failed before it had counted.
    fn read(report: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(report).ok()?).ok()
    }

    fn to_json(&self) -> Vec<u8> {
        let json = serde_json::to_string_pretty(self).expect("numbers and names are JSON");
        format!("{json}\n").into_bytes()
    }
}

/// The directory of the first robots line. [`support::published`] checks that the others name the same one.
fn directory_of_first_url(robots: &[u8]) -> String {
    let robots = str::from_utf8(robots).expect("robots lines are text");
    let url = robots.lines().next().and_then(|line| line.strip_prefix("Sitemap: ")).expect("a robots line");
    url[..=url.rfind('/').expect("a URL has slashes")].to_owned()
}

/// `text` with XXXXXXXX in place of the eight hash digits in sitemap names.
fn masked(text: &str) -> String {
    const END: &str = ".xml.gz";
    let mask = |part: &str| {
        let digits_at = part.strip_suffix(END)?.len().checked_sub(8)?;
        let (before, digits) = part.strip_suffix(END)?.split_at_checked(digits_at)?;
        let is_hash = before.ends_with('-') && digits.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        is_hash.then(|| format!("{before}XXXXXXXX{END}"))
    };
    text.split_inclusive(END).map(|part| mask(part).unwrap_or_else(|| part.to_owned())).collect()
}

/// A message for each file that is missing, unexpected or different.
fn differences(want: &Files, got: &Files) -> Vec<String> {
    let names: BTreeSet<&String> = want.keys().chain(got.keys()).collect();
    let difference = |name: &String| match (want.get(name), got.get(name)) {
        (Some(want), Some(got)) if want == got => None,
        (Some(want), Some(got)) => Some(format!("{name}, {}", first_difference(want, got))),
        (Some(_), None) => Some(format!("{name} is missing")),
        (None, _) => Some(format!("{name} is unexpected")),
    };
    names.into_iter().filter_map(difference).collect()
}

fn first_difference(want: &[u8], got: &[u8]) -> String {
    let lines = |text| <[u8]>::split_inclusive(text, |&byte| byte == b'\n').collect::<Vec<_>>();
    let (want, got) = (lines(want), lines(got));
    let at = want.iter().zip(&got).take_while(|(want, got)| want == got).count();
    // Escaped, to show missing line ends and invisible characters.
    let line = |lines: &[&[u8]]| {
        lines.get(at).map_or("nothing more".to_owned(), |line| line.escape_ascii().to_string())
    };
    format!("line {}:\n  want {}\n  got  {}", at + 1, line(&want), line(&got))
}

#[test]
fn a_difference_says_in_which_file_and_line_it_is() {
    let files = |files: &[(&str, &str)]| -> Files {
        files.iter().map(|(name, content)| (name.to_string(), content.as_bytes().to_vec())).collect()
    };
    let check = |want: &[(&str, &str)], got: &[(&str, &str)], said: &[&str]| {
        assert_eq!(differences(&files(want), &files(got)), said);
    };
    check(&[("a", "1\n")], &[("a", "1\n")], &[]);
    check(&[("a", "1\n2\n")], &[("a", "1\n3\n")], &["a, line 2:\n  want 2\\n\n  got  3\\n"]);
    check(&[("a", "1\n")], &[("a", "1")], &["a, line 1:\n  want 1\\n\n  got  1"]);
    check(&[("a", "1\n")], &[("a", "1\n2")], &["a, line 2:\n  want nothing more\n  got  2"]);
    check(&[("a", "")], &[], &["a is missing"]);
    check(&[], &[("a", "")], &["a is unexpected"]);
}

#[test]
fn only_the_hash_digits_of_a_sitemap_are_masked() {
    let text =
        |digits| format!("<loc>http://h.example/sitemap-00001-{digits}.xml.gz</loc> sitemap-index-1.xml");
    assert_eq!(masked(&text("1f2e3d4c")), text("XXXXXXXX"));
    for other in ["1f2e3d4", "1f2e3d4c5", "1F2E3D4C", "XXXXXXXX"] {
        assert_eq!(masked(&text(other)), text(other));
    }
}
