//! The structure of the code: layers as in `lib.rs` and no import cycles in `src`; short files and functions, narrow comments.

mod judges;
mod syntax;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use syntax::{functions, imports, strings, tokens};

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 60;
const COMMENT_COLUMNS_MAX: usize = 132;

/// Folders of Rust code.
const FOLDERS: [&str; 4] = ["src", "tests", "benches", "python/src"];

/// Source files: paths from the project's folder, with `/` between their parts, and their text.
struct Sources(BTreeMap<String, String>);

/// An import of one file by another: its line and path.
struct Edge {
    to: String,
    line: usize,
    path: String,
}

impl Sources {
    /// The `.rs` files below `folder`.
    fn read(folder: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (mut files, mut folders) = (BTreeMap::new(), vec![root.join(folder)]);
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && !name.ends_with("/target") {
                    folders.push(path);
                } else if name.ends_with(".rs") {
                    files.insert(name, fs::read_to_string(path).unwrap());
                }
            }
        }
        assert!(!files.is_empty(), "{folder} has no sources");
        Self(files)
    }

    fn of(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect())
    }

    /// The names of the layers, top first: the first word of each line of the diagram below `# Modules` in lib.rs.
    fn layers(&self) -> Vec<&str> {
        let (_, modules) =
            self.0["src/lib.rs"].split_once("//! # Modules").expect("lib.rs has a section on modules");
        let diagram = modules.split("//! ```").nth(1).expect("the section has a diagram");
        diagram
            .lines()
            .skip(1)
            .filter_map(|line| line.trim_start_matches("//!").split_whitespace().next())
            .collect()
    }

    /// The imports of each file, without those of its tests.
    fn edges(&self) -> BTreeMap<&str, Vec<Edge>> {
        let files = self.0.keys().filter(|name| **name != "src/main.rs");
        let modules: BTreeMap<_, _> = files.map(|name| (module(name), name.as_str())).collect();
        let edges = self.0.iter().filter(|(name, _)| !is_test(name)).map(|(name, text)| {
            let tokens = tokens(text);
            let found = imports(&tokens).into_iter().filter_map(|import| {
                let to = target(&modules, &module(name), &import.path)?;
                let path = import.path.join("::").replace("::self", "");
                (to != name).then(|| Edge { to: to.to_owned(), line: import.line, path })
            });
            (name.as_str(), found.collect())
        });
        edges.collect()
    }

    /// Every import from a higher layer.
    fn upward_imports(&self) -> Vec<String> {
        let layers = self.layers();
        let rank = |name: &str| layers.iter().position(|layer| *layer == top(name));
        let mut found = Vec::new();
        for (from, edges) in &self.edges() {
            for Edge { to, line, path } in edges {
                if let (Some(own), Some(other)) = (rank(from), rank(to))
                    && other < own
                {
                    found.push(format!(
                        "{from}:{line}: {path}: {} must not import from {}, a higher layer",
                        top(from),
                        top(to)
                    ));
                }
            }
        }
        found
    }

    /// A shortest cycle through each file that is in one. A file of an earlier cycle is skipped.
    fn cycles(&self) -> Vec<String> {
        let edges = self.edges();
        let (mut shown, mut found) = (BTreeSet::new(), Vec::new());
        for &start in edges.keys() {
            let Some(cycle) = way(&edges, start).filter(|_| !shown.contains(start)) else { continue };
            let steps = cycle.iter().map(|(from, edge)| format!("{from}:{} {} -> ", edge.line, edge.path));
            found.push(steps.collect::<String>() + start);
            shown.extend(cycle.iter().map(|&(from, _)| from));
        }
        found
    }

    /// Modules without a layer, and layers without a module.
    fn wrong_layers(&self) -> Vec<String> {
        let layers: BTreeSet<_> = self.layers().into_iter().collect();
        let modules: BTreeSet<_> =
            self.0.keys().map(|name| top(name)).filter(|top| !["lib", "main"].contains(top)).collect();
        let unnamed = modules
            .difference(&layers)
            .map(|module| format!("src/{module}: no layer in the diagram of src/lib.rs"));
        let gone =
            layers.difference(&modules).map(|layer| format!("src/lib.rs: the layer {layer} is no module"));
        unnamed.chain(gone).collect()
    }

    /// Flags in docs and strings of the library, whose users have fields. `Setting` names them.
    fn flags(&self) -> Vec<String> {
        let mut found = Vec::new();
        let library =
            self.0.iter().filter(|(name, _)| !["cli", "main"].contains(&top(name)) && !is_test(name));
        for (name, text) in library {
            let strings = strings(text).into_iter().map(|string| (string.line, string.text));
            let is_doc = |line: &str| ["///", "//!"].iter().any(|mark| line.trim_start().starts_with(mark));
            let docs = comments(text).filter(|(_, line)| is_doc(line));
            let flags = docs.chain(strings).filter_map(|(line, text)| Some((line, flag_in(text)?)));
            found.extend(flags.map(|(line, flag)| {
                format!(
                    "{name}:{line}: --{flag}: the library has no flags; use Setting, or its field in docs"
                )
            }));
        }
        found
    }

    fn long_files(&self) -> Vec<String> {
        let lines = self.0.iter().map(|(name, text)| (name, text.lines().count()));
        let long = lines.filter(|&(_, lines)| lines > FILE_LINES_MAX);
        long.map(|(name, lines)| format!("{name}: {lines} lines, at most {FILE_LINES_MAX}")).collect()
    }

    fn wide_comments(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, text) in &self.0 {
            let columns = comments(text).map(|(line, text)| (line, text.chars().count()));
            let wide = columns.filter(|&(_, columns)| columns > COMMENT_COLUMNS_MAX);
            found.extend(wide.map(|(line, columns)| {
                format!("{name}:{line}: a comment of {columns} columns, at most {COMMENT_COLUMNS_MAX}")
            }));
        }
        found
    }

    /// Functions that are too long, except in tests.
    fn long_functions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, text) in self.0.iter().filter(|(name, _)| !is_test(name)) {
            let long =
                functions(&tokens(text)).into_iter().filter(|function| function.lines > FUNCTION_LINES_MAX);
            found.extend(long.map(|function| {
                format!(
                    "{name}:{}: {}: {} lines, at most {FUNCTION_LINES_MAX}",
                    function.line, function.name, function.lines
                )
            }));
        }
        found
    }
}

