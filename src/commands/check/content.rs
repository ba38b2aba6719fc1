//! Reads a published file and decodes it piece by piece, up to the byte limit of the protocol.
//!
//! A file may be hostile: a gzip bomb, gigabytes of empty gzip members, a truncated member. In every case, at most one byte more
//! than the limit is decoded, and at most 1 MiB more than the limit is read.

use std::io::{self, BufRead, BufReader, Read};

use xxhash_rust::xxh3::Xxh3;

use crate::common::gzip_members::{GzipMembers, OtherBytes};
use crate::error::{Error, Result};
use crate::limits::Protocol;
use crate::place::PlaceFile;

/// Bytes decoded at a time, few enough to stay in the cache until they are parsed.
const BUFFER_BYTES: usize = 64 * 1024;

/// The first bytes of a gzip file: RFC 1952, 2.3.1.
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// Bytes by which a compressed file may exceed its content: headers, and 5 bytes per stored block.
const COMPRESSED_SLACK: u64 = 1 << 20;

/// The reason why a file could not be read completely.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The gzip data is damaged. Says how.
    Gzip(String),
    /// The content has more bytes than this limit.
    TooLarge(u64),
    /// The compressed file has more bytes than this limit, although its content does not.
    TooLargeCompressed(u64),
    /// The disk failed.
    Io(io::Error),
}

/// A file that is being decoded.
pub(crate) struct Content {
    inner: Box<dyn Read + Send>,
    is_gzip: bool,
    buffer: Box<[u8]>,
    at: usize,
    end: usize,
    decoded: u64,
    limit: u64,
    hash: Xxh3,
    failure: Option<Failure>,
}

impl Content {
    /// Opens `file`.
    ///
    /// # Errors
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if it is missing, unreadable or no file.
    pub fn open(file: &PlaceFile) -> Result<Self> {
        Self::of(file.open()?).map_err(|error| Error::input(file.path(), error))
    }

    /// Creates the content of `raw`, which is decoded if it starts as gzip does.
    ///
    /// # Errors
    /// If its first bytes cannot be read.
    pub fn of(raw: impl Read + Send + 'static) -> io::Result<Self> {
        // The highest limit of any protocol, until the protocol of the file is known.
        let limit = Protocol::V0_9.bytes_per_sitemap_max();
        let mut raw = BufReader::with_capacity(BUFFER_BYTES, Capped { raw, left: limit + COMPRESSED_SLACK });
        let is_gzip = raw.fill_buf()?.starts_with(GZIP_MAGIC);
        let inner: Box<dyn Read + Send> =
            if is_gzip { Box::new(GzipMembers::new(raw)?) } else { Box::new(raw) };
        let buffer = vec![0; BUFFER_BYTES].into_boxed_slice();
        let hash = Xxh3::new();
        Ok(Self { inner, is_gzip, buffer, at: 0, end: 0, decoded: 0, limit, hash, failure: None })
    }

    /// Returns whether the file is gzip.
    pub fn is_gzip(&self) -> bool {
        self.is_gzip
    }

    /// Lowers the byte limit, once the protocol of the document is known.
    pub fn lower_limit(&mut self, limit: u64) {
        self.limit = self.limit.min(limit);
    }

    /// Takes the reason why the content ended early, if it did.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Returns the 128-bit XXH3 of everything decoded so far.
    pub fn hash(&self) -> u128 {
        self.hash.digest128()
    }

    /// Decodes the next piece into the buffer, which stays empty at the end.
    fn fill(&mut self) {
        // One byte more than the limit shows that the content is too large.
        let wanted = (self.limit + 1).saturating_sub(self.decoded).min(BUFFER_BYTES as u64) as usize;
        (self.at, self.end) = (0, 0);
        if self.failure.is_some() || wanted == 0 {
            return;
        }
        let (bytes, error) = read(&mut self.inner, &mut self.buffer[..wanted]);
        self.end = bytes;
        self.decoded += bytes as u64;
        self.hash.update(&self.buffer[..bytes]);
        self.failure = error.map(|error| self.failed(error));
        if self.decoded > self.limit {
            self.failure = Some(Failure::TooLarge(self.limit));
            self.end = 0;
        }
    }

