//! `{origin}`: a set for each scheme, host and port.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{
    ROBOTS_FILE, TempDir, assert_valid_set, build_command, files, finish, published_urls, run, sitemill,
};

#[test]
fn every_origin_gets_a_complete_set_in_a_directory_of_its_own() {
    let directory = TempDir::new();
    let origins = [
        ("https://www.example.com/", "www.example.com"),
        ("http://www.example.com/", "http-www.example.com-80"),
        ("https://www.example.com:8443/", "https-www.example.com-8443"),
        ("https://xn--bcher-kva.example/", "xn--bcher-kva.example"),
    ];
    let mut input = String::from("no url\n\nHTTPS://Bücher.example/0\n");
    let mut want: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    want.entry(origins[3].0).or_default().push("https://xn--bcher-kva.example/0".into());
    for n in 1..50_000_usize {
        let (origin, _) = origins[n * n % 7 % 4];
        // Every ninth line is a duplicate.
        let url = format!("{origin}page/{n}?a&b='{n}'", n = n - usize::from(n % 9 == 0));
        input += &format!("{url}\n");
        let canonical = url.replace("'", "%27");
        let listed = want.entry(origin).or_default();
        if n % 9 != 0 || origins[(n - 1) * (n - 1) % 7 % 4].0 != origin {
            listed.push(canonical);
        }
    }
    let input = directory.file("urls.txt", input);
    let (out, report) = (directory.join("out"), directory.join("report.json"));
    for options in [&["--base-url", "{origin}/"][..], &["--base-url", "{origin}/", "--protocol", "0.84"]] {
        let mut command = sitemill();
        command
            .args([
                "build",
                "--quiet",
                "--replace-set",
                "--urls-per-sitemap",
                "999",
                "--sitemaps-per-index",
                "5",
            ])
            .args(options);
        finish(command.arg(&input).arg("--out").arg(&out).arg("--report").arg(&report), b"").expect(0);
        for (origin, name) in origins {
            let out = out.join(name);
            assert_eq!(published_urls(&out, origin), want[origin]);
            assert_valid_set(&out, origin, if options.len() == 2 { "0.9" } else { "0.84" });
            assert_eq!(fs::read_dir(out.join(".sitemill/staging")).unwrap().count(), 0);
        }
        let mut names = origins.map(|(_, name)| name);
        names.sort_unstable();
        assert_eq!(files(&out), names);
        let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        let listed: usize = want.values().map(Vec::len).sum();
        assert_eq!(report["listed"], listed);
        assert_eq!(report["rejected"]["not-absolute"], 1);
        let sets = report["sets"].as_array().unwrap();
        assert_eq!(sets.iter().map(|set| set["listed"].as_u64().unwrap() as usize).sum::<usize>(), listed);
        assert_eq!(sets[0]["base_url"], "https://xn--bcher-kva.example/");
        assert_eq!(sets[0]["directory"], "xn--bcher-kva.example");
    }
}

#[test]
fn a_path_after_the_origin_is_the_scope_by_default() {
    let directory = TempDir::new();
    let input = "https://a.example/maps/1\nhttps://a.example/2\nhttps://b.example/3\n";
    let build = |name: &str, scope: &str| {
        let out = directory.join(name);
        let mut command = sitemill();
        command
            .args(["build", "--quiet", "--base-url", "{origin}/maps", "--scope", scope, "--out"])
            .arg(&out);
        finish(&mut command, input.as_bytes()).expect(0);
        out
    };
    let out = build("directory", "directory");
    assert_eq!(files(&out), ["a.example"]);
    assert_eq!(
        published_urls(&out.join("a.example"), "https://a.example/maps/"),
        ["https://a.example/maps/1"]
    );
    let out = build("host", "host");
    assert_eq!(files(&out), ["a.example", "b.example"]);
    assert_eq!(published_urls(&out.join("b.example"), "https://b.example/maps/"), ["https://b.example/3"]);
}

