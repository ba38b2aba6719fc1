//! Percent-encoding of path and query: whatever RFC 3986 does not allow there.

use super::tail::is_escape;

const PATH: u8 = 1;
const QUERY: u8 = 2;

/// Where each byte may stand as it is. RFC 3986 section 3.3 `pchar` and `/`, section 3.4 `?` besides; `%` is legal
/// only with two digits behind it and decided apart. In a query a browser encodes `'` (WHATWG URL, "special-query
/// percent-encode set"), and the browser is the judge.
const LEGAL: [u8; 256] = {
    let mut legal = [0; 256];
    let everywhere = b"-._~!$&()*+,;=:@/";
    let mut at = 0;
    while at < everywhere.len() {
        legal[everywhere[at] as usize] = PATH | QUERY;
        at += 1;
    }
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            legal[byte] = PATH | QUERY;
        }
        byte += 1;
    }
    legal[b'?' as usize] = QUERY;
    legal[b'\'' as usize] = PATH;
    legal
};
const _: () = assert!(LEGAL[b' ' as usize] == 0 && LEGAL[b'%' as usize] == 0 && LEGAL[0x80] == 0);

/// Whether `byte` may stand as it is. The `?` that begins a query is not a byte of the path.
pub fn is_legal(byte: u8, in_query: bool) -> bool {
    LEGAL[byte as usize] & (if in_query { QUERY } else { PATH }) != 0
}

/// Appends `tail` (path, query and perhaps a fragment, which is dropped) with every illegal byte percent-encoded. Valid
/// escapes stay as they are; any other `%` becomes `%25`.
pub fn append(tail: &[u8], out: &mut Vec<u8>) {
    let mut in_query = false;
    for (at, &byte) in tail.iter().enumerate() {
        match byte {
            b'#' => return,
            b'?' => {
                in_query = true;
                out.push(byte);
            }
            b'%' if is_escape(&tail[at..]) => out.push(byte),
            _ if is_legal(byte, in_query) => out.push(byte),
            _ => push_escape(byte, out),
        }
    }
}

/// Appends `byte` as `%XX`.
pub fn push_escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
