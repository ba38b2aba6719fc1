//! Regions of a sorted set: finds its borders while it is sorted, and cuts blocks before them.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

use crate::clean::CleanUrl;
use crate::common::fallible::{list, reserve};
use crate::error::{Error, ErrorKind, Result};
use crate::intake::input::Input;
use crate::sitemap::divide::EntrySize;
use crate::sitemap::divide::borders::{BorderHash, Smallest, spares};
use crate::sitemap::divide::stable::SmallestMark;
use crate::sitemap::entry::Entry;
use crate::survey::chunk::{Chunk, RowsAt};
use crate::survey::front_coded::FrontDecoder;
use crate::survey::in_place::PositionReader;
use crate::survey::layout::ListedChunk;

/// Finds the borders, and spare ones, among the URLs that the threads list.
pub struct BorderSearch {
    /// The smallest URLs of all threads, if any borders are wanted.
    smallest: Option<Mutex<Smallest>>,
}

impl BorderSearch {
    /// A search for `wanted` borders.
    pub fn new(wanted: usize) -> Self {
        let list = || Mutex::new(Smallest::new(wanted + spares(wanted)));
        Self { smallest: (wanted > 0).then(list) }
    }

    /// The list that a thread adds URLs to, if any borders are wanted.
    pub fn candidates(&self) -> Option<Candidates<'_>> {
        let shared = self.smallest.as_ref()?;
        Some(Candidates { shared, bound: lock(shared).bound() })
    }

    /// The URLs from which borders are chosen: at least as many as were wanted, or all. `None` if none were wanted.
    pub fn into_candidates(self) -> Option<Smallest> {
        self.smallest.map(|smallest| smallest.into_inner().expect("no thread panics with the lock"))
    }
}

/// The list of smallest URLs as a thread sees it, which rarely needs to lock it.
pub struct Candidates<'s> {
    shared: &'s Mutex<Smallest>,
    /// The bound of the list when it was last locked. It only becomes smaller.
    bound: BorderHash,
}

impl Candidates<'_> {
    /// Adds the URL of a listed entry, unless its hash is too large.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[inline]
    pub fn push(&mut self, url: CleanUrl<'_>) -> Result<()> {
        // Almost all URLs end here.
        if BorderHash::of(url.as_bytes()) > self.bound { Ok(()) } else { self.add(url) }
    }

    #[cold]
    fn add(&mut self, url: CleanUrl<'_>) -> Result<()> {
        let mut shared = lock(self.shared);
        shared.push(url)?;
        self.bound = shared.bound();
        Ok(())
    }
}

fn lock(shared: &Mutex<Smallest>) -> MutexGuard<'_, Smallest> {
    shared.lock().expect("no thread panics with the lock")
}

/// Sorted chunks. Borders are the first entries of their chunks.
#[derive(Default)]
pub struct Regions {
    pub chunks: Vec<ListedChunk>,
    /// The size of the entries of each chunk.
    pub sizes: Vec<EntrySize>,
    /// The indexes of the chunks that begin with a border, in ascending order.
    pub borders: Vec<usize>,
}

impl Regions {
    /// Cuts `chunks` before each border. All their entries are listed, in order, and take `sizes`. `borders` are URLs of entries,
    /// in order.
    ///
    /// # Errors
    /// If there is no memory for more chunks. [`ErrorKind::Internal`] if a border is not the URL of an entry.
    pub fn of(
        chunks: Vec<ListedChunk>,
        sizes: Vec<EntrySize>,
        borders: &[String],
        files: &[Input],
    ) -> Result<Self> {
        if borders.is_empty() {
            return Ok(Self { chunks, sizes, borders: Vec::new() });
        }
        let begins_before = |chunk: &ListedChunk, border: &str| {
            let mut first = SortedReader::new(&chunk.chunk, files);
            first.next().is_some_and(|first| first.url.as_bytes() <= border.as_bytes())
        };
        let chunk_of = |border: &str| {
            let next = chunks.partition_point(|chunk| begins_before(chunk, border));
            next.saturating_sub(1)
        };
        let placed = list(borders.iter().map(|border| (chunk_of(border), border.as_bytes())))?;
        let mut regions = Self::default();
        reserve(&mut regions.chunks, chunks.len() + borders.len())?;
        reserve(&mut regions.sizes, chunks.len() + borders.len())?;
        reserve(&mut regions.borders, borders.len())?;
        let mut rest = &placed[..];
        for (at, (chunk, size)) in chunks.into_iter().zip(sizes).enumerate() {
            let (own, later) = rest.split_at(rest.partition_point(|&(chunk, _)| chunk == at));
            rest = later;
            match own {
                [] => regions.push(chunk, size),
                _ => regions.push_cut(chunk, own.iter().map(|&(_, border)| border), files)?,
            }
        }
        Ok(regions)
    }

