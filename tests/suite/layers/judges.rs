//! The files of `check` that decide whether a published file is valid share no code with the writer.

use super::{Edge, LIB, Sources, check_none, module, top};

/// The XML reader, the URL grammar and the rules of `check`, each with all modules in it.
const JUDGES: [&str; 15] = [
    "content",
    "doubts",
    "entities",
    "entry",
    "extensions",
    "finding",
    "judge",
    "loc",
    "name",
    "namespaces",
    "normal",
    "reader",
    "rules",
    "tag",
    "values",
];

/// The layers that they may import from. None of them cleans URLs or writes XML.
const LAYERS: [&str; 6] = ["common", "error", "escape", "limits", "place", "words"];

impl Sources {
    /// Imports by judges of anything but [`LAYERS`] and each other.
    fn shared_by_judges(&self) -> Vec<String> {
        let is_judge = |file: &str| match *module(file) {
            ["commands", "check", name, ..] => JUDGES.contains(&name),
            _ => false,
        };
        let mut found = Vec::new();
        for (from, edges) in self.edges().into_iter().filter(|(from, _)| is_judge(from)) {
            let shared =
                edges.into_iter().filter(|Edge { to, .. }| !is_judge(to) && !LAYERS.contains(&top(to)));
            found.extend(shared.map(|Edge { line, path, .. }| {
                format!("{from}:{line}: {path}: the judges of check must not share code")
            }));
        }
        found
    }
}

#[test]
fn the_reader_grammar_and_rules_of_check_share_no_code_with_the_writer() {
    check_none(Sources::read("src").shared_by_judges());
}

#[test]
fn every_judge_of_check_is_a_module() {
    let sources = Sources::read("src");
    let gone = JUDGES.iter().map(|name| format!("src/commands/check/{name}.rs"));
    check_none(gone.filter(|file| !sources.0.contains_key(file)).collect());
}

#[test]
fn an_import_of_the_writer_by_a_judge_is_reported_with_its_line() {
    let loc = "use crate::limits::URL_BYTES_MAX;\nuse super::reader::Reader;\nuse crate::clean::Cleaner;\n";
    let sources = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/clean.rs", ""),
        ("src/limits.rs", ""),
        ("src/commands/check/document.rs", "use crate::clean::Cleaner;"),
        ("src/commands/check/loc.rs", loc),
        ("src/commands/check/reader.rs", ""),
        ("src/commands/check/reader/text.rs", "use crate::commands::check::document::Document;"),
    ]);
    let wanted =
        ["loc.rs:3: crate::clean::Cleaner", "reader/text.rs:1: crate::commands::check::document::Document"]
            .map(|import| format!("src/commands/check/{import}: the judges of check must not share code"));
    assert_eq!(sources.shared_by_judges(), wanted);
}
