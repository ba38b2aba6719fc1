//! Percent-encodes the bytes that RFC 3986 does not allow in path and query.

use super::legal::{LEGAL, PATH, QUERY, is_escape, is_legal};
use super::tail::is_plain_block;
use crate::common::array;
use crate::common::simd::LANES;

/// Maps each byte to its encoding, followed by the length of the encoding. Length 0 means that the encoding depends on the
/// neighbouring bytes, or that the line is rejected.
const ALONE: [[u8; 4]; 256] = {
    let mut alone = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        alone[byte] = match byte as u8 {
            0..0x20 | 0x7F | b'#' | b'%' | b'\'' | b'\\' => [0; 4],
            // It begins the query, and may also be part of it.
            b'?' => [b'?', 0, 0, 1],
            legal if LEGAL[byte] == PATH | QUERY => [legal, 0, 0, 1],
            other => {
                let [percent, high, low] = percent_escape(other);
                [percent, high, low, 3]
            }
        };
        byte += 1;
    }
    alone
};

/// Appends `tail` like [`append`] if every byte in it is always kept or always encoded, as in most IRIs. Otherwise returns false,
/// with a part of `tail` in `out`.
pub fn append_at_sight(tail: &[u8], out: &mut Vec<u8>) -> bool {
    let (bytes, before) = (&tail[1..], &tail[..tail.len() - 1]);
    let (blocks, rest) = bytes.as_chunks::<LANES>();
    let (blocks_before, rest_before) = before.as_chunks::<LANES>();
    out.push(tail[0]);
    for (block, before) in blocks.iter().zip(blocks_before) {
        if is_plain_block(block, before) {
            out.extend_from_slice(block);
        } else if !append_block(block, before, out) {
            return false;
        }
    }
    // Each byte is checked together with the one before it.
    if let (Some(last), Some(last_before)) = (bytes.last_chunk(), before.last_chunk())
        && is_plain_block(last, last_before)
    {
        out.extend_from_slice(rest);
        return true;
    }
    append_block(rest, rest_before, out)
}

/// Appends up to [`LANES`] bytes one by one. `before` contains the byte before each. Returns false as in [`append_at_sight`].
#[inline]
fn append_block(block: &[u8], before: &[u8], out: &mut Vec<u8>) -> bool {
    let (mut encoded, mut end) = ([0; 4 * LANES], 0);
    for (&byte, &before) in block.iter().zip(before) {
        let alone = ALONE[usize::from(byte)];
        let length = usize::from(alone[3]);
        if length == 0 || (byte == b'.' && before == b'/') {
            return false;
        }
        // Always writes four bytes, then keeps one or three of them.
        array::write(&mut encoded[end..], alone);
        end += length;
    }
    out.extend_from_slice(&encoded[..end]);
    true
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

/// The bytes of `path` in a URL: everything but unreserved characters (RFC 3986, section 2.3) and slashes is encoded.
pub fn percent_encode_path(path: &[u8]) -> String {
    let mut encoded = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                encoded.push(byte.into())
            }
            _ => encoded.extend(percent_escape(byte).map(char::from)),
        }
    }
    encoded
}

/// Appends `byte` as `%XX`.
pub fn push_escape(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&percent_escape(byte));
}

/// `byte` as `%XX`.
pub const fn percent_escape(byte: u8) -> [u8; 3] {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    [b'%', DIGITS[byte as usize >> 4], DIGITS[byte as usize & 15]]
}