    fn push(&mut self, chunk: ListedChunk, size: EntrySize) {
        self.chunks.push(chunk);
        self.sizes.push(size);
    }

    /// Adds the slices of `chunk` before, between and after `borders`.
    fn push_cut<'b>(
        &mut self,
        chunk: ListedChunk,
        borders: impl Iterator<Item = &'b [u8]>,
        files: &[Input],
    ) -> Result<()> {
        let input = chunk.chunk.input;
        let mut borders = borders.peekable();
        let mut slice = ChunkSlice::default();
        let mut rest = 0;
        let mut end = |slice: &mut ChunkSlice, regions: &mut Self| {
            let ChunkSlice { entries, size, smallest_mark } = std::mem::take(slice);
            if entries > 0 {
                let of_slice = rest..rest + entries as usize;
                rest = of_slice.end;
                let rows = slice_of(&chunk.chunk.rows, of_slice);
                regions
                    .push(ListedChunk { smallest_mark, ..ListedChunk::whole(input, rows, entries)? }, size);
            }
            Ok::<_, Error>(())
        };
        let mut reader = SortedReader::new(&chunk.chunk, files);
        while let Some(entry) = reader.next() {
            if borders.next_if_eq(&entry.url.as_bytes()).is_some() {
                end(&mut slice, self)?;
                self.borders.push(self.chunks.len());
            }
            slice.add(&entry);
        }
        end(&mut slice, self)?;
        match borders.next() {
            None => Ok(()),
            Some(_) => Err(Error::new(ErrorKind::Internal, "a border is not among the listed URLs")),
        }
    }
}

/// Adjacent entries of a chunk.
#[derive(Default)]
struct ChunkSlice {
    entries: u32,
    size: EntrySize,
    smallest_mark: Option<SmallestMark>,
}

impl ChunkSlice {
    fn add(&mut self, entry: &Entry<'_>) {
        self.smallest_mark = Some(SmallestMark::or(self.smallest_mark, self.entries as usize, entry.url));
        self.size = self.size + entry.size();
        self.entries += 1;
    }
}

/// Reads all entries of a sorted block.
enum SortedReader<'b> {
    FrontCoded(FrontDecoder<'b>),
    InPlace(PositionReader<'b>),
}

impl<'b> SortedReader<'b> {
    /// Reads the block of `chunk`, which is in `files`.
    fn new(chunk: &Chunk, files: &'b [Input]) -> Self {
        let block = |range: &Range<usize>| &files[chunk.input].bytes()[range.clone()];
        match &chunk.rows {
            RowsAt::FrontCoded { block: range, .. } => Self::FrontCoded(FrontDecoder::new(block(range))),
            RowsAt::InPlace { block: range, .. } => {
                Self::InPlace(PositionReader::new(block(range), files, 0))
            }
            _ => unreachable!("{SORTED}"),
        }
    }

    fn next(&mut self) -> Option<Entry<'_>> {
        match self {
            Self::FrontCoded(decoder) => decoder.next(),
            Self::InPlace(reader) => reader.next(),
        }
    }
}

/// The slice of sorted `rows` with these `entries` of their block.
fn slice_of(rows: &RowsAt, entries: Range<usize>) -> RowsAt {
    match rows {
        RowsAt::FrontCoded { block, .. } => RowsAt::FrontCoded { block: block.clone(), entries },
        RowsAt::InPlace { block, .. } => RowsAt::InPlace { block: block.clone(), entries },
        _ => unreachable!("{SORTED}"),
    }
}

const SORTED: &str = "sorted chunks are of sorted blocks";
