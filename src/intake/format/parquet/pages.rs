//! Pages: their sizes are read from their headers before they are decompressed, and their counts are checked before they are
//! decoded.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;

use super::delta;
use super::header::PageHeader;
use super::shared::{BATCH_ROWS, Shared, bytes_at};
use crate::error::{Message, Setting, message};
use crate::intake::read_at::{Pread, ReadAt};
use crate::words::grouped;

/// Maximum ratio of decompression: RFC 1951 has 258 bytes for two bits, and LZ4 255 for a byte.
const GROWTH_MAX: u64 = 1032;

/// Bytes of memory of a decoded value, besides its text.
const VALUE_BYTES: u64 = size_of::<parquet::data_type::ByteArray>() as u64;

/// Bytes of memory of a value in a list, with its levels, at least.
const LIST_VALUE_BYTES: u64 = 32;

/// The magic number of an LZ4 frame, which does not contain its size.
const LZ4_FRAME_MAGIC: [u8; 4] = [0x04, 0x22, 0x4D, 0x18];

/// The memory of the pages of one row group.
pub struct Room {
    bytes_max: u64,
    bytes: AtomicU64,
}

impl Room {
    pub fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { bytes_max, bytes: AtomicU64::new(0) })
    }

    /// The error for a page of `column` that would make it `bytes`.
    fn too_large(&self, column: &str, bytes: u64) -> ParquetError {
        Unreadable::TooLarge { column: column.into(), bytes, bytes_max: self.bytes_max }.into()
    }
}

/// A page that cannot be read although the file may be intact.
#[derive(Debug)]
pub enum Unreadable {
    /// There is no room for it.
    TooLarge { column: String, bytes: u64, bytes_max: u64 },
    /// Its header is encrypted.
    Encrypted { column: String },
}

impl Unreadable {
    /// The message for users, with the way to read the file after all.
    pub fn message(&self) -> Message {
        match self {
            Self::TooLarge { column, bytes, bytes_max } => {
                let [bytes, bytes_max] = [*bytes, *bytes_max].map(grouped);
                message!(
                    "a page of column {column} needs {bytes} bytes of memory together with the pages that are read at the same \
                     time, and a thread may hold {bytes_max}; give more ",
                    Setting::Memory,
                    ", use fewer ",
                    Setting::Threads,
                    ", or write the file with smaller pages"
                )
            }
            Self::Encrypted { column } => {
                message!(
                    "column {column} is encrypted, which is not supported; write the file without encryption"
                )
            }
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message().fmt(f)
    }
}

impl std::error::Error for Unreadable {}

impl From<Unreadable> for ParquetError {
    fn from(unreadable: Unreadable) -> Self {
        Self::External(Box::new(unreadable))
    }
}

/// The pages of a column of a row group, checked.
pub struct Pages {
    pages: SerializedPageReader<ColumnChunk>,
    /// Maximum number of values of a page: the rows of the group, unless the column is in a list.
    values_max: u64,
    /// Values of the column on later pages.
    values_left: u64,
    /// The kinds of levels before the values: definition levels, and repetition levels in a list.
    level_kinds: usize,
    room: Arc<Room>,
    name: String,
    /// Bytes of the decoded values of the current page, as reserved in the room.
    decoded_bytes: u64,
}

impl Pages {
    /// The pages of `column` in a row group of `rows` rows, within the limit of `room`.
    pub fn new(file: &Shared, column: &ColumnChunkMetaData, rows: usize, room: Arc<Room>) -> Result<Self> {
        let descriptor = column.column_descr();
        let name = crate::escape::shown(descriptor.path().string().as_bytes());
        let (start, length) = column.byte_range();
        let chunk = ColumnChunk {
            file: Arc::clone(&file.file).section(start..start.saturating_add(length)),
            file_bytes: file.bytes,
            name: name.clone(),
            compression: column.compression(),
            room: Arc::clone(&room),
            page_bytes: AtomicU64::new(0),
            plain_bytes: AtomicU64::new(0),
            level_bytes: AtomicU64::new(0),
        };
        // Without the optional offset index, each page is found after the one before it.
        let pages = SerializedPageReader::new(Arc::new(chunk), column, rows, None)?;
        let values_max = match descriptor.max_rep_level() {
            0 => rows as u64,
            _ => room.bytes_max / LIST_VALUE_BYTES,
        };
        Ok(Self {
            pages,
            values_max,
            values_left: u64::try_from(column.num_values()).unwrap_or_default(),
            level_kinds: usize::from(descriptor.max_def_level() > 0)
                + usize::from(descriptor.max_rep_level() > 0),
            room,
            name,
            decoded_bytes: 0,
        })
    }

