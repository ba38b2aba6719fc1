//! Records, in the survey, where the row of each entry is and what decides its section. With that, a layout is split among sections
//! without reading the rows again, and its rows stay where they are.

mod segments;

use std::sync::atomic::{AtomicBool, Ordering};

use super::picks::RowAt;
use crate::common::fallible::{copy, reserve, reserve_more};
use crate::error::Result;
use crate::intake::input::{Extent, Input};
use crate::intake::lines::CHUNK_URLS_MAX;
use crate::job::{SectionsBy, SetRules};
use crate::sitemap::entry::Entry;
use crate::sitemap::sections::by_path::PathSegments;
use crate::sitemap::sections::by_rule::RuleMatcher;
use crate::survey::memory::Memory;
use crate::survey::sizes::Sizes;
use segments::{LATER, SegmentNumbers, Segments};

/// The fraction of memory (a quarter) that a record may take, and again its picks.
pub const RECORDED_SHARE: usize = 4;

/// The records of the entries of a chunk, by ordinal.
#[derive(Debug)]
pub struct RecordedChunk {
    /// The numbers that decide the section: that of the section in a column, of the rule from 1, or of the first segment.
    pub numbers: Vec<u16>,
    /// The place of their rows.
    pub places: Vec<RowAt>,
}

impl RecordedChunk {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.numbers.len() * (size_of::<u16>() + size_of::<RowAt>())
    }
}

/// The records of all entries.
#[derive(Debug)]
pub struct Recorded {
    /// Chunk by chunk.
    pub chunks: Vec<RecordedChunk>,
    /// The sizes of the entries of each chunk.
    pub sizes: Vec<Sizes>,
    /// The first segments of paths by their numbers, if these decide.
    pub segments: Vec<Vec<u8>>,
}

impl Recorded {
    /// One more than the largest number.
    pub fn numbers(&self, sections: &SectionsBy) -> usize {
        let all = || self.chunks.iter().flat_map(|chunk| &chunk.numbers);
        match sections {
            SectionsBy::Column { .. } => all().max().map_or(0, |&most| usize::from(most) + 1),
            SectionsBy::Rules(rules) => rules.rules().count() + 1,
            SectionsBy::Path { .. } => self.segments.len(),
        }
    }
}

/// Records the entries of all chunks, as long as there is memory for it.
pub struct Recording {
    chunks: Vec<RecordedChunk>,
    bytes: usize,
    bytes_max: usize,
    segments: Segments,
    given_up: AtomicBool,
}

impl Recording {
    /// A recording for a survey of `inputs`. `None` if the layout has no sections or several sites, or if memory cannot hold the
    /// inputs: then picking a row from here and there would read them from disk many times.
    pub fn of(rules: &SetRules, inputs: &[Input], memory: &Memory) -> Option<Self> {
        let is_held = |input: &Input| input.extents().any(|extent| matches!(extent, Extent::Urls { .. }));
        let bytes: u64 = inputs.iter().map(|input| input.bytes().len() as u64).sum();
        let is_wanted = rules.sections.is_some() && rules.only_site().is_some();
        (is_wanted && bytes <= memory.budget && !inputs.iter().any(is_held)).then(|| Self {
            chunks: Vec::new(),
            bytes: 0,
            bytes_max: memory.hold / RECORDED_SHARE,
            segments: Segments::default(),
            given_up: AtomicBool::new(false),
        })
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds the record of the next chunk. `None` is that of a chunk that could not be recorded.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn push(&mut self, chunk: Option<RecordedChunk>) -> Result<()> {
        let bytes = chunk.as_ref().map_or(0, RecordedChunk::bytes);
        match chunk {
            Some(chunk) if self.bytes + bytes <= self.bytes_max && !self.has_given_up() => {
                reserve_more(&mut self.chunks, 1)?;
                self.chunks.push(chunk);
                self.bytes += bytes;
            }
            _ => {
                self.give_up();
                (self.chunks, self.bytes) = (Vec::new(), 0);
            }
        }
        Ok(())
    }

    /// Whether nothing is missing so far.
    pub fn is_whole(&self) -> bool {
        !self.has_given_up()
    }

    /// The record of all chunks, from which nothing is missing. `sizes` are those of their entries.
    pub fn finish(self, sizes: Vec<Sizes>) -> Recorded {
        Recorded { chunks: self.chunks, sizes, segments: self.segments.into_names() }
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    fn has_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }
}

/// Records the entries of one chunk after another.
pub struct Recorder<'r> {
    recording: &'r Recording,
    decider: Decider<'r>,
    /// The text of the chunk, if the numbers of entries whose URLs are lines of it are found later, all together.
    text: Option<&'r [u8]>,
    /// As long as `places`, or shorter if the last numbers are found later.
    numbers: Vec<u16>,
    places: Vec<RowAt>,
    /// Whether an entry of the chunk could not be recorded.
    has_failed: bool,
}

