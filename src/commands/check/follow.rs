//! Follows index files to the sitemaps that they list.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::base::{self, Deeper};
use super::document::{Document, Member, report_listed_index};
use super::finding::Findings;
use super::gone::gone_external;
use super::loc::check_grammar;
use super::members::ExternalUrls;
use super::normal;
use super::reader::FileKind;
use super::rules::Rule;
use super::set::Set;
use super::sitemaps::Sitemaps;
use super::target::{decoded_path, file, names_no_file};
use crate::escape::shown;
use crate::limits::Protocol;
use crate::place::PlaceFile;
use crate::set::name::{is_index_file, is_sitemap_file};

/// Files and URLs of a set seen so far.
#[derive(Default)]
pub(super) struct Known {
    /// The files that are read first. In a directory that sitemill did not write, they are all files.
    pub starts: SeenFiles,
    /// The index files among them.
    pub indexes: SeenFiles,
    /// The files that index files list.
    pub listed: SeenFiles,
    /// Sitemaps from elsewhere that the manifest names and no index file has listed so far.
    pub external: HashSet<String>,
    /// Those of them that were given as files that do not exist now.
    gone: HashSet<String>,
    /// Sitemaps of which one more index file may list each, because a switch is not complete.
    moving: HashSet<PathBuf>,
    /// The URLs of such sitemaps from elsewhere.
    moving_external: HashSet<String>,
    /// Whether the manifest cannot be read. Sitemaps with names that sitemill does not give may then be from elsewhere.
    pub is_external_unknown: bool,
    /// Whether it is unknown what an index file lists, because it is damaged, or an entry of it is wrong.
    pub has_unclear_index: bool,
    /// Feeds and text files that were read.
    feeds: SeenFiles,
    /// Sitemaps that index files of protocol 0.84 list.
    listed_by_old: SeenFiles,
    /// The URLs of listed sitemaps that are not read.
    unread: HashSet<Box<[u8]>>,
    /// The sitemaps that were read.
    pub sitemaps: Sitemaps,
}

/// The sitemaps that an index file lists, by what is done with them.
#[derive(Default)]
pub(super) struct Followed {
    /// Files that are not read yet, in the directory of the index file or below it.
    pub members: Vec<ToRead>,
    /// Sitemaps elsewhere on the site.
    pub elsewhere: Vec<Unread>,
    /// Sitemaps from elsewhere that the manifest names.
    pub external: Vec<Unread>,
}

/// A file to read.
pub(super) struct ToRead {
    pub file: PlaceFile,
    /// The URL of its directory, if it is known to be below that of the set.
    pub directory: Option<String>,
}

/// A sitemap that is not followed, because it is no file in the directory of the set or below it.
pub(super) struct Unread {
    /// Its path from the directory of the index file, if the URL of that directory is known and the sitemap is below.
    pub below: Option<PathBuf>,
}

impl Known {
    /// The state before any file is read: the facts that the manifests of `set` tell.
    pub fn of(set: &Set) -> Self {
        let external = set.manifests.all().flat_map(|set| &set.also).map(|also| also.loc.clone());
        let path = |file: &str| set.view.as_ref().map(|view| view.path(file.as_ref()));
        let gone = set
            .view
            .iter()
            .flat_map(|view| set.manifests.all().flat_map(|manifest| gone_external(&**view, manifest)));
        Self {
            external: external.collect(),
            gone: gone.map(|(loc, _)| loc.to_owned()).collect(),
            moving: set.manifests.kept().filter_map(path).collect(),
            moving_external: set.manifests.kept_external().map(str::to_owned).collect(),
            is_external_unknown: set.manifests.live.is_err(),
            ..Self::default()
        }
    }

    /// The files of `set` to start from, each of them once.
    pub fn begin(&mut self, set: &Set) -> Vec<ToRead> {
        let files = set.files.iter().filter(|file| self.starts.insert(file.path())).cloned();
        files.map(|file| ToRead { file, directory: None }).collect()
    }

