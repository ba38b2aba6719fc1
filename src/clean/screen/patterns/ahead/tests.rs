use super::super::{expression, vectors};
use super::*;
use crate::common::random::Random;
use crate::intake::lines::lines;

fn look_ahead(patterns: &[String]) -> LookAhead {
    LookAhead::new(patterns.iter().map(|pattern| Pattern::well_formed(pattern).unwrap()).collect())
}

/// How many lines of `text` are cleared, of how many that no pattern matches. What is foreseen is what the patterns match.
fn cleared(ahead: &mut LookAhead, patterns: &[String], text: &str) -> (usize, usize) {
    let expressions: Vec<_> = patterns.iter().map(|pattern| expression(pattern)).collect();
    let reader = lines(text.as_bytes(), 0);
    let text = reader.left();
    ahead.begin(text);
    let (mut cleared, mut unmatched) = (0, 0);
    for line in reader {
        let first = expressions.iter().position(|expression| expression.is_match(line.raw));
        let is_cleared = ahead.has_cleared(line.raw, text);
        let foreseen = ahead.foresee(line.raw, text);
        let want = first.map_or(Foreseen::NoMatch, Foreseen::First);
        let is_right = foreseen == want || foreseen == Foreseen::Unknown;
        assert!(is_right, "{foreseen:?}, not {want:?}: {} by {patterns:?}", line.raw.escape_ascii());
        assert_eq!(is_cleared, foreseen == Foreseen::NoMatch);
        cleared += usize::from(is_cleared);
        unmatched += usize::from(first.is_none());
    }
    (cleared, unmatched)
}

#[test]
fn no_line_that_matches_is_cleared() {
    let mut random = Random::new(43);
    let parts = [
        "^",
        "$",
        "^https://",
        "^https://h.example/",
        r"^https://[a-z]\.example/",
        "^http://other.example/a",
        "/private/",
        "(?i)/PRINT/",
        r"\.pdf$",
        r"\.(jpe?g|png)$",
        "[0-9]{4}",
        "[^/]{30,}",
        "^https?://[^/]+/[^a]",
        "(?:/[^/]+){4,}",
        "/a",
        "abc",
        "b+",
        ".",
        "[a-c]",
        r"\b7",
        "/$",
        "%",
        "~",
        r"\n",
        r"[^a]\r",
        r"a\nhttps",
        "example",
        "/x/[a-z]+-[0-9]+",
    ];
    let url_parts = [
        "/a",
        "/x/",
        "abc",
        "bb",
        "7",
        "2026",
        "-",
        ".pdf",
        ".png",
        "/private/",
        "/print/",
        "%20",
        "~",
        "z",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ];
    let origins = ["https://h.example", "http://other.example", "https://h.examplf", "h"];
    let (mut all_cleared, mut all_unmatched, mut matched) = (0, 0, 0);
    for round in 0..1_500 {
        let patterns: Vec<String> = (0..1 + round % 6)
            .map(|_| random.joined(&parts, 1..4))
            .filter(|pattern| pattern.parse::<Pattern>().is_ok())
            .collect();
        let mut ahead = look_ahead(&patterns);
        let (origins_used, line_end) = ([1, 1, 2, 4][round % 4], ["\n", "\n", "\r\n"][round % 3]);
        for _ in 0..2 {
            let mut text = String::new();
            let count = [40, 400][usize::from(round % 10 == 0)];
            for _ in 0..random.below(count) {
                let origin = if random.below(8) == 0 { random.below(origins_used) } else { 0 };
                text += origins[origin];
                let longest = if random.below(30) == 0 { 90 } else { 7 };
                text += &random.joined(&url_parts, 0..longest);
                text += line_end;
                text += if random.below(20) == 0 { line_end } else { "" };
            }
            if random.below(2) == 0 {
                text.truncate(text.trim_end().len());
            }
            let (cleared, unmatched) = cleared(&mut ahead, &patterns, &text);
            all_cleared += cleared;
            all_unmatched += unmatched;
            matched += lines(text.as_bytes(), 0).count() - unmatched;
        }
    }
    assert!(matched > 20_000, "{matched}");
    let is_quick = vectors::are_available();
    assert!(!is_quick || all_cleared > all_unmatched / 2, "{all_cleared} of {all_unmatched}");
}

/// A few thousand URLs of a shop.
fn shop(origin: &str) -> String {
    (0..3_000).map(|n| format!("{origin}/shop/shoes/p-{}.html\n", n * 7)).collect()
}

#[test]
fn nearly_all_lines_of_a_shop_are_cleared() {
    if !vectors::tests::are_available() {
        return;
    }
    let text = shop("https://www.example.com");
    for patterns in [
        // Words, starts and ends.
        &["/private/", "utm_source=", r"\.pdf$", "^https://www.example.com/admin/"][..],
        // No URL with this origin matches.
        &["^https://test.example.com/"],
        // Words that every line has.
        &["example.*/search", r"-[0-9]{6}\.html$", "/shoes/[a-z]{3}"],
        &["[0-9]{9}", "[^/]{40,}", "^https?://[^/]+(/[^/]+){8,}"],
    ] {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.into()).collect();
        let mut ahead = look_ahead(&patterns);
        // Words turn out to be frequent in the first text.
        let (_, all) = cleared(&mut ahead, &patterns, &text);
        let (count, _) = cleared(&mut ahead, &patterns, &text);
        assert!(all == 3_000 && count == all, "{count} of {all} by {patterns:?}");
    }
}

#[test]
fn lines_with_another_beginning_are_looked_at_one_by_one() {
    if !vectors::tests::are_available() {
        return;
    }
    let patterns = ["^https://other.example/".to_owned()];
    let mut ahead = look_ahead(&patterns);
    let text =
        shop("https://www.example.com").replacen("https://www.example.com/", "https://other.example/", 1);
    assert_eq!(cleared(&mut ahead, &patterns, &text), (2_999, 2_999));
    let text = text.replacen("https://other.example/", "https://www.example.com/", 1)
        + "https://other.example/\nhttps://third.example/\n";
    assert_eq!(cleared(&mut ahead, &patterns, &text), (3_000, 3_001));
}

#[test]
fn a_short_line_does_not_lead_into_the_next_one() {
    let patterns = ["^https?://[^/]+/[^a]".to_owned()];
    for short in ["", "h", "https://h.exampl", "https://h.example", "https://h.example/"] {
        let text = format!("{}{short}\n", "https://h.example/ab\n".repeat(9)).repeat(9);
        cleared(&mut look_ahead(&patterns), &patterns, &text);
    }
}

#[test]
fn of_lines_that_match_it_is_known_which_pattern_does() {
    if !vectors::tests::are_available() {
        return;
    }
    let text = shop("https://www.example.com");
    let text = text.as_bytes();
    // In the first lines, some words turn out to be frequent.
    let mut ahead =
        look_ahead(&["[^/]{20}", "/p-35", "-[0-9]5[^/]*$", "/p-[0-9]+", "/shoes/"].map(String::from));
    ahead.begin(text);
    let mut found = [0; 5];
    for line in lines(text, 0) {
        match ahead.foresee(line.raw, text) {
            Foreseen::First(pattern) => found[pattern] += 1,
            Foreseen::Unknown => (),
            Foreseen::NoMatch => panic!("{}", line.raw.escape_ascii()),
        }
    }
    assert!(
        found.iter().sum::<usize>() > 2_600 && found[1] > 10 && found[2] > 200 && found[3] > 2_000,
        "{found:?}"
    );
}
