//! The directory or location that a run publishes to is no input of the same run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result, Setting, message};
use crate::escape;
use crate::intake::format::OutDirectory;
use crate::intake::remote::{self, Remote};
use crate::intake::report::Skipped;
use crate::intake::source::Source;
use crate::job::Job;
use crate::place::{self, PlaceFile};
use crate::set::name::is_set_file;
use crate::store::Location;

/// Returns the directory that `job` publishes to, if it exists.
///
/// # Errors
/// If it is also one of the inputs, because the next run would read what this one publishes.
pub fn out_directory(job: &Job, inputs: &[Source<'_>]) -> Result<Option<OutDirectory>> {
    let has_sites = job.rules.only_site().is_none();
    let Some(out) = OutDirectory::at(&job.publication.out, has_sites) else { return Ok(None) };
    inputs.iter().filter_map(Source::path).try_for_each(|input| check_is_not_out(input, &out))?;
    Ok(Some(out))
}

/// Checks that the run that publishes to `out` does not replace a set in the directory or location `input`.
///
/// # Errors
/// [`ErrorKind::Usage`] if it does; also if a store cannot be asked.
pub(super) fn check_is_not_out(input: &Path, out: &OutDirectory) -> Result<()> {
    match is_out(input, out)? {
        false => Ok(()),
        true => Err(Error::usage(message!(
            input,
            ": is an input, and ",
            Setting::Out,
            " publishes there, so each run would read what the previous one published; ",
            "publish to another directory, or list the files to read instead of the directory"
        ))),
    }
}

/// Splits what `url` has `found` into inputs and, if `url` is a pattern, the files of sets in `out`, the
/// location that the run publishes to: each run would read the set of the previous one.
///
/// # Errors
/// [`ErrorKind::Input`] if a pattern matches only such files; also if a store cannot be asked.
pub(super) fn split_off_own(
    url: &Path,
    found: Vec<Remote>,
    out: Option<&OutDirectory>,
) -> Result<(Vec<Remote>, Vec<Skipped>)> {
    let Some(out) = out.filter(|_| remote::is_pattern(url)) else { return Ok((found, Vec::new())) };
    let (mut inputs, mut own) = (Vec::with_capacity(found.len()), Vec::new());
    let mut known = HashMap::new();
    for one in found {
        match &one {
            Remote::File((name, _)) if name != url && is_own(name, out, &mut known)? => own.push(Skipped {
                path: escape::shown(name.as_os_str().as_encoded_bytes()),
                reason: "it belongs to a set where the run publishes, so the pattern leaves it out".into(),
                is_usual: false,
            }),
            _ => inputs.push(one),
        }
    }
    if inputs.is_empty() {
        let words = message!(
            url,
            ": matches only files of the set that ",
            Setting::Out,
            " replaces; give the files to read one by one"
        );
        return Err(Error::new(ErrorKind::Input, words));
    }
    Ok((inputs, own))
}

/// Whether `file` is one of a set in `out`, or of one of its sites, by its name. `known` has the answers for directories.
fn is_own(file: &Path, out: &OutDirectory, known: &mut HashMap<PathBuf, bool>) -> Result<bool> {
    let Some(directory) = file.parent().filter(|_| is_named(file, is_set_file)) else { return Ok(false) };
    if let Some(&is_own) = known.get(directory) {
        return Ok(is_own);
    }
    let is_own = is_out(directory, out)?;
    known.insert(directory.to_owned(), is_own);
    Ok(is_own)
}

/// Whether the run that publishes to `out` replaces a set in the directory or location `input`.
pub(super) fn is_out(input: &Path, out: &OutDirectory) -> Result<bool> {
    match out.location() {
        Some(out_path) => is_out_in_store(input, out_path, out.has_sites),
        None => Ok(input.is_dir() && (out.is(input) || out.has_sites && is_site(input, out))),
    }
}

/// Whether `input` is the directory of a site below `out`.
fn is_site(input: &Path, out: &OutDirectory) -> bool {
    place::holds_set(input)
        && input.canonicalize().is_ok_and(|path| path.parent().is_some_and(|parent| out.is(parent)))
}

/// Whether `input` is the location `out` in a store or, if `out` `has_sites`, the location of one of them.
fn is_out_in_store(input: &Path, out: &Path, has_sites: bool) -> Result<bool> {
    let (Some(input), Some(location)) = (Location::parse(input)?, Location::parse(out)?) else {
        return Ok(false);
    };
    match input.below(&location) {
        Some("") => Ok(true),
        Some(name) if has_sites && !name.contains('/') => {
            place::has_sets(&*place::view(out)?.below(name.as_ref()))
        }
        _ => Ok(false),
    }
}

/// Checks that none of `files`, which the index file `index` of an input directory lists, is in `out` or below. If `index` is below
/// `out` itself, they are data below `out`, which may be read.
///
/// # Errors
/// [`ErrorKind::Data`], with the first that is.
pub(super) fn check_lists_none_of_out(index: &Path, files: &[PlaceFile], out: &OutDirectory) -> Result<()> {
    // Files next to the index file are not links, so only those of other directories can be there.
    let is_elsewhere = |file: &&Path| file.parent() != index.parent();
    for file in files.iter().map(PlaceFile::path).filter(is_elsewhere) {
        if is_below(file, out)? && !is_below(index, out)? {
            return Err(Error::data(message!(
                index,
                ": lists ",
                file,
                ", which is below ",
                Setting::Out,
                ", so each run would read what the previous one published; ",
                "publish to another directory, or list the sitemaps to read instead of the index file"
            )));
        }
    }
    Ok(())
}

/// Whether `file` is in the directory or location `out` or below.
fn is_below(file: &Path, out: &OutDirectory) -> Result<bool> {
    let Some(out_path) = out.location() else { return Ok(out.holds(file)) };
    let (file, location) = (Location::parse(file)?, Location::parse(out_path)?);
    Ok(file.zip(location).is_some_and(|(file, location)| file.below(&location).is_some()))
}

/// Returns whether `is_name` is true of the name of `file`.
pub(super) fn is_named(file: &Path, is_name: fn(&str) -> bool) -> bool {
    file.file_name().and_then(|name| name.to_str()).is_some_and(is_name)
}
