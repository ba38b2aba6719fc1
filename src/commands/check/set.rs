//! A set: which files belong together, where they are published, and which file an index file means.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::finding::Findings;
use super::loc;
use super::rules::Rule;
use crate::error::{Error, Result, Shown};
use crate::escape::shown;
use crate::place::Record;
use crate::place::directory::DirectoryView;
use crate::place::directory::layout::LIVE_MANIFEST;
use crate::set::manifest::{Manifest, Role};
use crate::set::name::{EMPTY_SET_LINE, ROBOTS_FILE};

/// Largest manifest that is read: some 300 bytes a sitemap, and a million of them. It may be as hostile as the rest.
const MANIFEST_BYTES_MAX: u64 = 300_000_000;

/// Most bytes of `robots-sitemaps.txt` that are read: some ten thousand lines more than any set needs.
const ROBOTS_BYTES_MAX: u64 = 1 << 20;

/// Files that are checked together: a directory, or the files that were named one by one.
pub(crate) struct Set {
    /// The directory, if it is one.
    pub directory: Option<PathBuf>,
    /// Its URL, if that is known.
    pub base: Option<String>,
    /// Where to begin: index files, or else sitemaps, in order.
    pub files: Vec<PathBuf>,
    /// What is wrong with the robots lines.
    pub findings: Findings,
}

impl Set {
    /// The files `paths`, published below `base` if that is known.
    pub fn of_files(paths: Vec<PathBuf>, base: Option<&str>, kept_max: usize) -> Self {
        let findings = Findings::new(String::new(), kept_max);
        Self { directory: None, base: base.map(str::to_owned), files: paths, findings }
    }

    /// The set in `directory`: what its robots lines name; without them its index files, and without those its sitemaps.
    ///
    /// # Errors
    /// If it cannot be read, or holds no set.
    pub fn of_directory(directory: &Path, base: Option<&str>, kept_max: usize) -> Result<Self> {
        let old = old_indexes(directory);
        let mut names = names(directory)?;
        names.retain(|name| !name.to_str().is_some_and(|name| old.contains(name)));
        let indexes: Vec<&OsString> = names.iter().filter(|name| is_index_name(name)).collect();
        let robots = directory.join(ROBOTS_FILE);
        let mut set = Self {
            directory: Some(directory.into()),
            base: base.map(str::to_owned),
            files: Vec::new(),
            findings: Findings::new(shown(robots.as_os_str().as_encoded_bytes()), kept_max),
        };
        if let Some(lines) = read_robots(&robots)? {
            if lines.len() as u64 == ROBOTS_BYTES_MAX {
                let words = || format!("at least {ROBOTS_BYTES_MAX} bytes; the rest was not read");
                set.findings.push(None, Rule::TooLarge, words);
            }
            set.take_robots(&lines);
            for index in indexes.into_iter().filter(|index| !set.files.contains(&directory.join(index))) {
                set.findings.push(None, Rule::Robots, || {
                    format!("no line names {}", shown(index.as_encoded_bytes()))
                });
            }
            return Ok(set);
        }
        let beginning = if indexes.is_empty() { names.iter().collect() } else { indexes };
        set.files = beginning.into_iter().map(|name| directory.join(name)).collect();
        match set.files.is_empty() {
            false => Ok(set),
            true => Err(Error::data(format!("{}: holds no sitemap and no index file", Shown(directory)))),
        }
    }

