//! Frequent keys: counts the keys that occur most often, in bounded memory. The result depends only on the counts and their order.
//!
//! Up to [`HELD_MAX`] keys, all counts are exact. Beyond that this is a Misra-Gries summary: each time it grows too large, the same
//! number is subtracted from every count, and keys whose count reaches 0 are dropped. A key that occurs more often than the total
//! subtracted always survives. A second pass over the data counts the survivors exactly. Data with a key for each item costs this
//! second pass, but no more memory.

use std::cmp::Reverse;
use std::collections::HashMap;

/// Maximum number of keys that are counted at the same time.
pub const HELD_MAX: usize = 1 << 15;

/// The number of items by key.
pub type KeyCounts = HashMap<Box<[u8]>, u64>;

/// Adds up the counts of parts of the data.
#[derive(Debug, Default)]
pub struct FrequentKeys {
    counts: KeyCounts,
    /// The total subtracted so far: the maximum number of items missing from the count of any key.
    missed: u64,
    /// Whether this is the second pass, which counts exactly the keys already in `counts` and no others.
    is_recount: bool,
    items: u64,
}

impl FrequentKeys {
    /// Adds the counts of the next part. `counted` has no key without items. Call [`Self::cut`] after every few parts, always after
    /// the same ones: until then, all their keys are held, and inexact counts depend on where it is called.
    pub fn add(&mut self, counted: KeyCounts) {
        self.items += counted.values().sum::<u64>();
        for (key, items) in counted {
            match self.counts.get_mut(&key) {
                Some(count) => *count += items,
                None if self.is_recount => {}
                None => drop(self.counts.insert(key, items)),
            }
        }
    }

    /// Drops the rarest keys if there are too many. The counts depend on how many parts were added since the last time.
    pub fn cut(&mut self) {
        if !self.is_recount && self.counts.len() > HELD_MAX {
            let mut counts: Vec<u64> = self.counts.values().copied().collect();
            let (_, &mut surplus, _) = counts.select_nth_unstable_by_key(HELD_MAX, |&count| Reverse(count));
            self.missed += surplus;
            self.counts.retain(|_, count| {
                *count = count.saturating_sub(surplus);
                *count > 0
            });
        }
    }

    /// Whether the counts are inexact, so that all parts must be added again after [`Self::begin_recount`].
    pub fn needs_recount(&self) -> bool {
        self.missed > 0 && !self.is_recount
    }

    /// Resets all counts, to count exactly the keys that may be the most frequent ones, and those that are `wanted`.
    pub fn begin_recount<'w>(&mut self, wanted: impl Iterator<Item = &'w [u8]>) {
        self.counts.values_mut().for_each(|count| *count = 0);
        wanted.for_each(|key| _ = self.counts.entry(key.into()).or_insert(0));
        (self.is_recount, self.items) = (true, 0);
    }

    /// The number of all items.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The number of keys; `None` if some were dropped.
    pub fn distinct(&self) -> Option<u64> {
        (self.missed == 0).then_some(self.counts.len() as u64)
    }

    /// Takes a key out, with its count.
    pub fn remove(&mut self, key: &[u8]) -> Option<u64> {
        self.counts.remove(key)
    }

    /// The keys that are certain to be among the most frequent ones, with their counts: a dropped key has no more items than the
    /// total subtracted.
    pub fn certain(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.counts.iter().filter(|&(_, &items)| items > self.missed).map(|(key, &items)| (&**key, items))
    }
}
