//! Relative lines, rewriting, filters and robots.txt.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Run, TempDir, build_command, contents, finish, gzip, published_urls, sitemill};

const BASE: &str = "https://www.example.com/";

const ROBOTS: &str = "\u{feff}User-agent: *\nDisallow: /cart\nAllow: /cart/help\nDisallow: /*?sort=\n\n\
                      User-agent: Shopbot\nDisallow: /shop/\n";

/// A build of `input` with a report, in a directory of its own.
struct Built {
    directory: TempDir,
    run: Run,
    report: Value,
}

impl Built {
    /// Runs a build of `input`, whose name has the ending `kind`, with `options`. Other files are created first.
    #[track_caller]
    fn of(kind: &str, input: impl AsRef<[u8]>, files: &[(&str, &str)], options: &[&str], exit: i32) -> Self {
        let directory = TempDir::new();
        files.iter().for_each(|(name, text)| drop(directory.file(name, text)));
        let input = directory.file(&format!("urls.{kind}"), input);
        let mut command = sitemill();
        command.args(["build", "--out", "out", "--report", "report.json", "--rejects", "rejects.tsv"]);
        if !options.contains(&"--base-url") {
            command.args(["--base-url", BASE]);
        }
        let run = finish(command.args(options).arg(input).current_dir(directory.path()), b"").expect(exit);
        let report = fs::read(directory.join("report.json")).unwrap();
        Self { run, report: serde_json::from_slice(&report).unwrap(), directory }
    }

    fn out(&self) -> PathBuf {
        self.directory.join("out")
    }

    fn urls(&self) -> Vec<String> {
        let urls = published_urls(&self.out(), BASE);
        urls.iter().map(|url| url.strip_prefix(BASE).unwrap_or(url).to_owned()).collect()
    }

    /// Line number and reason of every row of the reject file.
    fn rejects(&self) -> Vec<(u64, String)> {
        let text = fs::read_to_string(self.directory.join("rejects.tsv")).unwrap();
        let row = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            assert_eq!(fields.len(), 5, "{line}");
            (fields[1].parse().unwrap(), fields[3].to_owned())
        };
        text.lines().skip(1).map(row).collect()
    }

    /// Fails unless every line is accounted for once.
    #[track_caller]
    fn adds_up(&self) {
        let sum = |name: &str| match &self.report[name] {
            Value::Object(counts) => counts.values().map(|count| count.as_u64().unwrap()).sum(),
            count => count.as_u64().unwrap(),
        };
        let parts = ["blank", "listed", "duplicates", "rejected", "excluded"].map(sum);
        assert_eq!(sum("lines"), parts.iter().sum::<u64>(), "{}", self.report);
        let written: u64 = sum("rejected") + sum("excluded") + sum("dropped_tags");
        assert_eq!(self.rejects().len() as u64, written);
    }
}

#[test]
fn relative_lines_are_listed_below_the_url_that_they_are_relative_to() {
    let input = "/p/1\np/2\n?x=4\n//www.example.com/p/3\n//other.example/\n#top\nhttps://www.example.com/p/1\n../p/4\n";
    let built = Built::of("txt", input, &[], &["--relative-to", "https://www.example.com/dir/page?q"], 0);
    assert_eq!(built.urls(), ["p/1", "dir/p/2", "dir/page?x=4", "p/3", "p/4"]);
    assert_eq!(built.report["duplicates"], 1);
    assert_eq!(built.report["rejected"], json!({ "not-absolute": 1, "out-of-scope": 1 }));
    built.adds_up();
    // Without the option, the summary and the page name it.
    let without = Built::of("txt", input, &[], &["--html", "page.html"], 0);
    assert_eq!(without.report["rejected"]["not-absolute"], 7);
    assert!(without.run.stderr.contains("--relative-to https://www.example.com/"), "{}", without.run.stderr);
    let page = fs::read_to_string(without.directory.join("page.html")).unwrap();
    assert!(page.contains("--relative-to"));
}

