//! Byte searches in blocks of sixteen or more: plain loops over arrays, which the compiler vectorises for the target processor, and
//! SSE2 instructions where it does not.

use super::array;

/// Bytes per block of a vectorised loop.
pub const LANES: usize = 16;

/// Bytes per block of [`find`]: each becomes one bit of its mask.
pub const BITS: usize = 64;

/// Whether `bytes` begin with `start`. A `start` as long as a typical origin is compared inline; for arbitrary lengths, the
/// standard library calls a function.
#[inline]
pub fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    let Some(head) = bytes.get(..start.len()) else { return false };
    let differing = |one: Option<&[u8; LANES]>, other: Option<&[u8; LANES]>| {
        Some(u128::from_ne_bytes(*one?) ^ u128::from_ne_bytes(*other?))
    };
    let first = differing(head.first_chunk(), start.first_chunk());
    let last = differing(head.last_chunk(), start.last_chunk());
    match (first, last) {
        (Some(first), Some(last)) if first | last != 0 => false,
        (Some(_), Some(_)) if start.len() <= 2 * LANES => true,
        _ => head == start,
    }
}

/// Bytes that [`common_bytes`] compares at a time.
const WORD: usize = size_of::<u64>();

/// The length of the common prefix of both.
#[inline]
pub fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let (words, other_words) = (one.as_chunks::<WORD>().0, other.as_chunks::<WORD>().0);
    for (at, (&word, &other)) in words.iter().zip(other_words).enumerate() {
        let differing = u64::from_le_bytes(word) ^ u64::from_le_bytes(other);
        if differing != 0 {
            return at * WORD + differing.trailing_zeros() as usize / 8;
        }
    }
    let same = WORD * words.len().min(other_words.len());
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

/// Returns whether `bytes` contain either of the two `wanted` bytes. Always inlined, because it takes 1.5 times as long unless the
/// two bytes are known at compile time.
#[inline(always)]
pub fn contain_any(bytes: &[u8], [one, other]: [u8; 2]) -> bool {
    contain(bytes, |byte| (byte == one) | (byte == other))
}

/// Returns whether `bytes` contain an upper-case letter.
#[inline]
pub fn contain_upper_case(bytes: &[u8]) -> bool {
    contain(bytes, |byte| byte.wrapping_sub(b'A') < 26)
}

/// Returns whether any of `bytes` is one that `is_wanted`.
#[inline(always)]
fn contain(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> bool {
    let Some(end) = bytes.last_chunk::<LANES>() else { return bytes.iter().copied().any(is_wanted) };
    // The last block may overlap the previous one, so no shorter block remains.
    // Given by reference, the test itself may not be inlined.
    let mut wanted = array::from_fn(|lane| is_wanted(end[lane]));
    for block in bytes.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            wanted[lane] |= is_wanted(block[lane]);
        }
    }
    any(wanted)
}

/// The index of the first of the two `wanted` bytes. Takes no branch that depends on where in a block it is, because no processor
/// predicts that.
#[inline]
pub fn find_any(bytes: &[u8], [one, other]: [u8; 2]) -> Option<usize> {
    let is_wanted = |byte: u8| (byte == one) | (byte == other);
    let (blocks, rest) = bytes.as_chunks::<LANES>();
    for (number, block) in blocks.iter().enumerate() {
        let found = u128::from_le_bytes(array::map(*block, |byte| if is_wanted(byte) { u8::MAX } else { 0 }));
        if found != 0 {
            return Some(LANES * number + found.trailing_zeros() as usize / 8);
        }
    }
    let in_rest = rest.iter().position(|&byte| is_wanted(byte))?;
    Some(LANES * blocks.len() + in_rest)
}

/// The bytes of `block` before the first one that is one of the two `wanted` bytes, or at most `low`, padded with zeros. `None` if
/// there is no such byte. Takes no branch that depends on where it is.
#[inline(always)]
pub fn before_any(block: &[u8; LANES], wanted: [u8; 2], low: u8) -> Option<u128> {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code)]
    // SAFETY: the function requires SSE2, which every processor of this architecture has.
    let found = unsafe { sse2::any_of(block, wanted, low) };
    #[cfg(not(target_arch = "x86_64"))]
    let found = any_of_anywhere(block, wanted, low);
    // Subtracting 1 sets all bits below the first match and leaves those above it as they are in `found`, so `& !found` keeps
    // exactly the bytes before the match.
    (found != 0).then(|| u128::from_le_bytes(*block) & found.wrapping_sub(1) & !found)
}

/// For each byte of `block`, all bits if it is one of the `wanted` or at most `low`, otherwise none.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn any_of_anywhere(block: &[u8; LANES], [one, other]: [u8; 2], low: u8) -> u128 {
    let is_found = |byte: u8| (byte == one) | (byte == other) | (byte <= low);
    u128::from_le_bytes(array::map(*block, |byte| if is_found(byte) { u8::MAX } else { 0 }))
}

/// Returns whether any of `lanes` is true, without a branch per lane.
#[inline(always)]
pub fn any(lanes: [bool; LANES]) -> bool {
    lanes.iter().fold(false, |any, &lane| any | lane)
}

/// Returns a mask with a bit set for each byte of `block` that equals `wanted`; the lowest bit is the first byte.
#[inline]
pub fn find(block: &[u8; BITS], wanted: u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code)]
    // SAFETY: the function requires SSE2, which every processor of this architecture has.
    return unsafe { sse2::find(block, wanted) };
    #[cfg(not(target_arch = "x86_64"))]
    find_anywhere(block, wanted)
}

