//! Sorts the rows of a diff, on disk if they do not fit in memory.

use std::fs::File;
use std::io;

use crate::common::external_sort::{self, Codec};
use crate::common::field;

/// A URL and its `lastmod`.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UrlRow {
    loc: Vec<u8>,
    lastmod: Vec<u8>,
}

impl UrlRow {
    /// Returns the URL.
    pub fn loc(&self) -> &[u8] {
        &self.loc
    }

    /// Returns its `lastmod`, or an empty slice if it has none.
    pub fn lastmod(&self) -> &[u8] {
        &self.lastmod
    }

    fn set(&mut self, loc: &[u8], lastmod: &[u8]) {
        self.loc.clear();
        self.loc.extend_from_slice(loc);
        self.lastmod.clear();
        self.lastmod.extend_from_slice(lastmod);
    }
}

/// Rows are encoded as two fields: the URL, and its `lastmod`.
#[derive(Debug, Clone)]
pub struct RowCodec;

impl Codec for RowCodec {
    type View<'b> = (&'b [u8], &'b [u8]);
    type Owned = UrlRow;

    fn encode(&self, (loc, lastmod): (&[u8], &[u8]), bytes: &mut Vec<u8>) {
        field::push(loc, bytes);
        field::push(lastmod, bytes);
    }

    fn decode<'b>(&self, bytes: &'b [u8]) -> Option<((&'b [u8], &'b [u8]), usize)> {
        let (loc, rest) = field::split(bytes)?;
        let (lastmod, rest) = field::split(rest)?;
        Some(((loc, lastmod), bytes.len() - rest.len()))
    }

    fn store(&self, (loc, lastmod): (&[u8], &[u8]), row: &mut UrlRow) {
        row.set(loc, lastmod);
    }
}

/// Receives rows in any order.
pub type Sorter<'p> = external_sort::Sorter<'p, RowCodec, File>;

/// Sorted rows, one per URL: of rows with the same URL, the one with the latest `lastmod`.
pub struct Sorted {
    rows: external_sort::Sorted<RowCodec, File>,
    /// A row that was read and not yet returned.
    ahead: Option<UrlRow>,
}

impl Sorted {
    /// Sorts the rows of `sorter`.
    ///
    /// # Errors
    /// If scratch cannot be used.
    pub fn of(sorter: Sorter<'_>) -> io::Result<Self> {
        Ok(Self { rows: sorter.finish()?, ahead: None })
    }

    /// Reads the next row. Returns false at the end.
    ///
    /// # Errors
    /// If scratch cannot be read.
    pub fn next(&mut self, row: &mut UrlRow) -> io::Result<bool> {
        match self.ahead.take() {
            Some(ahead) => *row = ahead,
            None if self.rows.read(row)? => {}
            None => return Ok(false),
        }
        let mut ahead = UrlRow::default();
        while self.rows.read(&mut ahead)? {
            if ahead.loc != row.loc {
                self.ahead = Some(ahead);
                break;
            }
            std::mem::swap(row, &mut ahead);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::stop::Stop;
    use crate::common::thread_pool::thread_pool;

    fn sorted(rows: &[(String, String)], memory: u64) -> (Vec<(String, String)>, usize) {
        let pool = thread_pool(2, "sort", &Stop::default()).unwrap();
        let mut sorter = Sorter::new(RowCodec, &pool, memory, std::env::temp_dir());
        rows.iter().for_each(|(loc, lastmod)| sorter.push((loc.as_bytes(), lastmod.as_bytes())).unwrap());
        let runs = sorter.runs_count();
        let (mut sorted, mut all, mut row) = (Sorted::of(sorter).unwrap(), Vec::new(), UrlRow::default());
        while sorted.next(&mut row).unwrap() {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            all.push((text(row.loc()), text(row.lastmod())));
        }
        (all, runs)
    }

    #[test]
    fn rows_come_out_in_order_and_once_with_any_amount_of_memory() {
        // Lengths from 0 to more than a buffer holds, prefixes of each other, and a third of them twice.
        let loc = |n: usize| format!("{}{}", n * 7919 % 10_007, "/".repeat(n * n % 97 * (n % 13)));
        let rows: Vec<(String, String)> = (0..9_000)
            .map(|n| (loc(n % 6_000), if n % 3 == 0 { String::new() } else { n.to_string() }))
            .collect();
        let mut want = std::collections::BTreeMap::new();
        for (loc, lastmod) in &rows {
            let newest: &mut String = want.entry(loc.clone()).or_default();
            *newest = newest.clone().max(lastmod.clone());
        }
        let want: Vec<(String, String)> = want.into_iter().collect();
        for (memory, runs_min) in [(64 << 20, 0), (1 << 20, 2), (40_000, 50), (0, 8_999)] {
            let (all, runs) = sorted(&rows, memory);
            assert!(runs >= runs_min && (runs == 0) == (runs_min == 0), "{runs} runs of {memory} bytes");
            assert!(all == want, "{memory} bytes");
        }
        assert_eq!(sorted(&[], 0).0, []);
    }
}
