//! Cases of Google's parser (`robots_test.cc` of google/robotstxt, 2019 to 2024) and of RFC 9309, as tables.
//!
//! Two cases of Google are decided as in the RFC: an escape of an unreserved character equals the character, and `Sitemap` and
//! unknown lines do not end a group.

use super::matcher::Matcher;
use super::*;
use crate::clean::{Cleaned, Cleaner};
use crate::common::random::Random;

/// Whether `text` allows `agent` (none if empty) to request `path` of a site.
fn allows(text: impl AsRef<[u8]>, agent: &str, path: &str) -> bool {
    let agent: Option<RobotsAgent> = (!agent.is_empty()).then(|| agent.parse().unwrap());
    let robots = Robots::parse(text.as_ref(), agent.as_ref());
    let line = format!("http://foo.bar{path}");
    let mut cleaner = Cleaner::default();
    let Cleaned::Url(url) = cleaner.clean(line.as_bytes()) else { panic!("{path} is no URL") };
    Matcher::new(robots.rules()).forbidding(url, &mut Vec::new()).is_none()
}

#[track_caller]
fn check(text: &str, agent: &str, allowed: &[&str], forbidden: &[&str]) {
    for (paths, want) in [(allowed, true), (forbidden, false)] {
        for path in paths {
            assert_eq!(allows(text, agent, path), want, "{path} for {agent:?} by {text:?}");
        }
    }
}

#[test]
fn names_of_lines_may_have_any_case_and_common_misspellings() {
    for text in [
        "user-agent: FooBot\ndisallow: /\n",
        "USER-AGENT: FOOBOT\nDISALLOW: /\n",
        "user-agent FooBot\ndisallow /\n",
        "  User-Agent :\tfoobot # comment\r\nDisallow:/\r",
        "useragent: FooBot\ndisalow: /\n",
        "User agent: FooBot/2.1\nDissallow: /",
        "user-agent: Foobot Images\ndisallow: /",
        "User-agents: FooBot\nDisallowed: /",
        "UserAgent-name: FooBot\ndissallowing: /",
        "user agents: FooBot\ndissalow all: /",
        "user-agent*: FooBot\ndiasllow, please: /",
        "user-agent : FooBot\ndisallawed /",
    ] {
        check(text, "FooBot", &[], &["/x/y"]);
        check(text, "BarBot", &["/x/y"], &[]);
        check(text, "", &["/x/y"], &[]);
    }
    for text in
        ["", "foo: FooBot\nbar: /\n", "disallow: /\n", "user-agent: FooBot\ndisallow / x\n", ":\n: /\n"]
    {
        check(text, "FooBot", &["/x/y"], &[]);
    }
    check("user-agent: FooBot\ndisallow: /\nallowed: /x\n", "FooBot", &["/x/y"], &["/y"]);
    for other in ["not-disallow", "disalo", "disllow", "dis allow", "noindex", "allo", "user_agent"] {
        check(&format!("user-agent: FooBot\n{other}: /\n"), "FooBot", &["/x/y"], &[]);
    }
}

#[test]
fn groups_of_one_crawler_are_merged_and_those_of_others_are_ignored() {
    let text = "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\n\
                allow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n";
    check(text, "FooBot", &["/x/b", "/z/d"], &["/y/c", "/foo/bar/"]);
    check(text, "BarBot", &["/y/c", "/w/a"], &["/z/d", "/foo/bar/"]);
    check(text, "BazBot", &["/z/d"], &["/foo/bar/"]);

    let of_all = "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n";
    check(of_all, "FooBot", &[], &["/x/y"]);
    check(of_all, "BarBot", &["/x/y"], &[]);
    check(of_all, "", &["/x/y"], &[]);
    let own = "User-agent: * all\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n";
    check(own, "FooBot", &["/x/page"], &["/y/page"]);
    check(own, "BarBot", &["/y/page"], &["/x/page"]);
    // A group without rules allows everything.
    check("User-agent: *\nDisallow: /\nUser-agent: FooBot\nDisallow:\n", "FooBot", &["/x"], &[]);
    // Other lines do not end a group (RFC 9309, 2.2.4).
    let others =
        "User-agent: a\nCrawl-delay: 5\nSitemap: http://foo.bar/s.xml\nUser-agent: b\nDisallow: /x\n";
    check(others, "a", &["/y"], &["/x"]);
    check(others, "b", &["/y"], &["/x"]);
}

