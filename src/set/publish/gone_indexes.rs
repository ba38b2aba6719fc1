//! What a robots.txt lists, compared with a new set: index files that the live set has and its successor has not; for the first set
//! of a directory, sitemaps of the program that was used before; and new index files that are missing there.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::neighbours::Neighbours;
use super::switch::Prepared;
use crate::error::{Error, Message, Setting, is_url, message};
use crate::place::LocalFile;
use crate::set::name::{Stem, is_index_file};
use crate::set::robots::{self, Owner, ROBOTS_TXT};
use crate::words::and_more;

/// What a run does about the robots.txt that lists the index files of a set.
#[derive(Debug, Clone, Copy)]
pub enum RobotsTxt<'p> {
    /// It maintains the lines in this file.
    Maintained(&'p Path),
    /// Nothing, but an option would let it maintain them.
    Unnamed,
    /// Nothing: no option names the files of several sites.
    OfEachSite,
}

impl<'p> RobotsTxt<'p> {
    /// The file that a run for one site maintains, if there is one.
    pub fn of_one_site(maintained: Option<&'p Path>) -> Self {
        maintained.map_or(Self::Unnamed, Self::Maintained)
    }
}

impl Prepared {
    /// A warning if this set has no index file of a section of the live set, or none without a section. The numbers of index files
    /// change with the URLs. `None` if it is known what lists them: `robots`, in which the run maintains the lines, or the
    /// robots.txt of the directory; also for a set without sitemaps, which has none on purpose.
    pub fn warning_of_gone_indexes(&self, robots: RobotsTxt<'_>) -> Option<Error> {
        let is_maintained = matches!(robots, RobotsTxt::Maintained(_));
        let live = self.workspace().live().filter(|_| !is_maintained && !self.set().sitemaps.is_empty())?;
        let stems: HashSet<_> = self.set().indexes.iter().filter_map(|file| Stem::of_file(file)).collect();
        let is_gone = |file: &&String| Stem::of_file(file).is_some_and(|stem| !stems.contains(&stem));
        let mut gone = live.indexes.iter().filter(is_gone);
        let (first, others) = (gone.next()?, and_more(gone.count()));
        let view = self.workspace().view();
        if view.has(ROBOTS_TXT.as_ref()).unwrap_or(false) {
            return None;
        }
        Some(Error::data(message!(
            &*view.path(first.as_ref()),
            "{others}: index file that the new set no longer has; it is removed when ",
            Setting::Keep,
            " expires; if robots.txt lists it, ",
            self.advice(robots)
        )))
    }

    /// Warnings about what a robots.txt lists: the one that the run maintains, except for its block in it; otherwise, that of the
    /// directory.
    pub fn warnings_of_robots_txt(&self, robots: RobotsTxt<'_>) -> Vec<Error> {
        let Some(listed) = self.listed_elsewhere(robots) else { return Vec::new() };
        let wrong = self.warning_of_stale_lines(robots, &listed);
        // The advice would be the same.
        let wrong = wrong.or_else(|| self.warning_of_missing_lines(robots, &listed));
        wrong.into_iter().chain(self.warning_of_other_sitemaps(&listed)).collect()
    }

    /// A warning if index files are `listed` that are named like those of this set and are going to be removed or are gone.
    fn warning_of_stale_lines(&self, robots: RobotsTxt<'_>, listed: &Listed) -> Option<Error> {
        let base_url = &*self.set().base_url;
        let is_stale = |url: &&String| url.strip_prefix(base_url).is_some_and(|file| self.is_stale(file));
        let mut stale: Vec<&String> = listed.urls.iter().filter(is_stale).collect();
        if !stale.is_empty() {
            // Their own runs warn of those of other sets.
            let neighbours = Neighbours::of(&*self.workspace().view()).ok()?;
            stale.retain(|url| neighbours.may_be_own(&url[base_url.len()..]));
        }
        let (first, others) = stale.split_first()?;
        let others = and_more(others.len());
        let lists =
            message!(&*listed.path, ": lists {first}{others}, but the new set has no such index file; ");
        Some(Error::data(match robots {
            RobotsTxt::Maintained(_) => {
                message!(lists, "remove these lines; the run maintains only the block of its own set")
            }
            RobotsTxt::Unnamed | RobotsTxt::OfEachSite => message!(lists, self.advice(robots)),
        }))
    }

