//! Checks that a set replaces only files that sitemill wrote, and only a set with the same base URL and protocol, unless the
//! user consents to more.

use super::consent::Consent;
use super::live::{has_index_files, if_state_is_elsewhere, is_unchanged, newest};
use super::neighbours::{self, OtherSet, in_words};
use super::prepare::robots_lines;
use super::salvage::Salvage;
use super::sites_below::site_below;
use super::workspace::Workspace;
use crate::clean::scope::BaseUrl;
use crate::error::{Error, Message, Result, Setting, message};
use crate::limits::Protocol;
use crate::place::{BackupReason, in_the_way};
use crate::set::manifest::Manifest;
use crate::words::and_more;

impl Workspace {
    /// Checks, before any work is done, that a set for `base_url` in `protocol` may be published here with this `consent`. The
    /// number of index files is not known yet, so [`prepare`](Workspace::prepare) checks all their names.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if the live set has another base URL or protocol, or this is the parent of
    /// several sites; [`ErrorKind::Output`](crate::ErrorKind::Output) if a file is in the way.
    pub fn admit(&mut self, base_url: &BaseUrl, protocol: Protocol, consent: Consent) -> Result<()> {
        self.consent = Some(consent);
        if !consent.replace_set {
            self.check_is_same(base_url.as_str(), &protocol.to_string())?;
            self.check_is_no_parent()?;
        }
        self.check_neighbours(base_url.as_str())?;
        neighbours::check_own_stem(self.place.view(), self.live.as_ref())?;
        self.judge_foreign(&[&self.stem.index_file(1), &self.robots_file]).map(drop)
    }

    /// Checks that the sets of several sites may be published below this place with this `consent`: that it does not contain a set
    /// itself, next to which nobody would look for those of sites.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it contains one.
    pub fn admit_sites(&self, consent: Consent) -> Result<()> {
        if consent.replace_set {
            return Ok(());
        }
        let own =
            self.live.iter().filter(|live| !live.is_stand_in).map(|live| OtherSet::of(self.name(), live));
        match own.chain(neighbours::other_live_sets(self.place.view())?).next() {
            None => Ok(()),
            Some(OtherSet { name, base_url }) => {
                let set = name.map_or_else(|| "the set".into(), |name| in_words(Some(&name)));
                Err(Error::data(message!(
                    self.directory(),
                    ": already contains {set} for {base_url}, but this run publishes a set for each site; \
                     nothing was published; use a different ",
                    Setting::Out,
                    ", or ",
                    Setting::ReplaceSet,
                    " to publish there anyway"
                )))
            }
        }
    }

    fn check_is_same(&self, base_url: &str, protocol: &str) -> Result<()> {
        // A stand-in has the base URL of the run that wrote it, not that of the lost set.
        let Some(live) = self.live.as_ref().filter(|live| !live.is_stand_in) else { return Ok(()) };
        let values = [("base URL", &*live.base_url, base_url), ("protocol", &*live.protocol, protocol)];
        let others = values.iter().filter(|(_, there, given)| there != given);
        let others: Vec<String> =
            others.map(|(what, there, given)| format!("{what} {there}, and this run has {given}")).collect();
        if others.is_empty() {
            return Ok(());
        }
        let others = others.join("; it has ");
        Err(Error::data(message!(
            self.directory(),
            ": the live set has {others}; nothing was published; use a different ",
            Setting::Out,
            ", or ",
            Setting::ReplaceSet,
            " to replace that set"
        )))
    }

    /// Checks that the first set of a place is not in the parent of several sites: commands about the parent would show only that
    /// set, and the next run for the sites would be refused.
    fn check_is_no_parent(&self) -> Result<()> {
        let view = self.place.view();
        if !self.is_first() || !neighbours::other_live_sets(view)?.is_empty() {
            return Ok(());
        }
        match site_below(view) {
            None => Ok(()),
            Some(site) => Err(Error::data(message!(
                self.directory(),
                ": the sets of sites are published below it, such as ",
                site.root(),
                ", and this run is for a single set; nothing was published; use a different ",
                Setting::Out,
                ", or ",
                Setting::ReplaceSet,
                " to publish there anyway"
            ))),
        }
    }

