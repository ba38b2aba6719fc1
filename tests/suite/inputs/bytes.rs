//! Lines that are not UTF-8 are counted in every input format.

use std::fs;

use super::report_of;
use crate::support::{TempDir, finish, gzip, sitemill};

/// Lines of text, and the number of accepted ones that are not UTF-8.
fn lines() -> (Vec<u8>, u64) {
    let mut text = Vec::new();
    let mut not_utf8 = 0;
    for (line, is_counted) in [
        (&b"https://h.example/plain"[..], false),
        ("https://h.example/\u{fc}".as_bytes(), false),
        (b"https://h.example/\xfc", true),
        (b"https://h.example/%FC", false),
        // A duplicate is converted and counted too.
        (b"https://h.example/\xfc", true),
        (b"HTTPS://H.example/a/../\xe9?\xe9", true),
        (b"https://h.example/ok\xc3", true),
        // The fragment is removed, so its bytes are not converted.
        (b"https://h.example/fragment#\xfc", false),
        (b"https://\xfc.example/host", false),
        (b"https://other.example/\xfc", false),
        (b"ftp://h.example/\xfc", false),
        (b"\xfc", false),
        (b"", false),
    ] {
        text.extend_from_slice(line);
        text.push(b'\n');
        not_utf8 += u64::from(is_counted);
    }
    (text, not_utf8)
}

/// `header`, then each line of `text` between `before` and `after`.
fn rows(header: &str, before: &str, text: &[u8], after: &str) -> Vec<u8> {
    let lines = text.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n');
    let rows = lines.map(|line| [before.as_bytes(), line, after.as_bytes(), b"\n"].concat());
    [header.as_bytes().to_vec(), rows.collect::<Vec<_>>().concat()].concat()
}

#[test]
fn lines_that_are_not_utf8_are_counted_in_every_form_and_order() {
    let directory = TempDir::new();
    let (text, want) = lines();
    fs::create_dir(directory.join("in")).unwrap();
    directory.file("in/a.txt", &text);
    directory.file("in/b.txt.gz", gzip(&text));
    directory.file("in/c.csv", rows("x,url\n", "1,", &text, ""));
    // With a dropped tag, the row is kept as it was written.
    directory.file("in/d.tsv", rows("lastmod\turl\n", "yesterday\t", &text, ""));
    directory.file("in/e.csv", rows("lastmod,url,x\n", "2024-05-01,\"", &text, "\",1"));
    directory.file("in/f.txt", rows("https://h.example/g priority=0.1\n", "", &text, " priority=0.5"));
    // Invalid UTF-8 is not JSON.
    directory.file("in/g.jsonl", rows("{\"url\":\"https://h.example/json\"}\n", "{\"url\":\"", &text, "\"}"));
    for order in ["input", "sorted"] {
        for (threads, inputs, times) in [("1", &["in"][..], 6), ("4", &["in"], 6), ("2", &["in", "-"], 7)] {
            let options = ["--order", order, "--threads", threads, "--metrics", "metrics.prom"];
            let (_, report) = report_of(&directory, inputs, &options, &text);
            assert_eq!(report["non_utf8_lines"], times * want, "{order}, {inputs:?}");
            let metrics = fs::read_to_string(directory.join("metrics.prom")).unwrap();
            let gauge =
                format!("sitemill_non_utf8_lines{{base_url=\"https://h.example/\"}} {}\n", times * want);
            assert!(metrics.contains(&gauge), "{metrics}");
        }
    }
    // With the right encoding, the count is 0.
    let options = ["--input-encoding", "windows-1252"];
    assert_eq!(report_of(&directory, &["in/a.txt"], &options, b"").1["non_utf8_lines"], 0);
}

#[test]
fn the_summary_and_the_filter_name_the_option_that_converts_them() {
    let directory = TempDir::new();
    let (text, want) = lines();
    let hint = |count: u64| {
        format!(
            "{count} lines are not UTF-8: their bytes were percent-encoded as is; \
             --input-encoding NAME converts them\n"
        )
    };
    let mut build = sitemill();
    build.current_dir(directory.path()).args(["build", "--base-url", "https://h.example/", "--out", "out"]);
    let built = finish(&mut build, &text).expect(0);
    assert!(built.stderr.contains(&format!("  {}", hint(want))), "{}", built.stderr);
    for threads in ["1", "3"] {
        // `clean` has no scope, so it accepts one line more.
        let cleaned = finish(sitemill().args(["clean", "--threads", threads]), &text).expect(0);
        assert!(cleaned.stderr.ends_with(&hint(want + 1)), "{}", cleaned.stderr);
    }
    let plain = finish(sitemill().arg("clean"), b"https://h.example/a\n").expect(0);
    assert!(!plain.stderr.contains("UTF-8"));
}