    /// A warning if some index files of this set are `listed`, but not all: crawlers do not find the others. A robots.txt that
    /// lists none is no reason to warn, because they may be submitted in another way. Nor is one with a block that the run
    /// maintains.
    fn warning_of_missing_lines(&self, robots: RobotsTxt<'_>, listed: &Listed) -> Option<Error> {
        if matches!(robots, RobotsTxt::Maintained(_)) {
            return None;
        }
        let set = self.set();
        let files: HashSet<&str> =
            listed.urls.iter().filter_map(|url| url.strip_prefix(&*set.base_url)).collect();
        let (there, missing): (Vec<&String>, Vec<&String>) =
            set.indexes.iter().partition(|index| files.contains(index.as_str()));
        let (one, (first, others)) = (there.first()?, missing.split_first()?);
        let (base_url, others) = (&set.base_url, and_more(others.len()));
        let lists =
            message!(&*listed.path, ": lists {base_url}{one}, but not {first}{others} of the new set; ");
        Some(Error::data(message!(lists, self.advice(robots))))
    }

    /// A warning if this is the first set here and sitemaps of another program are `listed` below the base URL: crawlers go on
    /// reading those, too.
    fn warning_of_other_sitemaps(&self, listed: &Listed) -> Option<Error> {
        if self.workspace().live().is_some() {
            return None;
        }
        let is_other = |url: &&String| {
            // Sets have index files of such names, also further down, and their own runs warn of those that are gone.
            url.strip_prefix(&*self.set().base_url).is_some_and(|file| !file.split('/').any(is_index_file))
                && !self.set().also.iter().any(|also| also.loc == **url)
        };
        let mut others = listed.urls.iter().filter(is_other);
        let (first, others) = (others.next()?, and_more(others.count()));
        Some(Error::data(message!(
            &*listed.path,
            ": lists {first}{others}, which this set does not contain; remove the line if this set replaces it"
        )))
    }

    /// The sitemaps that a robots.txt lists: the one that the run maintains, except for its block in it; otherwise, the robots.txt
    /// of the directory. `None` if it cannot be read, which is no reason to warn of its lines.
    fn listed_elsewhere(&self, robots: RobotsTxt<'_>) -> Option<Listed> {
        let view = self.workspace().view();
        let (path, text, owner) = match robots {
            RobotsTxt::Maintained(path) => {
                let owner = Owner { base_url: &self.set().base_url, name: self.workspace().name() };
                (path.to_owned(), LocalFile::at(path).read().ok()?, Some(owner))
            }
            // It takes requests to find one in a bucket.
            _ if is_url(view.root()) && !self.has_old_indexes() => return None,
            RobotsTxt::Unnamed | RobotsTxt::OfEachSite => {
                (view.path(ROBOTS_TXT.as_ref()), view.read_regular(ROBOTS_TXT.as_ref()).ok()??, None)
            }
        };
        let urls = robots::listed(&text, owner).into_iter().map(|(_, url)| url).collect();
        Some(Listed { path, urls })
    }

    /// How the index files of this set get into a robots.txt.
    fn advice(&self, robots: RobotsTxt<'_>) -> Message {
        let lines = self.workspace().view().path(self.workspace().robots_file().as_ref());
        let take = message!("take the lines from ", &*lines);
        match robots {
            RobotsTxt::OfEachSite => take,
            RobotsTxt::Maintained(_) | RobotsTxt::Unnamed => message!(take, " or use ", Setting::Robots),
        }
    }

    /// Whether `file` has the name of an index file and is one of an earlier set, or does not exist. It may be one of another set.
    fn is_stale(&self, file: &str) -> bool {
        is_index_file(file)
            && !self.set().indexes.iter().any(|index| index == file)
            && (self.old_indexes().any(|old| old == file)
                || matches!(self.workspace().view().has(file.as_ref()), Ok(false)))
    }

    fn has_old_indexes(&self) -> bool {
        self.old_indexes().any(|old| !self.set().indexes.contains(old))
    }

    /// The index files of the live set and of those before it, as far as they may still exist.
    fn old_indexes(&self) -> impl Iterator<Item = &String> {
        let live = self.workspace().live().into_iter().flat_map(|live| &live.indexes);
        live.chain(self.set().superseded_indexes.iter().map(|old| &old.file))
    }
}

/// What a robots.txt lists.
struct Listed {
    path: PathBuf,
    urls: Vec<String>,
}