#[test]
fn thousands_of_hosts_need_few_open_files() {
    let directory = TempDir::new();
    let input: String = (0..6_000).map(|n| format!("https://h{}.example/{n}\n", n % 1_500)).collect();
    let input = directory.file("urls.txt", input);
    let out = directory.join("out");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -n 200; exec \"$0\" build --quiet --base-url '{origin}/' --out \"$1\" \"$2\""]);
    finish(shell.arg(env!("CARGO_BIN_EXE_sitemill")).arg(&out).arg(&input), b"").expect(0);
    assert_eq!(files(&out).len(), 1_500);
    assert_eq!(published_urls(&out.join("h7.example"), "https://h7.example/").len(), 4);
}

#[test]
fn the_parent_of_all_sites_is_checked_read_and_compared_site_by_site() {
    let directory = TempDir::new();
    let [old, new] = ["old", "new"].map(|name| directory.join(name));
    let build = |out: &Path, sites: &[(&str, u32)]| {
        let mut input = String::new();
        for (site, pages) in sites {
            input.extend((0..*pages).map(|n| format!("https://{site}.example/{n}\n")));
        }
        finish(&mut build_command(out, "{origin}/"), input.as_bytes()).expect(0);
    };
    build(&old, &[("b", 3), ("a", 2), ("gone", 1)]);
    build(&new, &[("a", 3), ("b", 2), ("came", 1)]);
    let told = |command: &str, args: &[&Path]| {
        let run = run([command.as_ref()].into_iter().chain(args.iter().map(|path| path.as_os_str())));
        let run = run.expect(0);
        (String::from_utf8(run.stdout).unwrap(), run.stderr)
    };

    let (_, checked) = told("check", &[&new]);
    assert!(checked.contains("6 URLs in 3 sitemaps and 3 index files"), "{checked}");
    let urls = "https://a.example/0\nhttps://a.example/1\nhttps://a.example/2\nhttps://b.example/0\nhttps://b.example/1\n\
                https://came.example/0\n";
    assert_eq!(told("urls", &[&new]).0, urls);
    let changes =
        "+ https://a.example/2\n- https://b.example/2\n+ https://came.example/0\n- https://gone.example/0\n";
    let (diff, counts) = told("diff", &[&old, &new]);
    assert_eq!(diff, changes);
    assert!(counts.contains("2 added, 2 removed, 0 changed, 4 unchanged"), "{counts}");
    // A site that is the same in both sets is not read.
    assert!(told("diff", &[&new, &new]).1.contains("6 unchanged; 0 sitemaps read"));
    // A single set is compared with all sites.
    let one = told("diff", &[&new, &new.join("a.example")]).0;
    assert_eq!(one, "- https://b.example/0\n- https://b.example/1\n- https://came.example/0\n");
    // A site may be a link, as in `status`.
    fs::rename(new.join("b.example"), directory.join("moved")).unwrap();
    std::os::unix::fs::symlink("../moved", new.join("b.example")).unwrap();
    assert_eq!(told("urls", &[&new]).0, urls);

    // A fault in one site is found, with the name of the site.
    let site = new.join("b.example");
    let sitemap = files(&site).into_iter().find(|file| file.ends_with(".gz")).unwrap();
    fs::remove_file(site.join(&sitemap)).unwrap();
    let found = run(["check".as_ref(), new.as_os_str()]).expect(65);
    let found = String::from_utf8(found.stdout).unwrap();
    assert!(found.contains("b.example/sitemap-index-1.xml") && found.contains(&sitemap), "{found}");
    let base = ["check", "--base-url", "https://a.example/"].map(std::ffi::OsStr::new);
    let refused = run(base.into_iter().chain([old.as_os_str()])).expect(2);
    assert!(refused.stderr.contains("sets of several sites"), "{}", refused.stderr);
    // An empty directory is an error.
    let empty = directory.join("empty");
    fs::create_dir(&empty).unwrap();
    for command in ["check", "urls"] {
        let refused = run([command.as_ref(), empty.as_os_str()]).expect(65);
        assert!(refused.stderr.contains("contains no sitemaps"), "{}", refused.stderr);
    }
}