/// The property of an entry that decides its section.
enum Decider<'r> {
    Column,
    Rules(Box<RuleMatcher>),
    Path(SegmentNumbers<'r>),
}

impl<'r> Recorder<'r> {
    /// A recorder for one thread. `None` if the layout has no sections.
    pub fn new(rules: &SetRules, recording: &'r Recording) -> Option<Self> {
        let decider = match rules.sections.as_ref()? {
            SectionsBy::Column { .. } => Decider::Column,
            SectionsBy::Rules(rules) => Decider::Rules(Box::new(rules.matcher())),
            SectionsBy::Path { .. } => {
                let paths = PathSegments::new(&rules.base_url, rules.scope);
                Decider::Path(SegmentNumbers::new(paths, &recording.segments))
            }
        };
        let (numbers, places) = (Vec::new(), Vec::new());
        Some(Self { recording, decider, text: None, numbers, places, has_failed: false })
    }

    /// Begins a chunk, whose rows are lines if they are in a `text`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn begin(&mut self, text: Option<&'r [u8]>) -> Result<()> {
        self.has_failed = self.recording.has_given_up();
        self.text = text.filter(|_| !self.has_failed && matches!(self.decider, Decider::Path(_)));
        self.numbers.clear();
        self.places.clear();
        reserve(&mut self.numbers, CHUNK_URLS_MAX)?;
        reserve(&mut self.places, CHUNK_URLS_MAX)
    }

    /// Records the next entry, whose row is at `place`. `is_raw` says that the URL is that of the row, byte by byte.
    #[inline(always)]
    pub fn push(&mut self, entry: &Entry<'_>, place: Option<RowAt>, is_raw: bool) {
        match place {
            Some(place) if is_raw && self.text.is_some() => self.places.push(place),
            _ => self.push_with_number(entry, place),
        }
    }

    #[inline(never)]
    fn push_with_number(&mut self, entry: &Entry<'_>, place: Option<RowAt>) {
        if self.has_failed {
            return;
        }
        let url = entry.url.as_bytes();
        let number = match &mut self.decider {
            Decider::Column => Some(entry.section.0),
            Decider::Rules(matcher) => {
                let rule = matcher.rule_of(url);
                rule.map_or(Some(0), |rule| u16::try_from(rule + 1).ok())
            }
            Decider::Path(numbers) => numbers.of_url(url),
        };
        match (number, place) {
            (Some(number), Some(place)) => {
                self.numbers.resize(self.places.len(), LATER);
                self.numbers.push(number);
                self.places.push(place);
            }
            _ => self.fail(),
        }
    }

    /// Ends the chunk. `None` if it could not be recorded.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn end(&mut self) -> Result<Option<RecordedChunk>> {
        if let (Decider::Path(segments), Some(text)) = (&mut self.decider, self.text) {
            self.numbers.resize(self.places.len(), LATER);
            if !segments.put_later(text, &self.places, &mut self.numbers) {
                self.fail();
            }
        }
        if self.has_failed {
            return Ok(None);
        }
        Ok(Some(RecordedChunk { numbers: copy(&self.numbers)?, places: copy(&self.places)? }))
    }

    fn fail(&mut self) {
        self.has_failed = true;
        self.text = None;
        self.recording.give_up();
    }
}
