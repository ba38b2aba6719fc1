//! Blocks: encodes each with a dynamic code, with the fixed code or as stored bytes, whichever is smallest (RFC 1951, 3.2.3 to
//! 3.2.7).

use super::bits::{BitWriter, PartialByte, UNFLUSHED_BITS_MAX};
use super::huffman::{self, CODE_BITS_MAX, Code};
use super::symbols::{CODED_LENGTHS, DISTANCE_EXTRA_BITS, DISTANCES, END_OF_BLOCK, LITLENS};
use super::tokens::{Frequencies, HEADS, LENGTH_HEADS, SECOND_LITERALS, SECONDS, Token, Tokens};
use crate::common::array;

/// The three types of blocks, the field BTYPE (3.2.3).
const STORED: u64 = 0b00;
const FIXED: u64 = 0b01;
const DYNAMIC: u64 = 0b10;
/// Bits of the fields BFINAL and BTYPE.
const BLOCK_HEADER_BITS: u64 = 3;

/// Maximum bytes of a stored block, whose length has 16 bits (3.2.4).
pub const STORED_BYTES_MAX: usize = u16::MAX as usize;
/// Bits of a stored block besides its bytes: the header, at most seven bits of padding, and the length twice.
const STORED_OVERHEAD_BITS: u64 = BLOCK_HEADER_BITS + 7 + 32;

/// The code length of every symbol, in bits; 0 for symbols that do not occur.
#[derive(Debug, Clone)]
pub struct Lengths {
    /// Code lengths of literals, the end of the block, and lengths.
    litlens: [u8; LITLENS],
    /// Code lengths of distances.
    distances: [u8; DISTANCES],
}

/// The number of bits of the symbols of a block, including their extra bits.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// The bits of literals.
    pub literals: u64,
    /// The bits of lengths, and of the end of the block.
    pub lengths: u64,
    /// The bits of distances.
    pub distances: u64,
}

impl Lengths {
    /// The fixed code (3.2.6).
    const FIXED: Self = {
        let mut litlens = [8; LITLENS];
        let mut symbol = 144;
        while symbol < 280 {
            litlens[symbol] = if symbol < 256 { 9 } else { 7 };
            symbol += 1;
        }
        Self { litlens, distances: [5; DISTANCES] }
    };

    /// The optimal code for `frequencies`.
    pub fn best(frequencies: &Frequencies) -> Self {
        Self {
            litlens: huffman::lengths(&frequencies.litlens, CODE_BITS_MAX),
            distances: huffman::lengths(&frequencies.distances, CODE_BITS_MAX),
        }
    }

    /// The code length of a literal or a length.
    pub fn litlen(&self, symbol: usize) -> u8 {
        self.litlens[symbol]
    }

    /// The number of bits of all symbols.
    pub fn costs(&self, frequencies: &Frequencies) -> Costs {
        let symbol_bits = |frequencies: &[u32], lengths: &[u8]| {
            let each = frequencies
                .iter()
                .zip(lengths)
                .map(|(&frequency, &bits)| u64::from(frequency) * u64::from(bits));
            each.sum::<u64>()
        };
        let (literals, lengths) = frequencies.litlens.split_at(LENGTH_HEADS);
        let (literal_bits, length_bits) = self.litlens.split_at(LENGTH_HEADS);
        Costs {
            literals: symbol_bits(literals, literal_bits),
            lengths: symbol_bits(lengths, length_bits) + frequencies.length_extra_bits,
            distances: symbol_bits(&frequencies.distances, &self.distances) + frequencies.distance_extra_bits,
        }
    }

    fn cost(&self, frequencies: &Frequencies) -> u64 {
        let Costs { literals, lengths, distances } = self.costs(frequencies);
        literals + lengths + distances
    }
}

/// Appends a block with `tokens`, which have these `frequencies` and this `best` code. `plain` has the bytes that they encode, if
/// these are still in the window, so that the block can be stored instead.
pub fn write(
    tokens: &Tokens,
    frequencies: &Frequencies,
    best: &Lengths,
    plain: Option<&[u8]>,
    is_final: bool,
    partial: PartialByte,
    out: &mut Vec<u8>,
) -> PartialByte {
    let header = Header::new(best);
    let dynamic_bits = BLOCK_HEADER_BITS + header.cost() + best.cost(frequencies);
    let fixed_bits = BLOCK_HEADER_BITS + Lengths::FIXED.cost(frequencies);
    let coded_bits = dynamic_bits.min(fixed_bits);
    if let Some(plain) = plain
        && stored_bits(plain) < coded_bits
    {
        return store(plain, is_final, partial, out);
    }
    let mut bits = BitWriter::new(out, partial, coded_bits);
    bits.put(is_final.into(), 1);
    let code = if dynamic_bits < fixed_bits {
        bits.put(DYNAMIC, 2);
        header.write(&mut bits);
        best
    } else {
        bits.put(FIXED, 2);
        bits.flush();
        &Lengths::FIXED
    };
    let (partial, bytes) = write_tokens(tokens, code, bits);
    out.truncate(bytes);
    partial
}

