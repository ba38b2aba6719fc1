//! The manifest as a file: serialisation and validation. A manifest that was truncated, edited or written by another version is
//! refused, because runs remove files and write index files according to it.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::model::{FORMAT, Manifest};
use crate::clean::scope::BaseUrl;
use crate::common::digest::hex_digest;
use crate::error::{Error, ErrorKind, Message, Result, Setting, message};
use crate::limits::Protocol;
use crate::place::{self, Record, Stored, Version, View};
use crate::set::name::{is_index_file, is_plain_word, is_sitemap_file};
use crate::sitemap::tags::{LastmodRules, lastmod};

/// Purpose of a manifest. It determines the advice in the error message if the manifest cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It describes the live set.
    Live,
    /// It is the journal of a switch: the set that is to be live.
    Journal,
    /// It describes the earlier set of this number.
    Kept(u64),
}

impl Role {
    /// Adds advice to the `error` of a manifest that cannot be used.
    pub fn explain(self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Data => error.and(self.way_out()),
            _ => error,
        }
    }

    /// The consequence if the manifest cannot be used, and what to do about it.
    fn way_out(self) -> Message {
        let what = match self {
            Self::Live => "it describes the live set, which is unchanged; ".into(),
            Self::Journal => {
                "it is the journal of a switch that was interrupted; do not remove it: ".to_owned()
            }
            Self::Kept(number) => format!("set {number} cannot be restored, but the others can; "),
        };
        message!(
            "{what}run build with ",
            Setting::IgnoreManifest,
            " to set it aside and rebuild all sitemaps"
        )
    }
}

/// Fields that every version of the file has.
#[derive(Deserialize)]
struct Header {
    format: u32,
    /// Missing in manifests of early releases.
    checksum: Option<String>,
}

impl Manifest {
    /// Reads the manifest `record` of a directory; `None` if it does not exist.
    ///
    /// # Errors
    /// [`ErrorKind::Data`] if it is damaged, was edited, or is of another version.
    pub fn read(view: &dyn View, record: &Record) -> Result<Option<Self>> {
        Ok(Self::read_stored(view, record)?.map(|(set, _)| set))
    }

