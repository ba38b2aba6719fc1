//! Origins: the part of a URL before its path. Counts rejected URLs by origin in bounded memory.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The part of a clean URL before its path, with the slash that begins the path.
pub fn origin_of(clean_url: &[u8]) -> &[u8] {
    // A host has at least one byte, so the slash after it is not among these.
    let scheme = "https://".len();
    let slash = memchr::memchr(b'/', &clean_url[scheme..]);
    &clean_url[..=scheme + slash.expect("a clean URL has a path")]
}

/// The number of slashes in an origin with the slash that begins the path.
pub const ORIGIN_SLASHES: usize = 3;

/// The bytes of the origin that `text` begins with if it is a URL, with that slash. 0 if it has fewer slashes.
pub fn origin_bytes(text: &[u8]) -> usize {
    let slash = memchr::memchr_iter(b'/', text).nth(ORIGIN_SLASHES - 1);
    slash.map_or(0, |slash| slash + 1)
}

/// Maximum number of origins to count. Up to this number, every count is exact. They take about 6 MB.
pub const ORIGINS_MAX: usize = 1 << 16;

/// Maximum number of origins in a serialised count. They take about 200 KB.
pub const ORIGINS_SERIALISED_MAX: usize = 1 << 12;

/// The number of URLs per origin.
///
/// If there are more than [`ORIGINS_MAX`] origins, those with the smallest hashes are kept. An origin that is kept at the end was
/// never dropped, so its count is exact. It depends neither on the order of the URLs nor on how threads divide them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(into = "Serialised", from = "Serialised")]
pub struct Origins {
    /// The number of URLs by key. A key consists of the hash of an origin and its bytes.
    kept: BTreeMap<Box<[u8]>, u64>,
    /// The number of URLs of dropped origins.
    others: u64,
    /// The key of the origin counted last: in most lists, neighbouring URLs have the same origin.
    last: Vec<u8>,
}

/// Bytes of the hash in a key.
const HASH_BYTES: usize = size_of::<u64>();

impl Origins {
    /// Counts one URL of `origin`.
    pub fn count(&mut self, origin: &[u8]) {
        let mut key = std::mem::take(&mut self.last);
        if key.get(HASH_BYTES..) != Some(origin) {
            key.clear();
            key.extend(xxh3_64(origin).to_be_bytes());
            key.extend(origin);
        }
        self.add(&key, 1);
        self.last = key;
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Adds the counts of `more`.
    pub fn merge(&mut self, more: &Self) {
        self.others += more.others;
        more.kept.iter().for_each(|(key, &urls)| self.add(key, urls));
    }

    /// Keeps the `most` origins with the smallest hashes and adds up the others. Merged counts stay exact if all of them were
    /// truncated to the same number of origins.
    pub fn truncate(&mut self, most: usize) {
        while self.kept.len() > most {
            self.others += self.kept.pop_last().map_or(0, |(_, dropped)| dropped);
        }
    }

    /// The `most` origins with the most URLs, in descending order, and the number of all other URLs.
    pub fn largest(&self, most: usize) -> (Vec<(&str, u64)>, u64) {
        let mut largest: Vec<_> = self
            .kept
            .iter()
            .map(|(key, &urls)| (str::from_utf8(&key[HASH_BYTES..]).expect("a clean URL is ASCII"), urls))
            .collect();
        largest.sort_by_key(|&(origin, urls)| (std::cmp::Reverse(urls), origin));
        let others = largest.drain(most.min(largest.len())..).map(|(_, urls)| urls).sum::<u64>();
        (largest, others + self.others)
    }

    fn add(&mut self, key: &[u8], urls: u64) {
        if let Some(counted) = self.kept.get_mut(key) {
            *counted += urls;
            return;
        }
        if self.kept.len() == ORIGINS_MAX {
            if self.kept.last_key_value().is_some_and(|(greatest, _)| **greatest < *key) {
                self.others += urls;
                return;
            }
            self.others += self.kept.pop_last().map_or(0, |(_, dropped)| dropped);
        }
        self.kept.insert(key.into(), urls);
    }
}

/// The serialised form: up to [`ORIGINS_SERIALISED_MAX`] origins with their numbers of URLs, and the number of all other URLs.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Serialised {
    kept: BTreeMap<String, u64>,
    others: u64,
}

impl From<Origins> for Serialised {
    fn from(mut origins: Origins) -> Self {
        origins.truncate(ORIGINS_SERIALISED_MAX);
        let (kept, others) = origins.largest(usize::MAX);
        Self { kept: kept.into_iter().map(|(origin, urls)| (origin.to_owned(), urls)).collect(), others }
    }
}

