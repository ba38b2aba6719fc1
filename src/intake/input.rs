//! Input: turns a file or a pipe into bytes that both passes can read.
//!
//! Regular files of plain lines are mapped, or read if they are small. Pipes can be read only once, and other formats must be
//! decoded, so their content is written to a scratch file first.

mod changed;
mod identity;
mod lost;
mod map;
mod unread;

use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lines;
use crate::error::{Error, Result};
use crate::intake::spool_format::Block;
use crate::intake::urls::HeldUrls;
use crate::sitemap::tags::GivenTags;
use changed::was_touched;
pub use changed::{cut_short, has_changed};
pub use identity::Identity;
pub use lost::{Lost, handle_sigbus};
pub use map::{Map, Segment};
pub use unread::UnreadInput;

/// An input whose bytes can be read any number of times.
#[derive(Debug)]
pub struct Input {
    name: PathBuf,
    map: Arc<Map>,
    /// The identity of the file that the user named. `None` for a pipe, whose content cannot change.
    identity: Option<Identity>,
    rows: Rows,
    /// The tags of its rows. Plain lines have none.
    given_tags: GivenTags,
    /// Whether it continues the previous input, because both come from the same source.
    continues: bool,
}

/// The place of the rows of an input.
#[derive(Debug)]
enum Rows {
    /// In its bytes, which are plain lines.
    Lines,
    /// In these blocks of its bytes.
    Blocks(Vec<Block>),
    /// In memory, as URLs from code. Such an input has no bytes.
    Urls(HeldUrls),
}

/// How far to prefetch ahead of readers, in bytes: a few milliseconds of reading.
const AHEAD_BYTES: usize = 16 << 20;

/// Maximum number of rows in a chunk of several small units of URLs.
const UNITED_ROWS_MAX: usize = 4096;

/// The place of the bytes of a chunk of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// Plain lines in this nominal range of bytes: see [`lines::own`].
    Lines(Range<usize>),
    /// Rows of this block.
    Rows(Block),
    /// Rows of held URLs.
    Urls {
        /// The range of units.
        units: Range<usize>,
        /// Bytes of the URLs.
        bytes: usize,
    },
}

impl Extent {
    /// The range of bytes in the input.
    pub fn range(&self) -> &Range<usize> {
        match self {
            Self::Lines(range) | Self::Rows(Block { range, .. }) => range,
            // Held URLs are in memory.
            Self::Urls { .. } => &(0..0),
        }
    }

    /// The number of bytes, for progress.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Urls { bytes, .. } => *bytes as u64,
            Self::Lines(_) | Self::Rows(_) => self.range().len() as u64,
        }
    }
}

