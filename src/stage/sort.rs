//! Sort: URLs in byte order, and the ranges that a set too large for memory is parted into first.
//!
//! URLs share long beginnings, so comparing them whole costs most of the time in bytes that are equal. Here twelve bytes are
//! compared at once, as a number, behind what all of a group have in common; those that are still equal are a group in turn.

use crate::error::{Result, reserve};

/// The order of URLs: their indexes, sorted. Equal URLs stay in the order in which they are given. A URL has no NUL in it.
///
/// `url` gives the URL of an index below `urls`.
///
/// # Errors
/// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no room for the indexes.
pub fn order<'u>(urls: u32, url: impl Fn(u32) -> &'u [u8]) -> Result<impl ExactSizeIterator<Item = u32>> {
    let mut items: Vec<Item> = Vec::new();
    reserve(&mut items, urls as usize)?;
    items.extend((0..urls).map(|at| Item::new(0, at)));
    sort(&mut items, &url, 0);
    Ok(items.into_iter().map(Item::at))
}

/// Twelve bytes of a URL as a number, and below them the URL's index: one comparison says which comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item(u128);

impl Item {
    fn new(twelve: u128, at: u32) -> Self {
        Self(twelve << u32::BITS | u128::from(at))
    }

    fn at(self) -> u32 {
        self.0 as u32
    }

    fn twelve(self) -> u128 {
        self.0 >> u32::BITS
    }
}

/// Bytes of a URL in an [`Item`].
const TWELVE: usize = size_of::<u128>() - size_of::<u32>();

/// So few are compared whole.
const FEW: usize = 8;

/// Sorts `items`, whose URLs are the same in their first `depth` bytes.
fn sort<'u>(items: &mut [Item], url: &impl Fn(u32) -> &'u [u8], depth: usize) {
    if items.len() <= FEW {
        return items.sort_unstable_by(|one, other| {
            let behind = |item: &Item| &url(item.at())[depth..];
            behind(one).cmp(behind(other)).then(one.at().cmp(&other.at()))
        });
    }
    let first = &url(items[0].at())[depth..];
    let common = |first: &'u [u8], item: &Item| &first[..common_bytes(first, &url(item.at())[depth..])];
    let depth = depth + items.iter().fold(first, common).len();
    items
        .iter_mut()
        .for_each(|item| *item = Item::new(sixteen(url(item.at()), depth) >> u32::BITS, item.at()));
    items.sort_unstable();
    for group in items.chunk_by_mut(|one, other| one.twelve() == other.twelve()) {
        // A zero at the end is no byte of a URL: they end here, all at the same byte, and are equal.
        if group.len() > 1 && group[0].twelve() & 0xFF != 0 {
            sort(group, url, depth + TWELVE);
        }
    }
}

/// The sixteen bytes of `url` from `depth` on, zeros behind its end, as a number that compares as they do.
#[inline]
fn sixteen(url: &[u8], depth: usize) -> u128 {
    let rest = url.get(depth..).unwrap_or_default();
    match rest.first_chunk() {
        Some(&bytes) => u128::from_be_bytes(bytes),
        None => {
            let mut bytes = [0; size_of::<u128>()];
            bytes[..rest.len()].copy_from_slice(rest);
            u128::from_be_bytes(bytes)
        }
    }
}

/// Bytes that are compared at once.
const WORD: usize = size_of::<u64>();

/// How many bytes both begin with.
#[inline]
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    let (words, other_words) = (one.as_chunks::<WORD>().0, other.as_chunks::<WORD>().0);
    for (at, (&word, &other)) in words.iter().zip(other_words).enumerate() {
        let differing = u64::from_le_bytes(word) ^ u64::from_le_bytes(other);
        if differing != 0 {
            return at * WORD + differing.trailing_zeros() as usize / 8;
        }
    }
    let same = WORD * words.len().min(other_words.len());
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

/// Most ranges that there is a use for.
pub const RANGES_MAX: usize = 8192;
const _: () = assert!(RANGES_MAX <= u16::MAX as usize);

/// Where ranges of URLs meet. Equal URLs are in the same range, and a range has nothing that comes before any of the one
/// before it.
#[derive(Debug)]
pub struct Splitters {
    /// The first URL of every range but the first, in order, no two equal.
    urls: Vec<Vec<u8>>,
    /// Bytes that all of them begin with.
    common: usize,
    /// The sixteen bytes behind these: seldom are two the same.
    sixteens: Vec<u128>,
    /// How many of them come before all that begin with two given bytes: there are seldom more than a few between these
    /// and the next two.
    from: Vec<u16>,
}

