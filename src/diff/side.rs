//! One side of a diff: which files it consists of, and the URLs in them.

use std::collections::HashMap;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::{Path, PathBuf};

use super::is_manifest;
use super::sort::Sorter;
use crate::error::{Error, Result};
use crate::pipeline::Target;
use crate::stage::fs::Disk;
use crate::stage::manifest::{Manifest, Sitemap};
use crate::stop::Stop;
use crate::urls::{UrlsForm, UrlsJob, urls};

/// A set, or a part of one.
#[derive(Debug, Default)]
pub(crate) struct Side {
    files: Vec<SideFile>,
}

#[derive(Debug)]
struct SideFile {
    path: PathBuf,
    /// Content hash and number of URLs, if a manifest tells.
    known: Option<(String, u64)>,
}

impl Side {
    /// The set that `path` means.
    ///
    /// # Errors
    /// If it is a manifest that cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let (manifest, directory) = match path.is_dir() {
            true => (path.join(".sitemill/manifest.json"), path),
            false if is_manifest(path) => (path.to_owned(), directory_of(path)),
            false => return Ok(Self::of_file(path)),
        };
        match Manifest::read(&Disk, &manifest)? {
            Some(set) => Ok(Self::of_set(directory, &set)),
            None if path.is_dir() => Ok(Self::of_file(path)),
            None => Err(Error::input(&manifest, io::ErrorKind::NotFound.into())),
        }
    }

    /// The set that a manifest in `directory` describes.
    pub fn of_set(directory: &Path, set: &Manifest) -> Self {
        let file = |sitemap: &Sitemap| SideFile {
            path: directory.join(&sitemap.file),
            known: Some((sitemap.content.clone(), sitemap.urls.into())),
        };
        Self { files: set.sitemaps.iter().map(file).collect() }
    }

    /// A file or directory that nobody knows anything about.
    fn of_file(path: &Path) -> Self {
        Self { files: vec![SideFile { path: path.into(), known: None }] }
    }

    /// Reads all URLs; how many sitemaps they were in.
    pub fn read(self, threads: NonZero<usize>, stop: &Stop, sorter: &mut Sorter) -> Result<u64> {
        let mut job = UrlsJob::new(self.files.into_iter().map(|file| file.path).collect());
        (job.form, job.threads) = (UrlsForm::Tsv, threads);
        let name = sorter.scratch().to_owned();
        let read = urls(&job, stop, Target { name: &name, to: &mut Rows(sorter) })?;
        Ok(read.sitemaps)
    }
}

/// Drops sitemaps that have the same content on both sides; how many URLs they hold.
pub(crate) fn drop_same(old: &mut Side, new: &mut Side) -> u64 {
    let contents = |side: &Side| -> HashMap<String, u64> {
        side.files.iter().filter_map(|file| file.known.clone()).collect()
    };
    let (in_old, in_new) = (contents(old), contents(new));
    let is_only = |file: &SideFile, other: &HashMap<String, u64>| {
        file.known.as_ref().is_none_or(|(content, _)| !other.contains_key(content))
    };
    old.files.retain(|file| is_only(file, &in_new));
    new.files.retain(|file| is_only(file, &in_old));
    in_old.iter().filter(|(content, _)| in_new.contains_key(*content)).map(|(_, urls)| urls).sum()
}

/// The directory whose set a manifest describes: it lies in `.sitemill`, or in `.sitemill/sets`.
fn directory_of(manifest: &Path) -> &Path {
    let up = |levels: usize| manifest.ancestors().nth(levels).unwrap_or(Path::new(""));
    let directory = match up(1).file_name().and_then(|name| name.to_str()) {
        Some("sets") => up(3),
        Some(".sitemill") => up(2),
        _ => up(1),
    };
    if directory.as_os_str().is_empty() { Path::new(".") } else { directory }
}

/// Takes rows of a URL, a tab and its `lastmod`, whole lines at a time.
struct Rows<'s>(&'s mut Sorter);

impl Write for Rows<'_> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            let mut fields = line.split(|&byte| byte == b'\t');
            let [loc, lastmod] = [fields.next(), fields.next()].map(Option::unwrap_or_default);
            self.0.push(loc, lastmod)?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_tells_where_its_set_lies() {
        for (manifest, directory) in [
            ("out/.sitemill/manifest.json", "out"),
            ("out/.sitemill/sets/123-4.json", "out"),
            (".sitemill/manifest.json", "."),
            (".sitemill/sets/123-4.json", "."),
            ("copies/manifest.json", "copies"),
            ("manifest.json", "."),
            ("/srv/a.example/.sitemill/manifest.json", "/srv/a.example"),
        ] {
            assert_eq!(directory_of(Path::new(manifest)), Path::new(directory), "{manifest}");
        }
    }
}