#[test]
fn rewritten_urls_are_counted_and_their_scope_and_duplicates_are_those_of_the_new_url() {
    let input = "https://staging.example.com/a\nhttp://www.example.com/a\nhttps://www.example.com/b\n\
                 HTTP://WWW.example.com:80/c\nhttps://old.example.com/x\nhttps://staging.example.com.evil.example/\n";
    let options = [
        "--rewrite",
        "https://staging.example.com=https://www.example.com",
        "--rewrite",
        "http://=https://",
        "--rewrite",
        "https://never.example/=https://www.example.com/",
    ];
    let built = Built::of("txt", input, &[], &options, 0);
    assert_eq!(built.urls(), ["a", "b", "c"]);
    assert_eq!(built.report["duplicates"], 1);
    assert_eq!(built.report["rejected"], json!({ "out-of-scope": 2 }));
    let want = json!({
        "https://staging.example.com=https://www.example.com": 1,
        "http://=https://": 2,
        "https://never.example/=https://www.example.com/": 0,
    });
    assert_eq!(built.report["rewritten"], want);
    assert!(built.run.stderr.contains("rewritten"), "{}", built.run.stderr);
    built.adds_up();
}

#[test]
fn excluded_lines_are_counted_and_recorded_by_the_first_rule_that_excludes_them() {
    let input = "https://www.example.com/shop/1\n\nhttps://www.example.com/draft/1.pdf\nhttps://www.example.com/shop/1.pdf\n\
                 https://www.example.com/blog/1\nhttps://www.example.com/shop/1\nhttps://www.example.com/cart/1\nftp://x/\n\
                 https://www.example.com/shop/cart/help\nhttps://www.example.com/shop/?sort=1\nhttps://www.example.com/draft/1.pdf\n";
    let files = [("robots.txt", ROBOTS), ("patterns", "# Drafts\n\n  /draft/  \r\n/never/\n")];
    let options = [
        "--include",
        "/shop/",
        "--include",
        "/cart",
        "--exclude-file",
        "patterns",
        "--exclude",
        r"\.pdf$",
        "--respect-robots",
        "robots.txt",
    ];
    let built = Built::of(
        "txt",
        input,
        &files,
        &[&options[..], &["--html", "page.html", "--metrics", "m.prom"]].concat(),
        0,
    );
    assert_eq!(built.urls(), ["shop/1", "shop/cart/help"]);
    let excluded = json!({
        "exclude=\\.pdf$": 3, "exclude=/draft/": 0, "exclude=/never/": 0, "not-included": 1,
        "disallow=/cart": 1, "disallow=/*?sort=": 1,
    });
    assert_eq!(built.report["excluded"], excluded);
    assert_eq!(built.report["included"], json!({ "/shop/": 3, "/cart": 0 }));
    assert_eq!((&built.report["duplicates"], &built.report["blank"]), (&json!(1), &json!(1)));
    let rejects = built.rejects();
    let rejects: Vec<_> = rejects.iter().map(|(line, reason)| (*line, &**reason)).collect();
    let want = [
        (3, "exclude=\\.pdf$"),
        (4, "exclude=\\.pdf$"),
        (5, "not-included"),
        (7, "disallow=/cart"),
        (8, "scheme"),
        (10, "disallow=/*?sort="),
        (11, "exclude=\\.pdf$"),
    ];
    assert_eq!(rejects, want);
    built.adds_up();
    let said: Vec<&str> = built.run.stderr.lines().map(str::trim).collect();
    assert!(said.iter().any(|line| line.starts_with("excluded") && line.ends_with('6')), "{said:?}");
    let metrics = fs::read_to_string(built.directory.join("m.prom")).unwrap();
    let of_pdf =
        "sitemill_excluded_lines{base_url=\"https://www.example.com/\",rule=\"exclude=\\\\.pdf$\"} 3\n";
    assert!(metrics.contains(of_pdf), "{metrics}");
    let page = fs::read_to_string(built.directory.join("page.html")).unwrap();
    assert!(page.contains("Excluded lines") && page.contains("<code>https://www.example.com/cart/1</code>"));
    assert_eq!(built.report["details"]["settings"]["exclude"], "\\.pdf$, /draft/, /never/");
    assert_eq!(built.report["details"]["settings"]["respect-robots"], "robots.txt");
}