/// The segments of a module's path; none for the root.
fn module(file: &str) -> Vec<&str> {
    let path = file.trim_start_matches("src/").trim_end_matches(".rs").trim_end_matches("/mod");
    if ["lib", "main"].contains(&path) { Vec::new() } else { path.split('/').collect() }
}

/// The top-level module of `file`.
fn top(file: &str) -> &str {
    module(file).first().copied().unwrap_or(if file.ends_with("main.rs") { "main" } else { "lib" })
}

/// The lines of `text` that are comments, with their numbers.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(text.lines()).filter(|(_, line)| line.trim_start().starts_with("//"))
}

/// The first flag in `text`, without its hyphens.
fn flag_in(text: &str) -> Option<&str> {
    text.match_indices("--").find_map(|(at, _)| {
        // Two hyphens in a word, as in `xn--a`, are not a flag.
        let is_in_word = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
        let word = text[at + 2..].split(|c: char| !c.is_ascii_lowercase() && c != '-').next()?;
        (!is_in_word && word.starts_with(|c: char| c.is_ascii_lowercase())).then_some(word)
    })
}

fn is_test(file: &str) -> bool {
    module(file).contains(&"tests")
}

/// The file of the deepest module in `path`, resolved from the module `own`. `None` for other crates.
fn target<'f>(modules: &BTreeMap<Vec<&str>, &'f str>, own: &[&str], path: &[&str]) -> Option<&'f str> {
    let is_child = |word: &str| modules.contains_key(&[own, &[word]].concat());
    let ups = path.iter().take_while(|word| **word == "super").count();
    let (mut at, rest) = match path[0] {
        "crate" | "sitemill" => (Vec::new(), &path[1..]),
        "self" => (own.to_vec(), &path[1..]),
        "super" => (own[..own.len().checked_sub(ups)?].to_vec(), &path[ups..]),
        word if is_child(word) => (own.to_vec(), path),
        _ => return None,
    };
    for &word in rest {
        at.push(word);
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    modules.get(&at).copied()
}