#[test]
fn lines_of_an_origin_that_cannot_have_a_set_are_rejected_and_the_others_are_published() {
    let directory = TempDir::new();
    let long = ["h"; 30].map(|label| label.repeat(63)).join(".");
    let bad = [
        "http://ab/some/page".to_owned(),
        "http://../some/other/page".to_owned(),
        format!("https://{long}.example/a"),
        "https://a-host-that-is-far-too-long-for-so-small-index-files.example/a".to_owned(),
    ];
    let input: String = (0..9_000)
        .map(|n| match n % 3 {
            0 => format!("https://a.example/{n}\n"),
            1 => format!("https://b.example/{n}\n"),
            _ => format!("{}{n}\n", bad[n / 3 % 4]),
        })
        .collect();
    let input = directory.file("urls.txt", input);
    for (options, bytes, good, refused) in [
        (&["--threads", "1"][..], "10MiB", 6_750, 2_250),
        (&["--threads", "2", "--order", "sorted"], "10MiB", 6_750, 2_250),
        (&["--threads", "2", "--divide", "stable"], "280", 6_000, 3_000),
        (&["--order", "sorted", "--scope", "host"], "280", 6_000, 3_000),
    ] {
        let out = directory.join("out");
        let (report, rejects) = (directory.join("report.json"), directory.join("rejects.tsv"));
        let mut command = sitemill();
        command
            .args(["build", "--quiet", "--base-url", "{origin}/", "--bytes-per-sitemap", bytes])
            .args(options);
        command
            .arg(&input)
            .arg("--out")
            .arg(&out)
            .arg("--report")
            .arg(&report)
            .arg("--rejects")
            .arg(&rejects);
        finish(&mut command, b"").expect(0);
        let report: Value = serde_json::from_slice(&fs::read(&report).unwrap()).unwrap();
        let rejected: u64 =
            report["rejected"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!((report["listed"].as_u64().unwrap(), rejected), (good, refused), "{options:?}");
        for host in ["a.example", "b.example"] {
            assert_eq!(published_urls(&out.join(host), &format!("https://{host}/")).len(), 3_000);
        }
        // All lines of an origin have the same reason.
        let told = fs::read_to_string(&rejects).unwrap();
        for bad in &bad[..if bytes == "280" { 4 } else { 3 }] {
            let reasons = told.lines().filter(|row| row.contains(bad.as_str()));
            let reasons: Vec<_> = reasons.map(|row| row.split('\t').nth(3).unwrap()).collect();
            assert_eq!(reasons.len(), 750, "{bad}");
            assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{bad}");
        }
        fs::remove_dir_all(out).unwrap();
    }
}

#[test]
fn limits_too_small_for_any_index_file_are_refused_before_any_work_and_the_longest_base_url_is_accepted() {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", "https://a.example/1\n");
    // The limit is too small for an index file of the shortest origin.
    let mut command = sitemill();
    command.args(["build", "--base-url", "{origin}/", "--bytes-per-sitemap", "200"]).arg(&input);
    let refused = finish(command.arg("--out").arg(directory.join("small")), b"").expect(2);
    assert!(refused.stderr.contains("--bytes-per-sitemap 200"), "{}", refused.stderr);

    // The longest base URL has 1,983 bytes.
    let host = ["a"; 4].map(|label| label.repeat(60)).join(".");
    for (bytes, listed, no_site) in [(1_731, 2, None), (1_732, 1, Some(1))] {
        let path = "p".repeat(bytes);
        let mut command = build_command(&directory.join(bytes.to_string()), &format!("{{origin}}/{path}/"));
        let input = format!("http://good.example/{path}/x\nhttp://{host}/{path}/x\n");
        let run = finish(command.arg("--json"), input.as_bytes()).expect(0);
        let report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(
            (report["listed"].as_u64(), report["rejected"]["no-site"].as_u64()),
            (Some(listed), no_site)
        );
    }
}

#[test]
fn the_names_of_a_set_and_its_sections_count_for_the_size_of_index_files() {
    let input = "https://a.example/s/1\nhttps://shop.a-long-name.example.com/s/1\n";
    let name = "k".repeat(40);
    // Without a name, index files of both sites have less than 270 bytes.
    for words in [&["--name", &name][..], &["--section-by-path"]] {
        let directory = TempDir::new();
        let mut build = build_command(directory.path(), "{origin}/");
        let run = finish(build.args(words).args(["--json", "--bytes-per-sitemap", "300"]), input.as_bytes());
        let report: Value = serde_json::from_slice(&run.expect(0).stdout).unwrap();
        assert_eq!((&report["listed"], &report["rejected"]["no-site"]), (&1.into(), &1.into()), "{words:?}");
    }
}

#[test]
fn a_section_of_a_site_is_not_guarded_by_the_urls_of_another() {
    let directory = TempDir::new();
    let list = |segments: &[(&str, &str, u32)]| -> String {
        let urls = |&(site, segment, urls): &(&str, &str, u32)| -> String {
            (0..urls).map(|n| format!("https://{site}.example/{segment}/{n}\n")).collect()
        };
        segments.iter().map(urls).collect()
    };
    let build = |input: String| {
        let mut command = build_command(&directory.join("out"), "{origin}/");
        finish(command.args(["--section-by-path", "--sections-max", "2"]), input.as_bytes())
    };
    let unchanged = [("b", "x", 100), ("b", "y", 90)];
    build(list(&[&[("a", "x", 100), ("a", "y", 90)], &unchanged[..]].concat())).expect(0);
    // Of both sites together, the segment y has too few URLs for a section.
    let refused = build(list(&[&[("a", "x", 200), ("a", "z", 100)], &unchanged[..]].concat())).expect(65);
    let said = "https://a.example/: section y: 0 URLs would replace 90";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    build(list(&[&[("a", "x", 200), ("a", "z", 100), ("a", "y", 80)], &unchanged[..]].concat())).expect(0);
}

#[test]
fn a_rollback_of_all_sites_names_one_of_them_if_it_has_such_a_set() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let mut build = build_command(&out, "{origin}/");
    finish(build.args(["--name", "shop"]), b"https://a.example/1\nhttps://b.example/1\n").expect(0);
    let refused = |options: &[&str]| {
        let mut command = sitemill();
        finish(command.arg("rollback").arg(&out).args(options), b"").expect(65).stderr
    };
    for options in [&["--name", "shop"][..], &[]] {
        let said = refused(options);
        assert!(
            said.contains("roll back one at a time, such as ") && said.contains("out/a.example"),
            "{said}"
        );
    }
    let said = refused(&["--name", "blog"]);
    assert!(said.contains("contains no set blog"), "{said}");
}