#[test]
fn a_crawler_has_the_rules_of_its_own_group() {
    let input = "https://www.example.com/shop/1\nhttps://www.example.com/cart\n";
    for (agent, want) in [("ShopBot", "cart"), ("Otherbot", "shop/1"), ("*", "shop/1")] {
        let options = ["--respect-robots", "robots.txt", "--robots-agent", agent];
        assert_eq!(Built::of("txt", input, &[("robots.txt", ROBOTS)], &options, 0).urls(), [want]);
    }
    let html = Built::of("txt", input, &[("robots.txt", "<html>")], &["--respect-robots", "robots.txt"], 0);
    assert!(html.run.stderr.contains("robots.txt: has no rules for this crawler"), "{}", html.run.stderr);
    assert_eq!(html.report["excluded"], json!({}));
}

/// Lines of all kinds, among them some that each of [`rules`] applies to.
fn lines(count: usize) -> Vec<String> {
    let line = |n: usize| match n % 23 {
        0 => format!("http://www.example.com/a/{n}"),
        1 => format!("/relative/{n}"),
        2 => format!("https://www.example.com/cart/{n}"),
        3 => format!("https://www.example.com/draft/{}", n % 70),
        4 => format!("https://other.example/{n}"),
        5 => format!("https://www.example.com/ü/{n}"),
        6 => String::new(),
        7 => "javascript:void(0)".into(),
        8 => format!("https://www.example.com/b/{n}?sort=1"),
        9 => format!("https://www.example.com/a/{}", n / 23),
        10 => format!("https://www.example.com/unlisted/{n}"),
        _ => format!("https://www.example.com/{}/{n}", ["a", "b", "relative", "cart/help"][n % 4]),
    };
    (0..count).map(line).collect()
}

/// Rules of all kinds.
fn rules() -> Vec<&'static str> {
    "--relative-to https://www.example.com/ --rewrite http://=https:// --include /(a|b|cart|draft|relative)/ --include %C3 \
     --exclude /draft/ --respect-robots robots.txt"
        .split(' ')
        .collect()
}

#[test]
fn counts_and_sets_do_not_depend_on_format_order_or_threads() {
    let lines = lines(60_000);
    let text = lines.join("\n") + "\n";
    // Rows with tags go to scratch: some as entries, others to be judged again.
    let rows: String = lines
        .iter()
        .enumerate()
        .map(|(n, line)| {
            let priority = Some(["0.5", "0.5", "high"][n % 3]).filter(|_| !line.is_empty());
            json!({ "url": line, "priority": priority }).to_string() + "\n"
        })
        .collect();
    let packed = gzip(text.as_bytes());
    let mut of_text = None;
    let mut of_rows = None;
    for (kind, input) in [("txt", text.as_bytes()), ("txt.gz", &packed), ("jsonl", rows.as_bytes())] {
        for more in
            [&["--threads", "1"][..], &["--threads", "3"], &["--order", "sorted"], &["--divide", "stable"]]
        {
            let built = Built::of(kind, input, &[("robots.txt", ROBOTS)], &[&rules()[..], more].concat(), 0);
            let counts =
                ["lines", "blank", "listed", "duplicates", "rejected", "excluded", "included", "rewritten"]
                    .map(|name| built.report[name].clone());
            assert_eq!(of_text.get_or_insert_with(|| counts.clone()), &counts, "{kind} {more:?}");
            if kind == "jsonl" {
                let tags =
                    ["given_tags", "refused_tags", "dropped_tags"].map(|name| built.report[name].clone());
                assert_eq!(of_rows.get_or_insert_with(|| tags.clone()), &tags, "{more:?}");
            }
            built.adds_up();
        }
    }
    let [.., excluded, included, rewritten] = of_text.unwrap();
    for counts in [excluded, included, rewritten] {
        assert!(counts.as_object().unwrap().values().all(|count| count.as_u64() > Some(100)), "{counts}");
    }
}

