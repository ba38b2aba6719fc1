//! Blocks: rows that are sent from one process to another.
//!
//! ```text
//! block = magic (4) · rows (4) · stamp (8) · sum (8) · checksum (8) · body
//! body  = bytes of the tails (4) · bytes of the prefix (4) · bytes of the first URL (4) · bytes of the last URL (4)
//!         · first URL · last URL · tails in zstd
//! ```
//!
//! A tail is an entry without the prefix that all URLs of the block share: the start of the first URL. Tails are compressed because
//! an engine copies each block about ten times between memory, disks, sockets and machines. Level 1 takes less processor time than
//! one of these copies.
//!
//! Numbers are little-endian. The stamp says which run, or which region of a plan, the block belongs to. The sum is that of the
//! hashes of all rows, so it does not depend on their order. The checksum, XXH3 of the body seeded with the other numbers, finds
//! damage and not forgery: workers are trusted. The first and the last URL, in byte order, show whether all rows are in one
//! region, so such a block is sent there as it is.

use std::fmt;

use xxhash_rust::xxh3::xxh3_64_with_seed;
use zstd::bulk::{Compressor, Decompressor};

use super::order::FORMAT;
use crate::common::fallible::{copy, reserve};
use crate::common::prefetch;
use crate::error::{Error, Result};
use crate::intake::lines::CHUNK_URLS_MAX;
use crate::sitemap::divide::borders::BorderHash;
use crate::sitemap::entry::Entry;
use crate::sitemap::tags::TagCounts;
use crate::survey::sort::sixteen;
use crate::survey::tail::Tail;

/// `smb`, and the version of the format.
const MAGIC: [u8; 4] = [b's', b'm', b'b', FORMAT as u8];

/// Bytes before the body.
const HEADER_BYTES: usize = 32;

/// Bytes of the body before the URLs.
const BODY_NUMBERS_BYTES: usize = 16;

/// Maximum bytes of the tails of a block, so that a damaged header cannot fill the memory. A block ends soon after a megabyte,
/// and its last row may be large.
const BYTES_MAX: usize = 256 << 20;

/// The fastest level that compresses rows to a quarter. Faster ones save less time than an engine needs for the larger blocks.
const LEVEL: i32 = 1;

/// Bytes of most tails.
const TAIL_BYTES: usize = 64;

/// About as many bytes as an encoder or a decoder takes.
const CODER_BYTES: usize = 1 << 20;

/// The entries of a block.
#[derive(Debug)]
pub(super) struct Entries<'d> {
    pub rows: u32,
    /// The sum of their hashes.
    pub sum: u64,
    /// The common prefix of all URLs.
    pub prefix: &'d [u8],
    /// The tails of all entries.
    pub tails: &'d [u8],
}

impl Entries<'_> {
    /// Calls `act` with each entry. Fails in the end if there are more or fewer than the header says.
    pub fn try_for_each(&self, mut act: impl FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        let mut url = copy(self.prefix)?;
        self.try_for_each_tail(|tail| {
            url.truncate(self.prefix.len());
            url.extend_from_slice(tail.url);
            act(tail.entry(&url))
        })
    }

    /// Counts the tags of all entries. Fails if there are more or fewer entries than the header says.
    pub fn count_tags(&self, counts: &mut TagCounts) -> Result<()> {
        self.try_for_each_tail(|tail| {
            tail.entry(tail.url).count_tags(counts);
            Ok(())
        })
    }

    fn try_for_each_tail(&self, mut act: impl FnMut(Tail<'_>) -> Result<()>) -> Result<()> {
        let (mut tails, mut rows) = (self.tails, 0);
        while !tails.is_empty() {
            act(Tail::take(&mut tails))?;
            rows += 1;
        }
        match rows == self.rows {
            true => Ok(()),
            false => Err(damaged("does not have as many rows as its header says")),
        }
    }
}

/// The hash of an entry: of its URL and its tags.
pub(super) fn hash_of(entry: &Entry<'_>) -> u64 {
    hash_with(BorderHash::of(entry.url.as_bytes()), entry)
}

/// The hash of an entry, whose URL has the hash `url`.
#[inline]
pub(super) fn hash_with(url: BorderHash, entry: &Entry<'_>) -> u64 {
    match entry.is_plain() {
        true => url.number(),
        false => xxh3_64_with_seed(entry.tags, xxh3_64_with_seed(entry.extras.xml, url.number())),
    }
}

