//! Dedup: of equal URLs the first in input order stays ([`find_duplicates`]), or the newest ([`find_all_but_newest`]).
//!
//! A URL is known by a key of 120 bits, of XXH3 of its canonical bytes under a secret drawn for the run: with its place in
//! the input it makes sixteen bytes. The key decides alone: among a billion URLs two different ones share a key with a
//! chance of 2^-61, and nobody can prepare a pair, because XXH3's known collisions need the secret. Confirming shorter keys on the bytes instead would read the
//! input at random places, which no disk does quickly.
//!
//! Keys are parted by their highest byte while the chunk they come from is in the cache; then each of the 256
//! partitions fits in the cache with its table, and needs no word from the others.

mod first;
mod keys;
mod newest;
mod record;
mod survivors;

pub use first::{Table, find_duplicates};
pub use keys::{ChunkKeys, PARTITIONS, PartitionKeys, Round, has_several};
pub use newest::{NewestTable, find_all_but_newest};
pub use record::NO_INSTANT;
pub use survivors::Survivors;
