//! Windows: a section of a remote file is read from start to end with prefetching, in bounded memory.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::version::RemoteVersion;
use crate::intake::read_at::ReadAt;
use crate::store::{Failure, Task};

/// Bytes of a window. Large enough that the time to first byte hardly matters.
pub const WINDOW_BYTES: u64 = 2 << 20;

/// Maximum number of windows that are prefetched for a reader.
const AHEAD_MAX: usize = 4;

/// Maximum bytes that all readers of the process together prefetch. A reader can always request the window that it needs now.
const AHEAD_BYTES_MAX: u64 = 64 << 20;

/// How far a reader may go back: the header of a Parquet page is read together with bytes after it.
const BACK_BYTES: u64 = 64 << 10;

/// Prefetching starts only after this many bytes, because the first ones may be read just to detect the format.
const LOOK_BYTES: u64 = 128 << 10;

static AHEAD_BYTES: AtomicU64 = AtomicU64::new(0);

/// A section of a file.
#[derive(Debug)]
pub struct Windows {
    file: Arc<RemoteVersion>,
    start: u64,
    /// Nothing after this position is prefetched.
    end: u64,
    /// The windows that are fetched or in flight, without gaps between them.
    windows: Mutex<VecDeque<Window>>,
}

/// Bytes that are requested together.
#[derive(Debug)]
pub struct Window {
    range: Range<u64>,
    content: Content,
    /// The share of the limit that a prefetched window uses.
    _room: Option<Room>,
}

#[derive(Debug)]
enum Content {
    Coming(Task<Result<Bytes, Failure>>),
    Here(Bytes),
}

/// A share of the bytes that may be prefetched.
#[derive(Debug)]
struct Room(u64);

