//! Names of sections: long ones, those that nobody gave, and those that control a terminal.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{BASE, Desk};
use crate::support::{TempDir, build_command, finish, run};

#[test]
fn names_of_a_column_differ_however_long_they_are_and_are_cut_only_in_messages() {
    let desk = Desk::new();
    let long = "カ".repeat(67);
    let names = [format!("{long}A"), format!("{long}B"), r"back\slash".into(), "esc\u{1b}[31m".into()];
    let rows = (0..).zip(&names).map(|(n, name)| json!({ "url": format!("{BASE}{n}"), "type": name }));
    let rows: String = rows.map(|row| row.to_string() + "\n").collect();
    let built = desk.build("jsonl", rows, &["--section-column", "type"], 0);
    assert_eq!(desk.sections().len(), 4);
    let found = built.report["sections"].as_array().unwrap().iter().map(|section| section["name"].clone());
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|name| names.iter().position(|known| name == known));
    assert_eq!(found, names);
    let shown = format!("{}…: 1 sitemap", "カ".repeat(66));
    for said in [&shown, r"back\\slash: ", r"esc\x1b[31m: "] {
        assert!(built.run.stderr.contains(said), "{}", built.run.stderr);
    }
}

#[test]
fn names_of_rules_are_escaped_in_messages_and_whole_in_the_report() {
    let desk = Desk::new();
    desk.directory.file("sections.toml", "\"a\\u001b[31m\" = ['/p/', '/never']\n");
    let options = ["--sections", "sections.toml"];
    let built = desk.build("txt", format!("{BASE}p/1\n{BASE}p/2\n{BASE}p/3\n{BASE}x\n"), &options, 0);
    let said = built.run.stderr;
    assert!(said.contains(r"a\x1b[31m: 1 sitemap") && !said.contains('\u{1b}'), "{said}");
    assert!(said.contains(r"section a\x1b[31m: no URL is listed because of /never"), "{said}");
    assert_eq!(built.report["section_rules"], json!({ "a\u{1b}[31m": { "/p/": 3, "/never": 0 } }));
    let refused = desk.build("txt", format!("{BASE}p/1\n{BASE}x\n"), &options, 65).run.stderr;
    assert!(refused.contains(r"section a\x1b[31m: 1 URL would") && !refused.contains('\u{1b}'), "{refused}");
    fs::remove_dir_all(desk.out()).unwrap();
    let refused = desk.build("txt", format!("{BASE}x\n"), &options, 65).run.stderr;
    assert!(refused.contains(r"section a\x1b[31m has no URLs") && !refused.contains('\u{1b}'), "{refused}");
}

#[test]
fn a_column_that_no_row_has_is_named_where_the_format_has_no_list_of_columns() {
    for (kind, input) in [
        ("jsonl", json!({ "url": format!("{BASE}a"), "type": "shoes" }).to_string() + "\n"),
        ("txt", format!("{BASE}a lastmod=2024-05-01\n")),
        ("csv", format!("url,typo\n{BASE}a,\n")),
    ] {
        let desk = Desk::new();
        for more in [&["--dry-run"][..], &[]] {
            let built = desk.build(kind, &input, &[&["--section-column", "typo"], more].concat(), 0);
            let said =
                "all URLs are in the section rest: no row has another section in --section-column typo";
            assert!(built.run.stderr.contains(said), "{kind}: {}", built.run.stderr);
            assert_eq!(built.report["hint"], said, "{kind}");
        }
        assert_eq!(desk.sections()["rest"], ["a"]);
    }
    let desk = Desk::new();
    let built =
        desk.build("csv", format!("url,type\n{BASE}a,\n{BASE}b,x\n"), &["--section-column", "type"], 0);
    assert_eq!(built.report.get("hint"), None);
}

#[test]
fn a_column_that_is_read_as_another_part_is_refused_with_the_reason() {
    let desk = Desk::new();
    let input = format!("url,type,lastmod\n{BASE}a,x,2024-05-01\n");
    for (options, says) in [
        (&["--section-column", "lastmod"][..], "--section-column lastmod: this column is read as lastmod;"),
        (&["--section-column", "url"], "--section-column url: this column is read as url;"),
        (&["--section-column", "Type", "--columns", "images=type"], "Type: this column is read as images;"),
    ] {
        let refused = desk.build("csv", &input, options, 2);
        assert!(refused.run.stderr.contains(says), "{}", refused.run.stderr);
    }
}

#[test]
fn a_rest_with_another_name_is_still_the_rest() {
    let desk = Desk::new();
    let rules = |rest: &str| desk.directory.file("sections.toml", format!("p = '/p/'\n{rest}\n"));
    let input = |rest: u32| -> String {
        let rest = (0..rest).map(|n| format!("{BASE}{n}\n"));
        (0..200).map(|n| format!("{BASE}p/{n}\n")).chain(rest).collect()
    };
    let options = ["--sections", "sections.toml"];
    rules("");
    desk.build("txt", input(100), &options, 0);
    rules("rest = 'other'");
    desk.build("txt", input(100), &options, 0);
    assert_eq!(desk.sections()["other"].len(), 100);
    for (rest, name) in [("rest = 'misc'", "misc"), ("", "rest")] {
        rules(rest);
        desk.build("txt", input(100), &options, 0);
        assert_eq!(desk.sections()[name].len(), 100);
    }
}

