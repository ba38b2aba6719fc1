//! Packs bits into bytes: the first bit is the lowest of the first byte (RFC 1951, 3.1.1).

/// Appends bits to a borrowed buffer.
#[derive(Debug)]
pub struct BitWriter<'o> {
    out: &'o mut [u8],
    /// The number of complete bytes in `out`. Unused capacity may follow them.
    bytes: usize,
    /// Bits that do not fill a byte yet, the first one lowest.
    pending: u64,
    pending_bits: u32,
}

/// The incomplete last byte of a block, fewer than eight bits. The next block continues it.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartialByte {
    bits: u8,
    count: u8,
}

impl PartialByte {
    /// Appends the incomplete byte, if there is one, padded with zeros.
    pub fn finish(self, out: &mut Vec<u8>) {
        out.extend((self.count > 0).then_some(self.bits));
    }
}

/// Bytes of a single store. The next store overwrites those that are not complete yet.
const STORE_BYTES: usize = size_of::<u64>();

/// Maximum bits that [`BitWriter::put`] accepts between two flushes.
pub const UNFLUSHED_BITS_MAX: u32 = u64::BITS - 8;

impl<'o> BitWriter<'o> {
    /// Continues after `partial`, with room for `bits` more.
    pub fn new(out: &'o mut Vec<u8>, partial: PartialByte, bits: u64) -> Self {
        let bytes = out.len();
        out.resize(bytes + bits as usize / 8 + 2 * STORE_BYTES, 0);
        Self { out: &mut out[..], bytes, pending: partial.bits.into(), pending_bits: partial.count.into() }
    }

    /// Appends the low `count` bits of `bits`. The others must be zero. Call [`Self::flush`] after at most
    /// [`UNFLUSHED_BITS_MAX`].
    #[inline(always)]
    pub fn put(&mut self, bits: u64, count: u32) {
        debug_assert!(self.pending_bits + count < u64::BITS && bits >> count == 0);
        self.pending |= bits << self.pending_bits;
        self.pending_bits += count;
    }

    /// Writes all complete bytes.
    #[inline(always)]
    pub fn flush(&mut self) {
        // Without a branch on the number of bytes: all eight are written, and the next store overwrites the excess.
        if let Some(room) = self.out[self.bytes..].first_chunk_mut() {
            *room = self.pending.to_le_bytes();
        }
        self.bytes += self.pending_bits as usize / 8;
        self.pending >>= self.pending_bits & !7;
        self.pending_bits &= 7;
    }

    /// Pads the incomplete byte with zeros.
    pub fn align(&mut self) {
        self.pending_bits = self.pending_bits.next_multiple_of(8);
        self.flush();
    }

    /// Appends whole bytes, after [`Self::align`].
    pub fn bytes(&mut self, bytes: &[u8]) {
        debug_assert_eq!(self.pending_bits, 0);
        self.out[self.bytes..self.bytes + bytes.len()].copy_from_slice(bytes);
        self.bytes += bytes.len();
    }

    /// The remaining bits, and the number of final bytes of the output. The owner truncates the rest.
    pub fn finish(mut self) -> (PartialByte, usize) {
        self.flush();
        (PartialByte { bits: self.pending as u8, count: self.pending_bits as u8 }, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_fill_bytes_from_the_lowest_and_blocks_may_share_a_byte() {
        let mut out = vec![7];
        let mut bits = BitWriter::new(&mut out, PartialByte::default(), 14);
        bits.put(0b1, 1);
        bits.put(0b10, 2);
        bits.put(0b111_0000_0000, 11);
        let (partial, bytes) = bits.finish();
        out.truncate(bytes);
        assert_eq!(out, [7, 0b0000_0101]);
        let mut bits = BitWriter::new(&mut out, partial, 8 + 16);
        bits.put(0b1, 1);
        bits.align();
        bits.bytes(b"ab");
        let (_, bytes) = bits.finish();
        out.truncate(bytes);
        assert_eq!(out, [7, 0b0000_0101, 0b0111_1000, b'a', b'b']);
    }
}
