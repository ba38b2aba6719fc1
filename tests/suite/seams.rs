//! Limits at which a file ends and the next one begins.

use std::fmt::Write;

use crate::support::{TempDir, assert_valid_set, build_command, finish, locs, published, published_urls};

const BASE: &str = "http://h.example/";

/// Builds `urls` with `options`, checks the set, and returns its files.
fn build(urls: &[String], options: &[&str]) -> Vec<(String, String)> {
    let directory = TempDir::new();
    let input = directory.file("urls.txt", urls.join("\n"));
    let out = directory.join("out");
    finish(build_command(&out, BASE).arg(input).args(options), b"").expect(0);
    assert_eq!(published_urls(&out, BASE), urls, "every URL once and in its order");
    assert_valid_set(&out, BASE, if options.contains(&"0.84") { "0.84" } else { "0.9" });
    published(&out, BASE)
}

fn numbered(urls: usize) -> Vec<String> {
    (0..urls).map(|n| format!("{BASE}page-{n}")).collect()
}

/// The number of URLs in each sitemap.
fn sizes(files: &[(String, String)]) -> Vec<usize> {
    files.iter().filter(|(file, _)| file.ends_with(".gz")).map(|(_, xml)| locs(xml).len()).collect()
}

#[test]
fn sitemaps_hold_fifty_thousand_urls_and_one_more_starts_the_next() {
    for (urls, want) in [
        (1, &[1][..]),
        (49_999, &[49_999]),
        (50_000, &[50_000]),
        (50_001, &[50_000, 1]),
        (99_999, &[50_000, 49_999]),
        (100_000, &[50_000, 50_000]),
        (100_001, &[50_000, 50_000, 1]),
    ] {
        assert_eq!(sizes(&build(&numbered(urls), &["--level", "1"])), want);
    }
}

#[test]
fn a_thousand_sitemaps_fit_in_one_index_file_and_one_more_needs_two() {
    for (sitemaps, want) in
        [(999, &[999][..]), (1_000, &[1_000]), (1_001, &[1_000, 1]), (2_001, &[1_000, 1_000, 1])]
    {
        for protocol in ["0.9", "0.84"] {
            let options = ["--urls-per-sitemap", "2", "--protocol", protocol];
            let files = build(&numbered(2 * sitemaps - 1), &options);
            let indexes: Vec<usize> = files
                .iter()
                .filter(|(file, _)| file.starts_with("sitemap-index-"))
                .map(|(_, xml)| locs(xml).len())
                .collect();
            assert_eq!(indexes, want);
        }
    }
}

#[test]
fn a_sitemap_is_filled_to_the_last_byte_and_never_beyond() {
    // Entries of different sizes, some much larger once escaped.
    let urls: Vec<String> = (0..3_000)
        .map(|n| {
            let mut url = format!("{BASE}{n}");
            (0..n % 41).for_each(|m| url.push_str(["a", "&", "'", "bc"][(n + m) % 4]));
            url
        })
        .collect();
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    for bytes_max in [1_000, 1_001, 4_096, 65_536] {
        let files = build(&urls, &["--bytes-per-sitemap", &bytes_max.to_string()]);
        let sitemaps: Vec<&str> =
            files.iter().filter(|(file, _)| file.ends_with(".gz")).map(|(_, xml)| xml.as_str()).collect();
        for (sitemap, next) in sitemaps.iter().zip(sitemaps.iter().skip(1)) {
            assert!(sitemap.starts_with(head) && sitemap.ends_with("</urlset>\n"));
            assert!(sitemap.len() <= bytes_max);
            let first_of_next = next[head.len()..].split_inclusive('\n').next().unwrap();
            assert!(sitemap.len() + first_of_next.len() > bytes_max, "the next entry would have fitted");
        }
    }
}

#[test]
fn an_index_file_keeps_the_byte_limit_too() {
    let files = build(&numbered(60), &["--urls-per-sitemap", "1", "--bytes-per-sitemap", "1000"]);
    let indexes: Vec<_> = files.iter().filter(|(file, _)| file.starts_with("sitemap-index-")).collect();
    assert!(indexes.len() > 5);
    assert!(indexes.iter().all(|(_, xml)| xml.len() <= 1_000));
}

#[test]
fn a_split_by_bytes_and_then_one_by_count_lose_nothing_between_them() {
    let mut urls = numbered(0);
    for n in 0..400 {
        let mut url = format!("{BASE}{n}/");
        if n < 40 {
            write!(url, "{}", "x".repeat(1_900)).unwrap();
        }
        urls.push(url);
    }
    let sizes = sizes(&build(&urls, &["--bytes-per-sitemap", "10KiB", "--urls-per-sitemap", "100"]));
    // Five long URLs fill a sitemap by bytes, and short ones the rest of the eighth; after that the count decides.
    assert_eq!(sizes, [5, 5, 5, 5, 5, 5, 5, 14, 100, 100, 100, 51]);
}
