//! Merge: combines sorted runs into one sorted sequence. Only the next item of each run is in memory.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// A sorted run that is read item by item.
pub trait SortedRun {
    /// The type of its items.
    type Item: Ord + Default;
    /// The error of a failed read.
    type Error;

    /// Replaces `item` with the next item, and may reuse its memory. Returns false at the end of the run.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read(&mut self, item: &mut Self::Item) -> Result<bool, Self::Error>;
}

/// Iterates over the items of all runs in order. Equal items come in the order of their runs.
pub struct Merge<R: SortedRun> {
    heads: BinaryHeap<Reverse<Head<R>>>,
}

impl<R: SortedRun> Merge<R> {
    /// Reads the first item of each of `runs`.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn new(runs: impl IntoIterator<Item = R>) -> Result<Self, R::Error> {
        let mut heads = BinaryHeap::new();
        for (number, mut run) in runs.into_iter().enumerate() {
            let mut item = R::Item::default();
            if run.read(&mut item)? {
                heads.push(Reverse(Head { item, number, run }));
            }
        }
        Ok(Self { heads })
    }

    /// Swaps the next item into `item`, whose memory is reused. Returns false at the end of all runs.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn read(&mut self, item: &mut R::Item) -> Result<bool, R::Error> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(false) };
        let Reverse(Head { item: next, run, .. }) = &mut *head;
        std::mem::swap(item, next);
        if !run.read(next)? {
            PeekMut::pop(head);
        }
        Ok(true)
    }
}

/// The next item of a run, and the rest of the run.
struct Head<R: SortedRun> {
    item: R::Item,
    /// The number of the run, from 0.
    number: usize,
    run: R,
}

impl<R: SortedRun> PartialEq for Head<R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<R: SortedRun> Eq for Head<R> {}

impl<R: SortedRun> PartialOrd for Head<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R: SortedRun> Ord for Head<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.item.cmp(&other.item).then(self.number.cmp(&other.number))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// Items that are already sorted.
    impl<I: Iterator<Item: Ord + Default>> SortedRun for I {
        type Item = I::Item;
        type Error = Infallible;

        fn read(&mut self, item: &mut I::Item) -> Result<bool, Infallible> {
            let next = self.next();
            let is_there = next.is_some();
            next.into_iter().for_each(|next| *item = next);
            Ok(is_there)
        }
    }

    /// An item that compares by its first number alone.
    #[derive(Debug, Default, Clone, Copy)]
    struct ByKey(u64, usize);

    impl PartialEq for ByKey {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }

    impl Eq for ByKey {}

    impl PartialOrd for ByKey {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for ByKey {
        fn cmp(&self, other: &Self) -> Ordering {
            self.0.cmp(&other.0)
        }
    }

    #[test]
    fn merging_runs_gives_the_same_result_as_a_stable_sort() {
        for count in [0, 1, 2, 3, 17] {
            // Runs of different lengths, some of them empty, with keys that occur in several runs and several times in one.
            let runs: Vec<Vec<ByKey>> = (0..count)
                .map(|run: u64| (0..run * 5 % 11).map(|n| ByKey(n * (run + 1) / 4, run as usize)).collect())
                .collect();
            let mut want = runs.concat();
            want.sort();
            let Ok(mut merge) = Merge::new(runs.iter().map(|run| run.iter().copied()));
            let (mut got, mut item) = (Vec::new(), ByKey::default());
            while let Ok(true) = merge.read(&mut item) {
                got.push(item);
            }
            let all = |items: &[ByKey]| items.iter().map(|item| (item.0, item.1)).collect::<Vec<_>>();
            assert_eq!(all(&got), all(&want), "{count} runs");
        }
    }

    #[test]
    fn a_run_that_cannot_be_read_ends_the_merge_with_its_error() {
        struct Broken(u32);

        impl SortedRun for Broken {
            type Item = u32;
            type Error = &'static str;

            fn read(&mut self, item: &mut u32) -> Result<bool, &'static str> {
                self.0 = self.0.checked_sub(1).ok_or("broken")?;
                *item = 7;
                Ok(true)
            }
        }

        assert_eq!(Merge::new([Broken(1), Broken(0)]).err(), Some("broken"));
        let mut merge = Merge::new([Broken(2)]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!([merge.read(&mut 0), merge.read(&mut 0)], [Ok(true), Err("broken")]);
    }
}