/// The shortest chain of imports from `start` back to itself.
fn way<'e>(edges: &'e BTreeMap<&'e str, Vec<Edge>>, start: &str) -> Option<Vec<(&'e str, &'e Edge)>> {
    let (&start, _) = edges.get_key_value(start)?;
    let (mut reached, mut next) = (BTreeMap::<&str, (&str, &Edge)>::new(), VecDeque::from([start]));
    while let Some(from) = next.pop_front() {
        for edge in edges.get(from).into_iter().flatten() {
            if reached.contains_key(&*edge.to) {
                continue;
            }
            reached.insert(&edge.to, (from, edge));
            next.push_back(&edge.to);
        }
    }
    let mut steps = vec![*reached.get(start)?];
    while let Some(&(from, _)) = steps.last().filter(|step| step.0 != start) {
        steps.push(reached[from]);
    }
    steps.reverse();
    Some(steps)
}

#[track_caller]
fn check_none(found: Vec<String>) {
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}

#[test]
fn modules_import_only_from_lower_layers() {
    check_none(Sources::read("src").upward_imports());
}

#[test]
fn no_files_import_from_each_other_in_a_circle() {
    check_none(Sources::read("src").cycles());
}

#[test]
fn the_diagram_in_lib_rs_has_every_module_and_no_other() {
    check_none(Sources::read("src").wrong_layers());
}

#[test]
fn no_text_or_doc_of_the_library_names_a_flag() {
    check_none(Sources::read("src").flags());
}

#[test]
fn files_are_short() {
    check_none(FOLDERS.iter().flat_map(|folder| Sources::read(folder).long_files()).collect());
}

#[test]
fn comments_are_narrow() {
    check_none(FOLDERS.iter().flat_map(|folder| Sources::read(folder).wide_comments()).collect());
}

#[test]
fn functions_are_short() {
    check_none(FOLDERS.iter().flat_map(|folder| Sources::read(folder).long_functions()).collect());
}

const LIB: &str = "//! # Modules\n//!\n//! ```text\n//!  roof   on top\n//!  wall   below it\n//! ```\nmod roof;\nmod wall;\n";

#[test]
fn an_upward_import_is_reported_with_its_line_and_both_layers() {
    let wall = "//! A wall.\n\nuse std::io;\nuse crate::roof::Tile;\n";
    let sources = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/roof.rs", "use crate::wall::Brick;"),
        ("src/wall.rs", wall),
    ]);
    let wanted = "src/wall.rs:4: crate::roof::Tile: wall must not import from roof, a higher layer";
    assert_eq!(sources.upward_imports(), [wanted]);
    let inline = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/roof.rs", ""),
        ("src/wall/brick.rs", "fn a() -> super::super::roof::Tile;"),
    ]);
    assert!(inline.upward_imports()[0].starts_with("src/wall/brick.rs:1: super::super::roof::Tile: "));
}

#[test]
fn a_cycle_is_reported_once_with_every_step() {
    let sources = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/roof.rs", "mod tile;\npub use tile::{Clay, Slate as Stone};\npub fn pitch() {}"),
        ("src/roof/tile.rs", "use super::{\n    pitch,\n};\n"),
        ("src/wall.rs", "pub use crate::roof::Clay;"),
    ]);
    let wanted = "src/roof.rs:2 tile::Clay -> src/roof/tile.rs:2 super::pitch -> src/roof.rs";
    assert_eq!(sources.cycles(), [wanted]);
}

