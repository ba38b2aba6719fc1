//! Names of sections: long ones, those that nobody gave, and those that control a terminal.

use super::{BASE, Desk};
use crate::support::run;

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
