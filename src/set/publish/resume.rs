//! Completing a switch that a dead run committed, and what a switch removes in the end.

use crate::error::Result;
use crate::place::Place;
use crate::place::switch::Removal;
use crate::set::manifest::Manifest;
use crate::set::name::robots_file;

/// Completes the switch from `live` to `next` that a dead run committed. It can be interrupted anywhere and repeated.
pub fn resume(place: &dyn Place, live: Option<&Manifest>, next: &Manifest) -> Result<()> {
    let files: Vec<String> = next.indexes.iter().cloned().chain([robots_file(place.view().name())]).collect();
    place.resume(&next.run, &files, &removals(live, next))
}

/// The index files of `live` that `next` neither lists nor keeps.
pub fn removals(live: Option<&Manifest>, next: &Manifest) -> Vec<Removal> {
    let own = live.iter().flat_map(|live| &live.indexes);
    let own = own.map(|file| Removal { file: file.clone(), content: None });
    let old = live.iter().flat_map(|live| &live.superseded_indexes);
    let old = old.map(|old| Removal { file: old.file.clone(), content: Some(old.content.clone()) });
    let stays = |file: &String| {
        next.indexes.contains(file) || next.superseded_indexes.iter().any(|old| old.file == *file)
    };
    own.chain(old).filter(|removal| !stays(&removal.file)).collect()
}
