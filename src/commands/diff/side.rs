//! One side of a diff: which files it consists of, and the URLs in them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::sort::Sorter;
use crate::commands::check::{Set, settled};
use crate::commands::target::Target;
use crate::commands::urls::{Reading, UrlsReport, lastmods};
use crate::error::{Error, Result, message};
use crate::place::{self, PlaceFile, PlaceOrFile, Record, SetName, View};
use crate::set::manifest::{Manifest, Role, Sitemap};

/// A set, or a part of one.
#[derive(Debug, Default)]
pub(crate) struct Side {
    files: Vec<SideFile>,
    /// Compressed copies of files, which are not read.
    copies: Vec<PlaceFile>,
    /// XML files and feeds that are most likely no sitemaps. They are not read, unless an index file lists them.
    others: Vec<PlaceFile>,
    /// The secret that its sitemaps are sealed with; empty if there is no manifest.
    secret: String,
    /// Whether it is several sets, which may list the same URL.
    is_combined: bool,
}

#[derive(Debug)]
struct SideFile {
    file: PlaceFile,
    /// Its entry in the manifest, if there is one.
    known: Option<Sitemap>,
}

/// Returns the pairs to compare: the sets of `old` and `new` or, if both are several sets, those of equal directories. With a
/// `name`, only the sets of that name.
///
/// # Errors
/// If a set cannot be read.
pub(super) fn pairs(old: &Path, new: &Path, name: Option<&SetName>) -> Result<Vec<(Side, Side)>> {
    let (old, new) = (sides(old, new, name)?, sides(new, old, name)?);
    match (old, new) {
        (Sides::Several(old), Sides::Several(new)) => Ok(by_key(old, new).flat_map(pairs_of_sets).collect()),
        // A single set is compared with all others together.
        (old, new) => Ok(vec![(old.into_one(), new.into_one())]),
    }
}

/// The pairs of the sets of one directory: those with equal names, or all together if there is only one on a side, which may have
/// been given another name since.
fn pairs_of_sets((old, new): (Sets, Sets)) -> Vec<(Side, Side)> {
    match old.len() < 2 || new.len() < 2 {
        true => vec![(combined(old.into_values()), combined(new.into_values()))],
        false => by_key(old, new).collect(),
    }
}

/// The values with equal keys, in the order of the keys; the default for a key that one of the maps lacks.
fn by_key<K: Ord + Clone, V: Default>(
    mut old: BTreeMap<K, V>,
    mut new: BTreeMap<K, V>,
) -> impl Iterator<Item = (V, V)> {
    let keys: BTreeSet<K> = old.keys().chain(new.keys()).cloned().collect();
    keys.into_iter()
        .map(move |key| (old.remove(&key).unwrap_or_default(), new.remove(&key).unwrap_or_default()))
}

/// The target of a path.
enum Sides {
    One(Side),
    /// The sets of each directory of a site. The directory is empty if it is not that of a site.
    Several(BTreeMap<OsString, Sets>),
}

/// The sets of a directory by their names.
type Sets = BTreeMap<Option<SetName>, Side>;

impl Sides {
    /// Combines all sets into one side.
    fn into_one(self) -> Side {
        match self {
            Self::One(side) => side,
            Self::Several(sites) => combined(sites.into_values().flat_map(BTreeMap::into_values)),
        }
    }
}

/// One side that has the files of all `sets`.
fn combined(sets: impl Iterator<Item = Side>) -> Side {
    sets.reduce(|mut one, other| {
        one.files.extend(other.files);
        one.copies.extend(other.copies);
        one.others.extend(other.others);
        Side { secret: String::new(), is_combined: true, ..one }
    })
    .unwrap_or_default()
}

/// The sets that `path` refers to. `other` is the path that they are compared with.
fn sides(path: &Path, other: &Path, name: Option<&SetName>) -> Result<Sides> {
    let parent = match place::resolve(path)? {
        PlaceOrFile::Place(parent) => parent,
        PlaceOrFile::File(file) if is_manifest(path) => {
            return Side::of_manifest(&file, other).map(Sides::One);
        }
        PlaceOrFile::File(file) => return Ok(Sides::One(Side::of_unknown([file]))),
    };
    let mut sets = Set::places(&*parent, name)?;
    let is_site = |set: &Arc<dyn View>| set.root() != parent.root();
    if sets.len() == 1 && !is_site(&sets[0]) {
        return Side::of_place(sets.remove(0)).map(Sides::One);
    }
    let mut sites = BTreeMap::<_, Sets>::new();
    for set in sets {
        // The parent itself counts as one more directory: there may be other files next to the sites.
        let directory = set.root().file_name().filter(|_| is_site(&set)).unwrap_or_default().to_owned();
        sites.entry(directory).or_default().insert(set.name().cloned(), Side::of_place(set)?);
    }
    Ok(Sides::Several(sites))
}

impl Side {
    /// Returns the live set of a place, or all its sitemaps if it has no manifest.
    ///
    /// # Errors
    /// If a manifest cannot be read; [`ErrorKind::Busy`](crate::ErrorKind::Busy) if a switch to another set is not complete,
    /// because crawlers may see either set.
    fn of_place(view: Arc<dyn View>) -> Result<Self> {
        let live = settled(&*view, || match Manifest::read_as(Role::Journal, &*view, &Record::Journal)? {
            Some(_) => Ok(None),
            None => Manifest::read_as(Role::Live, &*view, &Record::Live).map(Some),
        })?;
        Ok(match live {
            Some(set) => Self::of_set(&view, &set),
            None => {
                let set = Set::to_read(&view)?;
                let side = Self::of_unknown(set.files_to_read()?.to_vec());
                Self { copies: set.copies().cloned().collect(), others: set.others, ..side }
            }
        })
    }

