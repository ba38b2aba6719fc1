//! Blocks: rows on their way from one process to another.
//!
//! ```text
//! block = magic (4) · rows (4) · stamp (8) · checksum (8) · rows as in a scratch file
//! ```
//!
//! Numbers are little-endian. The stamp says which run or plan the block belongs to. The checksum, XXH3 of the rows seeded with
//! the other numbers, finds damage and not forgery: workers are trusted.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::order::FORMAT;
use crate::error::{Error, Result, reserve};
use crate::intake::spool_format::{self, Block, Content, InputRow, RowBuffer};
use crate::sitemap::entry::Entry;

/// `smb`, and the version of the form.
const MAGIC: [u8; 4] = [b's', b'm', b'b', FORMAT as u8];

/// Bytes before the rows.
const HEADER_BYTES: usize = 24;

/// Entries that were checked, and the number of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entries<'b> {
    pub rows: u32,
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

/// Adds an entry to `buffer`. Entries of a block have no position.
pub(super) fn push(entry: Entry<'_>, buffer: &mut RowBuffer) {
    buffer.push(&InputRow { line: 0, offset: 0, content: Content::Entry(entry) });
}

/// Ends the block in `buffer` and returns it, if there are rows in it.
pub(super) fn end(buffer: &mut RowBuffer, stamp: u64) -> Result<Option<Vec<u8>>> {
    let rows = u32::try_from(buffer.rows()).expect("a block has few rows");
    if rows == 0 {
        return Ok(None);
    }
    let mut block = Vec::new();
    reserve(&mut block, HEADER_BYTES + buffer.bytes().len())?;
    block.extend(MAGIC);
    block.extend(rows.to_le_bytes());
    block.extend(stamp.to_le_bytes());
    block.extend(checksum(rows, stamp, buffer.bytes()).to_le_bytes());
    block.extend_from_slice(buffer.bytes());
    buffer.end_block(0);
    Ok(Some(block))
}

/// The entries of `block`, whose stamp must be `stamp`.
pub(super) fn entries(block: &[u8], stamp: u64) -> Result<Entries<'_>> {
    let (header, bytes) = block.split_first_chunk::<HEADER_BYTES>().ok_or_else(|| damaged("is cut short"))?;
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| header[at + byte]));
    if header[..MAGIC.len()] != MAGIC {
        return Err(damaged("is none of this version of sitemill"));
    }
    let rows = (number(0) >> u32::BITS) as u32;
    if number(16) != checksum(rows, number(8), bytes) {
        return Err(damaged("has another checksum than when it was written"));
    }
    if number(8) != stamp {
        return Err(damaged("belongs to another run or plan"));
    }
    Ok(Entries { rows, bytes })
}

fn checksum(rows: u32, stamp: u64, bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, stamp ^ u64::from(rows))
}

fn damaged(why: &str) -> Error {
    Error::data(format!("a block of rows {why}; run the task that wrote it again"))
}

/// Checks that a block whose header says `wanted` rows had as many.
pub(super) fn check_rows(rows: u32, wanted: u32) -> Result<()> {
    if rows == wanted { Ok(()) } else { Err(damaged("has not the rows that its header says")) }
}
