//! Members: the files that an index file lists.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::base::{deeper_file, deeper_twin};
use super::content::Content;
use super::entry::Entry;
use super::finding::Findings;
use super::manifests::read_manifest;
use super::normal::directory;
use super::reader::Reader;
use super::target::{decoded_path, file};
use crate::error::{Error, Result, message};
use crate::escape::shown;
use crate::place::{self, PlaceFile};
use crate::set::manifest::{ExternalEntry, Manifest};
use crate::set::name::is_sitemap_file;

/// The sitemaps that an index file lists.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The files in its own directory and those below it, in its order.
    pub files: Vec<PlaceFile>,
    /// Sitemaps from elsewhere that the set of the directory lists besides its own.
    pub external: Vec<ExternalMember>,
}

/// A sitemap that a set lists besides its own.
#[derive(Debug)]
pub(crate) struct ExternalMember {
    /// Its URL, with control characters escaped.
    pub url: String,
    /// The file that it is if the directory of the set is served as it is.
    pub path: PathBuf,
}

/// Returns what the index file `index` lists. Other rules are not checked.
///
/// # Errors
/// If the index file cannot be read completely, lists nothing or something that is not read, or lists a URL that is neither a file
/// in its directory or below, nor a sitemap from elsewhere that the manifest names.
pub(crate) fn members(index: &PlaceFile) -> Result<Members> {
    let path = index.path();
    let mut findings = Findings::new(shown(path.as_os_str().as_encoded_bytes()), 1);
    let mut reader = Reader::new(Content::open(index)?, &mut findings);
    let mut entry = Entry::default();
    let (mut members, mut referents) = (Members::default(), Referents::of(index));
    while reader.next(&mut entry).map_err(|error| Error::io(path, "could not be read", error))? {
        // An entry without a `loc` is a loss.
        let Some(loc) = entry.loc() else { continue };
        match referents.next(entry.number(), loc)? {
            Referent::File(file) => members.files.push(file),
            Referent::External(path) => members.external.push(ExternalMember { url: shown(loc), path }),
        }
    }
    match findings.damage.or(findings.loss) {
        Some(finding) => Err(finding.error(path)),
        None => Ok(members),
    }
}

/// The target of an entry of an index file.
pub(crate) enum Referent {
    /// A file in its directory, or in one below it.
    File(PlaceFile),
    /// A sitemap from elsewhere that the manifest names, and the file that it is if the directory is served as it is.
    External(PathBuf),
}

/// Tells what the entries of an index file refer to, for commands that read all of its sitemaps or none.
pub(crate) struct Referents<'i> {
    index: &'i PlaceFile,
    external: ExternalUrls<'i>,
    /// The URL that is taken for that of the directory of the index file: that of the directory of the first entry, or one above it
    /// if its file lies below.
    base: Option<Option<String>>,
}

impl<'i> Referents<'i> {
    /// The referents of the index file `index`.
    pub fn of(index: &'i PlaceFile) -> Self {
        Self { index, external: ExternalUrls::of(index), base: None }
    }

    /// Returns what the next entry, which has this `number` and this `loc`, refers to.
    ///
    /// # Errors
    /// If it is empty, or no file in the directory of the index file or below, or if there are two files that it may be.
    pub fn next(&mut self, number: u64, loc: &[u8]) -> Result<Referent> {
        if loc.is_empty() {
            let index = self.index.path();
            let words = "its loc is empty, so a sitemap may be missing; correct the index file";
            return Err(Error::data(message!(index, ": entry {number}: {words}")));
        }
        let is_first = self.base.is_none();
        let base = self.base.get_or_insert_with(|| first_base(self.index, loc)).as_deref();
        if self.external.has(loc, base) {
            return Ok(Referent::External(self.external.path(loc)));
        }
        let file = member(self.index, base, number, loc)?;
        // If the sitemaps lie in a deeper directory, the first does. Files with the same name of sitemill have the same content.
        let may_differ = is_first && !file.name().to_str().is_some_and(is_sitemap_file);
        match base.filter(|_| may_differ).and_then(|base| deeper_twin(self.index, base, loc)) {
            Some((_, twin)) => Err(ambiguous(self.index, number, loc, [&file, &twin])),
            None => Ok(Referent::File(file)),
        }
    }
}

/// The URL of the directory of `index` if `loc` is that of its first entry: the directory that it is in, unless only a file in a
/// directory below fits.
fn first_base(index: &PlaceFile, loc: &[u8]) -> Option<String> {
    let own = directory(loc)?;
    let name = file(loc, &own);
    let is_beside = |name: &OsString| name != index.name() && index.beside(name).is_file();
    // A sitemap of sitemill that is not there is missing.
    let is_elsewhere =
        name.is_some_and(|name| !is_beside(&name) && !name.to_str().is_some_and(is_sitemap_file));
    let deeper = is_elsewhere.then(|| deeper_twin(index, &own, loc)).flatten();
    Some(deeper.map_or(&*own, |(base, _)| base).to_owned())
}

