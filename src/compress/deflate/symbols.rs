//! The alphabets of DEFLATE: the symbols and extra bits of lengths and distances (RFC 1951, 3.2.5).

/// Shortest match that DEFLATE can encode.
pub const MATCH_MIN: usize = 3;
/// Longest match that DEFLATE can encode.
pub const MATCH_MAX: usize = 258;
/// Maximum distance of a match that DEFLATE can encode.
pub const DISTANCE_MAX: usize = 32_768;

/// Number of symbols for literals, the end of the block, and lengths. The last two never occur, but are part of the fixed code
/// (3.2.6).
pub const LITLENS: usize = 288;
/// Number of distance symbols, without the last two of the fixed code, which never occur.
pub const DISTANCES: usize = 30;
/// The symbol that ends a block.
pub const END_OF_BLOCK: usize = 256;
/// Number of lengths from [`MATCH_MIN`] to [`MATCH_MAX`].
pub const LENGTHS: usize = MATCH_MAX - MATCH_MIN + 1;

/// The symbol and the extra bits of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodedLength {
    /// The symbol, 257 to 285.
    pub symbol: u16,
    /// The number of extra bits.
    pub extra_bits: u8,
    /// The extra bits.
    pub extra: u8,
}

/// The symbol and the extra bits of every length. The index is the length minus [`MATCH_MIN`].
pub const CODED_LENGTHS: [CodedLength; LENGTHS] = {
    let mut coded = [CodedLength { symbol: 285, extra_bits: 0, extra: 0 }; LENGTHS];
    let (mut at, mut symbol) = (0, 257);
    // Eight symbols without extra bits, then four for every number of extra bits; 258 has its own symbol.
    while at < LENGTHS - 1 {
        let extra_bits = if symbol < 265 { 0 } else { (symbol - 261) / 4 };
        let mut extra = 0;
        while extra < 1 << extra_bits && at < LENGTHS - 1 {
            coded[at] = CodedLength { symbol, extra_bits: extra_bits as u8, extra: extra as u8 };
            extra += 1;
            at += 1;
        }
        symbol += 1;
    }
    coded
};

/// The number of extra bits of every distance symbol: none for the first four, then one more for every two.
pub const DISTANCE_EXTRA_BITS: [u8; DISTANCES] = {
    let mut bits = [0; DISTANCES];
    let mut slot = 4;
    while slot < DISTANCES {
        bits[slot] = (slot / 2 - 1) as u8;
        slot += 1;
    }
    bits
};

/// The symbol and the extra bits of a distance, which is given minus one. The two leading bits of that number and its magnitude
/// determine the symbol, and its low bits are the extra bits. 0 and 1 are their own symbols.
#[inline]
pub fn coded_distance(less_one: u32) -> (u32, u32) {
    let extra_bits = (less_one | 2).ilog2() - 1;
    (2 * extra_bits + (less_one >> extra_bits), less_one & !(u32::MAX << extra_bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_coded_as_in_the_table_of_the_rfc() {
        for (length, symbol, extra_bits, extra) in [
            (3, 257, 0, 0),
            (10, 264, 0, 0),
            (11, 265, 1, 0),
            (12, 265, 1, 1),
            (66, 276, 3, 7),
            (67, 277, 4, 0),
            (130, 280, 4, 15),
            (131, 281, 5, 0),
            (257, 284, 5, 30),
            (258, 285, 0, 0),
        ] {
            assert_eq!(
                CODED_LENGTHS[length - MATCH_MIN],
                CodedLength { symbol, extra_bits, extra },
                "{length}"
            );
        }
    }

    #[test]
    fn every_distance_is_the_base_of_its_symbol_plus_its_extra_bits() {
        let mut base = 1;
        for (symbol, &extra_bits) in DISTANCE_EXTRA_BITS.iter().enumerate() {
            for extra in 0..1u32 << extra_bits {
                assert_eq!(coded_distance(base + extra - 1), (symbol as u32, extra));
            }
            base += 1 << extra_bits;
        }
        assert_eq!(base as usize, DISTANCE_MAX + 1);
    }
}
