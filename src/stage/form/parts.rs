//! Part files: a directory as Spark, Hive and warehouses unload it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, Shown};

/// The marker of a job that has written all of its parts.
const SUCCESS: &str = "_SUCCESS";

/// The data files below `directory`, sorted by name: `part-*` where there are any, else all of them. Directories inside it
/// (partitions, `day=2024-05-01`) are looked into; names that begin with `.` or `_` are never data.
///
/// # Errors
/// If it cannot be read, holds no data file, or `needs_success` and the job that writes it has not ended well: there is
/// no `_SUCCESS`.
pub fn part_files(directory: &Path, needs_success: bool) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    add_files(directory, &mut files)?;
    let is_part =
        |file: &PathBuf| file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-"));
    if files.iter().any(is_part) {
        files.retain(is_part);
    }
    if needs_success && !directory.join(SUCCESS).exists() {
        let (shown, count) = (Shown(directory), files.len());
        return Err(Error::data(format!(
            "{shown}: has no {SUCCESS} (data files: {count}): the job that writes it has not ended, or failed; if they \
             are whole all the same, run again without --require-success-marker"
        )));
    }
    if files.is_empty() {
        return Err(Error::data(format!("{}: holds no data file", Shown(directory))));
    }
    files.sort_unstable();
    Ok(files)
}

fn add_files(directory: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let unreadable = |error| Error::input(directory, error);
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if matches!(entry.file_name().as_encoded_bytes().first(), Some(b'.' | b'_')) {
            continue;
        }
        // A link to a directory is none: links can lead in circles.
        match entry.file_type().map_err(unreadable)?.is_dir() {
            true => add_files(&entry.path(), files)?,
            false => files.push(entry.path()),
        }
    }
    Ok(())
}
