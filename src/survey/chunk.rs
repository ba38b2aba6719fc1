//! A chunk: consecutive rows of one input, the unit of work of both passes.

use std::ops::Range;

use super::positions::Entries;
use crate::error::{Result, reserve};
use crate::intake::input::{Extent, Input};
use crate::intake::spool_format::{Block, InputRow};
use crate::intake::{lines, spool_format};

/// Consecutive whole rows of one input.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Index of the input.
    pub input: usize,
    /// Where the rows are.
    pub rows: RowsAt,
}

/// Where the rows of a chunk are in their input.
#[derive(Debug, Clone)]
pub enum RowsAt {
    /// Whole lines of text.
    Lines(Range<usize>),
    /// Rows in scratch.
    Rows(Block),
    /// A range of units of held URLs.
    Urls(Range<usize>),
    /// Entries that are stored in the inputs after this one.
    Positions {
        /// Where their positions are.
        range: Range<usize>,
        /// The blocks that hold the entries: index of the input, and bytes. Set only for the first chunk of a range.
        blocks: Vec<(usize, Range<usize>)>,
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

    /// Prefetches the bytes of `inputs` that the chunk needs.
    pub fn will_need(&self, inputs: &[Input]) {
        match &self.rows {
            RowsAt::Lines(range) | RowsAt::Rows(Block { range, .. }) => inputs[self.input].will_need(range),
            RowsAt::Urls(_) => {}
            RowsAt::Positions { blocks, .. } => {
                blocks.iter().for_each(|(input, range)| inputs[self.input + 1 + input].will_need(range));
            }
        }
    }

    /// Calls `act` with each row. Lines are not numbered. With an iterator, hot loops would branch on the kind of chunk for every
    /// row.
    ///
    /// # Errors
    /// The first error of `act`.
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
            RowsAt::Positions { range, .. } => {
                self.entries(range, inputs).map(InputRow::of_entry).try_for_each(act)
            }
        }
    }

    /// The rows with their line numbers, if `lines_before` lines of the input come before the chunk.
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
            RowsAt::Positions { range, .. } => Box::new(self.entries(range, inputs).map(InputRow::of_entry)),
        }
    }

    /// The entries whose positions are in `range` of the input.
    pub fn entries<'i>(&self, range: &Range<usize>, inputs: &'i [Input]) -> Entries<'i> {
        let bytes = inputs[self.input].bytes();
        Entries::new(&bytes[range.clone()], &inputs[self.input + 1..])
    }
}