    /// The directories of sets that `directory` stands for: itself, or as the parent of several sites those of all of them, by
    /// name. One in which nothing is known to be published stands for itself.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn directories(directory: &Path) -> Result<Vec<PathBuf>> {
        if is_published(directory) {
            return Ok(vec![directory.into()]);
        }
        let unreadable = |error| Error::input(directory, error);
        let mut sites = Vec::new();
        for entry in fs::read_dir(directory).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if path.is_dir() && is_published(&path) {
                sites.push(path);
            }
        }
        sites.sort();
        // Files of others may lie beside them.
        if sites.is_empty() || !names(directory)?.is_empty() {
            sites.insert(0, directory.into());
        }
        Ok(sites)
    }

    /// The files to begin with, for one who only reads them.
    ///
    /// # Errors
    /// If a robots line is wrong: what it means to name would be left out.
    pub fn into_files(self) -> Result<Vec<PathBuf>> {
        match self.findings.kept.into_iter().next() {
            Some(finding) if finding.entry.is_some() || self.files.is_empty() => {
                Err(Error::data(finding.to_string()))
            }
            _ => Ok(self.files),
        }
    }

    /// Each line names an index file. The directory that the first one lies in is that of the set.
    fn take_robots(&mut self, lines: &[u8]) {
        for (number, line) in (1..).zip(lines.split(|&byte| byte == b'\n')) {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            if let Err(wrong) = self.take_robots_line(line) {
                self.findings.push(Some(number), Rule::Robots, || format!("{wrong}: {}", shown(line)));
            }
        }
        let is_empty_set = lines == EMPTY_SET_LINE.as_bytes();
        if self.files.is_empty() && !is_empty_set && self.findings.counts.total() == 0 {
            self.findings.push(None, Rule::Robots, || "no line names an index file".into());
        }
    }

    fn take_robots_line(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let url = match line.split_at_checked(b"Sitemap:".len()) {
            Some((word, url)) if word.eq_ignore_ascii_case(b"Sitemap:") => url.trim_ascii(),
            _ => return Err("not a Sitemap: line"),
        };
        loc::check_grammar(url)?;
        if self.base.is_none() {
            self.base = loc::directory(url);
        }
        let base = self.base.as_deref().ok_or("not the URL of a file")?;
        if !loc::is_below(url, base.as_bytes()) {
            return Err("not in the directory of the set");
        }
        let directory = self.directory.as_deref().expect("robots lines are those of a directory");
        let path = match file(url, base) {
            Some(name) => directory.join(name),
            None => return Err("not a file in the directory of the set"),
        };
        match is_file(&path) {
            true => self.files.push(path),
            false => return Err("the file does not exist"),
        }
        Ok(())
    }
}

/// Whether `build` has published a set in `directory`, by its manifest, or by its robots lines where only the files were copied.
fn is_published(directory: &Path) -> bool {
    is_file(&directory.join(LIVE_MANIFEST)) || is_file(&directory.join(ROBOTS_FILE))
}

/// The name of the file that `url` means, if it lies directly in the directory `base`: never a path that leads out of it.
pub(crate) fn file(url: &[u8], base: &str) -> Option<OsString> {
    let directory = loc::directory(url)?;
    let slash = url.iter().take_while(|&&byte| byte != b'?').count();
    let last = url[..slash].rsplit(|&byte| byte == b'/').next()?;
    let name = percent_decoded(last);
    let is_plain = !name.is_empty() && name[0] != b'.' && !name.iter().any(|byte| matches!(byte, b'/' | 0));
    // A query asks a program, not for a file.
    (directory == base && is_plain && slash == url.len()).then(|| OsString::from_vec(name))
}

fn percent_decoded(name: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) if byte == b'%' => {
                decoded.push(escaped);
                rest = &behind[2..];
            }
            _ => {
                decoded.push(byte);
                rest = behind;
            }
        }
    }
    decoded
}

/// Whether there is a regular file at `path`. A link may lead anywhere, so it is none.
pub(crate) fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The names of the XML files in `directory`, numbers in them by their value.
fn names(directory: &Path) -> Result<Vec<OsString>> {
    let unreadable = |error| Error::input(directory, error);
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        let is_xml = bytes.ends_with(b".xml") || bytes.ends_with(b".xml.gz");
        if is_xml && !bytes.starts_with(b".") && entry.file_type().map_err(unreadable)?.is_file() {
            names.push(name);
        }
    }
    names.sort_by_cached_key(|name| by_number(name.as_encoded_bytes()));
    Ok(names)
}

/// A key that sorts `a-9` before `a-10`: every number behind the count of its digits.
fn by_number(name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len() + 8);
    for run in name.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
        if run[0].is_ascii_digit() {
            // No name is longer than 255 bytes.
            key.extend([b'0', run.len() as u8]);
        }
        key.extend(run);
    }
    key
}