    /// Finds the files that `index` lists, and reports those that are missing, already listed, or index files.
    pub fn follow(&mut self, set: &Set, index: &mut Document) -> Followed {
        let mut followed = Followed::default();
        self.has_unclear_index |= is_unclear_index(index);
        if index.kind != Some(FileKind::Index) {
            return followed;
        }
        self.indexes.insert(index.file.path());
        if self.listed.contains(index.file.path()) {
            report_listed_index(&mut index.findings);
        }
        let is_alone = set.view.is_none();
        let likely_base = if is_alone { base::found } else { base::likely };
        let Some(base) = set.base.clone().or_else(|| likely_base(index)) else {
            self.leave_out_all(index, &mut followed.elsewhere);
            return followed;
        };
        let is_old = index.protocol == Some(Protocol::V0_84);
        let mut external_beside = ExternalUrls::of(&index.file);
        let mut of_index = HashSet::new();
        let mut deeper = self.deeper(set, &index.file, &base);
        for member in &index.members {
            let findings = &mut index.findings;
            // Only another index file may be of the other set of a switch.
            let may_move = of_index.insert(&member.loc);
            let mut found = |rule, words: &str| {
                findings.push(Some(member.entry), rule, || format!("{words}: {}", shown(&member.loc)));
            };
            let name = file(&member.loc, &base);
            let beside = name.as_ref().map(|name| index.file.beside(name));
            let file = beside.or_else(|| deeper.as_mut()?.find(&index.file, &index.members, &member.loc));
            let file = file.map(|file| set.read_for(file));
            if let Some(file) = file.as_ref().filter(|_| is_old) {
                self.listed_by_old.insert(file.path());
                if self.feeds.contains(file.path()) {
                    found(Rule::Form, "this is a feed or text file; publish for 0.9");
                }
            }
            let is_external = is_alone && self.is_beside(&mut external_beside, &member.loc, &base);
            if is_external || self.takes_external(&member.loc, name.as_deref()) {
                self.leave_out(member, Some(&base), may_move, &mut followed.external, findings);
                continue;
            }
            let Some(file) = file else {
                if is_elsewhere(set, &base, &member.loc, &mut found) {
                    self.leave_out(member, Some(&base), may_move, &mut followed.elsewhere, findings);
                }
                continue;
            };
            match self.take(&file, may_move) {
                Ok(is_new) if !is_new || self.starts.contains(file.path()) => {}
                Ok(_) => {
                    // Those next to the index file have a name there.
                    let directory = if name.is_none() { normal::directory(&member.loc) } else { None };
                    followed.members.push(ToRead { file, directory });
                }
                Err((rule, words)) => found(rule, words),
            }
        }
        followed
    }

    /// Finds the sitemaps in directories below that of `index`, whose URL is `base`. `None` if those are from elsewhere: a set that
    /// sitemill wrote has all of its sitemaps in its own directory, and its manifest names the others.
    fn deeper<'d>(&self, set: &Set, index: &PlaceFile, base: &'d str) -> Option<Deeper<'d>> {
        let is_named_by_us = index.name().to_str().is_some_and(is_index_file);
        let is_base_known = set.base.is_some() && !is_named_by_us;
        let is_own = set.has_robots && set.manifests.has_live() || self.is_external_unknown;
        (!is_own).then(|| Deeper { base, is_base_known, populated: None })
    }

    /// Leaves out all sitemaps of an index file, because the URL of its directory is unknown.
    fn leave_out_all(&mut self, index: &mut Document, out: &mut Vec<Unread>) {
        for member in index.members.iter().filter(|member| normal::directory(&member.loc).is_some()) {
            self.leave_out(member, None, false, out, &mut index.findings);
        }
    }

    /// Adds a sitemap to those that are left `out`, and reports it if its file is gone, or if it was listed before. `base` is the
    /// URL of the directory of the index file.
    fn leave_out(
        &mut self,
        sitemap: &Member,
        base: Option<&str>,
        may_move: bool,
        out: &mut Vec<Unread>,
        findings: &mut Findings,
    ) {
        let has_moved = |moving: &mut HashSet<String>| {
            may_move && str::from_utf8(&sitemap.loc).is_ok_and(|loc| moving.remove(loc))
        };
        if self.unread.insert(normal::normal(&sitemap.loc, None).into()) {
            if str::from_utf8(&sitemap.loc).is_ok_and(|loc| self.gone.contains(loc)) {
                let words = || format!("there is no such file: {}", shown(&sitemap.loc));
                findings.push(Some(sitemap.entry), Rule::MissingFile, words);
            }
            let below = base.and_then(|base| sitemap.loc.strip_prefix(base.as_bytes()));
            out.push(Unread { below: below.map(decoded_path) });
        } else if !has_moved(&mut self.moving_external) {
            let words = || format!("listed before: {}", shown(&sitemap.loc));
            findings.push(Some(sitemap.entry), Rule::Duplicate, words);
        }
    }

    /// Takes a file that an index file lists. Returns whether it is new, or the rule that it violates, and words for it.
    fn take(&mut self, file: &PlaceFile, may_move: bool) -> Result<bool, (Rule, &'static str)> {
        if !self.listed.insert(file.path()) {
            match may_move && self.moving.remove(file.path()) {
                true => Ok(false),
                false => Err((Rule::Duplicate, "listed before")),
            }
        } else if !file.is_file() {
            Err((Rule::MissingFile, file.why_not_regular()))
        } else if self.indexes.contains(file.path()) {
            Err((Rule::IndexOfIndexes, "this is an index file"))
        } else {
            Ok(true)
        }
    }

    /// Reports `sitemap` if it is a feed or text file that an index file of protocol 0.84 lists. Index files that come later report
    /// it themselves.
    pub fn check_form(&mut self, sitemap: &mut Document) {
        if sitemap.is_of_protocol {
            return;
        }
        self.feeds.insert(sitemap.file.path());
        if self.listed_by_old.contains(sitemap.file.path()) {
            let words =
                || "an index file of protocol 0.84 lists this feed or text file; publish for 0.9".into();
            sitemap.findings.push(None, Rule::Form, words);
        }
    }

    /// Whether the manifest next to an index file names the sitemap from elsewhere with this `loc`. If so, notes if it is gone.
    fn is_beside(&mut self, external: &mut ExternalUrls<'_>, loc: &[u8], base: &str) -> bool {
        let is_external = external.has(loc, Some(base));
        if is_external && external.is_gone(loc) {
            self.gone.extend(str::from_utf8(loc).map(str::to_owned));
        }
        is_external
    }

    /// Whether a sitemap from elsewhere has this `loc`. It has this `name` if it is in the directory of the set.
    fn takes_external(&mut self, loc: &[u8], name: Option<&OsStr>) -> bool {
        let is_foreign = |name: &OsStr| !name.to_str().is_some_and(is_sitemap_file);
        let is_known = |loc: &str| self.external.remove(loc) || self.moving_external.contains(loc);
        str::from_utf8(loc).is_ok_and(is_known) || self.is_external_unknown && name.is_some_and(is_foreign)
    }
}