impl Input {
    /// Creates an input of plain lines in `file`: the input itself, or a copy of a packed file or a pipe.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn lines(name: &Path, file: &File, identity: Option<Identity>) -> Result<Self> {
        Ok(Self::of(name, Map::of(name, file)?, identity))
    }

    /// Creates an input of the lines in `map`.
    pub fn of(name: &Path, map: Map, identity: Option<Identity>) -> Self {
        Self { identity, ..Self::of_map(name, map) }
    }

    fn of_map(name: &Path, map: Map) -> Self {
        Self {
            name: name.into(),
            map: Arc::new(map),
            identity: None,
            rows: Rows::Lines,
            given_tags: GivenTags::default(),
            continues: false,
        }
    }

    /// Creates an input without bytes.
    pub fn none(name: &Path) -> Self {
        Self::of_map(name, Map::none())
    }

    /// Creates an input with the rows of `urls`.
    pub fn urls(name: &Path, urls: HeldUrls) -> Self {
        Self { rows: Rows::Urls(urls), ..Self::of_map(name, Map::none()) }
    }

    /// Sets where the rows are, of an input that is not plain lines.
    pub fn with_blocks(self, blocks: Vec<Block>) -> Self {
        Self { rows: Rows::Blocks(blocks), ..self }
    }

    /// Creates an input of the bytes of `segment`, whose blocks the caller knows. `name` is for messages.
    ///
    /// # Errors
    /// If the memory cannot be made read-only.
    pub fn held(name: &Path, segment: Segment) -> Result<Self> {
        let map = segment.into_map().map_err(|error| Error::io(name, "entries could not be held", error))?;
        Ok(Self::of_map(name, map))
    }

    /// Sets the counts of the tags in the rows.
    pub fn with_tags(self, given_tags: GivenTags) -> Self {
        Self { given_tags, ..self }
    }

    /// Sets whether it continues the previous input with more rows of the same source.
    pub fn continuing(self, continues: bool) -> Self {
        Self { continues, ..self }
    }

    /// Whether it continues the previous input.
    pub fn continues(&self) -> bool {
        self.continues
    }

    /// The URLs that it holds.
    ///
    /// # Panics
    /// If it holds no URLs.
    pub fn held_urls(&self) -> &HeldUrls {
        let Rows::Urls(urls) = &self.rows else { unreachable!("only an input of URLs has extents of them") };
        urls
    }

    /// Bytes of memory that its URLs or its text keep allocated.
    pub fn held_bytes(&self) -> usize {
        let urls = if let Rows::Urls(urls) = &self.rows { urls.held_bytes() } else { 0 };
        urls + self.map.held_bytes()
    }

    /// Creates an input of other blocks of the same mapped file.
    pub fn part(&self, blocks: Vec<Block>) -> Self {
        let map = Arc::clone(&self.map);
        Self { map, rows: Rows::Blocks(blocks), ..Self::of_map(&self.name, Map::none()) }
    }

    /// The tags of its rows.
    pub fn given_tags(&self) -> GivenTags {
        self.given_tags
    }

    /// The name as the user gave it; `-` for standard input.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// All bytes of the input.
    pub fn bytes(&self) -> &[u8] {
        self.map.bytes()
    }

    /// Prefetches `range`, which will be read soon.
    pub fn prefetch(&self, range: &Range<usize>) {
        if !range.is_empty() {
            self.map.prefetch(range.clone());
        }
    }

    /// Prefetches the bytes `AHEAD_BYTES` after `range`, which readers have reached. If this is called for every extent,
    /// readers that proceed roughly in order rarely wait, even for a remote disk.
    pub fn prefetch_ahead_of(&self, range: &Range<usize>) {
        let bytes = self.bytes().len();
        let ahead = |at: usize| at.saturating_add(AHEAD_BYTES).min(bytes);
        self.prefetch(&(ahead(range.start)..ahead(range.end)));
    }

    /// The extents of all chunks, in order.
    pub fn extents(&self) -> Box<dyn Iterator<Item = Extent> + '_> {
        match &self.rows {
            Rows::Lines => Box::new(lines::chunks(self.bytes().len()).map(Extent::Lines)),
            Rows::Blocks(blocks) => Box::new(blocks.iter().cloned().map(Extent::Rows)),
            Rows::Urls(urls) => {
                let chunks = urls.chunks(UNITED_ROWS_MAX);
                Box::new(chunks.map(|(units, bytes)| Extent::Urls { units, bytes }))
            }
        }
    }

    /// Checks that the file is unchanged since it was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if it was written to, replaced or removed, [`ErrorKind::Io`] if it was truncated.
    pub fn check_unchanged(&self) -> Result<()> {
        match self.identity.is_none_or(|identity| self.identity_now() == Some(identity)) {
            true => Ok(()),
            false => Err(self.changed()),
        }
    }

    /// The error for an input whose bytes differ between the first and the second pass.
    pub fn changed(&self) -> Error {
        match self.identity_now().zip(self.identity) {
            Some((now, was)) if now.is_shorter_than(&was) => cut_short(&self.name),
            Some((now, was)) if now.differs_in_change_time_alone(&was) => was_touched(&self.name),
            _ => has_changed(&self.name),
        }
    }

    fn identity_now(&self) -> Option<Identity> {
        fs::metadata(&self.name).ok().map(|meta| Identity::of(&meta))
    }
}
