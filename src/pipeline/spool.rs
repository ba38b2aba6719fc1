//! Both passes read mapped bytes. What comes through a pipe goes through a scratch file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, bounded};

use crate::error::{Error, Result, Shown};
use crate::progress::{Pass, Progress};
use crate::stage::input::{Input, Source};
use crate::stop::Stop;

const PIECE_BYTES: usize = 1 << 20;

/// How long a raised `stop` may go unseen while the writer of a pipe is silent.
const PATIENCE: Duration = Duration::from_millis(100);

/// Maps a file as it lies there; copies a pipe to a new file in the directory `scratch` first.
///
/// # Errors
/// If it cannot be mapped or read, if scratch space runs out, or if `stop` is raised meanwhile.
pub fn mapped(source: Source, scratch: &Path, progress: &dyn Progress, stop: &Stop) -> Result<Input> {
    let pipe = match source.map()? {
        Ok(input) => return Ok(input),
        Err(pipe) => pipe,
    };
    let name = pipe.name().to_owned();
    progress.begin(Pass::Spool, 0);
    let file = spool(&name, pipe.into_reader(), scratch, progress, stop)?;
    progress.end();
    Input::spooled(name, &file)
}

/// The pipe is read by a thread of its own, because a read that waits for a silent writer cannot be called off.
fn spool(
    name: &Path,
    pipe: Box<dyn Read + Send>,
    scratch: &Path,
    progress: &dyn Progress,
    stop: &Stop,
) -> Result<File> {
    let mut file = nameless(scratch)?;
    let (pieces, incoming) = bounded(4);
    std::thread::spawn(move || {
        let mut pipe = pipe;
        loop {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            let read = pipe.by_ref().take(PIECE_BYTES as u64).read_to_end(&mut piece);
            let ended = !matches!(read, Ok(1..));
            if pieces.send(read.map(|_| piece)).is_err() || ended {
                return;
            }
        }
    });
    loop {
        stop.check()?;
        match incoming.recv_timeout(PATIENCE) {
            Ok(Ok(piece)) => {
                file.write_all(&piece).map_err(|error| {
                    Error::io(scratch, &format!("could not be given a copy of {}", Shown(name)), error)
                })?;
                progress.advance(piece.len() as u64);
            }
            Ok(Err(error)) => return Err(Error::io(name, "could not be read", error)),
            Err(RecvTimeoutError::Timeout) => {}
            // It has sent all there was.
            Err(RecvTimeoutError::Disconnected) => return Ok(file),
        }
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
