//! Sets in the directory that `build` published them in, of which index files are damaged or have copies.

use std::fs;
use std::path::{Path, PathBuf};

use super::{BASE, rules, sitemap};
use crate::support::{TempDir, build_command, finish, gzip};

/// Publishes six sitemaps. Returns the directory and its index file.
fn published(directory: &TempDir) -> (PathBuf, PathBuf) {
    let out = directory.join("out");
    let pages: String = (0..6).map(|page| format!("{BASE}{page}\n")).collect();
    finish(build_command(&out, BASE).args(["--urls-per-sitemap", "1"]), pages.as_bytes()).expect(0);
    let index = out.join("sitemap-index-1.xml");
    (out, index)
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::write(path, content).unwrap();
}

#[test]
fn a_damaged_index_file_is_a_finding_and_not_one_for_each_sitemap() {
    let directory = TempDir::new();
    let (out, index) = published(&directory);
    let whole = fs::read_to_string(&index).unwrap();
    for (content, want) in [
        (String::new(), "well-formed"),
        (whole[..300].to_owned(), "well-formed"),
        ("<html><body>502 Bad Gateway</body></html>".to_owned(), "root"),
        (whole.replace("sitemap/0.9", "sitemap/9.0"), "namespace"),
        (sitemap(&format!("<url><loc>{BASE}</loc></url>")), "robots"),
    ] {
        write(&index, &content);
        assert_eq!(rules(&out), [want], "{content}");
    }
    for (wrong, want) in [("https://other.example/", "out-of-scope"), ("/", "loc-grammar")] {
        write(&index, whole.replace(BASE, wrong));
        assert_eq!(rules(&out), [want; 6], "{wrong}");
    }
    // An index file that can be read shows what is not listed.
    let lines: Vec<&str> = whole.lines().filter(|line| !line.contains("sitemap-00002")).collect();
    write(&index, lines.join("\n"));
    assert_eq!(rules(&out), ["unlisted"]);
}

#[test]
fn a_compressed_copy_of_an_index_file_is_no_finding_unless_it_is_old() {
    let directory = TempDir::new();
    let (out, index) = published(&directory);
    let copy = out.join("sitemap-index-1.xml.gz");
    write(&copy, gzip(&fs::read(&index).unwrap()));
    assert_eq!(rules(&out), [""; 0]);
    write(&copy, gzip(b"old"));
    assert_eq!(rules(&out), ["robots"]);
}

#[test]
fn a_sitemap_in_a_directory_below_a_copy_is_read_if_it_is_there() {
    let directory = TempDir::new();
    let out = directory.join("out");
    let below = out.join("sub");
    fs::create_dir_all(&below).unwrap();
    write(&below.join("x.xml"), sitemap(&format!("<url><loc>{BASE}sub/x y</loc></url>")));
    let mut build = build_command(&out, BASE);
    build.arg("--also").arg(below.join("x.xml"));
    finish(&mut build, format!("{BASE}1\n").as_bytes()).expect(0);
    assert_eq!(rules(&out), [""; 0], "the set only lists it");
    fs::remove_dir_all(out.join(".sitemill")).unwrap();
    assert_eq!(rules(&out), ["loc-grammar"]);
    fs::remove_dir_all(below).unwrap();
    assert_eq!(rules(&out), [""; 0], "it may be elsewhere");
}
