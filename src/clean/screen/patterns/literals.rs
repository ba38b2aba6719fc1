//! Literals in patterns: words that a URL must begin or end with, or that it must contain, for a pattern to match.

use std::ops::RangeInclusive;

use regex_syntax::hir::literal::{ExtractKind, Extractor, Seq};
use regex_syntax::hir::{Class, ClassBytes, Hir, HirKind, Look, Repetition};

/// Most words of one pattern that are compared with the start or the end of URLs. The extensions of files in both letter cases
/// are eight or sixteen.
const EDGE_WORDS_MAX: usize = 16;

/// Most bytes of a class that are told apart, such as both cases of a letter. A digit or a letter is part of too many words.
const CLASS_BYTES_MAX: usize = 4;

/// Longer words are not much rarer.
const RARE_BYTES: usize = 6;

/// The bytes that a URL can have.
pub const URL_BYTES: RangeInclusive<u8> = b'!'..=b'~';

/// In the words of an edge, stands for any byte. No URL has it.
pub const ANY: u8 = 0;

/// Whether a word of an edge and `bytes` are the same as far as both go.
pub fn fits(word: &[u8], bytes: &[u8]) -> bool {
    word.iter().zip(bytes).all(|(&own, &byte)| own == byte || own == ANY)
}

/// How to find out whether a pattern matches a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// It matches if and only if the URL begins with one of the words, ends with one, or is one. [`ANY`] is any byte.
    Edge(Edge, Vec<Vec<u8>>),
    /// It matches only if the URL contains one of the words, and if it is nothing but these words, whenever the URL does.
    Containing { words: Vec<Vec<u8>>, is_exact: bool },
    /// It can match any URL.
    Any,
}

/// The place of a word in a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// At the start of the URL.
    Start,
    /// At its end.
    End,
    /// It is the whole URL.
    Whole,
}

impl Shape {
    /// The shape of a pattern for URLs. Words that no URL can have are left out.
    pub fn of(pattern: &Hir) -> Self {
        let mut shape = Self::of_any_text(pattern);
        if let Self::Edge(_, words) | Self::Containing { words, .. } = &mut shape {
            words.retain(|word| word.iter().all(|byte| URL_BYTES.contains(byte) || *byte == ANY));
        }
        shape
    }

    fn of_any_text(pattern: &Hir) -> Self {
        if let Some((Some(edge), words)) = only_words(pattern) {
            return Self::Edge(edge, words);
        }
        let Some(words) = required(pattern) else { return Self::Any };
        let is_exact = exact_words(pattern).is_some_and(|exact| exact == words);
        Self::Containing { words, is_exact }
    }
}

/// The words that are all that a pattern matches, and where a URL must have one if the pattern is anchored. [`ANY`] is any byte.
/// `None` if it matches anything else.
pub fn only_words(pattern: &Hir) -> Option<(Option<Edge>, Vec<Vec<u8>>)> {
    match anchored(pattern) {
        Some((edge, rest)) => Some((Some(edge), exact_words(&rest)?)),
        None => Some((None, exact_words(pattern)?)),
    }
}

/// The place at which an anchored pattern must match, and the pattern without its anchors.
fn anchored(pattern: &Hir) -> Option<(Edge, Hir)> {
    let HirKind::Concat(parts) = pattern.kind() else { return None };
    let is = |part: Option<&Hir>, look| part.is_some_and(|part| *part.kind() == HirKind::Look(look));
    let (is_start, is_end) = (is(parts.first(), Look::Start), is(parts.last(), Look::End));
    let edge = match (is_start, is_end) {
        (true, true) => Edge::Whole,
        (true, false) => Edge::Start,
        (false, true) => Edge::End,
        (false, false) => return None,
    };
    let rest = &parts[usize::from(is_start)..parts.len() - usize::from(is_end)];
    Some((edge, Hir::concat(rest.to_vec())))
}

/// The words that are matched by a pattern that matches nothing else.
fn exact_words(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    if !pattern.properties().look_set().is_empty() || names_any(pattern) {
        return None;
    }
    let words = prefixes(&with_any(pattern));
    let is_short = words.len().is_some_and(|count| (1..=EDGE_WORDS_MAX).contains(&count));
    let words = words.literals().filter(|_| is_short && words.is_exact())?;
    Some(words.iter().map(|word| word.as_bytes().to_vec()).collect())
}

/// The pattern with [`ANY`] instead of each dot: people rarely escape the dots of a host.
fn with_any(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Class(Class::Bytes(class)) if is_any(class) => Hir::literal([ANY]),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(with_any(&repetition.sub)), ..repetition.clone() })
        }
        HirKind::Capture(capture) => with_any(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(with_any).collect()),
        HirKind::Alternation(branches) => Hir::alternation(branches.iter().map(with_any).collect()),
        _ => pattern.clone(),
    }
}

/// Whether every byte that a URL can have is in `class`.
fn is_any(class: &ClassBytes) -> bool {
    class.ranges().iter().any(|range| range.start() <= *URL_BYTES.start() && *URL_BYTES.end() <= range.end())
}

