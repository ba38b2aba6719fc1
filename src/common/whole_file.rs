//! Small files that are read as a whole, such as files of rules. They may be pipes, whose reads end when a run is told to stop.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

use crate::common::pipe::{Fifo, FirstFailure, PipeReader};
use crate::common::stop::Stop;
use crate::error::{Error, Result};

/// Reads the file `path`, but no more than `bytes_max` bytes of it.
///
/// # Errors
/// [`ErrorKind::Input`](crate::ErrorKind::Input) if it cannot be read; that of [`Stop::check`] if `stop` is raised while a pipe
/// is silent.
pub fn read(path: &Path, bytes_max: u64, stop: &Stop) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match open(path, stop)?.take(bytes_max).read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(stop.check().err().unwrap_or_else(|| Error::input(path, error))),
    }
}

/// Reads the text file `path`.
///
/// # Errors
/// Same as [`read`]; also if it is not UTF-8.
pub fn read_text(path: &Path, stop: &Stop) -> Result<String> {
    let no_text = |error| Error::input(path, io::Error::new(ErrorKind::InvalidData, error));
    String::from_utf8(read(path, u64::MAX, stop)?).map_err(no_text)
}

fn open(path: &Path, stop: &Stop) -> Result<Box<dyn Read>> {
    let unopened = |error| Error::input(path, error);
    let kind = path.metadata().map_err(unopened)?.file_type();
    let pipe: Box<dyn Read + Send> = match kind.is_fifo() {
        true => Box::new(Fifo::open(path).map_err(unopened)?),
        false => Box::new(File::open(path).map_err(unopened)?),
    };
    Ok(match kind.is_file() || kind.is_dir() {
        true => pipe,
        false => Box::new(PipeReader::new(pipe, stop, &FirstFailure::default(), &Arc::default())?),
    })
}

#[cfg(test)]
mod tests {
    use std::env::temp_dir;
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Duration;
    use std::{fs, process, thread};

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// A directory of its own with a FIFO, removed at the end.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = temp_dir().join(format!("sitemill-{name}-{}", process::id()));
            fs::create_dir(&path).unwrap();
            mknodat(CWD, path.join("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            Self(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_and_a_fifo_are_read_up_to_the_limit() {
        let directory = Directory::new("limit");
        let [file, fifo, missing] = ["file", "fifo", "missing"].map(|name| directory.0.join(name));
        fs::write(&file, "abc").unwrap();
        for path in [&file, &fifo] {
            for (bytes_max, bytes) in [(u64::MAX, "abc"), (4, "abc"), (2, "ab")] {
                thread::scope(|scope| {
                    if path == &fifo {
                        scope.spawn(|| File::options().write(true).open(path).unwrap().write_all(b"abc"));
                    }
                    assert_eq!(read(path, bytes_max, &Stop::default()).unwrap(), bytes.as_bytes());
                });
            }
        }
        fs::write(&file, b"\xff").unwrap();
        for unreadable in [&file, &missing, &directory.0] {
            let error = read_text(unreadable, &Stop::default()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Input, "{error}");
        }
    }

    #[test]
    fn a_raised_stop_ends_the_wait_for_a_writer_that_never_comes() {
        let directory = Directory::new("silent");
        let stop = Stop::default();
        thread::scope(|scope| {
            let reader = scope.spawn(|| read_text(&directory.0.join("fifo"), &stop));
            thread::sleep(Duration::from_millis(50));
            assert!(!reader.is_finished());
            stop.raise(15);
            assert_eq!(reader.join().unwrap().unwrap_err().kind(), crate::ErrorKind::Signal(15));
        });
    }
}
