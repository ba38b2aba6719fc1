//! Recognises the start of a line, up to the slash that begins its path, by its bytes or from an earlier line.
//!
//! In the WHATWG parser, scheme, host and port depend only on the bytes up to the first `/ ? # \` after the `//`. So the
//! result for `HTTPS://Bücher.example:443/` applies to every line that starts with these bytes, and if all URLs are on one site,
//! their host is parsed only once. So is each of a few thousand hosts that lines alternate between.

use std::collections::BTreeMap;

use super::host;
use crate::common::simd;

/// Most parsed origins that are remembered.
const PARSED_MAX: usize = 4096;

/// Maximum bytes of each of them: enough for nearly every host.
const PARSED_BYTES_MAX: usize = 512;

/// An origin as it is spelt in lines, `HTTP://H.example:80/`, and in its canonical form, `http://h.example/`.
#[derive(Debug, Default)]
pub struct KnownOrigin {
    /// The spelling, with the slash that begins the path. Empty if none is known yet.
    raw: Vec<u8>,
    /// The canonical form, without that slash.
    canonical: Vec<u8>,
    /// Whether both are equal.
    is_canonical: bool,
    /// Whether both are equal and contain nothing that XML escapes.
    is_plain: bool,
    /// The first origins that the parser found: the canonical form by the spelling, both without that slash. Not hashed, because
    /// whoever writes the lines chooses the keys, and a base URL is cleaned even if the system has no randomness.
    parsed: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl KnownOrigin {
    /// The index at which the path of `line` begins, if its origin is the known one, an earlier one, or plainly canonical.
    pub fn path_of(&mut self, line: &[u8]) -> Option<usize> {
        if self.is_origin_of(line) {
            return Some(self.raw.len() - 1);
        }
        if let Some(path_at) = plain_origin(line) {
            self.remember(&line[..path_at], &line[..path_at]);
            return Some(path_at);
        }
        let path_at = spelt_origin(line)?;
        let raw = &line[..path_at];
        let canonical = self.parsed.get(raw)?.clone();
        self.remember(raw, &canonical);
        Some(path_at)
    }

    /// The index at which the path of `line` begins, if its origin is the known one, canonical, and contains nothing that XML
    /// escapes.
    #[inline]
    pub fn plain_path_of(&self, line: &[u8]) -> Option<usize> {
        (self.is_plain && simd::starts_with(line, &self.raw)).then(|| self.raw.len() - 1)
    }

    /// Remembers the origin that the parser found in `line`, if later lines can be matched with it.
    pub fn learn(&mut self, line: &[u8], canonical: &[u8]) {
        if self.is_origin_of(line) {
            return;
        }
        let Some(path_at) = spelt_origin(line) else { return };
        let raw = &line[..path_at];
        if self.parsed.len() < PARSED_MAX && raw.len() <= PARSED_BYTES_MAX {
            self.parsed.insert(raw.to_vec(), canonical.to_vec());
        }
        self.remember(raw, canonical);
    }

    /// Whether `line` begins with the known origin.
    fn is_origin_of(&self, line: &[u8]) -> bool {
        !self.raw.is_empty() && line.starts_with(&self.raw)
    }

    /// Whether the spelling is canonical.
    pub fn is_canonical(&self) -> bool {
        self.is_canonical
    }

    /// Scheme, host and port in canonical form, without a slash at the end.
    pub fn canonical(&self) -> &[u8] {
        &self.canonical
    }

    fn remember(&mut self, raw: &[u8], canonical: &[u8]) {
        self.raw.clear();
        self.raw.extend_from_slice(raw);
        self.raw.push(b'/');
        self.canonical.clear();
        self.canonical.extend_from_slice(canonical);
        self.is_canonical = raw == canonical;
        self.is_plain = self.is_canonical && memchr::memchr2(b'&', b'\'', raw).is_none();
    }
}

/// The index at which the path begins after an origin that is plainly canonical: lower-case scheme, a host of `a-z 0-9 - .`, no
/// port. The parser decides about other hosts: punycode, a last label that reads as a number (an IPv4 address, perhaps in octal),
/// and names that are too long for DNS.
fn plain_origin(line: &[u8]) -> Option<usize> {
    let host_at = [&b"https://"[..], b"http://"].into_iter().find(|&s| line.starts_with(s))?.len();
    let host_bytes = line[host_at..].iter().position(|&byte| byte == b'/')?;
    let host = &line[host_at..host_at + host_bytes];
    if !host::can_be_resolved(host) {
        return None;
    }
    let mut last = &host[..0];
    for label in host.split(|&byte| byte == b'.') {
        let plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if label.is_empty() || label.starts_with(b"xn--") || !label.iter().all(plain) {
            return None;
        }
        last = label;
    }
    (!last[0].is_ascii_digit()).then_some(host_at + host_bytes)
}

/// The index at which the path begins in a line that spells its origin in the usual way, `scheme://authority/`.
fn spelt_origin(line: &[u8]) -> Option<usize> {
    let authority_at = line.iter().position(|&byte| byte == b':')? + 3;
    let slashes = line.get(authority_at - 2..authority_at)?;
    let end = line[authority_at..].iter().position(|&byte| matches!(byte, b'/' | b'?' | b'#' | b'\\'))?;
    let path_at = authority_at + end;
    (slashes == b"//" && end > 0 && line[path_at] == b'/').then_some(path_at)
}
