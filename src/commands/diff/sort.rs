//! Sorting of more URLs than memory holds: sorted runs in one scratch file, and a merge of them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::slice::ParallelSliceMut;

use crate::common::merge::{Merge, SortedRun};
use crate::intake::scratch::nameless;

/// Least bytes that the merge reads of a run at a time. Memory passes its bound if there are more runs than it holds of
/// these: with the default, beyond eight thousand runs of 128 MiB.
const READ_BYTES_MIN: usize = 16 * 1024;

/// A URL and its `lastmod`.
#[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    loc: Vec<u8>,
    lastmod: Vec<u8>,
}

impl Row {
    /// The URL.
    pub fn loc(&self) -> &[u8] {
        &self.loc
    }

    /// Its `lastmod`; empty if there is none.
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

/// Where a row is in `text`: 8 bytes besides its own.
#[derive(Debug, Clone, Copy)]
struct RowAt {
    at: u32,
    loc: u16,
    lastmod: u16,
}

impl RowAt {
    fn row(self, text: &[u8]) -> (&[u8], &[u8]) {
        let text = &text[self.at as usize..];
        let (loc, behind) = text.split_at(self.loc.into());
        (loc, &behind[..self.lastmod.into()])
    }
}

/// Takes rows in any order.
pub struct Sorter {
    /// Bytes of `text` and `places` together.
    memory: usize,
    scratch: PathBuf,
    text: Vec<u8>,
    places: Vec<RowAt>,
    file: Option<BufWriter<File>>,
    runs: Vec<Range<u64>>,
}

impl Sorter {
    /// Holds rows of `memory` bytes, at most 4 GiB, and puts what is more into a file in `scratch` that has no name.
    pub fn new(memory: u64, scratch: &Path) -> Self {
        let memory = usize::try_from(memory.min(u32::MAX.into())).unwrap_or(usize::MAX);
        let (text, places, runs) = (Vec::new(), Vec::new(), Vec::new());
        Self { memory, scratch: scratch.into(), text, places, file: None, runs }
    }

    /// The directory of the file.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Takes a row.
    ///
    /// # Errors
    /// If memory is full and scratch cannot be written to, or the row is too long to be one.
    pub fn push(&mut self, loc: &[u8], lastmod: &[u8]) -> io::Result<()> {
        let bytes =
            self.text.len() + (self.places.len() + 1) * size_of::<RowAt>() + loc.len() + lastmod.len();
        if bytes > self.memory && !self.places.is_empty() {
            self.spill()?;
        }
        let length = |field: &[u8]| u16::try_from(field.len()).map_err(io::Error::other);
        let at = u32::try_from(self.text.len()).map_err(io::Error::other)?;
        reserve(&mut self.text, loc.len() + lastmod.len(), self.memory);
        reserve(&mut self.places, 1, self.memory / size_of::<RowAt>());
        self.places.push(RowAt { at, loc: length(loc)?, lastmod: length(lastmod)? });
        self.text.extend_from_slice(loc);
        self.text.extend_from_slice(lastmod);
        Ok(())
    }

    /// Rows in the order of their bytes.
    ///
    /// # Errors
    /// If scratch cannot be used.
    pub fn finish(mut self) -> io::Result<Sorted> {
        if self.file.is_none() {
            self.sort();
            let Self { text, places, .. } = self;
            return Ok(Sorted { rows: Rows::InMemory { text, places, next: 0 }, ahead: None });
        }
        self.spill()?;
        let file = self.file.take().expect("it was written to");
        let file = Arc::new(file.into_inner().map_err(io::IntoInnerError::into_error)?);
        let each = (self.memory / self.runs.len()).clamp(READ_BYTES_MIN, 1 << 20);
        // Before the buffers of the merge are there.
        (self.text, self.places) = (Vec::new(), Vec::new());
        let run = |left| Run { file: Arc::clone(&file), left, buffer: Vec::new(), at: 0, each };
        Ok(Sorted { rows: Rows::Merged(Merge::new(self.runs.into_iter().map(run))?), ahead: None })
    }