/// The index files of earlier sets that still lie in `directory`, by its manifest. If that is damaged, the check of it says so.
fn old_indexes(directory: &Path) -> HashSet<String> {
    let manifest = read_manifest(directory).ok().flatten();
    manifest.into_iter().flat_map(|set| set.superseded_indexes).map(|old| old.file).collect()
}

/// What `build` has left about the set in `directory`; none beside files of others.
///
/// # Errors
/// If it is damaged, or cannot be read.
pub(crate) fn read_manifest(directory: &Path) -> Result<Option<Manifest>> {
    let path = directory.join(LIVE_MANIFEST);
    match fs::symlink_metadata(&path) {
        Ok(meta) if meta.is_file() && meta.len() <= MANIFEST_BYTES_MAX => {
            Manifest::read_as(Role::Live, &DirectoryView::on_disk(directory), &Record::Live)
        }
        Ok(_) => Err(Error::data(format!("{}: is no manifest", Shown(&path)))),
        Err(_) => Ok(None),
    }
}

/// As `build` names them.
fn is_index_name(name: &OsString) -> bool {
    let number = name.to_str().and_then(|name| {
        let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".xml")?;
        stem.strip_prefix("sitemap-index-")
    });
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The robots lines; none if there is no such file.
fn read_robots(path: &Path) -> Result<Option<Vec<u8>>> {
    if !is_file(path) {
        return Ok(None);
    }
    let unreadable = |error| Error::input(path, error);
    let mut lines = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(ROBOTS_BYTES_MAX).read_to_end(&mut lines).map_err(unreadable)?;
    Ok(Some(lines))
}

/// Files that were met, so that none is read twice.
#[derive(Default)]
pub(crate) struct Met(HashSet<PathBuf>);

impl Met {
    /// True if it is new.
    pub fn insert(&mut self, path: &Path) -> bool {
        self.0.insert(path.into())
    }

    /// Whether it was met.
    pub fn contains(&self, path: &Path) -> bool {
        self.0.contains(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_means_a_file_in_the_same_directory_or_none() {
        let base = "http://h.example/maps/";
        for (url, want) in [
            ("http://h.example/maps/a.xml", Some("a.xml")),
            ("HTTP://H.example:80/maps/a.xml", Some("a.xml")),
            ("http://h.example/maps/a%20b.xml", Some("a b.xml")),
            ("http://h.example/maps/", None),
            ("http://h.example/maps/../a.xml", None),
            ("http://h.example/maps/..", None),
            ("http://h.example/maps/.sitemill", None),
            ("http://h.example/maps/%2e%2e%2fpasswd", None),
            ("http://h.example/maps/..%2fpasswd", None),
            ("http://h.example/maps/a%2Fb.xml", None),
            ("http://h.example/maps/a%00.xml", None),
            ("http://h.example/maps/more/a.xml", None),
            ("http://h.example/maps/a.xml?page=/b.xml", None),
            ("http://other.example/maps/a.xml", None),
            ("a.xml", None),
        ] {
            assert_eq!(file(url.as_bytes(), base).as_deref(), want.map(AsRef::as_ref), "{url}");
        }
    }

    #[test]
    fn numbers_in_names_sort_by_their_value() {
        let mut names = ["b-10.xml", "b-9.xml", "a-11.xml", "b-1.xml", "b-100.xml"];
        names.sort_by_cached_key(|name| by_number(name.as_bytes()));
        assert_eq!(names, ["a-11.xml", "b-1.xml", "b-9.xml", "b-10.xml", "b-100.xml"]);
        for (name, is_index) in [
            ("sitemap-index-1.xml", true),
            ("sitemap-index-12.xml.gz", true),
            ("sitemap-index-.xml", false),
            ("sitemap-index-new.xml", false),
            ("sitemap-00001-1f2e3d4c.xml.gz", false),
        ] {
            assert_eq!(is_index_name(&name.into()), is_index, "{name}");
        }
    }
}
