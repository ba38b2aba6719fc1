//! The switch: prepared sets replace the live ones, all of them or none.

use super::workspace::Workspace;
use crate::error::{Error, Result, Setting, message};
use crate::place::switch::SwitchState;
use crate::set::manifest::Manifest;
use crate::words::and_more;

/// A set that is durable and ready to become live. No crawler can see it yet.
#[must_use]
#[derive(Debug)]
pub struct Prepared {
    workspace: Workspace,
    set: Manifest,
    files: FilesOfLive,
}

/// The files of the live set, compared with those that exist and with those of the new set.
#[derive(Debug)]
pub(super) struct FilesOfLive {
    /// The number of those with the same content in the new set that were lost or damaged. If a dead run had begun the switch to
    /// the live set, all its index files count, because nobody was told that they are new.
    pub restored: u64,
    /// The number of index files with the same bytes in the new set.
    pub same_indexes: u64,
    /// How many of these exist as they are: all, if a dead run had begun the switch, because the next run completes it.
    pub kept_indexes: u64,
    /// Index files and robots lines that something other than sitemill has changed.
    pub edited: Vec<String>,
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
    /// The `set` that is durable in `workspace`, and the `files` of the set that it replaces.
    pub(super) fn new(workspace: Workspace, set: Manifest, files: FilesOfLive) -> Self {
        Self { workspace, set, files }
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
        self.files.restored
    }

    /// The number of its index files that the live set has with the same bytes.
    pub fn same_indexes(&self) -> u64 {
        self.files.same_indexes
    }

    /// The number of these that exist as they are.
    pub fn kept_indexes(&self) -> u64 {
        self.files.kept_indexes
    }

    /// A warning if something other than sitemill has changed files of the live set, which this set replaces, or would if the run
    /// `is_dry`.
    pub fn warning_of_edited(&self, is_dry: bool) -> Option<Error> {
        self.workspace.warning_of_edited(&self.files.edited, is_dry)
    }

    /// A warning if it has no sections and the live set has some, whose index files go. `None` for a set without sitemaps,
    /// which may be that of a run with sections.
    pub fn warning_of_sections(&self) -> Option<Error> {
        let has_none = self.set.sections.is_empty() && !self.set.sitemaps.is_empty();
        let live = self.workspace.live().filter(|live| has_none && !live.sections.is_empty())?;
        let is_gone = |file: &&String| !self.set.indexes.contains(file);
        let mut gone = live.indexes.iter().filter(is_gone);
        let path = self.workspace.view().path(gone.next()?.as_ref());
        let others = and_more(gone.count());
        Some(Error::data(message!(
            &*path,
            "{others}: index file of a section, but this run has no sections; it is removed when ",
            Setting::Keep,
            " expires; run again with sections if that is not intended"
        )))
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
