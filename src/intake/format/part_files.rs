//! Part files: a directory of files as Spark, Hive and data warehouses write it.

use std::collections::BTreeSet;
#[cfg(feature = "cloud")]
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Message, Result, Setting, is_url, message};
use crate::place::LOST_AND_FOUND;

/// The file that a job writes after all of its part files.
const SUCCESS: &str = "_SUCCESS";

/// The directory of a job that has not ended, next to where its part files will be.
const TEMPORARY: &str = "_temporary";

/// Names that only a directory of a table format has, and the name of the format. Every change of such a table adds files and keeps
/// the old ones until they are purged, so which files are current is only in the log of the table.
const TABLE_FORMATS: [(&str, &str); 3] = [
    ("_delta_log", "a Delta table"),
    (".hoodie", "a Hudi table"),
    (".hoodie_partition_metadata", "a Hudi table"),
];

/// The directory next to the data files of an Iceberg table, and the end of the names of files in it.
const ICEBERG: (&str, &str) = ("metadata", ".metadata.json");

/// The files in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartFiles {
    /// The files to read, sorted by name.
    pub files: Vec<PathBuf>,
    /// Files and directories that are not read, sorted by name.
    pub skipped: Vec<(PathBuf, SkipReason)>,
}

/// Why a file or directory below an input directory is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// Its name begins with `.` or `_`, like those of markers, checksums and unfinished files.
    Hidden,
    /// It is the directory in which fsck puts recovered files.
    LostAndFound,
    /// There are `part-*` files, and it is not one of them.
    NotPart,
    /// It is in, or links to, the directory that the run publishes to.
    Output,
    /// A set is published in its directory, and no index file of the set lists it.
    NotListed,
    /// It is an object whose name is also that of a prefix with objects below it.
    #[cfg_attr(not(feature = "cloud"), allow(dead_code, reason = "only object stores have prefixes"))]
    Prefix,
    /// It is a link to a directory. Such links can form cycles.
    LinkedDirectory,
    /// It is a pipe, a socket or a device.
    NotRegular,
}

impl SkipReason {
    /// The reason in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "its name begins with . or _",
            Self::LostAndFound => "fsck puts recovered files there",
            Self::NotPart => "there are part-* files, and only these are read",
            Self::Output => "it belongs to the output directory",
            Self::NotListed => "the set published in its directory does not list it",
            Self::Prefix => "there are objects below it, and only these are read; write a slash at the end",
            Self::LinkedDirectory => "it is a link to a directory, and these are not followed",
            Self::NotRegular => "it is not a regular file",
        }
    }
}

/// The directory or location that a run publishes to, from which it does not read.
#[derive(Debug, Clone)]
pub struct OutDirectory {
    path: PathBuf,
    /// Device and inode; `None` for a location in a store.
    identity: Option<(u64, u64)>,
    /// Whether it is the parent of the directories that the sets of several sites are published in.
    pub has_sites: bool,
}

impl OutDirectory {
    /// The directory or location `path`; `None` for a directory that does not exist yet.
    pub fn at(path: &Path, has_sites: bool) -> Option<Self> {
        match path.canonicalize() {
            Ok(path) => {
                let identity = Some(identity(&path)?);
                Some(Self { path, identity, has_sites })
            }
            Err(_) => is_url(path).then(|| Self { path: path.into(), identity: None, has_sites }),
        }
    }

    /// Its location, if it is in a store.
    pub fn location(&self) -> Option<&Path> {
        self.identity.is_none().then_some(&*self.path)
    }

    /// Whether `path` is this directory, under any name.
    pub fn is(&self, path: &Path) -> bool {
        self.identity.is_some() && identity(path) == self.identity
    }

    /// Whether `path` is in it or below, with symbolic links resolved.
    pub fn holds(&self, path: &Path) -> bool {
        path.canonicalize().is_ok_and(|path| path.starts_with(&self.path))
    }

