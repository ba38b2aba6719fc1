//! The paths of each job.

use std::path::Path;

use super::Paths;
use crate::commands::check::{CheckJob, Set};
use crate::commands::clean::CleanJob;
use crate::commands::diff::DiffJob;
use crate::commands::page::PageJob;
use crate::commands::rollback::RollbackJob;
use crate::commands::urls::UrlsJob;
use crate::error::{Setting, is_url};
use crate::job::{Also, CommandLine, Job};
use crate::place::{self, PlaceOrFile, SetName};

impl Job {
    /// Returns the files that a build reads and writes besides the set itself.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        self.input.paths.iter().for_each(|input| paths.read("input", input));
        let publication = &self.publication;
        for also in &publication.also {
            if let Also::File(path) = also {
                paths.read(Setting::Also, path);
            }
        }
        let program = publication.then.as_ref().and_then(CommandLine::program_file);
        program.iter().for_each(|program| paths.read(Setting::Then, program));
        let written = [
            (Setting::Rejects, &publication.rejects),
            (Setting::Diff, &publication.diff),
            (Setting::Robots, &publication.robots),
        ];
        for (setting, path) in written {
            path.iter().for_each(|path| paths.write(setting, path));
        }
        paths.publish(&publication.out, self.rules.only_site().is_none());
        paths
    }
}

impl CleanJob {
    /// Returns the files that `clean` reads.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        self.input.paths.iter().for_each(|input| paths.read("input", input));
        paths
    }
}

impl RollbackJob {
    /// Returns the files that a rollback writes besides the set itself.
    pub fn paths(&self) -> Paths {
        let mut paths = Paths::default();
        self.robots.iter().for_each(|path| paths.write(Setting::Robots, path));
        paths.publish(&self.out, false);
        paths
    }
}

impl CheckJob {
    /// Returns the files that a check reads.
    pub fn paths(&self) -> Paths {
        of_published(self.paths.iter().map(AsRef::as_ref), self.name.as_ref())
    }
}

impl UrlsJob {
    /// Returns the files whose URLs are extracted.
    pub fn paths(&self) -> Paths {
        of_published(self.paths.iter().map(AsRef::as_ref), self.name.as_ref())
    }
}

impl PageJob {
    /// Returns the files that the page is made from.
    pub fn paths(&self) -> Paths {
        let is_set = self.path.join(place::STATE).is_dir();
        match self.path.is_dir() && !is_set {
            // The parent of several sites: files in their directories are protected in any case.
            true => Paths::default(),
            false => of_published([&*self.path].into_iter(), self.name.as_ref()),
        }
    }
}

impl DiffJob {
    /// Returns the files that are compared.
    pub fn paths(&self) -> Paths {
        of_published([&*self.old, &*self.new].into_iter(), self.name.as_ref())
    }
}

/// Published sets and single files. Only the files that they list are read.
fn of_published<'p>(published: impl Iterator<Item = &'p Path>, name: Option<&SetName>) -> Paths {
    let mut paths = Paths::default();
    // What is in a store is not a local file.
    for path in published.filter(|path| !is_url(path)) {
        // Errors are reported when it is read.
        let Ok(resolved) = place::resolve(path) else { continue };
        match resolved {
            PlaceOrFile::File(file) => paths.read("input", file.path()),
            PlaceOrFile::Place(view) => {
                let sets = Set::places(&*view, name).unwrap_or_default();
                let sets = sets.into_iter().filter_map(|set| Set::of_place(set, None, 1).ok());
                sets.flat_map(|set| set.files).for_each(|file| paths.read("input", file.path()));
            }
        }
    }
    paths
}
