//! Sorts URLs in byte order, and splits a set that is too large for memory into ranges.
//!
//! URLs share long prefixes, so most of a comparison of whole URLs is spent on equal bytes. Here, the twelve bytes after the
//! common prefix of a group are compared as one number. URLs that are still equal form a group that is sorted in turn.

use crate::common::prefetch;
use crate::common::simd::{self, common_bytes};
use crate::error::{Result, reserve};

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
        items.get(at + prefetch::AHEAD).into_iter().for_each(fetch);
        common = common_bytes(&first[..common], &url(item.at())[depth..]);
    }
    let depth = depth + common;
    items.iter_mut().for_each(|item| *item = Item::new(url(item.at()), depth, item.at()));
    sort(items, url, depth);
}

/// The sixteen bytes of `url` from `depth` on, padded with zeros, as a number that compares like the bytes.
#[inline]
fn sixteen(url: &[u8], depth: usize) -> u128 {
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

/// Maximum number of ranges.
pub const RANGES_MAX: usize = 8192;

/// The URLs that separate ranges. Equal URLs are in one range, and every URL of a range is greater than all URLs of the range
/// before.
#[derive(Debug)]
pub struct Splitters {
    /// The first URL of every range but the first, in order, no two equal.
    urls: Vec<Vec<u8>>,
    /// Finds the range of a URL.
    root: Node,
}

/// Bytes of a URL that a node compares at once.
const SIXTEEN: usize = size_of::<u128>();

/// Adjacent splitters that begin with the same bytes. Most URLs are told apart by the sixteen bytes after these; splitters that
/// share them too are in a node of their own.
#[derive(Debug)]
struct Node {
    /// The number of bytes that are known to be equal when a URL comes to this node.
    known: usize,
    /// The bytes after them that all splitters of the node share.
    common: Vec<u8>,
    /// The distinct sixteen bytes after those, in order.
    sixteens: Vec<u128>,
    /// `sixteens` as a complete tree, level by level, padded with the greatest number.
    tree: Vec<[u128; WAYS - 1]>,
    levels: u32,
    /// The index of the first splitter with each of `sixteens`, and the index after the last splitter.
    starts: Vec<usize>,
    /// The splitters with each of `sixteens`, if there are several.
    deeper: Vec<Option<Node>>,
}

/// The state of a search.
enum Step<'s> {
    /// The URL must be compared with the splitters of this node.
    At(&'s Node),
    /// Its range is known.
    Found(usize),
}

/// Branching factor of the search tree of splitters. The comparisons of a node are independent, so they run in parallel.
const WAYS: usize = 4;

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
        Self::of_sorted(urls)
    }

    /// The ranges that begin with each of `urls`, which are sorted and distinct, and the range before the first of them.
    pub fn of_sorted(urls: Vec<Vec<u8>>) -> Self {
        let root = Node::new(&urls, 0, 0);
        Self { urls, root }
    }

    /// The number of ranges.
    pub fn ranges(&self) -> usize {
        self.urls.len() + 1
    }

    /// The number of the range of `url`, from 0.
    #[inline]
    pub fn range_of(&self, url: &[u8]) -> usize {
        self.range_from(&self.root, url)
    }

    /// The number of the range of `url`, searched from `node` on.
    #[inline]
    fn range_from<'s>(&'s self, mut node: &'s Node, url: &[u8]) -> usize {
        loop {
            match self.step(node, url) {
                Step::At(deeper) => node = deeper,
                Step::Found(range) => return range,
            }
        }
    }

    /// The number of the range of each of `urls`. Each step of a search waits for the one before, so the searches take turns.
    #[inline]
    pub fn ranges_of<const URLS: usize>(&self, urls: [&[u8]; URLS]) -> [usize; URLS] {
        let Node { known, common, .. } = &self.root;
        let begin_alike = urls.iter().all(|url| simd::starts_with(&url[*known..], common));
        if !begin_alike {
            return urls.map(|url| self.range_of(url));
        }
        let own = urls.map(|url| sixteen(url, known + common.len()));
        let mut at = self.root.first_not_below(own);
        for ((at, own), url) in at.iter_mut().zip(own).zip(urls) {
            *at = match self.after(&self.root, *at, own, url) {
                Step::Found(range) => range,
                Step::At(node) => self.range_from(node, url),
            };
        }
        at
    }

    /// Compares `url` with the splitters of `node`.
    #[inline(always)]
    fn step<'s>(&'s self, node: &'s Node, url: &[u8]) -> Step<'s> {
        let rest = &url[node.known..];
        if !simd::starts_with(rest, &node.common) {
            let first_after = if *rest < node.common[..] { 0 } else { node.sixteens.len() };
            return Step::Found(node.starts[first_after]);
        }
        let own = sixteen(rest, node.common.len());
        let [at] = node.first_not_below([own]);
        self.after(node, at, own, url)
    }

    /// Continues the search for `url` in `node`, in which `at` sixteens are less than its `own`.
    #[inline(always)]
    fn after<'s>(&'s self, node: &'s Node, at: usize, own: u128, url: &[u8]) -> Step<'s> {
        let start = node.starts[at];
        if node.sixteens.get(at) != Some(&own) {
            return Step::Found(start);
        }
        match &node.deeper[at] {
            Some(deeper) => Step::At(deeper),
            None => Step::Found(start + usize::from(&self.urls[start][..] <= url)),
        }
    }

    /// A prefix that all URLs of `range` share.
    pub fn prefix(&self, range: usize) -> &[u8] {
        match self.urls.get(range.wrapping_sub(1)..=range) {
            Some([first, next]) => &first[..common_bytes(first, next)],
            _ => &[],
        }
    }
}

