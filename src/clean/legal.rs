//! Bytes that RFC 3986 allows in path and query.

/// Legal in a path.
pub const PATH: u8 = 1;
/// Legal in a query.
pub const QUERY: u8 = 2;

/// The parts in which each byte is legal: [`PATH`], [`QUERY`] or both. RFC 3986, section 3.3 (`pchar` and `/`) and section 3.4
/// (also `?`). `%` must be followed by two digits; see [`is_escape`]. Browsers encode `'` in a query (WHATWG URL, "special-query
/// percent-encode set"), so it is not legal there.
pub const LEGAL: [u8; 256] = {
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

/// Whether `byte` needs no encoding. The `?` that begins a query is not part of the path.
pub const fn is_legal(byte: u8, in_query: bool) -> bool {
    LEGAL[byte as usize] & (if in_query { QUERY } else { PATH }) != 0
}

/// Whether `bytes` begin with `%` and two hexadecimal digits.
pub fn is_escape(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