    fn failed(&self, error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::FileTooLarge && error.raw_os_error().is_none() {
            return Failure::TooLargeCompressed(self.limit + COMPRESSED_SLACK);
        }
        // Errors of the decoder have no OS error number; errors of the system have one, and those of stores are ours.
        match self.is_gzip && error.raw_os_error().is_none() && !Error::is_carried_by(&error) {
            true if error.get_ref().is_some_and(|cause| cause.is::<OtherBytes>()) => {
                Failure::Gzip(format!("the gzip data ends, and {error}"))
            }
            true if error.kind() == io::ErrorKind::UnexpectedEof => {
                Failure::Gzip("damaged: the gzip data ends too early".into())
            }
            true => Failure::Gzip(format!("damaged: {error}")),
            false => Failure::Io(error),
        }
    }
}

/// A failure looks like the end of the file, so that parsers need not handle it. [`Content::take_failure`] returns it.
impl Read for Content {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let bytes = available.read(to)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl BufRead for Content {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.end {
            self.fill();
        }
        Ok(&self.buffer[self.at..self.end])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
    }
}

/// Reads until `to` is full or the input ends, so that pieces are large and a byte order mark is not split. Bytes read before an
/// error are valid.
fn read(from: &mut impl Read, to: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut bytes = 0;
    while bytes < to.len() {
        match from.read(&mut to[bytes..]) {
            Ok(0) => break,
            Ok(more) => bytes += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (bytes, Some(error)),
        }
    }
    (bytes, None)
}

/// Fails after a maximum number of bytes, because endless empty gzip members decode to nothing.
struct Capped<R> {
    raw: R,
    left: u64,
}

impl<R: Read> Read for Capped<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.raw.read(to)?;
        self.left = match self.left.checked_sub(bytes as u64) {
            Some(left) => left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        };
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write, repeat};

    use super::*;

    /// Returns the number of decoded bytes, and the failure if there was one.
    fn drain(mut content: Content) -> (u64, Option<Failure>) {
        let bytes = io::copy(&mut content, &mut io::sink()).unwrap();
        (bytes, content.take_failure())
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(1));
        member.write_all(bytes).unwrap();
        member.finish().unwrap()
    }

    #[test]
    fn content_may_reach_the_limit_but_not_exceed_it() {
        let limit = 100_000;
        for (bytes, too_large) in [(limit - 1, false), (limit, false), (limit + 1, true), (10 * limit, true)]
        {
            let plain = vec![b' '; bytes as usize];
            for raw in [gzip(&plain), plain] {
                let mut content = Content::of(Cursor::new(raw)).unwrap();
                content.lower_limit(limit);
                let (decoded, failure) = drain(content);
                assert!(decoded <= limit);
                assert_eq!(matches!(failure, Some(Failure::TooLarge(_))), too_large, "{bytes}: {failure:?}");
            }
        }
    }

    #[test]
    fn endless_content_is_abandoned() {
        let (decoded, failure) = drain(Content::of(repeat(b' ')).unwrap());
        assert!(matches!(failure, Some(Failure::TooLarge(_))) && decoded <= 52_428_800);
        let empty_members = Cursor::new(gzip(b"").repeat(4 << 20));
        let (decoded, failure) = drain(Content::of(empty_members).unwrap());
        assert!(matches!(failure, Some(Failure::TooLargeCompressed(_))) && decoded == 0, "{failure:?}");
    }

    #[test]
    fn damaged_gzip_and_a_failing_disk_are_different_errors() {
        let whole = gzip(b"<urlset>");
        let cut = whole[..whole.len() - 3].to_vec();
        let after = [&whole[..], b"more"].concat();
        let mut crc = whole.clone();
        crc[whole.len() - 8] ^= 1;
        for damaged in [cut, after, crc] {
            let (decoded, failure) = drain(Content::of(Cursor::new(damaged)).unwrap());
            assert!(matches!(failure, Some(Failure::Gzip(_))), "{failure:?}");
            assert_eq!(decoded, 8, "what comes before the damage is there");
        }
        let two = [&whole[..], &whole].concat();
        assert!(matches!(drain(Content::of(Cursor::new(two)).unwrap()), (16, None)));
        // As gzip(1) and `build` do.
        let padded = [&whole[..], &[0; 700]].concat();
        assert!(matches!(drain(Content::of(Cursor::new(padded)).unwrap()), (8, None)));
    }
}