#[test]
fn a_set_is_checked_once_however_often_it_is_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let input = b"https://a.example/1\nhttps://b.example/1\n";
    finish(&mut build_command(&out, "{origin}/"), input).expect(0);
    let check = |paths: &[&Path]| finish(sitemill().args(["check", "--json"]).args(paths), b"").expect(0);
    let site = out.join("a.example");
    for (paths, files) in [(&[&*out, &out, &site][..], 4), (&[&site, &site], 2)] {
        let summary: Value = serde_json::from_slice(&check(paths).stdout).unwrap();
        assert_eq!((&summary["files"], &summary["urls"]), (&files.into(), &(files / 2).into()), "{paths:?}");
    }
}

#[test]
fn sets_below_a_directory_with_a_set_are_left_out_and_named() {
    let directory = TempDir::new();
    let out = directory.join("out");
    for (out, base) in [(out.clone(), "https://a.example/"), (out.join("de"), "https://a.example/de/")] {
        finish(&mut build_command(&out, base), format!("{base}1\n").as_bytes()).expect(0);
    }
    let (out, below) = (out.to_str().unwrap(), out.join("de"));
    let below = below.to_str().unwrap();
    let note = format!("not included: the sets in {below}; ");
    for command in ["check", "urls", "status"] {
        let done = run([command, out]).expect(0);
        assert!(done.stderr.contains(&note), "{command}: {}", done.stderr);
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(!said.contains("a.example/de"), "{command}: {said}");
        assert!(!run([command, below]).expect(0).stderr.contains("not included"), "{command}");
    }
    for args in [&["check", out, below][..], &["urls", below, out], &["check", "--quiet", out]] {
        assert!(!run(args).expect(0).stderr.contains("not included"), "{args:?}");
    }
    for lost in [".sitemill/manifest.json", ROBOTS_FILE] {
        fs::remove_file(Path::new(below).join(lost)).unwrap();
        for command in ["check", "urls", "status"] {
            let said = run([command, out]).expect(0).stderr;
            assert!(said.contains(&note), "{command} without {lost}: {said}");
        }
    }
}

