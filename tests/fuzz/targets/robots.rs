//! The rule of a robots.txt that decides about a URL is the one that a plain reading of RFC 9309 finds, for any bytes.
//!
//! The input is a robots.txt, a null byte, and the paths of URLs, one per line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sitemill::internals::lines::lines;
use sitemill::internals::{Cleaned, Cleaner};
use sitemill::options::Robots;

/// The crawler whose group is looked for.
const AGENT: &str = "FooBot";

fuzz_target!(|data: &[u8]| {
    let (text, paths) = data.split_at(data.iter().position(|&byte| byte == 0).unwrap_or(data.len()));
    let mut cleaner = Cleaner::default();
    for agent in [None, Some(AGENT)] {
        let robots = Robots::parse(text, agent.map(|agent| agent.parse().expect("it is a name")).as_ref());
        let rules = rules_for(text, agent);
        for line in lines(paths.get(1..).unwrap_or_default(), 0) {
            let line = [b"http://h.example/", line.raw].concat();
            let Cleaned::Url(url) = cleaner.clean(&line) else {
                continue;
            };
            let Some(path) = url.as_bytes().strip_prefix(b"http://h.example") else { continue };
            let found = robots.forbidding(url).map(str::len);
            assert_eq!(found, forbidding(&rules, &letters(path, false)), "{}", url.as_bytes().escape_ascii());
        }
    }
});

/// A byte of a path that is written in one way only.
#[derive(Clone, Copy, PartialEq)]
enum Letter {
    /// A byte. An escape is three, as in crawlers: `/*2` matches `/a%20b`.
    Plain(u8),
    /// Any bytes.
    Star,
    /// The end of the path.
    End,
}

/// A rule: whether it allows, and its pattern.
type Rule = (bool, Vec<Letter>);

/// The crawlers that a group of rules is for.
type Names = Vec<Vec<u8>>;