/// Whether the byte [`ANY`] itself is in the pattern.
fn names_any(pattern: &Hir) -> bool {
    match pattern.kind() {
        HirKind::Literal(literal) => literal.0.contains(&ANY),
        HirKind::Class(Class::Bytes(bytes)) => {
            bytes.ranges().first().is_some_and(|range| range.start() == ANY) && !is_any(bytes)
        }
        HirKind::Class(Class::Unicode(chars)) => {
            chars.ranges().first().is_some_and(|range| range.start() == char::from(ANY))
        }
        HirKind::Repetition(repetition) => names_any(&repetition.sub),
        HirKind::Capture(capture) => names_any(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(names_any),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Words one of which is part of everything that a pattern matches: the rarest that can be found.
fn required(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let inner = match pattern.kind() {
        HirKind::Concat(parts) => {
            let tails = (1..parts.len()).map(|from| first_words(&Hir::concat(parts[from..].to_vec())));
            let within = parts.iter().map(|part| match part.kind() {
                HirKind::Capture(_) | HirKind::Repetition(_) | HirKind::Alternation(_) => required(part),
                _ => None,
            });
            tails.chain(within).flatten().reduce(rarer)
        }
        HirKind::Alternation(branches) => {
            let words: Option<Vec<_>> = branches.iter().map(required).collect();
            words.map(|words| words.concat())
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        _ => None,
    };
    first_words(pattern).into_iter().chain(inner).reduce(rarer)
}

/// Words one of which everything that a pattern matches begins with. Words that most URLs have are of no use.
fn first_words(pattern: &Hir) -> Option<Vec<Vec<u8>>> {
    let words = prefixes(pattern);
    let words: Vec<_> =
        words.literals()?.iter().map(|word| without_origin(word.as_bytes()).to_vec()).collect();
    (!words.is_empty() && words.iter().all(|word| is_rare(word))).then_some(words)
}

/// Words one of which everything that a pattern matches begins with, and whether it matches nothing else.
fn prefixes(pattern: &Hir) -> Seq {
    Extractor::new().kind(ExtractKind::Prefix).limit_class(CLASS_BYTES_MAX).extract(pattern)
}

/// A word without the scheme and the host at its start, which most URLs of an input share.
fn without_origin(word: &[u8]) -> &[u8] {
    let host = ["http://", "https://"].iter().find_map(|scheme| word.strip_prefix(scheme.as_bytes()));
    let path = |host: &[u8]| host.iter().position(|&byte| byte == b'/').unwrap_or(host.len());
    host.map_or(word, |host| &host[path(host)..])
}

/// Whether few URLs contain a word. A single byte is rare if neither paths nor hosts need it.
fn is_rare(word: &[u8]) -> bool {
    match word {
        [] => false,
        [byte] => !byte.is_ascii_alphanumeric() && !b"/:.-".contains(byte),
        word => !matches!(word, b"//" | b"://" | b"http" | b"https"),
    }
}

/// The words of which fewer URLs contain one, as far as can be guessed.
fn rarer(one: Vec<Vec<u8>>, other: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let key = |words: &[Vec<u8>]| {
        let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
        // A word without a slash may be part of the host, which most URLs of an input share.
        let has_slash = words.iter().all(|word| word.contains(&b'/'));
        (shortest.min(RARE_BYTES), has_slash, std::cmp::Reverse(words.len()))
    };
    if key(&other) > key(&one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn anchored_words_are_edges_and_others_must_be_contained() {
        let edge =
            |edge, words: &[&str]| Shape::Edge(edge, words.iter().map(|word| (*word).into()).collect());
        let containing = |words: &[&str], is_exact| Shape::Containing {
            words: words.iter().map(|word| (*word).into()).collect(),
            is_exact,
        };
        let within = |words: &[&str]| containing(words, false);
        let exactly = |words: &[&str]| containing(words, true);
        for (pattern, want) in [
            ("^https://h/a/", edge(Edge::Start, &["https://h/a/"])),
            (r"^http://h\.e/(a|b)/", edge(Edge::Start, &["http://h.e/a/", "http://h.e/b/"])),
            ("^http://www.h.e/(a|b.)/", edge(Edge::Start, &["http://www\0h\0e/a/", "http://www\0h\0e/b\0/"])),
            ("/.[^\\n][ -~]x$", edge(Edge::End, &["/\0\0\0x"])),
            ("^http://h/[!-z]/", Shape::Any),
            ("^http://h/.*/a/", within(&["/a/"])),
            (r"^h.{2}x", edge(Edge::Start, &["h\0\0x"])),
            (r"^[\x00a].", Shape::Any),
            (r"\.pdf$", edge(Edge::End, &[".pdf"])),
            (r"\.(?:pdf|docx?)$", edge(Edge::End, &[".pdf", ".docx", ".doc"])),
            ("^http://h/a$", edge(Edge::Whole, &["http://h/a"])),
            ("(?i)/a$", edge(Edge::End, &["/A", "/a"])),
            ("/cart/", exactly(&["/cart/"])),
            ("[?&]session=", within(&["session="])),
            ("/(?:a|bc)/", exactly(&["/a/", "/bc/"])),
            ("/a.b/", within(&["/a"])),
            ("https://h/a", within(&["/a"])),
            (r"^https://h\.example/.*\?page=", within(&["?page="])),
            ("^https://h/shop/.*x", within(&["/shop/"])),
            ("/[a-z]+/(?:cart|basket)/", within(&["/cart/", "/basket/"])),
            ("(.*foo|.*bars)x", within(&["foo", "bars"])),
            (".*foo|.*bars", within(&["foo", "bars"])),
            ("(?:[0-9]+word)+", within(&["word"])),
            ("x?y*", Shape::Any),
            ("^https://", edge(Edge::Start, &["https://"])),
            ("^https://.*/[0-9]+$", Shape::Any),
            (r"\?", exactly(&["?"])),
            ("/", Shape::Any),
            (".*foo|[0-9]{8}", Shape::Any),
            (r"\bsale\b$", within(&["sale"])),
            ("(?:a{0}|)$", edge(Edge::End, &[""])),
            (r"a\nhttp", exactly(&[])),
            (r"/(?:a|b\n)$", edge(Edge::End, &["/a"])),
            (r"^.\x7F", edge(Edge::Start, &[])),
        ] {
            assert_eq!(Shape::of(&parse(pattern).unwrap()), want, "{pattern}");
        }
    }
}
