//! Records: a key of a partition, packed with the position of its URL.
//!
//! ```text
//!  2 bytes   the ordinal of the URL in its chunk
//! 14 bytes   the key without its highest byte, which is the partition's number; low bytes first
//!  8 bytes   the instant of `lastmod`; only if the newest of equal URLs is kept
//! ```
//!
//! Ordinal and key are stored as one number.

use crate::common::array;
use crate::common::secret::Key;

/// The instant of a URL without `lastmod`: older than any.
pub const NO_INSTANT: i64 = i64::MIN;

/// The position of the lowest bit of the partition number in a key.
pub const PARTITION_SHIFT: u32 = 112;

const PLACE_END: usize = size_of::<u128>();
const INSTANT_END: usize = PLACE_END + size_of::<i64>();

/// Bytes of a record.
pub const fn bytes(has_instants: bool) -> usize {
    if has_instants { INSTANT_END } else { PLACE_END }
}

/// Fills `record`.
#[inline]
pub fn write(record: &mut [u8], key: Key, ordinal: u16, instant: Option<i64>) {
    // The shift removes the highest byte of the key.
    let place = key << u16::BITS | u128::from(ordinal);
    array::write(record, place.to_le_bytes());
    if let Some(instant) = instant {
        array::write(&mut record[PLACE_END..], instant.to_le_bytes());
    }
}

/// Key, ordinal and instant of a record of `partition`.
#[inline]
pub fn read(record: &[u8], partition: usize) -> (Key, u16, i64) {
    let place = u128::from_le_bytes(record[..PLACE_END].try_into().expect("sixteen bytes"));
    let key = (partition as u128) << PARTITION_SHIFT | place >> u16::BITS;
    let instant = record.get(PLACE_END..INSTANT_END);
    let instant =
        instant.map_or(NO_INSTANT, |bytes| i64::from_le_bytes(bytes.try_into().expect("eight bytes")));
    (key, place as u16, instant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::secret::KEY_MAX;

    #[test]
    fn a_written_record_is_read_back() {
        for key in [1, KEY_MAX, 0x0001_2345_6789_ABCD_EFFE_DCBA_9876_5432, 0xAB << PARTITION_SHIFT] {
            for (ordinal, instant) in [(0, None), (0xABCD, Some(-2)), (u16::MAX, Some(i64::MAX))] {
                let mut record = vec![0; bytes(instant.is_some())];
                write(&mut record, key, ordinal, instant);
                assert_eq!(
                    read(&record, (key >> PARTITION_SHIFT) as usize),
                    (key, ordinal, instant.unwrap_or(NO_INSTANT))
                );
            }
        }
    }
}
