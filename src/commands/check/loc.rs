//! `loc`: checks that it is a URL, with a grammar that the writer does not share, and that its sitemap may list it.

use std::ops::Range;
use std::sync::LazyLock;

use super::rules::Rule;
use crate::escape::shown;
use crate::limits::{URL_BYTES_MAX, URL_BYTES_MIN};
use crate::words::grouped;

/// A phrase that says what is wrong with a URL.
pub(crate) type Wrong = &'static str;

/// The phrase for a URL of more than [`URL_BYTES_MAX`] characters.
pub(crate) static TOO_LONG: LazyLock<String> =
    LazyLock::new(|| format!("longer than {} characters", grouped(URL_BYTES_MAX as u64)));

/// Longest name of a host: RFC 1035, 2.3.4, without the length of the first label and the root.
const HOST_BYTES_MAX: usize = 253;

/// The parts of a URL in which a byte is allowed: RFC 3986, 2.2, 2.3 and 3.
const PATH: u8 = 1;
const QUERY: u8 = 2;
const REG_NAME: u8 = 4;

const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let everywhere = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=%";
    let mut at = 0;
    while at < everywhere.len() {
        class[everywhere[at] as usize] = PATH | QUERY | REG_NAME;
        at += 1;
    }
    class[b':' as usize] = PATH | QUERY;
    class[b'@' as usize] = PATH | QUERY;
    class[b'/' as usize] = PATH | QUERY;
    class[b'?' as usize] = QUERY;
    class
};
const _: () = assert!(CLASS[b' ' as usize] == 0 && CLASS[b'#' as usize] == 0 && CLASS[0x80] == 0);

/// The parts of a URL.
pub(super) struct Parts {
    pub scheme: Range<usize>,
    pub authority: Range<usize>,
}

/// Splits `url` into its parts. Only the scheme is validated.
#[inline]
pub(super) fn parts(url: &[u8]) -> Result<Parts, Wrong> {
    let scheme_end = match url {
        [b'h', b't', b't', b'p', b's', b':', ..] => 5,
        [b'h', b't', b't', b'p', b':', ..] => 4,
        _ => match memchr::memchr(b':', &url[..url.len().min(6)]) {
            Some(end) if ["http", "https"].iter().any(|s| url[..end].eq_ignore_ascii_case(s.as_bytes())) => {
                end
            }
            _ => return Err("not an absolute http or https URL"),
        },
    };
    if !url[scheme_end..].starts_with(b"://") {
        return Err("no // after the scheme");
    }
    let host_at = scheme_end + 3;
    let end = url[host_at..].iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    Ok(Parts { scheme: 0..scheme_end, authority: host_at..end.map_or(url.len(), |end| host_at + end) })
}

/// Validates `url` by RFC 3986 for `http` and `https`, and by RFC 9110, 4.2, where that is stricter.
#[inline]
pub(crate) fn check_grammar(url: &[u8]) -> Result<(), Wrong> {
    if url.is_empty() {
        return Err("the URL is empty");
    }
    let parts = parts(url)?;
    check_authority(&url[parts.authority.clone()])?;
    let mut allowed = PATH;
    let mut is_fragment = false;
    for (at, &byte) in url.iter().enumerate().skip(parts.authority.end) {
        if CLASS[byte as usize] & allowed == 0 {
            match byte {
                b'?' if allowed == PATH => allowed = QUERY,
                b'#' if !is_fragment => (allowed, is_fragment) = (QUERY, true),
                _ => return Err("a character that must be percent-encoded"),
            }
        } else if byte == b'%' && !is_escape(&url[at..]) {
            return Err("a percent sign without two hexadecimal digits after it");
        }
    }
    Ok(())
}

