//! The listed entries of a range, in blocks.

use super::regions::{BorderSearch, Candidates};
use super::store::{EntryStore, StoredAt};
use super::survivors::{Placed, Write};
use crate::error::{Result, reserve_more};
use crate::intake::input::Input;
use crate::sitemap::divide::Room;
use crate::sitemap::divide::stable::Least;
use crate::survey::context::Context;
use crate::survey::front_coded::FrontCoder;
use crate::survey::in_place::PositionWriter;
use crate::survey::stable;

/// Maximum number of entries of a sorted block.
const BLOCK_ENTRIES: usize = 4096;

/// What sorted blocks consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The entries, front-coded.
    FrontCoded,
    /// The positions of the entries.
    InPlace,
}

/// A block of sorted entries that are all listed.
pub struct SortedBlock {
    /// Where the entries are.
    pub at: StoredAt,
    /// The room of each entry.
    pub rooms: Vec<Room>,
    /// The entry with the least mark, if sitemaps are divided by marks.
    pub least: Option<Least>,
    /// Entries that were dropped because another entry of their URL is listed.
    struck: u64,
}

impl SortedBlock {
    /// All entries that were sorted for it, including dropped ones.
    pub fn rows(&self) -> u64 {
        self.rooms.len() as u64 + self.struck
    }
}

/// Writes blocks of one of the forms.
enum Writer {
    FrontCoded(FrontCoder),
    InPlace(PositionWriter),
}

/// Writes listed entries, block by block.
pub struct Listed<'w, 'r> {
    files: &'r [Input],
    to: &'w mut EntryStore<'r>,
    /// The length of the prefix of all URLs.
    known: usize,
    writer: Writer,
    rooms: Vec<Room>,
    /// Whether marks decide where sitemaps begin.
    seeks_least: bool,
    least: Option<Least>,
    /// Receives every URL, if the set has borders.
    candidates: Option<Candidates<'r>>,
    blocks: Vec<SortedBlock>,
    /// Entries that were dropped since the last block.
    pub struck: u64,
}

impl<'w, 'r> Listed<'w, 'r> {
    /// Writes the entries of `files` whose URLs begin with `prefix` to blocks of `form`.
    pub fn new(
        run: Context<'_>,
        files: &'r [Input],
        form: Form,
        to: &'w mut EntryStore<'r>,
        search: &'r BorderSearch,
        prefix: &[u8],
    ) -> Self {
        let writer = match form {
            Form::FrontCoded => Writer::FrontCoded(FrontCoder::new(prefix)),
            Form::InPlace => Writer::InPlace(PositionWriter::new(prefix)),
        };
        Self {
            files,
            to,
            known: prefix.len(),
            writer,
            rooms: Vec::new(),
            seeks_least: stable::is_asked(&run.job.rules),
            least: None,
            candidates: search.candidates(),
            blocks: Vec::new(),
            struck: 0,
        }
    }

    fn end_block(&mut self) -> Result<()> {
        let at = match &mut self.writer {
            Writer::FrontCoded(coder) => {
                let at = self.to.append(coder.bytes())?;
                coder.begin_block();
                at
            }
            Writer::InPlace(positions) => {
                let at = self.to.append(positions.bytes())?;
                positions.begin_block();
                at
            }
        };
        let (rooms, struck) = (std::mem::take(&mut self.rooms), std::mem::take(&mut self.struck));
        reserve_more(&mut self.blocks, 1)?;
        self.blocks.push(SortedBlock { at, rooms, least: self.least.take(), struck });
        Ok(())
    }

    /// The blocks.
    ///
    /// # Errors
    /// If the last one cannot be stored.
    pub fn finish(mut self) -> Result<Vec<SortedBlock>> {
        if !self.rooms.is_empty() {
            self.end_block()?;
        }
        Ok(self.blocks)
    }
}

impl<'r> Write<'r> for Listed<'_, 'r> {
    fn reads(&self, placed: &Placed<'_>) -> bool {
        self.seeks_least || !placed.position.is_plain() || matches!(self.writer, Writer::FrontCoded(_))
    }

    fn write(&mut self, placed: Placed<'r>) -> Result<()> {
        let (url, room) = match &mut self.writer {
            Writer::FrontCoded(coder) => {
                let entry = coder.push(self.known, placed.position.tail(self.files));
                (self.seeks_least.then_some(entry.url), entry.room())
            }
            Writer::InPlace(positions) => {
                let room = positions.push(placed.position, placed.url, self.files);
                (self.seeks_least.then(|| positions.url(placed.url)), room)
            }
        };
        if let Some(url) = url {
            self.least = Some(Least::or(self.least, self.rooms.len(), url));
            // Borders are sought only if sitemaps are divided by marks.
            if let Some(candidates) = &mut self.candidates {
                candidates.push(url)?;
            }
        }
        reserve_more(&mut self.rooms, 1)?;
        self.rooms.push(room);
        if self.rooms.len() == BLOCK_ENTRIES { self.end_block() } else { Ok(()) }
    }

    fn strike(&mut self) {
        self.struck += 1;
    }
}
