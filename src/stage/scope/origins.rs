//! Origins of refused URLs, counted in bounded memory.

use std::cmp::Ordering;

use xxhash_rust::xxh3::xxh3_64;

/// Most origins that are told apart. Up to this many, every count is exact.
pub const ORIGINS_MAX: usize = 256;

/// How many URLs each origin has.
///
/// Of more than [`ORIGINS_MAX`] origins, those with the smallest hashes are kept. An origin that is kept at the end was never
/// dropped on the way, so its count is exact, and neither the order of URLs nor the way they are split among threads matters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origins {
    /// By hash, then by bytes.
    kept: Vec<Origin>,
    /// URLs of the origins that were dropped.
    others: u64,
    /// Where the last counted origin is: most lists name one site many times in a row.
    last: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    hash: u64,
    bytes: Vec<u8>,
    urls: u64,
}

impl Origins {
    /// Counts one URL of `origin`.
    pub fn count(&mut self, origin: &[u8]) {
        match self.kept.get_mut(self.last) {
            Some(last) if last.bytes == origin => last.urls += 1,
            _ => self.add(xxh3_64(origin), origin, 1),
        }
    }

    /// Adds the counts of `more`.
    pub fn merge(&mut self, more: &Self) {
        self.others += more.others;
        more.kept.iter().for_each(|origin| self.add(origin.hash, &origin.bytes, origin.urls));
    }

    /// The `most` origins with the most URLs, those with more URLs first; and the number of all other URLs.
    pub fn largest(&self, most: usize) -> (Vec<(&str, u64)>, u64) {
        let mut largest: Vec<_> = self
            .kept
            .iter()
            .map(|origin| (str::from_utf8(&origin.bytes).expect("a clean URL is ASCII"), origin.urls))
            .collect();
        largest.sort_by_key(|&(origin, urls)| (std::cmp::Reverse(urls), origin));
        let others = largest.drain(most.min(largest.len())..).map(|(_, urls)| urls).sum::<u64>();
        (largest, others + self.others)
    }

    fn add(&mut self, hash: u64, origin: &[u8], urls: u64) {
        let order = |kept: &Origin| -> Ordering { (kept.hash, &*kept.bytes).cmp(&(hash, origin)) };
        match self.kept.binary_search_by(order) {
            Ok(at) => {
                self.kept[at].urls += urls;
                self.last = at;
            }
            Err(ORIGINS_MAX) => self.others += urls,
            Err(at) => {
                if self.kept.len() == ORIGINS_MAX {
                    self.others += self.kept.pop().map_or(0, |dropped| dropped.urls);
                }
                self.kept.insert(at, Origin { hash, bytes: origin.to_vec(), urls });
                self.last = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stage::random::Random;

    /// `urls` counted in parts of random sizes that are merged in random order.
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
        for origins in [1, 7, ORIGINS_MAX, ORIGINS_MAX + 1, 3_000] {
            let urls: Vec<String> =
                (0..20_000).map(|n| format!("http://h{}.example/", n * n % 7919 % origins)).collect();
            let mut whole = Origins::default();
            urls.iter().for_each(|url| whole.count(url.as_bytes()));
            let (kept, others) = whole.largest(usize::MAX);
            assert_eq!(kept.iter().map(|(_, urls)| urls).sum::<u64>() + others, 20_000);
            for &(origin, count) in &kept {
                assert_eq!(count, urls.iter().filter(|url| *url == origin).count() as u64, "{origin}");
            }
            assert_eq!(others == 0, origins <= ORIGINS_MAX, "{origins} origins");
            for _ in 0..20 {
                assert_eq!(in_parts(&urls, &mut random).largest(usize::MAX), (kept.clone(), others));
            }
        }
    }

    #[test]
    fn the_largest_come_first_and_the_rest_is_one_number() {
        let mut all = Origins::default();
        for (origin, urls) in [("http://a/", 2), ("http://b/", 3), ("http://c/", 2), ("http://d/", 1)] {
            (0..urls).for_each(|_| all.count(origin.as_bytes()));
        }
        assert_eq!(all.largest(2), (vec![("http://b/", 3), ("http://a/", 2)], 3));
        assert_eq!(all.largest(9).1, 0);
    }
}
