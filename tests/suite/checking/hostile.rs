//! Files that were made to use up memory, to lead to other files, or to control a terminal.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::{lines, sitemap};
use crate::support::{TempDir, build_command, contents, finish, run};

#[test]
fn hostile_files_take_bounded_resources_and_open_no_other_file() {
    let directory = TempDir::new();
    let secret = directory.file("secret.txt", "TOP SECRET");
    let spaces = vec![b' '; 1 << 20];
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(9));
    (0..300).for_each(|_| std::io::Write::write_all(&mut bomb, &spaces).unwrap());
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 400_000);
    let lol = |n: u32| format!("<!ENTITY l{n} \"{}\">", format!("&l{};", n - 1).repeat(10));
    let laughs: String = (1..10).map(lol).collect();
    let laughs = format!("<!DOCTYPE urlset [<!ENTITY l0 \"lol\">{laughs}]>{}", sitemap("&l9;"));
    let external = format!(
        "<!DOCTYPE urlset [<!ENTITY x SYSTEM \"file://{}\">]>{}",
        secret.display(),
        sitemap("<url><loc>http://h.example/&x;</loc></url>")
    );
    let out = directory.join("out");
    finish(&mut build_command(&out, "http://h.example/"), b"http://h.example/live\n").expect(0);
    let live = contents(&out);
    let attributes: String = (0..1_000_000).map(|n| format!(" a{n}=\"\"")).collect();
    let declarations: String = (0..100_000).map(|n| format!(" xmlns:a{n}=\"http://h.example/\"")).collect();
    for (name, content, want) in [
        ("bomb.xml.gz", bomb, "too-large"),
        ("laughs.xml", laughs.into_bytes(), "doctype"),
        ("external.xml", external.into_bytes(), "doctype"),
        ("nested.xml", sitemap(&"<url>".repeat(5_000_000)).into_bytes(), "unknown-element"),
        ("open-tag.xml", sitemap(&format!("<url {}", "x".repeat(40_000_000))).into_bytes(), "well-formed"),
        ("comment.xml", format!("<!--{}", ">-".repeat(20_000_000)).into_bytes(), "well-formed"),
        (
            "loc.xml",
            sitemap(&format!("<url><loc>{}</loc></url>", "&amp;".repeat(8_000_000))).into(),
            "loc-too-long",
        ),
        ("attributes.xml", sitemap(&format!("<url{attributes}></url>")).into(), "well-formed"),
        ("declarations.xml", sitemap(&format!("<url{declarations}></url>")).into(), "well-formed"),
        ("links.xml", sitemap(&format!("<url>{}", "<x:link/>".repeat(4_000_000))).into(), "namespace"),
        ("zeros.xml", vec![0; 60_000_000], "well-formed"),
    ] {
        let file = directory.file(name, content);
        // 400 MB of memory and 60 seconds: several times the need of a run, and far less than the files try to use.
        let limited = |words: &[&OsStr]| {
            let mut limited = std::process::Command::new("prlimit");
            limited.args(["--as=400000000", "--cpu=60", env!("CARGO_BIN_EXE_sitemill")]).args(words);
            finish(limited.args(["--threads", "1"]).arg(&file), b"")
        };
        for words in [
            &["urls".as_ref()][..],
            &["diff".as_ref(), "--memory=8MiB".as_ref(), out.as_ref()],
            &["build".as_ref(), "--base-url=http://h.example/".as_ref(), "--out".as_ref(), out.as_ref()],
        ] {
            let run = limited(words).expect(65);
            let told = [run.stdout, run.stderr.into_bytes()].concat();
            assert!(told.len() < 1_000_000, "{name}: {words:?}");
            assert!(!String::from_utf8_lossy(&told).contains("TOP SECRET"), "{name}: {words:?}");
            assert!(contents(&out) == live, "{name}");
        }
        let run = limited(&["check".as_ref()]).expect(65);
        let told = String::from_utf8(run.stdout).unwrap();
        assert!(told.lines().next().unwrap().contains(&format!("{want}: ")), "{name}: {told:.300}");
        assert!(told.len() < 1_000_000 && !told.contains("TOP SECRET"), "{name}");
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn names_in_an_index_file_cannot_leave_its_directory() {
    let directory = TempDir::new();
    directory.file("outside.xml", "secret");
    let inside = directory.join("inside");
    fs::create_dir(&inside).unwrap();
    std::os::unix::fs::symlink(directory.join("outside.xml"), inside.join("link.xml")).unwrap();
    let entries: String = ["../outside.xml", "%2e%2e%2foutside.xml", "link.xml"]
        .map(|name| format!("<url><loc>http://h.example/{name}</loc></url>"))
        .concat();
    let index = sitemap(&entries).replace("urlset", "sitemapindex").replace("url>", "sitemap>");
    fs::write(inside.join("sitemap-index-1.xml"), index).unwrap();
    let run = run([Path::new("check"), Path::new("--base-url"), Path::new("http://h.example/"), &inside])
        .expect(65);
    let told = lines(&run);
    // No URL leads above the root of its host, so the first file would be in the directory. The link is also one of its own files.
    assert!(told.len() == 3 && told[1].contains("entry 1: missing-file"), "{told:?}");
    assert!([0, 2].iter().all(|&at| told[at].contains("link.xml") && told[at].contains("missing-file")));
    assert!(run.stderr.contains("0 sitemaps and 1 index file"), "{}", run.stderr);
}

#[test]
fn bytes_of_a_file_reach_the_terminal_only_escaped() {
    let directory = TempDir::new();
    let loc = format!("http://h.example/\u{202e}\u{9b}31m{}", "x".repeat(500));
    let file = directory.file("a.xml", sitemap(&format!("<url><loc>{loc}</loc></url><\u{9b}/>")));
    let told = String::from_utf8(run([Path::new("check"), &file]).expect(65).stdout).unwrap();
    assert!(told.contains(r"\xe2\x80\xae\xc2\x9b31m") && !told.contains(['\u{202e}', '\u{9b}']));
    assert!(told.lines().all(|line| line.len() < 800));
}