/// The first two of sixteen bytes.
fn two(sixteen: u128) -> usize {
    (sixteen >> (u128::BITS - u16::BITS)) as usize
}

impl Splitters {
    /// At most `ranges` ranges, and [`RANGES_MAX`], about as large as each other if `sample` is like the URLs that will come.
    pub fn of_sample(mut sample: Vec<Vec<u8>>, ranges: usize) -> Self {
        sample.sort_unstable();
        let (sorted, ranges) = (sample, ranges.min(RANGES_MAX));
        let mut urls: Vec<Vec<u8>> = (1..ranges)
            .filter_map(|n| sorted.get(n * sorted.len() / ranges))
            .map(|url| url.to_vec())
            .collect();
        urls.dedup();
        let common = match (urls.first(), urls.last()) {
            (Some(first), Some(last)) => common_bytes(first, last),
            _ => 0,
        };
        let sixteens: Vec<u128> = urls.iter().map(|url| sixteen(url, common)).collect();
        let mut from = vec![0; (1 << u16::BITS) + 1];
        // How many begin with each, then how many come before.
        sixteens.iter().for_each(|&sixteen| from[two(sixteen) + 1] += 1);
        (1..from.len()).for_each(|at| from[at] += from[at - 1]);
        Self { urls, common, sixteens, from }
    }

    /// How many ranges there are.
    pub fn ranges(&self) -> usize {
        self.urls.len() + 1
    }

    /// The range of `url`, from 0.
    pub fn range_of(&self, url: &[u8]) -> usize {
        let Some(first) = self.urls.first() else { return 0 };
        let head = &url[..url.len().min(self.common)];
        if head != &first[..self.common] {
            return if head < &first[..self.common] { 0 } else { self.urls.len() };
        }
        let own = sixteen(url, self.common);
        let (from, to) = (self.from[two(own)] as usize, self.from[two(own) + 1] as usize);
        let from = from + self.sixteens[from..to].partition_point(|&sixteen| sixteen < own);
        let equal = self.sixteens[from..].iter().take_while(|&&sixteen| sixteen == own).count();
        from + self.urls[from..from + equal].partition_point(|splitter| &splitter[..] <= url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// URLs that share beginnings of every length, some of them equal.
    fn urls() -> Vec<Vec<u8>> {
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let words =
            ["a", "b", "ab", "abcdefgh", "abcdefghijkl", "abcdefghijkm", "abcdefghabcdefgh", "\u{7e}"];
        let mut url = |parts| {
            let parts = (0..parts).map(|_| words[next(words.len() as u64) as usize]);
            ["http://h.example/"].into_iter().chain(parts).collect::<String>().into_bytes()
        };
        (0..3_000).map(|n| url(n % 9)).collect()
    }

    #[test]
    fn urls_are_in_byte_order_and_equal_ones_in_that_of_the_input() {
        for count in [0, 1, 2, FEW, FEW + 1, 100, 3_000] {
            let urls = &urls()[..count];
            let mut plain: Vec<u32> = (0..count as u32).collect();
            plain.sort_by_key(|&at| &urls[at as usize]);
            assert!(order(count as u32, |at| &urls[at as usize]).unwrap().eq(plain), "{count}");
        }
    }

    #[test]
    fn ranges_follow_each_other_and_part_no_equals() {
        let urls = urls();
        let sample: Vec<Vec<u8>> = urls.iter().step_by(7).cloned().collect();
        for ranges in [1, 2, 3, 50, 5_000] {
            let splitters = Splitters::of_sample(sample.clone(), ranges);
            assert!(splitters.ranges() <= ranges);
            let mut sorted: Vec<&[u8]> = urls.iter().map(Vec::as_slice).collect();
            sorted.extend([&b"a"[..], b"http://h", b"http://h.example/", b"https://"]);
            sorted.sort_unstable();
            let of: Vec<usize> = sorted.iter().map(|url| splitters.range_of(url)).collect();
            assert!(of.is_sorted());
            for (url, range) in sorted.iter().zip(of) {
                assert_eq!(range, splitters.urls.iter().filter(|splitter| &splitter[..] <= *url).count());
            }
        }
    }
}
