//! Decides whether path and query of a line need any change.

use super::legal::{is_escape, is_legal};
use crate::common::array;
use crate::common::simd::{LANES, any};

/// The work that the bytes after an origin need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Nothing: they are canonical.
    Clean,
    /// Only bytes to percent-encode or a fragment to drop: `encode` does that.
    Encode,
    /// Perhaps dot segments or backslashes: `dots` resolves them, then `encode` does the rest.
    Resolve,
    /// A byte below 0x20 or 0x7F.
    Control,
}

/// The result of a quick check of a line, from the slash of its path on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// Nothing but `A-Z a-z 0-9 ( ) * + , - . / : ; = ? @ _`, and no `.` after a `/`: canonical.
    Plain,
    /// Like [`Sight::Plain`], but with `&`.
    Ampersands,
    /// Unknown: needs a closer check.
    Odd,
}

/// The first check of `line`, whose path begins with the slash at `path_at`.
#[inline]
pub fn sight(line: &[u8], path_at: usize) -> Sight {
    let Some(from) = first_judged(line, path_at) else { return Sight::Odd };
    let (mut odd, mut ampersands) = ([false; LANES], [false; LANES]);
    for_each_block([&line[from..], &line[from - 1..]], |[block, before]| {
        for lane in 0..LANES {
            odd[lane] |= !is_plain(block[lane], before[lane]);
            ampersands[lane] |= block[lane] == b'&';
        }
    });
    match (any(odd), any(ampersands)) {
        (false, false) => Sight::Plain,
        (false, true) => Sight::Ampersands,
        (true, _) => Sight::Odd,
    }
}

/// The second check: whether `line` is canonical from its path on. It also accepts escapes and every legal byte but `'`. True is
/// always correct; a wrong false only costs time.
// Inlined into its caller, it takes 1.6 times as long.
#[inline(never)]
pub fn is_clean_at_sight(line: &[u8], path_at: usize) -> bool {
    let Some(from) = first_judged(line, path_at) else { return false };
    let mut odd = [false; LANES];
    for_each_block([&line[from..], &line[from - 1..], &line[from - 2..]], |[block, before, before_that]| {
        for lane in 0..LANES {
            let (byte, before, before_that) = (block[lane], before[lane], before_that[lane]);
            odd[lane] |= is_odd(byte, before) | spoils_escape(byte, before, before_that);
        }
    });
    !any(odd) && !line[line.len() - 2..].contains(&b'%')
}

/// The index of the first block. Each byte of a block is checked together with the two before it. If too few bytes follow the
/// slash, the block includes part of the origin, which can turn true into false, never false into true.
#[inline(always)]
fn first_judged(line: &[u8], path_at: usize) -> Option<usize> {
    let from = (path_at + 1).min(line.len().saturating_sub(LANES));
    (from >= 2).then_some(from)
}

/// Calls `each` with the blocks of `slices`, which begin at successive offsets of a line and extend to its end.
#[inline(always)]
fn for_each_block<const N: usize>(slices: [&[u8]; N], mut each: impl FnMut([&[u8; LANES]; N])) {
    let length = slices[0].len();
    let slices = array::map(slices, |slice| &slice[..length]);
    let mut at = 0;
    while at + LANES < length {
        each(array::map(slices, |slice| slice[at..].first_chunk().expect("there are more than LANES")));
        at += LANES;
    }
    // The last block overlaps the one before it, so that every block is full.
    each(array::map(slices, |slice| slice.last_chunk().expect("not shorter than LANES")));
}

/// Whether a block is [`Sight::Plain`], ampersands allowed.
#[inline]
pub fn is_plain_block(block: &[u8; LANES], before: &[u8; LANES]) -> bool {
    let mut odd = [false; LANES];
    for lane in 0..LANES {
        odd[lane] = !is_plain(block[lane], before[lane]);
    }
    !any(odd)
}

// These functions have no branches (hence `&` and `|`) and compare signed numbers, because vector instructions have only signed
// comparisons.

/// The fewest comparisons that are enough for nearly all lines.
#[inline(always)]
fn is_plain(byte: u8, before: u8) -> bool {
    // Everything below `(`, and all non-ASCII bytes, which are negative.
    let low = ((byte as i8) < b'(' as i8) & (byte != b'&');
    // [ \ ] ^ and { | } ~ and DEL.
    let high = ((byte | 0x20) as i8 > b'z' as i8) & (byte != b'_');
    let quote = (byte & !2 == b'<') | (byte == b'`');
    !(low | high | quote | is_dot_segment(byte, before))
}

/// Whether a byte is illegal in path or query, or may begin a dot segment. [`spoils_escape`] handles percent signs.
#[inline(always)]
fn is_odd(byte: u8, before: u8) -> bool {
    let outside = byte as i8 <= b' ' as i8;
    // " # and ' and < > and `
    let quote = (byte & !1 == b'"') | (byte == b'\'') | (byte & !2 == b'<') | (byte == b'`');
    // [ \ ] ^ and { | } and DEL.
    let bracket = ((byte | 0x20) as i8 > b'z' as i8) & (byte != b'_') & (byte != b'~');
    outside | quote | bracket | is_dot_segment(byte, before)
}

/// Whether a byte after a `%` is not a hexadecimal digit, or may complete an escaped dot.
#[inline(always)]
fn spoils_escape(byte: u8, before: u8, before_that: u8) -> bool {
    let is_hex = (byte.wrapping_sub(b'0') < 10) | ((byte | 0x20).wrapping_sub(b'a') < 6);
    let in_escape = (before == b'%') | (before_that == b'%');
    let dot = (before_that == b'/') & (before == b'%') & (byte == b'2');
    (in_escape & !is_hex) | dot
}

#[inline(always)]
fn is_dot_segment(byte: u8, before: u8) -> bool {
    (byte == b'.') & (before == b'/')
}

/// Checks `tail`, which begins with the slash of the path, exactly. Handles `'`, which browsers encode only in a query; `%`,
/// which may begin a valid escape, be stray, or belong to a dot segment; and fragments.
pub fn look(tail: &[u8]) -> Look {
    let mut look = Look::Clean;
    let mut in_query = false;
    let mut in_fragment = false;
    for (at, &byte) in tail.iter().enumerate() {
        match byte {
            0..0x20 | 0x7F => return Look::Control,
            _ if in_fragment => {}
            b'#' => (in_fragment, look) = (true, worse(look, Look::Encode)),
            b'?' => in_query = true,
            b'\\' if !in_query => look = Look::Resolve,
            b'/' if !in_query && starts_with_dot(&tail[at + 1..]) => look = Look::Resolve,
            b'%' if !is_escape(&tail[at..]) => look = worse(look, Look::Encode),
            b'%' => {}
            b'\'' if !in_query => {}
            _ if !is_legal(byte, in_query) => look = worse(look, Look::Encode),
            _ => {}
        }
    }
    look
}

/// The stronger of two needs: `Resolve`, then `Encode`, then `Clean`.
fn worse(look: Look, than: Look) -> Look {
    if look == Look::Resolve { look } else { than }
}

/// Whether a segment may be `.` or `..` in any spelling. A segment that is neither (`.well-known`) only costs time.
fn starts_with_dot(segment: &[u8]) -> bool {
    matches!(segment, [b'.', ..] | [b'%', b'2', b'e' | b'E', ..])
}
