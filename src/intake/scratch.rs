//! Scratch files, which both passes read and no other process sees.

use std::fs::File;
use std::io::{self, Seek};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::disk::free_bytes;
use crate::common::external_sort::RunFile;
use crate::common::unlinked::unlinked_file;
use crate::error::{Error, ErrorKind, Message, Result, Setting, Shown, message};
use crate::intake::format::RawInput;
use crate::intake::input::{Input, Map};
use crate::words::{grouped, rounded};

/// The remedy if there is no room for scratch files.
pub fn way_out() -> Message {
    message!("choose another directory with ", Setting::Scratch)
}

/// The directory of scratch files, the bytes written to them so far, and the bytes expected in total.
#[derive(Debug)]
pub struct ScratchSpace {
    directory: PathBuf,
    /// Bytes of all scratch files, including deleted ones.
    written: AtomicU64,
    /// Bytes that are expected in total; 0 while unknown.
    needed: AtomicU64,
}

impl ScratchSpace {
    /// The space of `directory`, with nothing written yet.
    pub fn of(directory: &Path) -> Arc<Self> {
        Arc::new(Self { directory: directory.into(), written: AtomicU64::new(0), needed: AtomicU64::new(0) })
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The bytes written so far.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// A new file without a name.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be made.
    pub fn new_file(&self) -> Result<File> {
        let words = || message!(&*self.directory, ": no scratch file can be created there; ", way_out());
        unlinked_file(&self.directory).map_err(|error| Error::uncreated(words(), error))
    }

    /// Counts `bytes` more as written.
    pub fn add_written(&self, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Sets the estimate of the bytes that will be written in total.
    pub fn expect(&self, bytes: u64) {
        self.needed.store(bytes, Ordering::Relaxed);
    }

    /// The error of a write. `doing` says what was written; `written` and `needed` are its bytes so far and in total.
    fn failed(&self, doing: &str, written: u64, needed: Option<u64>, error: io::Error) -> Error {
        // An estimate below the bytes written is useless.
        let needed = needed.filter(|&needed| needed > written);
        let needed = needed
            .map_or_else(String::new, |bytes| format!(", about {} are needed", grouped(rounded(bytes))));
        let free = free_bytes(&self.directory);
        let free = free.map_or_else(String::new, |bytes| format!(", {} are free", grouped(bytes)));
        let written = grouped(written);
        Error::io(
            &self.directory,
            message!("{doing} ({written} bytes are written{needed}{free}; ", way_out(), ")"),
            error,
        )
    }
}

/// An input that is copied to scratch. The share of it that was read gives an estimate of the whole copy.
#[derive(Debug)]
pub struct Copied {
    name: PathBuf,
    original: Original,
}

/// How much of an input was read.
#[derive(Debug)]
enum Original {
    /// A pipe, or rows from code.
    SizeUnknown,
    /// The handle shares its file offset with the reader's.
    File(File),
    /// A remote file: its bytes, and how many of them were read.
    Remote(u64, Arc<AtomicU64>),
}

impl Copied {
    /// A copy of the input `name`, of which nothing was read from `raw` yet. `streamed` will count the bytes that are read of a
    /// remote file.
    pub fn of(name: &Path, raw: &RawInput<'_>, streamed: &Arc<AtomicU64>) -> Self {
        let original = match raw {
            RawInput::File(file) => file.try_clone().ok().map(Original::File),
            RawInput::Remote(_) => {
                raw.remote_bytes().map(|bytes| Original::Remote(bytes, Arc::clone(streamed)))
            }
            RawInput::Stream(_) | RawInput::Rows(_) => None,
        };
        Self { name: name.into(), original: original.unwrap_or(Original::SizeUnknown) }
    }

    /// Refuses a packed file that is larger than the free space: unpacked, it is not smaller.
    ///
    /// # Errors
    /// [`ErrorKind::Io`], with both numbers.
    pub fn check_packed(&self, space: &ScratchSpace) -> Result<()> {
        let bytes = self.original.bytes_and_read().map_or(0, |(bytes, _)| bytes);
        match free_bytes(&space.directory).filter(|&free| free < bytes) {
            None => Ok(()),
            Some(free) => {
                let [bytes, free] = [bytes, free].map(grouped);
                let words = message!(
                    &*space.directory,
                    ": a copy of ",
                    &*self.name,
                    " needs at least {bytes} bytes, but only {free} are free; ",
                    way_out()
                );
                Err(Error::new(ErrorKind::Io, words))
            }
        }
    }

    /// The error of a write to the copy, which has `written` bytes so far. The input read so far takes `taken` bytes in it.
    pub fn failed(&self, space: &ScratchSpace, written: u64, taken: u64, error: io::Error) -> Error {
        space.failed(&self.doing(), written, self.needed(taken), error)
    }

    /// The error of a copy that has only `there` of `written` bytes, although no write failed.
    pub fn incomplete(&self, space: &ScratchSpace, written: u64, there: u64) -> Error {
        let lost = format!("{} bytes were written, but {} are there", grouped(written), grouped(there));
        Error::io(&space.directory, self.doing(), io::Error::other(lost))
    }

    fn doing(&self) -> String {
        format!("could not store a copy of {}", Shown(&self.name))
    }

    /// The bytes of the whole copy, estimated from the `taken` bytes of the input read so far.
    fn needed(&self, taken: u64) -> Option<u64> {
        let (bytes, read) = self.original.bytes_and_read()?;
        // Parquet is not read from start to end, so nothing may have been read.
        let all = u128::from(taken) * u128::from(bytes) / u128::from((read > 0).then_some(read)?);
        u64::try_from(all).ok()
    }
}

impl Original {
    /// The bytes of the whole input, and those that were read so far, if both are known.
    fn bytes_and_read(&self) -> Option<(u64, u64)> {
        match self {
            Self::SizeUnknown => None,
            Self::File(file) => {
                let mut file: &File = file;
                Some((file.metadata().ok()?.len(), file.stream_position().ok()?))
            }
            Self::Remote(bytes, read) => Some((*bytes, read.load(Ordering::Relaxed))),
        }
    }
}

/// A file without a name that threads append to in any order. It is deleted with its last handle.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    space: Arc<ScratchSpace>,
    /// The input that the file is a copy of, if it is a copy.
    copied: Option<Copied>,
    end: AtomicU64,
    /// Bytes that are written. Some bytes before `end` may not be written yet.
    written: AtomicU64,
}

impl Scratch {
    /// A new file in `space`.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be made.
    pub fn new(space: &Arc<ScratchSpace>) -> Result<Self> {
        let file = space.new_file()?;
        let [end, written] = [0; 2].map(AtomicU64::new);
        Ok(Self { file, space: Arc::clone(space), copied: None, end, written })
    }