#[test]
fn the_first_set_in_the_parent_of_sites_is_refused() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let build = |base: &str, below: &str, options: &[&str]| {
        finish(build_command(&out.join(below), base).args(options), b"https://a.example/1\n")
    };
    build("{origin}/", "", &["--name", "blog"]).expect(0);
    for options in [&[][..], &["--dry-run"], &["--name", "blog"]] {
        let refused = build("https://a.example/", "", options).expect(65);
        let site = out.join("a.example");
        let said = format!("the sets of sites are published below it, such as {}, and this", site.display());
        assert!(refused.stderr.contains(&said) && refused.stderr.contains("--replace-set"), "{refused:?}");
    }
    build("https://a.example/", "a.example", &[]).expect(0);
    build("https://a.example/", "", &["--replace-set"]).expect(0);
    build("https://a.example/", "", &[]).expect(0);
    build("https://a.example/", "", &["--name", "shop"]).expect(0);
    // A host without a dot.
    let (local, page) = (directory.join("local"), b"https://localhost/1\n");
    finish(&mut build_command(&local, "{origin}/"), page).expect(0);
    let refused = finish(&mut build_command(&local, "https://localhost/"), page).expect(65);
    let site = local.join("localhost");
    assert!(refused.stderr.contains(&format!("such as {}, and", site.display())), "{}", refused.stderr);
    // Directories that are named like sites, but are none.
    let out = directory.join("other");
    for (below, base) in [("v1.0", "https://a.example/v1.0/"), ("", "https://a.example/")] {
        finish(&mut build_command(&out.join(below), base), format!("{base}1\n").as_bytes()).expect(0);
    }
}

#[test]
fn the_base_url_is_encoded_as_the_lines_are() {
    let directory = TempDir::new();
    for (base_url, site) in [("https://h.example/ü/", ""), ("{origin}/ü/", "h.example")] {
        let out = directory.join(format!("out-{site}"));
        let mut build = build_command(&out, base_url);
        build.args(["--url-encoding", "iso-8859-1", "--max-rejects", "0"]);
        finish(&mut build, "https://h.example/ü/1\n".as_bytes()).expect(0);
        let urls = published_urls(&out.join(site), "https://h.example/%FC/");
        assert_eq!(urls, ["https://h.example/%FC/1"]);
        let mut check = sitemill();
        check.args(["check", "--base-url", "https://h.example/%FC/"]).arg(out.join(site));
        finish(&mut check, b"").expect(0);
    }
    let help = String::from_utf8(finish(sitemill().args(["check", "--help"]), b"").expect(0).stdout).unwrap();
    assert!(help.contains("--url-encoding") && help.contains("%FC for ü"), "{help}");
    let mut build = build_command(&directory.join("out"), "https://h.example/日/");
    let refused = finish(build.args(["--url-encoding", "iso-8859-1"]), b"").expect(2);
    assert!(refused.stderr.contains("it is not a valid URL (not-encodable)"), "{}", refused.stderr);
}
