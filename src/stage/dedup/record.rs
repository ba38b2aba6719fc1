//! Records: a key in its partition, packed, with the place of its URL.
//!
//! ```text
//! 15 bytes   the key without its highest byte, which is the partition's number; low bytes first
//!  2 bytes   the ordinal of the URL in its chunk
//!  8 bytes   when the page last changed; only where that is asked for
//! ```

use super::{Key, NO_INSTANT};

const KEY_BYTES: usize = 15;
const PLACE_END: usize = KEY_BYTES + size_of::<u16>();
const INSTANT_END: usize = PLACE_END + size_of::<i64>();

/// Bytes of a record.
pub const fn bytes(has_instants: bool) -> usize {
    if has_instants { INSTANT_END } else { PLACE_END }
}

/// Fills `record`.
#[inline]
pub fn write(record: &mut [u8], key: Key, ordinal: u16, instant: Option<i64>) {
    record[..KEY_BYTES].copy_from_slice(&key.to_le_bytes()[..KEY_BYTES]);
    record[KEY_BYTES..PLACE_END].copy_from_slice(&ordinal.to_le_bytes());
    if let Some(instant) = instant {
        record[PLACE_END..].copy_from_slice(&instant.to_le_bytes());
    }
}

/// Key, ordinal and instant of a record of `partition`.
#[inline]
pub fn read(record: &[u8], partition: usize) -> (Key, u16, i64) {
    // Two words that share a byte: quicker than fifteen bytes put together.
    let low = word(&record[..8]);
    let high = word(&record[7..KEY_BYTES]) >> 8 | (partition as u64) << 56;
    let ordinal = u16::from_le_bytes(record[KEY_BYTES..PLACE_END].try_into().expect("two bytes"));
    let instant = record.get(PLACE_END..INSTANT_END).map_or(NO_INSTANT, |bytes| word(bytes) as i64);
    (u128::from(high) << 64 | u128::from(low), ordinal, instant)
}

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        for key in [1, Key::MAX, 0x0123_4567_89AB_CDEF_FEDC_BA98_7654_3210, 0xAB << 120] {
            for (ordinal, instant) in [(0, None), (0xABCD, Some(-2)), (u16::MAX, Some(i64::MAX))] {
                let mut record = vec![0; bytes(instant.is_some())];
                write(&mut record, key, ordinal, instant);
                assert_eq!(
                    read(&record, (key >> 120) as usize),
                    (key, ordinal, instant.unwrap_or(NO_INSTANT))
                );
            }
        }
    }
}
