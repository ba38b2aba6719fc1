//! Both passes read mapped bytes. What is no file of plain lines becomes one, or rows, in scratch.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use super::Run;
use crate::error::{Error, Result, Shown};
use crate::progress::Pass;
use crate::stage::clean::Reason;
use crate::stage::extras::RawExtras;
use crate::stage::form::{self, Feed, Opened, Record, Sink};
use crate::stage::input::{Input, Source};
use crate::stage::rows::{Content, Row, RowWriter};
use crate::stage::tags::RawTags;
use crate::stop::Stop;

const PIECE_BYTES: usize = 1 << 20;

/// Read from a pipe at once: what Linux holds in one, and a little more.
const PIPE_BYTES: usize = 128 << 10;

/// How long a raised `stop` may go unseen while the writer of a pipe is silent.
const PATIENCE: Duration = Duration::from_millis(100);

/// Maps a file of plain lines as it lies there; anything else is copied, unpacked or read into a new file in the directory
/// `scratch` first.
///
/// # Errors
/// If it is not what it should be, if it cannot be mapped or read, if scratch space runs out, or if `stop` is raised.
pub fn mapped(run: Run<'_>, source: Source, scratch: &Path) -> Result<Input> {
    // An error of reading that was called off is the call's.
    map_or_copy(run, source, scratch).map_err(|error| run.stop.check().err().unwrap_or(error))
}

fn map_or_copy(run: Run<'_>, source: Source, scratch: &Path) -> Result<Input> {
    let name = source.name().to_owned();
    let (feed, identity) = source.into_feed();
    let feed = match feed {
        Feed::File(file) => Feed::File(file),
        Feed::Stream(pipe) => Feed::Stream(Box::new(Patient::new(pipe, run.stop))),
    };
    let input = match form::open(&name, feed, &run.job.form)? {
        Opened::Plain(file) => return Input::lines(name, &file, identity),
        Opened::Lines(lines) => {
            run.progress.begin(Pass::Spool, 0);
            let (stream, failed) = lines.into_parts();
            let file = copy(stream, failed, &name, scratch, run)?;
            Input::lines(name, &file, identity)
        }
        Opened::Rows(reader) => {
            run.progress.begin(Pass::Spool, 0);
            let writer = RowWriter::new(BufWriter::with_capacity(PIECE_BYTES, nameless(scratch)?));
            let mut sink = Scratch { writer, scratch, run, rows: 0, bytes: 0, extras: Vec::new() };
            reader.read(&run.job.form, &mut sink)?;
            let unwritten = |error| Error::io(scratch, "could not be written to", error);
            let (file, blocks) = sink.writer.finish().map_err(unwritten)?;
            let file = file.into_inner().map_err(|error| unwritten(error.into_error()))?;
            Input::rows(name, &file, identity, blocks)
        }
    };
    run.progress.end();
    input
}

/// Copies plain lines to scratch.
fn copy(
    mut stream: Box<dyn Read + Send>,
    failed: impl Fn(io::Error) -> Error,
    name: &Path,
    scratch: &Path,
    Run { progress, stop, .. }: Run<'_>,
) -> Result<File> {
    let mut file = nameless(scratch)?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        stop.check()?;
        let bytes = match stream.read(&mut piece) {
            Ok(0) => return Ok(file),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        file.write_all(&piece[..bytes]).map_err(|error| {
            Error::io(scratch, &format!("could not be given a copy of {}", Shown(name)), error)
        })?;
        progress.advance(bytes as u64);
    }
}

/// Writes rows to scratch.
struct Scratch<'r> {
    writer: RowWriter<BufWriter<File>>,
    scratch: &'r Path,
    run: Run<'r>,
    rows: u64,
    /// Bytes of rows that progress was not told of.
    bytes: u64,
    /// Scratch memory for the extras of a row.
    extras: Vec<u8>,
}

/// Rows between two looks at `stop`.
const ROWS_UNWATCHED: u64 = 4_096;

impl Scratch<'_> {
    fn push(&mut self, row: &Row<'_>, bytes: usize) -> Result<()> {
        self.rows += 1;
        self.bytes += bytes as u64;
        if self.rows.is_multiple_of(ROWS_UNWATCHED) {
            self.run.stop.check()?;
            self.run.progress.advance(std::mem::take(&mut self.bytes));
        }
        self.writer.push(row).map_err(|error| Error::io(self.scratch, "could not be written to", error))
    }
}

impl Sink for Scratch<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<()> {
        let &Record { line, offset, url, lastmod, changefreq, priority, alternates, images } = record;
        let mut encoded = std::mem::take(&mut self.extras);
        let links = alternates.iter().map(|link| (link.hreflang, link.href));
        let extras = RawExtras::encode(links, images.iter().copied(), &mut encoded);
        let content = Content::Url(url, RawTags { lastmod, changefreq, priority, extras });
        let pushed = self.push(&Row { line, offset, content }, url.len());
        self.extras = encoded;
        pushed
    }

    fn bad_row(&mut self, line: u64, offset: u64, reason: Reason, text: &[u8]) -> Result<()> {
        self.push(&Row { line, offset, content: Content::Bad(text, reason) }, text.len())
    }
}

/// A pipe, read by a thread of its own: a read that waits for a silent writer cannot be called off, and a raised `stop` must
/// not wait for it.
struct Patient {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    at: usize,
    stop: Stop,
}

impl Patient {
    fn new(mut pipe: Box<dyn Read + Send>, stop: &Stop) -> Self {
        let (pieces, incoming) = bounded(4);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIPE_BYTES];
                let read = match pipe.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(1..));
                let piece = read.map(|bytes| {
                    piece.truncate(bytes);
                    piece
                });
                if pieces.send(piece).is_err() || ended {
                    return;
                }
            }
        });
        Self { pieces: incoming, piece: Vec::new(), at: 0, stop: stop.clone() }
    }
}

impl Read for Patient {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() {
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => (self.piece, self.at) = (piece?, 0),
                // It has sent all there was.
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if self.stop.is_raised() => {
                    return Err(io::Error::other("stopped"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.piece.is_empty() {
                return Ok(0);
            }
        }
        let bytes = to.len().min(self.piece.len() - self.at);
        to[..bytes].copy_from_slice(&self.piece[self.at..][..bytes]);
        self.at += bytes;
        Ok(bytes)
    }
}

/// A new file that nobody else can open, and that is gone with its last handle.
pub fn nameless(scratch: &Path) -> Result<File> {
    let path = scratch.join("spool");
    let file = File::options().read(true).write(true).create_new(true).open(&path);
    let file = file.map_err(|error| Error::output(&path, error))?;
    fs::remove_file(&path).map_err(|error| Error::io(&path, "could not be removed", error))?;
    Ok(file)
}
