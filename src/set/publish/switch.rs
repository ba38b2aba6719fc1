//! The switch: prepared sets replace the live ones, all of them or none.

use std::collections::HashMap;

use super::index::index_files_of_live;
use super::workspace::Workspace;
use crate::error::{Error, Result, message};
use crate::place::switch::SwitchState;
use crate::set::manifest::Manifest;
use crate::words::and_more;

/// A set that is durable and ready to become live. No crawler can see it yet.
#[must_use]
#[derive(Debug)]
pub struct Prepared {
    workspace: Workspace,
    set: Manifest,
    restored: u64,
}

/// Makes each of `sites` live: all of them, or none if one fails. Returns the warnings of sites that are live but not cleaned
/// up, which is left to the next run.
///
/// # Errors
/// If a switch fails. All are rolled back, so that crawlers see the old sets. A switch that cannot be rolled back either stays
/// [in doubt](Prepared::is_begun), and the message says so.
pub fn make_live(sites: &mut [Prepared]) -> Result<Vec<Error>> {
    for at in 0..sites.len() {
        if let Err(why) = sites[at].workspace.place.commit() {
            return Err(roll_back_all(&mut sites[..=at], why));
        }
    }
    Ok(sites.iter_mut().filter_map(|site| site.clean_up().err()).collect())
}

/// Rolls back all of `sites`, the last one first. Returns `why`, extended if a site cannot be rolled back.
fn roll_back_all(sites: &mut [Prepared], why: Error) -> Error {
    let mut stuck = Vec::new();
    for site in sites.iter_mut().rev() {
        if let Err(error) = site.workspace.place.roll_back() {
            stuck.push((site.workspace.directory(), error));
        }
    }
    let Some(((directory, error), others)) = stuck.split_first() else { return why };
    let others = and_more(others.len());
    why.within(message!(
        *directory,
        "{others}: the switch to the new set has begun and cannot be undone (",
        error.message(),
        "); the next run finishes it"
    ))
}

impl Prepared {
    /// The `set` that is durable in `workspace`. `restored` is the number of its files that were lost or damaged.
    pub(super) fn new(workspace: Workspace, set: Manifest, restored: u64) -> Self {
        Self { workspace, set, restored }
    }

    /// The workspace that it is published in.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The set.
    pub fn set(&self) -> &Manifest {
        &self.set
    }

    /// The number of files that the live set has with the same content, and that were lost or damaged.
    pub fn restored(&self) -> u64 {
        self.restored
    }

    /// The number of its index files that the live set has with the same bytes.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`](crate::ErrorKind::Memory) if they do not fit in memory.
    pub fn kept_indexes(&self) -> Result<u64> {
        let files = |set: &Manifest| index_files_of_live(set, &self.workspace.stem);
        let live: HashMap<_, _> = match self.workspace.live() {
            Some(live) => files(live)?.into_iter().collect(),
            None => return Ok(0),
        };
        Ok(files(&self.set)?.iter().filter(|(file, bytes)| live.get(file) == Some(bytes)).count() as u64)
    }

    /// Whether its switch has begun and is not complete. Some crawlers may see it, and the next run completes the switch.
    pub fn is_begun(&self) -> bool {
        self.workspace.place.switch_state() == SwitchState::InDoubt
    }

    /// Ends the run that published it.
    ///
    /// # Errors
    /// If something that the run left cannot be removed. The set stays live, and the next run tries again.
    pub fn end(self) -> Result<()> {
        self.workspace.end()
    }

    /// Cleans up after the switch.
    fn clean_up(&mut self) -> Result<()> {
        let finished = self.workspace.place.clean_up();
        finished.map_err(|error| error.within("the next run cleans up after the switch"))
    }
}
