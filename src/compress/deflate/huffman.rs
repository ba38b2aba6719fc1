//! Length-limited Huffman codes in the canonical form of DEFLATE (RFC 1951, 3.2.2).

use crate::common::array;

/// Maximum code length of literals, lengths and distances, in bits (RFC 1951, 3.2.7).
pub const CODE_BITS_MAX: usize = 15;

/// The code of a symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Code {
    /// The bits in the order in which they are written, the first one lowest.
    pub bits: u16,
    /// The number of bits; 0 for a symbol that does not occur.
    pub count: u8,
}

/// Bits of the symbol in a sort key. The frequency is in the higher bits.
const SYMBOL_BITS: u32 = 9;
const SYMBOL_MASK: u32 = (1 << SYMBOL_BITS) - 1;

/// Code lengths, at most `bits_max`, for symbols with these `frequencies`, each below 2^23. They are optimal unless the limit
/// applies, and close to optimal then. At least two symbols get a code, as in zlib, because some decoders reject an incomplete
/// code.
pub fn lengths<const N: usize>(frequencies: &[u32; N], bits_max: usize) -> [u8; N] {
    let mut keys = [0; N];
    let mut used = 0;
    for (symbol, &frequency) in frequencies.iter().enumerate().filter(|&(_, &frequency)| frequency > 0) {
        keys[used] = frequency << SYMBOL_BITS | symbol as u32;
        used += 1;
    }
    let mut lengths = [0; N];
    if used < 2 {
        let only = if used == 0 { 0 } else { (keys[0] & SYMBOL_MASK) as usize };
        lengths[only] = 1;
        lengths[usize::from(only == 0)] = 1;
        return lengths;
    }
    let keys = &mut keys[..used];
    keys.sort_unstable();
    let counts = limit(depth_counts(keys), bits_max);
    // The rarest symbols get the longest codes.
    let mut rarest_first = keys.iter().map(|key| (key & SYMBOL_MASK) as usize);
    for (bits, &count) in counts.iter().enumerate().rev() {
        rarest_first.by_ref().take(count as usize).for_each(|symbol| lengths[symbol] = bits as u8);
    }
    lengths
}

/// More than the maximum depth of a Huffman tree whose frequencies sum up to less than 2^32: a tree of depth n needs at
/// least as many occurrences as the nth Fibonacci number.
const DEPTH_MAX: usize = 48;

/// The number of leaves at each depth of the Huffman tree for the sorted `keys`.
fn depth_counts(keys: &[u32]) -> [u32; DEPTH_MAX] {
    // The leaves are sorted, and inner nodes are created in order of weight. So the two lightest nodes are always at the
    // heads of two queues (van Leeuwen 1976).
    const NODES_MAX: usize = 1 << SYMBOL_BITS;
    let (mut weights, mut parents) = ([0u32; NODES_MAX], [0u16; NODES_MAX]);
    let inner = keys.len() - 1;
    let mut leaf_parents = [0u16; NODES_MAX];
    let (mut leaf, mut node) = (0, 0);
    for made in 0..inner {
        for _ in 0..2 {
            let leaf_weight = keys.get(leaf).map(|key| key >> SYMBOL_BITS);
            if leaf_weight.is_some_and(|weight| node == made || weight <= weights[node]) {
                weights[made] += leaf_weight.unwrap_or(0);
                leaf_parents[leaf] = made as u16;
                leaf += 1;
            } else {
                weights[made] += weights[node];
                parents[node] = made as u16;
                node += 1;
            }
        }
    }
    let mut depths = [0u8; NODES_MAX];
    for node in (0..inner - 1).rev() {
        depths[node] = depths[usize::from(parents[node])] + 1;
    }
    let mut counts = [0; DEPTH_MAX];
    for &parent in &leaf_parents[..keys.len()] {
        counts[usize::from(depths[usize::from(parent)]) + 1] += 1;
    }
    counts
}