fn stored_bits(plain: &[u8]) -> u64 {
    plain.len() as u64 * 8 + plain.len().div_ceil(STORED_BYTES_MAX).max(1) as u64 * STORED_OVERHEAD_BITS
}

/// Appends `plain` as stored blocks (3.2.4).
pub fn store(plain: &[u8], is_final: bool, partial: PartialByte, out: &mut Vec<u8>) -> PartialByte {
    let mut bits = BitWriter::new(out, partial, stored_bits(plain));
    let mut rest = plain;
    loop {
        let (now, later) = rest.split_at(rest.len().min(STORED_BYTES_MAX));
        rest = later;
        bits.put((is_final && rest.is_empty()).into(), 1);
        bits.put(STORED, 2);
        bits.align();
        bits.put(now.len() as u64, 16);
        bits.put(!now.len() as u64 & 0xffff, 16);
        bits.flush();
        bits.bytes(now);
        if rest.is_empty() {
            let (partial, bytes) = bits.finish();
            out.truncate(bytes);
            return partial;
        }
    }
}

/// A code combined with the extra bits after it. The lowest eight bits of the word are the number of bits, the others the bits.
#[derive(Debug, Clone, Copy, Default)]
struct Bits(u32);

const COUNT_BITS: u32 = 8;
// The longest is the code of a length with five extra bits.
const _: () = assert!(CODE_BITS_MAX as u32 + 5 + COUNT_BITS <= u32::BITS);

impl Bits {
    fn new(code: Code, extra: u8, extra_bits: u8) -> Self {
        let bits = u32::from(code.bits) | u32::from(extra) << code.count;
        Self(bits << COUNT_BITS | u32::from(code.count + extra_bits))
    }

    #[inline(always)]
    fn put(self, bits: &mut BitWriter<'_>) {
        bits.put((self.0 >> COUNT_BITS).into(), self.0 % (1 << COUNT_BITS));
    }
}

/// The code of the second symbol of a token. From the lowest bits of the word: the number of bits of the code, their number
/// including the extra bits, eight bits each, and the code.
#[derive(Debug, Clone, Copy, Default)]
struct Second(u32);
const _: () = assert!(CODE_BITS_MAX as u32 + 2 * COUNT_BITS <= u32::BITS);

impl Second {
    fn new(code: Code, extra_bits: u8) -> Self {
        let counts = u32::from(code.count) | u32::from(code.count + extra_bits) << COUNT_BITS;
        Self(u32::from(code.bits) << (2 * COUNT_BITS) | counts)
    }
}

// One flush per token is enough.
const _: () = assert!(CODE_BITS_MAX as u32 + 5 + CODE_BITS_MAX as u32 + 13 <= UNFLUSHED_BITS_MAX);

/// Writes all tokens and the end of the block, and returns the result of [`BitWriter::finish`]. The writer is passed by
/// value, so that it stays in registers.
fn write_tokens(tokens: &Tokens, lengths: &Lengths, mut bits: BitWriter<'_>) -> (PartialByte, usize) {
    let litlens = huffman::codes(&lengths.litlens);
    let distance_codes = huffman::codes(&lengths.distances);
    let heads: [Bits; HEADS] = array::from_fn(|head| {
        if head < LENGTH_HEADS {
            return Bits::new(litlens[head], 0, 0);
        }
        let coded = CODED_LENGTHS[head - LENGTH_HEADS];
        Bits::new(litlens[usize::from(coded.symbol)], coded.extra, coded.extra_bits)
    });
    let seconds: [Second; SECONDS] = array::from_fn(|second| {
        if second < DISTANCES {
            return Second::new(distance_codes[second], DISTANCE_EXTRA_BITS[second]);
        }
        second.checked_sub(SECOND_LITERALS).map_or(Second::default(), |at| Second::new(litlens[at], 0))
    });
    // The bits of a token are combined first, so that the writer's state depends on one addition only. The counts are in the
    // lowest bits and their sums do not overflow, so shifts, which use six bits of the count, need no mask.
    let of = |token: Token| {
        let (head, second) = (heads[token.head()].0, seconds[token.second()].0);
        let with_code = u64::from(second >> (2 * COUNT_BITS)) << (head % u64::BITS);
        let with_extra = u64::from(token.extra()) << ((head + second) % u64::BITS);
        let bits = u64::from(head >> COUNT_BITS) | with_code | with_extra;
        (bits, (head + (second >> COUNT_BITS)) % u64::BITS)
    };
    let mut pairs = tokens.as_slice().chunks_exact(2);
    for pair in &mut pairs {
        let ((first, first_count), (second, second_count)) = (of(pair[0]), of(pair[1]));
        // Nearly always true: only two very rare matches are longer.
        if first_count + second_count <= UNFLUSHED_BITS_MAX {
            bits.put(first | second << first_count, first_count + second_count);
        } else {
            bits.put(first, first_count);
            bits.flush();
            bits.put(second, second_count);
        }
        bits.flush();
    }
    for &token in pairs.remainder() {
        let (all, count) = of(token);
        bits.put(all, count);
        bits.flush();
    }
    Bits::new(litlens[END_OF_BLOCK], 0, 0).put(&mut bits);
    bits.finish()
}

