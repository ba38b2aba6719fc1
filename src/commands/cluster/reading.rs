//! Reading: the rows of one source, in order, on the calling thread.

#[cfg(feature = "parquet")]
use std::fs::File;
use std::io::{self, Read, Seek};
#[cfg(feature = "parquet")]
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::commands::sources::{self, Sources};
use crate::common::pipe::FirstFailure;
use crate::common::stop::Stop;
use crate::error::{Error, Result};
use crate::intake::blocks::Blocks;
#[cfg(feature = "parquet")]
use crate::intake::format::Columns;
use crate::intake::format::{self, FormatOptions, Opened, Record, Sink};
use crate::intake::input::UnreadInput;
use crate::intake::lines;
use crate::intake::remote;
use crate::intake::source::Source;
use crate::job::Job;
use crate::survey::memory::with_page_memory;

/// Reads all rows of `source` into `sink`. Returns the number of its bytes, before decompression.
pub(super) fn read(job: &Job, source: Source<'_>, stop: &Stop, sink: &mut dyn Sink) -> Result<u64> {
    let source = [source];
    let out = sources::out_directory(job, &source)?;
    let options = with_page_memory(&job.input.format, job.resources.memory, 1);
    let Sources { open, .. } =
        sources::open_all(source, job.input.require_success_marker, &options, out.as_ref())?;
    let mut bytes = 0;
    for found in remote::in_turn(open) {
        // A read that was interrupted reports the stop.
        bytes += read_one(found, &options, stop, sink).or_else(|error| stop.check().and(Err(error)))?;
    }
    Ok(bytes)
}

/// Some row groups of a Parquet file on a file system that the worker reaches: a partition, or a part of one, that a task reads
/// by itself.
#[cfg(feature = "parquet")]
#[derive(Debug, Clone)]
pub struct RowGroups {
    /// The path of the file, which is also its name in examples.
    pub path: PathBuf,
    /// The numbers of the row groups, from 0.
    pub numbers: Vec<usize>,
    /// The names of the columns that are used. No other column is, whatever its name.
    pub columns: Columns,
    /// Whether the rows have values besides these. Without a URL they are then rejected, and not counted as blank.
    pub has_others: bool,
}

/// Reads the rows of some row groups of a Parquet file into `sink`. Returns the number of their bytes.
#[cfg(feature = "parquet")]
pub(super) fn read_row_groups(
    job: &Job,
    RowGroups { path, numbers, columns, has_others }: &RowGroups,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<u64> {
    let options = FormatOptions { columns: columns.clone(), ..job.input.format.clone() };
    let options = with_page_memory(&options, job.resources.memory, 1);
    let file = File::open(path).map_err(|error| Error::io(path, "could not be opened", error))?;
    let (units, bytes) = format::row_groups(path, Arc::new(file), &options, numbers, *has_others)?;
    for unit in units {
        stop.check()?;
        unit?.read(sink)?;
    }
    Ok(bytes)
}

fn read_one(
    found: UnreadInput<'_>,
    options: &FormatOptions,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<u64> {
    let name = found.name().to_owned();
    let unreadable = |error| Error::io(&name, "could not be read", error);
    let (raw, identity) = found.into_raw()?;
    let streamed = Arc::new(AtomicU64::new(0));
    let known_bytes = identity.map(|identity| identity.bytes()).or_else(|| raw.remote_bytes());
    let raw = raw.watched(stop, &FirstFailure::default(), &streamed)?;
    match format::open(&name, raw, options)?.1 {
        Opened::Plain(mut file) => {
            // Detecting the format has read its first bytes.
            file.rewind().map_err(unreadable)?;
            read_lines(file, unreadable, stop, sink)?;
        }
        Opened::Lines(lines) => {
            let (stream, failed) = lines.into_parts();
            read_lines(stream, failed, stop, sink)?;
        }
        Opened::Rows(reader) => {
            for unit in reader.units {
                stop.check()?;
                unit?.read(sink)?;
            }
        }
    }
    Ok(known_bytes.unwrap_or_else(|| streamed.load(Ordering::Relaxed)))
}

fn read_lines(
    stream: impl Read,
    failed: impl Fn(io::Error) -> Error,
    stop: &Stop,
    sink: &mut dyn Sink,
) -> Result<()> {
    for block in Blocks::new(stream) {
        stop.check()?;
        let block = block.map_err(&failed)?;
        for (number, line) in (block.lines_before + 1..).zip(lines::lines(&block.bytes, block.offset)) {
            let offset = line.offset;
            sink.record(&Record { line: number, offset, url: line.raw, ..Record::default() })?;
        }
    }
    Ok(())
}