/// Whether `loc`, which refers to no file of the directory with the URL `base`, is that of a sitemap elsewhere on the site. Reports
/// to `found` if it cannot be.
fn is_elsewhere(set: &Set, base: &str, loc: &[u8], found: &mut impl FnMut(Rule, &str)) -> bool {
    let site = normal::origin(base);
    // With a base URL, it is known that the sitemap has to be below it, and this was checked.
    let below = if set.base.is_some() { base } else { site };
    if set.base.is_some() && !set.has_robots && names_no_file(loc, base) {
        found(Rule::MissingFile, "names no file of the directory");
        return false;
    }
    let is_below = normal::is_below(loc, below);
    if !is_below && set.base.is_none() && check_grammar(loc).is_ok() {
        found(Rule::OutOfScope, &format!("not below {}", shown(site.as_bytes())));
    }
    is_below
}

/// Whether `index` should be an index file, and it is unknown what it lists.
fn is_unclear_index(index: &Document) -> bool {
    let Findings { damage, loss, counts, .. } = &index.findings;
    match index.kind {
        Some(FileKind::Index) => {
            let has_wrong_url = counts[Rule::OutOfScope] + counts[Rule::LocGrammar] > 0;
            damage.is_some() || loss.is_some() || has_wrong_url
        }
        Some(FileKind::Sitemap) | None => index.file.name().to_str().is_some_and(is_index_file),
    }
}

/// Reports an index file that is not of the protocol of its set. Its name has no hash of its content.
pub(super) fn check_protocol(set: &Set, index: &mut Document) {
    if let (Some(protocol), Some(view)) = (index.protocol, &set.view)
        && let Some(own) = set.manifests.other_protocol(index.file.name(), protocol)
        && !set.manifests.are_outdated(&**view)
    {
        let words = || format!("this index file is of protocol {protocol}, and its set is of protocol {own}");
        index.findings.push(None, Rule::Namespace, words);
    }
}

/// Reports a sitemap that a robots line names.
pub(super) fn check_robots(set: &Set, file: &mut Document) {
    if set.has_robots && file.kind == Some(FileKind::Sitemap) {
        let words = || "a robots line names this file, which is a sitemap and not an index file".into();
        file.findings.push(None, Rule::Robots, words);
    }
}

/// Files that were seen, so that none is read twice.
#[derive(Default)]
pub(super) struct SeenFiles(HashSet<PathBuf>);

impl SeenFiles {
    /// Adds a file. Returns true if it is new.
    pub fn insert(&mut self, path: &Path) -> bool {
        self.0.insert(path.into())
    }

    /// Returns whether the file was seen.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.contains(path)
    }
}
