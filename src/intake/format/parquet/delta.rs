//! Numbers written as differences: how many a page says there are, and where they end. Encoding `DELTA_BINARY_PACKED` of
//! the Parquet format.

/// How many numbers `bytes` begin with.
pub fn count(bytes: &[u8]) -> Option<u64> {
    let mut bytes = bytes;
    // The numbers in a block, and the parts of a block.
    number(&mut bytes)?;
    number(&mut bytes)?;
    number(&mut bytes)
}

/// What follows the numbers that `bytes` begin with.
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
    // The first one is in the header.
    let mut left = count.saturating_sub(1);
    while left > 0 {
        // The least difference, and the width of each part.
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

/// Seven bits a byte, the lowest first.
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
