//! Publish: a new set takes the place of the live one, and no reader ever sees a torn one.
//!
//! Nothing that a reader can see is ever written to. Sitemaps have names that carry their content, so new ones lie beside
//! the old ones; index files are written elsewhere and renamed into place when every file they list is there and on disk.
//!
//! | step | action | a crash here leaves |
//! |---|---|---|
//! | [`Workspace::open`] | lock; finish a switch that was begun; remove staging of dead runs | the old set |
//! | [`Workspace::stage`], [`Unsynced::sync`] | each sitemap into staging, synced | the old set |
//! | [`Workspace::publish`] | index files, robots lines and manifest into staging, synced | the old set |
//! | | link new sitemaps into the output directory, sync it | the old set, and files nobody lists |
//! | | rename the manifest to `manifest.next.json`: the decision, and the journal | the new set, once the next run is through `open` |
//! | | the switch: rename index files into place, remove those of the old set that have no successor, then the manifest | the same |

mod lock;
pub mod name;

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use xxhash_rust::xxh3::Xxh3;

use super::divide::{Divider, Limits};
use super::manifest::{Manifest, Sitemap};
use super::scope::BaseUrl;
use super::xml::{self, Frame, Namespaces};
use crate::error::{Error, ErrorKind, Result, Shown};
use crate::limits::Protocol;
use name::{ContentHash, ROBOTS_FILE, index_file, sitemap_file};

/// An output directory that this run alone may change, and the run's place in it for files that nobody sees yet.
#[derive(Debug)]
pub struct Workspace {
    out: PathBuf,
    state: PathBuf,
    run: String,
    staging: PathBuf,
    live: Option<Manifest>,
    lock: Option<lock::Lock>,
}

/// A sitemap that lies in staging or is published already.
#[derive(Debug)]
pub struct Staged {
    /// What it will be called.
    pub file: String,
    /// Bytes of the file.
    pub gzip_bytes: u64,
    /// The file, if it is new.
    pub unsynced: Option<Unsynced>,
}

/// A file that is written, and perhaps not on disk yet. To wait for the disk takes time and no processor, so it is left to
/// the caller when and on which thread; nothing may be published before it is done.
#[must_use]
#[derive(Debug)]
pub struct Unsynced {
    file: File,
    path: PathBuf,
    bytes: u64,
}

impl Unsynced {
    /// Waits until the file is on disk.
    ///
    /// # Errors
    /// If it cannot be brought there, or is not there as a whole. Not to be tried again: what the disk refused once is
    /// forgotten by the operating system, and a second try would succeed for nothing.
    pub fn sync(self) -> Result<()> {
        let synced = self.file.sync_all().and_then(|()| self.file.metadata());
        let on_disk = synced.map_err(|error| Error::io(&self.path, "could not be synced", error))?.len();
        if on_disk == self.bytes {
            return Ok(());
        }
        let (path, bytes) = (Shown(&self.path), self.bytes);
        Err(Error::new(ErrorKind::Io, format!("{path}: {bytes} bytes were written and {on_disk} are there")))
    }
}

/// What a set says about itself besides its sitemaps.
#[derive(Debug)]
pub struct SetInfo<'a> {
    /// Where it is published.
    pub base_url: &'a BaseUrl,
    /// Which protocol it speaks.
    pub protocol: Protocol,
    /// What no index file may pass.
    pub index_limits: Limits,
    /// Now, as W3C Datetime.
    pub time: &'a str,
}

impl Workspace {
    /// Makes the directory if need be, takes its lock and clears what earlier runs left behind.
    ///
    /// # Errors
    /// [`ErrorKind::Output`] if it cannot be made or written to, [`ErrorKind::Busy`] if another run holds it,
    /// [`ErrorKind::Data`] if its manifest is damaged.
    pub fn open(out: &Path) -> Result<Self> {
        let state = out.join(".sitemill");
        let nursery = state.join("staging");
        fs::create_dir_all(out).map_err(|error| Error::output(out, error))?;
        for directory in [&state, &nursery] {
            make_private(directory)?;
        }
        let lock = lock::Lock::take(&state.join("lock"))?;

        let mut live = Manifest::read(&manifest_path(&state))?;
        if let Some(next) = Manifest::read(&journal_path(&state))? {
            switch(out, &state, live.as_ref(), &next)?;
            live = Some(next);
        }
        remove_contents(&nursery)?;

        let run = format!("{}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id());
        let staging = nursery.join(&run);
        make_private(&staging)?;
        Ok(Self { out: out.into(), state, run, staging, live, lock: Some(lock) })
    }

    /// The same for a directory in one that is held already: it is looked at whether anybody holds it, and not held itself,
    /// because a run may have thousands of them.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub fn open_below(out: &Path) -> Result<Self> {
        let mut workspace = Self::open(out)?;
        workspace.lock = None;
        Ok(workspace)
    }