    /// Reads the manifest `record` of a directory; `None` if it does not exist or cannot be used.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_usable(view: &dyn View, record: &Record) -> Result<Option<Self>> {
        match Self::read(view, record) {
            Err(error) if error.kind() == ErrorKind::Data => Ok(None),
            read => read,
        }
    }

    /// Reads the manifest `record` of a directory, and the version that it has there; `None` if it does not exist.
    ///
    /// # Errors
    /// Same as [`Manifest::read`].
    pub fn read_stored(view: &dyn View, record: &Record) -> Result<Option<(Self, Version)>> {
        let Some(Stored { bytes, version }) = view.read_record(record)? else { return Ok(None) };
        Self::parse(&view.record_path(record), &bytes).map(|set| Some((set, version)))
    }

    /// Reads the manifest `record` of a directory; `None` if it does not exist. An error includes the remedy for a manifest of
    /// this `role`.
    ///
    /// # Errors
    /// Same as [`Manifest::read`].
    pub fn read_as(role: Role, view: &dyn View, record: &Record) -> Result<Option<Self>> {
        Self::read(view, record).map_err(|error| role.explain(error))
    }

    /// Reads the manifest in the file at `path`.
    ///
    /// # Errors
    /// Same as [`Manifest::read`]; also [`ErrorKind::Data`] if it is JSON of another kind, and [`ErrorKind::Input`] if the file is
    /// missing or unreadable.
    pub fn read_file(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        let read = place::file(path)?.open()?.read_to_end(&mut bytes);
        read.map_err(|error| Error::io(path, "could not be read", error))?;
        match serde_json::from_slice::<Header>(&bytes) {
            // The caller chose the file, which may never have been a manifest.
            Err(error) if error.is_data() => {
                let words = "is not a manifest; give a published directory, an index file, a sitemap or the manifest of a kept set";
                Err(Error::data(message!(path, ": {words}")))
            }
            _ => Self::parse(path, &bytes),
        }
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        Self::from_json(bytes).map_err(|why| Error::data(message!(path, ": {why}")))
    }

    /// Parses and validates a manifest. The error says in words why it is not valid.
    fn from_json(bytes: &[u8]) -> Result<Self, String> {
        // The version is read first, because another version may have other fields.
        let header: Header =
            serde_json::from_slice(bytes).map_err(|error| format!("is damaged ({error})"))?;
        if header.format != FORMAT {
            return Err(format!("has format {}, and this version of sitemill reads {FORMAT}", header.format));
        }
        if header.checksum.is_some_and(|checksum| !is_unedited(bytes, &checksum)) {
            return Err("was edited: its checksum does not match".into());
        }
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|error| format!("is damaged ({error})"))?;
        match manifest.strange() {
            Some(what) => Err(format!("was edited: {what} is not a value that sitemill writes there")),
            None => Ok(manifest),
        }
    }

    /// The file's bytes.
    pub fn to_json(&self) -> Vec<u8> {
        let mut json = serde_json::to_vec_pretty(self).expect("strings and numbers are JSON");
        json.truncate(json.len() - "\n}".len());
        let end = end(&hex_digest(&json));
        json.extend_from_slice(end.as_bytes());
        json
    }

    /// The first value that sitemill cannot have written, described in words. A file without a checksum may have been
    /// edited, and its values name files to remove and are copied into index files.
    fn strange(&self) -> Option<String> {
        let mut files = HashSet::new();
        let mut is_new = |file| files.insert(file);
        let sitemaps = self.sitemaps.iter().map(|sitemap| &sitemap.file);
        let superseded = self.superseded.iter().map(|superseded| &superseded.file);
        let strange_file = sitemaps.chain(superseded).find(|file| !is_sitemap_file(file) || !is_new(*file));
        let old_indexes = self.superseded_indexes.iter().map(|old| &old.file);
        let mut indexes = self.indexes.iter().chain(old_indexes);
        let strange_index = || indexes.find(|file| !is_index_file(file) || !files.insert(*file));
        let mut runs = self.earlier.iter().map(|earlier| &earlier.run).chain([&self.run]);
        let strange_run = || runs.find(|run| !is_plain_name(run));
        let also_lastmods = self.also.iter().filter_map(|also| also.lastmod.as_ref());
        let mut lastmods = self.sitemaps.iter().map(|sitemap| &sitemap.lastmod).chain(also_lastmods);
        let strange_lastmod = || lastmods.find(|text| !is_lastmod(text));
        let is_base = |url: &String| url.parse::<BaseUrl>().is_ok_and(|base| base.as_str() == url);
        let strange_base = || Some(&self.base_url).filter(|url| !is_base(url));
        let is_below = |url: &&String| {
            url.starts_with(&self.base_url) && url.bytes().all(|byte| byte.is_ascii_graphic())
        };
        let strange_also = || self.also.iter().map(|also| &also.loc).find(|loc| !is_below(loc));
        let strange_section =
            || self.sections.iter().map(|section| &section.word).find(|word| !is_plain_word(word));
        let strange_protocol = || Some(&self.protocol).filter(|word| word.parse::<Protocol>().is_err());
        let strange = strange_file
            .or_else(strange_index)
            .or_else(strange_run)
            .or_else(strange_lastmod)
            .or_else(strange_base)
            .or_else(strange_also)
            .or_else(strange_section)
            .or_else(strange_protocol);
        let strange = strange.map(|text| format!("\"{}\"", crate::escape::shown(text.as_bytes())));
        strange.or_else(|| (self.sitemaps_per_index == 0).then(|| "an index file of 0 sitemaps".into()))
    }
}

/// How a manifest ends. The checksum covers the text before it rather than the values, so it does not depend on a JSON library.
fn end(checksum: &str) -> String {
    format!(",\n  \"checksum\": \"{checksum}\"\n}}\n")
}

fn is_unedited(bytes: &[u8], given: &str) -> bool {
    bytes.strip_suffix(end(given).as_bytes()).is_some_and(|text| hex_digest(text) == given)
}