/// The error for an entry whose `loc` fits two files: which one depends on where the index file is published.
fn ambiguous(index: &PlaceFile, number: u64, loc: &[u8], [one, other]: [&PlaceFile; 2]) -> Error {
    let (index, one, other, loc) = (index.path(), one.path(), other.path(), shown(loc));
    let words = message!("may be ", one, " or ", other, "; give the sitemaps instead of the index file");
    Error::data(message!(index, ": entry {number}: ", words, ": {loc}"))
}

/// Returns the file that the `loc` of the entry `number` of `index` refers to.
fn member(index: &PlaceFile, base: Option<&str>, number: u64, loc: &[u8]) -> Result<PlaceFile> {
    let beside = base.and_then(|base| Some(index.beside(file(loc, base)?)));
    let deeper = || base.and_then(|base| deeper_file(index, base, loc)).filter(PlaceFile::is_file);
    let is_itself = beside.as_ref().is_some_and(|member| member.name() == index.name());
    let (index, way_out) = (index.path(), "give the sitemaps instead of the index file");
    match beside.or_else(deeper) {
        // The base is a guess: most likely, this is a sitemap of another directory.
        Some(_) if is_itself => {
            let loc = shown(loc);
            Err(Error::data(message!(
                index,
                ": entry {number}: has the name of the index file itself, and no file in a directory below is at this URL; \
                 {way_out}: {loc}"
            )))
        }
        Some(member) if member.is_file() => Ok(member),
        Some(member) => {
            let restore = match member.name().to_str().is_some_and(is_sitemap_file) {
                true => "run build again to restore it; ",
                false => "",
            };
            let (member, why, loc) = (member.path(), member.why_not_regular(), shown(loc));
            Err(Error::data(message!(
                index,
                ": entry {number}: {why}: ",
                member,
                "; {restore}if {loc} is elsewhere, {way_out}"
            )))
        }
        None => {
            let loc = shown(loc);
            let words = "not a file in the same directory or below it";
            Err(Error::data(message!(index, ": entry {number}: {words}; {way_out}: {loc}")))
        }
    }
}

/// The sitemaps from elsewhere that the manifest next to an index file names. It is read when the first URL needs it.
pub(super) struct ExternalUrls<'i> {
    index: &'i PlaceFile,
    /// Their URLs.
    locs: Option<HashMap<String, External>>,
}

/// A sitemap from elsewhere, by its URL.
#[derive(Clone, Copy)]
struct External {
    /// The bytes of its URL that are the URL of the directory.
    base_bytes: usize,
    /// Whether it was given as a file, not as a URL.
    is_file: bool,
}

impl<'i> ExternalUrls<'i> {
    /// The sitemaps from elsewhere of the set that the index file `index` belongs to.
    pub fn of(index: &'i PlaceFile) -> Self {
        Self { index, locs: None }
    }

    /// Whether `loc` is one of them. `base` is the directory of the index file.
    pub fn has(&mut self, loc: &[u8], base: Option<&str>) -> bool {
        let name = base.and_then(|base| file(loc, base));
        if name.is_some_and(|name| name.to_str().is_some_and(is_sitemap_file)) {
            return false;
        }
        let locs = self.locs.get_or_insert_with(|| {
            // A damaged manifest names none. Commands that depend on it say that it is damaged.
            // An index file that was named alone may be that of any set in its directory.
            let view = self.index.view();
            let sets = place::sets_in(view, view.name()).unwrap_or_default();
            let manifests = sets.iter().filter_map(|set| read_manifest(&**set).ok().flatten());
            let of_set = |set: Manifest| {
                let base_bytes = set.base_url.len();
                let external =
                    move |also: &ExternalEntry| External { base_bytes, is_file: also.lastmod.is_some() };
                set.also.into_iter().map(move |also| (also.loc.clone(), external(&also)))
            };
            manifests.flat_map(of_set).collect()
        });
        str::from_utf8(loc).is_ok_and(|loc| locs.contains_key(loc))
    }

    /// Whether `loc`, which is one of them, was given as a file that does not exist.
    pub fn is_gone(&self, loc: &[u8]) -> bool {
        let is_file = self.external(loc).is_some_and(|external| external.is_file);
        is_file && matches!(self.index.view().look_up(self.below(loc).as_os_str()), Ok(None))
    }

    fn external(&self, loc: &[u8]) -> Option<External> {
        self.locs.as_ref()?.get(str::from_utf8(loc).ok()?).copied()
    }

    /// The path next to the index file that `loc`, which is one of them, has below the URL of the directory.
    fn path(&self, loc: &[u8]) -> PathBuf {
        let directory = self.index.path().parent().unwrap_or(Path::new(""));
        directory.join(self.below(loc))
    }

    /// The path of `loc`, which is one of them, below the directory.
    fn below(&self, loc: &[u8]) -> PathBuf {
        decoded_path(
            self.external(loc).and_then(|external| loc.get(external.base_bytes..)).unwrap_or_default(),
        )
    }
}
