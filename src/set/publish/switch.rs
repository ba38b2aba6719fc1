//! The switch: sets that are prepared take the place of the live ones, all of them or none.

use super::workspace::Workspace;
use crate::error::{Error, Result, message};
use crate::place::switch::Standing;
use crate::set::manifest::Manifest;

/// A set that is on disk with all that it takes to become live, and that no crawler can see yet.
#[must_use]
#[derive(Debug)]
pub struct Prepared {
    workspace: Workspace,
    set: Manifest,
}

/// Makes each of `sites` live: all of them, or none if one cannot be. What fails when crawlers see all of them is no error
/// any more but a warning, and left to the next run.
///
/// # Errors
/// If a switch fails. Crawlers see the old sets; but those that cannot be taken back either, as the message says, stay
/// [begun](Prepared::is_begun).
pub fn make_live(sites: &mut [Prepared]) -> Result<Vec<Error>> {
    for at in 0..sites.len() {
        if let Err(why) = sites[at].workspace.place.show() {
            return Err(take_back_all(&mut sites[..=at], why));
        }
    }
    Ok(sites.iter_mut().filter_map(|site| site.finish().err()).collect())
}

/// The last one first. Returns `why`, and what is to be said beside it.
fn take_back_all(sites: &mut [Prepared], why: Error) -> Error {
    let mut stuck = Vec::new();
    for site in sites.iter_mut().rev() {
        if let Err(error) = site.workspace.place.take_back() {
            stuck.push((site.workspace.directory(), error));
        }
    }
    let Some(((directory, error), others)) = stuck.split_first() else { return why };
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    why.within(message!(
        *directory,
        "{more}: the switch to the new set has begun and cannot be taken back (",
        error.message(),
        "); the next run finishes it"
    ))
}

impl Prepared {
    /// The set in `workspace`, which everything of it is on disk in.
    pub(super) fn new(workspace: Workspace, set: Manifest) -> Self {
        Self { workspace, set }
    }

    /// Where it is published.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The set.
    pub fn set(&self) -> &Manifest {
        &self.set
    }

    /// Whether the next run makes it live, or makes an end of the switch: some crawlers may see it already.
    pub fn is_begun(&self) -> bool {
        self.workspace.place.standing() == Standing::Begun
    }

    /// Clears up after the switch.
    fn finish(&mut self) -> Result<()> {
        let finished = self.workspace.place.finish();
        finished.map_err(|error| error.within("the next run clears up after the switch"))
    }
}
