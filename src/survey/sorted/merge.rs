//! Merge: sorted runs become one, without more of them in memory than the entry that each has come to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::range::Placed;
use crate::intake::input::Input;

/// The entries of all runs in the order of their URLs.
pub struct Merge<'a> {
    runs: Vec<Box<dyn Iterator<Item = Placed<'a>> + 'a>>,
    heads: BinaryHeap<Reverse<Head<'a>>>,
}

/// The entry that a run has come to. They compare by their URLs, then by their runs.
struct Head<'a> {
    placed: Placed<'a>,
    run: usize,
}

impl<'a> Head<'a> {
    fn key(&self) -> (&'a [u8], usize) {
        (self.placed.url, self.run)
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Head<'_> {}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<'a> Merge<'a> {
    /// `runs` are blocks of the scratch file `bytes`, each run sorted; the entries are in `files`.
    pub fn new(bytes: &'a [u8], runs: Vec<Vec<Range<usize>>>, files: &'a [Input]) -> Self {
        let mut merge = Self { runs: Vec::with_capacity(runs.len()), heads: BinaryHeap::new() };
        for (run, blocks) in runs.into_iter().enumerate() {
            let entries = blocks.into_iter().flat_map(|block| Placed::all_of(&bytes[block], files));
            merge.runs.push(Box::new(entries));
            merge.advance(run);
        }
        merge
    }

    fn advance(&mut self, run: usize) {
        self.heads.extend(self.runs[run].next().map(|placed| Reverse(Head { placed, run })));
    }
}

impl<'a> Iterator for Merge<'a> {
    type Item = Placed<'a>;

    fn next(&mut self) -> Option<Placed<'a>> {
        let Reverse(Head { placed, run }) = self.heads.pop()?;
        self.advance(run);
        Some(placed)
    }
}