    /// Refuses counts for which the decoders would allocate more memory than the values can need, and values that repeat
    /// more than fits in the room.
    fn check(&mut self, page: &Page) -> Result<()> {
        let too_many = || general("a page declares more values than it can contain");
        let (values, encoding, num_values) = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                // A dictionary of empty texts takes four bytes for each.
                let values = u64::from(*num_values);
                let decoded_bytes = values.saturating_mul(VALUE_BYTES);
                return match values <= buf.len() as u64 {
                    false => Err(too_many()),
                    true if decoded_bytes > self.room.bytes_max => {
                        Err(self.room.too_large(&self.name, decoded_bytes))
                    }
                    true => Ok(()),
                };
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let values = values_of(buf, *num_values, self.level_kinds, *def_level_encoding);
                (values, *encoding, *num_values)
            }
            Page::DataPageV2 {
                buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, ..
            } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let values = usize::try_from(levels).ok().and_then(|levels| buf.get(levels..));
                (values, *encoding, *num_values)
            }
        };
        let is_possible =
            u64::from(num_values) <= self.values_max && is_delta_possible(values, encoding, num_values);
        if !is_possible {
            return Err(too_many());
        }
        // Adds up as many lengths as the page declares.
        self.admit_decoded(values, encoding)
    }

    /// Reserves room for the values that are copied out of a page, a batch of rows at a time. Releases the room of the last
    /// page.
    fn admit_decoded(&mut self, values: Option<&[u8]>, encoding: Encoding) -> Result<()> {
        let bytes = match (encoding, values) {
            (Encoding::DELTA_BYTE_ARRAY, Some(values)) => delta::bytes_together_max(values, BATCH_ROWS),
            _ => None,
        };
        let bytes = bytes.unwrap_or(0);
        let before = std::mem::replace(&mut self.decoded_bytes, bytes);
        self.room.bytes.fetch_sub(before, Ordering::Relaxed);
        let all = self.room.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if all > self.room.bytes_max {
            return Err(self.room.too_large(&self.name, all));
        }
        Ok(())
    }
}

/// The values of a page of the first version, after its levels.
fn values_of(buf: &[u8], num_values: u32, level_kinds: usize, levels: Encoding) -> Option<&[u8]> {
    let mut rest = buf;
    for _ in 0..level_kinds {
        rest = match levels {
            Encoding::RLE => {
                let (bytes, rest) = rest.split_first_chunk()?;
                rest.get(usize::try_from(u32::from_le_bytes(*bytes)).ok()?..)?
            }
            // Outside of lists, levels have one bit each. More bits would give impossible values.
            _ => rest.get(num_values.div_ceil(8) as usize..)?,
        };
    }
    Some(rest)
}

/// Whether values stored as differences are at most as many as the page has. True for data that cannot be parsed: the decoder
/// refuses them.
fn is_delta_possible(values: Option<&[u8]>, encoding: Encoding, num_values: u32) -> bool {
    let counts = match (encoding, values) {
        (Encoding::DELTA_BINARY_PACKED | Encoding::DELTA_LENGTH_BYTE_ARRAY, Some(values)) => {
            [delta::count(values), None]
        }
        (Encoding::DELTA_BYTE_ARRAY, Some(values)) => {
            [delta::count(values), delta::rest(values).and_then(delta::count)]
        }
        _ => [None, None],
    };
    counts.into_iter().flatten().all(|count| count <= u64::from(num_values))
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    /// Passes over data pages without values: the crate takes one for the end of the column.
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        loop {
            let Some(page) = self.pages.get_next_page()? else {
                // The values of a list may end at any page, so that only their number shows that some are missing.
                return match self.values_left {
                    0 => Ok(None),
                    _ => Err(general("a column has fewer values than the file says")),
                };
            };
            self.check(&page)?;
            if !page.is_data_page() {
                return Ok(Some(page));
            }
            self.values_left = self.values_left.saturating_sub(page.num_values().into());
            if page.num_values() > 0 {
                return Ok(Some(page));
            }
        }
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(general("nothing looks ahead"))
    }

    /// Whether no row continues on the next page: in a list, only the end of the column is certain.
    fn at_record_boundary(&mut self) -> Result<bool> {
        Ok(self.values_left == 0)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(general("nothing is skipped"))
    }
}