/// A block that is being filled. It fits in a cache line, because hundreds of them take turns.
#[derive(Debug)]
pub(super) struct Filling {
    /// The common prefix of all URLs.
    prefix: Box<[u8]>,
    tails: Vec<u8>,
    rows: usize,
    /// The sum of the hashes of its rows.
    sum: u64,
}

impl Filling {
    /// An empty block for URLs that begin with `prefix`.
    pub fn new(prefix: &[u8]) -> Self {
        Self { prefix: prefix.into(), tails: Vec::new(), rows: 0, sum: 0 }
    }

    /// Adds an entry, whose hash is `hash`.
    pub fn push(&mut self, entry: &Entry<'_>, hash: u64) {
        Tail::push(entry, self.prefix.len(), &mut self.tails);
        prefetch::fetch_room(&mut self.tails, TAIL_BYTES);
        self.rows += 1;
        self.sum = self.sum.wrapping_add(hash);
    }

    /// Returns whether its entries have reached `bytes_max` bytes, with whole URLs, or the maximum number of rows.
    pub fn is_full(&self, bytes_max: usize) -> bool {
        self.tails.len() + self.rows * self.prefix.len() >= bytes_max || self.rows == CHUNK_URLS_MAX
    }

    /// Returns the bytes of memory that it holds.
    pub fn held_bytes(&self) -> usize {
        self.tails.capacity()
    }

    /// Frees the memory. The block must have ended.
    pub fn let_go(&mut self) {
        self.tails = Vec::new();
    }

    /// Ends the block and returns it, if there are rows in it.
    pub fn end(&mut self, stamp: u64, encoder: &mut Encoder) -> Result<Option<Vec<u8>>> {
        let (rows, sum) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.sum));
        if rows == 0 {
            return Ok(None);
        }
        let prefix = &self.prefix[..];
        let (first, last) = ends(&self.tails);
        let parts = [prefix, first, prefix, last, encoder.compress(&self.tails)?];
        let mut block = Vec::new();
        let parts_bytes = parts.iter().map(|part| part.len()).sum::<usize>();
        reserve(&mut block, HEADER_BYTES + BODY_NUMBERS_BYTES + parts_bytes)?;
        block.extend([0; HEADER_BYTES]);
        for bytes in [self.tails.len(), prefix.len(), prefix.len() + first.len(), prefix.len() + last.len()] {
            block.extend(u32::try_from(bytes).expect("a block has few bytes").to_le_bytes());
        }
        parts.iter().for_each(|part| block.extend_from_slice(part));
        set_header(&mut block, u32::try_from(rows).expect("a block has few rows"), stamp, sum);
        self.tails.clear();
        Ok(Some(block))
    }
}

/// The first and the last of `tails` in byte order, of which there is at least one. They are compared when the block is complete,
/// because those of many blocks that take turns would not stay in the first-level cache.
fn ends(mut tails: &[u8]) -> (&[u8], &[u8]) {
    let mut next = || (!tails.is_empty()).then(|| Tail::take(&mut tails).url);
    let Some(one) = next() else { return (&[], &[]) };
    let (mut first, mut last) = (one, one);
    let (mut lowest, mut highest) = (sixteen(one, 0), sixteen(one, 0));
    while let Some(url) = next() {
        let own = sixteen(url, 0);
        if own <= lowest && url < first {
            (first, lowest) = (url, own);
        } else if own >= highest && url > last {
            (last, highest) = (url, own);
        }
    }
    (first, last)
}

/// Compresses blocks. Setting it up costs as much as a small block, so it is used for many.
pub(super) struct Encoder {
    compressor: Compressor<'static>,
    /// The last block, compressed.
    packed: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder of [`LEVEL`].
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for it.
    pub fn new() -> Result<Self> {
        let compressor = Compressor::new(LEVEL).map_err(|_| Error::no_memory(CODER_BYTES))?;
        Ok(Self { compressor, packed: Vec::new() })
    }

