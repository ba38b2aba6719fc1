//! The normal form of a URL, in which URLs are compared, and the directory that it is in.

use std::borrow::Cow;

use super::loc::{check_grammar, parts};

/// Returns the form of `url` in which URLs are compared: RFC 3986, 6.2.2 and 6.2.3. The case of scheme and host, a default port and
/// dot segments make no difference, nor does a fragment, which no server sees. What is not a URL is returned as it is. If `url`
/// starts with `below`, the normal URL of a directory or a host, only the rest is examined.
#[inline]
pub(crate) fn normal<'u>(url: &'u [u8], below: Option<&str>) -> Cow<'u, [u8]> {
    let is_normal = match below {
        Some(below) if url.starts_with(below.as_bytes()) => has_normal_path(&url[below.len() - 1..]),
        _ => is_normal(url),
    };
    match is_normal {
        true => url.into(),
        false => normalised(url).map_or(url.into(), Into::into),
    }
}

/// Returns whether `url` is below `prefix`, the normal URL of a directory or a host.
pub(crate) fn is_below(url: &[u8], prefix: &str) -> bool {
    normal(url, Some(prefix)).starts_with(prefix.as_bytes())
}

/// Returns whether it can be seen at a glance that `url` is normal.
#[inline]
fn is_normal(url: &[u8]) -> bool {
    let Some(rest) = url.strip_prefix(b"https://").or_else(|| url.strip_prefix(b"http://")) else {
        return false;
    };
    let Some(slash) = memchr::memchr(b'/', rest) else { return false };
    let (authority, path) = rest.split_at(slash);
    let may_change = |&byte: &u8| byte.is_ascii_uppercase() || matches!(byte, b'?' | b'#');
    let has_port = || [&b":443"[..], b":80", b":"].iter().any(|port| authority.ends_with(port));
    !authority.iter().any(may_change) && !has_port() && has_normal_path(path)
}

/// Returns whether it can be seen at a glance that `path`, which begins with a slash, needs no change.
#[inline]
fn has_normal_path(path: &[u8]) -> bool {
    // A dot segment follows a slash.
    let is_odd = |at: usize| path[at] == b'#' || path[at - 1] == b'/';
    !memchr::memchr3_iter(b'#', b'.', b'%', path).any(is_odd)
}

#[cold]
fn normalised(url: &[u8]) -> Option<Vec<u8>> {
    let mut normal = normal_origin(url)?;
    if let Some(fragment) = memchr::memchr(b'#', &normal) {
        normal.truncate(fragment);
    }
    let root = parts(&normal).ok()?.authority.end + 1;
    let path_end = memchr::memchr(b'?', &normal).unwrap_or(normal.len());
    let mut resolved = normal[..root].to_vec();
    // RFC 3986, 5.2.4. It always ends with a slash before a segment is appended.
    let mut segments = normal[root..path_end].split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        // `%2e` is a dot: RFC 3986, 6.2.2.2.
        match &*String::from_utf8_lossy(segment).to_ascii_lowercase().replace("%2e", ".") {
            "." => {}
            ".." => {
                resolved.truncate((resolved.len() - 1).max(root));
                while resolved.len() > root && resolved.last() != Some(&b'/') {
                    resolved.pop();
                }
            }
            _ => {
                resolved.extend_from_slice(segment);
                resolved.extend(segments.peek().map(|_| b'/'));
            }
        }
    }
    resolved.extend_from_slice(&normal[path_end..]);
    Some(resolved)
}

/// Returns `url` with its origin normalised, and with a slash after it.
#[cold]
fn normal_origin(url: &[u8]) -> Option<Vec<u8>> {
    let parts = parts(url).ok()?;
    let mut normal = url[parts.scheme].to_ascii_lowercase();
    let default_port: &[u8] = if normal == b"http" { b":80" } else { b":443" };
    let authority = url[parts.authority.clone()].to_ascii_lowercase();
    let host = [default_port, b":"].into_iter().find_map(|port| authority.strip_suffix(port));
    normal.extend_from_slice(b"://");
    normal.extend_from_slice(host.unwrap_or(&authority));
    if !url[parts.authority.end..].starts_with(b"/") {
        normal.push(b'/');
    }
    normal.extend_from_slice(&url[parts.authority.end..]);
    Some(normal)
}

/// Returns the directory of `url`, up to the last slash of its path in its normal form, or `None` if it is not a URL.
pub(crate) fn directory(url: &[u8]) -> Option<String> {
    check_grammar(url).ok()?;
    let normal = normal(url, None);
    let path_end = memchr::memchr(b'?', &normal).unwrap_or(normal.len());
    let slash = normal[..path_end].iter().rposition(|&byte| byte == b'/')?;
    String::from_utf8(normal[..=slash].to_vec()).ok()
}

