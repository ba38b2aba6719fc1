//! Looking at bytes that were seen before, a word at a time.

/// Bytes that can be read behind the last one that counts.
pub const SLACK_BYTES: usize = 32;

/// Eight bytes from `at` on, the first one lowest.
#[inline(always)]
pub fn word(data: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(data[at..at + 8].try_into().expect("eight bytes are eight bytes"))
}

/// How many bytes from `later` on are those from `earlier` on, at most `max`.
#[inline(always)]
pub fn common_prefix(data: &[u8], earlier: usize, later: usize, max: usize) -> usize {
    // Most are shorter than sixteen bytes, and no branch can know which half they end in.
    let (first, second) =
        (word(data, earlier) ^ word(data, later), word(data, earlier + 8) ^ word(data, later + 8));
    let in_second = 8 + second.trailing_zeros() as usize / 8;
    let length = if first != 0 { first.trailing_zeros() as usize / 8 } else { in_second };
    if length < 16 || max <= 16 {
        return max.min(length);
    }
    // In slices of one length, whose words need no further checks.
    let rest = (max - 16).next_multiple_of(8);
    let (first, second) = (&data[earlier + 16..][..rest], &data[later + 16..][..rest]);
    let mut length = 16;
    for (first, second) in first.chunks_exact(8).zip(second.chunks_exact(8)) {
        let differ = word(first, 0) ^ word(second, 0);
        if differ != 0 {
            return max.min(length + differ.trailing_zeros() as usize / 8);
        }
        length += 8;
    }
    max
}

/// How many bytes before `later` are those before `earlier`, at most `max`. Eight more bytes can be read there.
#[inline(always)]
pub fn common_suffix(data: &[u8], earlier: usize, later: usize, max: usize) -> usize {
    let mut length = 0;
    while length < max {
        let differ = word(data, earlier - length - 8) ^ word(data, later - length - 8);
        if differ != 0 {
            return max.min(length + differ.leading_zeros() as usize / 8);
        }
        length += 8;
    }
    max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_agree_with_bytes_wherever_the_difference_is() {
        for same in 0..40 {
            for max in 0..40 {
                let mut data = vec![b'a'; 128];
                data[64 + same] = b'b';
                assert_eq!(common_prefix(&data, 0, 64, max), same.min(max));
                let mut data = vec![b'a'; 128];
                data[127 - same] = b'b';
                assert_eq!(common_suffix(&data, 64, 128, max), same.min(max));
            }
        }
    }
}