    /// A new file for a copy of an input.
    ///
    /// # Errors
    /// Same as [`Scratch::new`].
    pub fn copy_of(copied: Copied, space: &Arc<ScratchSpace>) -> Result<Self> {
        Ok(Self { copied: Some(copied), ..Self::new(space)? })
    }

    /// Appends `bytes` and returns their offset.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), most likely because the disk is full.
    pub fn append(&self, bytes: &[u8]) -> Result<usize> {
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, at).map_err(|error| self.failed(error))?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.space.add_written(bytes.len() as u64);
        Ok(usize::try_from(at).expect("the file can be mapped"))
    }

    fn failed(&self, error: io::Error) -> Error {
        let Self { space, copied, .. } = self;
        if let Some(copied) = copied {
            return copied.failed(space, self.written.load(Ordering::Relaxed), self.bytes(), error);
        }
        let needed = space.needed.load(Ordering::Relaxed);
        space.failed("scratch files could not be written", space.written(), Some(needed), error)
    }

    /// Maps the file, once everything is written.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn map_file(&self) -> Result<Input> {
        Ok(Input::lines(&self.space.directory, &self.file, None)?.with_blocks(Vec::new()))
    }

    /// The file, to be mapped once everything is written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Bytes that were appended.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }
}

impl RunFile for Scratch {
    type Space = Arc<ScratchSpace>;
    type Error = Error;

    fn create(space: &Arc<ScratchSpace>) -> Result<Self> {
        Self::new(space)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        Scratch::append(self, bytes).map(|_| ())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<()> {
        let failed = |error| Error::io(&self.space.directory, "scratch files could not be read", error);
        self.file.read_exact_at(bytes, offset).map_err(failed)
    }
}

/// A file of a fixed size that is mapped before it is filled, so that many small files share one map.
#[derive(Debug)]
pub struct Pack {
    scratch: Scratch,
    map: Arc<Map>,
    bytes: u64,
}

impl Pack {
    /// A new file for `bytes` bytes in `space`. `None` if it cannot be mapped.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new(space: &Arc<ScratchSpace>, bytes: u64) -> Result<Option<Self>> {
        let scratch = Scratch::new(space)?;
        // It takes space only as it is filled.
        scratch.file.set_len(bytes).map_err(|error| scratch.failed(error))?;
        let map = Map::pages(&space.directory, &scratch.file).ok();
        Ok(map.map(|map| Self { scratch, map: Arc::new(map), bytes }))
    }

    /// Whether `more` bytes fit.
    pub fn has_room(&self, more: usize) -> bool {
        self.scratch.bytes() + more as u64 <= self.bytes
    }

    /// Appends `bytes`, for which there is room.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](crate::ErrorKind::Io), most likely because the disk is full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<Map> {
        let at = self.scratch.append(bytes)?;
        Ok(Map::Part(Arc::clone(&self.map), at..at + bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_without_room_for_a_scratch_file_is_not_said_to_be_missing() {
        // Nobody can create files there.
        let refused = Scratch::new(&ScratchSpace::of(Path::new("/proc"))).unwrap_err();
        let said = "/proc: no scratch file can be created there; choose another directory with `scratch`";
        assert_eq!((refused.kind(), &*refused.to_string()), (ErrorKind::Output, said));
    }
}
