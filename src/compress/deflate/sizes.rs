//! Sizes that several parts of the compressor depend on, in bytes.

use super::symbols::DISTANCE_MAX;

/// Bytes that every record begins with. Only longer prefixes tell records apart.
pub const HEAD_BYTES: usize = b"<url><loc>https://".len();
/// Bytes that every record ends with.
pub const TAIL_BYTES: usize = b"</loc></url>\n".len();

/// Longest record: a longer line is cut, which bounds the work and the memory that one record can ask for. The longest
/// URL of a sitemap has 2,047 characters, and a few more once it is escaped.
pub const RECORD_BYTES_MAX: usize = 8 * 1024;

/// Bytes that are taken in at once, whatever is pushed.
pub const PIECE_BYTES: usize = 128 * 1024;
/// After so many bytes a place looks like an earlier one: places have sixteen bits.
pub const PLACE_PERIOD: usize = 1 << u16::BITS;
/// Bytes that stay when the window moves on: what a match can reach, and all of a block that may be stored.
pub const KEPT_BYTES: usize = 128 * 1024;
/// When the window moves: rarely, as what stays must be copied.
pub const WINDOW_BYTES: usize = 512 * 1024;
const _: () = assert!(KEPT_BYTES >= PLACE_PERIOD && PLACE_PERIOD >= 2 * DISTANCE_MAX);
