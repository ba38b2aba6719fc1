//! Numbers stored as differences (encoding `DELTA_BINARY_PACKED` of Parquet): their count, their end in a page, and their values.

/// The number of numbers at the start of `bytes`.
pub fn count(bytes: &[u8]) -> Option<u64> {
    let mut bytes = bytes;
    // The numbers in a block, and the parts of a block.
    number(&mut bytes)?;
    number(&mut bytes)?;
    number(&mut bytes)
}

/// The bytes after the numbers at the start of `bytes`.
pub fn rest(bytes: &[u8]) -> Option<&[u8]> {
    let mut bytes = bytes;
    let block_values = number(&mut bytes)?;
    let parts = usize::try_from(number(&mut bytes)?).ok()?;
    let count = number(&mut bytes)?;
    let part_values = block_values.checked_div(parts as u64)?;
    number(&mut bytes)?;
    if part_values == 0 {
        return None;
    }
    // The first number is in the header.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        // The smallest difference, and the width of each part.
        number(&mut bytes)?;
        let (widths, packed) = bytes.split_at_checked(parts)?;
        bytes = packed;
        for &width in widths {
            if left == 0 {
                break;
            }
            let part_bytes = usize::try_from(part_values.checked_mul(width.into())? / 8).ok()?;
            bytes = bytes.get(part_bytes..)?;
            left = left.saturating_sub(part_values);
        }
    }
    Some(bytes)
}

/// The maximum number of bytes that `rows` consecutive values take when decoded, if `values` are texts that share a prefix with the
/// text before (encoding `DELTA_BYTE_ARRAY`). A few bytes of a page can become gigabytes.
pub fn bytes_together_max(values: &[u8], rows: usize) -> Option<u64> {
    let (repeated, own) = (Numbers::of(values)?, Numbers::of(rest(values)?)?);
    let (mut most, mut sum) = (0, 0_u64);
    for (at, lengths) in repeated.zip(own).enumerate() {
        if at % rows == 0 {
            sum = 0;
        }
        // The decoder refuses a negative length.
        let (repeated, own) = (u64::try_from(lengths.0).ok()?, u64::try_from(lengths.1).ok()?);
        sum = sum.saturating_add(repeated).saturating_add(own);
        most = most.max(sum);
    }
    // Rows that are read together can begin in one stretch of `rows` and end in the next.
    Some(most.saturating_mul(2))
}

/// Reads the numbers, up to the end of the bytes.
struct Numbers<'b> {
    bytes: &'b [u8],
    /// Parts of a block, and numbers of a part.
    parts: usize,
    part_values: usize,
    /// Numbers that are left.
    left: u64,
    next: Option<i64>,
    /// The smallest difference of the block, and the bit width of each part.
    least: i64,
    widths: &'b [u8],
    /// The current part, the bit width of its numbers, and how many of them were read.
    packed: &'b [u8],
    width: usize,
    read: usize,
}

impl<'b> Numbers<'b> {
    fn of(mut bytes: &'b [u8]) -> Option<Self> {
        let block_values = usize::try_from(number(&mut bytes)?).ok()?;
        let parts = usize::try_from(number(&mut bytes)?).ok()?;
        let left = number(&mut bytes)?;
        let part_values = block_values.checked_div(parts).filter(|&values| values > 0)?;
        let next = Some(unzigzag(number(&mut bytes)?));
        let (widths, packed) = (&[][..], &[][..]);
        let read = part_values;
        Some(Self { bytes, parts, part_values, left, next, least: 0, widths, packed, width: 0, read })
    }

    /// The difference between the current number and the next.
    fn difference(&mut self) -> Option<i64> {
        if self.read == self.part_values {
            if self.widths.is_empty() {
                self.least = unzigzag(number(&mut self.bytes)?);
                (self.widths, self.bytes) = self.bytes.split_at_checked(self.parts)?;
            }
            let (&width, widths) = self.widths.split_first()?;
            (self.width, self.widths, self.read) = (usize::from(width), widths, 0);
            let part_bytes = self.part_values.checked_mul(self.width)? / 8;
            (self.packed, self.bytes) = self.bytes.split_at_checked(part_bytes)?;
        }
        let bit = self.read * self.width;
        let mut word = [0; size_of::<u128>()];
        let packed = &self.packed[(bit / 8).min(self.packed.len())..];
        let taken = packed.len().min(word.len());
        word[..taken].copy_from_slice(&packed[..taken]);
        let mask = 1_u128.checked_shl(self.width as u32).map_or(u128::MAX, |bits| bits - 1);
        let beyond = (u128::from_le_bytes(word) >> (bit % 8) & mask) as u64;
        self.read += 1;
        Some(self.least.wrapping_add(beyond.cast_signed()))
    }
}

impl Iterator for Numbers<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        let number = self.next?;
        self.next =
            if self.left > 0 { self.difference().map(|next| number.wrapping_add(next)) } else { None };
        Some(number)
    }
}

/// Takes a number with seven bits per byte, lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F).checked_shl(shift)?;
        if byte < 0x80 {
            break;
        }
    }
    Some(number)
}

/// Decodes zigzag: the sign is the lowest bit.
fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}
