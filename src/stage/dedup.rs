//! Dedup: of equal URLs the first in input order stays, or the newest (in [`newest`](find_all_but_newest)).
//!
//! A URL is known by a key of 128 bits, XXH3 of its canonical bytes under a secret drawn for the run. The key decides
//! alone: among a billion URLs two different ones share a key with a chance of 2^-69, and nobody can prepare a pair,
//! because XXH3's known collisions need the secret. Confirming shorter keys on the bytes instead would read the
//! input at random places, which no disk does quickly.
//!
//! Keys are parted by their highest byte while the chunk they come from is in the cache; then each of the 256
//! partitions fits in the cache with its table, and needs no word from the others.

mod newest;

pub use newest::{NO_INSTANT, NewestTable, find_all_but_newest};

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use xxhash_rust::xxh3::xxh3_128_with_secret;

use super::clean::CleanUrl;
use super::lines::CHUNK_URLS_MAX;
use crate::error::{Error, ErrorKind, Result};

/// Hash partitions: one for each value of a key's highest byte.
pub const PARTITIONS: usize = 256;

/// What a URL is known by. Never zero, which marks a free place in a [`Table`].
pub type Key = u128;

/// What keys are made with, different in every run.
#[derive(Clone)]
pub struct Secret([u8; 192]);

impl Secret {
    /// Draws one from the operating system.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if there is no randomness to be had.
    pub fn draw() -> Result<Self> {
        let mut bytes = [0; 192];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::new(ErrorKind::Io, format!("no random bytes to be had: {error}")))?;
        Ok(Self(bytes))
    }

    /// The key of `url`.
    #[inline]
    pub fn key(&self, url: CleanUrl<'_>) -> Key {
        self.key_of(url.as_bytes())
    }

    /// The key of a URL that somebody else has cleaned: `check` takes what it reads as it is.
    #[inline]
    pub(crate) fn key_of(&self, url: &[u8]) -> Key {
        xxh3_128_with_secret(url, &self.0).max(1)
    }
}

/// Which URLs of a chunk are listed: one bit each, by ordinal. Partitions strike out duplicates at the same time, so
/// the words are atomic; no order between them matters.
#[derive(Debug, Default)]
pub struct Survivors(Box<[AtomicU64]>);

impl Survivors {
    /// All of `urls` URLs.
    pub fn all(urls: usize) -> Self {
        let word = |n: usize| AtomicU64::new(u64::MAX >> (64 - (urls - 64 * n).min(64)));
        Self((0..urls.div_ceil(64)).map(word).collect())
    }

    /// Takes one out.
    pub fn strike(&self, ordinal: u16) {
        let ordinal = usize::from(ordinal);
        self.0[ordinal / 64].fetch_and(!(1 << (ordinal % 64)), Ordering::Relaxed);
    }

    /// Whether it is still in.
    #[inline]
    pub fn contains(&self, ordinal: usize) -> bool {
        self.0[ordinal / 64].load(Ordering::Relaxed) >> (ordinal % 64) & 1 == 1
    }

    /// How many are still in.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
    }
}

/// The keys of one chunk, parted. 18 bytes a URL.
#[derive(Debug, Default)]
pub struct ChunkKeys {
    /// Partition by partition, in input order within each.
    keys: Box<[Key]>,
    /// Which of the chunk's URLs each key belongs to, counted from 0.
    ordinals: Box<[u16]>,
    /// When each key's page last changed, if that is asked for.
    instants: Box<[i64]>,
    /// Where each partition begins; one more for the end.
    starts: Box<[u16]>,
}

const _: () = assert!(CHUNK_URLS_MAX <= u16::MAX as usize);

impl ChunkKeys {
    /// Parts the `keys` of a chunk, given in input order, and their `instants`, if there are any.
    pub fn part(keys: &[Key], instants: &[i64]) -> Self {
        let mut starts = [0_u16; PARTITIONS + 1];
        for &key in keys {
            starts[partition(key) + 1] += 1;
        }
        for p in 0..PARTITIONS {
            starts[p + 1] += starts[p];
        }
        let mut next = starts;
        let mut parted = vec![0; keys.len()].into_boxed_slice();
        let mut ordinals = vec![0; keys.len()].into_boxed_slice();
        for (ordinal, &key) in (0_u16..).zip(keys) {
            let at = &mut next[partition(key)];
            parted[usize::from(*at)] = key;
            ordinals[usize::from(*at)] = ordinal;
            *at += 1;
        }
        let instants = match instants {
            [] => Box::default(),
            _ => ordinals.iter().map(|&ordinal| instants[usize::from(ordinal)]).collect(),
        };
        Self { keys: parted, ordinals, instants, starts: starts.into() }
    }

    fn range(&self, partition: usize) -> Range<usize> {
        usize::from(self.starts[partition])..usize::from(self.starts[partition + 1])
    }

    /// The keys of one partition, with the ordinals of their URLs.
    fn of(&self, partition: usize) -> impl ExactSizeIterator<Item = (Key, u16)> + '_ {
        let range = self.range(partition);
        self.keys[range.clone()].iter().copied().zip(self.ordinals[range].iter().copied())
    }

    /// The key of one URL. A walk through all of them: for what is told a person.
    pub(crate) fn key_at(&self, ordinal: u16) -> Option<Key> {
        self.ordinals.iter().position(|&own| own == ordinal).map(|at| self.keys[at])
    }

    /// The first URL of that key.
    pub(crate) fn find(&self, key: Key) -> Option<u16> {
        self.of(partition(key)).find(|&(own, _)| own == key).map(|(_, ordinal)| ordinal)
    }
}

