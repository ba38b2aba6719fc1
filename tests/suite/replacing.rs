//! A run replaces only a set of the same kind, and no file that sitemill did not write.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{
    ROBOTS_FILE, Run, TempDir, assert_says, assert_valid_set, build_command, contents, epoch_plus, files,
    finish, published, published_urls, run, sitemill,
};

const BASE: &str = "http://h.example/";

fn build(out: &Path, base: &str, options: &[&str]) -> Run {
    build_pages(out, base, 3, options)
}

fn build_pages(out: &Path, base: &str, last: u32, options: &[&str]) -> Run {
    let origin = if base.starts_with('{') { "https://a.example/" } else { base };
    let input: String = (1..=last).map(|page| format!("{origin}{page}\n")).collect();
    let mut command = build_command(out, base);
    command.args(["--urls-per-sitemap", "1", "--sitemaps-per-index", "2", "--max-shrink", "100"]);
    finish(command.args(options), input.as_bytes())
}

fn rollback(out: &Path, options: &[&str]) -> Run {
    finish(sitemill().arg("rollback").args(options).arg("--out").arg(out), b"")
}

#[test]
fn a_rollback_skips_sets_with_the_files_of_the_live_one() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build_pages(&out, BASE, 3, &[]).expect(0);
    // A bad build and its repetitions.
    (2..=4).for_each(|_| _ = build_pages(&out, BASE, 1, &[]).expect(0));
    let told = rollback(&out, &[]).expect(0);
    assert!(
        told.stderr.contains("restored set 1 (3 URLs in 3 sitemaps), which replaces set 4"),
        "{}",
        told.stderr
    );
    assert_eq!(published_urls(&out, BASE).len(), 3);

    let same = directory.join("same");
    (1..=2).for_each(|_| _ = build_pages(&same, BASE, 1, &[]).expect(0));
    let refused = rollback(&same, &[]).expect(65);
    let said =
        "every earlier set that was not rolled back has the same files as the live one; --to N restores";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    rollback(&same, &["--to", "1"]).expect(0);
}

/// The contents of the files in `.sitemill/NAME`.
fn copies(out: &Path, name: &str) -> Vec<String> {
    let directory = out.join(".sitemill").join(name);
    contents(&directory).into_iter().map(|(_, bytes)| String::from_utf8(bytes).unwrap()).collect()
}

fn theirs(out: &Path, names: &[&str]) -> Vec<PathBuf> {
    fs::create_dir_all(out).unwrap();
    let paths: Vec<PathBuf> = names.iter().map(|name| out.join(name)).collect();
    names.iter().zip(&paths).for_each(|(name, path)| fs::write(path, format!("their {name}")).unwrap());
    paths
}

#[test]
fn foreign_files_under_names_that_the_first_set_needs_are_refused_before_any_work_or_taken_over() {
    let directory = TempDir::new();
    let one = ": is in the way and was not created by sitemill; move it, ";
    let two = " and 1 more: are in the way and were not created by sitemill; move them, ";
    for (case, (names, why)) in [
        (&["sitemap-index-1.xml"][..], one),
        (&[ROBOTS_FILE], one),
        (&["sitemap-index-1.xml", ROBOTS_FILE], two),
    ]
    .into_iter()
    .enumerate()
    {
        for base in [BASE, "{origin}/"] {
            let parent = directory.join(format!("{case}{}", base.len()));
            let out = if base == BASE { parent.clone() } else { parent.join("a.example") };
            let base_of_site = if base == BASE { BASE } else { "https://a.example/" };
            theirs(&out, names);
            let before = contents(&out);
            let refused = build(&parent, base, &[]).expect(73);
            let said = format!("{}{why}", out.join(names[0]).display());
            assert_says(&refused, &[&said, "--take-over", ".sitemill/taken-over"]);
            // Refused before the input is read: the run does not wait for it.
            if base == BASE {
                let mut silent = build_command(&parent, base);
                let silent = silent.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
                assert_eq!(silent.spawn().unwrap().wait().unwrap().code(), Some(73));
            }
            assert_eq!(contents(&out), before);

            build(&parent, base, &["--take-over"]).expect(0);
            assert_valid_set(&out, base_of_site, "0.9");
            run(["check".as_ref(), "--quiet".as_ref(), out.as_os_str()]).expect(0);
            let mut kept = copies(&out, "taken-over");
            kept.sort_unstable();
            let mut want: Vec<String> = names.iter().map(|name| format!("their {name}")).collect();
            want.sort_unstable();
            assert_eq!(kept, want);
            // From now on the files belong to sitemill.
            build(&parent, base, &[]).expect(0);
        }
    }
}