#[test]
fn paths_in_comments_and_strings_are_not_taken_for_imports() {
    let wall = r##"
        //! [`crate::roof`] /* "
        /* use crate::roof; /* nested */ use crate::roof; */
        const A: (&str, &str, char) = ("use \"crate::roof", r#"crate::roof" "#, '"');
        fn longest<'a>(b: &'a str) -> impl Iterator<Item = &'a str> + use<'a> { b.lines() }
        #[cfg(test)]
        use crate::roof::{Tile, Slate};
        #[cfg(test)]
        mod tests { use crate::roof; fn a() { crate::roof::Tile; } }
        pub(in crate::roof) struct End;
    "##;
    let sources = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/roof.rs", ""),
        ("src/wall.rs", wall),
        ("src/wall/tests.rs", "use crate::roof;"),
    ]);
    assert_eq!(sources.upward_imports(), [""; 0]);
    let names: Vec<_> = functions(&tokens(wall)).into_iter().map(|function| function.name).collect();
    assert_eq!(names, ["longest"]);
}

#[test]
fn a_flag_in_a_doc_or_string_of_the_library_is_reported_with_its_line() {
    let wall = r##"
        /// Sets `--memory`.
        const A: &str = "xn--a"; // "--comment"
        fn a() { b("use fewer --threads", '"', "--"); }
        const RAW: &str = r#"say "--input-encoding NAME""#;
        #[cfg(test)]
        mod tests { const A: &str = "--test"; }
    "##;
    let sources = Sources::of(&[
        ("src/cli/args.rs", "const A: &str = \"--flag\";"),
        ("src/main.rs", "const A: &str = \"--flag\";"),
        ("src/wall.rs", wall),
        ("src/wall/tests.rs", "const A: &str = \"--flag\";"),
    ]);
    let wanted = [(2, "memory"), (4, "threads"), (5, "input-encoding")].map(|(line, flag)| {
        format!("src/wall.rs:{line}: --{flag}: the library has no flags; use Setting, or its field in docs")
    });
    assert_eq!(sources.flags(), wanted);
}

#[test]
fn modules_without_a_layer_and_layers_without_a_module_are_reported() {
    let sources = Sources::of(&[
        ("src/lib.rs", LIB),
        ("src/main.rs", ""),
        ("src/roof.rs", ""),
        ("src/door/knob.rs", ""),
    ]);
    let wanted =
        ["src/door: no layer in the diagram of src/lib.rs", "src/lib.rs: the layer wall is no module"];
    assert_eq!(sources.wrong_layers(), wanted);
}

#[test]
fn a_function_or_file_that_is_one_line_too_long_is_reported() {
    let function = |lines: usize| format!("fn long(\n) {{\n{}}}\n", "\n".repeat(lines - 3));
    let test = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(FUNCTION_LINES_MAX + 1));
    let text = format!("{}{}{test}", function(FUNCTION_LINES_MAX), function(FUNCTION_LINES_MAX + 1));
    let sources =
        Sources::of(&[("src/a.rs", &text), ("src/b.rs", &"\n".repeat(401)), ("src/c.rs", &"\n".repeat(400))]);
    assert_eq!(sources.long_functions(), ["src/a.rs:61: long: 61 lines, at most 60"]);
    assert_eq!(sources.long_files(), ["src/b.rs: 401 lines, at most 400"]);
}

#[test]
fn a_comment_that_is_one_column_too_wide_is_reported() {
    let comment = |columns: usize| format!("{:/<columns$}\n", "    // ");
    let sources = Sources::of(&[("src/a.rs", &format!("{}{}", comment(132), comment(133)))]);
    assert_eq!(sources.wide_comments(), ["src/a.rs:2: a comment of 133 columns, at most 132"]);
}