    /// The directory that is published.
    pub fn directory(&self) -> &Path {
        &self.out
    }

    /// A directory for scratch files; gone with the run.
    pub fn scratch(&self) -> &Path {
        &self.staging
    }

    /// Writes sitemap `number` to where nobody looks yet. One that is published already stays as it is.
    ///
    /// # Errors
    /// If it cannot be written, or if something that is no file has its name.
    pub fn stage(&self, number: u32, content: ContentHash, gzip: &[u8]) -> Result<Staged> {
        for word in content.words() {
            let file = sitemap_file(number, &word);
            let unsynced = match occupant(&self.out.join(&file), &word, content, gzip)? {
                Occupant::Same { gzip_bytes } => return Ok(Staged { file, gzip_bytes, unsynced: None }),
                Occupant::Other => continue,
                Occupant::None => self.write(&file, gzip)?,
                Occupant::Damaged => self.write(&format!("{file}{MENDED}"), gzip)?,
            };
            return Ok(Staged { file, gzip_bytes: gzip.len() as u64, unsynced: Some(unsynced) });
        }
        Err(Error::new(
            ErrorKind::Internal,
            format!("sitemap {number}: every name is taken by another content"),
        ))
    }

    /// Makes `sitemaps` the live set. Returns its manifest once it is live and on disk.
    ///
    /// # Errors
    /// Before the decision the old set stays; after it the next run finishes the switch.
    pub fn publish(&self, sitemaps: Vec<Sitemap>, info: &SetInfo<'_>) -> Result<Manifest> {
        let (protocol, base_url) = (info.protocol.to_string(), info.base_url.to_string());
        let run = self.run.clone();
        let mut set =
            Manifest::succeeding(self.live.as_ref(), run, protocol, base_url, info.time.into(), sitemaps);
        for (number, index) in (1..).zip(index_files(&set.sitemaps, info)) {
            let file = index_file(number);
            self.write(&file, &index)?.sync()?;
            set.indexes.push(file);
        }
        let robots: String =
            set.indexes.iter().map(|file| format!("Sitemap: {}{file}\n", info.base_url)).collect();
        self.write(ROBOTS_FILE, robots.as_bytes())?.sync()?;
        self.write(MANIFEST_FILE, &set.to_json())?.sync()?;
        sync_directory(&self.staging)?;

        for sitemap in &set.sitemaps {
            self.link(&sitemap.file)?;
        }
        sync_directory(&self.out)?;

        rename(&self.staging.join(MANIFEST_FILE), &journal_path(&self.state))?;
        sync_directory(&self.state)?;
        switch(&self.out, &self.state, self.live.as_ref(), &set)?;
        Ok(set)
    }

    /// Writes a new file in staging.
    fn write(&self, name: &str, bytes: &[u8]) -> Result<Unsynced> {
        let path = self.staging.join(name);
        let written = File::create_new(&path).and_then(|mut file| file.write_all(bytes).map(|()| file));
        let file = written.map_err(|error| Error::io(&path, "could not be written", error))?;
        Ok(Unsynced { file, path, bytes: bytes.len() as u64 })
    }

    /// Gives a staged sitemap its place beside the published ones. A link never overwrites.
    fn link(&self, file: &str) -> Result<()> {
        let (from, to) = (self.staging.join(file), self.out.join(file));
        let mended = self.staging.join(format!("{file}{MENDED}"));
        if mended.exists() {
            // What the name promises takes the place of what rotted under it.
            return rename(&mended, &to);
        }
        if !from.exists() {
            return Ok(()); // published already
        }
        match fs::hard_link(&from, &to) {
            // Some file systems have no links. Nobody else creates such names while the lock is held.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.exists() => rename(&from, &to),
            other => other.map_err(|error| Error::io(&to, "could not be linked into place", error)),
        }
    }
}

impl Drop for Workspace {
    /// Leaves nothing behind; what cannot be removed now is removed by the next run. A journal needs its staging.
    fn drop(&mut self) {
        if !journal_path(&self.state).exists() {
            let _ = fs::remove_dir_all(&self.staging);
        }
    }
}

const MANIFEST_FILE: &str = "manifest.json";
/// Behind the name of a staged sitemap that replaces a damaged one.
const MENDED: &str = ".mended";

fn manifest_path(state: &Path) -> PathBuf {
    state.join(MANIFEST_FILE)
}

fn journal_path(state: &Path) -> PathBuf {
    state.join("manifest.next.json")
}

