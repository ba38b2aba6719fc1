//! Sources: expands the inputs of a job to files.

mod out;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::commands::check::{self, ExternalMember, Members, Set};
use crate::error::{Error, Result, is_on_web_server, is_url, message};
use crate::escape;
use crate::intake::format::{self, FormatOptions, OutDirectory, PartFiles, SkipReason};
use crate::intake::input::UnreadInput;
use crate::intake::read_at::RemoteFile;
use crate::intake::remote::{self, Remote, RemoteDirectory};
use crate::intake::report::Skipped;
use crate::intake::source::{Source, SourceKind};
use crate::job::Job;
use crate::place::{self, View};
use crate::set::manifest::Manifest;
use crate::set::name::{is_index_file, is_robots_file, is_sitemap_file, robots_file};
use crate::set::publish::newest;
use crate::words::and_more;
pub use out::out_directory;
use out::{check_is_not_out, check_lists_none_of_out, is_named, is_out, split_off_own};

/// Open inputs, and files that were skipped.
#[derive(Default)]
pub struct Sources<'a> {
    /// The inputs, in order.
    pub open: Vec<UnreadInput<'a>>,
    /// Files of input directories that are not read.
    pub skipped: Vec<Skipped>,
    /// Sitemaps that sets list besides their own. One may be an input all the same, as a file of a deeper directory is.
    external: Vec<ExternalMember>,
    /// The index files whose sitemaps are read.
    indexes: Vec<PathBuf>,
}

impl Sources<'_> {
    /// Checks that files of a set that the run of `job` replaces are inputs only together: all index files of the live set, and
    /// none of an earlier one; no sitemap of an earlier set next to one of the live set. Otherwise, URLs would be lost or listed
    /// again without notice. `out` is the result of [`out_directory`].
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data), with the files that are missing or too many; also if a set cannot be read.
    pub fn check_own_files(&self, job: &Job, out: Option<&OutDirectory>) -> Result<()> {
        let Some(out) = out else { return Ok(()) };
        let mut by_directory = BTreeMap::<PathBuf, Vec<&Path>>::new();
        let mut canonical = HashMap::<&Path, PathBuf>::new();
        let inputs = self.open.iter().filter_map(UnreadInput::path);
        let sitemaps = inputs.filter(|input| is_named(input, is_sitemap_file));
        for file in self.indexes.iter().map(PathBuf::as_path).chain(sitemaps) {
            let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
            let directory = directory.unwrap_or(Path::new("."));
            // A directory may be spelled in several ways. A location in a store has only one.
            let spelled_once = || directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
            let directory = canonical.entry(directory).or_insert_with(spelled_once).clone();
            by_directory.entry(directory).or_default().push(file);
        }
        for (directory, files) in by_directory {
            if is_out(&directory, out)? {
                let view = place::view_of_set(&directory, job.publication.name.as_ref())?;
                newest(&*view)?.map_or(Ok(()), |live| check_together(&files, &live))?;
            }
        }
        Ok(())
    }
}

/// Checks `files`, which are index files and sitemaps in the directory of the set `live`.
fn check_together(files: &[&Path], live: &Manifest) -> Result<()> {
    let named: HashMap<&OsStr, &Path> =
        files.iter().filter_map(|file| Some((file.file_name()?, *file))).collect();
    let find = |file: &String| named.get(OsStr::new(file)).copied();
    if let Some(own) = live.indexes.iter().find_map(find) {
        let mut missing = live.indexes.iter().filter(|file| find(file).is_none());
        if let Some(first) = missing.next() {
            let (first, others) = (own.with_file_name(first), and_more(missing.count()));
            return Err(Error::data(message!(
                own,
                ": lists only part of the live set, and this run would drop the rest; add ",
                &*first,
                "{others} to the inputs, or build from the output of `sitemill urls`"
            )));
        }
        if let Some(old) = live.superseded_indexes.iter().find_map(|old| find(&old.file)) {
            return Err(Error::data(message!(
                old,
                ": is an index file of an earlier set, and this run would list its URLs again; leave it out, \
                 or build from the output of `sitemill urls` for the index files to keep"
            )));
        }
    }
    let is_own = live.sitemaps.iter().any(|sitemap| find(&sitemap.file).is_some());
    match live.superseded.iter().find_map(|old| find(&old.file)).filter(|_| is_own) {
        None => Ok(()),
        Some(old) => Err(Error::data(message!(
            old,
            ": is a sitemap of an earlier set, and this run would list its URLs again; leave it out, or give the index files \
             of the set instead of sitemaps"
        ))),
    }
}