fn partition(key: Key) -> usize {
    (key >> 120) as usize
}

/// Walks through one partition of all `chunks` in input order and calls `duplicate` with the chunk and the ordinal of
/// every URL that an earlier one equals.
///
/// # Errors
/// [`ErrorKind::Memory`] if the table cannot be had.
pub fn find_duplicates<'a>(
    chunks: impl Iterator<Item = &'a ChunkKeys> + Clone,
    partition: usize,
    table: &mut Table,
    mut duplicate: impl FnMut(usize, u16),
) -> Result<()> {
    table.clear_for(chunks.clone().map(|chunk| chunk.of(partition).len()).sum())?;
    for (chunk, keys) in chunks.enumerate() {
        for (key, ordinal) in keys.of(partition) {
            if !table.insert(key) {
                duplicate(chunk, ordinal);
            }
        }
    }
    Ok(())
}

/// A set of keys: open addressing, linear probing, at most two thirds full. Reused from partition to partition.
#[derive(Debug, Default)]
pub struct Table {
    places: Vec<Key>,
    mask: usize,
}

impl Table {
    /// Empties it and makes room for `keys` keys.
    fn clear_for(&mut self, keys: usize) -> Result<()> {
        let places = (keys + keys / 2 + 1).next_power_of_two();
        self.places.clear();
        self.places.try_reserve_exact(places).map_err(|_| {
            Error::new(
                ErrorKind::Memory,
                format!("no memory for a table of {} bytes", places * size_of::<Key>()),
            )
        })?;
        self.places.resize(places, 0);
        self.mask = places - 1;
        Ok(())
    }

    /// Adds `key`; false if it was there.
    #[inline]
    fn insert(&mut self, key: Key) -> bool {
        let mut at = key as usize & self.mask;
        loop {
            match self.places[at] {
                0 => {
                    self.places[at] = key;
                    return true;
                }
                there if there == key => return false,
                _ => at = (at + 1) & self.mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::stage::clean::{Cleaned, Cleaner};

    /// The plain way: a set of all keys.
    fn plain(chunks: &[Vec<Key>]) -> Vec<(usize, u16)> {
        let mut seen = HashSet::new();
        let mut duplicates = Vec::new();
        for (chunk, keys) in chunks.iter().enumerate() {
            for (ordinal, &key) in (0..).zip(keys) {
                if !seen.insert(key) {
                    duplicates.push((chunk, ordinal));
                }
            }
        }
        duplicates
    }

    #[test]
    fn the_partitions_together_find_what_one_set_finds() {
        // Keys that meet in partitions and in places, and many that are equal.
        for spread in [1_u128, 1 << 60, (1 << 119) | 1, (1 << 121) | 7] {
            let key = |n: u128| (n * n % 977).wrapping_mul(spread).max(1);
            let chunks: Vec<Vec<Key>> =
                (0..9).map(|chunk| (0..chunk * 37).map(|n| key(chunk * 31 + n)).collect()).collect();
            let parted: Vec<ChunkKeys> = chunks.iter().map(|keys| ChunkKeys::part(keys, &[])).collect();
            let mut table = Table::default();
            let mut duplicates = Vec::new();
            for partition in 0..PARTITIONS {
                find_duplicates(parted.iter(), partition, &mut table, |c, o| duplicates.push((c, o)))
                    .unwrap();
            }
            duplicates.sort_unstable();
            assert_eq!(duplicates, plain(&chunks));
        }
    }

    #[test]
    fn survivors_are_all_until_struck_out() {
        for urls in [0, 1, 63, 64, 65, 1000] {
            let survivors = Survivors::all(urls);
            assert_eq!(survivors.count() as usize, urls);
            for struck in (0..urls as u16).step_by(7) {
                survivors.strike(struck);
                survivors.strike(struck);
            }
            assert_eq!(survivors.count() as usize, urls - urls.div_ceil(7));
            assert!((0..urls).all(|ordinal| survivors.contains(ordinal) == (ordinal % 7 != 0)));
        }
    }

    #[test]
    fn a_key_depends_on_every_byte_and_on_the_secret() {
        let secrets = [Secret::draw().unwrap(), Secret::draw().unwrap()];
        let mut keys = HashSet::new();
        let mut urls = 0;
        for path_bytes in [0, 1, 3, 20, 100, 200, 223, 224, 400, 1200] {
            for changed in 0..=path_bytes {
                let mut url = b"http://h.example/".to_vec();
                url.resize(url.len() + path_bytes, b'a');
                if changed < path_bytes {
                    url[17 + changed] = b'b';
                }
                let mut cleaner = Cleaner::default();
                let Cleaned::Url(clean) = cleaner.clean(&url) else { panic!("it is clean") };
                keys.extend(secrets.iter().map(|secret| secret.key(clean)));
                urls += 1;
            }
        }
        assert_eq!(keys.len(), 2 * urls);
    }
}
