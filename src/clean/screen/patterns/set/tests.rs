use super::super::{expression, vectors};
use super::*;
use crate::common::random::Random;

#[test]
fn the_first_of_several_patterns_that_match_is_found() {
    let patterns: Vec<Pattern> =
        ["^https://", r"\.pdf$", "/b/", r"(?i)[?&]sort="].map(|given| given.parse().unwrap()).into();
    let mut set = PatternSet::of(&patterns).unwrap().unwrap();
    let mut single = PatternSet::of(&patterns[1..2]).unwrap().unwrap();
    for (url, first, is_pdf) in [
        ("https://h.example/b/x.pdf", Some(0), true),
        ("http://h.example/b/x.pdf", Some(1), true),
        ("http://h.example/b/x.pdf?SORT=1", Some(2), false),
        ("http://h.example/x?a&SORT=1", Some(3), false),
        ("http://h.example/B/", None, false),
    ] {
        assert_eq!(set.first_match(url.as_bytes()), first, "{url}");
        assert_eq!(single.first_match(url.as_bytes()), is_pdf.then_some(0), "{url}");
    }
    assert!(PatternSet::of(&[]).unwrap().is_none());
}

/// The expected result of any set: the first pattern of all that match.
fn first_of_all(patterns: &[Pattern], url: &[u8]) -> Option<usize> {
    patterns.iter().position(|pattern| expression(pattern.as_str()).is_match(url))
}

#[test]
fn any_set_of_patterns_finds_what_a_look_at_each_pattern_finds() {
    let mut random = Random::new(11);
    let parts = [
        "^",
        "$",
        "(?i)",
        "(?i:b)",
        "/",
        "a",
        "b",
        "ab/",
        "A",
        "a|b",
        "(?:a|ba)",
        "(a)",
        "[ab]",
        "[^a]",
        "[a-z]",
        "[a-z]{20}",
        "(?:[0-9]a){60}",
        ".",
        ".*",
        "a+",
        "b?",
        "a{2}",
        "(?:ab){0,2}",
        r"\.",
        r"\?",
        r"\b",
        "^https://h/",
        "^http://h.e/",
        "[!-~]",
        r"\x00",
        "http://h.e/a",
        "^https?://[^/]+/",
        "(?m)^",
        "x=",
        "=",
        r"\.pdf$",
        "[?&]x=",
        "|",
        "%",
        "_",
    ];
    let url_parts =
        ["/", "a", "b", "ab/", "A", "B", ".", "?", "&", "x=", "X=", "=", ".pdf", ".PDF", "%", "_", "aa"];
    let (mut found, mut gated, mut packed, mut streamed, mut open) = (0, 0, 0, 0, 0);
    for round in 0..4_000 {
        let patterns: Vec<Pattern> = (0..1 + round % 12)
            .filter_map(|_| Pattern::well_formed(&random.joined(&parts, 1..6)).ok())
            .collect();
        let Some(mut set) = PatternSet::of(&patterns).unwrap() else { continue };
        let has = |is: fn(&Filter) -> bool| usize::from(set.groups.iter().any(|group| is(&group.filter)));
        gated += has(|filter| matches!(filter, Filter::Words { .. }));
        packed += has(|filter| matches!(filter, Filter::Match { .. }));
        streamed += has(|filter| matches!(filter, Filter::First(_)));
        open += has(|filter| matches!(filter, Filter::None));
        // The beginning of URLs is stable in some rounds.
        let (urls, origins) = if round % 50 == 0 { (2 * STABLE, 1) } else { (6, 3) };
        for _ in 0..urls {
            let path = random.joined(&url_parts, 0..12);
            let url = ["http://h.e/", "https://h/", "h"][random.below(origins)].to_owned() + &path;
            let want = first_of_all(&patterns, url.as_bytes());
            assert_eq!(set.first_match(url.as_bytes()), want, "{url} by {patterns:?}");
            found += usize::from(want.is_some());
        }
    }
    assert!((5_000..30_000).contains(&found), "{found}");
    let filters = [gated, packed, streamed, open];
    let are_all_tested = filters.iter().all(|&count| count > 100);
    assert!(are_all_tested || !vectors::are_available(), "{filters:?}");
}

#[test]
fn more_words_than_can_be_compared_or_searched_are_left_to_the_regular_expressions() {
    let patterns =
        |of: fn(usize) -> String| -> Vec<Pattern> { (0..300).map(|n| of(n).parse().unwrap()).collect() };
    let starts = patterns(|n| format!("^https://h/{n}/"));
    let within = patterns(|n| format!("/{n}/"));
    let bytes = ["\\?", "=", "&", "%", "~"].map(|pattern| pattern.parse().unwrap()).into();
    for patterns in [starts, within, bytes] {
        let mut set = PatternSet::of(&patterns).unwrap().unwrap();
        for n in [0, 15, 16, 63, 64, 255, 299, 300] {
            let url = format!("https://h/{n}/?a");
            assert_eq!(set.first_match(url.as_bytes()), first_of_all(&patterns, url.as_bytes()), "{url}");
        }
    }
}

#[test]
fn many_patterns_that_require_one_word_are_told_apart() {
    let patterns: Vec<Pattern> =
        (0..80).map(|n| format!("/item-[0-9]+/{n}[a-z]+$").parse().unwrap()).collect();
    let mut set = PatternSet::of(&patterns).unwrap().unwrap();
    for n in [0, 4, 5, 62, 63, 64, 79, 80] {
        let url = format!("https://h/item-1/{n}a");
        assert_eq!(set.first_match(url.as_bytes()), first_of_all(&patterns, url.as_bytes()), "{url}");
    }
}