#[test]
fn the_summary_counts_the_sections_that_it_does_not_show() {
    let desk = Desk::new();
    let input: String = (10..23).map(|n| format!("{BASE}s{n}/1\n")).collect();
    let built = desk.build("txt", input, &["--section-by-path"], 0);
    let row = built.run.stderr.lines().find(|line| line.contains(" more ")).unwrap().trim_start();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["3", "in", "3", "more", "sections"]);
}

#[test]
fn limits_of_sections_are_named_as_they_are() {
    let desk = Desk::new();
    let rows: String = (0..=10_000).map(|n| format!("{BASE}{n},type-{n}\n")).collect();
    let options = ["--section-column", "type", "--sections-max", "10000"];
    let refused = desk.build("csv", format!("url,type\n{rows}"), &options, 65);
    let says = "has more than 10,000 sections, such as type-";
    assert!(refused.run.stderr.contains(says), "{}", refused.run.stderr);
    assert!(refused.run.stderr.ends_with("; use a different column\n"), "{}", refused.run.stderr);
    desk.directory.file("sections.toml", "p = '/p/'\n");
    let refused = desk.build("txt", "", &["--sections", "sections.toml", "--sections-max", "7"], 2);
    let says = "'--sections <FILE>' cannot be used with '--sections-max <N>'";
    assert!(refused.run.stderr.contains(says), "{}", refused.run.stderr);
}

#[test]
fn the_longest_base_url_leaves_room_for_the_names_of_set_and_sections() {
    let desk = Desk::new();
    let base = |bytes: usize| format!("{BASE}{}/", "b".repeat(bytes - BASE.len() - 1));
    let (name, section) = ("n".repeat(40), "s".repeat(40));
    let build = |bytes, exit| {
        let base = base(bytes);
        let options = ["--base-url", &base, "--name", &name, "--section-column", "type"];
        desk.build("csv", format!("url,type\n{base}1,{section}\n"), &options, exit)
    };
    let refused = build(1_932, 2);
    assert!(refused.run.stderr.contains("--base-url: with the names of the set"), "{}", refused.run.stderr);
    build(1_931, 0);
    run(["check", desk.out().to_str().unwrap()]).expect(0);
}

#[test]
fn a_set_whose_urls_are_all_in_sections_has_the_files_with_its_own_name_alone() {
    let directory = TempDir::new();
    let [out, other] = ["out", "other"].map(|name| directory.join(name));
    let build = |out: &Path, options: &[&str]| {
        finish(build_command(out, BASE).args(options), format!("{BASE}s1x/1\n{BASE}s2/1\n").as_bytes())
    };
    let (of_section, of_set) = (["--name", "blog", "--section-by-path"], ["--name", "blog-s1x"]);
    let with_sections = [&of_set[..], &["--section-by-path"]].concat();
    build(&out, &with_sections).expect(0);
    let refused = build(&out, &of_section).expect(65).stderr;
    let says = "the set blog would have files named sitemap-blog-s1x-…, as the set blog-s1x has";
    assert!(refused.contains(says), "{refused}");
    run(["check".as_ref(), out.as_os_str()]).expect(0);
    // Sets of earlier releases may be like this.
    build(&other, &of_section).expect(0);
    finish(Command::new("cp").arg("-a").arg(other.join(".")).arg(&out), b"").expect(0);
    run(["check".as_ref(), out.as_os_str()]).expect(0);
    build(&out, &of_section).expect(0);
    for options in [&of_set[..], &with_sections] {
        let refused = build(&out, options).expect(65).stderr;
        let says = "the set blog-s1x would have files named sitemap-blog-s1x-…, as the set blog has";
        assert!(refused.contains(says), "{refused}");
    }
}

#[test]
fn a_set_without_sections_that_replaces_one_with_sections_warns_of_the_index_files_that_go() {
    let desk = Desk::new();
    let (input, sites) = (format!("{BASE}a/1\n{BASE}b/1\n"), ["--base-url", "{origin}/"]);
    for base in [&[][..], &sites] {
        desk.build("txt", &input, &[base, &["--section-by-path"]].concat(), 0);
        let says = "sitemap-a-index-1.xml and 1 more: index file of a section, but this run has no sections";
        for options in [&["--dry-run"][..], &[]] {
            let warned = desk.build("txt", &input, &[base, options].concat(), 0).run.stderr;
            assert!(warned.contains(says) && warned.contains("--keep"), "{warned}");
        }
        let quiet = desk.build("txt", &input, base, 0).run.stderr;
        assert!(!quiet.contains("of a section"), "it is said once: {quiet}");
        fs::remove_dir_all(desk.out()).unwrap();
    }
}
