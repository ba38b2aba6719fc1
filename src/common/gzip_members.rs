//! Gzip files, which may have several members: RFC 1952, 2.2.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use super::contain::contained;
use crate::error::Error;

/// What a decoder allocates: its state, with a window of 32 KiB.
const DECODER_BYTES: usize = 48 << 10;

/// Decodes one gzip member after the other. As in gzip(1), zeros after the last one are padding.
pub struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> GzipMembers<R> {
    /// Decodes `packed`, which begins with a member.
    ///
    /// # Errors
    /// If there is no memory for a decoder.
    pub fn new(packed: R) -> io::Result<Self> {
        decoder(packed).map(Some).map(Self)
    }
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let bytes = member.read(to)?;
            if bytes > 0 || to.is_empty() {
                return Ok(bytes);
            }
            let ended = self.0.take().map(GzDecoder::into_inner);
            self.0 = ended.map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// A decoder of the member that `packed` begins with. flate2 panics here only if there is no memory;
/// `packed`, whose first bytes it reads at once, must not panic.
fn decoder<R: BufRead>(packed: R) -> io::Result<GzDecoder<R>> {
    contained(|| GzDecoder::new(packed)).map_err(|_| io::Error::other(Error::no_memory(DECODER_BYTES)))
}

/// The member after zeros, or `None` at the end of `packed`.
fn next_member<R: BufRead>(mut packed: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let bytes = match packed.fill_buf() {
            Ok([]) => return Ok(None),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let next = bytes.get(zeros).copied();
        packed.consume(zeros);
        match next {
            None => {}
            Some(0x1F) => return decoder(packed).map(Some),
            Some(_) => return Err(io::Error::other(OtherBytes)),
        }
    }
}

/// The error for bytes after the last gzip member that begin no other.
#[derive(Debug)]
pub struct OtherBytes;

impl fmt::Display for OtherBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("other bytes follow")
    }
}

impl std::error::Error for OtherBytes {}
