//! Names of sections: long ones, those that nobody gave, and those that control a terminal.

use std::fs;

use serde_json::json;

use super::{BASE, Desk};
use crate::support::run;

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
    let shown = format!("{}…: 1 sitemap", "カ".repeat(66) + r"\xe3\x82");
    for said in [&shown, r"back\\slash: ", r"esc\x1b[31m: "] {
        assert!(built.run.stderr.contains(said), "{}", built.run.stderr);
    }
}

#[test]
fn names_of_rules_are_escaped_in_messages_and_whole_in_the_report() {
    let desk = Desk::new();
    desk.directory.file("sections.toml", "\"a\\u001b[31m\" = ['/p/', '/never']\n");
    let options = ["--sections", "sections.toml"];
    let built = desk.build("txt", format!("{BASE}p/1\n{BASE}x\n"), &options, 0);
    let said = built.run.stderr;
    assert!(said.contains(r"a\x1b[31m: 1 sitemap") && !said.contains('\u{1b}'), "{said}");
    assert!(said.contains(r"section a\x1b[31m: no URL is listed because of /never"), "{said}");
    assert_eq!(built.report["section_rules"], json!({ "a\u{1b}[31m": { "/p/": 1, "/never": 0 } }));
    let refused = desk.build("txt", format!("{BASE}x\n"), &options, 65).run.stderr;
    assert!(refused.contains(r"section a\x1b[31m: 0 URLs") && !refused.contains('\u{1b}'), "{refused}");
    fs::remove_dir_all(desk.out()).unwrap();
    let refused = desk.build("txt", format!("{BASE}x\n"), &options, 65).run.stderr;
    assert!(refused.contains(r"section a\x1b[31m has no URLs") && !refused.contains('\u{1b}'), "{refused}");
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
