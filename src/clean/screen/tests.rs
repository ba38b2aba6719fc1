use super::robots::Robots;
use super::rules::WordCounts;
use super::*;

/// The outcome of `line` by `rules`: a URL, `blank`, a reason, or the name of a rule.
fn screened(rules: &UrlRules, line: &str) -> String {
    let screen = Screen::of(rules, UrlEncoding::default()).unwrap();
    let mut cleaner = LineCleaner::new(UrlEncoding::default(), screen.as_ref());
    // The second time, the cleaner knows the origin.
    let [first, second] = [0, 1].map(|_| match cleaner.clean(line.as_bytes()) {
        Screened::Blank => "blank".to_owned(),
        Screened::Url(url) => String::from_utf8(url.as_bytes().to_vec()).unwrap(),
        Screened::Rejected(reason) => reason.as_str().to_owned(),
        Screened::Excluded(rule) => cleaner.rule_name(rule).to_owned(),
    });
    assert_eq!(first, second, "{line}");
    first
}

fn rewriting(rules: &[&str]) -> UrlRules {
    UrlRules { rewrites: rules.iter().map(|rule| rule.parse().unwrap()).collect(), ..UrlRules::default() }
}

fn patterns(given: &[&str]) -> Vec<Pattern> {
    given.iter().map(|pattern| Pattern::well_formed(pattern).unwrap()).collect()
}

#[test]
fn without_rules_there_is_no_screen_and_lines_are_cleaned() {
    let none = UrlRules::default();
    assert!(Screen::of(&none, UrlEncoding::default()).unwrap().is_none());
    for (line, want) in [("HTTP://h.example/a", "http://h.example/a"), (" ", "blank"), ("/a", "not-absolute")]
    {
        assert_eq!(screened(&none, line), want);
    }
}

#[test]
fn a_rewritten_url_is_canonical_again_or_rejected() {
    let long = "x".repeat(2_030);
    for (rule, line, want) in [
        ("http://=https://", "http://h.example/a", "https://h.example/a"),
        // The default port of the other scheme.
        ("http://=https://", "http://h.example:443/a", "https://h.example/a"),
        ("https://=http://", "https://h.example:8443/a", "http://h.example:8443/a"),
        ("http://a.example/=https://b.example/s/", "HTTP://A.example:80/x?y", "https://b.example/s/x?y"),
        (
            "http://a.example=https://b.example",
            "http://a.example.evil.example/",
            "http://a.example.evil.example/",
        ),
        // The joint becomes a dot segment.
        ("http://a.example/x=http://a.example/", "http://a.example/x../y", "http://a.example/y"),
        // A quote of the path is encoded in a query.
        ("http://a.example/q/=http://a.example/?q=", "http://a.example/q/it's", "http://a.example/?q=it%27s"),
        ("http://a.example/=http://a.b/", "http://a.example/", "too-short"),
        ("http://a.example/=http://longer.example/", &format!("http://a.example/{long}"), "too-long"),
        ("http://a.example/=http://b.example/", "http://c.example/a", "http://c.example/a"),
        ("http://a.example/=http://b.example/", "ftp://a.example/a", "scheme"),
    ] {
        assert_eq!(screened(&rewriting(&[rule]), line), want, "{rule}");
    }
    let first = rewriting(&["http://a.example/x=http://b.example/", "http://=https://"]);
    assert_eq!(screened(&first, "http://a.example/x/y"), "http://b.example//y");
    assert_eq!(screened(&first, "http://a.example/y"), "https://a.example/y");
}

#[test]
fn an_excluded_url_is_named_by_the_first_rule_that_excludes_it() {
    let rules = UrlRules {
        relative_to: Some("http://h.example/".parse().unwrap()),
        rewrites: vec!["http://=https://".parse().unwrap()],
        include: patterns(&["^https://h\\.example/", "/b"]),
        exclude: patterns(&["\\.pdf$", "/draft/"]),
        robots: Some(Robots::parse(
            b"User-agent: *\nAllow: /cart/help\nDisallow: /cart\nDisallow: /*.pdf",
            None,
        )),
    };
    for (line, want) in [
        ("/a", "https://h.example/a"),
        ("/draft/a.pdf", "exclude=\\.pdf$"),
        ("/draft/cart", "exclude=/draft/"),
        ("http://other.example/a", "not-included"),
        ("http://other.example/b", "https://other.example/b"),
        ("/cart/1", "disallow=/cart"),
        ("/cart/help/1", "https://h.example/cart/help/1"),
        ("/a.pdf?x", "disallow=/*.pdf"),
        ("#a", "not-absolute"),
        ("", "blank"),
    ] {
        assert_eq!(screened(&rules, line), want, "{line}");
    }
}

