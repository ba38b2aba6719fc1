//! Dot segments.

use std::borrow::Cow;

/// Resolves the dot segments of the path of `line`, which begins at `path_at`, if one of them would remove a drive letter.
/// Returns any other line as it is.
///
/// In browsers, `/..` cannot remove the segment `/c:` of a `file:` URL. The `url` crate (2.5) applies this rule to every scheme,
/// and to any segment that is a letter followed by `:` or `|`. So such paths are resolved before the crate sees them.
pub fn without_removed_drives(line: &[u8], path_at: usize) -> Cow<'_, [u8]> {
    let mut resolved = line[..path_at].to_vec();
    match resolve(&line[path_at..], &mut resolved) {
        true => resolved.into(),
        false => line.into(),
    }
}

/// Appends `tail`, from the slash of the path to the end of the line, without dot segments, and with slashes for the backslashes of
/// its path. Returns whether a drive letter was removed.
pub fn resolve(tail: &[u8], out: &mut Vec<u8>) -> bool {
    let end = tail.iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(tail.len());
    let (path, rest) = tail.split_at(end);
    let mut removes_drive = false;
    let start = out.len();
    let mut segments = path.split(is_slash).skip(1).peekable();
    while let Some(segment) = segments.next() {
        match dots(segment) {
            0 => {
                out.push(b'/');
                out.extend_from_slice(segment);
                continue;
            }
            1 => {}
            _ => {
                if let Some(slash) = out[start..].iter().rposition(|&byte| byte == b'/') {
                    removes_drive |= is_drive(&out[start + slash + 1..]);
                    out.truncate(start + slash);
                }
            }
        }
        if segments.peek().is_none() {
            out.push(b'/');
        }
    }
    out.extend_from_slice(rest);
    removes_drive
}

fn is_slash(byte: &u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn is_drive(segment: &[u8]) -> bool {
    matches!(segment, [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// Returns 1 for the segment `.` and 2 for `..`, both in any spelling, and 0 for any other segment.
fn dots(segment: &[u8]) -> usize {
    let mut rest = segment;
    let mut dots = 0;
    while !rest.is_empty() {
        rest = match rest {
            [b'.', rest @ ..] | [b'%', b'2', b'e' | b'E', rest @ ..] => rest,
            _ => return 0,
        };
        dots += 1;
    }
    if dots <= 2 { dots } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;
    use url::Url;

    #[test]
    fn a_drive_letter_is_a_segment_like_any_other() {
        for (path, want) in [
            ("/c:/../a", "/a"),
            ("/c|/../a", "/a"),
            ("/C:\\..\\a", "/a"),
            ("/c:/%2e%2E/a", "/a"),
            ("/c:/.%2e/a", "/a"),
            ("/c:/..", "/"),
            ("/c:/../", "/"),
            ("/a/c:/..", "/a/"),
            ("/c:/d:/../../a", "/a"),
            ("/c:/./../a", "/a"),
            ("/c:/x/../../a", "/a"),
            ("/c://../a", "/c:/a"),
            ("/c:/..?q=/d:/../x", "/?q=/d:/../x"),
            ("/c:/..#/d:/..", "/#/d:/.."),
            ("/c:/...", "/c:/..."),
            ("/c:/a", "/c:/a"),
        ] {
            let line = format!("http://h.example{path}");
            let resolved = String::from_utf8(without_removed_drives(line.as_bytes(), 16).into()).unwrap();
            assert_eq!(Url::parse(&resolved).unwrap().as_str(), format!("http://h.example{want}"), "{path}");
        }
    }

    #[test]
    fn drive_letters_are_resolved_as_the_parser_resolves_other_segments() {
        let pieces: [&[u8]; 12] =
            [b"c:", b"Z|", b"c:", b"..", b"%2e.", b".", b"%2E", b"", b"a", b"cc:", b"...", b"%2e%2e%2e"];
        let mut random = Random::new(3);
        for _ in 0..100_000 {
            let mut path = Vec::new();
            for _ in 0..random.below(8) {
                path.push(if random.below(4) == 0 { b'\\' } else { b'/' });
                path.extend(random.pick(&pieces));
            }
            let line = [b"http://h.example", &path[..]].concat();
            let resolved = String::from_utf8(without_removed_drives(&line, 16).into()).unwrap();
            // Letters that are not drives.
            let line = String::from_utf8(line).unwrap();
            let plain = line.replace("/c:", "/q__q:").replace("\\c:", "\\q__q:").replace("Z|", "q__q|");
            let want = Url::parse(&plain).unwrap().as_str().replace("q__q:", "c:").replace("q__q|", "Z|");
            assert_eq!(Url::parse(&resolved).unwrap().as_str(), want, "{line}");
        }
    }
}