/// Returns scheme, host and port of a directory, with the slash that follows them.
pub(crate) fn origin(directory: &str) -> &str {
    let host_at = directory.find("://").map_or(0, |at| at + 3);
    let slash = directory[host_at..].find('/').map_or(directory.len(), |at| host_at + at + 1);
    &directory[..slash]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::random::Random;
    use crate::escape::shown;

    #[test]
    fn a_directory_is_the_common_prefix_of_its_files() {
        for (url, want) in [
            ("http://h.example/maps/a.xml", Some("http://h.example/maps/")),
            ("HTTP://H.example:80/maps/a.xml?x=/y", Some("http://h.example/maps/")),
            ("https://h.example:8443", Some("https://h.example:8443/")),
            ("http://h.example/x/../maps/./a.xml#/y", Some("http://h.example/maps/")),
            ("maps/a.xml", None),
        ] {
            assert_eq!(directory(url.as_bytes()).as_deref(), want, "{url}");
        }
        assert_eq!(origin("http://h.example:8080/maps/"), "http://h.example:8080/");
    }

    #[test]
    fn a_url_is_below_a_directory_however_its_host_is_spelled() {
        for (url, below) in [
            ("http://h.example/maps/a", true),
            ("http://h.example/maps/", true),
            ("HTTP://H.EXAMPLE:80/maps/a", true),
            ("http://h.example/MAPS/a", false),
            ("http://h.example/mapsa", false),
            ("https://h.example/maps/a", false),
            ("http://h.example:8080/maps/a", false),
            ("http://www.h.example/maps/a", false),
            ("http://h.example/maps/../a", false),
            ("http://h.example/maps/%2e%2E/a", false),
            ("http://h.example/maps/.%2e/a", false),
            ("http://h.example/maps/a/../../b", false),
            ("http://h.example/maps/..", false),
            ("http://h.example/maps/.", true),
            ("http://h.example/maps/a/..", true),
            ("http://h.example/other/../maps/a", true),
            ("http://h.example/../maps/a", true),
            ("http://h.example/maps/...", true),
            ("http://h.example/maps/.well-known", true),
            ("http://h.example/maps/..%2fa", true),
            ("http://h.example/maps/?a=/../b", true),
            ("http://h.example/maps/#/../../b", true),
        ] {
            assert_eq!(is_below(url.as_bytes(), "http://h.example/maps/"), below, "{url}");
        }
        assert!(is_below(b"http://h.example?q", "http://h.example/"));
    }

    #[test]
    fn urls_are_compared_in_their_normal_form() {
        for (url, want) in [
            ("https://h.example/a%2Eb/%7e?Q=%2f&r=/./", "https://h.example/a%2Eb/%7e?Q=%2f&r=/./"),
            ("HTTPS://H.Example:443/A#f", "https://h.example/A"),
            ("http://h.example:443/", "http://h.example:443/"),
            ("http://h.example:/a", "http://h.example/a"),
            ("http://[::1]:80/a", "http://[::1]/a"),
            ("https://h.example", "https://h.example/"),
            ("https://h.example?q=/", "https://h.example/?q=/"),
            ("https://h.example#/a", "https://h.example/"),
            ("https://h.example/a//../b/./c/", "https://h.example/a/b/c/"),
            ("https://h.example/a/b/../..", "https://h.example/"),
            ("https://h.example/../../a/..?q", "https://h.example/?q"),
            ("h.example/../a", "h.example/../a"),
        ] {
            assert_eq!(str::from_utf8(&normal(url.as_bytes(), None)), Ok(want), "{url}");
        }
    }

    #[test]
    fn what_is_normal_at_a_glance_does_not_change() {
        let starts: [&[u8]; 6] =
            [b"http://h.example", b"https://h.example", b"HTTP://h.example", b"https://", b"https:/h", b""];
        let pieces: [&[u8]; 15] = [
            b"/", b"/", b".", b"..", b"%2e", b"%2E", b"%20", b"#", b"?", b":80", b":443", b":", b"A", b"a",
            b"//",
        ];
        let mut random = Random::new(7);
        let mut normal_ones = 0;
        for _ in 0..200_000 {
            let mut url = random.pick(&starts).to_vec();
            (0..random.below(9)).for_each(|_| url.extend(random.pick(&pieces)));
            let plain = normalised(&url).unwrap_or_else(|| url.clone());
            for below in [None, Some("http://h.example/"), Some("https://h.example/a/")] {
                assert_eq!(normal(&url, below), plain, "{}", shown(&url));
                if check_grammar(&url).is_ok() {
                    assert_eq!(normal(&plain, below), plain, "{}", shown(&url));
                }
            }
            normal_ones += u32::from(is_normal(&url));
        }
        assert!((10_000..190_000).contains(&normal_ones), "{normal_ones}");
    }
}