    /// Returns the set that the manifest `file` describes, which is compared with `other`.
    ///
    /// # Errors
    /// If it cannot be read, or it is unknown where the set is.
    fn of_manifest(file: &PlaceFile, other: &Path) -> Result<Self> {
        let set = Manifest::read_file(file.path())?;
        Ok(Self::of_set(&place::of_manifest(file.path(), other)?, &set))
    }

    /// Returns `set`, whose files are in a place.
    pub fn of_set(view: &Arc<dyn View>, set: &Manifest) -> Self {
        let file = |sitemap: &Sitemap| SideFile {
            file: PlaceFile::new(Arc::clone(view), &sitemap.file),
            known: Some(sitemap.clone()),
        };
        let files = set.sitemaps.iter().map(file).collect();
        Self { files, secret: set.secret.clone(), ..Self::default() }
    }

    /// Returns the URLs of files that no manifest describes.
    fn of_unknown(files: impl IntoIterator<Item = PlaceFile>) -> Self {
        let files = files.into_iter().map(|file| SideFile { file, known: None }).collect();
        Self { files, ..Self::default() }
    }

    /// Whether no file is read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The number of sitemaps that are read. `None` if it is unknown, because a file may be an index file.
    pub fn sitemaps(&self) -> Option<usize> {
        self.files.iter().all(|file| file.known.is_some()).then_some(self.files.len())
    }

    /// Reads all URLs into `sorter`. Returns what was read and what was left out.
    pub fn read(self, reading: Reading<'_>, sorter: &mut Sorter<'_>) -> Result<UrlsReport> {
        // The caller chose the others, or they were found as regular files.
        let mut of_set = self.files.iter().filter(|file| file.known.is_some()).map(|file| &file.file);
        if let Some(file) = of_set.find(|file| !file.is_file()) {
            let why = file.why_not_regular();
            return Err(Error::data(message!(file.path(), ": {why}")));
        }
        let files = self.files.into_iter().map(|file| file.file).collect();
        let name = sorter.space().clone();
        let to = Target { name: &name, to: &mut SorterInput(sorter) };
        lastmods(files, self.copies, &self.others, reading, to)
    }
}

/// Drops sitemaps that have the same content on both sides. Returns the number of URLs in them. Drops none if a side is several
/// sets: a URL of a dropped sitemap could be in another set as well, and would look added or removed.
///
/// Sets of one directory share a secret, so their keyed seals are compared, and nobody can craft a change that goes unnoticed.
/// Sets of two directories share no secret, so the plain hash of the content is compared, because the bytes of the files may
/// differ although the content is equal. URLs crafted to collide would hide their own change from that diff, but a diff publishes
/// nothing.
pub(crate) fn drop_same(old: &mut Side, new: &mut Side) -> u64 {
    if old.is_combined || new.is_combined {
        return 0;
    }
    let is_sealed = !old.secret.is_empty() && old.secret == new.secret;
    let content = |file: &SideFile| -> Option<String> {
        let known = file.known.as_ref()?;
        if is_sealed { known.seals.map(|seals| seals.xml.into()) } else { Some(known.content.clone()) }
    };
    let contents = |side: &Side| -> HashMap<String, u64> {
        let urls = |file: &SideFile| file.known.as_ref().map_or(0, |known| known.urls.into());
        side.files.iter().filter_map(|file| Some((content(file)?, urls(file)))).collect()
    };
    let (in_old, in_new) = (contents(old), contents(new));
    let is_only = |file: &SideFile, other: &HashMap<String, u64>| {
        content(file).is_none_or(|content| !other.contains_key(&content))
    };
    old.files.retain(|file| is_only(file, &in_new));
    new.files.retain(|file| is_only(file, &in_old));
    in_old.iter().filter(|(content, _)| in_new.contains_key(*content)).map(|(_, urls)| urls).sum()
}

/// Returns whether `path` is a manifest, by its extension. Kept sets are specified by their manifests.
fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Receives rows: a URL, a tab and its `lastmod`. Every write has whole lines.
struct SorterInput<'s, 'p>(&'s mut Sorter<'p>);

impl Write for SorterInput<'_, '_> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let mut fields = line.split(|&byte| byte == b'\t');
            let [loc, lastmod] = [fields.next(), fields.next()].map(Option::unwrap_or_default);
            self.0.push((loc, lastmod))?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::content::{Seal, Seals};

    #[test]
    fn sitemaps_of_one_directory_are_the_same_if_their_seals_are() {
        let side = |secret: &str, seal: Option<u128>| {
            let seals = seal.map(|seal| Seals { xml: Seal(seal), gzip: Seal(0) });
            let sitemap = Sitemap {
                file: "sitemap-00001-00000000.xml.gz".into(),
                content: format!("{:032}", 0),
                urls: 7,
                xml_bytes: 1,
                gzip_bytes: 1,
                lastmod: String::new(),
                seals,
            };
            let file = SideFile { file: place::file(sitemap.file.as_ref()).unwrap(), known: Some(sitemap) };
            Side { files: vec![file], secret: secret.into(), ..Side::default() }
        };
        for (old, new, same) in [
            (side("a", Some(1)), side("a", Some(1)), 7),
            (side("a", Some(1)), side("a", Some(2)), 0),
            (side("a", None), side("a", Some(1)), 0),
            (side("a", Some(1)), side("b", Some(2)), 7),
            (side("", None), side("", None), 7),
        ] {
            let [mut old, mut new] = [old, new];
            assert_eq!(drop_same(&mut old, &mut new), same, "{old:?}, {new:?}");
            let left = if same == 0 { 1 } else { 0 };
            assert_eq!([old.files.len(), new.files.len()], [left; 2]);
        }
    }
}