/// Computes the mask of [`find`] without vector instructions, in twice the time.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn find_anywhere(block: &[u8; BITS], wanted: u8) -> u64 {
    let mut found = [0; BITS];
    for at in 0..BITS {
        found[at] = u8::from(block[at] == wanted);
    }
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |bits, (at, eight)| {
        // Eight bytes of 0 or 1 become eight bits: the highest byte of the product contains their sum, each shifted to its place.
        let product = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
        bits | product >> 56 << (8 * at)
    })
}

/// Writes the positions of the set bits in `ones`, plus `at`, to `to[*count..]`, and adds their number to `count`. The first
/// `USUAL` bits take no branch, because it would be unpredictable: positions of missing bits are written but overwritten later.
#[inline(always)]
pub fn put_ones<const USUAL: usize>(mut ones: u64, at: usize, to: &mut [u32], count: &mut usize) {
    for _ in 0..USUAL {
        to[*count] = at as u32 + ones.trailing_zeros();
        *count += usize::from(ones != 0);
        ones &= ones.wrapping_sub(1);
    }
    while ones != 0 {
        to[*count] = at as u32 + ones.trailing_zeros();
        *count += 1;
        ones &= ones - 1;
    }
}

/// Compares sixteen bytes with one instruction, and gathers a bit of each with another. Compilers do not generate these from a
/// loop.
#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set_epi64x, _mm_set1_epi8, _mm_unpackhi_epi64,
    };

    use super::{BITS, LANES, array};

    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn find(block: &[u8; BITS], wanted: u8) -> u64 {
        let (vectors, _) = block.as_chunks::<LANES>();
        let mut bits = 0;
        for vector in vectors.iter().rev() {
            let found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes_of(vector), _mm_set1_epi8(wanted as i8)));
            bits = bits << LANES | u64::from(found as u16);
        }
        bits
    }

    /// For each byte of `block`, all bits if it is one of the `wanted` or at most `low`, otherwise none.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn any_of(block: &[u8; LANES], wanted: [u8; 2], low: u8) -> u128 {
        let bytes = bytes_of(block);
        let [one, other] = array::map(wanted, |byte| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8)));
        let is_low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(low as i8)), bytes);
        let found = _mm_or_si128(_mm_or_si128(one, other), is_low);
        let halves = [found, _mm_unpackhi_epi64(found, found)];
        let [low, high] = array::map(halves, |half| _mm_cvtsi128_si64(half) as u64);
        u128::from(high) << u64::BITS | u128::from(low)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn bytes_of(block: &[u8; LANES]) -> __m128i {
        let [low, high] = *block.as_chunks().0 else { unreachable!("a block is two words") };
        _mm_set_epi64x(i64::from_le_bytes(high), i64::from_le_bytes(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_bytes_is_found_wherever_it_is() {
        for length in 0..50 {
            let mut bytes = vec![b'x'; length];
            assert_eq!(find_any(&bytes, *b"/?"), None);
            for at in (0..length).rev() {
                bytes[at] = if at % 3 == 0 { b'?' } else { b'/' };
                assert_eq!(find_any(&bytes, *b"/?"), Some(at));
            }
        }
    }

    #[test]
    fn the_bytes_before_the_first_wanted_one_are_kept() {
        for wanted in [b'/', b'?', b' ', b'\n', 0] {
            for other in [b'!', b'.', b'0', b'>', b'@', 0x7F, 0x80, 0xFF] {
                for at in 0..=LANES {
                    // After the first one, every other byte is one, too.
                    let is_wanted = |lane: usize| lane >= at && (lane - at).is_multiple_of(2);
                    let block: [u8; LANES] =
                        std::array::from_fn(|lane| if is_wanted(lane) { wanted } else { other });
                    let all = u128::from_le_bytes([other; LANES]);
                    let kept = all.checked_shr(8 * (LANES - at) as u32).unwrap_or(0);
                    assert_eq!(before_any(&block, *b"/?", b' '), (at < LANES).then_some(kept));
                    #[cfg(target_arch = "x86_64")]
                    #[expect(unsafe_code)]
                    // SAFETY: as in `before_any`.
                    let found = unsafe { sse2::any_of(&block, *b"/?", b' ') };
                    #[cfg(target_arch = "x86_64")]
                    assert_eq!(found, any_of_anywhere(&block, *b"/?", b' '));
                }
            }
        }
    }

    #[test]
    fn a_prefix_matches_only_if_all_its_bytes_do() {
        for length in 0..50 {
            let bytes: Vec<u8> = (1..=length).collect();
            for start in 0..=length {
                let mut start = bytes[..start.into()].to_vec();
                assert!(starts_with(&bytes, &start));
                for at in 0..start.len() {
                    start[at] ^= 0x80;
                    assert!(!starts_with(&bytes, &start) && !starts_with(&start, &bytes));
                    start[at] ^= 0x80;
                }
                start.push(0);
                assert!(!starts_with(&bytes, &start));
            }
            assert!(
                (1..=length).all(|byte| contain_any(&bytes, [byte, 0]) && contain_any(&bytes, [0, byte]))
            );
            assert!(!contain_any(&bytes, [0, length + 1]));
        }
    }

    #[test]
    fn a_byte_is_found_at_every_position_and_no_other_byte_is() {
        for wanted in [0, b'\n', 0x7F, 0x80, 0xFF] {
            for other in 0..=u8::MAX {
                let pattern = 0x9E37_79B9_7F4A_7C15_u64.rotate_left(other.into());
                for bits in [0, 1, 1 << 63, u64::MAX, pattern] {
                    let block = std::array::from_fn(|at| if bits >> at & 1 == 1 { wanted } else { other });
                    let want = if other == wanted { u64::MAX } else { bits };
                    assert_eq!(find(&block, wanted), want);
                    assert_eq!(find_anywhere(&block, wanted), want);
                }
            }
        }
    }
}