    /// Whether `path` is directly in it, or in one of its hidden directories, with symbolic links resolved.
    fn holds_directly(&self, path: &Path) -> bool {
        let path = path.canonicalize().ok();
        let below = path.as_deref().and_then(|path| path.strip_prefix(&self.path).ok());
        below.is_some_and(|below| below.components().count() < 2 || is_hidden(below.as_os_str()))
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|meta| (meta.dev(), meta.ino()))
}

/// The table format that `path`, a file or directory in an input directory, shows.
fn table_format(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?;
    let is_iceberg = || {
        let (directory, end) = ICEBERG;
        name.as_encoded_bytes().ends_with(end.as_bytes())
            && path.parent().is_some_and(|it| it.ends_with(directory))
    };
    let known = TABLE_FORMATS.into_iter().find(|(known, _)| name == *known).map(|(_, format)| format);
    known.or_else(|| is_iceberg().then_some("an Iceberg table"))
}

/// Refuses the local `directory` if it is the data directory or a partition of a table, which shows only above it.
fn check_above(directory: &Path) -> Result<()> {
    let whole = directory.canonicalize().unwrap_or_default();
    let is_inner = |directory: &&Path| is_partition(directory) || directory.ends_with("data");
    for above in whole.ancestors().take_while(is_inner).filter_map(Path::parent) {
        let hidden = TABLE_FORMATS.iter().map(|(name, _)| above.join(name)).filter(|path| path.exists());
        let metadata = fs::read_dir(above.join(ICEBERG.0)).into_iter().flatten();
        let metadata = metadata.filter_map(|entry| Some(entry.ok()?.path()));
        if let Some(format) = hidden.chain(metadata).find_map(|path| table_format(&path)) {
            return Err(of_table(directory, "part of ", format));
        }
    }
    Ok(())
}

/// The error for `directory`, which belongs to a table in this `format`.
fn of_table(directory: &Path, part: &str, format: &str) -> Error {
    Error::data(message!(
        directory,
        ": is {part}{format}, whose directory also has files of earlier versions; export its current version, or build from a \
         data frame of it with Spark or Python"
    ))
}

/// Whether `directory` is that of a partition such as `day=2024-05-01`.
fn is_partition(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.as_encoded_bytes().contains(&b'='))
}

fn is_hidden(name: &std::ffi::OsStr) -> bool {
    matches!(name.as_encoded_bytes().first(), Some(b'.' | b'_'))
}

/// The data files below `directory`: those named `part-*` if there are any, otherwise all. Its directories (partitions such as
/// `day=2024-05-01`) are searched too. Files whose names begin with `.` or `_` are never data, nor is anything in `lost+found` or
/// in `out`.
///
/// # Errors
/// If it cannot be read, or has no data file. If `needs_success`, and there is no `_SUCCESS` in it, in the directories of its files
/// or, for a partition, above it: the job that writes the files has not finished. If it is a table of Delta, Hudi or Iceberg, or
/// part of one.
pub fn part_files(directory: &Path, needs_success: bool, out: Option<&OutDirectory>) -> Result<PartFiles> {
    // Data may be below the directory of a published set. Then only the files directly in that directory belong to the set.
    let is_below_out = out.is_some_and(|out| out.holds(directory));
    let is_output = |path: &Path, is_link: bool| match out {
        Some(out) if is_link && is_below_out => out.holds_directly(path),
        Some(out) if is_link => out.holds(path),
        Some(out) => out.is(path),
        None => false,
    };
    let mut found = PartFiles::default();
    check_above(directory)?;
    add_files(directory, &is_output, &mut found)?;
    let mut exists = |marker: &Path| Ok(marker.exists());
    let markers: Option<&mut MarkerExists<'_>> = if needs_success { Some(&mut exists) } else { None };
    chosen(found, directory, markers)
}

