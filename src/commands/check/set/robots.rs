//! The lines for robots.txt of a set, which name its index files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io::Read;
use std::sync::Arc;

use super::Set;
use crate::commands::check::checked::Checked;
use crate::commands::check::finding::Findings;
use crate::commands::check::loc::check_grammar;
use crate::commands::check::normal::{directory, normal};
use crate::commands::check::rules::Rule;
use crate::commands::check::target::file;
use crate::error::{Error, Result};
use crate::escape::shown;
use crate::place::{PlaceFile, View};
use crate::set::name::{EMPTY_SET_LINE, is_index_file, is_sitemap_file, robots_file};
use crate::set::robots;

/// Maximum bytes read of `robots-sitemaps.txt`, far more than any set needs.
const ROBOTS_BYTES_MAX: u64 = 1 << 20;

impl Set {
    /// Reads the robots lines, if there are any. Each names an index file, and the directory of the first one is the directory of
    /// the set.
    pub(super) fn take_robots(&mut self, view: &Arc<dyn View>) -> Result<bool> {
        let robots = PlaceFile::new(Arc::clone(view), robots_file(view.name()));
        let Some(lines) = read_robots(&robots)? else { return Ok(false) };
        self.has_robots = true;
        if lines.len() as u64 == ROBOTS_BYTES_MAX {
            let words = || format!("at least {ROBOTS_BYTES_MAX} bytes; the rest was not read");
            self.findings.push(None, Rule::TooLarge, words);
        }
        for (number, line) in (1..).zip(lines.split(|&byte| byte == b'\n')) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            if let Err(wrong) = self.take_robots_line(view, line) {
                self.findings.push(Some(number), Rule::Robots, || format!("{wrong}: {}", shown(line)));
            }
        }
        let is_empty_set = lines == EMPTY_SET_LINE.as_bytes();
        if self.files.is_empty() && !is_empty_set && self.findings.counts.total() == 0 {
            self.findings.push_loss(None, Rule::Robots, "no line names an index file".into());
        }
        Ok(true)
    }

    fn take_robots_line(&mut self, view: &Arc<dyn View>, line: &[u8]) -> Result<(), &'static str> {
        let url = sitemap_of_line(line).ok_or("not a Sitemap: line")?;
        check_grammar(url)?;
        let url = &*normal(url, None);
        if self.base.is_none() {
            self.base = directory(url);
        }
        let base = self.base.as_deref().ok_or("not the URL of a file")?;
        if !url.starts_with(base.as_bytes()) {
            return Err("not in the directory of the set");
        }
        let Some(name) = file(url, base) else { return Err("not a file in the directory of the set") };
        let file = PlaceFile::new(Arc::clone(view), name);
        match file.is_file() {
            true => self.files.push(file),
            false => return Err(file.why_not_regular()),
        }
        Ok(())
    }

    /// Findings about robots.txt in the directory of the set: lines that list files of the directory with names of sitemill that do
    /// not exist, unless they were `checked` with another set; and index files of the set that it does not list, although it lists
    /// others of them. None while a switch adds and removes files.
    pub fn check_robots_txt(&self, checked: &mut Checked, kept_max: usize) -> Findings {
        let mut findings = Findings::new(String::new(), kept_max);
        let (Some(view), Some(base), None) = (&self.view, &self.base, self.manifests.next()) else {
            return findings;
        };
        let robots = PlaceFile::new(Arc::clone(view), robots::ROBOTS_TXT);
        let is_first = checked.add_file(&robots);
        // It is not a file of the set, so it need not be readable.
        let Ok(Some(text)) = read_robots(&robots) else { return findings };
        findings = Findings::new(shown(robots.path().as_os_str().as_encoded_bytes()), kept_max);
        let mut names = HashSet::new();
        for (number, url) in robots::listed(&text, None) {
            let Some(name) = file(&normal(url.as_bytes(), None), base) else { continue };
            let is_of_sitemill =
                name.to_str().is_some_and(|name| is_index_file(name) || is_sitemap_file(name));
            if is_first && is_of_sitemill && !PlaceFile::new(Arc::clone(view), &name).is_file() {
                let words = || format!("there is no such file: {}", shown(url.as_bytes()));
                findings.push(Some(number), Rule::Robots, words);
            }
            names.insert(name);
        }
        // If it lists none, they may be submitted in another way.
        let indexes =
            self.files.iter().map(PlaceFile::name).filter(|name| name.to_str().is_some_and(is_index_file));
        let (there, missing): (Vec<&OsStr>, Vec<&OsStr>) = indexes.partition(|name| names.contains(*name));
        for index in missing.iter().filter(|_| !there.is_empty()) {
            let [index, other] = [index, there[0]].map(|name| shown(name.as_encoded_bytes()));
            findings
                .push(None, Rule::Robots, || format!("no line names {index}, although one names {other}"));
        }
        // A run may have published since the file was read.
        match findings.counts.total() > 0 && self.manifests.are_outdated(&**view) {
            true => Findings::new(String::new(), kept_max),
            false => findings,
        }
    }

    /// Reports index files that no robots line names or, without robots lines, no manifest, unless it was reported that no line
    /// names any. Those that are part of the live set are read nevertheless.
    pub(super) fn take_unnamed(&mut self, view: &Arc<dyn View>, unnamed: &[&OsStr]) {
        let is_reported = self.findings.loss.is_some();
        for index in unnamed {
            let is_live = self.manifests.has_live_index(index);
            let what = if self.has_robots { "no line" } else { "no manifest" };
            let words = format!("{what} names {}", shown(index.as_encoded_bytes()));
            match is_live {
                _ if is_reported => {}
                true => self.findings.push_loss(None, Rule::Robots, words),
                false => self.findings.push(None, Rule::Robots, || words),
            }
            if is_live {
                self.files.push(PlaceFile::new(Arc::clone(view), index));
            }
        }
    }
}

/// The URL of a `Sitemap:` line, in the form in which sitemill writes the robots lines.
fn sitemap_of_line(line: &[u8]) -> Option<&[u8]> {
    let (word, url) = line.split_at_checked(b"Sitemap:".len())?;
    word.eq_ignore_ascii_case(b"Sitemap:").then(|| url.trim_ascii())
}

/// Reads the robots lines, or returns `None` if there is no such file.
fn read_robots(file: &PlaceFile) -> Result<Option<Vec<u8>>> {
    if !file.is_file() {
        return Ok(None);
    }
    let mut lines = Vec::new();
    let read = file.open()?.take(ROBOTS_BYTES_MAX).read_to_end(&mut lines);
    read.map(|_| Some(lines)).map_err(|error| Error::input(file.path(), error))
}
