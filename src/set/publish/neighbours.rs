//! Neighbours: the other sets in a directory, whose files must not be touched.
//!
//! Every file name begins with a [`Stem`], and a stem belongs to one set. The set `blog-en` has the stem that a section `en` of the
//! set `blog` would have, so the stems of a set are compared with those of its neighbours before it goes live. A set claims its
//! stems by its manifests: of the live set, of kept sets, of a switch that has begun, and of a set that a run has staged. A run
//! stages its manifest before it compares, so of two runs at the same time at least one sees the claim of the other. A set that has
//! lost a manifest claims its stems by its lines for robots.txt, too: crawlers find its live files there.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result, Setting, message};
use crate::place::{self, Place, Record, SetName, View};
use crate::set::manifest::Manifest;
use crate::set::name::{Stem, robots_file, set_of_robots_file};

/// The other sets in a directory, and what is known about their files.
#[derive(Debug)]
pub struct Neighbours {
    /// The stem of the set that they are the neighbours of.
    own: Stem,
    sets: Vec<Neighbour>,
}

/// Another set in the directory.
#[derive(Debug)]
struct Neighbour {
    stem: Stem,
    /// Its stem and those of all files that its manifests name, and its lines for robots.txt if a manifest is lost.
    claimed: BTreeSet<Stem>,
    /// The stems in `claimed` of files that its live set lists, or one that may be live soon. The others are those of earlier sets.
    in_use: BTreeSet<Stem>,
    /// Whether its live set is known, and all manifests can be read. Otherwise it may have more stems.
    is_known: bool,
}

/// Another set in the same directory.
#[derive(Debug)]
pub struct OtherSet {
    /// Its name.
    pub name: Option<SetName>,
    /// Its base URL.
    pub base_url: String,
}

/// The other live sets in the directory of `view`, as far as their manifests can be used.
///
/// # Errors
/// If a file cannot be read.
pub fn other_live_sets(view: &dyn View) -> Result<Vec<OtherSet>> {
    let live = |_: &dyn View| vec![Record::Live];
    sets(view, live)
}

/// The other sets in the directory of `view` that are live, or that a run has prepared.
///
/// # Errors
/// If a file cannot be read.
pub fn current_sets(view: &dyn View) -> Result<Vec<OtherSet>> {
    sets(view, current)
}

fn sets(view: &dyn View, records: impl Fn(&dyn View) -> Vec<Record>) -> Result<Vec<OtherSet>> {
    let mut sets = Vec::new();
    for other in others(view)? {
        for record in records(&*other) {
            let set = Manifest::read_usable(&*other, &record)?.filter(|set| !set.is_stand_in);
            sets.extend(set.map(|set| OtherSet::of(other.name(), &set)));
        }
    }
    Ok(sets)
}

/// The manifests of the live set of `view` and of those that may be live soon, in the order in which a manifest moves, so that none
/// is missed.
fn current(view: &dyn View) -> Vec<Record> {
    let staged = view.runs().into_iter().map(Record::Staged);
    staged.chain([Record::Journal, Record::Live]).collect()
}

impl OtherSet {
    /// The set called `name`, whose manifest is `set`.
    pub fn of(name: Option<&SetName>, set: &Manifest) -> Self {
        Self { name: name.cloned(), base_url: set.base_url.clone() }
    }
}

/// Checks that no other set in the directory of `place` has one of the stems of `set`, which succeeds `live`. Stems that `live` has
/// already were compared when it was published.
///
/// # Errors
/// [`ErrorKind::Data`], with the names of both sets; also if a file cannot be read.
pub fn check_stems(place: &dyn Place, live: Option<&Manifest>, set: &Manifest) -> Result<()> {
    let view = place.view();
    let mut new = stems(view, set);
    live.into_iter().flat_map(|live| stems(view, live)).for_each(|stem| _ = new.remove(&stem));
    check_new_stems(view, &new)
}

/// Checks that no other set in the directory of `view` has the stem of this one, unless `live` has files with it.
///
/// # Errors
/// Same as [`check_stems`].
pub fn check_own_stem(view: &dyn View, live: Option<&Manifest>) -> Result<()> {
    let own = Stem::of_set(view.name());
    match live.is_some_and(|live| files(live).any(|file| Stem::of_file(file).as_ref() == Some(&own))) {
        true => Ok(()),
        false => check_new_stems(view, &[own].into()),
    }
}

/// Checks that no other set in the directory of `view` has one of the stems `new`.
///
/// # Errors
/// Same as [`check_stems`].
fn check_new_stems(view: &dyn View, new: &BTreeSet<Stem>) -> Result<()> {
    if new.is_empty() {
        return Ok(());
    }
    for other in others_with_lines(view)? {
        let neighbour = Neighbour::of(&*other)?;
        if let Some(stem) = new.iter().find(|stem| neighbour.claimed.contains(stem)) {
            let (own, what) = (in_words(view.name()), in_words(other.name()));
            let why = message!(
                view.root(),
                ": {own} would have files named {stem}-…, as {what} has; nothing was published; use another ",
                Setting::Name
            );
            let (keep, keep_sets) = (Setting::Keep.with(0), Setting::KeepSets.with(0));
            return Err(Error::data(match neighbour.in_use.contains(stem) {
                true => why,
                // The first run removes the files, and the second one forgets their names.
                false => message!(
                    why,
                    ", or remove these files, which are of earlier sets: build {what} twice with ",
                    keep,
                    " ",
                    keep_sets
                ),
            }));
        }
    }
    Ok(())
}

