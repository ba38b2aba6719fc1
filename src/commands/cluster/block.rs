//! Blocks: rows that are sent from one process to another.
//!
//! ```text
//! block = magic (4) · rows (4) · stamp (8) · sum (8) · checksum (8) · bytes of the rows (4) · rows as in a scratch file, in zstd
//! ```
//!
//! Rows are compressed because an engine copies each block about ten times between memory, disks, sockets and machines. Level 1
//! takes less processor time than one of these copies and leaves a quarter of the bytes.
//!
//! Numbers are little-endian. The stamp says which run, or which region of a plan, the block belongs to. The sum is that of the
//! hashes of all rows, so it does not depend on their order. The checksum, XXH3 of the compressed rows seeded with the other
//! numbers, finds damage and not forgery: workers are trusted.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};
use zstd::bulk::{Compressor, Decompressor};

use super::order::FORMAT;
use crate::error::{Error, Result, reserve};
use crate::intake::spool_format::{self, Block, Content, InputRow, RowBuffer};
use crate::sitemap::entry::Entry;

/// `smb`, and the version of the form.
const MAGIC: [u8; 4] = [b's', b'm', b'b', FORMAT as u8];

/// Bytes before the rows.
const HEADER_BYTES: usize = 36;

/// Maximum bytes of the rows of a block, so that a damaged header cannot fill the memory. A block ends soon after a megabyte,
/// and its last row may be large.
const BYTES_MAX: usize = 256 << 20;

/// The fastest level that compresses rows to a quarter. Faster ones save less time than an engine needs for the larger blocks.
const LEVEL: i32 = 1;

/// About as many bytes as an encoder or a decoder takes.
const CODER_BYTES: usize = 1 << 20;

/// The entries of a block, after its checksum was verified.
#[derive(Debug)]
pub(super) struct Entries {
    pub rows: u32,
    /// The sum of their hashes.
    pub sum: u64,
    /// Their bytes, as in a scratch file.
    pub bytes: Vec<u8>,
}

impl Entries {
    /// Calls `act` with each entry.
    pub fn try_for_each(&self, mut act: impl FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
        spool_format::rows(&self.bytes, &Block::alone(0..self.bytes.len())).try_for_each(|row| {
            match row.content {
                Content::Entry(entry) => act(entry),
                Content::Url(..) | Content::Bad(..) => Err(damaged("has rows that are not judged")),
            }
        })
    }
}

/// A block that is being filled.
#[derive(Debug, Default)]
pub(super) struct Filling {
    rows: RowBuffer,
    /// The sum of the hashes of its rows.
    sum: u64,
}

impl Filling {
    /// Adds an entry, and returns its hash. Entries of a block have no position.
    pub fn push(&mut self, entry: Entry<'_>) -> u64 {
        self.rows.push(&InputRow::of_entry(entry));
        let tags = match entry.is_plain() {
            true => 0,
            false => xxh3_64_with_seed(entry.tags, xxh3_64(entry.extras.xml)),
        };
        let hash = xxh3_64_with_seed(entry.url.as_bytes(), tags);
        self.sum = self.sum.wrapping_add(hash);
        hash
    }

    /// Returns whether it has reached `bytes_max` bytes, or the maximum number of rows.
    pub fn is_full(&self, bytes_max: usize) -> bool {
        self.rows.is_full(bytes_max)
    }

    /// Returns the bytes of memory that it holds.
    pub fn held_bytes(&self) -> usize {
        self.rows.held_bytes()
    }

    /// Frees the memory. The block must have ended.
    pub fn let_go(&mut self) {
        self.rows.let_go();
    }

    /// Ends the block and returns it, if there are rows in it.
    pub fn end(&mut self, stamp: u64, encoder: &mut Encoder) -> Result<Option<Vec<u8>>> {
        let (bytes, sum) = (self.rows.bytes(), std::mem::take(&mut self.sum));
        let rows = u32::try_from(self.rows.rows()).expect("a block has few rows");
        if rows == 0 {
            return Ok(None);
        }
        let row_bytes = u32::try_from(bytes.len()).expect("a block has few bytes");
        let mut packed = Vec::new();
        reserve(&mut packed, zstd::zstd_safe::compress_bound(bytes.len()))?;
        let compressed = encoder.0.compress_to_buffer(bytes, &mut packed);
        compressed.map_err(|_| Error::no_memory(packed.capacity()))?;
        let mut block = Vec::new();
        reserve(&mut block, HEADER_BYTES + packed.len())?;
        block.extend(MAGIC);
        block.extend(rows.to_le_bytes());
        for number in [stamp, sum, checksum(rows, stamp, sum, &packed)] {
            block.extend(number.to_le_bytes());
        }
        block.extend(row_bytes.to_le_bytes());
        block.extend_from_slice(&packed);
        self.rows.end_block(0);
        Ok(Some(block))
    }
}

/// Compresses blocks. Setting it up costs as much as a small block, so it is used for many.
pub(super) struct Encoder(Compressor<'static>);

impl Encoder {
    /// Creates an encoder of [`LEVEL`].
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for it.
    pub fn new() -> Result<Self> {
        Compressor::new(LEVEL).map(Self).map_err(|_| Error::no_memory(CODER_BYTES))
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

/// Decompresses blocks. It is used for many, like [`Encoder`].
pub(super) struct Decoder(Decompressor<'static>);

impl Decoder {
    /// Creates a decoder.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if there is no memory for it.
    pub fn new() -> Result<Self> {
        Decompressor::new().map(Self).map_err(|_| Error::no_memory(CODER_BYTES))
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

/// Decodes the entries of `block`, whose stamp must be `stamp`.
pub(super) fn entries(block: &[u8], stamp: u64, decoder: &mut Decoder) -> Result<Entries> {
    let (header, packed) =
        block.split_first_chunk::<HEADER_BYTES>().ok_or_else(|| damaged("is cut short"))?;
    let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    if header[..MAGIC.len()] != MAGIC {
        return Err(damaged("is none of this version of sitemill"));
    }
    let (rows, own_stamp, sum, row_bytes) = (short(4), long(8), long(16), short(32) as usize);
    if long(24) != checksum(rows, own_stamp, sum, packed) {
        return Err(damaged("has another checksum than when it was written"));
    }
    if own_stamp != stamp {
        return Err(damaged("belongs to another run, plan or region"));
    }
    let mut bytes = Vec::new();
    if row_bytes <= BYTES_MAX {
        reserve(&mut bytes, row_bytes)?;
    }
    match decoder.0.decompress_to_buffer(packed, &mut bytes) {
        Ok(unpacked) if unpacked == row_bytes => Ok(Entries { rows, sum, bytes }),
        _ => Err(damaged("cannot be decompressed")),
    }
}

fn checksum(rows: u32, stamp: u64, sum: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, stamp ^ sum.rotate_left(32) ^ u64::from(rows))
}

fn damaged(why: &str) -> Error {
    Error::data(format!("a block of rows {why}; run the task that wrote it again"))
}

/// Checks that a block whose header says `wanted` rows had as many.
pub(super) fn check_rows(rows: u32, wanted: u32) -> Result<()> {
    if rows == wanted { Ok(()) } else { Err(damaged("has not the rows that its header says")) }
}
