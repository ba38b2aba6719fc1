//! The slow path, which defines the correct result: the WHATWG URL parser, then the alphabet of RFC 3986.

use std::borrow::Cow;
use std::ops::Range;

use url::{ParseError, Position, Url};

use super::reason::Reason;
use super::{dots, encode, host};

/// Appends the canonical URL of a trimmed `line` to `out`; returns where its path begins.
pub fn parse(line: &[u8], out: &mut Vec<u8>) -> Result<usize, Reason> {
    if line.iter().any(u8::is_ascii_control) {
        return Err(Reason::ControlCharacter);
    }
    let scheme = scheme(line).ok_or(Reason::NotAbsolute)?;
    if !scheme.eq_ignore_ascii_case(b"http") && !scheme.eq_ignore_ascii_case(b"https") {
        return Err(Reason::Scheme);
    }
    if has_credentials(&line[scheme.len() + 1..]) {
        return Err(Reason::Credentials);
    }
    let line = dots::without_removed_drives(line, path_of(line));
    let (url, host) = match Url::parse(&as_utf8(&line)) {
        Err(ParseError::IdnaError) => parse_ascii_host(&line, scheme.len() + 1)?,
        url => (url.map_err(reason)?, None),
    };
    let host = host.as_deref().unwrap_or(url[Position::BeforeHost..Position::AfterHost].as_bytes());
    let is_legal = |part: &[u8]| part.iter().all(|&byte| is_legal_in_origin(byte));
    if !is_legal(host) || !host::can_be_resolved(host) {
        return Err(Reason::Host);
    }
    let start = out.len();
    out.extend_from_slice(url[..Position::BeforeHost].as_bytes());
    out.extend_from_slice(host);
    out.extend_from_slice(url[Position::AfterHost..Position::BeforePath].as_bytes());
    let path_at = out.len();
    encode::append(url[Position::BeforePath..Position::AfterQuery].as_bytes(), out);
    debug_assert!(is_legal(&out[start..path_at]));
    Ok(path_at)
}

/// Parses a line with a host that UTS 46 refuses, and also returns that host. Browsers accept it if it is ASCII, because there
/// are sites with wrong punycode (WHATWG URL, "domain to ASCII", as of June 2026). The `url` crate (2.5) does not do so yet.
fn parse_ascii_host(line: &[u8], after_scheme: usize) -> Result<(Url, Option<Vec<u8>>), Reason> {
    let authority = authority(&line[after_scheme..]);
    let (start, end) = (after_scheme + authority.start, after_scheme + authority.end);
    let user = line[start..end].iter().rposition(|&byte| byte == b'@');
    let start = user.map_or(start, |at| start + at + 1);
    let port = line[start..end].iter().position(|&byte| byte == b':');
    let end = port.map_or(end, |at| start + at);
    let host = host::ascii(&line[start..end]).ok_or(Reason::Host)?;
    let plain = [&line[..start], &host::without_punycode(&host), &line[end..]].concat();
    Ok((Url::parse(&as_utf8(&plain)).map_err(reason)?, Some(host)))
}

/// RFC 3986 section 3.1: a letter, then letters, digits, `+ - .`, up to the colon.
pub fn scheme(line: &[u8]) -> Option<&[u8]> {
    let scheme = line.split(|&byte| byte == b':').next().filter(|scheme| scheme.len() < line.len())?;
    let legal = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    (scheme.first()?.is_ascii_alphabetic() && scheme.iter().all(legal)).then_some(scheme)
}

/// Whether `text` begins with `http://` or `https://`, as the URL of a page does.
pub fn has_web_scheme(text: &[u8]) -> bool {
    let begins =
        |scheme: &[u8]| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins(b"http://") || begins(b"https://")
}

/// Whether the authority contains a user name or password.
fn has_credentials(after_scheme: &[u8]) -> bool {
    let authority = &after_scheme[authority(after_scheme)];
    match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => !matches!(authority[..at], [] | [b':']),
        None => false,
    }
}

/// The authority, as the WHATWG parser finds it: after any number of slashes and backslashes, up to the first of `/ \ ? #`.
fn authority(after_scheme: &[u8]) -> Range<usize> {
    let slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let start = after_scheme.iter().position(|byte| !slash(byte)).unwrap_or(after_scheme.len());
    let end = after_scheme[start..].iter().position(|byte| slash(byte) || matches!(byte, b'?' | b'#'));
    start..end.map_or(after_scheme.len(), |end| start + end)
}

/// The index at which the path or query of `line` begins; the end of the line if it has neither.
pub fn path_of(line: &[u8]) -> usize {
    let after_scheme = scheme(line).map_or(0, |scheme| scheme.len() + 1);
    after_scheme + authority(&line[after_scheme..]).end
}

/// Whether nothing is between the slashes where `given` should have a host, as in `https:///shop/`. The parser would take the first
/// segment of the path for the host, as browsers do.
pub fn lacks_host(given: &str) -> bool {
    let after_scheme = scheme(given.as_bytes()).map_or(given, |scheme| &given[scheme.len() + 1..]);
    let rest = after_scheme.trim_start_matches(['/', '\\']);
    let slashes = after_scheme.len() - rest.len();
    rest.is_empty() || rest.starts_with('?') || slashes > "//".len()
}

/// The text of a line for the parser. Bytes that are not UTF-8 are percent-encoded: in path and query that is the right result,
/// and in a host the parser refuses it.
fn as_utf8(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(line) {
        return Cow::Borrowed(text);
    }
    let mut text = Vec::with_capacity(line.len() + 16);
    for part in line.utf8_chunks() {
        text.extend_from_slice(part.valid().as_bytes());
        part.invalid().iter().for_each(|&byte| encode::push_escape(byte, &mut text));
    }
    Cow::Owned(String::from_utf8(text).expect("every invalid byte was encoded"))
}

fn reason(error: ParseError) -> Reason {
    match error {
        ParseError::InvalidPort => Reason::Port,
        ParseError::RelativeUrlWithoutBase => Reason::NotAbsolute,
        ParseError::Overflow => Reason::TooLong,
        _ => Reason::Host,
    }
}

/// RFC 3986 section 3.2: `reg-name` (without escapes, which the parser has decoded), `IP-literal`, port and the
/// `scheme://` before them. WHATWG allows a few more bytes in a host (quotes, braces), which no real host has.
fn is_legal_in_origin(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]/".contains(&byte)
}