#[test]
fn a_filtered_list_gives_the_set_of_a_list_that_was_filtered_before() {
    let lines = lines(30_000);
    let is_kept = |line: &&String| {
        let path = line.split_once("www.example.com").map_or("", |(_, path)| path);
        !path.is_empty()
            && !path.starts_with("/draft/")
            && !path.starts_with("/unlisted/")
            && !path.contains("sort=")
            && (!path.starts_with("/cart") || path.starts_with("/cart/help"))
    };
    let kept: Vec<&str> = lines.iter().filter(is_kept).map(String::as_str).collect();
    let filters =
        ["--exclude", "^https?://[^/]*/draft/", "--exclude", "/unlisted/", "--respect-robots", "robots.txt"];
    for more in [&["--scope", "host"][..], &["--order", "sorted"]] {
        let filtered =
            Built::of("txt", lines.join("\n"), &[("robots.txt", ROBOTS)], &[&filters, more].concat(), 0);
        let before = Built::of("txt", kept.join("\n"), &[], more, 0);
        assert!(
            filtered.report["excluded"].as_object().unwrap().values().all(|count| count.as_u64() > Some(100))
        );
        assert!(contents(&filtered.out()) == contents(&before.out()));
    }
}

#[test]
fn filters_that_leave_out_everything_are_like_an_empty_input() {
    let input = "https://www.example.com/a\nhttps://www.example.com/b\n";
    let refused = Built::of("txt", input, &[], &["--exclude", "/[ab]"], 65);
    let said = "nothing was published: all 2 lines are excluded by the rule exclude=/[ab]; change the filters; \
                --allow-empty publishes an empty set";
    assert!(refused.run.stderr.contains(said), "{}", refused.run.stderr);
    let empty = Built::of("txt", input, &[], &["--include", "/c", "--allow-empty"], 0);
    assert_eq!((&empty.report["published"], &empty.report["listed"]), (&json!(true), &json!(0)));
    assert_eq!(empty.report["excluded"], json!({ "not-included": 2 }));
    empty.adds_up();
}

#[test]
fn rules_apply_to_every_origin() {
    let input =
        "https://a.example/x\nhttps://b.example/cart/1\nhttps://b.example/y\n/z\nhttp://b.example/z\n";
    let options = [
        "--base-url",
        "{origin}/",
        "--respect-robots",
        "robots.txt",
        "--relative-to",
        "https://a.example/",
        "--rewrite",
        "http://=https://",
    ];
    let built = Built::of("txt", input, &[("robots.txt", ROBOTS)], &options, 0);
    for (site, want) in [("a.example", ["x", "z"]), ("b.example", ["y", "z"])] {
        let base = format!("https://{site}/");
        assert_eq!(published_urls(&built.out().join(site), &base), want.map(|path| format!("{base}{path}")));
    }
    assert_eq!(built.report["excluded"]["disallow=/cart"], 1);
    built.adds_up();
}

#[test]
fn a_robots_txt_can_be_respected_and_list_the_index_files() {
    for listing in ["robots.txt", "./robots.txt", "/proc/self/cwd/robots.txt"] {
        let options = ["--respect-robots", "robots.txt", "--robots", listing];
        let built = Built::of("txt", "https://www.example.com/a\n", &[("robots.txt", ROBOTS)], &options, 0);
        let robots = fs::read_to_string(built.directory.join("robots.txt")).unwrap();
        assert!(robots.starts_with(ROBOTS) && robots.contains("sitemap-index-1.xml"), "{robots}");
    }
}

