//! One run at a time in an output directory.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result, Shown};

/// Held as long as it lives; the operating system takes it back from a dead process.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock at `path`, at once or not at all, and leaves word of who holds it.
    pub fn take(path: &Path) -> Result<Self> {
        // Truncated only once it is ours: until then it names the holder.
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|error| Error::output(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.take(200).read_to_string(&mut holder);
                let holder = crate::text::shown(holder.trim().as_bytes());
                return Err(Error::new(
                    ErrorKind::Busy,
                    format!("{}: another run holds it ({holder}); try again when it is done", Shown(path)),
                ));
            }
            Err(TryLockError::Error(error)) => {
                return Err(Error::io(path, "the file system gives no locks", error));
            }
        }
        let word = format!("process {} since {:.0}\n", std::process::id(), jiff::Timestamp::now());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(word.as_bytes()))
            .map_err(|error| Error::io(path, "could not be written", error))?;
        Ok(Self { _file: file })
    }
}
