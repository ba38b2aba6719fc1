//! Reading rows: one thread cuts an input into units, and any number of threads read a unit each.

use std::io;
use std::sync::Arc;

use super::found::{ColumnsFound, UnitFacts};
use super::row::{Rows, Sink};
use super::unpack::Text;
use crate::error::Result;
use crate::intake::blocks::{Block, Blocks};

/// An input of rows, ready to be read.
pub struct RowReader<'n> {
    /// The input, cut into units, in order.
    pub units: Units<'n>,
    /// Its columns, if they are known before its rows.
    pub columns: Option<ColumnsFound>,
}

/// The units of an input, as they are read and unpacked.
pub type Units<'n> = Box<dyn Iterator<Item = Result<Unit<'n>>> + Send + 'n>;

/// Hands the rows of a unit over.
type Read<'n> = Box<dyn FnOnce(&mut Rows<'_>) -> Result<()> + Send + 'n>;

/// Rows that can be read without those before them.
pub struct Unit<'n> {
    read: Read<'n>,
    is_transcoded: bool,
    is_small: bool,
}

impl Unit<'_> {
    /// Whether its rows take no more memory than a block of text: it may wait in a queue, and so may what is made of it.
    pub fn is_small(&self) -> bool {
        self.is_small
    }

    /// Reads all rows into `sink`; how many there were, and what was found besides.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for an input that is not what it should be or ends too early, naming the
    /// place and the option that helps; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read; any error of `sink`.
    pub fn read(self, sink: &mut dyn Sink) -> Result<UnitFacts> {
        let mut rows = Rows::new(sink, self.is_transcoded);
        (self.read)(&mut rows)?;
        Ok(rows.into_facts())
    }
}

/// A unit for each block of whole rows; `read` reads its rows.
pub fn units_of_blocks<'n>(
    is_transcoded: bool,
    blocks: impl Iterator<Item = Result<Block>> + Send + 'n,
    read: impl Fn(&Block, &mut Rows<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    units_of(is_transcoded, blocks, read)
}

fn units_of<'n, P: Send + 'n>(
    is_transcoded: bool,
    parts: impl Iterator<Item = Result<P>> + Send + 'n,
    read: impl Fn(&P, &mut Rows<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    let read = Arc::new(read);
    Box::new(parts.map(move |part| {
        let (part, read) = (part?, Arc::clone(&read));
        Ok(Unit { read: Box::new(move |rows| read(&part, rows)), is_transcoded, is_small: true })
    }))
}

/// A unit for each block of whole lines; lines of more than `line_bytes_max` are cut.
pub fn units_of_lines<'n>(
    text: Text<'n>,
    line_bytes_max: usize,
    read: impl Fn(&Block, &mut Rows<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    let is_transcoded = text.about().is_transcoded();
    let (stream, about) = text.split();
    let blocks = Blocks::of_lines_up_to(line_bytes_max, stream)
        .map(move |block: io::Result<Block>| block.map_err(|error| about.failed(error)));
    units_of_blocks(is_transcoded, blocks, read)
}

/// A unit for each of `parts`, which have no more rows than a block of text.
pub fn small_units<'n, P: Send + 'n>(
    parts: impl Iterator<Item = Result<P>> + Send + 'n,
    read: impl Fn(&P, &mut Rows<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    units_of(false, parts, read)
}

/// A unit for each of `parts`, which may have any number of rows.
pub fn large_units<'n, P: Send + 'n>(
    is_transcoded: bool,
    parts: impl IntoIterator<Item = P, IntoIter: Send + 'n>,
    read: impl Fn(P, &mut Rows<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    let read = Arc::new(read);
    Box::new(parts.into_iter().map(move |part| {
        let read = Arc::clone(&read);
        Ok(Unit { read: Box::new(move |rows| read(part, rows)), is_transcoded, is_small: false })
    }))
}
