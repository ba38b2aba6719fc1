//! Sizes that several parts of the compressor depend on, in bytes.

use super::symbols::DISTANCE_MAX;

/// Length of the text that every record begins with. Only longer prefixes distinguish records.
pub const HEAD_BYTES: usize = b"<url><loc>https://".len();
/// Length of the text that every record ends with.
pub const TAIL_BYTES: usize = b"</loc></url>\n".len();

/// Maximum length of a record. A longer line is split, which bounds the work and the memory for one record. The longest URL
/// of a sitemap has 2,047 characters, and a few more once it is escaped.
pub const RECORD_BYTES_MAX: usize = 8 * 1024;

/// Number of bytes that a parser puts off before it encodes them: enough that few matches are cut off at their end.
pub const PENDING_BYTES_MAX: usize = 4 * 1024;

/// Maximum bytes that are added to the window at a time, whatever the size of a push.
pub const PUSH_BYTES_MAX: usize = 128 * 1024;
/// Number of positions at the end of a seam that parsers insert. The bytes before them begin every record, or were inserted for
/// another record with the same directories.
pub const REMEMBERED: usize = 24;
/// Positions are stored in sixteen bits, so they repeat after this many bytes.
pub const PLACE_PERIOD: usize = 1 << u16::BITS;
/// Bytes that are kept when the window moves: the reach of a match, and a whole block that may be stored.
pub const KEPT_BYTES: usize = 128 * 1024;
/// Size at which the window moves. It moves rarely, because the kept bytes must be copied.
pub const WINDOW_BYTES: usize = 512 * 1024;
const _: () = assert!(KEPT_BYTES >= PLACE_PERIOD && PLACE_PERIOD >= 2 * DISTANCE_MAX);