/// The bytes of a column's pages. The crate requests a reader at the start of each page header, and then the bytes after it.
struct ColumnChunk {
    file: Arc<dyn ReadAt>,
    file_bytes: u64,
    name: String,
    compression: Compression,
    room: Arc<Room>,
    /// Bytes of the current data page, as reserved in the room.
    page_bytes: AtomicU64,
    /// Bytes of the current page when decompressed, and of its levels, which are not compressed.
    plain_bytes: AtomicU64,
    level_bytes: AtomicU64,
}

impl ColumnChunk {
    /// Reserves room for a page and releases that of the page before. A dictionary keeps its room.
    fn admit(&self, header: &PageHeader) -> Result<()> {
        let bytes = match self.compression {
            Compression::UNCOMPRESSED => header.compressed_bytes,
            _ => header.compressed_bytes + header.plain_bytes,
        };
        let before = self.page_bytes.swap(if header.is_dictionary { 0 } else { bytes }, Ordering::Relaxed);
        self.room.bytes.fetch_sub(before, Ordering::Relaxed);
        let all = self.room.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if all > self.room.bytes_max {
            return Err(self.room.too_large(&self.name, all));
        }
        self.plain_bytes.store(header.plain_bytes, Ordering::Relaxed);
        self.level_bytes.store(header.level_bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Refuses a page that would become larger than its header says. The decoders of gzip and LZ4 frames do not check that.
    fn check_growth(&self, page: &[u8]) -> Result<()> {
        let worst = (page.len() as u64).saturating_mul(GROWTH_MAX);
        let plain_bytes = self.plain_bytes.load(Ordering::Relaxed);
        if worst <= self.room.bytes_max.max(plain_bytes) {
            return Ok(());
        }
        match self.compression {
            Compression::GZIP(_) => {
                let levels = self.level_bytes.load(Ordering::Relaxed);
                let packed =
                    usize::try_from(levels).ok().and_then(|levels| page.get(levels..)).unwrap_or_default();
                let most = plain_bytes.saturating_sub(levels);
                // The crate refuses damaged data.
                let bytes = io::copy(&mut MultiGzDecoder::new(packed).take(most + 1), &mut io::sink());
                match bytes {
                    Ok(bytes) if bytes > most => Err(general("a page is larger than its header says")),
                    _ => Ok(()),
                }
            }
            Compression::LZ4 if page.starts_with(&LZ4_FRAME_MAGIC) => {
                Err(self.room.too_large(&self.name, worst))
            }
            _ => Ok(()),
        }
    }
}

impl Length for ColumnChunk {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for ColumnChunk {
    type T = BufReader<Pread>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = BufReader::new(Pread::new(Arc::clone(&self.file), start));
        let head = reader.fill_buf()?;
        let header = PageHeader::of(head).ok_or_else(|| match is_encrypted(head) {
            true => Unreadable::Encrypted { column: self.name.clone() }.into(),
            false => general("a page has no header"),
        })?;
        self.admit(&header)?;
        Ok(reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = bytes_at(&*self.file, self.file_bytes, start, length)?;
        self.check_growth(&bytes)?;
        Ok(bytes)
    }
}

/// Whether `head`, which is no page header, begins with the length of an encrypted one: at least that of its nonce and its tag, and
/// of few bytes.
fn is_encrypted(head: &[u8]) -> bool {
    let length = head.first_chunk().map(|length| u32::from_le_bytes(*length));
    length.is_some_and(|length| (12 + 16..1 << 16).contains(&length))
}

fn general(what: &str) -> ParquetError {
    ParquetError::General(what.into())
}
