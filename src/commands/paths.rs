//! Paths: compares everything that a run reads with everything it writes, before it begins.
//!
//! A file that is both would be destroyed, and so would a file of the live set. Paths cannot be compared as text, because symbolic
//! links, hard links and different spellings lead to the same file. Files are therefore compared by device and inode.

mod external;
mod jobs;
mod resolved;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::common::output::{STREAM, is_stderr, is_stdout};
use crate::error::{Error, Message, Result, Setting, is_url, message};
use crate::intake::format::{self, OutDirectory};
use crate::place::{self as places, Record, STATE};
use crate::set::name::{is_robots_file, is_set_file};
use resolved::{File, Identity, ResolvedPath};

/// The files that a run reads and those that it writes. [`Paths::check`] refuses a run that would destroy its own input, one of its
/// results or a published set. A job gives the paths that it knows ([`Job::paths`](crate::Job::paths)), and callers add their own.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    reads: Vec<Named>,
    writes: Vec<Named>,
    /// The directory that a set will be published in, and whether it is the parent of several sites.
    out: Option<(PathBuf, bool)>,
}

/// A path, and the setting or argument that names it.
#[derive(Debug, Clone)]
struct Named {
    what: Message,
    path: PathBuf,
    /// Whether the path was given. Some results go to standard output without one.
    is_given: bool,
}

impl Named {
    fn of(what: impl Into<Message>, path: &Path) -> Self {
        Self { what: what.into(), path: path.into(), is_given: true }
    }

    fn message(&self) -> Message {
        message!(&self.what, " ", &*self.path)
    }

    /// Returns what the user has given: the name alone, or with its path.
    fn argument(&self) -> Message {
        if self.is_given { self.message() } else { self.what.clone() }
    }
}

/// Why a path must not be written.
struct Conflict {
    /// The indexes in [`Paths::writes`]: that of the path, or both if two results conflict. Empty if it is the output directory.
    written: Vec<usize>,
    /// Whether two results share standard output, which destroys no existing content.
    is_shared_stream: bool,
    why: Error,
}

/// Paths that must not be written.
#[derive(Debug)]
pub struct Conflicts {
    refused: Vec<Message>,
    first: Option<Error>,
}

impl Conflicts {
    /// Returns whether the path that `what` names must not be written.
    pub fn are_of(&self, what: impl Into<Message>) -> bool {
        self.refused.contains(&what.into())
    }

    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if there are any, naming both options of the first.
    pub fn into_result(self) -> Result<()> {
        self.first.map_or(Ok(()), Err)
    }
}

impl Paths {
    /// Adds a file or directory that is read; `-` is standard input. `what` names it in messages, such as `input`.
    pub fn read(&mut self, what: impl Into<Message>, path: &Path) {
        self.reads.push(Named::of(what, path));
    }

    /// Adds a file that is written; `-` is standard output. `what` names it in messages.
    pub fn write(&mut self, what: impl Into<Message>, path: &Path) {
        self.writes.push(Named::of(what, path));
    }

    /// Adds a result that goes to standard output. `what` names it in messages.
    pub fn write_to_stdout(&mut self, what: impl Into<Message>) {
        self.writes.push(Named { is_given: false, ..Named::of(what, Path::new(STREAM)) });
    }

    /// Returns whether two paths lead to the same file, or will once it is created.
    pub fn are_same(one: &Path, other: &Path) -> bool {
        ResolvedPath::of(one).is(&ResolvedPath::of(other))
    }

    /// Sets the directory that a set is published in, or the parent of several such directories.
    fn publish(&mut self, out: &Path, is_parent: bool) {
        self.out = Some((out.into(), is_parent));
    }

    /// Refuses a path that is written and is also read, written by another option, or a file of a published set. Devices,
    /// pipes and terminals may be named several times, but standard output only once. Opens and changes nothing.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage), naming both options.
    pub fn check(&self) -> Result<()> {
        self.conflicts().into_result()
    }

    /// Returns everything that [`Paths::check`] refuses, for callers that report it in other ways.
    pub fn conflicts(&self) -> Conflicts {
        let found = self.find_conflicts();
        let of = |conflict: &Conflict| {
            // The refusal can still be reported on standard output.
            let skipped = if conflict.is_shared_stream { conflict.written.len() - 1 } else { 0 };
            conflict.written.iter().skip(skipped).map(|&at| self.writes[at].what.clone()).collect::<Vec<_>>()
        };
        let refused = found.iter().flat_map(of).collect();
        Conflicts { refused, first: found.into_iter().next().map(|conflict| conflict.why) }
    }

    /// Creates the directory of the set if it does not exist and a result is to be written into it, or into a parent that does not
    /// exist either.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if it cannot be created; [`ErrorKind::Usage`](crate::ErrorKind::Usage) if
    /// nothing is published at such a path.
    pub fn make_out(&self) -> Result<()> {
        let Some((out, _)) = &self.out else { return Ok(()) };
        match out.symlink_metadata().is_err() && self.writes.iter().any(|named| self.needs_out(named)) {
            true => places::check(out).and_then(|()| places::create(out)),
            false => Ok(()),
        }
    }

