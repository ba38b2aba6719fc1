//! Deduplication: of equal URLs the first in input order is kept ([`find_duplicates`]), or the newest
//! ([`find_all_but_newest`]).
//!
//! A URL is identified by a key of 120 bits: XXH3 of its canonical bytes under a secret drawn for the run. With the position
//! in the input, a key takes sixteen bytes. Keys are not confirmed on the URLs: among a billion URLs, two different ones share
//! a key with probability 2^-61, and an attacker cannot prepare such a pair, because XXH3's known collisions need the secret.
//! Shorter keys would have to be confirmed by reading the input at random positions, which is slow on any disk.
//!
//! Keys are partitioned by their highest byte while their chunk is in the cache. The 256 partitions are independent of each other
//! and, unless the set is very large, each fits in the cache with its table.

mod first;
mod keys;
mod newest;
mod record;
mod survivors;

pub use first::{Table, find_duplicates};
pub use keys::{ChunkKeys, PARTITIONS, PartitionKeys, Round, expected, has_several};
pub use newest::{NewestTable, find_all_but_newest};
pub use record::NO_INSTANT;
pub use survivors::Survivors;
