//! The account: what became of every row of the inputs.

use super::chunk::Chunk;
use super::notes::Notes;
use super::tally::Tally;
use crate::clean::screen::RuleSet;
use crate::intake::input::Input;
use crate::intake::spool_format::InputRow;

/// All rows of the inputs, accounted for: what reports, reject files and guards are made from.
#[derive(Debug)]
pub struct Account {
    /// All rows, in input order.
    pub chunks: Vec<AccountedChunk>,
    /// The tally of all rows.
    pub tally: Tally,
    /// Counts of rows by origin and by rule.
    pub notes: Notes,
}

/// A chunk of an input, and what became of its rows.
#[derive(Debug)]
pub struct AccountedChunk {
    /// The rows.
    pub chunk: Chunk,
    /// Lines before it in its input. Rows in scratch store their line numbers.
    lines_before: u64,
    /// Outcomes of its rows, as far as each row alone decides them: duplicates are not known.
    pub tally: Tally,
    /// The rules that applied to its rows.
    pub rules: RuleSet,
}

impl Account {
    /// The account of chunks in input order, in which nothing is listed yet.
    pub fn new(mut chunks: Vec<AccountedChunk>, notes: Notes) -> Self {
        let (mut input, mut lines_before) = (0, 0);
        for chunk in &mut chunks {
            if chunk.chunk.input != input {
                (input, lines_before) = (chunk.chunk.input, 0);
            }
            chunk.lines_before = lines_before;
            lines_before += chunk.tally.lines;
        }
        let tally = chunks.iter().map(|chunk| chunk.tally).sum();
        Self { chunks, tally, notes }
    }

    /// Sets the number of listed entries. All other entries are duplicates.
    pub fn with_listed(self, listed: u64) -> Self {
        Self { tally: self.tally.with_listed(listed), ..self }
    }
}

impl AccountedChunk {
    /// A chunk with the tally of its rows, and the rules that applied to them.
    pub fn new(chunk: Chunk, tally: Tally, rules: RuleSet) -> Self {
        Self { chunk, lines_before: 0, tally, rules }
    }

    /// The rows with their line numbers.
    pub fn rows<'i>(&self, inputs: &'i [Input]) -> Box<dyn Iterator<Item = InputRow<'i>> + 'i> {
        self.chunk.rows(inputs, self.lines_before)
    }
}
