//! Directories that other programs wrote, in which only names and contents tell what is a sitemap.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::copies::{is_same, plain_name};
use super::listing::{has_own_index, index_stem, names};
use super::{Set, stem};
use crate::commands::check::content::Content;
use crate::commands::check::entry::Entry;
use crate::commands::check::finding::Findings;
use crate::commands::check::reader::{DocumentFormat, Reader};
use crate::error::Result;
use crate::place::{Listed, PlaceFile, View};
use crate::set::name::Stem;

/// The kind of a file that may be a sitemap.
#[derive(PartialEq, Eq)]
enum Likely {
    Sitemap,
    /// RSS or Atom, which most sites have for readers.
    Feed,
    /// XML that has nothing to do with sitemaps, such as `browserconfig.xml`.
    Other,
}

impl Set {
    /// Takes what may be of a set of which only files are known: index files whose names begin like those of the set and its
    /// sections; in a place that sitemill most likely did not write, all sitemaps. What other sets have is left out.
    pub(super) fn take_by_names(&mut self, view: &Arc<dyn View>, names: &[Listed]) -> Result<()> {
        let (own, others) = (Stem::of_set(view.name()), Self::others(&**view)?);
        let may_be_own = |listed: &Listed| match (view.name(), stem(&listed.name)) {
            (_, Some(stem)) if others.iter().any(|other| other.has_stem(&stem)) => false,
            (None, _) => true,
            (Some(_), stem) => stem.is_some_and(|stem| stem == own || own.begins(&stem)),
        };
        let may_be_own: Vec<&Listed> = names.iter().filter(|listed| may_be_own(listed)).collect();
        if view.name().is_none() && !has_own_index(&**view, &may_be_own) {
            self.take_foreign(view, may_be_own);
        } else {
            for listed in may_be_own {
                if index_stem(&listed.name).is_some() {
                    self.take(view, listed);
                } else if stem(&listed.name).is_none() {
                    // No set of sitemill has a file of this name, except one that it only lists.
                    self.others.push(PlaceFile::new(Arc::clone(view), &listed.name));
                }
            }
        }
        self.leave_out_copies();
        Ok(())
    }

    /// Takes those of the files `listed` that are most likely sitemaps or index files: all whose names say so, and the others
    /// unless they are XML of another kind. Feeds are sitemaps if there is nothing else.
    fn take_foreign(&mut self, view: &Arc<dyn View>, listed: Vec<&Listed>) {
        let likely = |listed: &&Listed| likely(&PlaceFile::new(Arc::clone(view), &listed.name), listed);
        let likely: Vec<Likely> = listed.iter().map(likely).collect();
        let has_sitemap = likely.contains(&Likely::Sitemap);
        for (listed, likely) in listed.into_iter().zip(likely) {
            match likely == Likely::Sitemap || likely == Likely::Feed && !has_sitemap {
                true => self.take(view, listed),
                false => self.others.push(PlaceFile::new(Arc::clone(view), &listed.name)),
            }
        }
    }

    /// Leaves out each file that is a compressed copy of another one, which servers send instead of it.
    pub(super) fn leave_out_copies(&mut self) {
        let files = self.files.iter().map(|file| (file.path().to_owned(), file.clone()));
        let files: HashMap<PathBuf, PlaceFile> = files.collect();
        self.files.retain(|file| {
            let plain = plain_name(file.name()).and_then(|plain| files.get(file.beside(plain).path()));
            match plain.filter(|plain| is_same(plain, file)) {
                Some(plain) => {
                    self.copies.insert(file.path().to_owned(), (file.clone(), plain.clone()));
                    false
                }
                None => true,
            }
        });
    }

    /// Says that there are no files to start from in the place that `view` shows, and what was looked for.
    pub(super) fn nothing(&self, view: &dyn View) -> String {
        let names = "*.xml, *.rss, *.atom or sitemap*.txt, also with .gz";
        let others = if self.others.is_empty() { "" } else { "; its XML is of another kind" };
        let is_directory =
            |listed: &Listed| listed.is_directory && !listed.name.as_encoded_bytes().starts_with(b".");
        let below = match view.list().is_ok_and(|listed| listed.iter().any(is_directory)) {
            true => {
                "; below it, only sets of sitemill are looked for: name other directories or files themselves"
            }
            false => "",
        };
        format!("contains no sitemaps and no index files ({names}){others}{below}")
    }

    /// The compressed copies of files to start from.
    pub fn copies(&self) -> impl Iterator<Item = &PlaceFile> {
        self.copies.values().map(|(copy, _)| copy)
    }

    /// The file that is read if an index file lists `file`: another one if it is a compressed copy.
    pub(crate) fn read_for(&self, file: PlaceFile) -> PlaceFile {
        self.copies.get(file.path()).map_or(file, |(_, plain)| plain.clone())
    }
}

/// Whether a place has files that may be sitemaps.
///
/// # Errors
/// If it cannot be listed.
pub(super) fn may_have_sitemaps(view: &dyn View) -> Result<bool> {
    let is_likely =
        |listed: &Listed| likely(&PlaceFile::new(view.share(), &listed.name), listed) != Likely::Other;
    Ok(names(view)?.iter().any(is_likely))
}

/// The kind of the file `listed` by its name or, if the name does not tell, by its root element.
fn likely(file: &PlaceFile, listed: &Listed) -> Likely {
    let name = listed.name.as_encoded_bytes().to_ascii_lowercase();
    if !listed.is_file || memchr::memmem::find(&name, b"sitemap").is_some() {
        return Likely::Sitemap;
    }
    let mut findings = Findings::new(String::new(), 0);
    // A file that cannot be read is an error or a finding once it is read for its URLs.
    let Ok(content) = Content::open(file) else { return Likely::Sitemap };
    let mut reader = Reader::lenient(content, &mut findings);
    match reader.next(&mut Entry::default()) {
        Ok(_) if reader.is_of_other_kind() => Likely::Other,
        Ok(_) if matches!(reader.format(), DocumentFormat::Rss | DocumentFormat::Atom) => Likely::Feed,
        _ => Likely::Sitemap,
    }
}