    fn sort(&mut self) {
        let text = &self.text;
        self.places.par_sort_unstable_by(|a, b| a.row(text).cmp(&b.row(text)));
    }

    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        if self.file.is_none() {
            self.file = Some(BufWriter::with_capacity(1 << 18, nameless(&self.scratch)?));
        }
        let file = self.file.as_mut().expect("it was made");
        let start = self.runs.last().map_or(0, |run| run.end);
        let mut end = start;
        for place in &self.places {
            let (loc, lastmod) = place.row(&self.text);
            file.write_all(&place.loc.to_le_bytes())?;
            file.write_all(&place.lastmod.to_le_bytes())?;
            file.write_all(loc)?;
            file.write_all(lastmod)?;
            end += 4 + loc.len() as u64 + lastmod.len() as u64;
        }
        self.runs.push(start..end);
        self.text.clear();
        self.places.clear();
        Ok(())
    }
}

/// Room for `more`, by doubling, but never beyond what may be used.
fn reserve<T>(vec: &mut Vec<T>, more: usize, max: usize) {
    if vec.capacity() - vec.len() < more {
        let wanted = (2 * vec.capacity()).clamp(vec.len() + more, max.max(vec.len() + more));
        vec.reserve_exact(wanted - vec.len());
    }
}

/// Rows in order, one for each URL: of equal ones the one with the latest `lastmod`.
pub struct Sorted {
    rows: Rows,
    /// Read already, and not given out.
    ahead: Option<Row>,
}

enum Rows {
    InMemory { text: Vec<u8>, places: Vec<RowAt>, next: usize },
    Merged(Merge<Run>),
}

impl Sorted {
    /// The next row; false at the end.
    ///
    /// # Errors
    /// If scratch cannot be read.
    pub fn next(&mut self, row: &mut Row) -> io::Result<bool> {
        match self.ahead.take() {
            Some(ahead) => *row = ahead,
            None if self.rows.next(row)? => {}
            None => return Ok(false),
        }
        let mut ahead = Row::default();
        while self.rows.next(&mut ahead)? {
            if ahead.loc != row.loc {
                self.ahead = Some(ahead);
                break;
            }
            std::mem::swap(row, &mut ahead);
        }
        Ok(true)
    }
}

impl Rows {
    fn next(&mut self, row: &mut Row) -> io::Result<bool> {
        match self {
            Self::InMemory { text, places, next } => {
                let Some(place) = places.get(*next) else { return Ok(false) };
                *next += 1;
                let (loc, lastmod) = place.row(text);
                row.set(loc, lastmod);
                Ok(true)
            }
            Self::Merged(runs) => runs.read(row),
        }
    }
}

/// A sorted run in scratch.
struct Run {
    file: Arc<File>,
    left: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes that are read at a time.
    each: usize,
}

impl SortedRun for Run {
    type Item = Row;
    type Error = io::Error;

    fn read(&mut self, row: &mut Row) -> io::Result<bool> {
        if self.at == self.buffer.len() && self.left.is_empty() {
            return Ok(false);
        }
        let length = |two: &[u8]| usize::from(u16::from_le_bytes([two[0], two[1]]));
        let lengths = self.take(4)?;
        let [loc, lastmod] = [length(lengths), length(&lengths[2..])];
        let (loc, lastmod) = self.take(loc + lastmod)?.split_at(loc);
        row.set(loc, lastmod);
        Ok(true)
    }
}

impl Run {
    fn take(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.at < bytes {
            self.buffer.drain(..self.at);
            self.at = 0;
            let have = self.buffer.len();
            let left = usize::try_from(self.left.end - self.left.start).unwrap_or(usize::MAX);
            let more = left.min(self.each.max(bytes) - have);
            self.buffer.resize(have + more, 0);
            self.file.read_exact_at(&mut self.buffer[have..], self.left.start)?;
            self.left.start += more as u64;
        }
        let start = self.at;
        self.at += bytes;
        self.buffer.get(start..self.at).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(rows: &[(String, String)], memory: u64) -> (Vec<(String, String)>, usize) {
        let mut sorter = Sorter::new(memory, &std::env::temp_dir());
        rows.iter().for_each(|(loc, lastmod)| sorter.push(loc.as_bytes(), lastmod.as_bytes()).unwrap());
        let runs = sorter.runs.len();
        let (mut sorted, mut all, mut row) = (sorter.finish().unwrap(), Vec::new(), Row::default());
        while sorted.next(&mut row).unwrap() {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            all.push((text(row.loc()), text(row.lastmod())));
        }
        (all, runs)
    }

    #[test]
    fn rows_come_out_in_order_and_once_however_little_memory_there_is() {
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
