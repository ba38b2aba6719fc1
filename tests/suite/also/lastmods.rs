//! The `lastmod` of a sitemap from elsewhere, if those in it are ambiguous or wrong.

use super::*;

#[test]
fn times_without_a_zone_are_in_that_of_the_inputs() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    fs::write(out.join("news.xml"), sitemap(&["2024-05-01", "2024-06-01T10:00:00"])).unwrap();
    let done = build(&out, 1, &["out/news.xml"], &["--lastmod-zone", "+02:00", "--lastmod-unit", "seconds"]);
    assert!(!done.expect(0).stderr.contains("warning"));
    let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
    assert!(index.contains("news.xml</loc><lastmod>2024-06-01T10:00:00+02:00<"), "{index}");
}

#[test]
fn a_lastmod_that_cannot_be_read_is_named_and_the_time_of_the_file_counts() {
    let directory = TempDir::new();
    let out = with_news(&directory);
    let news = out.join("news.xml");
    for (lastmods, first, want) in [
        (["2020-01-01", "2024-06-01T10:00:00", "2026-11"], "2024-06-01T10:00:00", "2024-07-02T02:02:02Z"),
        (["2026-11", "", "2025-01-01"], "2026-11", "2025-01-01"),
    ] {
        fs::write(&news, sitemap(&lastmods)).unwrap();
        let touched = Command::new("touch").args(["-d", "2024-07-02T02:02:02Z"]).arg(&news).status();
        assert!(touched.unwrap().success());
        let done = build(&out, 1, &["out/news.xml"], &[]).expect(0);
        let said = format!("--also out/news.xml: the lastmod {first} cannot be read, so the index file has");
        assert_eq!(done.stderr.matches(&said).count(), 1, "{}", done.stderr);
        assert!(done.stderr.contains("--lastmod-zone"), "{}", done.stderr);
        let index = fs::read_to_string(out.join("sitemap-index-1.xml")).unwrap();
        assert!(index.contains(&format!("news.xml</loc><lastmod>{want}</lastmod>")), "{index}");
    }
}