impl Room {
    fn of(bytes: u64) -> Option<Self> {
        let add = |all: u64| all.checked_add(bytes).filter(|&all| all <= AHEAD_BYTES_MAX);
        AHEAD_BYTES.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok().then_some(Self(bytes))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        AHEAD_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

impl Window {
    fn of(file: &RemoteVersion, range: Range<u64>, room: Option<Room>) -> Self {
        let content = match file.at_hand(&range) {
            Some(bytes) => Content::Here(bytes),
            None => Content::Coming(file.request(range.clone())),
        };
        Self { range, content, _room: room }
    }

    /// Prefetches `range`; `None` if that would exceed the limit.
    pub fn ahead(file: &RemoteVersion, range: Range<u64>) -> Option<Self> {
        let room = Room::of(range.end - range.start)?;
        Some(Self::of(file, range, Some(room)))
    }
}

impl Windows {
    /// The section `range` of `file`, with its `first` window if that was already prefetched.
    pub fn new(file: Arc<RemoteVersion>, range: Range<u64>, first: Option<Window>) -> Self {
        let end = range.end.min(file.bytes());
        Self { file, start: range.start, end, windows: Mutex::new(first.into_iter().collect()) }
    }

    /// The range of the window that begins at `at`.
    fn range_from(&self, at: u64) -> Range<u64> {
        let end = if at < self.end { self.end } else { self.file.bytes() };
        at..end.min(at + WINDOW_BYTES)
    }

    /// Drops windows far before the byte at `at`, requests its window if necessary, and prefetches the next ones. Returns the index
    /// of its window.
    fn advance_to(&self, at: u64, windows: &mut VecDeque<Window>) -> usize {
        while windows.front().is_some_and(|window| window.range.end.saturating_add(BACK_BYTES) <= at) {
            windows.pop_front();
        }
        let current = windows.iter().position(|window| window.range.contains(&at));
        let current = current.unwrap_or_else(|| {
            windows.clear();
            windows.push_back(Window::of(&self.file, self.range_from(at), None));
            0
        });
        // A reader that only looks at the first bytes needs no more.
        while at >= self.start.saturating_add(LOOK_BYTES) && windows.len() - current <= AHEAD_MAX {
            let next = windows.back().map_or(at, |window| window.range.end);
            let range = self.range_from(next);
            let Some(window) = (next < self.end).then(|| Window::ahead(&self.file, range)).flatten() else {
                break;
            };
            windows.push_back(window);
        }
        current
    }
}

impl ReadAt for Windows {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.bytes())
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        if at >= self.file.bytes() || out.is_empty() {
            return Ok(0);
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.advance_to(at, &mut windows);
        let Window { range, content, .. } = &mut windows[current];
        let bytes = match std::mem::replace(content, Content::Here(Bytes::new())) {
            Content::Here(bytes) => bytes,
            Content::Coming(request) => match self.file.answer(request, range.end - range.start) {
                Ok(bytes) => bytes,
                Err(error) => {
                    windows.clear();
                    return Err(error);
                }
            },
        };
        *content = Content::Here(bytes.clone());
        let bytes = &bytes[(at - range.start) as usize..];
        let count = bytes.len().min(out.len());
        out[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn section(self: Arc<Self>, range: Range<u64>) -> Arc<dyn ReadAt> {
        Arc::new(Self::new(Arc::clone(&self.file), range, None))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::path::Path;

    use object_store::memory::InMemory;

    use super::super::file::PartsFile;
    use super::*;
    use crate::common::random::Random;
    use crate::error::{Error, ErrorKind};
    use crate::intake::read_at::RemoteFile;
    use crate::store::{Bucket, Condition, Location, ObjectParts, Put};

    /// A bucket in memory with the object `a`, and a file of it.
    fn file(bytes: &[u8]) -> (Bucket, Arc<PartsFile>) {
        let location = Location::parse(Path::new("s3://bucket")).unwrap().unwrap();
        let bucket = Bucket::new(Arc::new(InMemory::new()), &location, "memory".into());
        bucket.put(Put::new("a", bytes.to_vec(), Condition::None)).unwrap();
        let object = bucket.head("a").unwrap().unwrap();
        let parts = ObjectParts::new(bucket.clone(), "a".into(), object);
        (bucket, Arc::new(PartsFile::new("s3://bucket/a".into(), Arc::new(parts), bytes.len() as u64)))
    }

    /// Bytes that differ from place to place.
    fn bytes(count: u64) -> Vec<u8> {
        (0..count).map(|at| (at ^ at >> 8 ^ at >> 16) as u8).collect()
    }

    #[test]
    fn windows_have_the_bytes_of_the_object_however_they_are_read() {
        let (window, mut random) = (WINDOW_BYTES, Random::new(1));
        let mut random = |below: u64| random.next() % below;
        for count in [1, LOOK_BYTES, window - 1, window, window + 1, 4 * window + 7] {
            let want = bytes(count);
            let (_bucket, file) = file(&want);
            let mut all = Vec::new();
            Arc::clone(&file).stream().read_to_end(&mut all).unwrap();
            assert!(all == want, "{count} bytes as a stream");
            for _ in 0..5 {
                let (start, length) = (random(count), random(count) + 1);
                let section = Arc::clone(&file).section(start..start + length);
                // Forwards, a little back, and anywhere.
                let mut at = start;
                for step in 0..20 {
                    let length = random(300_000).min(count - at);
                    let mut read = vec![0; length as usize];
                    section.read_exact_at(&mut read, at).unwrap();
                    assert!(
                        read == want[at as usize..(at + length) as usize],
                        "{count} bytes, {length} at {at}"
                    );
                    at = match step % 5 {
                        3 => at.saturating_sub(random(BACK_BYTES)),
                        4 => random(count),
                        _ => at + length,
                    };
                }
                assert!(section.read_exact_at(&mut [0; 2], count - 1).is_err());
            }
        }
    }

    #[test]
    fn a_replaced_object_is_an_error_of_the_data_even_within_a_stream() {
        let want = bytes(30 * WINDOW_BYTES);
        let (bucket, file) = file(&want);
        let mut stream = file.stream();
        let mut read = vec![0; WINDOW_BYTES as usize];
        stream.read_exact(&mut read).unwrap();
        bucket.put(Put::new("a", want, Condition::None)).unwrap();
        let error = stream.read_to_end(&mut read).unwrap_err();
        let error = Error::io(Path::new("other"), "could not be read", error);
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().starts_with("s3://bucket/a: changed while it was being read"), "{error}");
    }

    #[test]
    fn readers_together_request_a_bounded_number_of_bytes_ahead() {
        let want = bytes(8 * WINDOW_BYTES);
        let files: Vec<_> = (0..20).map(|_| file(&want)).collect();
        let mut streams: Vec<_> = files.iter().map(|(_, file)| Arc::clone(file).stream()).collect();
        let mut read = vec![0; 2 * LOOK_BYTES as usize];
        for stream in &mut streams {
            stream.read_exact(&mut read).unwrap();
            assert!(AHEAD_BYTES.load(Ordering::Relaxed) <= AHEAD_BYTES_MAX);
        }
        for stream in &mut streams {
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            assert!(rest == want[read.len()..]);
        }
    }
}
