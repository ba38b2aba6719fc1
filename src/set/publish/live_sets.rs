//! The live sets in an output directory or in the directories below it, and why there are none.

use std::path::Path;
use std::sync::Arc;

use super::live::{has_index_files, is_lost, lost};
use crate::error::{Error, ErrorKind, Result, Setting, is_url, message};
use crate::place::{self, Record, SetName, View};

/// The live sets in `out`, or, if there are none, in the directories below it, sorted by directory and name. The manifest of a set
/// may be [lost](is_lost). With a `name`, only those of that name.
///
/// # Errors
/// If `out` cannot be read; [`ErrorKind::Input`] if it is a file; [`ErrorKind::Permission`] if there are none, but a directory in
/// `out` may not be read.
pub fn live_sets(out: &Path, name: Option<&SetName>) -> Result<Vec<Arc<dyn View>>> {
    let parent = place::view(out)?;
    if out.is_file() {
        let words = "is a file; give the directory that sets were published in";
        return Err(Error::new(ErrorKind::Input, message!(out, ": {words}")));
    }
    let mut sets = place::sets_in(&*parent, name)?;
    sets.retain(|set| may_be_here(&**set));
    if !sets.is_empty() {
        return Ok(sets);
    }
    let mut hidden = None;
    for site in place::distinct_places_below(&*parent)? {
        // A directory whose state we may not read is skipped, because it is not one of ours.
        match place::sets_in(&*site, name) {
            Ok(of_site) => sets.extend(of_site.into_iter().filter(|set| is_here(&**set))),
            Err(error) if error.is_denied() && place::may_be_site(&*site) => {
                hidden = hidden.or(Some(error));
            }
            Err(_) => {}
        }
    }
    if let Some(error) = hidden.filter(|_| sets.is_empty()) {
        return Err(error);
    }
    sets.sort_by(|one, other| (one.root(), one.name()).cmp(&(other.root(), other.name())));
    Ok(sets)
}

/// Whether there is a set, whose manifest may be lost.
pub fn is_here(set: &dyn View) -> bool {
    set.has_record(&Record::Live) || is_lost(set)
}

/// Same as [`is_here`]; also if that cannot be determined, because reading the set says why.
pub fn may_be_here(set: &dyn View) -> bool {
    !matches!(set.look_up_record(&Record::Live), Ok(None)) || is_lost(set)
}

/// The error if `out` does not contain the set `name`, or the set without a name. It names the sets that are there.
///
/// # Errors
/// If `out` cannot be read.
pub fn missing(out: &Path, name: Option<&SetName>) -> Result<Error> {
    let which = match name {
        Some(name) => format!("contains no set {name}"),
        None => "contains no published set".into(),
    };
    // Without permission to look, this is unknown. A bucket that does not exist is told apart from one without sets.
    let can_look = match place::view(out)?.exists() {
        Err(error) if matches!(error.kind(), ErrorKind::Permission | ErrorKind::Input) => return Err(error),
        // A directory that does not exist cannot be listed.
        found => found.is_ok(),
    };
    let set = place::view_of_set(out, name)?;
    if is_lost(&*set) {
        return Ok(lost(&*set));
    }
    if set.has_record(&Record::Journal) {
        let words = "the switch to the first set has begun and is not complete";
        return Ok(Error::new(ErrorKind::Busy, message!(out, ": {words}")));
    }
    let (there, sites): (Vec<_>, Vec<_>) = match can_look {
        true => live_sets(out, None)?.into_iter().partition(|set| set.root() == out),
        false => Default::default(),
    };
    let others: Vec<_> =
        there.iter().map(|set| set.name().map_or("one without a name", SetName::as_str)).collect();
    let site = sites.iter().find(|site| name.is_none() || site.name() == name);
    let why = match (&others[..], site) {
        ([], None) if is_url(out) && has_index_files(&*set) => message!(
            "{which}, but index files of one; give ",
            Setting::State,
            " if .sitemill of the set there is elsewhere"
        ),
        ([], None) => which.into(),
        // The last run may not have changed all sites, so restoring all of them could give a state that never existed.
        ([], Some(site)) => {
            let each = message!("contains several sites; roll back one at a time, such as ", site.root());
            // Every site has its state below the state of all sites.
            let live = site.record_path(&Record::Live);
            match place::set_of(&live).0 {
                state if state == site.root() => each,
                state => message!(each, " with ", Setting::State.with(state.display())),
            }
        }
        ([_], _) if there[0].name().is_none() => {
            message!("{which}, and the set there has no name; omit ", Setting::Name)
        }
        (others, _) => {
            let (which, others) = (which.replace("published set", "set without a name"), others.join(", "));
            message!("{which}; it has these sets: {others}; choose a named one with ", Setting::Name)
        }
    };
    Ok(Error::data(message!(out, ": ", why)))
}
