//! Bytes looked at sixteen at a time: plain loops over arrays, which the compiler turns into vector code for whatever
//! processor it builds for.

/// Bytes looked at together.
pub const LANES: usize = 16;

/// Bytes whose line ends are found together: one bit each.
pub const BITS: usize = 64;

/// A bit for each byte of `block` that is `wanted`, the lowest for the first.
#[inline]
pub fn find(block: &[u8; BITS], wanted: u8) -> u64 {
    let mut found = [0; BITS];
    for at in 0..BITS {
        found[at] = u8::from(block[at] == wanted);
    }
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |bits, (at, eight)| {
        // Eight bytes of 0 or 1 become eight bits: the product's highest byte sums them up, each shifted to its place.
        let product = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
        bits | product >> 56 << (8 * at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_at_every_place_and_no_other_byte_is() {
        for wanted in [0, b'\n', 0x7F, 0x80, 0xFF] {
            for other in 0..=u8::MAX {
                let pattern = 0x9E37_79B9_7F4A_7C15_u64.rotate_left(other.into());
                for bits in [0, 1, 1 << 63, u64::MAX, pattern] {
                    let block = std::array::from_fn(|at| if bits >> at & 1 == 1 { wanted } else { other });
                    assert_eq!(find(&block, wanted), if other == wanted { u64::MAX } else { bits });
                }
            }
        }
    }
}
