//! Packings: the ways in which text may be compressed, as a table.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;

use crate::common::gzip_members::GzipMembers;
use crate::error::is_on_web_server;

/// The compression of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// None, or part of the format, as in Parquet.
    #[default]
    None,
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames.
    Zstd,
    /// bzip2, any number of streams.
    Bzip2,
}

/// What to add to advice that names a command which changes lines, if the input is packed.
pub const NEEDS_UNPACKED: &str = "; a command needs the unpacked list";

/// One packing.
struct Spec {
    packing: Packing,
    /// Its name in reports and messages.
    name: &'static str,
    /// Its file extension.
    extension: &'static str,
    /// Whether packed text begins with these bytes.
    has_head: fn(&[u8]) -> bool,
    /// Opens a decoder.
    unpack: fn(Counted) -> io::Result<Stream>,
}

/// What the decoder of zstd says of data that was compressed with a window over its limit of 128 MiB, as the program zstd does if
/// it is told to look far back. A window is held in memory, and the format allows terabytes.
pub const WINDOW_TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// Bytes to read.
type Stream = Box<dyn Read + Send>;

const TABLE: [Spec; 3] = [
    Spec {
        packing: Packing::Gzip,
        name: "gzip",
        extension: ".gz",
        has_head: |head| head.starts_with(&[0x1F, 0x8B]),
        unpack: |packed| Ok(Box::new(GzipMembers::new(packed)?)),
    },
    Spec {
        packing: Packing::Zstd,
        name: "zstd",
        extension: ".zst",
        // A frame, or a skippable frame, which parallel compressors write first.
        has_head: |head| matches!(head, [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]),
        unpack: |packed| Ok(Box::new(zstd::Decoder::with_buffer(packed)?)),
    },
    Spec {
        packing: Packing::Bzip2,
        name: "bzip2",
        extension: ".bz2",
        has_head: |head| matches!(head, [b'B', b'Z', b'h', b'1'..=b'9', ..]),
        unpack: |packed| Ok(Box::new(MultiBzDecoder::new(packed))),
    },
];

impl Packing {
    /// The packing that the first bytes show.
    pub fn of(head: &[u8]) -> Self {
        TABLE.iter().find(|spec| (spec.has_head)(head)).map_or(Self::None, |spec| spec.packing)
    }

    /// Unpacks `stream`. `at` counts the packed bytes that were read.
    ///
    /// # Errors
    /// If the decoder cannot be set up.
    pub fn unpack(self, stream: Stream, at: &Arc<AtomicU64>) -> io::Result<Stream> {
        let Some(spec) = self.spec() else { return Ok(stream) };
        let stream = BufReader::with_capacity(BUFFER_BYTES, stream);
        (spec.unpack)(Counted { stream, at: Arc::clone(at) })
    }

    /// Words to add to the name of a command that changes lines.
    pub fn on_unpacked(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Gzip | Self::Zstd | Self::Bzip2 => " on the unpacked list",
        }
    }

    fn spec(self) -> Option<&'static Spec> {
        TABLE.iter().find(|spec| spec.packing == self)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec().map_or("plain", |spec| spec.name))
    }
}

/// The file name `name` in lower case, without the extension of a packing, and that packing.
pub fn of_name(name: &Path) -> (String, Packing) {
    let text = name.to_string_lossy().to_ascii_lowercase();
    // The query of a URL is not part of the name. In a store, a key may contain a question mark.
    let text = if is_on_web_server(name) { text.split('?').next().unwrap_or_default() } else { &text };
    let packed = TABLE.iter().find_map(|spec| Some((text.strip_suffix(spec.extension)?, spec.packing)));
    let (text, packing) = packed.unwrap_or((text, Packing::None));
    (text.to_owned(), packing)
}

/// Size of the read buffer: large enough for few calls, and small compared with the windows of the decoders.
const BUFFER_BYTES: usize = 256 * 1024;

/// Counts the bytes that a decoder reads, so that an error can name its position.
struct Counted {
    stream: BufReader<Stream>,
    at: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.stream.read(to)?;
        self.at.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.stream.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.stream.consume(bytes);
        self.at.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}