    /// Checks that the results could be created, for a dry run, which does not create all of them: their directories exist, or are
    /// created with that of the set.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if one of them could not be created.
    pub fn check_directories(&self) -> Result<()> {
        for named in self.writes.iter().filter(|named| !self.needs_out(named)) {
            let path = &*named.path;
            let directory = parent_of(path).map_or(Ok(()), |parent| parent.join(".").metadata().map(drop));
            places::fs::check_is_file_path(path)?;
            let checked = if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { directory };
            checked.map_err(|error| Error::output(path, error))?;
        }
        Ok(())
    }

    /// Whether the file needs the directory of the set: it is in it, or next to it in a parent that is created with it.
    fn needs_out(&self, named: &Named) -> bool {
        let is_missing = |parent: &&Path| parent.symlink_metadata().is_err();
        let below = |parent: &Path| {
            self.out.as_ref().is_some_and(|(out, _)| ResolvedPath::of(out).below(parent).is_some())
        };
        parent_of(&named.path).filter(is_missing).is_some_and(below)
    }

    fn find_conflicts(&self) -> Vec<Conflict> {
        let resolved: Vec<ResolvedPath> = self.writes.iter().map(resolve_written).collect();
        let mut conflicts = Vec::from_iter(self.out_in_state());
        let is_file = |place: &ResolvedPath| place.file.is_some_and(|file| file.is_regular);
        let read = if resolved.iter().any(is_file) { self.identities_read() } else { HashMap::new() };
        for (at, (named, place)) in self.writes.iter().zip(&resolved).enumerate() {
            if place.is_no_file() {
                continue;
            }
            let same = place.file.and_then(|file| read.get(&file.identity));
            let why = same
                .map(|input| {
                    message!(named.message(), ": the same file as ", input.message(), "; use another file")
                })
                .or_else(|| self.published(named, place))
                .or_else(|| {
                    let set = external::listing(&named.path, place)?;
                    Some(message!(
                        named.message(),
                        ": a sitemap that the set in ",
                        &*set,
                        " lists besides its own; use another file"
                    ))
                })
                .or_else(|| self.read_next_time(named, place));
            conflicts.extend(why.map(|why| Conflict {
                written: vec![at],
                is_shared_stream: false,
                why: Error::usage(why),
            }));
        }
        for (second, (named, place)) in self.writes.iter().zip(&resolved).enumerate() {
            let before = self.writes.iter().zip(&resolved).enumerate().take(second);
            conflicts.extend(before.filter_map(|(first, (other, of_other))| {
                let are_streams = is_stdout(&named.path) && is_stdout(&other.path);
                let are_stderr = is_stderr(&named.path) && is_stderr(&other.path);
                let is_same = place.is(of_other) && !place.is_no_file() && !are_stderr;
                let why = match are_streams {
                    true => message!(
                        named.argument(),
                        ": ",
                        other.argument(),
                        " writes to standard output as well; give a file for one of them"
                    ),
                    false => message!(
                        named.message(),
                        ": the same file as ",
                        other.message(),
                        "; give each a file of its own"
                    ),
                };
                (are_streams || is_same).then(|| Conflict {
                    written: vec![first, second],
                    is_shared_stream: are_streams,
                    why: Error::usage(why),
                })
            }));
        }
        conflicts
    }

    /// Returns why no set can be published in the output directory: the next run for the set above removes it.
    fn out_in_state(&self) -> Option<Conflict> {
        let (out, _) = self.out.as_ref()?;
        let is_in_state = match is_url(out) {
            true => places::is_in_state(out),
            false => {
                let place = ResolvedPath::of(out);
                place.directory.join(place.rest).ancestors().any(places::is_state)
            }
        };
        is_in_state.then(|| Conflict {
            written: Vec::new(),
            is_shared_stream: false,
            why: Error::usage(why_not_in_state(message!(Setting::Out, " ", &**out), "a directory")),
        })
    }

    /// Returns every file that is read, as far as is known without opening one.
    fn identities_read(&self) -> HashMap<Identity, Named> {
        let mut read = HashMap::new();
        let mut add = |what: &Message, path: &Path, file: Option<File>| {
            if let Some(file) = file.filter(|file| file.is_regular) {
                read.entry(file.identity).or_insert_with(|| Named::of(what.clone(), path));
            }
        };
        for Named { what, path, .. } in &self.reads {
            if path == Path::new(STREAM) {
                add(what, path, File::stdin());
            } else if path.is_dir() {
                let files = self.files_read(path);
                files.iter().for_each(|file| add(what, file, File::at(file)));
            } else {
                add(what, path, File::at(path));
            }
        }
        read
    }

    /// Returns the files that are read for `directory`.
    fn files_read(&self, directory: &Path) -> Vec<PathBuf> {
        // Errors are reported when it is read.
        let out = self.out.as_ref().and_then(|(out, is_parent)| OutDirectory::at(out, *is_parent));
        let mut files = format::part_files(directory, false, out.as_ref()).unwrap_or_default().files;
        let mut sets = HashMap::new();
        files.retain(|file| !is_beside_set(file, &mut sets));
        files
    }

