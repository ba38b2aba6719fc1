//! The URL of the directory of an index file, as far as its entries and the files around it tell.
//!
//! A sitemap that lies beside an index file may still be that of another directory with its name. So it is looked for in the
//! directories below, too: by the protocol, an index file lists sitemaps of its own directory and of those below it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{Document, Member};
use super::normal;
use super::target::{file, plain_name};
use crate::place::{PlaceFile, View};

/// Maximum number of directories that are looked for below that of an index file, because each may take a request.
const DEEPER_MAX: usize = 100;

/// The URL of the directory of `index`: the one by which most sitemaps lie where their URLs say, beside it or below. `None` if none
/// does, as with a copy of the index file.
pub(super) fn found(index: &Document) -> Option<String> {
    let directories = by_directory(index);
    if let [(directory, members)] = &*directories {
        // Usually, all sitemaps lie beside their index file. The first one that does is enough then.
        let first = members.iter().find(|member| is_beside(index, member, directory));
        if first.is_some_and(|first| deeper_twin(&index.file, directory, &first.loc).is_none()) {
            return Some(directory.clone());
        }
    }
    let mut evidence: HashMap<String, Evidence> = HashMap::new();
    for (at, (directory, members)) in directories.iter().enumerate() {
        let beside = members.iter().filter(|member| is_beside(index, member, directory)).count();
        let all = members.len();
        evidence.insert(directory.clone(), Evidence { beside, deeper: 0, all, first: Reverse(at) });
    }
    for (base, deeper) in deeper(index, &directories) {
        let none = Evidence { beside: 0, deeper: 0, all: 0, first: Reverse(directories.len()) };
        evidence.entry(base).or_insert(none).deeper += deeper;
    }
    let weighed = evidence.into_iter().map(|(directory, evidence)| (evidence.weight(), Reverse(directory)));
    let (_, Reverse(directory)) = weighed.filter(|((found, ..), _)| *found > 0).max()?;
    Some(directory)
}

/// The URL of the directory of `index`: as [`found`] says or, if nothing was found, the directory that most sitemaps are in.
/// `None` if there is no such directory.
pub(super) fn likely(index: &Document) -> Option<String> {
    let is_most = |(directory, members): &(String, Vec<&Member>)| {
        // Those with the name of the index file are more likely in another directory.
        let others = members.iter().filter(|member| !is_named_as(index, member, directory));
        2 * others.count() > index.members.len()
    };
    found(index).or_else(|| Some(by_directory(index).into_iter().find(is_most)?.0))
}

/// The file in a directory below that of `index` that the URL `loc` refers to if the directory of `index` is above `directory`,
/// that of the URL; and the URL that the directory of `index` then has.
pub(super) fn deeper_twin<'d>(
    index: &PlaceFile,
    directory: &'d str,
    loc: &[u8],
) -> Option<(&'d str, PlaceFile)> {
    let name = file(loc, directory)?;
    let mut views =
        parents(directory).filter_map(|base| Some((base, below(index, &directory[base.len()..])?)));
    let (base, view) = views.find(|(_, view)| view.is_file(&name))?;
    Some((base, PlaceFile::new(view, name)))
}

/// The file in a directory below that of `index` that the URL `loc` refers to, if the URL of the directory of `index` is `base`. It
/// need not exist.
pub(super) fn deeper_file(index: &PlaceFile, base: &str, loc: &[u8]) -> Option<PlaceFile> {
    let directory = normal::directory(loc)?;
    let path = directory.strip_prefix(base).filter(|path| !path.is_empty())?;
    let name = file(loc, &directory)?;
    Some(PlaceFile::new(below(index, path)?, name))
}

/// Finds the sitemaps that an index file lists in directories below its own.
pub(super) struct Deeper<'d> {
    /// The URL of the directory of the index file.
    pub base: &'d str,
    /// Whether the base is known. Otherwise, directories below may be elsewhere.
    pub is_base_known: bool,
    /// The directories in which a sitemap of the index file is; `None` until that is needed.
    pub populated: Option<HashSet<String>>,
}

