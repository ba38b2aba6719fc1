//! The output depends only on the input and the options.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::corpus::{Corpus, Recipe};
use crate::support::{TempDir, build_command, files, finish};

const BASE: &str = "https://www.example.com/";

/// The content of every published file, by name.
fn bytes(out: &Path) -> BTreeMap<String, Vec<u8>> {
    files(out).into_iter().map(|file| (file.clone(), fs::read(out.join(file)).unwrap())).collect()
}

#[test]
fn any_number_of_threads_and_any_way_of_reading_give_the_same_bytes() {
    let recipe = Recipe { lines: 120_000, duplicates: 0.2, non_ascii: 0.1, bad: 0.05, ..Recipe::default() };
    let text = Corpus::new(&recipe).unwrap().text();
    let directory = TempDir::new();
    let input = directory.file("urls.txt", &text);
    let build = |name: &str, threads: &str, from_pipe: bool| {
        let out = directory.join(name);
        let mut command = build_command(&out, BASE);
        command.args(["--urls-per-sitemap", "5000", "--threads", threads]);
        if from_pipe {
            finish(command.arg("-"), &text).expect(0);
        } else {
            finish(command.arg(&input), b"").expect(0);
        }
        bytes(&out)
    };
    let want = build("1", "1", false);
    assert!(want.len() > 15);
    assert!(build("2", "2", false) == want, "two threads");
    assert!(build("7", "7", false) == want, "seven threads");
    assert!(build("pipe", "2", true) == want, "a pipe");
    assert!(build("1", "2", false) == want, "over an existing set");
}

#[test]
fn a_file_split_into_pieces_gives_the_same_set() {
    let text = Corpus::new(&Recipe { lines: 40_000, duplicates: 0.3, ..Recipe::default() }).unwrap().text();
    let directory = TempDir::new();
    let whole = directory.file("whole.txt", &text);
    let mut pieces = Vec::new();
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for (number, piece) in lines.chunks(7_001).enumerate() {
        pieces.push(directory.file(&format!("piece-{number}.txt"), piece.concat()));
    }
    let build = |name: &str, inputs: &[std::path::PathBuf]| {
        let out = directory.join(name);
        finish(build_command(&out, BASE).args(inputs), b"").expect(0);
        bytes(&out)
    };
    assert!(build("a", &[whole]) == build("b", &pieces));
}
