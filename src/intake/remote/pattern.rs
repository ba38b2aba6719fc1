//! Key patterns, as in a shell: `*`, `?` and `[…]`, which do not match slashes.

/// Whether a key is a pattern.
pub fn has_pattern(key: &str) -> bool {
    key.contains(['*', '?', '['])
}

/// What every name begins with that matches `pattern`.
pub fn literal_start(pattern: &str) -> &str {
    &pattern[..pattern.find(['*', '?', '[']).unwrap_or(pattern.len())]
}

/// Whether `name`, a part of a key without slashes, matches `pattern`. A name that begins with `.` or `_` matches only a pattern
/// that also begins with `.` or `_`, because such names are not data.
pub fn matches(pattern: &str, name: &str) -> bool {
    let is_hidden = |text: &str| text.starts_with(['.', '_']);
    if is_hidden(name) && !is_hidden(pattern) {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    // `star` is the position after the last star, and the position in the name up to which it matches.
    let (mut at, mut of_name, mut star) = (0, 0, None);
    while of_name < name.len() {
        let (next, is_match) = match pattern.get(at) {
            Some('*') => {
                (at, star) = (at + 1, Some((at + 1, of_name)));
                continue;
            }
            Some('?') => (at + 1, true),
            Some('[') => in_set(&pattern, at, name[of_name]),
            Some(literal) => (at + 1, *literal == name[of_name]),
            None => (at, false),
        };
        match (is_match, star) {
            (true, _) => (at, of_name) = (next, of_name + 1),
            (false, Some((after, from))) => (at, of_name, star) = (after, from + 1, Some((after, from + 1))),
            (false, None) => return false,
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Returns the position after the set that begins at `at`, and whether `letter` is in the set. An unclosed bracket is literal.
fn in_set(pattern: &[char], at: usize, letter: char) -> (usize, bool) {
    let is_negated = matches!(pattern.get(at + 1), Some('!' | '^'));
    let first = at + 1 + usize::from(is_negated);
    // A closing bracket right after the start belongs to the set.
    let Some(end) = (first + 1..pattern.len()).find(|&end| pattern[end] == ']') else {
        return (at + 1, letter == '[');
    };
    let (mut rest, mut is_in) = (&pattern[first..end], false);
    while let [low, more @ ..] = rest {
        (is_in, rest) = match more {
            ['-', high, after @ ..] => (is_in || (*low..=*high).contains(&letter), after),
            _ => (is_in || *low == letter, more),
        };
    }
    (end + 1, is_in != is_negated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_as_in_a_shell() {
        for (pattern, yes, no) in [
            (
                "part-*.parquet",
                &["part-0.parquet", "part-.parquet"][..],
                &["part-0.parquet.crc", "apart-0.parquet"][..],
            ),
            ("*", &["a", "é"], &["_SUCCESS", ".crc"]),
            ("_*", &["_SUCCESS"], &["a"]),
            ("a?c", &["abc", "aéc"], &["ac", "abbc"]),
            ("day=[0-3]", &["day=0", "day=3"], &["day=4", "day="]),
            ("[!0-3a]", &["4", "b"], &["0", "a"]),
            ("[]a]", &["]", "a"], &["b"]),
            ("[*]", &["*"], &["a"]),
            ("a[b", &["a[b"], &["ab"]),
            ("a*b*c", &["abc", "axxbyybzc"], &["acb", "ab"]),
            ("**", &["abc"], &[]),
        ] {
            yes.iter().for_each(|name| assert!(matches(pattern, name), "{pattern} {name}"));
            no.iter().for_each(|name| assert!(!matches(pattern, name), "{pattern} {name}"));
        }
        assert!(has_pattern("a/b*") && !has_pattern("a/b"));
        for (pattern, start) in [("part-*.csv", "part-"), ("a?c", "a"), ("a[b", "a"), ("*", ""), ("a", "a")] {
            assert_eq!(literal_start(pattern), start);
        }
    }
}