fn is_escape(from: &[u8]) -> bool {
    matches!(from, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Validates an authority: RFC 3986, 3.2.
#[inline]
fn check_authority(authority: &[u8]) -> Result<(), Wrong> {
    if memchr::memchr(b'@', authority).is_some() {
        return Err("a user name");
    }
    let (host, port) = match authority {
        [b'[', ..] => {
            let end = memchr::memchr(b']', authority).ok_or("an IPv6 address without a closing bracket")?;
            let address = str::from_utf8(&authority[1..end]).unwrap_or_default();
            address.parse::<std::net::Ipv6Addr>().map_err(|_| "an invalid IPv6 address")?;
            (&authority[..=end], &authority[end + 1..])
        }
        _ => authority.split_at(memchr::memchr(b':', authority).unwrap_or(authority.len())),
    };
    match port {
        [] => {}
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => {
            let port =
                digits.iter().fold(0_u32, |port, digit| (10 * port + u32::from(digit - b'0')).min(65_536));
            if port > 65_535 {
                return Err("an invalid port");
            }
        }
        _ => return Err("an invalid port"),
    }
    if host.is_empty() {
        return Err("no host");
    }
    let is_name = |(at, &byte): (usize, &u8)| {
        CLASS[byte as usize] & REG_NAME != 0 && (byte != b'%' || is_escape(&host[at..]))
    };
    if host[0] != b'[' && !host.iter().enumerate().all(is_name) {
        return Err("an invalid host");
    }
    match is_in_limits(host) {
        true => Ok(()),
        false => Err("a host with an empty part, one of more than 63 characters, or more than 253 in all"),
    }
}

/// Whether each label of `host` and the whole have a length that DNS allows: RFC 1035, 2.3.4. A dot at the end names the root. The
/// length of a percent-encoded label is unknown.
fn is_in_limits(host: &[u8]) -> bool {
    let name = host.strip_suffix(b".").unwrap_or(host);
    let mut labels = name.split(|&byte| byte == b'.');
    name.contains(&b'%')
        || name.len() <= HOST_BYTES_MAX && labels.all(|label| (1..=63).contains(&label.len()))
}

/// Checks a `loc`, whose `normal` form must start with `below`. The length is checked first, because other faults of a value
/// that was truncated are uncertain.
#[inline]
pub(crate) fn judge(
    loc: &[u8],
    normal: &[u8],
    below: Option<&str>,
    found: &mut (impl FnMut(Rule, &str, &[u8]) + ?Sized),
) {
    if check_length(loc) == std::cmp::Ordering::Greater {
        return found(Rule::LocTooLong, &TOO_LONG, loc);
    }
    if let Err(wrong) = check_grammar(loc) {
        return found(Rule::LocGrammar, wrong, loc);
    }
    if check_length(loc) == std::cmp::Ordering::Less {
        found(Rule::LocTooShort, &format!("shorter than {URL_BYTES_MIN} characters"), loc);
    }
    if let Some(below) = below
        && !normal.starts_with(below.as_bytes())
    {
        found(Rule::OutOfScope, &format!("not below {}", shown(below.as_bytes())), loc);
    }
}

/// Checks the length of `url`.
#[inline]
pub(crate) fn check_length(url: &[u8]) -> std::cmp::Ordering {
    match url.len() {
        0..URL_BYTES_MIN => std::cmp::Ordering::Less,
        URL_BYTES_MIN..=URL_BYTES_MAX => std::cmp::Ordering::Equal,
        _ => std::cmp::Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_urls_are_accepted_and_invalid_ones_are_explained() {
        for right in [
            "http://h.example/",
            "https://h.example",
            "HTTP://H.Example:80/p",
            "http://h.example:/",
            "http://h.example?q",
            "http://h.example/a;b=c,d/e@f:g/!$&'()*+~._-?/?:@#/?",
            "http://h.example/%C3%bc",
            "http://[2001:db8::1]:8080/",
            "http://192.0.2.1/",
            "http://h%41.example/",
            "http://h.example:65535/",
            "http://h.example./",
            &format!("http://{}.example/", "a".repeat(63)),
        ] {
            assert_eq!(check_grammar(right.as_bytes()), Ok(()), "{right}");
        }
        for wrong in [
            "",
            "h.example/",
            "/relative",
            "ftp://h.example/",
            "httpx://h.example/",
            "http:/h.example/",
            "http:///path",
            "http://:80/",
            "http://u@h.example/",
            "http://h.example:65536/",
            "http://h.example:99999999999999999999/",
            "http://h.example:x/",
            "http://[::1/",
            "http://[zz]/",
            "http://[::1]x/",
            "http://h example/",
            "http://h.example/a b",
            "http://h.example/ü",
            "http://h.example/a\nb",
            "http://h.example/[x]",
            "http://h.example/a|b",
            "http://h.example/a\"b",
            "http://h.example/50%off",
            "http://h.example/%",
            "http://h.example/%2",
            "http://h.example/#a#b",
            "http://bücher.example/",
            "http://a..b.example/",
            "http://.h.example/",
            "http://h.example../",
            &format!("http://{}.example/", "a".repeat(64)),
            &format!("http://{}example/", "a.".repeat(124)),
        ] {
            assert!(check_grammar(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
