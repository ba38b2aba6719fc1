//! Compares the fast path with the slow one, and both with the policy.

use super::*;
use crate::common::random::Random;

/// The result of the slow path alone.
fn judge(raw: &[u8]) -> Result<Vec<u8>, Option<Reason>> {
    if raw.len() > LINE_BYTES_MAX {
        return Err(Some(Reason::TooLong));
    }
    let line = trim(raw);
    if line.is_empty() {
        return Err(None);
    }
    let mut url = Vec::new();
    parser::parse(line, &mut url).map_err(Some)?;
    owned(measured(&url))
}

fn owned(cleaned: Cleaned<'_>) -> Result<Vec<u8>, Option<Reason>> {
    match cleaned {
        Cleaned::Blank => Err(None),
        Cleaned::Url(url) => Ok(url.as_bytes().to_vec()),
        Cleaned::Rejected(reason) => Err(Some(reason)),
    }
}

/// Cleans `raw` with a new cleaner, and with one that already knows the origin of `raw`.
fn check_same(raw: &[u8], cleaner: &mut Cleaner) {
    let want = judge(raw);
    for (how, got) in [
        ("fresh", owned(Cleaner::default().clean(raw))),
        ("after others", owned(cleaner.clean(raw))),
        ("again", owned(cleaner.clean(raw))),
    ] {
        assert_eq!(got, want, "{how}: {}", crate::escape::shown(raw));
    }
    if let Ok(url) = want {
        assert_eq!(judge(&url).as_ref(), Ok(&url), "not idempotent: {}", crate::escape::shown(raw));
        assert_eq!(owned(cleaner.clean(&url)), Ok(url));
    }
}

const FRAMES: [(&[u8], &[u8]); 9] = [
    (b"http://h.example/", b""),
    (b"http://h.example/", b"/and/some/more/of/the/path?q=1"),
    (b"http://h.example/some/path/of/sixteen/bytes/or/more", b""),
    (b"http://h.example/p?q=", b"&r=2"),
    (b"http://h.example/p#", b"z"),
    (b"http://h.example", b"/p"),
    (b"http://", b".example/p"),
    (b"http", b"h.example/p"),
    (b"", b"http://h.example:81/p"),
];

#[test]
fn fast_path_agrees_with_slow_path_on_every_pair_of_bytes() {
    let mut cleaner = Cleaner::default();
    for (before, after) in FRAMES {
        for pair in 0..=u16::MAX {
            check_same(&[before, &pair.to_be_bytes(), after].concat(), &mut cleaner);
        }
    }
}

/// Pieces of URLs that at least one path treats specially.
const PIECES: [&str; 34] = [
    "", ".", "..", "./", "/.", "/..", "/./", "%", "%4", "%41", "%4g", "%%", "/%2", "/%2e", "/%2E/", "/.%2e",
    "?", "/?.", "#", "&", "'", "?'", "\\", "?\\", " ", "\t", "\"", "<", "`", "[~_@!$", "{|}", "\x7f", "ü",
    "日本",
];

#[test]
fn fast_path_agrees_with_slow_path_wherever_blocks_meet() {
    let mut cleaner = Cleaner::default();
    // Paths that end before, at and after block boundaries, with every piece at every position.
    for length in (0..=4 * 16 + 1).filter(|length| matches!(length % 16, 0..=2 | 14..)) {
        for at in 0..=length {
            for piece in PIECES {
                let path = ["a".repeat(at), piece.into(), "-".repeat(length - at)].concat();
                for origin in ["http://a.b/", "http://h.example/"] {
                    check_same([origin, &path].concat().as_bytes(), &mut cleaner);
                }
            }
            for byte in 0x80..=u8::MAX {
                let raw =
                    [b"http://h.example/", &*vec![b'/'; at], &[byte], &*vec![b'5'; length - at]].concat();
                check_same(&raw, &mut cleaner);
            }
        }
    }
}

#[test]
fn a_canonical_line_is_returned_without_a_copy() {
    let mut cleaner = Cleaner::default();
    for origin in ["http://a.b/", "https://www.example.com/", "http://a&b.example/"] {
        for length in 1..50 {
            for path in [
                "a".repeat(length),
                "%C3%bc/".repeat(length),
                "it's/".repeat(length),
                "a&~!$b?".repeat(length),
            ] {
                let raw = [origin, &path].concat();
                let is_itself =
                    |_| matches!(cleaner.clean(raw.as_bytes()), Cleaned::Url(url) if url.is(raw.as_bytes()));
                // The parser may read the first line of an origin.
                assert!((0..2).map(is_itself).last().is_some_and(|itself| itself), "{raw}");
            }
        }
    }
}