#[test]
fn wrong_rules_are_refused_before_the_run() {
    let directory = TempDir::new();
    let (input, out) = (directory.file("urls.txt", "https://www.example.com/a\n"), directory.join("out"));
    let patterns = directory.file("patterns", "/a\n# x\n/b(\n");
    let file = |option: &str, path: &Path| format!("{option}={}", path.display());
    for (options, exit, said) in [
        (vec!["--include=/a(".to_owned()], 2, "column 3: unclosed group"),
        (vec!["--exclude=".to_owned()], 2, "an empty pattern matches every URL"),
        (vec![file("--exclude-file", &patterns)], 2, "patterns: line 3: column 3: unclosed group"),
        (vec![file("--include-file", &directory.join("missing"))], 66, "missing"),
        (vec![file("--include-file", &directory.file("empty", "# x\n\n"))], 2, "empty: has no pattern"),
        (vec![file("--respect-robots", &directory.join("missing"))], 66, "missing"),
        (vec![file("--respect-robots", directory.path())], 66, ""),
        (vec!["--robots-agent=Googlebot".to_owned()], 2, "--respect-robots"),
        (vec![file("--respect-robots", &patterns), "--robots-agent=a b".to_owned()], 2, "only letters"),
        (vec!["--relative-to=/a".to_owned()], 2, "it needs a scheme"),
        (vec!["--rewrite=https://o.example/=https://h.example/a".to_owned()], 2, "end both with a slash"),
        (vec!["--rewrite=http://=https://h.example/".to_owned()], 2, "a scheme alone"),
        (vec![file("--exclude-file", &patterns), file("--rejects", &patterns)], 2, "as --exclude-file"),
    ] {
        let run = finish(build_command(&out, BASE).args(&options).arg(&input), b"").expect(exit);
        assert!(run.stderr.contains(said), "{options:?}: {}", run.stderr);
        if !options.iter().any(|option| option.starts_with("--rejects")) {
            finish(sitemill().arg("clean").args(&options).arg(&input), b"").expect(exit);
        }
    }
    assert!(!out.exists());
}

#[test]
fn a_file_of_options_can_list_patterns() {
    // The name of a crawler has no effect without a robots.txt.
    let config = "robots-agent = 'X'\nexclude = [\"/a$\", '\\.pdf$']\nrewrite = \"http://=https://\"\n\
                  [build]\ninclude = ['example']\n";
    let input = "http://www.example.com/a\nhttps://www.example.com/b\nhttps://www.example.com/c.pdf\n";
    let files = [
        ("sitemill.toml", config),
        ("wrong.toml", "exclude = [1.5, true]\n"),
        ("list.toml", "scope = ['any']\n"),
    ];
    let built = Built::of("txt", input, &files, &["--config", "sitemill.toml"], 0);
    assert_eq!(built.urls(), ["b"]);
    assert_eq!(
        built.report["excluded"],
        json!({ "exclude=/a$": 1, "exclude=\\.pdf$": 1, "not-included": 0 })
    );
    for (file, said) in [("wrong.toml", "exclude must be"), ("list.toml", "scope takes one value")] {
        let refused = Built::of("txt", input, &files, &["--config", file], 2);
        assert!(refused.run.stderr.contains(said), "{}", refused.run.stderr);
    }
    // The command line wins.
    let typed = Built::of("txt", input, &files, &["--config", "sitemill.toml", "--exclude", "/b$"], 0);
    assert_eq!(typed.report["excluded"], json!({ "exclude=/b$": 1, "not-included": 0 }));
}

#[test]
fn clean_takes_the_same_rules_as_build() {
    let directory = TempDir::new();
    let lines = lines(20_000);
    let input = directory.file("urls.txt", lines.join("\n") + "\n");
    directory.file("robots.txt", ROBOTS);
    let mut clean = sitemill();
    clean.arg("clean").args(rules()).args(["--rejects", "clean.tsv"]).arg(&input);
    let cleaned = finish(clean.current_dir(directory.path()), b"").expect(0);
    let mut build = build_command(&directory.join("out"), BASE);
    build.args(rules()).args(["--scope", "any", "--rejects", "build.tsv", "--json"]).arg(&input);
    let run = finish(build.current_dir(directory.path()), b"").expect(0);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    let [of_clean, of_build] = ["clean.tsv", "build.tsv"].map(|name| fs::read(directory.join(name)).unwrap());
    assert!(of_clean == of_build && of_clean.len() > 10_000);
    let urls = cleaned.stdout.iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert_eq!(urls, report["listed"].as_u64().unwrap() + report["duplicates"].as_u64().unwrap());
    assert!(
        cleaned.stderr.contains(" excluded (") && cleaned.stderr.contains(" rewritten"),
        "{}",
        cleaned.stderr
    );
}