#[test]
fn a_set_that_grows_to_the_name_of_a_foreign_file_is_refused_and_the_live_one_stays() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, BASE, &[]).expect(0);
    let their = theirs(&out, &["sitemap-index-3.xml"]).remove(0);
    let before = contents(&out);
    build_pages(&out, BASE, 4, &[]).expect(0);
    let refused = build_pages(&out, BASE, 5, &[]).expect(73);
    assert_says(&refused, &["sitemap-index-3.xml: is in the way", "--take-over"]);
    assert_eq!(published_urls(&out, BASE).len(), 4);
    assert_eq!(fs::read_to_string(&their).unwrap(), "their sitemap-index-3.xml");
    assert_eq!(files(&out).len(), before.len() + 1, "no file of the refused set may remain");
    build_pages(&out, BASE, 5, &["--take-over"]).expect(0);
    assert_eq!(copies(&out, "taken-over"), ["their sitemap-index-3.xml"]);
    assert_eq!(published_urls(&out, BASE).len(), 5);
    // After a rollback the file still belongs to sitemill. A rollback takes no file over.
    rollback(&out, &[]).expect(0);
    rollback(&out, &["--to", "3"]).expect(0);
    rollback(&out, &["--to", "2"]).expect(0);
    assert_says(&rollback(&out, &["--to", "2"]).expect(65), &["out: set 2 is the live set already\n"]);
    fs::write(&their, "theirs again").unwrap();
    let refused = rollback(&out, &["--to", "3"]).expect(73);
    assert_says(
        &refused,
        &["sitemap-index-3.xml: is in the way and was not created by sitemill; move it and run again"],
    );
    assert_eq!(published_urls(&out, BASE).len(), 4);
}

#[test]
fn without_the_state_directory_own_files_are_foreign_and_ignoring_that_keeps_a_copy_of_each() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, BASE, &[]).expect(0);
    let old = published(&out, BASE);
    let robots = fs::read_to_string(out.join(ROBOTS_FILE)).unwrap();
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    assert_says(&build(&out, BASE, &[]).expect(73), &["sitemap-index-1.xml and 1 more: are in the way"]);
    fs::write(out.join("sitemap-index-1.xml"), "theirs").unwrap();
    build_pages(&out, BASE, 2, &["--ignore-manifest"]).expect(0);
    let kept = copies(&out, "damaged");
    let index_2 = &old.iter().find(|(file, _)| file == "sitemap-index-2.xml").unwrap().1;
    assert_eq!(kept.len(), 3);
    [robots.as_str(), index_2, "theirs"]
        .iter()
        .for_each(|text| assert!(kept.iter().any(|kept| kept == text)));
    assert_eq!(published_urls(&out, BASE).len(), 2);
    run(["check".as_ref(), out.as_os_str()]).expect(0);
}