#[test]
fn rules_are_counted_by_name_and_those_that_never_applied_count_zero() {
    let rules = UrlRules {
        rewrites: vec![
            "http://=https://".parse().unwrap(),
            "https://x.example/=https://y.example/".parse().unwrap(),
        ],
        include: patterns(&["a", "b"]),
        exclude: patterns(&["c", "d"]),
        robots: Some(Robots::parse(b"User-agent: *\nAllow: /x\nDisallow: /e\nDisallow: /f", None)),
        ..UrlRules::default()
    };
    let screen = Screen::of(&rules, UrlEncoding::default()).unwrap();
    let mut cleaner = LineCleaner::new(UrlEncoding::default(), screen.as_ref());
    for path in ["a", "ab", "b", "c", "cd", "d", "k", "ea"] {
        match cleaner.clean(format!("http://h.test/{path}").as_bytes()) {
            Screened::Url(_) => cleaner.count_accepted(),
            Screened::Excluded(rule) => cleaner.count_excluded(rule),
            other => panic!("{other:?}"),
        }
    }
    let CountedRules { rewritten, included, excluded } = rules.counted(&cleaner.take_counts());
    let list = |counts: WordCounts| {
        counts.into_iter().map(|(name, lines)| format!("{name} {lines}")).collect::<Vec<_>>()
    };
    assert_eq!(list(rewritten), ["http://=https:// 3", "https://x.example/=https://y.example/ 0"]);
    assert_eq!(list(included), ["a 2", "b 1"]);
    assert_eq!(
        list(excluded),
        ["disallow=/e 1", "disallow=/f 0", "exclude=c 2", "exclude=d 1", "not-included 1"]
    );
    assert!(cleaner.take_counts().is_empty());
}

#[test]
fn lines_of_a_text_become_what_single_lines_become() {
    let lines: Vec<&[u8]> = vec![
        b"http://h.example/a",
        b"  http://h.example/draft/1 ",
        b"http://h.example/b.pdf",
        b"http://h.example/b.pdf\t",
        b"http://h.example/b.pdf#page",
        b"http://h.example/b.PDF",
        b"HTTP://H.example:80/drafT/../draft/x",
        b"http://h.example/%64raft/x",
        b"http://h.example/d\xC3\xBCrer",
        b"http://h.example/c ",
        b"http://other.example/draft/1",
        b"http://h.example/12345678",
        b"http://h.example/1234567",
        b"",
        b"\t",
        b"/draft/relative",
        b"ftp://h.example/draft/",
        b"http://h.example/cart/1",
        b"http://h.example/draft",
        b"http://h.example/c%61rt/1",
        b"http://h.example/cart",
        b"http://h.example/index/x",
    ];
    let exclude = patterns(&[r"\.pdf$", "/draft/", "[0-9]{8}", "^http://h.example/d[^r]+$"]);
    let excluding = UrlRules { exclude: exclude.clone(), ..UrlRules::default() };
    let all = UrlRules {
        relative_to: Some("http://h.example/".parse().unwrap()),
        rewrites: vec!["http://other.example=http://h.example".parse().unwrap()],
        include: patterns(&["/draft", "/[a-c]", "12345678"]),
        exclude,
        robots: Some(Robots::parse(b"User-agent: *\nDisallow: /cart\nDisallow: /*x$", None)),
    };
    let of_robots = UrlRules { robots: all.robots.clone(), ..UrlRules::default() };
    // Patterns that could be found from a short line into the next one, or in the end of a line.
    let across = patterns(&["^https?://[^/]+/[^a-c]", r"usual-line\r?\n", r"\n"]);
    let across = UrlRules { exclude: across, ..UrlRules::default() };
    for rules in [&excluding, &of_robots, &all, &across] {
        let screen = Screen::of(rules, UrlEncoding::default()).unwrap();
        for line_end in ["\n", "\r\n"] {
            // Lines that nothing excludes make it worth while to look ahead.
            let usual = format!("http://h.example/a/usual-line{line_end}").repeat(20);
            let text = lines.iter().flat_map(|line| [line, line_end.as_bytes(), usual.as_bytes()].concat());
            let text: Vec<u8> = text.collect();
            let reader = crate::intake::lines::lines(&text, 0);
            let mut cleaner = LineCleaner::new(UrlEncoding::default(), screen.as_ref());
            cleaner.begin_text(reader.left());
            for line in reader {
                let mut alone = LineCleaner::new(UrlEncoding::default(), screen.as_ref());
                assert_eq!(cleaner.clean(line.raw), alone.clean(line.raw), "{}", line.raw.escape_ascii());
                cleaner.count_accepted();
                alone.count_accepted();
                assert_eq!(cleaner.take_counts(), alone.take_counts());
            }
        }
    }
}
