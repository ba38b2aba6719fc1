//! A chunk: consecutive rows of one input, the unit of work of both passes.

use std::ops::Range;
use std::sync::Arc;

use super::sections::picks::Picks;
use crate::common::fallible::reserve;
use crate::error::Result;
use crate::intake::input::{Extent, Input};
use crate::intake::lines::{self, LineReader};
use crate::intake::spool_format::{self, Block, InputRow};

/// Consecutive whole rows of one input.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Index of the input.
    pub input: usize,
    /// The place of the rows.
    pub rows: RowsAt,
}

/// The place of the rows of a chunk in their input.
#[derive(Debug, Clone)]
pub enum RowsAt {
    /// Whole lines of text.
    Lines(Range<usize>),
    /// Rows in scratch.
    Rows(Block),
    /// A range of units of held URLs.
    Urls(Range<usize>),
    /// Entries of a front-coded block.
    FrontCoded {
        /// The bytes of the block.
        block: Range<usize>,
        /// The entries of the block that belong to the chunk, counted from 0.
        entries: Range<usize>,
    },
    /// Entries in the order of a block of positions. Both the block and the entries are in memory.
    InPlace {
        /// The bytes of the block.
        block: Range<usize>,
        /// The entries of the block that belong to the chunk, counted from 0.
        entries: Range<usize>,
    },
    /// Listed rows of a few chunks.
    Picked {
        /// These rows, and others.
        picks: Arc<Picks>,
        /// The rows of these that belong to the chunk, counted from 0.
        range: Range<u32>,
    },
}

/// The extents of all `inputs`, each with the index of its input, in order.
///
/// # Errors
/// If there is no memory for them.
pub fn extents(inputs: &[Input]) -> Result<Vec<(usize, Extent)>> {
    let mut all = Vec::new();
    reserve(&mut all, inputs.iter().map(|input| input.extents().count()).sum())?;
    for (at, input) in inputs.iter().enumerate() {
        all.extend(input.extents().map(|extent| (at, extent)));
    }
    Ok(all)
}

impl Chunk {
    /// Creates a chunk of the rows in `extent`, a part of the input with the index `input`.
    pub fn of(input: usize, bytes: &[u8], extent: Extent) -> Self {
        let rows = match extent {
            Extent::Lines(nominal) => RowsAt::Lines(lines::own(bytes, nominal)),
            Extent::Rows(block) => RowsAt::Rows(block),
            Extent::Urls { units, .. } => RowsAt::Urls(units),
        };
        Self { input, rows }
    }

    /// If the rows were picked: the index of their input, and the first byte that they are picked from.
    pub fn picked_from(&self) -> Option<(usize, usize)> {
        let RowsAt::Picked { picks, .. } = &self.rows else { return None };
        picks.chunks.first().map(|chunk| (self.input, chunk.bytes.start))
    }

    /// Its lines, if it has lines.
    pub fn lines<'i>(&self, inputs: &'i [Input]) -> Option<LineReader<'i>> {
        let RowsAt::Lines(range) = &self.rows else { return None };
        Some(lines::lines(&inputs[self.input].bytes()[range.clone()], range.start as u64))
    }

    /// Prefetches the bytes of `inputs` that the chunk needs.
    pub fn prefetch(&self, inputs: &[Input]) {
        match &self.rows {
            RowsAt::Lines(range)
            | RowsAt::Rows(Block { range, .. })
            | RowsAt::FrontCoded { block: range, .. } => {
                inputs[self.input].prefetch(range);
            }
            // Picked rows were read only a moment ago, and all of them fit in memory.
            RowsAt::Urls(_) | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {}
        }
    }

    /// Calls `act` with each row of an input. Lines are not numbered. With an iterator, hot loops would branch on the kind of chunk
    /// for every row.
    ///
    /// # Errors
    /// The first error of `act`.
    ///
    /// # Panics
    /// If the chunk is of a sorted block, which has no rows of an input, or of picked rows.
    #[inline]
    pub fn try_for_each_row<'i, E>(
        &self,
        inputs: &'i [Input],
        mut act: impl FnMut(InputRow<'i>) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = inputs[self.input].bytes();
        match &self.rows {
            RowsAt::Lines(range) => lines::lines(&bytes[range.clone()], range.start as u64)
                .try_for_each(|line| act(InputRow::of_line(0, line))),
            RowsAt::Rows(block) => spool_format::rows(bytes, block).try_for_each(act),
            RowsAt::Urls(units) => inputs[self.input].held_urls().read(units).try_for_each(act),
            RowsAt::FrontCoded { .. } | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {
                unreachable!("{NOT_OF_AN_INPUT}")
            }
        }
    }

    /// The rows with their line numbers, if `lines_before` lines of the input come before the chunk.
    ///
    /// # Panics
    /// Same as [`Chunk::try_for_each_row`].
    pub fn rows<'i>(
        &self,
        inputs: &'i [Input],
        lines_before: u64,
    ) -> Box<dyn Iterator<Item = InputRow<'i>> + 'i> {
        let bytes = inputs[self.input].bytes();
        match &self.rows {
            RowsAt::Lines(range) => {
                let lines = lines::lines(&bytes[range.clone()], range.start as u64);
                Box::new(
                    (lines_before + 1..).zip(lines).map(|(number, line)| InputRow::of_line(number, line)),
                )
            }
            RowsAt::Rows(block) => Box::new(spool_format::rows(bytes, block)),
            RowsAt::Urls(units) => Box::new(inputs[self.input].held_urls().read(units)),
            RowsAt::FrontCoded { .. } | RowsAt::InPlace { .. } | RowsAt::Picked { .. } => {
                unreachable!("{NOT_OF_AN_INPUT}")
            }
        }
    }
}

const NOT_OF_AN_INPUT: &str = "rows of inputs are read before they are sorted or picked";