/// Moves leaves that are deeper than `bits_max` up to that depth, and others down until the code is complete again (the
/// Kraft sum is one).
fn limit(mut counts: [u32; DEPTH_MAX], bits_max: usize) -> [u32; DEPTH_MAX] {
    let too_deep: u32 = counts[bits_max + 1..].iter().sum();
    counts[bits_max + 1..].fill(0);
    counts[bits_max] += too_deep;
    let kraft = |counts: &[u32]| (1..=bits_max).map(|bits| counts[bits] << (bits_max - bits)).sum::<u32>();
    let mut excess = kraft(&counts) - (1 << bits_max);
    while excess > 0 {
        // A leaf of depth d becomes a node with two children: itself and one of the deepest leaves.
        let bits = (1..bits_max)
            .rev()
            .find(|&bits| counts[bits] > 0)
            .expect("the Kraft sum is too large only if a leaf is above the limit");
        counts[bits] -= 1;
        counts[bits + 1] += 2;
        counts[bits_max] -= 1;
        excess -= 1;
    }
    counts
}

/// The canonical code with these code lengths (RFC 1951, 3.2.2).
pub fn codes<const N: usize>(lengths: &[u8; N]) -> [Code; N] {
    let mut next = [0u16; CODE_BITS_MAX + 1];
    for &count in lengths.iter().filter(|&&count| count > 0) {
        next[usize::from(count)] += 1;
    }
    let mut first = 0u32;
    for slot in &mut next {
        let count = u32::from(*slot);
        *slot = first as u16;
        first = (first + count) << 1;
    }
    array::map(*lengths, |count| {
        if count == 0 {
            return Code::default();
        }
        let code = next[usize::from(count)];
        next[usize::from(count)] += 1;
        // Codes are written from their highest bit on, unlike all other fields (RFC 1951, 3.1.1).
        Code { bits: code.reverse_bits() >> (u16::BITS - u32::from(count)), count }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_complete(lengths: &[u8], bits_max: usize) {
        let kraft: u32 = lengths
            .iter()
            .filter(|&&bits| bits > 0)
            .map(|&bits| 1 << (bits_max as u32 - u32::from(bits)))
            .sum();
        assert_eq!(kraft, 1 << bits_max);
    }

    fn cost(frequencies: &[u32], lengths: &[u8]) -> u32 {
        frequencies.iter().zip(lengths).map(|(&frequency, &bits)| frequency * u32::from(bits)).sum()
    }

    #[test]
    fn without_a_limit_no_code_is_shorter() {
        let frequencies = [5, 9, 12, 13, 16, 45, 0];
        let got = lengths(&frequencies, 15);
        assert_eq!(got, [4, 4, 3, 3, 3, 1, 0]);
        assert_eq!(cost(&frequencies, &got), 224);
    }

    #[test]
    fn the_limit_holds_and_the_code_stays_complete() {
        // Fibonacci numbers make the deepest trees.
        let mut frequencies = [1u32; 24];
        (2..24).for_each(|at| frequencies[at] = frequencies[at - 1] + frequencies[at - 2]);
        let free = lengths(&frequencies, 23);
        assert_eq!(free.iter().max(), Some(&23));
        for bits_max in [5, 7, 15] {
            let got = lengths(&frequencies, bits_max);
            assert!(got.iter().all(|&bits| usize::from(bits) <= bits_max && bits > 0));
            check_complete(&got, bits_max);
            assert!(cost(&frequencies, &got) >= cost(&frequencies, &free));
        }
        check_complete(&lengths(&[1; 19], 7), 7);
    }

    #[test]
    fn one_symbol_or_none_still_makes_a_complete_code() {
        assert_eq!(lengths(&[0; 4], 15), [1, 1, 0, 0]);
        assert_eq!(lengths(&[0, 0, 9, 0], 15), [1, 0, 1, 0]);
        assert_eq!(lengths(&[9, 0, 0, 0], 15), [1, 1, 0, 0]);
    }

    #[test]
    fn codes_are_those_of_the_rfcs_example() {
        // RFC 1951, 3.2.2: A to H of lengths (3, 3, 3, 3, 3, 2, 4, 4) are 010 to 110, 00, 1110, 1111.
        let got = codes(&[3, 3, 3, 3, 3, 2, 4, 4]).map(|code| {
            (0..code.count).map(|at| char::from(b'0' + (code.bits >> at & 1) as u8)).collect::<String>()
        });
        assert_eq!(got, ["010", "011", "100", "101", "110", "00", "1110", "1111"]);
    }
}
