//! Windows: a section of a remote file that is read from start to end and fetched ahead, in bounded memory.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::file::PartsFile;
use crate::intake::read_at::ReadAt;
use crate::store::{Failure, Task};

/// Bytes of a window. Large enough that the time to the first byte does not count for much.
pub const WINDOW_BYTES: u64 = 2 << 20;

/// Maximum number of windows that are requested ahead of a reader.
const AHEAD_MAX: usize = 4;

/// Maximum bytes that all readers of the process together have requested ahead. A reader can always request the window that it needs.
const AHEAD_BYTES_MAX: u64 = 64 << 20;

/// A reader may go back by so many bytes: the header of a Parquet page is read with bytes after it.
const BACK_BYTES: u64 = 64 << 10;

/// Bytes from the start of a section that are read to see what it is.
const LOOK_BYTES: u64 = 128 << 10;

static AHEAD_BYTES: AtomicU64 = AtomicU64::new(0);

/// A section of a file.
#[derive(Debug)]
pub struct Windows {
    file: Arc<PartsFile>,
    start: u64,
    /// Nothing after it is requested ahead.
    end: u64,
    /// Those at hand or on their way, without gaps between them.
    windows: Mutex<VecDeque<Window>>,
}

/// Bytes that are requested together.
#[derive(Debug)]
pub struct Window {
    range: Range<u64>,
    content: Content,
    /// Of a window that was requested ahead.
    _room: Option<Room>,
}

#[derive(Debug)]
enum Content {
    Coming(Task<Result<Bytes, Failure>>),
    Here(Bytes),
}

/// A share of the bytes that may be requested ahead.
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
    fn of(file: &PartsFile, range: Range<u64>, room: Option<Room>) -> Self {
        let content = match file.at_hand(&range) {
            Some(bytes) => Content::Here(bytes),
            None => Content::Coming(file.request(range.clone())),
        };
        Self { range, content, _room: room }
    }

    /// Requests `range` ahead, if there is room for it.
    pub fn ahead(file: &PartsFile, range: Range<u64>) -> Option<Self> {
        let room = Room::of(range.end - range.start)?;
        Some(Self::of(file, range, Some(room)))
    }
}

impl Windows {
    /// The section `range` of `file`, of which the `first` window may be requested already.
    pub fn new(file: Arc<PartsFile>, range: Range<u64>, first: Option<Window>) -> Self {
        let end = range.end.min(file.bytes());
        Self { file, start: range.start, end, windows: Mutex::new(first.into_iter().collect()) }
    }

    /// The range of the window that begins at `at`.
    fn range_from(&self, at: u64) -> Range<u64> {
        let end = if at < self.end { self.end } else { self.file.bytes() };
        at..end.min(at + WINDOW_BYTES)
    }

    /// Lets `windows` begin with the one of the byte at `at`, or one before it, and requests those after it.
    fn come_to(&self, at: u64, windows: &mut VecDeque<Window>) -> usize {
        while windows.front().is_some_and(|window| window.range.end.saturating_add(BACK_BYTES) <= at) {
            windows.pop_front();
        }
        let current = windows.iter().position(|window| window.range.contains(&at));
        let current = current.unwrap_or_else(|| {
            windows.clear();
            windows.push_back(Window::of(&self.file, self.range_from(at), None));
            0
        });
        // Whoever only looks at the first bytes needs no more.
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
        self.file.len()
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<usize> {
        if at >= self.file.bytes() || out.is_empty() {
            return Ok(0);
        }
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let current = self.come_to(at, &mut windows);
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
        Arc::clone(&self.file).section(range)
    }
}
