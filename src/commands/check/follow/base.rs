//! The URL of the directory of an index file, as far as its entries tell.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::commands::check::document::{Document, Member};
use crate::commands::check::normal;
use crate::commands::check::set::{file, plain_name};
use crate::place::View;

/// Maximum number of directories that are looked for below that of an index file, because each may take a request.
const DEEPER_MAX: usize = 100;

/// The URL of the directory of `index`, which was named alone: the directory of the first sitemap that lies beside it. `None` if
/// none does, as with a copy of the index file.
pub(super) fn beside(index: &Document) -> Option<String> {
    let mut itself = None;
    for member in &index.members {
        let Some(base) = normal::directory(&member.loc) else { continue };
        match found_beside(index, member, &base) {
            Some(Found::Other) => return Some(base),
            Some(Found::Itself) => itself = itself.or(Some(base)),
            None => {}
        }
    }
    // It lists itself, unless it lists a sitemap of the same name in a deeper directory.
    itself.filter(|_| deeper(index).is_empty())
}

/// The URL of the directory of `index`: the one below which most sitemaps lie where their URLs say or, if none does, the directory
/// of most sitemaps. Of several, the one that occurs first.
pub(super) fn likely(index: &Document) -> Option<String> {
    // Of each directory: the sitemaps that were found, all sitemaps, and where it occurs first.
    let mut directories: HashMap<String, (u64, u64, Reverse<usize>)> = HashMap::new();
    for (at, member) in index.members.iter().enumerate() {
        let Some(directory) = normal::directory(&member.loc) else { continue };
        let is_found = found_beside(index, member, &directory) == Some(Found::Other);
        let (found, all, _) = directories.entry(directory).or_insert((0, 0, Reverse(at)));
        *found += u64::from(is_found);
        *all += 1;
    }
    // Usually, all sitemaps lie beside their index file.
    if directories.len() > 1 || directories.values().all(|(found, ..)| *found == 0) {
        for (base, deeper) in deeper(index) {
            directories.entry(base).or_insert((0, 0, Reverse(index.members.len()))).0 += deeper;
        }
    }
    let by_counts = directories.into_iter().map(|(directory, counts)| (counts, Reverse(directory)));
    by_counts.max().map(|(_, Reverse(directory))| directory)
}

/// What lies beside an index file and has the name of a sitemap that it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// Another file.
    Other,
    /// The index file itself. Perhaps the sitemap is in another directory.
    Itself,
}

/// What lies beside `index` and has the name of the sitemap `member`, if `base` is the URL of its directory.
fn found_beside(index: &Document, member: &Member, base: &str) -> Option<Found> {
    let name = file(&member.loc, base)?;
    match name == index.file.name() {
        true => Some(Found::Itself),
        false => index.file.beside(name).is_file().then_some(Found::Other),
    }
}

/// The URLs that the directory of `index` has if sitemaps lie in directories below it where their URLs say, and how many do.
fn deeper(index: &Document) -> HashMap<String, u64> {
    let mut members: HashMap<String, Vec<&Member>> = HashMap::new();
    for member in &index.members {
        let Some(directory) = normal::directory(&member.loc) else { continue };
        if members.len() < DEEPER_MAX || members.contains_key(&directory) {
            members.entry(directory).or_default().push(member);
        }
    }
    let mut bases = HashMap::new();
    for (directory, members) in &members {
        for base in parents(directory) {
            let Some(view) = below(index, &directory[base.len()..]) else { continue };
            let is_file =
                |member: &Member| file(&member.loc, directory).is_some_and(|name| view.is_file(&name));
            let found = members.iter().filter(|member| is_file(member)).count() as u64;
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
fn below(index: &Document, path: &str) -> Option<Arc<dyn View>> {
    let mut names = path.split_terminator('/').map(|segment| plain_name(segment.as_bytes()));
    let first = index.file.view().below(&names.next()??);
    names.try_fold(first, |view, name| Some(view.below(&name?)))
}
