use super::*;
use crate::clean::screen::patterns::{expression, vectors};
use crate::common::random::Random;

fn streams(patterns: &[&str]) -> Option<Streams> {
    let patterns: Vec<Pattern> =
        patterns.iter().map(|pattern| Pattern::well_formed(pattern).unwrap()).collect();
    Streams::of(&patterns)
}

#[test]
fn it_matches_what_the_regular_expression_matches() {
    if !vectors::tests::are_available() {
        return;
    }
    let mut random = Random::new(23);
    let parts = [
        "a",
        "b",
        "/",
        "[ab]",
        "^http://[^/]+/",
        "^https?://",
        "[^a]",
        ".",
        ".*",
        "a+",
        "(?i:b)",
        "b{2,3}",
        "[ab]{3}",
        "[^/]{9,}",
        "^",
        "$",
        r"\b",
        r"\B",
        "|",
        "[^/]+/",
        "(?:/[^/]+){3,}",
        "(?:a|bb)*",
        "(a*b)+",
        "(?:ab?){2,}/",
        "^http://h/",
        "(?m)$",
        "a??",
        "[a-z0-9]{2,40}",
        "(?:(?:ab)*/)+",
        "%",
        "x{0}",
        r"\n",
    ];
    let (mut some, mut matches) = (0, 0);
    for round in 0..4_000 {
        let pattern = random.joined(&parts, 1..7);
        let regex = expression(&pattern);
        let Some(mut streams) = streams(&[&pattern]) else { continue };
        some += 1;
        for _ in 0..20 {
            // Around the length of one word, two, four and eight.
            let bytes = [12, 66, 130, 260, 520][round % 5];
            let mut url = b"http://h/".to_vec();
            url.extend((0..random.below(bytes)).map(|_| b"aaabbbbB/-"[random.below(10)]));
            // The beginning is one that the URL has, or one of which nothing is known.
            let beginning = [0, 7, 9, url.len(), random.below(url.len())][random.below(5)];
            streams.begin(&url[..beginning]);
            match streams.first_match(&url) {
                Ok(found) => {
                    let want = regex.is_match(&url).then_some(0);
                    assert_eq!(found, want, "{pattern} in {} from {beginning}", url.escape_ascii());
                    matches += usize::from(want.is_some());
                }
                Err(TooLong) => assert!(url.len() > 511),
            }
        }
    }
    assert!(some > 3_500 && (15_000..65_000).contains(&matches), "{some}, {matches}");
}

#[test]
fn the_first_of_several_patterns_is_found() {
    if !vectors::tests::are_available() {
        return;
    }
    let mut streams = streams(&["[^/]{40,}", "^https?://[^/]+(/[^/]+){8,}", "[0-9]{20}$"]).unwrap();
    let segments = "http://h".to_owned() + &"/a".repeat(8);
    let long = "x".repeat(40);
    let digits = "7".repeat(20);
    for (url, want) in [
        ("http://h/", None),
        (&segments[1..], None),
        (&segments[..segments.len() - 2], None),
        (&segments, Some(1)),
        (&format!("{segments}{digits}"), Some(1)),
        (&format!("http://h/{digits}"), Some(2)),
        (&format!("http://h/{digits}x"), None),
        (&format!("{segments}/{long}"), Some(0)),
        (&format!("http://h/{}", &long[1..]), None),
        ("", None),
    ] {
        assert_eq!(streams.first_match(url.as_bytes()), Ok(want), "{url}");
    }
    assert_eq!(streams.first_match(&[b'a'; 512]), Err(TooLong));
}

#[test]
fn patterns_that_take_many_steps_are_refused() {
    if !vectors::tests::are_available() {
        return;
    }
    for (pattern, is_some) in [
        ("[^/]{255}", true),
        ("x[a-z]{2,30}x", true),
        ("x[a-z]{2,60}x", false),
        ("(?:[0-9][a-z]){60}", false),
        ("(?:[0-9][a-z]){4000}", false),
        ("(?:(?:[0-9]+/)+[a-z])+$", true),
        (r"\b{start}a", false),
        ("abcdefghijklmnopqrstuvwxyz", false),
    ] {
        assert_eq!(streams(&[pattern]).is_some(), is_some, "{pattern}");
    }
}