    /// Compresses `bytes`.
    fn compress(&mut self, bytes: &[u8]) -> Result<&[u8]> {
        let Self { compressor, packed } = self;
        packed.clear();
        reserve(packed, zstd::zstd_safe::compress_bound(bytes.len()))?;
        let compressed = compressor.compress_to_buffer(bytes, packed);
        compressed.map_err(|_| Error::no_memory(packed.capacity()))?;
        Ok(packed)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// Decompresses blocks. It is used for many, like [`Encoder`].
pub(super) struct Decoder {
    decompressor: Decompressor<'static>,
    /// The tails of the last block.
    tails: Vec<u8>,
}

impl Decoder {
    /// Creates a decoder.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for it.
    pub fn new() -> Result<Self> {
        let decompressor = Decompressor::new().map_err(|_| Error::no_memory(CODER_BYTES))?;
        Ok(Self { decompressor, tails: Vec::new() })
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// A block, after its checksum and its stamp were verified.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sealed<'b> {
    rows: u32,
    sum: u64,
    /// The first and the last URL in byte order.
    pub first: &'b [u8],
    pub last: &'b [u8],
    prefix: &'b [u8],
    tails_bytes: usize,
    packed: &'b [u8],
    whole: &'b [u8],
}

impl<'b> Sealed<'b> {
    /// Verifies `block`, whose stamp must be `stamp`.
    pub fn of(block: &'b [u8], stamp: u64) -> Result<Self> {
        let (header, body) =
            block.split_first_chunk::<HEADER_BYTES>().ok_or_else(|| damaged("is cut short"))?;
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
        if header[..MAGIC.len()] != MAGIC {
            return Err(damaged("was not made by this version of sitemill"));
        }
        let (rows, own_stamp, sum) = (short(header, MAGIC.len()), long(8), long(16));
        if long(24) != checksum(rows, own_stamp, sum, body) {
            return Err(damaged("does not match its checksum"));
        }
        if own_stamp != stamp {
            return Err(damaged("belongs to another run, plan or region"));
        }
        let sealed = body.split_first_chunk::<BODY_NUMBERS_BYTES>().and_then(|(numbers, rest)| {
            let [tails_bytes, of_prefix, of_first, of_last] =
                [0, 4, 8, 12].map(|at| short(numbers, at) as usize);
            let (first, rest) = rest.split_at_checked(of_first)?;
            let (last, packed) = rest.split_at_checked(of_last)?;
            let prefix = first.get(..of_prefix)?;
            Some(Self { rows, sum, first, last, prefix, tails_bytes, packed, whole: block })
        });
        sealed.ok_or_else(|| damaged("is cut short"))
    }

    /// Decompresses its entries.
    pub fn open<'d>(&self, decoder: &'d mut Decoder) -> Result<Entries<'d>>
    where
        'b: 'd,
    {
        let &Self { rows, sum, prefix, tails_bytes, packed, .. } = self;
        let Decoder { decompressor, tails } = decoder;
        tails.clear();
        if tails_bytes <= BYTES_MAX {
            reserve(tails, tails_bytes)?;
        }
        match decompressor.decompress_to_buffer(packed, tails) {
            Ok(unpacked) if unpacked == tails_bytes => Ok(Entries { rows, sum, prefix, tails }),
            _ => Err(damaged("cannot be decompressed")),
        }
    }

    /// Returns the block with another stamp.
    pub fn with_stamp(&self, stamp: u64) -> Result<Vec<u8>> {
        let mut block = copy(self.whole)?;
        set_header(&mut block, self.rows, stamp, self.sum);
        Ok(block)
    }
}

/// Sets the header of `block`, whose body is complete.
fn set_header(block: &mut [u8], rows: u32, stamp: u64, sum: u64) {
    let (header, body) = block.split_at_mut(HEADER_BYTES);
    let checksum = checksum(rows, stamp, sum, body);
    header[..4].copy_from_slice(&MAGIC);
    header[4..8].copy_from_slice(&rows.to_le_bytes());
    for (to, number) in header[8..].chunks_exact_mut(8).zip([stamp, sum, checksum]) {
        to.copy_from_slice(&number.to_le_bytes());
    }
}

/// The number in four bytes of `bytes`.
fn short(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

fn checksum(rows: u32, stamp: u64, sum: u64, body: &[u8]) -> u64 {
    xxh3_64_with_seed(body, stamp ^ sum.rotate_left(32) ^ u64::from(rows))
}

fn damaged(why: &str) -> Error {
    Error::data(format!("a block of rows {why}; run the task that wrote it again"))
}