#[test]
fn the_longest_rule_decides_and_allow_wins_a_tie() {
    for (rules, allowed, forbidden) in [
        ("disallow: /x/page.html\nallow: /x/", &["/x/"][..], &["/x/page.html"][..]),
        ("allow: /x/page.html\ndisallow: /x/", &["/x/page.html"], &["/x/"]),
        ("disallow: \nallow: ", &["/x/page.html"], &[]),
        ("disallow: /\nallow: /", &["/x/page.html"], &[]),
        ("disallow: /x\nallow: /x/", &["/x/"], &["/x"]),
        ("disallow: /x/page.html\nallow: /x/page.html", &["/x/page.html"], &[]),
        ("allow: /page\ndisallow: /*.html", &["/page"], &["/page.html"]),
        ("allow: /x/page.\ndisallow: /*.html", &["/x/page.html"], &["/x/y.html"]),
        ("allow: /p\ndisallow: /", &["/page"], &["/a"]),
        ("allow: /folder\ndisallow: /folder", &["/folder/page"], &[]),
        ("allow: /page\ndisallow: /*.htm", &[], &["/page.htm"]),
        ("allow: /$\ndisallow: /", &["/"], &["/page.html"]),
        ("disallow: /x/", &["/X/y"], &["/x/y"]),
    ] {
        check(&format!("user-agent: FooBot\n{rules}\n"), "FooBot", allowed, forbidden);
    }
}

#[test]
fn stars_and_dollars_match_as_google_documents() {
    for (allow, allowed, forbidden) in [
        (
            "/fish",
            &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads/yummy.html", "/fish.html?id=anything"]
                [..],
            &["/bar", "/Fish.asp", "/catfish", "/?id=fish"][..],
        ),
        (
            "/fish*",
            &["/fish", "/fish.html", "/fishheads", "/fish.html?id=anything"],
            &["/Fish.bar", "/catfish"],
        ),
        (
            "/fish/",
            &["/fish/", "/fish/?salmon", "/fish/salmon.html"],
            &["/fish", "/fish.html", "/Fish/Salmon.html"],
        ),
        (
            "/*.php",
            &[
                "/filename.php",
                "/folder/filename.php?parameters",
                "//folder/any.php.file.html",
                "/index?f=filename.php/",
            ],
            &["/bar", "/php/", "/index?php", "/windows.PHP"],
        ),
        (
            "/*.php$",
            &["/filename.php", "/folder/filename.php"],
            &["/filename.php?parameters", "/filename.php/", "/filename.php5", "/filename?php", "/aaaphpaaa"],
        ),
        ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/Fish.PHP", "/bar"]),
    ] {
        check(&format!("user-agent: FooBot\ndisallow: /\nallow: {allow}\n"), "FooBot", allowed, forbidden);
    }
    for (rules, allowed, forbidden) in [
        (
            "Disallow: /foo/bar/quz\nAllow: /foo/*/qux",
            &["/foo/quz", "/foo//quz", "/foo/bax/quz"][..],
            &["/foo/bar/quz"][..],
        ),
        (
            "Disallow: /foo/bar$\nAllow: /foo/bar/qux",
            &["/foo/bar/qux", "/foo/bar/", "/foo/bar/baz"],
            &["/foo/bar"],
        ),
        ("# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /", &["/foo/bar"], &["/foo/quz"]),
        ("Disallow: *.pdf$", &["/a.pdf?b"], &["/a.pdf", "/b/a.pdf"]),
        ("Disallow: /a$b", &["/a"], &["/a$b", "/a%24b", "/a$bc"]),
        ("Disallow: /file-%2A.html", &["/file-x.html"], &["/file-*.html", "/file-%2a.html"]),
        ("Disallow: foo", &["/foo", "/x/foo"], &[]),
        // A pattern may end within an escape.
        ("Disallow: /*%", &["/x"], &["/a%20b", "/ü", "/50%", "/?a%2Fb"]),
        ("Disallow: /a%2\nDisallow: /*%e3%8*x", &["/a%3F", "/%E3%83"], &["/a%20b", "/a%2Fb", "/ツx"]),
        ("Disallow: /\nAllow: /*%", &["/a%20b"], &["/x"]),
        ("Disallow: /*%$", &["/a%20"], &["/50%"]),
        ("Disallow: /*/*/c*d", &["/a/c/d", "/a/b/d", "/a/b/xcxd"], &["/a/b/c/d", "/a/b/cd?e"]),
    ] {
        check(&format!("User-agent: FooBot\n{rules}\n"), "FooBot", allowed, forbidden);
    }
}

#[test]
fn an_allowed_index_page_allows_its_directory() {
    let text = "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n";
    check(
        text,
        "foobot",
        &["/allowed-slash/", "/allowed-slash/index.html"],
        &["/allowed-slash/index.htm", "/other"],
    );
}