/// Opens all `inputs`. A directory is expanded to its part files, or to the set published in it. Part files need a success marker
/// if `needs_success`, also those that are given one by one, as by a shell, or by a pattern. A sitemap index is expanded to the
/// sitemaps that it lists in its directory or below. No file of a directory is opened twice, and none below `out`.
///
/// # Errors
/// If an input cannot be opened, is a directory without part files, or is an index of missing files; if an index file in a
/// directory lists files below `out`.
pub fn open_all<'a>(
    inputs: impl IntoIterator<Item = Source<'a>>,
    needs_success: bool,
    options: &FormatOptions,
    out: Option<&OutDirectory>,
) -> Result<Sources<'a>> {
    let mut sources = Sources::default();
    for input in inputs {
        match input.0 {
            SourceKind::Rows { name, rows } => sources.open.push(UnreadInput::rows(name, rows)),
            SourceKind::Path(name) if name.is_dir() => {
                let parts = format::part_files(&name, needs_success, out)?;
                open_directory(parts, &Listed::default(), options, out, &mut sources)?;
            }
            SourceKind::Path(name) => match remote::find(&name, needs_success, out)? {
                None => {
                    if needs_success {
                        format::check_part_is_finished(&name, |marker| Ok(marker.exists()))?;
                    }
                    open(&name, &Listed::default(), options, None, &mut |_| true, &mut sources)?;
                }
                Some(found) => {
                    let (found, own) = split_off_own(&name, found, out)?;
                    sources.skipped.extend(own);
                    open_remote(found, options, out, &mut sources)?;
                }
            },
        }
    }
    let paths: HashSet<&Path> = sources.open.iter().filter_map(UnreadInput::path).collect();
    let is_left = |member: &&ExternalMember| !paths.contains(&*member.path);
    let reason = "it is not from sitemill, and the set only lists it; give the file to read it";
    let name = |ExternalMember { path, url }: &ExternalMember| match path.exists() {
        true => escape::shown(path.as_os_str().as_encoded_bytes()),
        false => url.clone(),
    };
    let skipped =
        |member: &ExternalMember| Skipped { path: name(member), reason: reason.into(), is_usual: false };
    sources.skipped.extend(sources.external.iter().filter(is_left).map(skipped));
    Ok(sources)
}

/// Remote files that are known from a list, by their names.
type Listed = HashMap<PathBuf, Arc<dyn RemoteFile>>;

fn open_remote(
    found: Vec<Remote>,
    options: &FormatOptions,
    out: Option<&OutDirectory>,
    sources: &mut Sources<'_>,
) -> Result<()> {
    for one in found {
        match one {
            Remote::File((name, file)) => {
                let listed = HashMap::from([(name.clone(), file)]);
                open(&name, &listed, options, None, &mut |_| true, sources)?;
            }
            Remote::Directory(RemoteDirectory { path, parts, files }) => {
                // A pattern may match it.
                out.map_or(Ok(()), |out| check_is_not_out(&path, out))?;
                open_directory(parts, &files.into_iter().collect(), options, out, sources)?;
            }
        }
    }
    Ok(())
}

fn open_directory(
    PartFiles { files, mut skipped }: PartFiles,
    listed: &Listed,
    options: &FormatOptions,
    out: Option<&OutDirectory>,
    sources: &mut Sources<'_>,
) -> Result<()> {
    let mut seen = HashSet::new();
    let sets = sets(&files)?;
    let DataFiles { paths, published } = data_files(&files, &sets)?;
    for file in paths {
        open(&file, listed, options, out, &mut |file| seen.insert(file.to_owned()), sources)?;
    }
    // All index files have been read, and the sitemaps that they list are kept for a while.
    published.iter().try_for_each(Set::check_current)?;
    let external: HashSet<&PathBuf> = sources.external.iter().map(|member| &member.path).collect();
    let is_left = |file: &&PathBuf| {
        sets.contains_key(directory(file)) && !seen.contains(*file) && !external.contains(*file)
    };
    let left = files.iter().filter(|file| !is_named(file, is_robots_file)).filter(is_left);
    skipped.extend(left.map(|file| (file.clone(), SkipReason::NotListed)));
    skipped.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    sources.skipped.extend(skipped.into_iter().map(|(path, reason)| {
        // Markers, the root of a disk, and the sitemaps of earlier sets are expected here.
        let is_usual = match reason {
            SkipReason::Hidden | SkipReason::LostAndFound => true,
            SkipReason::NotListed => {
                path.file_name().and_then(|name| name.to_str()).is_some_and(is_sitemap_file)
            }
            SkipReason::NotPart
            | SkipReason::Output
            | SkipReason::Prefix
            | SkipReason::LinkedDirectory
            | SkipReason::NotRegular => false,
        };
        let path = escape::shown(path.as_os_str().as_encoded_bytes());
        Skipped { path, reason: reason.as_str().into(), is_usual }
    }));
    Ok(())
}

