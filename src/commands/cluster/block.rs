//! Blocks: rows on their way from one process to another.
//!
//! ```text
//! block = magic (4) · rows (4) · stamp (8) · sum (8) · checksum (8) · rows as in a scratch file
//! ```
//!
//! Numbers are little-endian. The stamp says which run, or which region of a plan, the block belongs to. The sum is that of the
//! hashes of all rows, whatever their order. The checksum, XXH3 of the rows seeded with the other numbers, finds damage and not
//! forgery: workers are trusted.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::order::FORMAT;
use crate::error::{Error, Result, reserve};
use crate::intake::spool_format::{self, Block, Content, InputRow, RowBuffer};
use crate::sitemap::entry::Entry;

/// `smb`, and the version of the form.
const MAGIC: [u8; 4] = [b's', b'm', b'b', FORMAT as u8];

/// Bytes before the rows.
const HEADER_BYTES: usize = 32;

/// Entries that were checked, and the number of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries<'b> {
    pub rows: u32,
    /// The sum of their hashes.
    pub sum: u64,
    /// Their bytes, as in a scratch file.
    pub bytes: &'b [u8],
}

impl<'b> Entries<'b> {
    /// Calls `act` with each entry.
    pub fn try_for_each(self, mut act: impl FnMut(Entry<'b>) -> Result<()>) -> Result<()> {
        spool_format::rows(self.bytes, &Block::alone(0..self.bytes.len())).try_for_each(|row| {
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
        self.rows.push(&InputRow { line: 0, offset: 0, content: Content::Entry(entry) });
        let tags = match entry.is_plain() {
            true => 0,
            false => xxh3_64_with_seed(entry.tags, xxh3_64(entry.extras.xml)),
        };
        let hash = xxh3_64_with_seed(entry.url.as_bytes(), tags);
        self.sum = self.sum.wrapping_add(hash);
        hash
    }

    /// Whether it has reached `bytes_max` bytes, or the maximum number of rows.
    pub fn is_full(&self, bytes_max: usize) -> bool {
        self.rows.is_full(bytes_max)
    }

    /// Bytes of memory that it holds.
    pub fn held_bytes(&self) -> usize {
        self.rows.held_bytes()
    }

    /// Frees the memory. The block must have ended.
    pub fn let_go(&mut self) {
        self.rows.let_go();
    }

    /// Ends the block and returns it, if there are rows in it.
    pub fn end(&mut self, stamp: u64) -> Result<Option<Vec<u8>>> {
        let (bytes, sum) = (self.rows.bytes(), std::mem::take(&mut self.sum));
        let rows = u32::try_from(self.rows.rows()).expect("a block has few rows");
        if rows == 0 {
            return Ok(None);
        }
        let mut block = Vec::new();
        reserve(&mut block, HEADER_BYTES + bytes.len())?;
        block.extend(MAGIC);
        block.extend(rows.to_le_bytes());
        for number in [stamp, sum, checksum(rows, stamp, sum, bytes)] {
            block.extend(number.to_le_bytes());
        }
        block.extend_from_slice(bytes);
        self.rows.end_block(0);
        Ok(Some(block))
    }
}

/// The entries of `block`, whose stamp must be `stamp`.
pub(super) fn entries(block: &[u8], stamp: u64) -> Result<Entries<'_>> {
    let (header, bytes) = block.split_first_chunk::<HEADER_BYTES>().ok_or_else(|| damaged("is cut short"))?;
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    if header[..MAGIC.len()] != MAGIC {
        return Err(damaged("is none of this version of sitemill"));
    }
    let rows = (number(0) >> u32::BITS) as u32;
    let (own_stamp, sum) = (number(8), number(16));
    if number(24) != checksum(rows, own_stamp, sum, bytes) {
        return Err(damaged("has another checksum than when it was written"));
    }
    if own_stamp != stamp {
        return Err(damaged("belongs to another run, plan or region"));
    }
    Ok(Entries { rows, sum, bytes })
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