impl Deeper<'_> {
    /// The file that `loc` refers to; `None` if it is not below, or most likely elsewhere: neither it is there nor another one of
    /// the `members` of `index` that is in the same directory.
    pub fn find(&mut self, index: &PlaceFile, members: &[Member], loc: &[u8]) -> Option<PlaceFile> {
        let base = self.base;
        let file = deeper_file(index, base, loc)?;
        if self.is_base_known || file.is_file() {
            return Some(file);
        }
        let populated = self.populated.get_or_insert_with(|| populated(index, base, members));
        populated.contains(&normal::directory(loc)?).then_some(file)
    }
}

/// The URLs of the directories below `base`, that of `index`, in which at least one of its `members` is.
fn populated(index: &PlaceFile, base: &str, members: &[Member]) -> HashSet<String> {
    let mut directories = HashSet::new();
    for member in members {
        let Some(directory) = normal::directory(&member.loc) else { continue };
        let is_there = || deeper_file(index, base, &member.loc).is_some_and(|file| file.is_file());
        if !directories.contains(&directory) && is_there() {
            directories.insert(directory);
        }
    }
    directories
}

/// The evidence that a URL is that of the directory of an index file.
struct Evidence {
    /// Number of sitemaps that lie beside the index file.
    beside: usize,
    /// Number of sitemaps that lie in directories below it.
    deeper: usize,
    /// Number of sitemaps whose URLs are in the directory.
    all: usize,
    /// The index at which such a URL occurs first.
    first: Reverse<usize>,
}

impl Evidence {
    /// How much it tells. A path of several names is less likely equal by chance than a single name.
    fn weight(&self) -> (usize, usize, usize, Reverse<usize>) {
        (self.beside + self.deeper, self.deeper, self.all, self.first)
    }
}

/// The sitemaps that `index` lists, by the URLs of their directories, which are in the order in which they occur.
fn by_directory(index: &Document) -> Vec<(String, Vec<&Member>)> {
    let (mut directories, mut places) = (Vec::new(), HashMap::new());
    for member in &index.members {
        let Some(directory) = normal::directory(&member.loc) else { continue };
        let place = *places.entry(directory).or_insert_with_key(|directory| {
            directories.push((directory.clone(), Vec::new()));
            directories.len() - 1
        });
        directories[place].1.push(member);
    }
    directories
}

/// Whether the sitemap `member` lies beside `index` if `directory`, that of its URL, is also the directory of `index`.
fn is_beside(index: &Document, member: &Member, directory: &str) -> bool {
    match is_named_as(index, member, directory) {
        // It is the index file itself if there is no directory above. Otherwise, it may be a sitemap of a deeper directory.
        true => directory == normal::origin(directory),
        false => file(&member.loc, directory).is_some_and(|name| index.file.beside(name).is_file()),
    }
}

/// Whether the sitemap `member`, whose URL is in `directory`, has the name of `index`.
fn is_named_as(index: &Document, member: &Member, directory: &str) -> bool {
    file(&member.loc, directory).is_some_and(|name| name == index.file.name())
}

/// The URLs that the directory of `index` has if sitemaps lie in directories below it where their URLs say, and how many do.
fn deeper(index: &Document, directories: &[(String, Vec<&Member>)]) -> HashMap<String, usize> {
    let mut bases = HashMap::new();
    for (directory, members) in directories.iter().take(DEEPER_MAX) {
        for base in parents(directory) {
            let Some(view) = below(&index.file, &directory[base.len()..]) else { continue };
            let is_file =
                |member: &Member| file(&member.loc, directory).is_some_and(|name| view.is_file(&name));
            let found = members.iter().filter(|member| is_file(member)).count();
            if found > 0 {
                *bases.entry(base.to_owned()).or_default() += found;
            }
        }
    }
    bases
}

/// The URLs of the directories that `directory` is in, up to that of the host.
fn parents(directory: &str) -> impl Iterator<Item = &str> {
    let own = normal::origin(directory).len()..directory.len();
    let ends = directory.match_indices('/').map(|(slash, _)| slash + 1);
    ends.filter(move |end| own.contains(end)).map(|end| &directory[..end])
}

/// The directory that `path`, a part of a URL, refers to below that of `index`.
fn below(index: &PlaceFile, path: &str) -> Option<Arc<dyn View>> {
    let mut names = path.split_terminator('/').map(|segment| plain_name(segment.as_bytes()));
    let first = index.view().below(&names.next()??);
    names.try_fold(first, |view, name| Some(view.below(&name?)))
}