#[test]
fn another_base_url_or_protocol_is_refused_with_both_values_and_published_with_replace_set() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, BASE, &[]).expect(0);
    let before = contents(&out);
    let https = "https://h.example/";
    for (base, options, said) in [
        (
            https,
            &[][..],
            "the live set has base URL http://h.example/, and this run has https://h.example/; nothing",
        ),
        ("http://h.example/maps/", &[], "and this run has http://h.example/maps/; nothing"),
        (BASE, &["--protocol", "0.84"], "the live set has protocol 0.9, and this run has 0.84; nothing"),
        (
            https,
            &["--protocol", "0.84"],
            "https://h.example/; it has protocol 0.9, and this run has 0.84; nothing",
        ),
    ] {
        let refused = build(&out, base, options).expect(65);
        assert_says(&refused, &[said, "use a different --out, or --replace-set"]);
        assert_eq!(contents(&out), before);
    }
    // Refused before the input is read: the run does not wait for it.
    let mut silent = build_command(&out, https);
    let silent = silent.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    assert_eq!(silent.spawn().unwrap().wait().unwrap().code(), Some(65));

    build(&out, https, &["--protocol", "0.84", "--replace-set"]).expect(0);
    assert_valid_set(&out, https, "0.84");
    // The next run of the new job needs no option, and now the old job is refused.
    build(&out, https, &["--protocol", "0.84"]).expect(0);
    build(&out, BASE, &[]).expect(65);
    let told = rollback(&out, &["--to", "1"]).expect(0);
    assert_says(
        &told,
        &[
            "; the base URL is http://h.example/ again (was https://h.example/); the protocol is 0.9 again (was 0.84)",
        ],
    );
    assert_valid_set(&out, BASE, "0.9");
    build(&out, https, &["--protocol", "0.84"]).expect(65);
    build(&out, BASE, &[]).expect(0);
}

#[test]
fn each_site_is_compared_with_its_own_live_set_and_none_is_switched_if_one_differs() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let of = |hosts: &[&str], base: &str, options: &[&str]| {
        let input: String = hosts.iter().map(|host| format!("https://{host}.example/maps/1\n")).collect();
        finish(build_command(&out, base).args(options), input.as_bytes())
    };
    of(&["b"], "{origin}/", &[]).expect(0);
    let refused = of(&["a", "b"], "{origin}/maps/", &[]).expect(65);
    assert_says(
        &refused,
        &[
            "b.example: the live set has base URL https://b.example/, and this run has https://b.example/maps/",
        ],
    );
    assert!(!out.join("a.example").join(ROBOTS_FILE).exists());
    assert_says(&of(&["b"], "{origin}/", &["--protocol", "0.84"]).expect(65), &["protocol 0.9"]);
    of(&["a", "b"], "{origin}/maps/", &["--replace-set"]).expect(0);
    assert_eq!(published_urls(&out.join("b.example"), "https://b.example/maps/").len(), 1);
    of(&["a", "b"], "{origin}/maps/", &[]).expect(0);
}

