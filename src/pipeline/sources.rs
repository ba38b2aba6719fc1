//! Sources: what the user named, and what that stands for.

use std::path::{Path, PathBuf};

use crate::check;
use crate::error::{Error, Result, Shown};
use crate::stage::form::{self, FormOptions};
use crate::stage::input::Source;

/// Opens all of `names`. A directory stands for the part files in it, which need a marker of success if `needs_success`; a
/// sitemap index for the sitemaps beside it that it lists.
///
/// # Errors
/// If one cannot be opened, or is a directory without part files or an index of files that are not there.
pub fn open_all(names: &[PathBuf], needs_success: bool, options: &FormOptions) -> Result<Vec<Source>> {
    let mut sources = Vec::with_capacity(names.len());
    for name in names {
        match name.is_dir() {
            false => open(name, options, &mut sources)?,
            true => {
                for part in form::part_files(name, needs_success)? {
                    open(&part, options, &mut sources)?;
                }
            }
        }
    }
    Ok(sources)
}

fn open(name: &Path, options: &FormOptions, sources: &mut Vec<Source>) -> Result<()> {
    let source = Source::open(name)?;
    if !is_index(&source, options)? {
        sources.push(source);
        return Ok(());
    }
    for member in check::members(name)? {
        let source = Source::open(&member)?;
        if is_index(&source, options)? {
            let (name, member) = (Shown(name), Shown(&member));
            return Err(Error::data(format!(
                "{name}: lists {member}, which is an index itself; give that one"
            )));
        }
        sources.push(source);
    }
    Ok(())
}

fn is_index(source: &Source, options: &FormOptions) -> Result<bool> {
    source.file().map_or(Ok(false), |file| form::is_index(source.name(), file, options))
}
