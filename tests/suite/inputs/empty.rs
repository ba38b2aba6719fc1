//! Files of 0 bytes: valid lists and tables, and nothing else.

use super::*;
use crate::support::{assert_says, published_urls, sitemill};

/// Builds `inputs` in `directory`.
fn build(directory: &TempDir, inputs: &[&str], options: &[&str]) -> Run {
    let mut command = build_command(Path::new("out"), BASE);
    finish(command.current_dir(directory.path()).args(options).args(inputs), b"")
}

/// A directory with one URL in `urls.csv`, and empty files with these names.
fn with_empty(names: &[&str]) -> TempDir {
    let directory = TempDir::new();
    directory.file("urls.csv", format!("loc,kind\n{BASE}1,a\n"));
    names.iter().for_each(|name| _ = directory.file(name, ""));
    directory
}

#[test]
fn a_file_without_a_byte_is_refused_if_its_name_is_that_of_packed_text_parquet_or_xml() {
    let files = [
        ("a.csv.gz", "gzip"),
        ("a.JSONL.ZST", "zstd"),
        ("a.txt.bz2", "bzip2"),
        ("a.xml.gz", "gzip"),
        ("a.xml", "a sitemap"),
        ("a.parquet", "Parquet"),
        ("a.txt.xz", "xz"),
        ("a.xlsx", "a spreadsheet"),
    ];
    let directory = with_empty(&files.map(|(name, _)| name));
    for (name, what) in files {
        let said = format!(
            "{name}: is empty, so it is not {what}, though its name says so; recreate the file, or leave it out\n"
        );
        assert_says(&build(&directory, &["urls.csv", name], &[]).expect(65), &[&said]);
        let mut clean = sitemill();
        assert_says(
            &finish(clean.args(["clean", name]).current_dir(directory.path()), b"").expect(65),
            &[&said],
        );
    }
    // The option says what the text is, not how it is packed.
    build(&directory, &["urls.csv", "a.csv.gz"], &["--format", "csv"]).expect(65);
    build(&directory, &["urls.csv", "a.parquet", "a.xml"], &["--format", "csv"]).expect(0);
    // An XML document has a root, however it is packed.
    directory.file("b.xml.gz", gzip(b""));
    let said = "b.xml.gz: is empty, so it is not a sitemap, though its name says so";
    assert_says(&build(&directory, &["urls.csv", "b.xml.gz"], &[]).expect(65), &[said]);
}

#[test]
fn empty_lists_and_tables_are_valid_without_a_warning_however_rows_are_read() {
    let names = ["a.txt", "a.csv", "a.tsv", "a.jsonl", "a", "-"];
    let directory = with_empty(&names[..5]);
    directory.file("a.csv.gz", gzip(b""));
    let inputs = [&["urls.csv", "a.csv.gz"], &names[..]].concat();
    for options in [&[][..], &["--section-column", "kind"]] {
        assert_eq!(build(&directory, &inputs, options).expect(0).stderr, "");
        assert_eq!(published_urls(&directory.join("out"), BASE), [format!("{BASE}1")]);
        fs::remove_dir_all(directory.join("out")).unwrap();
    }
}

#[test]
fn an_index_file_that_lists_an_empty_file_is_refused_whatever_the_name_of_that_file() {
    for member in ["b.xml.gz", "b.txt", "b"] {
        let directory = with_empty(&[member]);
        directory.file("a.xml", format!("<urlset><url><loc>{BASE}1</loc></url></urlset>"));
        let entry = |file| format!("<sitemap><loc>{BASE}{file}</loc></sitemap>");
        let entries = ["a.xml", member].map(entry).concat();
        let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
        directory.file("index.xml", format!("<sitemapindex xmlns=\"{namespace}\">{entries}</sitemapindex>"));
        let said =
            format!("index.xml: lists {member}, which is empty; recreate that file, or give the other files");
        assert_says(&build(&directory, &["index.xml"], &[]).expect(65), &[&said]);
    }
}
