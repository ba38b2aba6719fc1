//! Splits URLs that are too many to be sorted at once into ranges.

use super::sort::{SIXTEEN, sixteen};
use crate::common::array;
use crate::common::simd::{self, common_bytes};

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
    /// Splits URLs into at most `ranges` ranges, and at most [`RANGES_MAX`]. They are about equal in size if `sample` is
    /// representative.
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
        for url in urls {
            if !simd::starts_with(&url[*known..], common) {
                return array::map(urls, |url| self.range_of(url));
            }
        }
        let own = array::map(urls, |url| sixteen(url, known + common.len()));
        let mut at = self.root.first_not_below(own);
        for nth in 0..URLS {
            at[nth] = match self.after(&self.root, at[nth], own[nth], urls[nth]) {
                Step::Found(range) => range,
                Step::At(node) => self.range_from(node, urls[nth]),
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

    /// The URL that `range` begins with. Empty for the first one, which has all URLs before the next.
    pub fn first(&self, range: usize) -> &[u8] {
        range.checked_sub(1).map_or(&[], |before| &self.urls[before])
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
            for nth in 0..URLS {
                let below =
                    array::map(self.tree[level_at + nodes[nth]], |sixteen| usize::from(sixteen < own[nth]));
                nodes[nth] = nodes[nth] * WAYS + below.into_iter().sum::<usize>();
            }
            level_at += 1 << (level * WAYS.ilog2());
        }
        nodes
    }
}

#[cfg(test)]
mod tests {
    use super::super::sort::tests::urls;
    use super::*;

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