#[test]
fn old_index_files_stay_as_long_as_the_sitemaps_that_they_list_and_are_not_part_of_the_live_set() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let night = |day: u64, last: u32, options: &[&str]| {
        let input: String = (1..=last).map(|page| format!("{BASE}{day}/{page}\n")).collect();
        let mut command = build_command(&out, BASE);
        command
            .args(["--urls-per-sitemap", "1", "--sitemaps-per-index", "1", "--max-shrink", "100"])
            .args(options);
        command.env("SOURCE_DATE_EPOCH", epoch_plus(day * 86_400));
        finish(&mut command, input.as_bytes()).expect(0);
    };
    let keep = ["--keep", "2d", "--keep-sets", "1"];
    night(0, 10, &keep);
    let ten = published(&out, BASE);
    night(1, 9, &keep);
    // A crawler with the robots lines of the previous night misses nothing.
    let tenth = fs::read_to_string(out.join("sitemap-index-10.xml")).unwrap();
    assert!(ten.contains(&("sitemap-index-10.xml".into(), tenth.clone())));
    let sitemap = crate::support::locs(&tenth).remove(0);
    assert!(out.join(&sitemap[BASE.len()..]).exists());
    for lines in [true, false] {
        if !lines {
            fs::remove_file(out.join(ROBOTS_FILE)).unwrap();
        }
        let check = run(["check".as_ref(), "--base-url".as_ref(), BASE.as_ref(), out.as_os_str()]);
        let found = String::from_utf8(check.expect(if lines { 0 } else { 65 }).stdout).unwrap();
        assert_eq!(found.lines().count(), usize::from(!lines), "{found}");
        assert!(lines || found.contains("robots: there is no such file"), "{found}");
        let listed = run(["urls".as_ref(), out.as_os_str()]).expect(0).stdout;
        assert_eq!(String::from_utf8(listed).unwrap().lines().count(), 9);
    }
    // Builds a copy from the live set.
    night(2, 9, &keep);
    let copy = directory.join("copy");
    let mut again = build_command(&copy, BASE);
    finish(again.arg(&out), b"").expect(0);
    assert_eq!(published_urls(&copy, BASE).len(), 9);
    // Rolls back to more index files, then forward to fewer.
    rollback(&out, &["--to", "1"]).expect(0);
    assert_eq!(published(&out, BASE), ten);
    rollback(&out, &["--to", "3"]).expect(0);
    run(["check".as_ref(), out.as_os_str()]).expect(0);
    assert!(out.join("sitemap-index-10.xml").exists());
    // The rollback replaced the tenth index file on day 0 of its clock, so it is deleted with its set.
    night(1, 9, &keep);
    assert!(out.join("sitemap-index-10.xml").exists());
    night(3, 9, &keep);
    assert!(!out.join("sitemap-index-10.xml").exists() && !out.join(&sitemap[BASE.len()..]).exists());
}

#[test]
fn live_files_that_something_else_has_changed_are_replaced_with_a_warning_and_a_copy() {
    let directory = TempDir::new();
    let out = directory.join("out");
    build(&out, BASE, &[]).expect(0);
    let (index, lines) = (out.join("sitemap-index-1.xml"), out.join(ROBOTS_FILE));
    let before = contents(&out);
    let dry = |kept: u64, replaced: u64| {
        let run = build(&out, BASE, &["--dry-run", "--json"]).expect(0);
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let counts = ["kept_indexes", "replaced_indexes"].map(|name| report["dry_run"][name].as_u64());
        assert_eq!(counts, [Some(kept), Some(replaced)], "{report}");
        run
    };
    assert!(dry(2, 0).stderr.is_empty());
    // A lost file is written again, and there is nothing to keep a copy of.
    fs::remove_file(&index).unwrap();
    assert!(dry(1, 1).stderr.is_empty());
    assert!(build(&out, BASE, &[]).expect(0).stderr.is_empty());
    for by in ["build", "rollback"] {
        fs::write(&index, format!("edited before {by}")).unwrap();
        fs::write(&lines, format!("# mine before {by}\n")).unwrap();
        let said =
            "sitemap-index-1.xml and 1 more: changed by something other than sitemill since the last run; ";
        let would = dry(1, 1);
        assert_says(
            &would,
            &[said, "a run would replace them and keep copies in .sitemill/taken-over;", "--also"],
        );
        assert!(!would.stderr.contains("is live"), "{}", would.stderr);
        let run = if by == "build" { build(&out, BASE, &[]) } else { rollback(&out, &["--to", "1"]) };
        assert_says(
            &run.expect(0),
            &[said, "they were replaced, and copies are in .sitemill/taken-over;", "is live"],
        );
        let copies = copies(&out, "taken-over");
        for text in [format!("edited before {by}"), format!("# mine before {by}\n")] {
            assert!(copies.contains(&text), "{copies:?}");
        }
        assert_eq!(contents(&out), before);
        assert!(build(&out, BASE, &[]).expect(0).stderr.is_empty(), "the next run has nothing to say");
    }
}
