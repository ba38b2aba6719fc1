//! Reading rows: one thread cuts an input into units, and any number of threads read a unit each.

use std::fs::File;
use std::path::Path;

#[cfg(feature = "parquet")]
use super::Packing;
use super::columns::Columns;
use super::facts::{Facts, UnitFacts};
#[cfg(feature = "parquet")]
use super::parquet::{Group, Groups};
use super::row::{Rows, Sink};
use super::unpack::{About, Text};
use super::{FormOptions, Format, ROW_BYTES_MAX, csv, google, json, sitemap, text};
use crate::error::Result;
#[cfg(not(feature = "parquet"))]
use crate::error::{Error, Shown};
use crate::intake::lines::{Block, Blocks};
use crate::limits::LINE_BYTES_MAX;

/// An input of rows, ready to be read.
pub struct RowReader<'n> {
    /// What reads a unit.
    pub parser: Parser<'n>,
    /// The input, cut into units, in order.
    pub units: Units<'n>,
    /// What the input turned out to be.
    pub(super) facts: Box<Facts>,
}

/// The units of an input, as they are read and unpacked.
pub type Units<'n> = Box<dyn Iterator<Item = Result<Unit<'n>>> + Send + 'n>;

/// Rows that can be read without those before them.
pub struct Unit<'n>(Of<'n>);

enum Of<'n> {
    /// Whole rows of a form in which they can be told apart at little cost.
    Block(Block),
    /// A text in which they cannot.
    Whole(Box<Text<'n>>),
    #[cfg(feature = "parquet")]
    Group(Group),
}

impl Unit<'_> {
    /// Whether its rows take no more memory than a block of text: it may wait in a queue, and so may what is made of it.
    pub fn is_small(&self) -> bool {
        matches!(self.0, Of::Block(_))
    }
}

/// Turns units of one input into rows.
pub struct Parser<'n> {
    is_transcoded: bool,
    form: Form<'n>,
}

/// A form, and what must be known to read a unit of it.
enum Form<'n> {
    Text,
    Google,
    Jsonl(&'n Columns),
    Csv(Box<csv::Header>),
    Sitemap,
    #[cfg(feature = "parquet")]
    Parquet(Box<Groups<'n>>),
    /// There is nothing in it.
    Empty,
}

impl<'n> RowReader<'n> {
    /// Reads what must be known before any row.
    pub(super) fn text(text: Text<'n>, format: Format, options: &'n FormOptions) -> Result<Self> {
        let columns = &options.columns;
        let is_transcoded = text.about().is_transcoded();
        let packing = text.about().packing();
        let mut found = None;
        let (form, units): (Form<'n>, Units<'n>) = match format {
            Format::Text => (Form::Text, by_lines(text, LINE_BYTES_MAX)),
            Format::Google => (Form::Google, by_lines(text, LINE_BYTES_MAX)),
            Format::Jsonl => {
                json::check_first_line(text.about(), columns)?;
                (Form::Jsonl(columns), by_lines(text, ROW_BYTES_MAX as usize))
            }
            Format::Csv | Format::Tsv => match csv::open(text, format, options)? {
                Some((header, cuts)) => {
                    found = Some(header.columns.clone());
                    let units = cuts.map(|block| Ok(Unit(Of::Block(block?))));
                    (Form::Csv(Box::new(header)), Box::new(units))
                }
                None => (Form::Empty, Box::new(std::iter::empty())),
            },
            Format::Sitemap => {
                let whole = Unit(Of::Whole(Box::new(text)));
                (Form::Sitemap, Box::new(std::iter::once(Ok(whole))))
            }
            Format::Parquet => unreachable!("text is no Parquet"),
        };
        let facts = Box::new(Facts { format, packing, columns: found, dropped_elements: Default::default() });
        Ok(Self { parser: Parser { is_transcoded, form }, units, facts })
    }

    /// Reads the index of a Parquet file.
    #[cfg(feature = "parquet")]
    pub(super) fn parquet(name: &'n Path, file: File, options: &FormOptions) -> Result<Self> {
        let groups = Groups::open(name, file, options)?;
        let columns = Some(groups.columns().clone());
        let units = Box::new(groups.all().into_iter().map(|group| Ok(Unit(Of::Group(group)))));
        let parser = Parser { is_transcoded: false, form: Form::Parquet(Box::new(groups)) };
        let facts = Box::new(Facts {
            format: Format::Parquet,
            packing: Packing::None,
            columns,
            dropped_elements: Default::default(),
        });
        Ok(Self { parser, units, facts })
    }

    /// Refuses.
    #[cfg(not(feature = "parquet"))]
    pub(super) fn parquet(name: &'n Path, _: File, _: &FormOptions) -> Result<Self> {
        let way = "this sitemill was built without the feature parquet; export to CSV";
        Err(Error::data(format!("{}: is Parquet, and {way}", Shown(name))))
    }
}

fn by_lines(text: Text<'_>, line_bytes_max: usize) -> Units<'_> {
    let (stream, about): (_, About<'_>) = text.split();
    let unit = move |block: std::io::Result<Block>| match block {
        Ok(block) => Ok(Unit(Of::Block(block))),
        Err(error) => Err(about.failed(error)),
    };
    Box::new(Blocks::of_lines_up_to(line_bytes_max, stream).map(unit))
}

impl Parser<'_> {
    /// Reads all rows of `unit` into `sink`; how many there were, and what was found besides.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) for an input that is not what it should be or ends too early, naming the
    /// place and the option that helps; [`ErrorKind::Io`](crate::ErrorKind::Io) if it cannot be read; any error of `sink`.
    pub fn read(&self, unit: Unit<'_>, sink: &mut dyn Sink) -> Result<UnitFacts> {
        let mut rows = Rows::new(sink, self.is_transcoded);
        match (&self.form, unit.0) {
            (Form::Text, Of::Block(block)) => text::read(&block, &mut rows)?,
            (Form::Google, Of::Block(block)) => google::read(&block, &mut rows)?,
            (Form::Jsonl(columns), Of::Block(block)) => json::read(&block, columns, &mut rows)?,
            (Form::Csv(header), Of::Block(block)) => csv::read(&block, header, &mut rows)?,
            (Form::Sitemap, Of::Whole(text)) => sitemap::read(*text, &mut rows)?,
            #[cfg(feature = "parquet")]
            (Form::Parquet(groups), Of::Group(group)) => groups.read(group, &mut rows)?,
            _ => unreachable!("a unit of another input"),
        }
        Ok(rows.into_facts())
    }
}
