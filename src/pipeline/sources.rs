//! Sources: what the user named, and what that stands for.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::check::{self, Set};
use crate::error::{Error, Result, Shown};
use crate::stage::form::{self, FormOptions};
use crate::stage::input::Source;
use crate::stage::publish::name::ROBOTS_FILE;

/// Opens all of `names`. A directory stands for the part files in it, which need a marker of success if `needs_success`, or
/// for the set that is published there; a sitemap index for the sitemaps beside it that it lists. No file of a directory is
/// opened twice, whatever its index files list.
///
/// # Errors
/// If one cannot be opened, or is a directory without part files or an index of files that are not there.
pub fn open_all(names: &[PathBuf], needs_success: bool, options: &FormOptions) -> Result<Vec<Source>> {
    let mut sources = Vec::with_capacity(names.len());
    for name in names {
        match name.is_dir() {
            false => open(name, options, &mut |_| true, &mut sources)?,
            true => {
                let mut met = HashSet::new();
                let mut is_new = |file: &Path| met.insert(file.to_owned());
                for file in data_files(name, needs_success)? {
                    open(&file, options, &mut is_new, &mut sources)?;
                }
            }
        }
    }
    Ok(sources)
}

/// The part files below `directory`. Where a set is published these are its index files: beside them lie sitemaps of earlier
/// sets, which it no longer lists.
fn data_files(directory: &Path, needs_success: bool) -> Result<Vec<PathBuf>> {
    let files = form::part_files(directory, needs_success)?;
    let robots = files.iter().filter(|file| file.ends_with(ROBOTS_FILE));
    let sets: HashSet<&Path> = robots.filter_map(|file| file.parent()).collect();
    let mut data = Vec::with_capacity(files.len());
    for file in &files {
        match file.parent().filter(|directory| sets.contains(directory)) {
            None => data.push(file.clone()),
            Some(set) if file.ends_with(ROBOTS_FILE) => {
                data.extend(Set::of_directory(set, None, 1)?.into_files()?);
            }
            Some(_) => {}
        }
    }
    Ok(data)
}

fn open(
    name: &Path,
    options: &FormOptions,
    is_new: &mut dyn FnMut(&Path) -> bool,
    sources: &mut Vec<Source>,
) -> Result<()> {
    if !is_new(name) {
        return Ok(());
    }
    let source = Source::open(name)?;
    if !is_index(&source, options)? {
        sources.push(source);
        return Ok(());
    }
    for member in check::members(name)? {
        if !is_new(&member) {
            continue;
        }
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