/// Symbols of the code for code lengths, in the order in which the header has their own code lengths (3.2.7).
const HEADER_ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
/// "Copy the previous code length 3 - 6 times" (3.2.7).
const REPEAT: usize = 16;
/// "Repeat a code length of 0 for 3 - 10 times" (3.2.7).
const ZEROS: usize = 17;
/// "Repeat a code length of 0 for 11 - 138 times" (3.2.7).
const MANY_ZEROS: usize = 18;
/// Maximum code length in the code for code lengths, which the header writes in three bits (3.2.7).
const HEADER_CODE_BITS_MAX: usize = 7;
/// Bits of the fields HLIT, HDIST and HCLEN.
const HEADER_COUNTS_BITS: u64 = 5 + 5 + 4;

/// The header of a dynamic block, which encodes its code.
struct Header {
    /// Number of code lengths for literals and lengths, at least 257.
    litlens: usize,
    /// Number of code lengths for distances, at least 1.
    distances: usize,
    /// The run-length encoded code lengths: symbols, each with its extra bits and their number.
    runs: Vec<(usize, u8, u8)>,
    /// Code lengths of these symbols.
    lengths: [u8; HEADER_ORDER.len()],
    /// How many of `lengths` are written, in [`HEADER_ORDER`].
    lengths_written: usize,
}

impl Header {
    fn new(code: &Lengths) -> Self {
        let used = |lengths: &[u8], least: usize| {
            lengths.iter().rposition(|&bits| bits > 0).map_or(least, |at| least.max(at + 1))
        };
        let (litlens, distances) = (used(&code.litlens, 257), used(&code.distances, 1));
        let mut sequence = code.litlens[..litlens].to_vec();
        sequence.extend_from_slice(&code.distances[..distances]);
        let runs = runs(&sequence);
        let mut frequencies = [0; HEADER_ORDER.len()];
        runs.iter().for_each(|&(symbol, ..)| frequencies[symbol] += 1);
        let lengths = huffman::lengths(&frequencies, HEADER_CODE_BITS_MAX);
        let last = HEADER_ORDER.iter().rposition(|&symbol| lengths[symbol] > 0);
        let lengths_written = last.map_or(4, |at| 4.max(at + 1));
        Self { litlens, distances, runs, lengths, lengths_written }
    }

    fn cost(&self) -> u64 {
        let runs =
            self.runs.iter().map(|&(symbol, _, extra_bits)| u64::from(self.lengths[symbol] + extra_bits));
        HEADER_COUNTS_BITS + 3 * self.lengths_written as u64 + runs.sum::<u64>()
    }

    fn write(&self, bits: &mut BitWriter<'_>) {
        bits.put(self.litlens as u64 - 257, 5);
        bits.put(self.distances as u64 - 1, 5);
        bits.put(self.lengths_written as u64 - 4, 4);
        bits.flush();
        for &symbol in &HEADER_ORDER[..self.lengths_written] {
            bits.put(self.lengths[symbol].into(), 3);
            bits.flush();
        }
        let codes = huffman::codes(&self.lengths);
        for &(symbol, extra, extra_bits) in &self.runs {
            Bits::new(codes[symbol], extra, extra_bits).put(bits);
            bits.flush();
        }
    }
}

/// Run-length encodes the code lengths `sequence`: symbols, each with its extra bits and their number (3.2.7).
fn runs(sequence: &[u8]) -> Vec<(usize, u8, u8)> {
    let mut runs = Vec::with_capacity(sequence.len());
    for run in sequence.chunk_by(|a, b| a == b) {
        let (length, mut left) = (run[0], run.len());
        if length > 0 {
            runs.push((length.into(), 0, 0));
            left -= 1;
        }
        while left >= 3 {
            let (symbol, least, most, extra_bits) = match (length, left) {
                (0, 11..) => (MANY_ZEROS, 11, 138, 7),
                (0, _) => (ZEROS, 3, 10, 3),
                _ => (REPEAT, 3, 6, 2),
            };
            let now = left.min(most);
            runs.push((symbol, (now - least) as u8, extra_bits));
            left -= now;
        }
        runs.extend((0..left).map(|_| (usize::from(length), 0, 0)));
    }
    runs
}