impl From<Serialised> for Origins {
    fn from(Serialised { kept, others }: Serialised) -> Self {
        let mut origins = Self { others, ..Self::default() };
        kept.into_iter().for_each(|(origin, urls)| origins.add(&key_of(origin.as_bytes()), urls));
        origins
    }
}

/// The key of `origin`: its hash, then its bytes.
fn key_of(origin: &[u8]) -> Vec<u8> {
    [&xxh3_64(origin).to_be_bytes(), origin].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::common::random::Random;

    /// Counts `urls` in parts of random sizes and merges the parts in random order.
    fn in_parts(urls: &[String], random: &mut Random) -> Origins {
        let mut parts = vec![Origins::default(); 1 + random.below(9)];
        for url in urls {
            random.pick_mut(&mut parts).count(url.as_bytes());
        }
        let mut all = Origins::default();
        while !parts.is_empty() {
            all.merge(&parts.swap_remove(random.below(parts.len())));
        }
        all
    }

    #[test]
    fn counts_do_not_depend_on_how_urls_are_split() {
        let mut random = Random::new(5);
        for (origins, rounds) in [(1, 20), (7, 20), (3_000, 20), (ORIGINS_MAX, 2), (ORIGINS_MAX + 500, 2)] {
            let lines = 20_000.max(origins + 1_000);
            let urls: Vec<String> = (0..lines).map(|n| format!("http://h{}.example/", n % origins)).collect();
            let mut whole = Origins::default();
            urls.iter().for_each(|url| whole.count(url.as_bytes()));
            let (kept, others) = whole.largest(usize::MAX);
            assert_eq!(kept.iter().map(|(_, urls)| urls).sum::<u64>() + others, lines as u64);
            let mut exact = HashMap::new();
            urls.iter().for_each(|url| *exact.entry(&**url).or_insert(0) += 1);
            assert!(kept.iter().all(|&(origin, count)| exact[origin] == count), "{origins} origins");
            assert_eq!(kept.len(), origins.min(ORIGINS_MAX));
            assert_eq!(others == 0, origins <= ORIGINS_MAX, "{origins} origins");
            for _ in 0..rounds {
                assert_eq!(in_parts(&urls, &mut random).largest(usize::MAX), (kept.clone(), others));
            }
        }
    }

    #[test]
    fn the_most_frequent_of_many_origins_is_named() {
        let mut all = Origins::default();
        (0..19_000).for_each(|_| all.count(b"https://www.shop.example/"));
        for n in 0..ORIGINS_MAX - 1 {
            all.count(format!("http://h{n}.example/").as_bytes());
        }
        let others = ORIGINS_MAX as u64 - 1;
        assert_eq!(all.largest(1), (vec![("https://www.shop.example/", 19_000)], others));
    }

    #[test]
    fn serialised_counts_of_parts_add_up_to_those_of_the_whole() {
        let mut random = Random::new(9);
        for origins in [0, 1, 50, ORIGINS_SERIALISED_MAX, ORIGINS_SERIALISED_MAX + 700] {
            let urls: Vec<String> =
                (0..3 * origins).map(|n| format!("http://h{}.example/", n % origins)).collect();
            let mut parts = vec![Origins::default(); 5];
            urls.iter().for_each(|url| random.pick_mut(&mut parts).count(url.as_bytes()));
            let mut all = Origins::default();
            for part in &parts {
                let json = serde_json::to_string(part).unwrap();
                all.merge(&serde_json::from_str(&json).unwrap());
            }
            all.truncate(ORIGINS_SERIALISED_MAX);
            let (kept, others) = all.largest(usize::MAX);
            assert_eq!(kept.len(), origins.min(ORIGINS_SERIALISED_MAX));
            assert!(kept.iter().all(|&(_, urls)| urls == 3), "{origins} origins");
            assert_eq!(others, 3 * (origins - kept.len()) as u64);
        }
    }

    #[test]
    fn the_largest_origins_come_first_and_the_rest_are_one_number() {
        let mut all = Origins::default();
        for (origin, urls) in [("http://a/", 2), ("http://b/", 3), ("http://c/", 2), ("http://d/", 1)] {
            (0..urls).for_each(|_| all.count(origin.as_bytes()));
        }
        assert_eq!(all.largest(2), (vec![("http://b/", 3), ("http://a/", 2)], 3));
        assert_eq!(all.largest(9).1, 0);
    }
}