impl Neighbours {
    /// The neighbours of the set that `view` shows.
    ///
    /// # Errors
    /// If a file cannot be read. A manifest that is damaged is not an error.
    pub fn of(view: &dyn View) -> Result<Self> {
        let others = others_with_lines(view)?;
        let sets = others.iter().map(|other| Neighbour::of(&**other)).collect::<Result<_>>()?;
        Ok(Self { own: Stem::of_set(view.name()), sets })
    }

    /// Whether the sitemap or index file named `file` may belong to the set itself: it has the stem of the set or of a section, and
    /// no neighbour has it.
    pub fn may_be_own(&self, file: &str) -> bool {
        let Some(stem) = Stem::of_file(file) else { return false };
        let may_be_of = |set: &Stem| *set == stem || set.begins(&stem);
        // Of two sets that may have lost the manifest with the stem, it is that of the longer name.
        let is_theirs = |other: &Neighbour| {
            other.claimed.contains(&stem)
                || !other.is_known && self.own.begins(&other.stem) && may_be_of(&other.stem)
        };
        may_be_of(&self.own) && !self.sets.iter().any(is_theirs)
    }
}

impl Neighbour {
    fn of(view: &dyn View) -> Result<Self> {
        let (mut claimed, mut in_use) = (BTreeSet::new(), BTreeSet::new());
        let (mut is_live_known, mut is_whole) = (false, true);
        for record in current(view).into_iter().chain(view.kept()?) {
            match Manifest::read(view, &record) {
                Ok(set) => {
                    is_live_known |= set.is_some() && matches!(record, Record::Live | Record::Journal);
                    claimed.extend(set.iter().flat_map(|set| stems(view, set)));
                    let set = set.filter(|_| !matches!(record, Record::Kept(_)));
                    in_use.extend(set.iter().flat_map(listed).filter_map(|file| Stem::of_file(file)));
                }
                Err(error) if error.kind() == ErrorKind::Data => is_whole = false,
                Err(error) => return Err(error),
            }
        }
        let is_known = is_live_known && is_whole;
        if !is_known {
            claimed.extend(named_in_lines(view)?.iter().filter_map(|file| Stem::of_file(file)));
            in_use.clone_from(&claimed);
        }
        let stem = Stem::of_set(view.name());
        in_use.insert(stem.clone());
        Ok(Self { stem, claimed, in_use, is_known })
    }
}

/// The stems of `set`, which `view` shows: its own, even if all its URLs are in sections, and those of all its files.
fn stems(view: &dyn View, set: &Manifest) -> BTreeSet<Stem> {
    files(set).filter_map(|file| Stem::of_file(file)).chain([Stem::of_set(view.name())]).collect()
}

/// All files of `set`, including those of earlier sets that it remembers.
fn files(set: &Manifest) -> impl Iterator<Item = &String> {
    let old = set.superseded.iter().map(|old| &old.file);
    let old_indexes = set.superseded_indexes.iter().map(|old| &old.file);
    listed(set).chain(old).chain(old_indexes)
}

/// The files that `set` lists, and its index files.
fn listed(set: &Manifest) -> impl Iterator<Item = &String> {
    set.sitemaps.iter().map(|sitemap| &sitemap.file).chain(&set.indexes)
}

/// The other sets in the directory of `view`.
fn others(view: &dyn View) -> Result<Vec<Arc<dyn View>>> {
    let mut others = place::sets_in(view, None)?;
    others.retain(|other| other.name() != view.name());
    Ok(others)
}

/// The [`others`], and sets of which only the lines for robots.txt show that they are there: a set that was copied or restored
/// without `.sitemill` may be live.
fn others_with_lines(view: &dyn View) -> Result<Vec<Arc<dyn View>>> {
    let mut others = others(view)?;
    // A dry run may come before the first run.
    if !view.exists()? {
        return Ok(others);
    }
    for name in view.list()?.iter().filter_map(|entry| set_of_robots_file(entry.name.to_str()?)) {
        let is_known =
            name.as_ref() == view.name() || others.iter().any(|other| other.name() == name.as_ref());
        if !is_known {
            others.push(view.named(name.as_ref()));
        }
    }
    Ok(others)
}

/// The names of the files in the lines for robots.txt of the set that `view` shows.
///
/// # Errors
/// If they cannot be read.
pub(super) fn named_in_lines(view: &dyn View) -> Result<BTreeSet<String>> {
    let file = robots_file(view.name());
    let lines = view.read_regular(file.as_ref())?.unwrap_or_default();
    let lines = String::from_utf8_lossy(&lines);
    Ok(lines
        .lines()
        .filter_map(|line| line.rsplit_once('/'))
        .map(|(_, name)| name.trim_end().to_owned())
        .collect())
}

/// A set in words.
pub(super) fn in_words(name: Option<&SetName>) -> String {
    name.map_or_else(|| "the set without a name".into(), |name| format!("the set {name}"))
}