/// Whether joining `name` to a directory stays in it.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Whether `text` is a W3C Datetime in the form that sitemill writes.
fn is_lastmod(text: &str) -> bool {
    let read = lastmod(text.as_bytes(), &LastmodRules::default());
    read.is_ok_and(|read| read.is_some_and(|read| read.as_bytes() == text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::place::DirectoryView;
    use crate::place::fs::memory::Memory;
    use crate::set::manifest::{Sitemap, Superseded, SupersededIndex};
    use crate::set::name::Stem;
    use crate::sitemap::divide::Limits;

    const TIME: &str = "2026-11-20T02:00:00Z";

    fn whole() -> Manifest {
        let sitemap = |number, word: &str| Sitemap {
            file: Stem::default().sitemap_file(number, word),
            content: word.repeat(4),
            urls: 1,
            xml_bytes: 2,
            gzip_bytes: 3,
            lastmod: TIME.into(),
            seals: None,
        };
        let limits = Limits { entries_max: 1, bytes_max: 2 };
        let sitemaps = vec![sitemap(1, "0123abcd"), sitemap(2, "4567cdef")];
        let mut set = Manifest::new("run", Protocol::V0_9, limits, "https://h.example/", TIME, sitemaps);
        set.indexes = vec![Stem::default().index_file(1), Stem::default().index_file(2)];
        set.superseded =
            vec![Superseded { file: Stem::default().sitemap_file(1, "89abcdef"), since: TIME.into() }];
        let (run, since, content) = ("run-1".into(), TIME.into(), "0".repeat(32));
        set.superseded_indexes =
            vec![SupersededIndex { file: Stem::default().index_file(3), run, since, content }];
        set
    }

    /// A directory with these bytes as its live manifest.
    fn view(manifest: Option<&[u8]>) -> DirectoryView {
        let fs = Memory::default();
        let view = DirectoryView::of(Arc::new(fs.clone()), Path::new("/out"), None);
        manifest.into_iter().for_each(|bytes| fs.put(&view.record_path(&Record::Live), bytes));
        view
    }

    fn read(bytes: &[u8]) -> Result<Manifest> {
        Manifest::read(&view(Some(bytes)), &Record::Live).map(|read| read.expect("it is there"))
    }

    #[track_caller]
    fn assert_refused(bytes: &[u8], why: &str) {
        let error = read(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
        assert!(error.to_string().contains(why), "{error}: {why}");
    }

    /// A manifest without a checksum, as early releases wrote it.
    fn unchecked(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut json: Value = serde_json::from_slice(&whole().to_json()).unwrap();
        json.as_object_mut().unwrap().remove("checksum").expect("it has one");
        change(&mut json);
        serde_json::to_vec(&json).unwrap()
    }

    #[test]
    fn a_written_manifest_is_read_back_and_so_is_one_from_before_checksums() {
        assert_eq!(Manifest::read(&view(None), &Record::Live).unwrap(), None);
        assert_eq!(read(&whole().to_json()).unwrap(), whole());
        assert_eq!(read(&unchecked(|_| {})).unwrap(), whole());
    }

    #[test]
    fn no_byte_of_a_manifest_can_be_changed_or_cut_off() {
        let json = whole().to_json();
        // The final line end has no meaning, but it belongs to the manifest.
        for cut in 0..json.len() {
            assert!(read(&json[..cut]).is_err(), "cut to {cut} bytes");
        }
        for at in 0..json.len() {
            let mut edited = json.clone();
            edited[at] ^= 1;
            // Without the name of the checksum field, it looks like a manifest of an early release.
            let is_without = !edited.windows(11).any(|text| text == b"\"checksum\":");
            assert!(is_without || read(&edited).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_damaged_manifest_an_edited_one_and_one_of_another_version_are_told_apart() {
        let json = whole().to_json();
        let text = String::from_utf8(json.clone()).unwrap();
        assert_refused(&json[..40], "is damaged");
        assert_refused(text.replace("\"urls\": 1", "\"urls\": 2").as_bytes(), "was edited: its checksum");
        assert_refused(text.replace("\n  ", "\n ").as_bytes(), "was edited: its checksum");
        assert_refused(text.replace("\"format\": 1", "\"format\": 2").as_bytes(), "has format 2");
        assert_refused(&Manifest { format: 0, ..whole() }.to_json(), "has format 0");
    }

    #[test]
    fn without_a_checksum_only_manifests_as_sitemill_writes_them_are_trusted() {
        for (pointer, value) in [
            ("/superseded/0/file", json!("index.html")),
            ("/superseded/0/file", json!("sitemap-00001-0123abcd.xml.gz")),
            ("/sitemaps/0/file", json!("../sitemap-00001-0123abcd.xml.gz")),
            ("/sitemaps/1/file", json!("sitemap-00001-0123abcd.xml.gz")),
            ("/indexes/0", json!("robots.txt")),
            ("/indexes/0", json!("sitemap-index-2.xml")),
            ("/superseded_indexes/0/file", json!("index.html")),
            ("/superseded_indexes/0/file", json!("sitemap-index-2.xml")),
            ("/sitemaps/0/lastmod", json!("yesterday</lastmod><x>")),
            ("/sitemaps/0/lastmod", json!("")),
            ("/run", json!("../../../index")),
            ("/base_url", json!("https://h.example/\nDisallow: /")),
            ("/protocol", json!("1.0")),
        ] {
            let edited = unchecked(|json| *json.pointer_mut(pointer).unwrap() = value.clone());
            let shown = crate::escape::shown(value.as_str().unwrap().as_bytes());
            assert_refused(&edited, &format!("was edited: \"{shown}\""));
        }
        assert_refused(&unchecked(|json| json["sitemaps_per_index"] = 0.into()), "index file of 0");
    }

    #[test]
    fn the_advice_depends_on_the_role_of_the_manifest() {
        let view = view(Some(b"{"));
        let mut said = HashSet::new();
        for (role, what) in [(Role::Live, "live set"), (Role::Journal, "journal"), (Role::Kept(7), "set 7")] {
            let error = Manifest::read_as(role, &view, &Record::Live).unwrap_err().to_string();
            assert!(error.contains(what) && error.contains("`ignore_manifest`"), "{error}");
            assert!(error.starts_with("/out/.sitemill/manifest.json: is damaged (") && said.insert(error));
        }
    }
}
