//! The cache: what is not in it is asked for together, and waited for once.

use std::hint::black_box;

/// Bytes that come into it at once.
pub const LINE_BYTES: usize = 64;

/// Reads `bytes`, so that their lines are there when they are needed: no read waits for another.
#[inline]
pub fn touch(bytes: impl Iterator<Item = u8>) {
    black_box(bytes.fold(0, |all, byte| all ^ byte));
}
