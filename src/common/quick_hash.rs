//! A hash for small tables with short keys that are looked up for every row. It has a random key, and is several times as fast as
//! the hash of the standard library. Tables that outsiders can fill without limit should use the latter.

use std::hash::{BuildHasher, Hasher, RandomState};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Builds hashers with the same random key.
#[derive(Debug, Clone, Copy)]
pub struct QuickHash(u64);

impl Default for QuickHash {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for QuickHash {
    type Hasher = QuickHasher;

    fn build_hasher(&self) -> QuickHasher {
        QuickHasher(self.0)
    }
}

/// The hash so far.
#[derive(Debug)]
pub struct QuickHasher(u64);

impl Hasher for QuickHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    // The standard library hashes the length of a slice before its bytes; XXH3 takes both together.
    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.0 ^= (number as u64).rotate_left(32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