#[test]
fn spellings_of_one_url_are_equal() {
    for (allow, allowed, forbidden) in [
        (
            "/foo/bar?qux=taz&baz=http://foo.bar?tar&par",
            &["/foo/bar?qux=taz&baz=http://foo.bar?tar&par"][..],
            &["/foo"][..],
        ),
        // URLs are percent-encoded before they are compared.
        ("/foo/bar/ツ", &["/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", "/foo/bar/ツ"], &["/foo/bar/"]),
        ("/foo/bar/%E3%83%84", &["/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", "/foo/bar/ツ"], &["/foo/bar/"]),
        // RFC 9309, 2.2.2.
        ("/foo/bar/%62%61%7A", &["/foo/bar/baz", "/foo/bar/%62%61%7A"], &["/foo/bar/bar"]),
        ("/a b", &["/a%20b"], &["/a"]),
        ("/it's", &["/it's?x", "/it%27s"], &["/it"]),
        // As in Google's parser, reserved characters differ from their escapes.
        ("/a,b", &["/a,b"], &["/a%2Cb"]),
        ("/?u=https%3A%2F%2Ffoo", &["/?u=https%3a%2f%2ffoo"], &["/?u=https://foo"]),
    ] {
        check(&format!("User-agent: FooBot\nDisallow: /\nAllow: {allow}\n"), "FooBot", allowed, forbidden);
    }
}

#[test]
fn lines_end_in_any_way_and_a_byte_order_mark_is_skipped() {
    for end in ["\n", "\r\n", "\r"] {
        for rest in ["", end] {
            let text = ["User-Agent: foo", "Allow: /some/path", "User-Agent: bar", "", "", "Disallow: /"]
                .join(end)
                + rest;
            check(&text, "foo", &["/some/path", "/x"], &[]);
            check(&text, "bar", &[], &["/some/path"]);
        }
    }
    let rules = b"User-Agent: foo\nDisallow: /a\n";
    for (mark, is_read) in [
        (&b"\xEF\xBB\xBF"[..], true),
        (b"\xEF\xBB", true),
        (b"\xEF", true),
        (b"", true),
        (b"\xEF\x11\xBF", false),
        (b"\xBF", false),
    ] {
        assert_eq!(allows([mark, rules].concat(), "foo", "/a"), !is_read, "{mark:?}");
    }
    let within = [&rules[..16], b"\xEF\xBB\xBF", &rules[16..]].concat();
    assert!(allows(within, "foo", "/a"), "a line with a mark is no rule");
}

#[test]
fn a_long_line_is_cut_and_so_is_a_long_file() {
    let long = |rest: &str, name: &str| {
        let start = format!("/x/{}", "a".repeat(ROBOTS_LINE_BYTES_MAX - name.len() - 3));
        format!("{name}{start}{rest}\n")
    };
    let robots = Robots::parse(format!("user-agent: *\n{}", long("/qux", "disallow: ")).as_bytes(), None);
    assert_eq!(robots.rules()[0].pattern.len(), ROBOTS_LINE_BYTES_MAX - "disallow: ".len());

    let mut text = "user-agent: *\ndisallow: /first\n".to_owned();
    while text.len() < ROBOTS_BYTES_MAX - 20 {
        text += "#\n";
    }
    let whole = format!("{text}disallow: /a\n");
    let robots = Robots::parse(whole.as_bytes(), None);
    assert!(!robots.is_cut() && robots.rules().len() == 2);
    // The limit cuts the last line.
    let longer = format!("{text}disallow: /{}\n", "a".repeat(20));
    let robots = Robots::parse(longer.as_bytes(), None);
    assert!(robots.is_cut() && robots.rules().len() == 1);
    assert_eq!(robots.rules()[0].to_string(), "disallow=/first");
}

#[test]
fn a_crawler_has_a_name_of_letters_or_is_any_crawler() {
    for right in ["Foobot", "Foobot-Bar", "Foo_Bar", "*"] {
        assert_eq!(right.parse::<RobotsAgent>().unwrap().as_str(), right);
    }
    for wrong in ["", "ツ", "Foobot*", " Foobot ", "Foobot/2.1", "Foobot Bar", "**"] {
        assert!(wrong.parse::<RobotsAgent>().is_err(), "{wrong}");
    }
}

#[test]
fn any_bytes_are_read_and_the_urls_of_any_bytes_are_judged() {
    let mut random = Random::new(5);
    let parts: [&[u8]; 16] = [
        b"user-agent",
        b":",
        b" ",
        b"*",
        b"\n",
        b"disallow",
        b"allow: /",
        b"\r",
        b"#",
        b"$",
        b"%4",
        b"%41",
        b"\xff",
        b"/",
        b"a",
        b"?",
    ];
    let mut forbidden = 0;
    for _ in 0..20_000 {
        let text: Vec<u8> = (0..random.below(20)).flat_map(|_| random.pick(&parts)).copied().collect();
        let robots = Robots::parse(&[b"user-agent: *\ndisallow: /a", &text[..]].concat(), None);
        let line: Vec<u8> = (0..random.below(6)).flat_map(|_| random.pick(&parts[5..])).copied().collect();
        let mut cleaner = Cleaner::default();
        if let Cleaned::Url(url) = cleaner.clean(&[b"http://h.example/a", &line[..]].concat()) {
            let found = Matcher::new(robots.rules()).forbidding(url, &mut Vec::new());
            forbidden += usize::from(found.is_some());
        }
    }
    assert!(forbidden > 1_000, "{forbidden}");
}