/// Returns the directory of a file that was listed.
fn directory(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// Published sets, by their directories.
type Sets<'f> = HashMap<&'f Path, Vec<Arc<dyn View>>>;

/// Returns the directories of `files` in which sets are published. One without files of robots lines and without index files is not
/// asked for manifests: that takes requests to a store, and data has many directories.
fn sets(files: &[PathBuf]) -> Result<Sets<'_>> {
    let mut sets = Sets::new();
    for file in files.iter().filter(|file| is_of_set(file)) {
        let directory = directory(file);
        if !sets.contains_key(directory) {
            let view = place::view(directory)?;
            let mut published = Set::published(&*view, &view.list()?, None)?;
            // In the order of their robots lines among the files.
            published.sort_by_cached_key(|set| robots_file(set.name()));
            sets.insert(directory, published);
        }
    }
    sets.retain(|_, published| !published.is_empty());
    Ok(sets)
}

/// Returns whether `file` has a name by which a set is recognised.
fn is_of_set(file: &Path) -> bool {
    // An index file alone is not enough where the manifest that would be found may be that of another set.
    is_named(file, is_robots_file) || (is_named(file, is_index_file) && !place::has_unknown_state(file))
}

/// The files to start from, and the published sets among them.
struct DataFiles {
    paths: Vec<PathBuf>,
    published: Vec<Set>,
}

/// Returns the files to start from. In the directory of published sets these are their index files, because the directory also
/// holds sitemaps of earlier sets.
fn data_files(files: &[PathBuf], sets: &Sets<'_>) -> Result<DataFiles> {
    let mut data = DataFiles { paths: Vec::with_capacity(files.len()), published: Vec::new() };
    let (mut is_read, mut is_checked) = (HashSet::new(), HashSet::new());
    for file in files {
        match sets.get(directory(file)) {
            None => {
                let may_be_part = is_named(file, is_sitemap_file) && !is_url(file);
                if may_be_part && is_checked.insert(directory(file)) {
                    Set::check_published(&*place::view(directory(file))?)?;
                }
                data.paths.push(file.clone());
            }
            Some(sets) if is_of_set(file) && is_read.insert(directory(file)) => {
                for view in sets {
                    let set = Set::to_read(view)?;
                    data.paths.extend(set.files_to_read()?.iter().map(|file| file.path().to_owned()));
                    data.published.push(set);
                }
            }
            Some(_) => {}
        }
    }
    Ok(data)
}

/// Opens the file `name`, which may be among those `listed`.
fn open_one<'a>(name: &Path, listed: &Listed) -> Result<UnreadInput<'a>> {
    if let Some(file) = listed.get(name) {
        return Ok(UnreadInput::remote(name.to_owned(), Arc::clone(file)));
    }
    match remote::find_exact(name)? {
        Some(Remote::File((name, file))) => Ok(UnreadInput::remote(name, file)),
        _ => UnreadInput::open(name),
    }
}

/// Opens the file `name` or, if it is an index file, the sitemaps that it lists, none of which may be below `out`.
fn open(
    name: &Path,
    listed: &Listed,
    options: &FormatOptions,
    out: Option<&OutDirectory>,
    is_new: &mut dyn FnMut(&Path) -> bool,
    sources: &mut Sources<'_>,
) -> Result<()> {
    if !is_new(name) {
        return Ok(());
    }
    let source = open_one(name, listed)?;
    if !is_index(&source, options)? {
        sources.open.push(source);
        return Ok(());
    }
    if is_on_web_server(name) {
        let words = "is a sitemap index on a web server; give the URLs of its sitemaps instead";
        return Err(Error::data(message!(name, ": {words}")));
    }
    let Members { files, external } = check::members(&place::file(name)?)?;
    out.map_or(Ok(()), |out| check_lists_none_of_out(name, &files, out))?;
    sources.indexes.push(name.to_owned());
    sources.external.extend(external);
    for member in &files {
        let member = member.path();
        if !is_new(member) {
            continue;
        }
        let source = open_one(member, listed)?;
        if source.is_empty() {
            let words = message!(
                name,
                ": lists ",
                member,
                ", which is empty; recreate that file, or give the other files"
            );
            return Err(Error::data(words));
        }
        // A remote one is refused when it is read, which saves a request for each.
        if !source.is_remote() && is_index(&source, options)? {
            let words =
                message!(name, ": lists ", member, ", which is an index file itself; give that one instead");
            return Err(Error::data(words));
        }
        sources.open.push(source);
    }
    Ok(())
}

fn is_index(source: &UnreadInput<'_>, options: &FormatOptions) -> Result<bool> {
    // A request for each of many objects would take long.
    if source.is_remote() && !format::is_named_as_sitemap(source.name(), options) {
        return Ok(false);
    }
    source.peek()?.map_or(Ok(false), |stream| format::is_index(source.name(), stream, options))
}
