//! Sorts URLs in byte order.
//!
//! URLs share long prefixes, so most of a comparison of whole URLs is spent on equal bytes. Here, the twelve bytes after the
//! common prefix of a group are compared as one number. URLs that are still equal form a group that is sorted in turn.

use crate::common::fallible::reserve;
use crate::common::prefetch;
use crate::common::simd::common_bytes;
use crate::error::Result;

/// Sorts the indexes of URLs, which count from 0. URLs contain no NUL. A sorter is reused for one set of URLs after another:
/// memory that is returned to the system would have to be mapped again, page by page.
#[derive(Debug, Default)]
pub struct Sorter {
    items: Vec<Item>,
}

impl Sorter {
    /// Bytes of memory for each URL.
    pub const URL_BYTES: usize = size_of::<Item>();

    /// Starts a new set of at most `urls` URLs.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for their indexes.
    pub fn restart(&mut self, urls: usize) -> Result<()> {
        self.items.clear();
        reserve(&mut self.items, urls)
    }

    /// Adds the next URL.
    #[inline]
    pub fn push(&mut self, url: &[u8]) {
        assert!(self.items.len() < IS_DUPLICATE as usize, "fewer URLs are sorted at once than 31 bits count");
        self.items.push(Item::new(url, 0, self.items.len() as u32));
    }

    /// The URLs in order, which `url` returns by index. Equal URLs keep the order in which they were added.
    pub fn order<'u>(
        &mut self,
        url: impl Fn(u32) -> &'u [u8],
    ) -> impl ExactSizeIterator<Item = Sorted> + Clone {
        sort(&mut self.items, &url, 0);
        self.items
            .iter()
            .map(|item| Sorted { at: item.at(), is_duplicate: item.0 as u32 & IS_DUPLICATE != 0 })
    }
}

/// A URL in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sorted {
    /// Its index.
    pub at: u32,
    /// Whether the URL before is equal.
    pub is_duplicate: bool,
}

/// Twelve bytes of a URL as a number, and below them the URL's index: one comparison says which comes first. Once it is sorted, a
/// bit beside the index says whether the URL before is equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item(u128);

impl Item {
    /// The `at`th, `url`, with its bytes from `depth` on.
    #[inline]
    fn new(url: &[u8], depth: usize, at: u32) -> Self {
        let below = u128::from(u32::MAX);
        Self(sixteen(url, depth) & !below | u128::from(at))
    }

    fn at(self) -> u32 {
        self.0 as u32 & !IS_DUPLICATE
    }

    /// Marks a sorted item.
    fn set_duplicate(&mut self) {
        self.0 |= u128::from(IS_DUPLICATE);
    }

    fn twelve(self) -> u128 {
        self.0 >> u32::BITS
    }
}

/// The bit of an [`Item`] whose URL equals the one before.
const IS_DUPLICATE: u32 = 1 << 31;

/// Bytes of a URL in an [`Item`].
const TWELVE: usize = size_of::<u128>() - size_of::<u32>();

/// Groups of at most this size are sorted by whole comparisons.
const FEW: usize = 8;

/// Sorts `items`, which hold the bytes of their URLs from `depth` on. The bytes before are equal.
fn sort<'u>(items: &mut [Item], url: &impl Fn(u32) -> &'u [u8], depth: usize) {
    items.sort_unstable();
    for group in items.chunk_by_mut(|one, other| one.twelve() == other.twelve()) {
        // A zero at the end is no byte of a URL: they end here, all at the same byte, and are equal.
        match group {
            [_] => {}
            [first, others @ ..] if first.twelve() & 0xFF == 0 => {
                others.iter_mut().for_each(Item::set_duplicate);
            }
            _ => sort_deeper(group, url, depth + TWELVE),
        }
    }
}

/// Sorts `items`, whose URLs are the same in their first `depth` bytes.
fn sort_deeper<'u>(items: &mut [Item], url: &impl Fn(u32) -> &'u [u8], depth: usize) {
    let fetch = |item: &Item| prefetch::fetch_all(&url(item.at())[depth..]);
    if items.len() <= FEW {
        items.iter().for_each(fetch);
        let after = |item: &Item| &url(item.at())[depth..];
        items.sort_unstable_by(|one, other| after(one).cmp(after(other)).then(one.at().cmp(&other.at())));
        for at in 1..items.len() {
            if after(&items[at]) == after(&items[at - 1]) {
                items[at].set_duplicate();
            }
        }
        return;
    }
    let first = &url(items[0].at())[depth..];
    let mut common = first.len();
    for (at, item) in items.iter().enumerate() {
        if let Some(ahead) = items.get(at + prefetch::AHEAD) {
            fetch(ahead);
        }
        common = common_bytes(&first[..common], &url(item.at())[depth..]);
    }
    let depth = depth + common;
    items.iter_mut().for_each(|item| *item = Item::new(url(item.at()), depth, item.at()));
    sort(items, url, depth);
}

/// Bytes of a URL that are compared as one number.
pub const SIXTEEN: usize = size_of::<u128>();

/// The sixteen bytes of `url` from `depth` on, padded with zeros, as a number that compares like the bytes.
#[inline]
pub fn sixteen(url: &[u8], depth: usize) -> u128 {
    let rest = url.get(depth..).unwrap_or_default();
    match rest.first_chunk() {
        Some(&bytes) => u128::from_be_bytes(bytes),
        None => {
            let mut bytes = [0; SIXTEEN];
            bytes[..rest.len()].copy_from_slice(rest);
            u128::from_be_bytes(bytes)
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::common::random::Random;

    /// URLs that share beginnings of every length, some of them equal.
    pub fn urls() -> Vec<Vec<u8>> {
        let mut random = Random::new(1);
        let words =
            ["a", "b", "ab", "abcdefgh", "abcdefghijkl", "abcdefghijkm", "abcdefghabcdefgh", "\u{7e}"];
        let mut url = |parts| {
            let path = random.joined(&words, parts..parts + 1);
            format!("http://h.example/{path}").into_bytes()
        };
        (0..3_000).map(|n| url(n % 9)).collect()
    }

    #[test]
    fn urls_are_in_byte_order_and_equal_ones_in_input_order() {
        for count in [0, 1, 2, FEW, FEW + 1, 100, 3_000] {
            let urls = &urls()[..count];
            let mut plain: Vec<u32> = (0..count as u32).collect();
            plain.sort_by_key(|&at| &urls[at as usize]);
            let mut sorter = Sorter::default();
            for _ in 0..2 {
                sorter.restart(count).unwrap();
                urls.iter().for_each(|url| sorter.push(url));
                let url = |at: u32| &urls[at as usize][..];
                let order: Vec<Sorted> = sorter.order(url).collect();
                let mut last = None;
                let plain = plain.iter().map(|&at| {
                    let is_duplicate = last.replace(url(at)) == Some(url(at));
                    Sorted { at, is_duplicate }
                });
                assert!(plain.eq(order), "{count}");
            }
        }
    }
}