/// The index files of a set, in the order of their numbers.
fn index_files(sitemaps: &[Sitemap], info: &SetInfo<'_>) -> Vec<Vec<u8>> {
    let frame = Frame::index(info.protocol);
    let entry = |sitemap: &Sitemap, out: &mut Vec<u8>| {
        xml::push_sitemap(&format!("{}{}", info.base_url, sitemap.file), &sitemap.lastmod, out);
    };
    let mut divider = Divider::new(info.index_limits, &frame);
    let mut scratch = Vec::new();
    for (at, sitemap) in sitemaps.iter().enumerate() {
        scratch.clear();
        entry(sitemap, &mut scratch);
        divider.push(at, scratch.len() as u64, Namespaces::NONE);
    }
    let files = divider.finish().into_iter().map(|part| {
        let mut file = Vec::with_capacity(part.bytes as usize);
        frame.open(&mut file);
        sitemaps[part.first..][..part.entries as usize].iter().for_each(|sitemap| entry(sitemap, &mut file));
        frame.close(&mut file);
        file
    });
    files.collect()
}

/// Bytes of an index file with one entry, whose sitemap has the longest of all numbers.
pub fn index_bytes_min(protocol: Protocol, base_url: &BaseUrl) -> u64 {
    let mut entry = Vec::new();
    let loc = format!("{base_url}{}", sitemap_file(u32::MAX, "00000000"));
    xml::push_sitemap(&loc, "2005-06-26T00:00:00Z", &mut entry);
    Frame::index(protocol).bytes() + entry.len() as u64
}

/// Puts the index files of `next` in the place of those of `live`. Can be broken off anywhere and done again.
fn switch(out: &Path, state: &Path, live: Option<&Manifest>, next: &Manifest) -> Result<()> {
    let staging = state.join("staging").join(&next.run);
    for file in next.indexes.iter().map(String::as_str).chain([ROBOTS_FILE]) {
        match rename(&staging.join(file), &out.join(file)) {
            // Renamed before the break.
            Err(_) if !staging.join(file).exists() && out.join(file).exists() => {}
            other => other?,
        }
    }
    for stale in live.iter().flat_map(|live| &live.indexes).filter(|file| !next.indexes.contains(file)) {
        let path = out.join(stale);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::io(&path, "could not be removed", error));
            }
            _ => {}
        }
    }
    sync_directory(out)?;
    rename(&journal_path(state), &manifest_path(state))?;
    sync_directory(state)
}

/// What has the name of a sitemap that is to be published.
enum Occupant {
    None,
    /// The same content, perhaps compressed in another way.
    Same {
        gzip_bytes: u64,
    },
    /// Another content that the name fits as well: eight digits met.
    Other,
    /// No content that the name fits.
    Damaged,
}

/// Looks at `path`, whose name is made with `word`.
fn occupant(path: &Path, word: &str, content: ContentHash, gzip: &[u8]) -> Result<Occupant> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Occupant::None),
        Err(error) => return Err(Error::io(path, "could not be looked at", error)),
        Ok(meta) if !meta.is_file() => return Err(foreign(path)),
        Ok(_) => {}
    }
    let there = fs::read(path).map_err(|error| Error::io(path, "could not be read", error))?;
    let gzip_bytes = there.len() as u64;
    if there == gzip {
        return Ok(Occupant::Same { gzip_bytes });
    }
    Ok(match content_of(&there) {
        Ok(other) if other == content => Occupant::Same { gzip_bytes },
        Ok(other) if other.words().any(|fitting| fitting == word) => Occupant::Other,
        _ => Occupant::Damaged,
    })
}

/// The hash of what a gzip file decodes to.
fn content_of(gzip: &[u8]) -> io::Result<ContentHash> {
    let mut xml = MultiGzDecoder::new(gzip);
    let mut hasher = Xxh3::new();
    let mut piece = [0; 16 * 1024];
    loop {
        match xml.read(&mut piece)? {
            0 => return Ok(ContentHash(hasher.digest128())),
            read => hasher.update(&piece[..read]),
        }
    }
}

/// Makes a directory that only its owner may look into, or takes the one that is there. A link in its place would
/// lead writes elsewhere.
fn make_private(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => Ok(()),
            _ => Err(foreign(path)),
        },
        other => other.map_err(|error| Error::output(path, error)),
    }
}

fn foreign(path: &Path) -> Error {
    Error::new(
        ErrorKind::Output,
        format!("{}: is in the way and not from sitemill; move it and run again", Shown(path)),
    )
}

fn remove_contents(directory: &Path) -> Result<()> {
    let remove = || {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    };
    remove().map_err(|error| Error::io(directory, "could not be cleared", error))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::io(to, "could not be renamed into place", error))
}

/// Waits until the names in a directory are on disk.
fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|error| Error::io(path, "could not be synced", error))
}