    /// Whether no set of this name is known to be live here.
    fn is_first(&self) -> bool {
        self.live.as_ref().is_none_or(|live| live.is_stand_in)
    }

    /// Checks that the first set of a name has the base URL of the other sets in the directory, because their files are side by
    /// side.
    ///
    /// # Errors
    /// [`ErrorKind::Data`](crate::ErrorKind::Data) if it has another one, unless the user consents.
    pub(super) fn check_neighbours(&self, base_url: &str) -> Result<()> {
        if !self.is_first() || self.consent.is_some_and(|consent| consent.replace_set) {
            return Ok(());
        }
        let others = neighbours::current_sets(self.place.view())?;
        match others.iter().find(|other| other.base_url != base_url) {
            None => Ok(()),
            Some(OtherSet { name, base_url: there }) => {
                let set = in_words(name.as_ref());
                Err(Error::data(message!(
                    self.directory(),
                    ": {set} there has base URL {there}, and this run has {base_url}; a directory has one URL; nothing was \
                     published; use another ",
                    Setting::Out,
                    ", or ",
                    Setting::ReplaceSet,
                    " if the URL of the directory has changed"
                )))
            }
        }
    }

    /// Backs up those of `files` that sitemill did not write.
    ///
    /// # Errors
    /// [`ErrorKind::Output`](crate::ErrorKind::Output) if there are such files and they may not be replaced, or are not regular
    /// files.
    pub(super) fn make_way<'a>(&self, files: impl Iterator<Item = &'a str>) -> Result<()> {
        let files: Vec<&str> = files.collect();
        let (theirs, copies) = self.judge_foreign(&files)?;
        theirs.iter().try_for_each(|file| self.place.back_up(file, copies))
    }

    /// Returns those of `files` that sitemill did not write and that may be replaced, and the reason for backing them up.
    fn judge_foreign<'a>(&self, files: &[&'a str]) -> Result<(Vec<&'a str>, BackupReason)> {
        let mut theirs = self.not_of(self.live.as_ref(), files)?;
        // A dry run takes no lock. If another run has published since, the files may be those of its set.
        let mut known = self.live.as_ref().map(|live| live.run.clone());
        while !theirs.is_empty() {
            let newest = newest(self.place.view())?;
            let run = newest.as_ref().map(|set| set.run.clone());
            if run == known {
                break;
            }
            (theirs, known) = (self.not_of(newest.as_ref(), &theirs)?, run);
        }
        let take_over = self.consent.map(|consent| consent.take_over);
        let is_lost = self.salvage.as_ref().is_some_and(Salvage::is_live_lost);
        match theirs.split_first() {
            _ if take_over == Some(true) => Ok((theirs, BackupReason::TakenOver)),
            // Without the live manifest, it is unknown which files sitemill wrote.
            _ if is_lost => Ok((theirs, BackupReason::Damaged)),
            None => Ok((theirs, BackupReason::TakenOver)),
            Some((first, others)) => Err(self.in_the_way(first, others.len(), take_over.is_some())),
        }
    }

    /// The `files` that exist and do not belong to `set`.
    fn not_of<'a>(&self, set: Option<&Manifest>, files: &[&'a str]) -> Result<Vec<&'a str>> {
        let mut theirs = Vec::new();
        for &file in files {
            // Only a regular file can be copied, and sitemill writes nothing else.
            match self.place.view().look_up_or_refuse(file.as_ref())? {
                None => {}
                Some(_) => match set {
                    Some(set) if self.is_of(set, file)? => {}
                    _ => theirs.push(file),
                },
            }
        }
        Ok(theirs)
    }

    fn in_the_way(&self, file: &str, others: usize, may_be_told: bool) -> Error {
        let path = self.place.view().path(file.as_ref());
        let then = match may_be_told {
            true => {
                let copies = self.copies();
                // To take over the files of a set would leave those that the next set does not replace for ever.
                let salvage = match self.live.is_none() && has_index_files(self.place.view()) {
                    true => message!(
                        if_state_is_elsewhere(self.place.view()),
                        ", run again with ",
                        Setting::IgnoreManifest,
                        " if the set there has lost its manifest"
                    ),
                    false => Message::default(),
                };
                message!(
                    salvage,
                    ", or run again with ",
                    Setting::TakeOver,
                    ", which keeps a copy in {copies}"
                )
            }
            false => " and run again".into(),
        };
        in_the_way(&path, others, then)
    }

    /// The directory of copies of replaced files, for messages.
    fn copies(&self) -> String {
        match self.name() {
            Some(name) => format!(".sitemill/names/{name}/taken-over"),
            None => ".sitemill/taken-over".into(),
        }
    }

    /// Backs up files of the live set that something else has changed, and returns their names. `known` are the index files that
    /// sitemill wrote, and `is_edited` says which of them exist with other bytes. A missing file is written again.
    ///
    /// # Errors
    /// If one cannot be read or backed up.
    pub(super) fn back_up_edited(
        &self,
        known: &[(String, Vec<u8>)],
        is_edited: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>> {
        // If a dead run had begun the switch, a dry run sees files of the set before. A manifest that is not trusted may be that
        // of an earlier set.
        let is_known = !self.has_resumed_switch && self.salvage.is_none();
        let live = self.live.as_ref().filter(|live| !live.is_stand_in && is_known);
        // Nothing is known of a protocol of a later version.
        let Some(live) = live.filter(|live| known.is_empty() == live.indexes.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut edited: Vec<String> =
            known.iter().map(|(file, _)| file).filter(|file| is_edited(file)).cloned().collect();
        // The manifest also names index files that salvage has found.
        let lines = robots_lines(known.iter().map(|(file, _)| file), &live.base_url);
        if self.place.view().read_regular(self.robots_file.as_ref())?.is_some_and(|there| there != lines) {
            edited.push(self.robots_file.clone());
        }
        // A dry run takes no lock. If another run has published since, the files are those of its set.
        if !edited.is_empty() && newest(self.place.view())?.is_none_or(|newest| newest.run != live.run) {
            return Ok(Vec::new());
        }
        edited.iter().try_for_each(|file| self.place.back_up(file, BackupReason::TakenOver))?;
        Ok(edited)
    }

    /// A warning that `edited` files of the live set, which something else has changed, are replaced, if there are any.
    pub(super) fn warning_of_edited(&self, edited: &[String], is_dry: bool) -> Option<Error> {
        let (first, others) = edited.split_first()?;
        let (path, others) = (self.place.view().path(first.as_ref()), and_more(others.len()));
        let copies = self.copies();
        let done = match (is_dry, edited.len()) {
            (true, 1) => "a run would replace it and keep a copy in",
            (true, _) => "a run would replace them and keep copies in",
            (false, 1) => "it was replaced, and a copy is in",
            (false, _) => "they were replaced, and copies are in",
        };
        Some(Error::data(message!(
            &*path,
            "{others}: changed by something other than sitemill since the last run; {done} {copies}; other sitemaps are listed \
             with ",
            Setting::Also
        )))
    }

    /// Whether sitemill wrote the index file or robots lines named `file` for `set`, or for a set before it. Someone may have
    /// edited the file since.
    fn is_of(&self, set: &Manifest, file: &str) -> Result<bool> {
        if file == self.robots_file || set.indexes.iter().any(|index| index == file) {
            return Ok(true);
        }
        match set.superseded_indexes.iter().find(|old| old.file == file) {
            None => Ok(false),
            Some(old) => is_unchanged(&*self.place, old),
        }
    }
}