    /// Returns whether `file` is in the output directory. Files there are inputs only if they are named.
    fn is_of_out(&self, file: &Path) -> bool {
        self.out
            .as_ref()
            .is_some_and(|(out, _)| file.starts_with(out) || ResolvedPath::of(file).below(out).is_some())
    }

    /// Returns why `place` is part of a published set, or will be.
    fn published(&self, named: &Named, place: &ResolvedPath) -> Option<Message> {
        let (parent, name) = place.parent();
        let name = name.to_str().unwrap_or_default();
        let is_ours = is_published_name(name);
        let out = self.out.as_ref().map(|(out, is_parent)| (out.as_path(), *is_parent));
        // The depth of the sets below the output directory.
        let levels = out.map_or(0, |(_, is_parent)| if is_parent { 2 } else { 1 });
        let below: Option<Vec<_>> = out.and_then(|(out, _)| {
            Some(place.below(out)?.components().map(|part| part.as_os_str().to_owned()).collect())
        });
        let below = below.unwrap_or_default();
        let is_state = below.iter().take(levels).any(|part| part == STATE);
        if is_state || place.directory.ancestors().any(places::is_state) {
            return Some(why_not_in_state(named.message(), "a file"));
        }
        if is_ours && (1..=levels).contains(&below.len()) {
            return Some(message!(
                named.message(),
                ": a name that is published in ",
                Setting::Out,
                " ",
                out?.0,
                "; use another file"
            ));
        }
        let is_set = is_ours && places::holds_set(&parent);
        let is_linked =
            || place.file.is_some_and(|file| file.is_linked && out.is_some_and(|(out, _)| has(out, file)));
        (is_set || is_linked()).then(|| {
            let set = if is_set { &parent } else { out.map_or(Path::new(""), |(out, _)| out) };
            message!(named.message(), ": a file of the set that is published in ", set, "; use another file")
        })
    }

    /// Returns why a file that does not exist yet would be an input of the next run.
    fn read_next_time(&self, named: &Named, place: &ResolvedPath) -> Option<Message> {
        if place.file.is_some() {
            return None;
        }
        let (parent, _) = place.parent();
        let directory = self.reads.iter().filter(|read| read.path.is_dir()).find(|read| {
            let Some(below) = place.below(&read.path) else { return false };
            let is_hidden = |part: std::path::Component<'_>| {
                matches!(part.as_os_str().as_encoded_bytes().first(), Some(b'.' | b'_'))
            };
            let is_part = |file: &Path| {
                file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"part-"))
            };
            !below.components().any(is_hidden)
                && !self.is_of_out(&parent.join("file"))
                && !has_set(&parent)
                && !self.files_read(&read.path).first().is_some_and(|file| is_part(file))
        })?;
        Some(message!(
            named.message(),
            ": is in ",
            directory.message(),
            ", and the next run would read it; choose a file elsewhere"
        ))
    }
}

fn resolve_written(named: &Named) -> ResolvedPath {
    if is_stdout(&named.path) { ResolvedPath::stdout() } else { ResolvedPath::of(&named.path) }
}

/// The directory of the file at `path`, unless that is the working directory.
fn parent_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Says that `what` lies in the state of a set, and to choose `other` instead.
fn why_not_in_state(what: Message, other: &str) -> Message {
    message!(what, ": is in {STATE}, which belongs to sitemill; choose {other} elsewhere")
}

/// Returns whether `build` gives a file the name.
fn is_published_name(name: &str) -> bool {
    is_set_file(name) || places::is_switch_file(name)
}

/// Returns whether `file` is in the directory of a published set without belonging to the set. `sets` remembers which directories
/// contain one.
fn is_beside_set(file: &Path, sets: &mut HashMap<PathBuf, bool>) -> bool {
    let is_xml = file.extension().is_some_and(|extension| extension == "xml" || extension == "gz");
    let Some(parent) = file.parent().filter(|_| !is_xml) else { return false };
    *sets.entry(parent.to_owned()).or_insert_with(|| has_set(parent))
}

/// Returns whether a set is published in `directory`, according to its lines for robots.txt.
fn has_set(directory: &Path) -> bool {
    names_in(directory).any(|name| name.to_str().is_some_and(is_robots_file))
}

fn names_in(directory: &Path) -> impl Iterator<Item = OsString> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name())
}

/// Returns whether `file` is a link to a file of a set in `out`.
fn has(out: &Path, file: File) -> bool {
    let is_ours = |name: &OsString| name.to_str().is_some_and(is_published_name);
    if is_url(out) {
        return false;
    }
    let sets = places::view(out).and_then(|view| places::sets_in(&*view, None)).unwrap_or_default();
    let manifests = sets.iter().map(|set| set.record_path(&Record::Live));
    let mut files = names_in(out).filter(is_ours).map(|name| out.join(name)).chain(manifests);
    files.any(|other| File::at(&other).is_some_and(|other| other.identity == file.identity))
}