impl Node {
    /// The node of `urls`, which are the splitters from the index `first` on and share at least `known` bytes.
    fn new(urls: &[Vec<u8>], first: usize, known: usize) -> Self {
        let common = match urls {
            [first, .., last] => first[known..known + common_bytes(&first[known..], &last[known..])].to_vec(),
            _ => Vec::new(),
        };
        let depth = known + common.len();
        let (mut sixteens, mut starts, mut deeper) = (Vec::new(), Vec::new(), Vec::new());
        let mut start = first;
        for group in urls.chunk_by(|one, other| sixteen(one, depth) == sixteen(other, depth)) {
            sixteens.push(sixteen(&group[0], depth));
            starts.push(start);
            // Several distinct URLs without a NUL do not end within the sixteen bytes that they share.
            deeper.push((group.len() > 1).then(|| Self::new(group, start, depth + SIXTEEN)));
            start += group.len();
        }
        starts.push(start);
        let levels = (sixteens.len() + 1).next_power_of_two().ilog2().div_ceil(WAYS.ilog2());
        let mut tree = Vec::new();
        for level in 0..levels {
            // From one of them to the next.
            let step = WAYS.pow(levels - level - 1);
            let at = |node: usize, n: usize| sixteens.get((node * WAYS + n + 1) * step - 1).copied();
            let node = |node: usize| std::array::from_fn(|n| at(node, n).unwrap_or(u128::MAX));
            tree.extend((0..WAYS.pow(level)).map(node));
        }
        Self { known, common, sixteens, tree, levels, starts, deeper }
    }

    /// Counts the sixteens that are less than each of `own`. It has no branches: URLs come in any order, so every other branch
    /// would be mispredicted.
    #[inline]
    fn first_not_below<const URLS: usize>(&self, own: [u128; URLS]) -> [usize; URLS] {
        let (mut level_at, mut nodes) = (0, [0; URLS]);
        for level in 0..self.levels {
            for (node, own) in nodes.iter_mut().zip(own) {
                let below = self.tree[level_at + *node].map(|sixteen| usize::from(sixteen < own));
                *node = *node * WAYS + below.into_iter().sum::<usize>();
            }
            level_at += 1 << (level * WAYS.ilog2());
        }
        nodes
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

    #[test]
    fn ranges_are_in_order_and_never_split_equal_urls() {
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
                assert!(url.starts_with(splitters.prefix(range)));
                assert_eq!(range, splitters.urls.iter().filter(|splitter| &splitter[..] <= *url).count());
            }
            for several in sorted.windows(7) {
                let several: [&[u8]; 7] = several.try_into().unwrap();
                assert_eq!(splitters.ranges_of(several), several.map(|url| splitters.range_of(url)));
            }
        }
    }
}