/// The rules for `agent`, group by group.
fn rules_for(text: &[u8], agent: Option<&str>) -> Vec<Rule> {
    let mut groups: Vec<(Names, Vec<Rule>)> = Vec::new();
    let mut ended = true;
    for (key, value) in pairs(text) {
        // Longer keys count, too: `Disallowed`.
        let is = |words: &[&str]| words.iter().any(|word| key.starts_with(word.as_bytes()));
        if is(&["user-agent", "useragent", "user agent"]) {
            if std::mem::take(&mut ended) {
                groups.push(Default::default());
            }
            groups.last_mut().expect("one was begun").0.push(value);
        } else if is(&["allow"]) {
            ended = true;
            let Some((_, rules)) = groups.last_mut() else { continue };
            rules.push((true, letters(&value, true)));
            // The page of a directory allows the directory.
            let name = value.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
            if name.len() < value.len() && name.starts_with(b"index.htm") {
                let mut directory = letters(&value[..value.len() - name.len()], true);
                directory.push(Letter::End);
                rules.push((true, directory));
            }
        } else if is(&["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]) {
            ended = true;
            let Some((_, rules)) = groups.last_mut() else { continue };
            rules.push((false, letters(&value, true)));
        }
    }
    let is_named = |name: &Vec<u8>| {
        let is_token = |byte: &&u8| byte.is_ascii_alphabetic() || **byte == b'-' || **byte == b'_';
        let token: Vec<u8> = name.iter().take_while(is_token).copied().collect();
        agent.is_some_and(|agent| token.eq_ignore_ascii_case(agent.as_bytes()))
    };
    let is_all = |name: &Vec<u8>| name == b"*" || name.starts_with(b"* ") || name.starts_with(b"*\t");
    let has_own = groups.iter().any(|(names, _)| names.iter().any(is_named));
    let is_of =
        |names: &[Vec<u8>]| if has_own { names.iter().any(is_named) } else { names.iter().any(is_all) };
    let chosen = groups.into_iter().filter(|(names, _)| is_of(names)).flat_map(|(_, rules)| rules);
    chosen.filter(|(_, pattern)| !pattern.is_empty()).collect()
}

/// Keys in lower case, and values. Inputs of this target are too short for the limits of lines and files.
fn pairs(text: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mark = (0..=3).rev().find(|&bytes| text.starts_with(&b"\xEF\xBB\xBF"[..bytes])).unwrap_or(0);
    let lines = text[mark..].split(|byte| b"\r\n".contains(byte));
    lines
        .filter_map(|line| {
            let line = line[..line.len().min(8 * 2083 - 1)].split(|&byte| byte == b'#').next()?.trim_ascii();
            let (key, value) = match line.iter().position(|&byte| byte == b':') {
                Some(colon) => (&line[..colon], line[colon + 1..].trim_ascii()),
                None => {
                    let words: Vec<&[u8]> = line.split(|byte| b" \t".contains(byte)).collect();
                    let (key, value) = (words.first()?, &line[words.first()?.len()..]);
                    let value = value.trim_ascii();
                    if words.len() < 2 || value.iter().any(|byte| b" \t".contains(byte)) {
                        return None;
                    }
                    (*key, value)
                }
            };
            Some((key.trim_ascii().to_ascii_lowercase(), value.to_vec()))
        })
        .collect()
}

/// The letters of a path, or of a pattern.
fn letters(text: &[u8], is_pattern: bool) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let digits = text.get(at + 1..at + 3).and_then(|digits| str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match (text[at], digits) {
            (b'%', None) if is_pattern && let Some(digit) = begun_escape(&text[at + 1..]) => {
                letters.push(Letter::Plain(b'%'));
                letters.extend(digit.iter().map(|digit| Letter::Plain(digit.to_ascii_uppercase())));
                at += digit.len();
            }
            (b'%', Some(digits)) => {
                let byte = u8::from_str_radix(digits, 16).expect("these are digits");
                if is_unreserved(byte) {
                    letters.push(Letter::Plain(byte))
                } else {
                    push_escape(byte, &mut letters)
                }
                at += 2;
            }
            (b'*', _) if is_pattern => letters.push(Letter::Star),
            (b'$', _) if is_pattern && at + 1 == text.len() => letters.push(Letter::End),
            (byte, _) if is_unreserved(byte) || b"!&()+,;=:@/?".contains(&byte) => {
                letters.push(Letter::Plain(byte))
            }
            (byte, _) => push_escape(byte, &mut letters),
        }
        at += 1;
    }
    letters
}

/// The digit, if there is one, of an escape whose percent sign is before `rest` of a pattern, and which the path may complete.
fn begun_escape(rest: &[u8]) -> Option<&[u8]> {
    let digits = rest.iter().take(1).filter(|byte| byte.is_ascii_hexdigit()).count();
    let (digit, after) = rest.split_at(digits);
    (after.is_empty() || after[0] == b'*').then_some(digit)
}

fn push_escape(byte: u8, letters: &mut Vec<Letter>) {
    letters.extend(format!("%{byte:02X}").bytes().map(Letter::Plain));
}

/// The length of the rule that forbids `path`: of those that match, the longest decides, and one that allows wins a tie.
fn forbidding(rules: &[Rule], path: &[Letter]) -> Option<usize> {
    let matching = rules.iter().filter(|(_, pattern)| is_match(pattern, path));
    let (allows, pattern) = matching.max_by_key(|(allows, pattern)| (pattern.len(), *allows))?;
    (!allows).then_some(pattern.len())
}

/// Whether `pattern` matches the start of `path`: after each letter, all places of the path that it may have reached.
fn is_match(pattern: &[Letter], path: &[Letter]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for letter in pattern {
        match letter {
            Letter::Star => {
                let first = reached.iter().position(|&is| is).unwrap_or(reached.len());
                reached[first..].fill(true);
            }
            Letter::End => {
                let last = reached[path.len()];
                reached.fill(false);
                reached[path.len()] = last;
            }
            letter => {
                for at in (0..path.len()).rev() {
                    reached[at + 1] = reached[at] && path[at] == *letter;
                }
                reached[0] = false;
            }
        }
    }
    reached.contains(&true)
}
