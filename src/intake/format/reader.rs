//! Reading rows: one thread cuts an input into units, and any number of threads read them.

use std::io;
use std::sync::Arc;

use super::found::{ColumnsFound, UnitFacts};
use super::row::{CountingSink, Sink};
use super::unpack::Text;
use crate::error::Result;
use crate::intake::blocks::{Blocks, TextBlock};
use crate::intake::urls::UrlRows;

/// An input of rows, ready to be read.
pub struct RowReader<'n> {
    /// The units of the input, in order.
    pub units: Units<'n>,
    /// Its columns, if they are known before the rows are read.
    pub columns: Option<ColumnsFound>,
}

/// Iterates over the units of an input, which are created while it is read and unpacked.
pub type Units<'n> = Box<dyn Iterator<Item = Result<Unit<'n>>> + Send + 'n>;

/// Called with the number of bytes of each row (or group of rows) from code. Returns false to stop reading.
pub type OnBytes<'w> = dyn FnMut(u64) -> bool + Send + 'w;

/// Reads the rows of a unit.
type Read<'n> = Box<dyn FnOnce(&mut CountingSink<'_>) -> Result<()> + Send + 'n>;

/// Rows that can be read independently of earlier ones.
pub struct Unit<'n> {
    read: Read<'n>,
    is_transcoded: bool,
    is_small: bool,
    /// Its rows, if they consist only of a URL and can be read in place.
    pub urls: Option<Box<dyn UrlRows>>,
}

impl Unit<'_> {
    /// Whether its rows take no more memory than a block of text. If so, the unit and its results may be queued.
    pub fn is_small(&self) -> bool {
        self.is_small
    }

    /// Passes all rows to `sink`. Returns the facts about them.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if the input is damaged or truncated: the message has the position and the
    /// option that helps. [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read. Any error of `sink`.
    pub fn read(self, sink: &mut dyn Sink) -> Result<UnitFacts> {
        let mut rows = CountingSink::new(sink, self.is_transcoded);
        (self.read)(&mut rows)?;
        Ok(rows.into_facts())
    }
}

/// Turns each block of whole rows into a unit. `read` reads the rows of a block.
pub fn units_of_blocks<'n>(
    is_transcoded: bool,
    blocks: impl Iterator<Item = Result<TextBlock>> + Send + 'n,
    read: impl Fn(&TextBlock, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    units_of(is_transcoded, blocks, read, |_| None)
}

fn units_of<'n, P: Send + 'n>(
    is_transcoded: bool,
    parts: impl Iterator<Item = Result<P>> + Send + 'n,
    read: impl Fn(&P, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
    urls: impl Fn(&P) -> Option<Box<dyn UrlRows>> + Send + 'n,
) -> Units<'n> {
    let read = Arc::new(read);
    Box::new(parts.map(move |part| {
        let (part, read) = (part?, Arc::clone(&read));
        let urls = urls(&part);
        Ok(Unit { read: Box::new(move |rows| read(&part, rows)), is_transcoded, is_small: true, urls })
    }))
}

/// Turns each block of whole lines into a unit. Lines longer than `line_bytes_max` bytes are cut.
pub fn units_of_lines<'n>(
    text: Text<'n>,
    line_bytes_max: usize,
    read: impl Fn(&TextBlock, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    let is_transcoded = text.about().is_transcoded();
    units_of_blocks(is_transcoded, blocks_of_lines(text, line_bytes_max), read)
}

/// The blocks of whole lines of `text`. Lines longer than `line_bytes_max` bytes are cut.
pub fn blocks_of_lines<'n>(
    text: Text<'n>,
    line_bytes_max: usize,
) -> impl Iterator<Item = Result<TextBlock>> + Send + use<'n> {
    let (stream, about) = text.split();
    Blocks::of_lines_up_to(line_bytes_max, stream)
        .map(move |block: io::Result<TextBlock>| block.map_err(|error| about.failed(error)))
}

/// Turns each of `parts` into a unit. A part takes no more memory than a block of text.
pub fn small_units<'n, P: Send + 'n>(
    parts: impl Iterator<Item = Result<P>> + Send + 'n,
    read: impl Fn(&P, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    units_of(false, parts, read, |_| None)
}

/// Turns each of `parts` into a unit. A part takes no more memory than a block of text. Its rows consist only of a URL, and
/// `urls` returns them.
#[cfg(feature = "arrow")]
pub fn small_units_of_urls<'n, P: Send + 'n, U: UrlRows + 'static>(
    parts: impl Iterator<Item = Result<P>> + Send + 'n,
    read: impl Fn(&P, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
    urls: impl Fn(&P) -> U + Send + 'n,
) -> Units<'n> {
    units_of(false, parts, read, move |part| Some(Box::new(urls(part))))
}

/// Turns each of `parts` into a unit. A part may have any number of rows.
pub fn large_units<'n, P: Send + 'n>(
    is_transcoded: bool,
    parts: impl IntoIterator<Item = P, IntoIter: Send + 'n>,
    read: impl Fn(P, &mut CountingSink<'_>) -> Result<()> + Send + Sync + 'n,
) -> Units<'n> {
    let read = Arc::new(read);
    Box::new(parts.into_iter().map(move |part| {
        let read = Arc::clone(&read);
        Ok(Unit { read: Box::new(move |rows| read(part, rows)), is_transcoded, is_small: false, urls: None })
    }))
}