#[test]
fn a_url_that_does_not_grow_has_nothing_to_escape() {
    let mut cleaner = Cleaner::default();
    for origin in ["http://h.example/", "http://a&b.example/", "http://it's.example/"] {
        for (at, grows) in
            [("", false), ("&", true), ("'", true), ("?a=1&b", true), ("%26", false), ("ü", false)]
        {
            for room in 0..50 {
                let raw = [origin, &"a".repeat(room), at, &"b".repeat(49 - room)].concat();
                // On the second call, the origin is known.
                for _ in 0..2 {
                    let Cleaned::Url(url) = cleaner.clean(raw.as_bytes()) else { panic!("{raw} is a URL") };
                    let has_any = url.as_bytes().iter().any(|byte| b"&'".contains(byte));
                    assert_eq!(has_any, grows || origin.contains(['&', '\'']), "{raw}");
                    assert!(url.may_grow() || !has_any, "{raw}");
                }
            }
        }
    }
    let plain = b"http://h.example/and/some/more";
    let knows = |_| matches!(cleaner.clean(plain), Cleaned::Url(url) if !url.may_grow());
    assert!((0..2).any(knows), "or nothing is gained by asking");
}

#[test]
fn fast_path_agrees_with_slow_path_on_random_urls() {
    let starts: [&[u8]; 21] = [
        b"http://h.example/",
        b"https://www.example.com/",
        b"HTTP://H.EXAMPLE:80/",
        b"http://h.example:8080/",
        "http://bücher.example/".as_bytes(),
        b"http://xn--bcher-kva.example/",
        b"http://1.2.3.4/",
        b"http://0x7f.1/",
        b"http://[::1]:80/",
        b"http:h.example/",
        b"http:\\\\h.example\\",
        b"https://u:p@h.example/",
        b"http://a.b.c.1a/",
        b"http://h_x.example/",
        b"http://h.example",
        b"http://h.example./",
        b"http://h..example/",
        b"http://xn--a.example/",
        b"HTTP://%78N--a.Example:80/",
        b"http://a23456789-123456789-123456789-123456789-123456789-123456789-123.example/",
        b"http://a23456789-123456789-123456789-123456789-123456789-123456789-1234.example/",
    ];
    let pieces: [&[u8]; 34] = [
        b"a",
        b"Z9",
        b"/",
        b"//",
        b".",
        b"..",
        b"/./",
        b"/../",
        b"%2e",
        b"%2E%2e",
        b"%",
        b"%4",
        b"%41",
        b"%zz",
        b"?",
        b"&",
        b"=",
        b"'",
        b"#",
        b"\\",
        b" ",
        b"[",
        b"]|",
        b"^`{}",
        b"\"<>",
        b"\xe9",
        "ü".as_bytes(),
        "日本語".as_bytes(),
        b"\x7f",
        b"\t",
        b":@!$",
        b"word-word-word-word-word",
        b"/c:/",
        b"/Z|/../",
    ];
    let mut random = Random::new(7);
    let mut cleaner = Cleaner::default();
    for _ in 0..300_000 {
        let mut raw = random.pick(&starts).to_vec();
        for _ in 0..random.below(9) {
            raw.extend(random.pick(&pieces));
        }
        check_same(&raw, &mut cleaner);
    }
}

#[test]
fn more_origins_than_are_remembered_are_told_apart() {
    let mut cleaner = Cleaner::default();
    for round in 0..2 {
        for number in 0..6_000 {
            let line = format!("http://BÜCHER{number}.example/{round}");
            check_same(line.as_bytes(), &mut cleaner);
            check_same(b"http://other.example:81/", &mut cleaner);
            check_same(line.as_bytes(), &mut cleaner);
        }
    }
}

#[test]
fn fast_path_agrees_with_slow_path_on_mutated_real_urls() {
    let real = include_bytes!("../../testdata/urls.txt");
    let lines: Vec<&[u8]> = real.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let mut random = Random::new(11);
    let mut cleaner = Cleaner::default();
    for _ in 0..300_000 {
        let mut raw = random.pick(&lines).to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(raw.len() + 1);
            match random.below(3) {
                0 => raw.insert(at, random.next() as u8),
                1 if at < raw.len() => raw[at] = random.next() as u8,
                _ => raw.truncate(at.max(1)),
            }
        }
        check_same(&raw, &mut cleaner);
    }
}

#[test]
fn a_url_is_limited_by_its_encoded_length_and_a_very_long_line_is_rejected_unread() {
    let at_most = |path_bytes: usize| [&b"http://h.example/"[..], &vec![b'x'; path_bytes]].concat();
    check_same(&at_most(URL_BYTES_MAX - 17), &mut Cleaner::default());
    assert!(judge(&at_most(URL_BYTES_MAX - 17)).is_ok());
    assert_eq!(judge(&at_most(URL_BYTES_MAX - 16)), Err(Some(Reason::TooLong)));

    let grown = [b"http://h.example/", "ü".repeat(750).as_bytes()].concat();
    assert_eq!(owned(Cleaner::default().clean(&grown)), Err(Some(Reason::TooLong)));

    let fragment = [&b"http://h.example/#"[..], &vec![b'x'; LINE_BYTES_MAX - 18]].concat();
    assert_eq!(owned(Cleaner::default().clean(&fragment)), Ok(b"http://h.example/".to_vec()));
    assert_eq!(owned(Cleaner::default().clean(&[&fragment[..], b"x"].concat())), Err(Some(Reason::TooLong)));
}
