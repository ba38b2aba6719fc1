//! A file on a web server as an input.

use std::fmt;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::{Buf, Bytes};

use super::bucket::not_found;
use super::file::PartsFile;
use super::found::NamedFile;
use super::version::{cancelled, failed};
use crate::error::{Error, ErrorKind, Result, message, without_secrets};
use crate::intake::read_at::{ReadAt, ReadControl, RemoteFile};
use crate::store::{Location, Pieces, WebFile};

/// Finds the file at `location`.
pub fn find(location: &Location) -> Result<NamedFile> {
    let name = name_of(location);
    if location.bucket().contains('@') {
        let words =
            "has a user name or password, which sitemill does not send; download the file and use that";
        return Err(Error::usage(message!(&*name, ": {words}")));
    }
    let url = location.path();
    let url = url.to_str().and_then(|url| url.split('#').next()).unwrap_or_default();
    let file = WebFile::find(url).map_err(|failure| not_found(&name, failure))?;
    let Some(file) = file else {
        return Err(Error::new(ErrorKind::Input, message!(&*name, ": the server has no such file")));
    };
    let file: Arc<dyn RemoteFile> = match file.bytes.filter(|_| file.sends_parts()) {
        Some(bytes) => Arc::new(PartsFile::new(name.clone(), Arc::new(file), bytes)),
        None => Arc::new(WholeFile { name: name.clone(), file, control: ReadControl::default() }),
    };
    Ok((name, file))
}

/// The URL for messages and reports.
fn name_of(location: &Location) -> PathBuf {
    let url = location.path();
    String::from_utf8_lossy(&without_secrets(url.as_os_str().as_encoded_bytes())).into_owned().into()
}

/// A file that the server only sends from start to end.
#[derive(Debug, Clone)]
struct WholeFile {
    name: PathBuf,
    file: WebFile,
    control: ReadControl,
}

impl ReadAt for WholeFile {
    fn len(&self) -> io::Result<u64> {
        self.file.bytes.ok_or_else(|| in_parts(&self.name))
    }

    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(in_parts(&self.name))
    }

    fn section(self: Arc<Self>, _: Range<u64>) -> Arc<dyn ReadAt> {
        self
    }
}

impl RemoteFile for WholeFile {
    fn stream(self: Arc<Self>) -> Box<dyn Read + Send> {
        Box::new(WebStream { file: self, next: None, piece: Bytes::new(), is_at_end: false })
    }

    // Nothing is prefetched, because the server may close a connection that nothing is read from.
    fn start(&self) {}

    fn watched(self: Arc<Self>, control: ReadControl) -> Arc<dyn RemoteFile> {
        Arc::new(Self { control, ..Self::clone(&self) })
    }
}

/// The error for a format that must be read in parts.
fn in_parts(name: &Path) -> io::Error {
    let words = "has a format that must be read in parts, but the server only sends the whole file; download it and use that";
    Error::data(message!(name, ": {words}")).into()
}

/// Reads a file from start to end, and requests one piece ahead.
struct WebStream {
    file: Arc<WholeFile>,
    next: Option<Pieces>,
    piece: Bytes,
    is_at_end: bool,
}

impl Read for WebStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let WholeFile { name, file, control } = &*self.file;
        while self.piece.is_empty() && !self.is_at_end {
            let next = self.next.take().unwrap_or_else(|| file.open());
            let (piece, rest) = next.wait_unless(&*control.is_cancelled).ok_or_else(cancelled)?;
            self.piece = piece.map_err(|failure| failed(name, failure))?;
            self.is_at_end = self.piece.is_empty();
            self.next = Some(WebFile::next(rest));
            control.bytes.fetch_add(self.piece.len() as u64, Ordering::Relaxed);
        }
        let bytes = out.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut out[..bytes]);
        Ok(bytes)
    }
}

impl fmt::Debug for WebStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebStream").field(&self.file.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_url_has_neither_a_password_nor_a_query() {
        for (url, name) in [
            ("https://h.example/a/b.csv", "https://h.example/a/b.csv"),
            ("https://h.example/a.csv?X-Amz-Signature=5ec#x", "https://h.example/a.csv?…"),
            ("https://user:5ec@h.example/a", "https://h.example/a"),
            ("https://h.example", "https://h.example"),
            ("https://h.example?sig=5ec", "https://h.example/?…"),
            ("https://h.example?mail=a@b.c", "https://h.example/?…"),
            ("https://h.example#5ec@b.c", "https://h.example/"),
        ] {
            let location = Location::parse(Path::new(url)).unwrap().unwrap();
            assert_eq!(name_of(&location), Path::new(name), "{url}");
            assert_eq!(location.bucket().contains('@'), url.contains("user:"), "{url}");
        }
    }
}