/// Checks that the job that writes `file` has ended, if it is a part file that was named alone or by a pattern. The marker is in
/// its directory or, if that is one of a partition such as `day=2024-05-01`, above it; `exists` tells whether one is at a path.
///
/// # Errors
/// [`ErrorKind::Data`](crate::ErrorKind::Data) if there is no marker. Any error of `exists`.
pub fn check_part_is_finished(file: &Path, mut exists: impl FnMut(&Path) -> Result<bool>) -> Result<()> {
    let directory = file.parent().filter(|_| is_part(file));
    match directory.map_or(Ok(true), |directory| is_finished(directory, None, &mut exists))? {
        true => Ok(()),
        false => Err(unfinished(file, &format!("there is no {SUCCESS} beside this part file"))),
    }
}

/// Tells whether there is a marker at a path.
pub type MarkerExists<'e> = dyn FnMut(&Path) -> Result<bool> + 'e;

/// Whether the job that writes the part files in `directory` has ended. The marker is there or, if that is a directory in the input
/// directory `within` or one of a partition, above it.
fn is_finished(directory: &Path, within: Option<&Path>, exists: &mut MarkerExists<'_>) -> Result<bool> {
    let is_inner = |directory: &&Path| {
        is_partition(directory) || within.is_some_and(|it| *directory != it && directory.starts_with(it))
    };
    let inner = directory.ancestors().take_while(is_inner).count();
    let mut directories: Vec<&Path> = directory.ancestors().take(inner + 1).collect();
    // The outermost first: most jobs have one marker there for all partitions, and looking for one in a store takes a request.
    while let Some(directory) = directories.pop() {
        if exists(&directory.join(SUCCESS))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks that the jobs that write what was `found` in the input directory `directory` have ended.
fn check_is_finished(found: &PartFiles, directory: &Path, exists: &mut MarkerExists<'_>) -> Result<()> {
    // First, because a role may be allowed to read this prefix of a bucket and nothing above it.
    if exists(&directory.join(SUCCESS))? {
        return Ok(());
    }
    // A job that commits its files at the end has none until then.
    let begun = found.skipped.iter().map(|(path, _)| path).filter(|path| path.ends_with(TEMPORARY));
    let written: BTreeSet<&Path> = found.files.iter().chain(begun).filter_map(|path| path.parent()).collect();
    let mut unfinished_in = Vec::new();
    for &inner in &written {
        if !is_finished(inner, Some(directory), exists)? {
            unfinished_in.push(inner);
        }
    }
    let place = match unfinished_in[..] {
        [] if !written.is_empty() => return Ok(()),
        [first, ..] if unfinished_in.len() < written.len() => first,
        _ => directory,
    };
    let files = found.files.iter().filter(|file| file.starts_with(place)).count();
    Err(unfinished(place, &format!("has no {SUCCESS} (data files: {files})")))
}

/// The error for `path`, whose job may still be writing, as `why` says.
fn unfinished(path: &Path, why: &str) -> Error {
    Error::data(message!(
        path,
        ": {why}: the job that writes it has not ended, or failed; if the files are complete anyway, run again without ",
        Setting::RequireSuccessMarker
    ))
}

/// Returns whether `file` is named like one of the files that a job writes in parallel.
fn is_part(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-"))
}

/// The data files among the objects below the location `directory`, by the same rules as in a directory. `names` are their names
/// from there in order, and `out` is that of the location that the run publishes to. If success markers are needed, `above` tells
/// whether there is one at a path above the location.
///
/// # Errors
/// Same as [`part_files`], and any error of `above`.
#[cfg(feature = "cloud")]
pub fn part_files_listed(
    directory: &Path,
    names: &[&str],
    above: Option<&mut MarkerExists<'_>>,
    out: Option<&str>,
) -> Result<PartFiles> {
    let mut found = PartFiles::default();
    let is_output = |name: &str, out: &str| {
        name.strip_prefix(out).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for &name in names {
        let hidden = name.split('/').position(|part| is_hidden(part.as_ref()));
        let skip = |found: &mut PartFiles, name: &str, reason| {
            let path = directory.join(name);
            // The objects below a name follow each other.
            if found.skipped.last().is_none_or(|(last, _)| *last != path) {
                found.skipped.push((path, reason));
            }
        };
        match hidden {
            _ if out.is_some_and(|out| is_output(name, out)) => {
                skip(&mut found, out.unwrap_or_default(), SkipReason::Output);
            }
            Some(at) => {
                let first: Vec<&str> = name.split('/').take(at + 1).collect();
                skip(&mut found, &first.join("/"), SkipReason::Hidden);
            }
            None => found.files.push(directory.join(name)),
        }
    }
    let Some(above) = above else { return chosen(found, directory, None) };
    let markers: HashSet<PathBuf> =
        names.iter().filter(|name| name.ends_with(SUCCESS)).map(|name| directory.join(name)).collect();
    let mut exists = |marker: &Path| match marker.starts_with(directory) {
        true => Ok(markers.contains(marker)),
        false => above(marker),
    };
    chosen(found, directory, Some(&mut exists))
}

/// The files that are read among all that were `found` in `directory`. They need success markers if `markers` looks for these.
fn chosen(
    mut found: PartFiles,
    directory: &Path,
    markers: Option<&mut MarkerExists<'_>>,
) -> Result<PartFiles> {
    let mut paths = found.files.iter().chain(found.skipped.iter().map(|(path, _)| path));
    if let Some(format) = paths.find_map(|path| table_format(path)) {
        return Err(of_table(directory, "", format));
    }
    if found.files.iter().any(|file| is_part(file)) {
        let others = found.files.extract_if(.., |file| !is_part(file));
        found.skipped.extend(others.map(|file| (file, SkipReason::NotPart)));
    }
    found.files.sort_unstable();
    found.skipped.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    if let Some(exists) = markers {
        check_is_finished(&found, directory, exists)?;
    }
    if found.files.is_empty() {
        let skipped = match &found.skipped[..] {
            [] => Message::default(),
            [(first, reason), ..] => {
                let (count, reason) = (found.skipped.len(), reason.as_str());
                message!(" (skipped: {count}; ", &**first, ": {reason})")
            }
        };
        return Err(Error::data(message!(directory, ": has no data files", skipped)));
    }
    Ok(found)
}

/// Adds the files below `directory`. `is_output` tells whether a path belongs to the directory that the run publishes to.
fn add_files(directory: &Path, is_output: &dyn Fn(&Path, bool) -> bool, found: &mut PartFiles) -> Result<()> {
    let unreadable = |error| Error::input(directory, error);
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        if is_hidden(&entry.file_name()) {
            found.skipped.push((path, SkipReason::Hidden));
        } else if kind.is_dir() && entry.file_name() == LOST_AND_FOUND {
            found.skipped.push((path, SkipReason::LostAndFound));
        } else if (kind.is_dir() || kind.is_symlink()) && is_output(&path, kind.is_symlink()) {
            found.skipped.push((path, SkipReason::Output));
        } else if kind.is_dir() {
            add_files(&path, is_output, found)?;
        } else {
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => found.skipped.push((path, SkipReason::LinkedDirectory)),
                Ok(meta) if !meta.is_file() => found.skipped.push((path, SkipReason::NotRegular)),
                // A file without accessible metadata fails when it is opened.
                _ => found.files.push(path),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marker_of_all_partitions_is_looked_for_first() {
        for (at, names) in
            [("t", &["t"][..]), ("t/a=1", &["t", "t/a=1"]), ("elsewhere", &["t", "t/a=1", "t/a=1/b=2"])]
        {
            let mut asked = Vec::new();
            let checked = check_part_is_finished(Path::new("t/a=1/b=2/part-0"), |marker| {
                asked.push(marker.to_owned());
                Ok(marker.parent() == Some(Path::new(at)))
            });
            assert_eq!(checked.is_ok(), at != "elsewhere");
            assert_eq!(asked, names.iter().map(|name| Path::new(name).join(SUCCESS)).collect::<Vec<_>>());
        }
    }
}
