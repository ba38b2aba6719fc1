//! Gzip files, which may have several members: RFC 1952, 2.2.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// Decodes one gzip member after the other. As in gzip(1), zeros after the last one are padding.
pub struct GzipMembers<R>(Option<GzDecoder<R>>);

impl<R: BufRead> GzipMembers<R> {
    /// Decodes `packed`, which begins with a member.
    pub fn new(packed: R) -> Self {
        Self(Some(GzDecoder::new(packed)))
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
            Some(0x1F) => return Ok(Some(GzDecoder::new(packed))),
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
